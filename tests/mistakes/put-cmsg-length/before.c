struct cmsg {
	size_t len;
	int level;
	int type;
};

int put_cmsg(struct cmsg __user *cm, int level, int type, int len)
{
	size_t cmlen = CMSG_LEN(len);

	if (put_user(cmlen, &cm->len) || put_user(level, &cm->level) || put_user(type, &cm->type))
		return -EFAULT;
	return 0;
}
