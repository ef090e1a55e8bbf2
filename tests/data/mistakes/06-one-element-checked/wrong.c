int f(u32 __user *p, u32 *v, int n)
{
	int i;

	if (!user_write_access_begin(p, sizeof(*p)))
		return -EFAULT;
	for (i = 0; i < n; i++)
		unsafe_put_user(v[i], &p[i], fault);	// finds: outside-checked-range
	user_write_access_end();
	return 0;
fault:
	user_write_access_end();
	return -EFAULT;
}
