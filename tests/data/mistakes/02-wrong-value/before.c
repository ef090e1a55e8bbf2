int put_msg(struct msghdr *msg, struct cmsg __user *cm, int len, int cmlen)
{
	if (put_user(cmlen, &cm->len) || put_user(msg->level, &cm->level))
		return -EFAULT;
	return 0;
}
