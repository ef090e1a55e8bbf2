int f(u32 __user *p, u32 v)
{
	scoped_user_write_access_size(p, 4, fault)
		unsafe_put_user(v, p, fault);
	return 0;
fault:
	return -EFAULT;
}
