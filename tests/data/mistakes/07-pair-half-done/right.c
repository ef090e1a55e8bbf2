int f(struct pair __user *p, u32 v)
{
	unsigned long flags = user_access_save();

	user_access_restore(flags);
	return 0;
}
