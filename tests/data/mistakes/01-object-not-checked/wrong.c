int f(struct pair __user *p, struct pair __user *q, u32 v)
{
	if (!access_ok(p, sizeof(*p)))
		return -EFAULT;
	return __put_user(v, &q->a);	// finds: other-object-checked
}
