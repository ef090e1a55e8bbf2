#if defined(CONFIG_X86_X32_ABI)
static int put_control(struct control *c, struct sync __user *src)
{
	int err = -EFAULT;

	if (!user_write_access_begin(src, sizeof(*src)))
		return -EFAULT;
	unsafe_put_user(c->appl_ptr, &src->appl_ptr, Efault_wr);
	unsafe_put_user(c->avail_min, &src->avail_min), Efault_wr);	// finds: wrong-argument-count
	err = 0;
Efault_wr:
	user_write_access_end();
	return err;
}
#endif
