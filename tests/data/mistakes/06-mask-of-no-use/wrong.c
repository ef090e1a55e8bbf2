static __always_inline long unsafe_walk(const char __user *p, long n);

long f(const char __user *p, long n)
{
	long len;

	const char __user *q = masked_user_read_access_begin(p);

	len = unsafe_walk(p, n);	// finds: outside-checked-range
	user_read_access_end();
	return len;
}
