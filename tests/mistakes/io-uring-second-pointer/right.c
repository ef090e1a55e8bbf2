int put_both(u32 __user *head, u32 __user *tail, u32 h, u32 t)
{
	if (!user_write_access_begin(head, sizeof(*head)))
		return -EFAULT;
	unsafe_put_user(h, head, Efault);
	user_write_access_end();
	return put_user(t, tail);
Efault:
	user_write_access_end();
	return -EFAULT;
}
