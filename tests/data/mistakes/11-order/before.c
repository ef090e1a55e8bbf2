int move_addr(struct peer __user *msg, u32 addr, u32 len)
{
	if (put_user(addr, &msg->name))
		return -EFAULT;
	return put_user(len, &msg->namelen);
}
