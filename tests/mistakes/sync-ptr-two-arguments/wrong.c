struct sync {
	u32 flags;
	struct control { u32 appl_ptr, avail_min; } c;
};

#ifdef CONFIG_X86_X32_ABI
int get_control(struct sync __user *src, struct control *scontrol)
{
	if (copy_from_user(scontrol, &src->c))	// finds: wrong-argument-count
		return -EFAULT;
	return 0;
}
#endif
