#include <linux/uaccess.h>
#include "types.h"

/* Zero was stored before what the condition asks first. */
int f(struct s __user *p, struct inner __user *t, u32 __user *q, struct s *k, u32 *o, unsigned int n)
{
	if (!o || get_user(*o, &p->a) || get_user(k->b, &p->b))
		return -EFAULT;
	return 0;
}
