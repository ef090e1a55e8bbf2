int copy_flags(struct regs *to, const struct regs __user *from)
{
	u32 flags;
	int err = 0;

	if (!user_read_access_begin(from, sizeof(*from)))
		return -EFAULT;
	unsafe_get_user(flags, &from->flags, Efault);
	goto out;
Efault:
	err = -EFAULT;
out:
	user_read_access_end();
	if (err)
		return err;
	to->flags = flags;
	return 0;
}
