int f(struct pair __user *p, u32 v)
{
	unsigned long flags = user_access_save();

	if (v)
		return -EINVAL;	// finds: half-done-pair
	user_access_restore(flags);
	return 0;
}
