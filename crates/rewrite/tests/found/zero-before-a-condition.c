#include <linux/uaccess.h>
#include "types.h"

/* Zero was stored before the condition: through NULL, or over a value. */
int f(struct s __user *p, struct inner __user *t, u32 __user *q, struct s *k, u32 *o, unsigned int n)
{
	if (get_user(k->a, &p->a))
		return -EFAULT;
	if (o && get_user(*o, &p->b))
		return -EFAULT;
	if (k->d == 1 && get_user(k->b, &p->c))
		return -EFAULT;
	if (get_user(k->last, &p->last))
		return -EFAULT;
	return 0;
}
