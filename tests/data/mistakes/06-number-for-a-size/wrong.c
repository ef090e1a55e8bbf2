struct pair {
	u32 a;
	u32 b;
};

int f(struct pair __user *p, unsigned int n, u32 v)
{
	unsigned int i;

	scoped_user_write_access_size(p, n, fault) {	// finds: outside-checked-range
		for (i = 0; i < n; i++)
			unsafe_put_user(v, &p[i].a, fault);
	}
	return 0;
fault:
	return -EFAULT;
}
