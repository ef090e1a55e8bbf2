/* What the functions work on besides user memory. */
static struct kernel {
	struct s k;
	u32 o[2];
	struct s shared;
	u32 counter;
	struct s heap;
	bool taken;
	/* A function may itself copy more than there is room for. */
	u8 behind[ARENA];
} kernel;

#define shared kernel.shared
#define counter kernel.counter

static inline struct s *make(void)
{
	trace(0x100);
	insist(!kernel.taken);
	kernel.taken = true;
	memset(&kernel.heap, 0x11, sizeof(kernel.heap));
	return &kernel.heap;
}

/* Nobody can look at what was freed. */
static inline void kfree(struct s *object)
{
	trace(0x101);
	if (!object)
		return;
	insist(kernel.taken);
	kernel.taken = false;
	memset(&kernel.heap, 0x6b, sizeof(kernel.heap));
}

static inline void lock(struct s *object)
{
	trace(0x102);
}

static inline void unlock(struct s *object)
{
	trace(0x103);
}

static inline void unlocked(struct s **object)
{
	unlock(*object);
}

#define scoped_guard(name, object)					\
	for (struct s *held_ __attribute__((cleanup(unlocked))) = (lock(object), (object)), *once_ = held_; once_; once_ = NULL)
#define guard(name) lock_guard
#define lock_guard(object) struct s *held_ __attribute__((cleanup(unlocked), unused)) = (lock(object), (object))

typedef long (*function)(struct s *p, struct inner *t, u32 *q, struct s *k, u32 *o, unsigned int n);

struct rewriting {
	const char *name;
	function after;
	/* What the style does on a machine. */
	bool masks, own_ends, copies, sizes;
};

struct original {
	const char *name;
	function before;
	const struct rewriting *rewritings;
	size_t count;
};
