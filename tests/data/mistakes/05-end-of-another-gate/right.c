int f(u64 __user *p, u64 v)
{
	int ret = 0;

	uaccess_enable_privileged();
	asm volatile("swp" : [ret] "+r" (ret), "+Q" (*p) : "r" (v));
	uaccess_disable_privileged();
	return ret;
}
