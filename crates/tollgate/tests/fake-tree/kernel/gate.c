// SPDX-License-Identifier: MIT OR Apache-2.0
#include <linux/uaccess.h>

int gate(const char *what)
{
	return what[0] == 0;
}
