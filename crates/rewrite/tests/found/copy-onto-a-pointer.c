#include <linux/uaccess.h>
#include "types.h"

/* o may point to k->b. */
int f(struct s __user *p, struct inner __user *t, u32 __user *q, struct s *k, u32 *o, unsigned int n)
{
	if (get_user(k->b, &p->in.x) || get_user(k->a, &p->in.y) || get_user(*o, &p->d))
		return -EFAULT;
	return 0;
}
