struct pair {
	u32 a;
	u32 b;
};

int f(struct pair __user *p, u32 v)
{
	if (__put_user(v, &p->a))	// finds: dropped-check
		return -EFAULT;
	return put_user(v, &p->b);
}
