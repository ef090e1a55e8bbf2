int read_block(void *to, const struct block __user *from, size_t n, size_t room)
{
	if (!user_read_access_begin(from, n))
		return -EFAULT;
	unsafe_copy_from_user(to, from, n, Efault);
	memset(to + n, 0, room - n);	// finds: call-in-window
	user_read_access_end();
	return 0;
Efault:
	user_read_access_end();
	return -EFAULT;
}
