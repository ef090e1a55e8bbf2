#include <linux/uaccess.h>
#include "types.h"

/* The range that is checked is more than what a copy checks. */
void f(struct s __user *p, struct inner __user *t, u32 __user *q, struct s *k, u32 *o, unsigned int n)
{
	u32 a = 5;
	u32 b = 5;
	int ret = 0;

	if (!access_ok(p, sizeof(*p)) ||
	    __put_user(k->w[1], &p->c) ||
	    __put_user(a, &p->in.x) ||
	    __put_user(cpu_to_le32(k->last), &p->in.y) ||
	    __put_user(b, &p->w[0]) ||
	    p != NULL)
		goto out;
out:
	return;
}
