int f(u32 __user *p, u32 *v, size_t n)
{
	if (!access_ok(p, n * sizeof(u32)))
		return -EFAULT;
	return __copy_to_user(p, v, n * sizeof(u32)) ? -EFAULT : 0;
}
