struct cmsg {
	size_t len;
	int level;
	int type;
};

int put_cmsg(struct cmsg __user *cm, int level, int type, int len)
{
	size_t cmlen = CMSG_LEN(len);

	if (!user_write_access_begin(cm, cmlen))
		return -EFAULT;
	unsafe_put_user(len, &cm->len, Efault);	// finds: changed-value
	unsafe_put_user(level, &cm->level, Efault);
	unsafe_put_user(type, &cm->type, Efault);
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return -EFAULT;
}
