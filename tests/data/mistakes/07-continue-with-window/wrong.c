int f(struct pair __user *p, u32 *v, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		if (!user_write_access_begin(&p[i], sizeof(p[i])))	// finds: nested-window
			return -EFAULT;	// finds: window-left-open
		unsafe_put_user(v[i], &p[i].a, fault);
		if (v[i] == 3)
			continue;
		user_write_access_end();
	}
	return 0;	// finds: window-left-open
fault:
	user_write_access_end();
	return -EFAULT;
}
