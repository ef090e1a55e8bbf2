struct pair {
	u32 a;
	u32 b;
};

struct wait {
	struct pair __user *to;
};

int f(struct wait *w, u32 v)
{
	if (!user_write_access_begin(w->to, sizeof(*w->to)))
		return -EFAULT;
	unsafe_put_user(v, &w->to->a, fault);
	user_write_access_end();
	return 0;
fault:
	user_write_access_end();
	return -EFAULT;
}
