struct pair {
	u32 a;
	u32 b;
};

int f(struct pair *to, struct pair __user *from)
{
	if (!user_read_access_begin(from, sizeof(*from)))
		return -EFAULT;
	unsafe_get_user(to->a, &from->a, fault);
	unsafe_get_user(to->b, &from->a, fault);	// finds: changed-value
	user_read_access_end();
	return 0;
fault:
	user_read_access_end();
	return -EFAULT;
}
