#include <linux/uaccess.h>
#include "types.h"

/* Two windows, and nothing else looks at error: a compiler warns. */
void f(struct s __user *p, struct inner __user *t, u32 __user *q, struct s *k, u32 *o, unsigned int n)
{
	int error = 0;

	if (n) {
		error = put_user(k->a, &t->x);
		if (error)
			return;
		error = put_user(k->b, &t->y);
		if (error)
			return;
	}
	error = put_user(k->a, &p->a) ?: put_user(k->b, &p->b);
	if (error)
		return;
	error = 0;
}
