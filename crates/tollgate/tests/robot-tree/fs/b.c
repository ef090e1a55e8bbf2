#include <linux/h.h>

int b(int value);
int b(int value)
{
	int unused;

	return exported(value);
}
