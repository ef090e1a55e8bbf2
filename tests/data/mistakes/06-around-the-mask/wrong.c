int f(struct pair __user *p, u32 v)
{
	struct pair __user *orig = p;

	if (can_do_masked_user_access())
		p = masked_user_access_begin(p);
	else if (!user_write_access_begin(p, sizeof(*p)))
		return -EFAULT;
	unsafe_put_user(v, &orig->a, fault);	// finds: outside-checked-range
	user_write_access_end();
	return 0;
fault:
	user_write_access_end();
	return -EFAULT;
}
