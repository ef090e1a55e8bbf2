#ifdef CONFIG_ALTIVEC
static int put_vrsave(struct task *t, struct frame __user *f)
{
	if (!user_write_access_begin(f, sizeof(*f)))
		return -EFAULT;
	unsafe_put_user(t->vrsave, &f->vrsave Efault);	// finds: wrong-argument-count
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return -EFAULT;
}
#endif
