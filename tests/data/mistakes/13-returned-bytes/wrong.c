int f(void *k, void __user *p, size_t n)
{
	if (n > 16)
		return -EINVAL;
	return copy_to_user(p, k, n);	// finds: misread-result
}
