#include <linux/uaccess.h>
#include "types.h"

/* What takes the results is read into, too. */
int f(struct s __user *p, struct inner __user *t, u32 __user *q, struct s *k, u32 *o, unsigned int n)
{
	int rc = 1;
	u32 a;

	rc = get_user(rc, &p->a);
	rc |= get_user(a, &p->b);
	if (rc)
		return -EIO;
	return a;
}
