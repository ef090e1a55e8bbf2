int swap_word(u32 __user *p, u32 new, u32 *old)
{
	if (!user_access_begin(p, sizeof(*p)))
		return -EFAULT;
	unsafe_get_user(*old, p, Efault);
	unsafe_put_user(new, p, Efault);
	user_access_end();
	return 0;
Efault:
	user_access_end();
	return -EFAULT;
}
