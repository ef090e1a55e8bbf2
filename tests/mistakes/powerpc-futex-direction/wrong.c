int swap_word(u32 __user *p, u32 new, u32 *old)
{
	if (!user_write_access_begin(p, sizeof(*p)))
		return -EFAULT;
	unsafe_get_user(*old, p, Efault);	// finds: wrong-direction
	unsafe_put_user(new, p, Efault);
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return -EFAULT;
}
