struct pair {
	u32 a;
	u32 b;
};

SYSCALL_DEFINE2(f, struct pair __user *,
		p, u32, v)
{
	if (!user_write_access_begin(p, sizeof(p)))	// finds: outside-checked-range sizeof-pointer
		return -EFAULT;
	unsafe_put_user(v, &p->a, fault);
	user_write_access_end();
	return 0;
fault:
	user_write_access_end();
	return -EFAULT;
}
