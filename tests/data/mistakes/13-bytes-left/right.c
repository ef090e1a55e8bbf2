int f(void *k, void __user *p, size_t n)
{
	int ret = copy_from_user(k, p, n);

	if (ret)
		return -EFAULT;
	return 0;
}
