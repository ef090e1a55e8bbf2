int f(u32 __user *p, u32 v, u32 w)
{
	if (!user_write_access_begin(p, sizeof(*p)))
		return -EFAULT;
	unsafe_put_user(v, p, fault);
	p++;
	unsafe_put_user(w, p, fault);	// finds: outside-checked-range
	user_write_access_end();
	return 0;
fault:
	user_write_access_end();
	return -EFAULT;
}
