struct how { u64 flags; };
int f(struct how __user *from, size_t size)
{
	struct how how;
	int ret;

	ret = copy_struct_from_user(&how, sizeof(how), from, size);
	if (!ret)
		ret = use(&how);
	return ret;
}
