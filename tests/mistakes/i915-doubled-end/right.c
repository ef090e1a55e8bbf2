int put_all(u64 __user *p, unsigned int count)
{
	unsigned int i;
	int err = -EFAULT;

	if (!user_write_access_begin(p, count * sizeof(*p)))
		return err;
	for (i = 0; i < count; i++)
		unsafe_put_user(0ull, p + i, end_user);
	err = 0;
end_user:
	user_write_access_end();
	return err;
}
