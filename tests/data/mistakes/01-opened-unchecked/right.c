struct pair {
	u32 a;
	u32 b;
};

SYSCALL_DEFINE2(f, struct pair __user *,
		p, u32, v)
{
	if (!access_ok(p, sizeof(*p)))
		return -EFAULT;
	__uaccess_begin_nospec();
	unsafe_put_user(v, &p->a, fault);
	__uaccess_end();
	return 0;
fault:
	__uaccess_end();
	return -EFAULT;
}
