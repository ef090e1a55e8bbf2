int fill(struct dirent __user *dirent, int prev_reclen, int reclen, u64 ino, u64 offset)
{
	struct dirent __user *prev = (void __user *)dirent - prev_reclen;

	if (!user_write_access_begin(prev, reclen + prev_reclen))
		return -EFAULT;
	unsafe_put_user(offset, &prev->d_off, Efault);
	unsafe_put_user(ino, &dirent->d_ino, Efault);
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return -EFAULT;
}
