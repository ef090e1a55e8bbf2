/*
 * Runs before() and after() on the same memory, with a fault at every place, and
 * compares what they return and what they leave behind.
 */
enum { AT = 256, WIDEST = 40 };

struct state {
	int result;
	u8 user[ARENA];
	u8 kernel[2 * WIDEST];
};

/* Not in user space. */
static u8 elsewhere[256];

static void fill(u8 *to, size_t n, unsigned int seed)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (u8)(seed + i * 7);
}

static void run(int (*f)(struct s *, struct s *, unsigned int), u8 *p, unsigned int n, struct state *out)
{
	u8 kernel[2 * WIDEST] __attribute__((aligned(8)));

	fill(arena, sizeof(arena), 1);
	fill(elsewhere, sizeof(elsewhere), 3);
	fill(kernel, sizeof(kernel), 90);
	out->result = f((struct s *)p, (struct s *)kernel, n);
	insist(open_kind == CLOSED);
	memcpy(out->user, arena, sizeof(arena));
	memcpy(out->kernel, kernel, sizeof(kernel));
}

static bool same(const struct state *a, const struct state *b)
{
	if (a->result != b->result)
		return false;
	/* A copy may leave other bytes behind when it faults, and in holes. */
	if (COPIES)
		return a->result || COPIES > 1 || !memcmp(a->kernel, b->kernel, sizeof(a->kernel));
	return !memcmp(a->user, b->user, sizeof(a->user)) && !memcmp(a->kernel, b->kernel, sizeof(a->kernel));
}

static bool members_equal(const struct state *a, const struct state *b)
{
	const struct s *x = (const struct s *)(a->user + AT), *y = (const struct s *)(b->user + AT);

	return a->result || !COPIES ||
	       (x->a == y->a && x->b == y->b && x->c == y->c && x->in.x == y->in.x && x->in.y == y->in.y &&
		x->d == y->d && x->last == y->last);
}

static struct state first, second;
static long compared;

static void compare(u8 *p, unsigned int n)
{
	run(before, p, n, &first);
	run(after, p, n, &second);
	compared++;
	if (same(&first, &second) && members_equal(&first, &second))
		return;
	fprintf(stderr, "differs: at %td, %td bytes mapped, size %u, masks %d: %d and %d\n", p - arena,
		user_end - p, n, masks, first.result, second.result);
	exit(1);
}

int main(void)
{
	for (int mask = 0; mask < 2; mask++) {
		masks = mask;
		for (unsigned int n = 0; n <= (SIZES ? WIDEST : 0); n++) {
			for (int shift = 0; shift < (SHIFTS ? 8 : 1); shift++)
				for (int have = 0; have <= WIDEST + 8; have++) {
					user_end = arena + AT + shift + have;
					compare(arena + AT + shift, n);
				}
			user_end = arena + GUARD;
			compare(elsewhere, n);
		}
	}
	printf("%ld\n", compared);
	return 0;
}
