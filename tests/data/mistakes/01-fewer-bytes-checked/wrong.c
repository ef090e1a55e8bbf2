struct pair {
	u32 a;
	u32 b;
};

int f(struct pair __user *p, u32 v)
{
	if (!access_ok(p, sizeof(p->a)))
		return -EFAULT;
	return __put_user(v, &p->b);	// finds: other-object-checked
}
