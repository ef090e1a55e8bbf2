struct pair {
	u32 a;
	u32 b;
};

int f(struct pair __user *p, u32 v)
{
	if (put_user(v, &p->a))
		return -EFAULT;
	return put_user(v, &p->b);
}

int g(void);
