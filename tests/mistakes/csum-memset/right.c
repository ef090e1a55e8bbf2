int copy_and_clear(void *dst, const void __user *src, int len, int room)
{
	if (!user_read_access_begin(src, len))
		return -EFAULT;
	unsafe_copy_from_user(dst, src, len, Efault);
	user_read_access_end();
	memset(dst + len, 0, room - len);
	return 0;
Efault:
	user_read_access_end();
	return -EFAULT;
}
