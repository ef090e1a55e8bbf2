struct pair {
	u32 a;
	u32 b;
};

int f(struct pair __user *p, unsigned int n, u32 v)
{
	struct pair __user *q = p;

	scoped_user_write_access_size(p, n * sizeof(*p), fault) {
		for (; n; n--, q++)
			unsafe_put_user(v, &q->a, fault);	// finds: outside-checked-range
	}
	return 0;
fault:
	return -EFAULT;
}
