#include <linux/uaccess.h>
#include "types.h"

/* What takes the results is read into, and a copy serves both reads. */
void f(struct s __user *p, struct inner __user *t, u32 __user *q, struct s *k, u32 *o, unsigned int n)
{
	int err = 0;
	u32 *u = &k->b;

	lock(k);
	if (!access_ok(t, sizeof(*t)))
		return;
	if (copy_from_user(&k->in, q, n * sizeof(*q)))
		return;
	n += 1;
	err = get_user(err, &t->x);
	if (err)
		return;
	err = get_user(*u, &t->y);
	if (err)
		return;
	/* Something to say. */
	trace(n);
	/* Something to say. */
}
