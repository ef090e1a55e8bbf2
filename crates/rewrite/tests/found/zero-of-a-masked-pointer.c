#include <linux/uaccess.h>
#include "types.h"

/* The same, where a mask takes the place of the check. */
int f(struct s __user *p, struct inner __user *t, u32 __user *q, struct s *k, u32 *o, unsigned int n)
{
	if (!access_ok(p, sizeof(*p)) || __get_user(k->a, &p->a) || __get_user(k->b, &p->b))
		return -EFAULT;
	return 0;
}
