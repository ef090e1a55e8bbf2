int fill(struct dirent __user *dirent, int prev_reclen, u64 ino, u64 offset)
{
	struct dirent __user *prev = (void __user *)dirent - prev_reclen;

	if (!user_write_access_begin(dirent, sizeof(*dirent)))
		return -EFAULT;
	unsafe_put_user(offset, &prev->d_off, Efault);	// finds: outside-checked-range
	unsafe_put_user(ino, &dirent->d_ino, Efault);
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return -EFAULT;
}
