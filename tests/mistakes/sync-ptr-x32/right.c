#ifdef CONFIG_X86_X32_ABI
int put_state(struct state __user *src, u32 state, u64 ptr)
{
	if (!user_write_access_begin(src, sizeof(*src)))
		return -EFAULT;
	unsafe_put_user(state, &src->state, Efault);
	unsafe_put_user(ptr, &src->hw_ptr, Efault);
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return -EFAULT;
}
#endif
