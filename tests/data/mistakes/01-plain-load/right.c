struct pair {
	u32 a;
	u32 b;
};

int f(struct pair *to, struct pair __user *from)
{
	if (get_user(to->a, &from->a))
		return -EFAULT;
	return get_user(to->b, &from->b);
}
