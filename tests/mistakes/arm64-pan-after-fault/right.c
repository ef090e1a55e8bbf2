unsigned long copy_in(void *to, const void __user *from, unsigned long n)
{
	unsigned long left;

	uaccess_enable_privileged();
	left = __arch_copy_from_user(to, from, n);
	uaccess_disable_privileged();
	return left;
}
