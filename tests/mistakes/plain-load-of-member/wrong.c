struct args {
	u32 len;
	u32 addr;
};

int compat_args(struct args __user *arg32, struct args *to)
{
	if (arg32->len > LIMIT)	// finds: user-pointer-dereferenced
		return -EINVAL;
	if (copy_from_user(to, arg32, sizeof(*to)))
		return -EFAULT;
	return 0;
}
