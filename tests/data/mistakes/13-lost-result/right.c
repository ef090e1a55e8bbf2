int f(struct pair __user *p, u32 v)
{
	int err = 0;

	err |= __put_user(v, &p->a);
	err |= __put_user(v, &p->b);
	return err;
}
