int f(struct pair __user *p, u32 v)
{
	if (!user_write_access_begin(p, sizeof(*p)))
		return -EFAULT;
	p->a = v;	// finds: user-pointer-dereferenced
	user_write_access_end();
	return 0;
}
