#include <linux/uaccess.h>
#include "types.h"

/* What ret holds behind the first window decides on what follows. */
int f(struct s __user *p, struct inner __user *t, u32 __user *q, struct s *k, u32 *o, unsigned int n)
{
	int ret = 1;
	u32 a, b;

	if (n) {
		ret = get_user(a, &p->a);
		if (ret)
			return ret;
		ret = get_user(b, &p->b);
		if (ret)
			return ret;
		k->c = a + b;
	}
	ret = ret ?: put_user(2, &t->x);
	return ret;
}
