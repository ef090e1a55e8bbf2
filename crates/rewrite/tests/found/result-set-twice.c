#include <linux/uaccess.h>
#include "types.h"

/* The way out already says what it leaves with. */
int f(struct s __user *p, struct inner __user *t, u32 __user *q, struct s *k, u32 *o, unsigned int n)
{
	int rc;

	rc = put_user(n, &t->x);
	if (rc) {
		rc = -EFAULT;
		goto out;
	}
	rc = put_user(k->a, &t->y);
	if (rc) {
		rc = -EFAULT;
		goto out;
	}
	k->b = 3;
out:
	unlock(k);
	return rc;
}
