struct frame {
	u32 a;
	u32 b;
};

int setup(struct frame __user *f, u32 a, u32 b)
{
	if (!user_write_access_begin(f, sizeof(*f)))
		return -EFAULT;
	unsafe_put_user(a, &f->a, Efault);	// finds: cut-short
	unsafe_put_user(b, &f->b, Efault);
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return -EFAULT;
}
