int get_flag(u32 __user *p, u32 *flag)
{
	if (user_read_access_begin(p, sizeof(*p))) {
		unsafe_get_user(*flag, p, Efault);
		user_read_access_end();
		return 0;
	}
	return -EFAULT;
Efault:
	user_read_access_end();
	return -EFAULT;
}
