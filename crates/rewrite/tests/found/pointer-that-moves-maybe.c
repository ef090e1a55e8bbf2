#include <linux/uaccess.h>
#include "types.h"

/* The pointer is moved on only where the condition holds. */
int f(struct s __user *p, struct inner __user *t, u32 __user *q, struct s *k, u32 *o, unsigned int n)
{
	u32 a = 3;
	u32 b;
	int err = 0;
	u16 half = 3;

	if (!access_ok(t, sizeof(*t)))
		return -EIO;
	if (n ? k->a : k->b) {
		if (get_user(a, q++))
			goto out;
		if (p != NULL && get_user(half, q++))
			goto out;
		if (get_user(b, q++))
			goto out;
	}
	k->b = b;
out:
	trace(b);
	return 0;
}
