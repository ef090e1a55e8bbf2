int get_timeout(struct spec __user *p, u32 *out)
{
	u32 timeout;

	if (!user_read_access_begin(p, sizeof(*p)))
		return -EFAULT;
	unsafe_get_user(timeout, &p->timeout, Efault);
	user_read_access_end();
	*out = timeout;
	return 0;
Efault:
	user_read_access_end();
	*out = 0;
	return -EFAULT;
}
