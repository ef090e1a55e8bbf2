#include <linux/uaccess.h>
#include "types.h"

/* The second access stores the result of the first, which is 0. */
int f(struct s __user *p, struct inner __user *t, u32 __user *q, struct s *k, u32 *o, unsigned int n)
{
	int err = 5;

	trace(err);
	err = put_user(k->a, &p->a);
	if (err)
		return err;
	err = put_user(err, &p->b);
	if (err)
		return err;
	return 0;
}
