#include <linux/uaccess.h>
#include "types.h"

/* Two variables take results, and nothing looks at either behind them. */
void f(struct s __user *p, struct inner __user *t, u32 __user *q, struct s *k, u32 *o, unsigned int n)
{
	u32 a;
	u32 all[2];
	u32 b;
	long late = 1;
	int ret = 0;

	if (n) {
		u32 a = n;

		trace(a);
		if (get_user(a, &t->x) < 0)
			goto out;
		k->b = b;
		if ((!(n & 2)) && get_user(b, &t->y))
			goto out;
	}
	if (p != NULL)
		return;
	ret = get_user(b, &q[0]);
	if (ret)
		return;
	late = get_user(a, &q[1]);
	if (late)
		return;
	k->b = b;
	late = get_user(all[1], &q[2]);
	if (late)
		return;
out:
	k->d = 3;
}
