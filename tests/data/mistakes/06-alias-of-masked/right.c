int f(struct pair __user *p, u32 v)
{
	u32 __user *b = &p->b;

	scoped_user_write_access(p, fault) {
		unsafe_put_user(v, &p->a, fault);
		unsafe_put_user(v, &p->b, fault);
	}
	return 0;
fault:
	return -EFAULT;
}
