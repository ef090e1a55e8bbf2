int f(struct pair __user *p, size_t n)
{
	struct pair k;

	int ret = copy_struct_from_user(&k, sizeof(k), p, n);

	return ret ?: work(&k);
}
