int f(void *k, void __user *p, size_t n)
{
	int ret = copy_from_user(k, p, n);

	if (ret < 0)	// finds: misread-result
		return ret;
	return 0;
}
