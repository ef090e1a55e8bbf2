struct peer {
	u32 len;
	u32 addr;
};

int move_addr(struct peer __user *to, u32 addr, u32 len)
{
	if (!user_write_access_begin(to, sizeof(*to)))
		return -EFAULT;
	unsafe_put_user(len, &to->len, Efault);
	unsafe_put_user(addr, &to->addr, Efault);	// finds: changed-order
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return -EFAULT;
}
