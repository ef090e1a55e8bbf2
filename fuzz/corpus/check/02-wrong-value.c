int put_msg(struct msghdr *msg, struct cmsg __user *cm, int len, int cmlen)
{
	if (!user_write_access_begin(cm, cmlen))
		return -EFAULT;
	unsafe_put_user(len, &cm->len, Efault);	// finds: changed-value
	unsafe_put_user(msg->level, &cm->level, Efault);
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return -EFAULT;
}
