int put_first(struct pair __user *p, u32 first)
{
	scoped_user_read_access(p, Efault) {
		unsafe_put_user(first, &p->first, Efault);	// finds: wrong-direction
		return 0;
	}
Efault:
	return -EFAULT;
}
