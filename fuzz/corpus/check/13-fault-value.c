int get_timeout(struct spec __user *p, u32 *out)
{
	u32 timeout;
	int err = -EFAULT;

	if (!user_read_access_begin(p, sizeof(*p)))
		return err;
	unsafe_get_user(timeout, &p->timeout, Efault);
	err = 0;
Efault:
	user_read_access_end();
	*out = timeout;	// finds: read-after-fault
	return err;
}
