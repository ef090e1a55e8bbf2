struct limits {
	u32 low;
	u32 high;
};

static int put_limits(struct limits __user *p, struct limits *l)
{
	if (!l)
		return -EINVAL;
	return copy_to_user(p, l, sizeof(*l));	// finds: misread-result
}

int get_limits(struct limits __user *p, struct limits *l)
{
	int err;

	err = copy_from_user(l, p, sizeof(*l));
	if (err)
		return err;	// finds: misread-result
	if (l->low > l->high)
		return -EINVAL;
	return put_limits(p, l);
}

SYSCALL_DEFINE2(limits, struct limits __user *, p, u32, low)
{
	struct limits l = { low, low };
	long ret;

	if ((ret = copy_to_user(p, &l, sizeof(l))))
		return ret;	// finds: misread-result
	return low ? 0 : -ERANGE;
}
