int f(u32 __user *p, u32 v, u32 w)
{
	if (!user_write_access_begin(p, 2 * sizeof(*p)))
		return -EFAULT;
	unsafe_put_user(v, p, fault);
	p++;
	unsafe_put_user(w, p, fault);
	user_write_access_end();
	return 0;
fault:
	user_write_access_end();
	return -EFAULT;
}
