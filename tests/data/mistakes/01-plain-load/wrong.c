struct pair {
	u32 a;
	u32 b;
};

int f(struct pair *to, struct pair __user *from)
{
	if (get_user(to->a, &from->a))
		return -EFAULT;
	to->b = from->b;	// finds: user-pointer-dereferenced
	return 0;
}
