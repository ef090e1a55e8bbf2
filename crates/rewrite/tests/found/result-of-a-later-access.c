#include <linux/uaccess.h>
#include "types.h"

/* What takes results takes none of the first. */
int f(struct s __user *p, struct inner __user *t, u32 __user *q, struct s *k, u32 *o, unsigned int n)
{
	u32 a = 0, b;
	int rc;

	if (!access_ok(t, sizeof(*t))) {
		trace(5);
		return -EFAULT;
	}
	if (get_user(b, &p->b) ||
	    get_user(a, &p->d))
		return -EFAULT;
	if (a > 2)
		k->last = b;
	rc = get_user(k->w[1], &p->in.x);
	if (rc)
		return -EFAULT;
	a = n + 1;
	rc = get_user(a, &p->in.y);
	if (rc)
		return -EFAULT;
	trace(n);
	k->w[1] = b + 1;
	return rc ? -EIO : 0;
}
