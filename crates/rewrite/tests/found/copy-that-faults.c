#include <linux/uaccess.h>
#include "types.h"

/* A variable that is looked at on the way out. */
int f(struct s __user *p, struct inner __user *t, u32 __user *q, struct s *k, u32 *o, unsigned int n)
{
	u32 a = 3, b = 4;

	if (get_user(a, &p->in.x) || get_user(b, &p->in.y))
		goto out;
	k->c = a;
out:
	trace(b);
	return 0;
}
