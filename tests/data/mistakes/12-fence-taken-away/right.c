size_t copy_two(void *to, const void __user *from, const void __user *more, size_t len)
{
	from = mask_user_address(from);
	more = mask_user_address(more);
	if (raw_copy_from_user(to, from, len))
		return len;
	return raw_copy_from_user(to + len, more, len);
}
