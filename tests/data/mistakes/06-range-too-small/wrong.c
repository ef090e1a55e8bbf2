int fill(struct dirent __user *dirent, u64 ino, u64 offset)
{
	if (!user_write_access_begin(dirent, 1))	// finds: outside-checked-range
		return -EFAULT;
	unsafe_put_user(ino, &dirent->d_ino, Efault);
	unsafe_put_user(offset, &dirent->d_off, Efault);
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return -EFAULT;
}
