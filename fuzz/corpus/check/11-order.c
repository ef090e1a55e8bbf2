int move_addr(struct peer __user *msg, u32 addr, u32 len)
{
	if (!user_write_access_begin(msg, sizeof(*msg)))
		return -EFAULT;
	unsafe_put_user(len, &msg->namelen, Efault);
	unsafe_put_user(addr, &msg->name, Efault);	// finds: changed-order
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return -EFAULT;
}
