size_t copy_from_iter(void *to, const void __user *from, size_t len)
{
	size_t res = len;

	if (access_ok(from, len)) {
		barrier_nospec();
		instrument_copy_from_user_before(to, from, len);
		res = raw_copy_from_user(to, from, len);
		instrument_copy_from_user_after(to, from, len, res);
	}
	return res;
}
