struct limits {
	u32 low;
	u32 high;
};

/* Its caller asks for no more than whether it is 0. */
static unsigned long put_limits(struct limits __user *p, struct limits *l, int version)
{
	switch (version) {
	case 0:
		return copy_to_user(p, l, sizeof(*l));
	default:
		return -EINVAL;
	}
}

int get_limits(struct limits __user *p, struct limits *l)
{
	int err;

	err = copy_from_user(l, p, sizeof(*l));
	if (err)
		return -EFAULT;
	if (l->low > l->high)
		return -EINVAL;
	err = put_limits(p, l, 0) ? -EFAULT : 0;
	return err;
}

SYSCALL_DEFINE2(limits, struct limits __user *, p, u32, low)
{
	struct limits l = { low, low };
	long ret;

	ret = copy_to_user(p, &l, sizeof(l));
	if (ret)
		ret = -EFAULT;
	return ret;
}

ssize_t left(struct limits __user *p, struct limits *l)
{
	return copy_to_user(p, l, sizeof(*l));
}

long other_side(struct limits __user *p, struct limits *l)
{
	int ret = copy_to_user(p, l, sizeof(*l));

	if (ret != 0)
		return -EIO;
	else
		return ret;
}
