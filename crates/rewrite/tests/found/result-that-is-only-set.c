#include <linux/uaccess.h>
#include "types.h"

/* Each access hangs on the one before, and nothing looks at res in the end. */
int f(struct s __user *p, struct inner __user *t, u32 __user *q, struct s *k, u32 *o, unsigned int n)
{
	int res;

	res = put_user(0, q);
	if (!res)
		res = put_user(k->a, q + 1);
	trace(n);
	return 0;
}
