int get_word(const u32 __user *p, u32 *to)
{
	if (!user_read_access_begin(p, sizeof(*p)))	// finds: mismatched-end mismatched-end
		return -EFAULT;
	unsafe_get_user(*to, p, Efault);
	user_access_end();
	return 0;
Efault:
	user_access_end();
	return -EFAULT;
}
