int get_name(char *name, const char __user *from)
{
	long len;

	len = strncpy_from_user(name, from, 32);
	if (len <= 0)
		return -EINVAL;
	if (len >= 32)
		return -ENAMETOOLONG;
	return register_name(name, len);
}
