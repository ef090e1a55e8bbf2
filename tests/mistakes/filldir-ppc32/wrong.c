struct dirent {
	u64 ino;
	u16 reclen;
	char name[];
};

int fill(struct dirent __user *dirent, u64 ino, u16 reclen)
{
	if (!user_write_access_begin(dirent, sizeof(u64)))
		return -EFAULT;
	unsafe_put_user(ino, &dirent->ino, Efault);
	unsafe_put_user(reclen, &dirent->reclen, Efault);	// finds: outside-checked-range
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return -EFAULT;
}
