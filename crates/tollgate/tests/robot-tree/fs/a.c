#include <linux/h.h>

int exported(int value)
{
	return TWICE(value);
}

#ifdef CONFIG_X86_X32_ABI
static int x32(int value)
{
	return value + 1;
}

int x32_user(int value);
int x32_user(int value)
{
	return x32(value);
}
#endif

#ifndef CONFIG_A
int without_a(void);
int without_a(void)
{
	return 1;
}
#endif
