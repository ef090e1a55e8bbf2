struct how { u64 flags; };
int f(struct how __user *to, size_t size, struct how *how)
{
	return copy_struct_to_user(to, size, how, sizeof(*how), NULL);
}
