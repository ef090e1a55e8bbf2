int put_range(u32 __user *p, u32 first, u32 last, u32 step)
{
	if (!user_write_access_begin(p, 3 * sizeof(*p)))
		return -EFAULT;
	unsafe_put_user(first, &p[0], Efault);
	unsafe_put_user(last, p + 1, Efault);
	unsafe_put_user(step, &p[2], Efault);
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return -EFAULT;
}
