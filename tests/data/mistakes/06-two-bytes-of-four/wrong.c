int f(u32 __user *p, u32 v)
{
	scoped_user_write_access_size(p, 2, fault)
		unsafe_put_user(v, p, fault);	// finds: outside-checked-range
	return 0;
fault:
	return -EFAULT;
}
