struct pair {
	u32 a;
	u32 b;
};

int f(struct pair __user *p, unsigned int n, u32 v)
{
	scoped_user_write_access_size(p, n * sizeof(*p), fault) {
		struct pair __user *q = p;

		for (; n; n--, q++)
			unsafe_put_user(v, &q->a, fault);
	}
	return 0;
fault:
	return -EFAULT;
}
