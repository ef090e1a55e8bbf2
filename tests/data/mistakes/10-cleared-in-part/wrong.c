struct status {
	u32 state;
	u64 hw_ptr;
	u32 suspended;
};

int put_state(struct status __user *src, u32 state, u64 ptr, u32 suspended)
{
	struct status s;

	memset(&s, 0, sizeof(&s)); // finds: sizeof-pointer
	s.state = state;
	s.hw_ptr = ptr;
	s.suspended = suspended;
	if (copy_to_user(src, &s, sizeof(s)))	// finds: copied-holes
		return -EFAULT;
	return 0;
}

int put_other(struct status __user *src, u64 ptr)
{
	struct status s;

	memset(&s, 0, sizeof(u64));
	s.hw_ptr = ptr;
	return copy_to_user(src, &s, sizeof(s)) ? -EFAULT : 0;	// finds: copied-holes
}
