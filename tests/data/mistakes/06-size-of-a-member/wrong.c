int f(struct pair __user *p, u32 v)
{
	scoped_user_write_access_size(p, sizeof(p->a), fault) {
		unsafe_put_user(v, &p->a, fault);
		unsafe_put_user(v, &p->b, fault);	// finds: outside-checked-range
	}
	return 0;
fault:
	return -EFAULT;
}
