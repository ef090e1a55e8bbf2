struct frame {
	u32 a;
	u32 b;
};

int setup(struct frame __user *f, u32 a, u32 b)
{
	int err = 0;

	err |= put_user(a, &f->a);
	err |= put_user(b, &f->b);
	return err;
}
