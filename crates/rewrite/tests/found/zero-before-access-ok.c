#include <linux/uaccess.h>
#include "types.h"

/* Where access_ok() fails, nothing is stored. */
int f(struct s __user *p, struct inner __user *t, u32 __user *q, struct s *k, u32 *o, unsigned int n)
{
	if (!access_ok(p, sizeof(*p)))
		return -EFAULT;
	if (get_user(k->a, &p->a) || get_user(k->b, &p->b))
		return -EFAULT;
	return 0;
}
