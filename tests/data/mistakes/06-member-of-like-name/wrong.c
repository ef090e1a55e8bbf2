int put_len(struct head __user *p, int len)
{
	if (!user_write_access_begin(&p->len, sizeof(p->len)))
		return -EFAULT;
	unsafe_put_user(len, &p->length, Efault);	// finds: outside-checked-range
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return -EFAULT;
}
