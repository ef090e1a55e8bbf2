struct pair {
	u32 a;
	u32 b;
};

int f(struct pair __user *p, u32 v)
{
	int err;

	err = put_user(v, &p->a);
	err |= put_user(v, &p->b);
	return err;
}
