int put_level(struct device *dev, u32 __user *p)
{
	if (!user_write_access_begin(p, sizeof(*p)))
		return -EFAULT;
	{
		struct level *level __free(level_put) = dev->level;

		unsafe_put_user(level->value, p, Efault);	// finds: jump-out-of-cleanup
	}
	user_write_access_end();
	return 0;
Efault:
	user_write_access_end();
	return -EFAULT;
}
