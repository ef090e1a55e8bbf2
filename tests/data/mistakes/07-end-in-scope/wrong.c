int f(struct pair __user *p, u32 v)
{
	scoped_user_write_access(p, fault) {
		unsafe_put_user(v, &p->a, fault);
		user_write_access_end();	// finds: window-closed-twice
	}
	return 0;
fault:
	return -EFAULT;
}
