struct pair {
	u32 a;
	u32 b;
};

int f(struct pair *to, struct pair __user *from)
{
	if (get_user(to->a, &from->a) || get_user(to->b, &from->b))
		return -EFAULT;
	return 0;
}
