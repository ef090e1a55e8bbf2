#include <linux/uaccess.h>
#include "types.h"

/* The last of these wins, whichever are copied. */
int f(struct s __user *p, struct inner __user *t, u32 __user *q, struct s *k, u32 *o, unsigned int n)
{
	u32 b;

	if (get_user(b, &p->in.x) || get_user(b, &p->in.y) || get_user(b, &p->d))
		return -EFAULT;
	return b;
}
