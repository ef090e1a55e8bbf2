size_t copy_part(void *to, const void __user *from, const void __user *other, size_t len)
{
	if (!access_ok(from, len))
		return len;
	other = mask_user_address(other);
	note(other);
	return raw_copy_from_user(to, from, len);	// finds: unfenced-read
}
