size_t copy_part(void *to, const void __user *from, const void __user *other, size_t len)
{
	if (!access_ok(from, len))
		return len;
	from = mask_user_address(from);
	note(other);
	return raw_copy_from_user(to, from, len);
}
