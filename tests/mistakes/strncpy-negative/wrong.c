int get_name(char *name, const char __user *from)
{
	unsigned int len;

	len = strncpy_from_user(name, from, 32);
	if (len == 0)
		return -EINVAL;
	name[len] = 0;	// finds: misread-result
	return register_name(name, len);
}
