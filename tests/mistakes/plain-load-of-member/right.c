struct args {
	u32 len;
	u32 addr;
};

int compat_args(struct args __user *arg32, struct args *to)
{
	u32 len;

	if (get_user(len, &arg32->len))
		return -EFAULT;
	if (len > LIMIT)
		return -EINVAL;
	to->len = len;
	if (get_user(to->addr, &arg32->addr))
		return -EFAULT;
	return 0;
}
