size_t copy_two(void *to, const void __user *from, const void __user *more, size_t len)
{
	more = mask_user_address(more);
	if (raw_copy_from_user(to, from, len))	// finds: dropped-fence
		return len;
	return raw_copy_from_user(to + len, more, len);
}
