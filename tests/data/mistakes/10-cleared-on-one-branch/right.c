struct status {
	u32 state;
	u64 hw_ptr;
	u32 suspended;
};

int put_state(struct status __user *src, u32 state, u64 ptr, u32 suspended)
{
	struct status s;

	if (ptr)
		memset(&s, 0, sizeof(struct status));
	else
		memset(&s, 0xff, sizeof(s));
	s.state = state;
	s.hw_ptr = ptr;
	s.suspended = suspended;
	if (copy_to_user(src, &s, sizeof(s)))
		return -EFAULT;
	return 0;
}

int put_other(struct status __user *src, u32 state, u64 ptr, bool known)
{
	struct status s;

	if (known)
		memset(&s, 0, sizeof(s));
	refresh(state);
	if (!known)
		return -EINVAL;
	s.state = state;
	s.hw_ptr = ptr;
	return copy_to_user(src, &s, sizeof(s)) ? -EFAULT : 0;
}

int put_each(struct status __user *src, u32 state, int n)
{
	struct status s;

	while (n-- > 0) {
		memset(&s, 0, sizeof(s));
		s.state = state;
		if (copy_to_user(src++, &s, sizeof(s)))
			return -EFAULT;
	}
	return 0;
}
