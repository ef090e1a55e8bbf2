#include <linux/uaccess.h>
#include "types.h"

/* What the first access gave lies in a variable that nothing tests, and goes out. */
int f(struct s __user *p, struct inner __user *t, u32 __user *q, struct s *k, u32 *o, unsigned int n)
{
	int error;
	int late;
	int left = 2;

	while (left-- > 0) {
		error = get_user(k->w[1], &p->a);
		late = get_user(shared.a, &p->w[0]);
		if (late)
			return -EFAULT;
	}
	trace(late);
	return error + 5;
}
