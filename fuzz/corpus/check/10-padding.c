struct status {
	u32 state;
	u64 hw_ptr;
	u32 suspended;
};

int put_state(struct status __user *src, u32 state, u64 ptr, u32 suspended)
{
	struct status s;

	s.state = state;
	s.hw_ptr = ptr;
	s.suspended = suspended;
	if (copy_to_user(src, &s, sizeof(s)))	// finds: copied-holes
		return -EFAULT;
	return 0;
}
