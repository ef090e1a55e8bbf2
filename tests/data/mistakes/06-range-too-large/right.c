int fill(struct dirent __user *dirent, u64 ino)
{
	if (!user_write_access_begin(dirent, sizeof(*dirent)))
		return -EFAULT;
	unsafe_put_user(ino, &dirent->d_ino, Efault);
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return -EFAULT;
}
