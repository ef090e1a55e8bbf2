int f(const char __user *p, size_t n, size_t off)
{
	long v;

	if (!user_read_access_begin(p, n))
		return -EFAULT;
	p -= off;
	unsafe_get_user(v, (long __user *)p, fault);	// finds: outside-checked-range
	user_read_access_end();
	return v ? 1 : 0;
fault:
	user_read_access_end();
	return -EFAULT;
}
