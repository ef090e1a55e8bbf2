int put_frame(struct frame __user *f, u32 sig, u32 code)
{
	if (!user_write_access_begin(f, sizeof(*f)))
		return -EFAULT;
	unsafe_put_user(sig, &f->sig, Efault);
	unsafe_put_user(code, &f->code, Efault);
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return -EFAULT;
}
