static __always_inline long unsafe_walk(const char __user *p, long n);

long f(const char __user *p, long n)
{
	long len;

	p = masked_user_read_access_begin(p);
	len = unsafe_walk(p, n);
	user_read_access_end();
	return len;
}
