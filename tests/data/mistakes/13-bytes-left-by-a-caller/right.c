struct how { u64 flags; };
static int set(struct how __user *from)
{
	struct how how;
	int ret;

	ret = copy_from_user(&how, from, sizeof(how));
	if (ret)
		return -EFAULT;
	if (how.flags)
		return -EINVAL;
	return 0;
}

long f(unsigned int cmd, struct how __user *arg)
{
	long err = -EINVAL;

	if (cmd == 1)
		err = set(arg);
	return err;
}
