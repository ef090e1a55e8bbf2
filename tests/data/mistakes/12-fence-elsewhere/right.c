size_t copy_part(void *to, const void __user *from, size_t len, bool slow)
{
	if (slow) {
		barrier_nospec();
		return copy_slowly(to, from, len);
	}
	if (access_ok(from, len)) {
		barrier_nospec();
		return raw_copy_from_user(to, from, len);
	}
	return len;
}
