#include <linux/uaccess.h>
#include "types.h"

/* The second window has no access_ok() of its own. */
int f(struct s __user *p, struct inner __user *t, u32 __user *q, struct s *k, u32 *o, unsigned int n)
{
	if (!access_ok(p, sizeof(*p)) || __get_user(k->a, &p->a) || __get_user(k->b, &p->b))
		goto out;
	if (get_user(k->c, q) || get_user(k->d, q + 1))
		return -EIO;
out:
	trace(n);
	return 0;
}
