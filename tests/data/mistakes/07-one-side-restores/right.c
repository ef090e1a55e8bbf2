int f(int load, unsigned long addr, unsigned long v)
{
	unsigned int flags;

	if (load) {
		flags = uaccess_save_and_enable();
		asm volatile("ldrt" : "=r" (v) : "r" (addr));
		uaccess_restore(flags);
	} else {
		flags = uaccess_save_and_enable();
		asm volatile("strt" : : "r" (v), "r" (addr));
		uaccess_restore(flags);
	}
	return v;
}
