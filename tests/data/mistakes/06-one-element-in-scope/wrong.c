int f(u32 __user *p, u32 *v, int n)
{
	scoped_user_write_access(p, fault) {
		for (int i = 0; i < n; i++)
			unsafe_put_user(v[i], p + i, fault);	// finds: outside-checked-range
	}
	return 0;
fault:
	return -EFAULT;
}
