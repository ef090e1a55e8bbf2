int get_flag(u32 __user *p, u32 *flag)
{
	bool ok = user_read_access_begin(p, sizeof(*p));

	if (!ok)
		goto Efault;
	unsafe_get_user(*flag, p, Efault);
	user_read_access_end();
	return 0;
Efault:
	user_read_access_end();	// finds: end-after-failed-begin
	return -EFAULT;
}
