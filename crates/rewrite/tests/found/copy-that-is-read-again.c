#include <linux/uaccess.h>
#include "types.h"

/* A copy that faults may have written what is read again behind it. */
int f(struct s __user *p, struct inner __user *t, u32 __user *q, struct s *k, u32 *o, unsigned int n)
{
	u32 a;
	unsigned int i;
	long rc;

	if (!access_ok(t, sizeof(*t)))
		return -EIO;
	for (i = 0; i < (n & 3); i++) {
		if (put_user(cpu_to_le32(k->last), &t->y) ||
		    put_user(*o, &t->x))
			break;
	}
	/* Something to say. */
	if (o) {
		rc = get_user(a, &p->a);
		if (rc)
			return rc;
		rc = get_user(*(u32 *)&k->w[1], &p->in.x);
		if (rc)
			return rc;
		rc = get_user(a, &p->w[1]);
		if (rc)
			return rc;
	}
	/* Something to say. */
	rc = get_user(a, &p->a) | get_user(a, &p->b) | get_user(a, &p->in.x);
	if (rc)
		return -EFAULT;
	shared = *k;
	trace(a);
	return 0;
}
