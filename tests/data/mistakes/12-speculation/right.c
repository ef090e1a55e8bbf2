size_t copy_part(void *to, const void __user *from, size_t len)
{
	size_t left = len;

	if (access_ok(from, len)) {
		barrier_nospec();
		instrument_copy_from_user_before(to, from, len);
		left = raw_copy_from_user(to, from, len);
	}
	return left;
}
