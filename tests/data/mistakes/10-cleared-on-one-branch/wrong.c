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
	s.state = state;
	s.hw_ptr = ptr;
	s.suspended = suspended;
	if (copy_to_user(src, &s, sizeof(s)))	// finds: copied-holes
		return -EFAULT;
	return 0;
}

int put_other(struct status __user *src, u32 state, u64 ptr, bool known)
{
	struct status s;

	switch (state) {
	case 0:
		memset(&s, 0, sizeof(s));
		break;
	case 1:
		memzero_explicit(&s, sizeof(s));
		break;
	}
	s.state = state;
	s.hw_ptr = ptr;
	return copy_to_user(src, &s, sizeof(s)) ? -EFAULT : 0;	// finds: copied-holes
}
