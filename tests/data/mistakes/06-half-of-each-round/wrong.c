int f(u32 __user *p, unsigned int n, u32 v)
{
	unsigned int i;

	if (!user_write_access_begin(p, sizeof(u32) * n))
		return -EFAULT;
	for (i = 0; i < n; i++, p += 2) {
		unsafe_put_user(v, p, fault);	// finds: outside-checked-range
		unsafe_put_user(i, p + 1, fault);	// finds: outside-checked-range
	}
	user_write_access_end();
	return 0;
fault:
	user_write_access_end();
	return -EFAULT;
}
