/*
 * Runs each function and its rewritings on the same memory, with a fault at every
 * place, and compares what they return, what they call and what they leave behind.
 */
struct state {
	long result;
	u8 user[ARENA];
	struct kernel kernel;
	__typeof__(seen) seen;
	const char *broken;
};

/* What a function is called with. */
struct input {
	unsigned int n;
	enum { NO_OUT, OUT, OUT_IN_K } out;
	enum { APART, ONTO, NULL_P, BAD_P, BAD_T } place;
	u8 step;
};

static const struct input inputs[] = {
	{ 0, NO_OUT, APART, 0 }, { 1, OUT, APART, 7 },	  { 2, OUT, APART, 1 },	   { 5, NO_OUT, APART, 3 },
	{ 1, OUT, ONTO, 5 },	 { 1, OUT, NULL_P, 9 },	  { 2, NO_OUT, BAD_P, 11 }, { 1, OUT, BAD_T, 2 },
	{ 2, OUT_IN_K, APART, 0 }, { 3, OUT_IN_K, ONTO, 13 }, { 0, OUT, APART, 4 },
};

/* Not in user space. */
static u8 elsewhere[ARENA];

/* Bytes that no member of the user's structure has. */
static bool is_hole[ARENA];

static void fill(void *to, size_t n, unsigned int seed, unsigned int step)
{
	for (size_t i = 0; i < n; i++)
		/* Small numbers, so that conditions on them go both ways. */
		((u8 *)to)[i] = step && i % 4 ? 0 : seed + i * step;
}

static void ended(int signal)
{
	stop(signal == SIGVTALRM ? "does not end" : "a fault of the kernel's own");
}

static void limit(int seconds)
{
	struct itimerval timer = { .it_value.tv_sec = seconds };

	setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

/* What memory holds at the beginning, for each input. */
static struct {
	u8 arena[ARENA], elsewhere[ARENA];
	struct kernel kernel;
} images[ARRAY_SIZE(inputs)];

static void draw_images(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(inputs); i++) {
		fill(images[i].arena, ARENA, 1, inputs[i].step);
		fill(images[i].elsewhere, ARENA, 3, inputs[i].step);
		fill(&images[i].kernel, sizeof(kernel), inputs[i].step * 3, inputs[i].step);
		images[i].kernel.taken = false;
	}
}

static void prepare(size_t at)
{
	memcpy(arena, images[at].arena, sizeof(arena));
	memcpy(elsewhere, images[at].elsewhere, sizeof(elsewhere));
	kernel = images[at].kernel;
	memset(&seen, 0, sizeof(seen));
	open_kind = CLOSED;
	broken = NULL;
}

static long call(function f, const struct input *in)
{
	struct s *p = (struct s *)(arena + START);
	struct inner *t = (struct inner *)(arena + START + 2 * sizeof(struct s));
	u32 *q = (u32 *)(t + 2);
	u32 *o = in->out == OUT ? kernel.o : in->out == OUT_IN_K ? &kernel.k.b : NULL;

	if (in->place == ONTO) {
		t = &p->in;
		q = &p->a;
	} else if (in->place == NULL_P) {
		p = NULL;
	} else if (in->place == BAD_P) {
		p = (struct s *)elsewhere;
	} else if (in->place == BAD_T) {
		t = (struct inner *)elsewhere;
		q = (u32 *)elsewhere;
	}
	return f(p, t, q, &kernel.k, o, in->n);
}

static void run(function f, size_t input, struct state *out)
{
	prepare(input);
	if (!sigsetjmp(stopped, 1)) {
		out->result = call(f, &inputs[input]);
		insist(open_kind == CLOSED);
	}
	memcpy(out->user, arena, sizeof(arena));
	out->kernel = kernel;
	out->seen = seen;
	out->broken = broken;
}

static bool same_user(const struct state *a, const struct state *b, bool holes)
{
	if (!memcmp(a->user, b->user, ARENA))
		return true;
	for (size_t i = 0; i < ARENA; i++)
		if (a->user[i] != b->user[i] && !(holes && is_hole[i]))
			return false;
	return true;
}

static bool same_calls(const struct state *a, const struct state *b)
{
	return a->seen.calls == b->seen.calls && !memcmp(a->seen.called, b->seen.called, sizeof(a->seen.called));
}

/* Each byte once, in the same order: what is read twice may differ in between. */
static bool same_accesses(const struct state *a, const struct state *b)
{
	return a->seen.accesses == b->seen.accesses &&
	       !memcmp(a->seen.accessed, b->seen.accessed, sizeof(a->seen.accessed));
}

/* Nobody can look at an object that was freed. */
static void forget(struct state *state)
{
	if (!state->kernel.taken)
		memset(&state->kernel.heap, 0, sizeof(state->kernel.heap));
}

static const char *difference(const struct rewriting *as, struct state *a, struct state *b)
{
	/* A copy that faults may have done less, or more, of what it is for. */
	bool loose = as->copies && (a->seen.faults || b->seen.faults);

	if (b->broken)
		return b->broken;
	/* What it has left in the user's memory may have been read again. */
	if (loose && (a->seen.reads_behind || b->seen.reads_behind) && !same_user(a, b, true))
		return NULL;
	if (a->result != b->result)
		return "another result";
	if (!same_calls(a, b))
		return "other calls";
	if (loose)
		return NULL;
	if (!same_user(a, b, as->copies))
		return "other user memory";
	forget(a);
	forget(b);
	if (memcmp(&a->kernel, &b->kernel, sizeof(a->kernel)))
		return "other memory of the kernel";
	if (!as->copies && !as->sizes && !a->seen.faults && !same_accesses(a, b))
		return "other accesses";
	return NULL;
}

static struct state first, second;

struct tally {
	long compared, faulted, unfit;
	const char *what;
};

/* The first of the differences, with what it takes to see it again. */
static void differ(struct tally *tally, const char *original, const char *name, size_t input, const char *what)
{
	static const char *const kinds[] = { "no fault", "faults from", "faults only at", "faults up to" };

	tally->what = what;
	printf("differs %s %s %s: input %zu, %s %zd, masks %d, unaligned %d: %ld and %ld\n", original, name, what,
	       input, kinds[fault], fault == NONE ? 0 : (ssize_t)fault_at - START, masks, unaligned, first.result,
	       second.result);
}

/* Whether the function works on the input where all of user memory is there. */
static bool works(function f, size_t input)
{
	struct input good = inputs[input];

	fault = NONE;
	good.place = APART;
	prepare(input);
	if (sigsetjmp(stopped, 1))
		return false;
	call(f, &good);
	return true;
}

static void compare(const struct original *original, const struct rewriting *as, size_t input, struct tally *tally)
{
	const char *what;

	masks = as->masks && masks;
	own_ends = as->own_ends;
	/* No page of memory ends within a copy and begins again. */
	if (as->copies && fault == ONE && is_hole[fault_at])
		return;
	run(original->before, input, &first);
	if (first.broken) {
		tally->unfit++;
		return;
	}
	run(as->after, input, &second);
	tally->compared++;
	tally->faulted += first.seen.faults != 0;
	what = difference(as, &first, &second);
	if (what)
		differ(tally, original->name, as->name, input, what);
}

static void faults_everywhere(const struct original *original, const struct rewriting *as, struct tally *tally)
{
	for (size_t input = 0; input < ARRAY_SIZE(inputs) && !tally->what; input++) {
		if (!works(original->before, input)) {
			tally->unfit++;
			continue;
		}
		compare(original, as, input, tally);
		for (fault = FROM; fault <= UPTO; fault++)
			for (fault_at = START; fault_at < NOWHERE - 64 && !tally->what; fault_at++)
				compare(original, as, input, tally);
	}
}

static void judge(const struct original *original, const struct rewriting *as)
{
	struct tally tally = {};

	limit(10);
	for (int kind = 0; kind < 4 && !tally.what; kind++) {
		masks = kind & 1;
		unaligned = !(kind & 2);
		if ((masks && !as->masks) || (!unaligned && !as->sizes))
			continue;
		faults_everywhere(original, as, &tally);
	}
	limit(0);
	printf("compared %s %s %ld %ld %ld\n", original->name, as->name, tally.compared, tally.faulted, tally.unfit);
}

static void find_holes(void)
{
	struct s one;
	u8 *byte = (u8 *)&one;

	memset(&one, 0, sizeof(one));
	one.a = one.b = one.in.x = one.in.y = one.w[0] = one.w[1] = one.last = ~0u;
	one.c = ~0ull;
	one.d = (u16)~0u;
	for (size_t i = 0; i < 2 * sizeof(one); i++)
		is_hole[START + i] = !byte[i % sizeof(one)];
}

int main(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGVTALRM };

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		signal(signals[i], ended);
	find_holes();
	draw_images();
	for (size_t i = 0; i < ARRAY_SIZE(originals); i++)
		for (size_t j = 0; j < originals[i].count; j++)
			judge(&originals[i], &originals[i].rewritings[j]);
	return 0;
}
