/* One function for each way in which accesses follow each other. */
#include <linux/uaccess.h>

static int or_chain(struct s __user *p, int a, int b)
{
	if (put_user(a, &p->a) || put_user(b, &p->b))
		return -EFAULT;
	return 0;
}

static int bit_or(struct s __user *p, int a, int b)
{
	if (put_user(a, &p->a) | put_user(b, &p->b))
		return -EFAULT;
	return 0;
}

static int err_or(struct s __user *p, int a, int b)
{
	int err;

	err = __put_user(a, &p->a);
	err |= __put_user(b, &p->b);
	return err;
}

static int elvis(struct s __user *p, int a, int b)
{
	int err = 0;

	err = err ?: put_user(a, &p->a);
	err = err ?: put_user(b, &p->b);
	return err;
}

static int sequential(struct s __user *p)
{
	int a, b;

	if (get_user(a, &p->a))
		return -EFAULT;
	/* a comment is no statement */
	if (get_user(b, &p->b)) {
		pr_debug("b");
		goto out;
	}
	return a + b;
out:
	return -EFAULT;
}

static int assign(struct s __user *p, int *a, int *b)
{
	int err = get_user(*a, &p->a);
	if (err)
		return err;
	err = get_user(*b, &p->b);
	if (err < 0)
		return err;
	return 0;
}

SYSCALL_DEFINE2(if_no_error, int __user *, p, int __user *, q)
{
	int err;

	err = put_user(1, p);
	if (!err)
		err = put_user(2, q);
	return err;
}

static void bare(struct s __user *p)
{
	__put_user(1, &p->a);
	__put_user(2, &p->b);
}

static int returned(struct s __user *p)
{
	return __put_user(1, &p->a) || __put_user(2, &p->b);
}

static int read_then_write(int __user *p)
{
	int v;

	if (get_user(v, p))
		return -EFAULT;
	v++;
	return put_user(v, p);
}

static int in_scope(struct s __user *p)
{
	scoped_guard(mutex, &lock) {
		if (put_user(1, &p->a) || put_user(2, &p->b))
			return -EFAULT;
	}
	return 0;
}

static int in_loop(struct s __user *p)
{
	struct item *i;

	list_for_each_entry(i, &items, node) {
		if (put_user(i->a, &p->a) || put_user(i->b, &p->b))
			return -EFAULT;
		p++;
	}
	return 0;
}

static int behind_if(struct s __user *p)
{
	int err = put_user(1, &p->a);
#ifdef CONFIG_X
	err |= put_user(2, &p->b);
#else
	err |= put_user(3, &p->b);
#endif
	return err;
}

static int call_between(struct s __user *p)
{
	if (put_user(1, &p->a))
		return -EFAULT;
	schedule();
	if (put_user(2, &p->b))
		return -EFAULT;
	return 0;
}

static int label_between(struct s __user *p)
{
	int err = put_user(1, &p->a);
again:
	err |= put_user(2, &p->b);
	if (err == 1)
		goto again;
	return err;
}

static int other_branch(struct s __user *p, int c)
{
	if (c)
		return put_user(1, &p->a);
	else
		return put_user(2, &p->b);
}

static int once_a_round(struct s __user *p)
{
	while (more())
		if (put_user(1, &p->a))
			return -EFAULT;
	return put_user(2, &p->b);
}

static int in_case(struct s __user *p, int c)
{
	switch (c) {
	case 1 ... 3:
		if (put_user(1, &p->a))
			return -EFAULT;
	case 4:
		return put_user(2, &p->b);
	}
	return 0;
}

static int hazards(struct s __user *p, int __user *q)
{
	int n;

	if (put_user(task_pid_vnr(current), &p->a) ||
	    put_user(cpu_to_le32(1), &p->b) ||
	    put_user(0, q++) ||
	    get_user(n, &p->n) ||
	    put_user(1, &p->array[n]) ||
	    (n && put_user(2, &p->c)))
		return -EFAULT;
	return 0;
}

#define COPY(x) err |= __get_user(x, &p->x)
static int wrapped(struct s __user *p)
{
	int a, b, err = 0;

	COPY(a);
	COPY(b);
	return err;
}
#undef COPY
#define COPY(x) err |= __put_user(k->x, &p->x)
static int wrapped_again(struct s __user *p)
{
	int err = 0;

	COPY(a);
	COPY(b);
	return err;
}

#define DEFINES(func, type) \
static int func(struct type __user *p) \
{ \
	if (put_user(1, &p->a) || put_user(2, &p->b)) \
		return -EFAULT; \
	return 0; \
}

DEFINES(by_macro, s)

#define __put_user_error(x, ptr, err) \
do { \
	if (access_ok(ptr, sizeof(*(ptr)))) \
		store(x, ptr); \
	else \
		(err) = -EFAULT; \
} while (0)
#define OR_LEAVE(x, ptr) ({ if (get_user(x, ptr)) return -EFAULT; })

static int into_a_variable(struct s __user *p)
{
	int err = 0;

	__put_user_error(1, &p->a, err);
	__put_user_error(2, &p->b, err);
	return err;
}

static int leaves_inside(struct s __user *p)
{
	int a, b;

	OR_LEAVE(a, &p->a);
	OR_LEAVE(b, &p->b);
	return a + b;
}

#ifdef CONFIG_64BIT
COMPAT_SYSCALL_DEFINE2(two_headers, struct s __user *, p, int, n)
#else
SYSCALL_DEFINE2(two_headers, struct s __user *, p, long, n)
#endif
{
	return put_user(1, &p->a) ? : put_user(2, &p->b);
}

static int divided_header(struct s __user *p
#ifdef CONFIG_64BIT
			  , int more
#endif
			 )
{
	return put_user(1, &p->a) || put_user(2, &p->b);
}

static int three_sides(struct s __user *p)
{
	int err = 0;

#ifdef A
	err |= __put_user(1, &p->a);
#ifdef B
	err |= __put_user(2, &p->b);
#else
	err |= __put_user(3, &p->b);
	err |= __put_user(4, &p->c);
#endif
#else
	err |= __put_user(5, &p->a);
#endif
	return err;
}

static int adjusted_between(int __user *p, int max)
{
	int n;

	if (get_user(n, p))
		return -EFAULT;
	if (n > max)
		n = max;
	else
		n += 1;
	return put_user(n, p);
}

static int adjusted_by_a_call(int __user *p, int max)
{
	int n;

	if (get_user(n, p))
		return -EFAULT;
	if (n > max)
		n = limit(max);
	return put_user(n, p);
}

static int in_an_argument(char __user *p, int n)
{
	handshake(n, max, WAIT,
		  put_user(a, p++);
		  put_user(b, p++));
	return n;
}
