int load_tail(void __user *start, size_t len)
{
	if (clear_user(start, len))
		return -EFAULT;
	return map_tail(start, len);
}
