/*
 * User access as the kernel has it, on an arena of which any bytes may fault.
 * Whatever the kernel would not survive ends the run: an access outside user
 * space, outside a window or against its direction, windows that are nested,
 * left open or closed by another's end, a call or a fault inside of one.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define __user
#define noinline __attribute__((noinline))
#define unlikely(x) __builtin_expect(!!(x), 0)
#define likely(x) __builtin_expect(!!(x), 1)
#define IS_ENABLED(x) (x)
#define IS_ALIGNED(x, a) (((x) & ((a) - 1)) == 0)
#define ARRAY_SIZE(x) (sizeof(x) / sizeof((x)[0]))
#define cpu_to_le32(x) ((u32)(x))
#define lower_32_bits(x) ((u32)(x))
#define CONFIG_64BIT 1
#define CONFIG_HAVE_EFFICIENT_UNALIGNED_ACCESS unaligned

/*
 * Objects lie from START to NOWHERE; from there on everything faults. The first
 * page of addresses is user space, too, and is never mapped.
 */
enum { ARENA = 512, START = 64, NOWHERE = 256, FIRST_PAGE = 4096 };
enum kind { CLOSED, BOTH, READ, WRITE };
enum fault { NONE, FROM, ONE, UPTO };

static u8 arena[ARENA] __attribute__((aligned(64)));
static enum fault fault;
static size_t fault_at;
static enum kind open_kind;
static bool masks, unaligned = true;
/* Whether ends for one way close a masked begin: not on every architecture. */
static bool own_ends;

/* What a run leaves besides memory. */
static struct {
	unsigned int faults, calls, accesses;
	/* Reads of the user's memory behind a fault. */
	unsigned int reads_behind;
	u32 called[64];
	u32 accessed[128];
} seen;

static const char *broken;
static sigjmp_buf stopped;

static noinline void stop(const char *what)
{
	broken = what;
	siglongjmp(stopped, 1);
}

#define insist(what) ((what) ? (void)0 : stop("not so: " #what))

static bool access_ok(const void *p, size_t n)
{
	uintptr_t at = (uintptr_t)p, from = (uintptr_t)arena;

	return (at < FIRST_PAGE && n <= FIRST_PAGE) || (at >= from && at <= from + ARENA && n <= from + ARENA - at);
}

static bool faults(size_t at)
{
	if (at < START || at >= NOWHERE)
		return true;
	switch (fault) {
	case FROM:
		return at >= fault_at;
	case ONE:
		return at == fault_at;
	case UPTO:
		return at <= fault_at;
	default:
		return false;
	}
}

/* How many bytes can be accessed before the first that faults. */
static size_t usable(const void *p, size_t n)
{
	size_t have = 0;

	insist(access_ok(p, n));
	if ((uintptr_t)p < FIRST_PAGE)
		return 0;
	while (have < n && !faults((const u8 *)p - arena + have))
		have++;
	return have;
}

static int move(void *kernel, void *user, size_t n, bool read)
{
	insist(unaligned || IS_ALIGNED((uintptr_t)user, n));
	if (usable(user, n) < n) {
		seen.faults++;
		return -EFAULT;
	}
	if (seen.accesses < ARRAY_SIZE(seen.accessed))
		seen.accessed[seen.accesses] = ((u8 *)user - arena) << 8 | n << 1 | read;
	seen.accesses++;
	seen.reads_behind += read && seen.faults;
	memcpy(read ? kernel : user, read ? user : kernel, n);
	return 0;
}

#define checked_move(v, p, read)					\
	(access_ok(p, sizeof(*(p))) ? move(v, p, sizeof(*(p)), read) : (seen.faults++, -EFAULT))

#define read_user(x, p, how) ({						\
	__auto_type p_ = (p);						\
	__typeof__(*(p)) v_ = 0;					\
	int r_;								\
	insist(open_kind == CLOSED);					\
	r_ = how;							\
	(x) = v_;							\
	r_; })

#define write_user(x, p, how) ({					\
	__auto_type p_ = (p);						\
	__typeof__(*(p)) v_ = (x);					\
	insist(open_kind == CLOSED);					\
	how; })

#define get_user(x, p) read_user(x, p, checked_move(&v_, p_, true))
#define put_user(x, p) write_user(x, p, checked_move(&v_, p_, false))
/* Without the check: whoever forgot it is stopped. */
#define __get_user(x, p) read_user(x, p, move(&v_, p_, sizeof(v_), true))
#define __put_user(x, p) write_user(x, p, move(&v_, p_, sizeof(v_), false))

static unsigned long left(const void *p, unsigned long n)
{
	unsigned long rest;

	insist(open_kind == CLOSED);
	rest = access_ok(p, n) ? n - usable(p, n) : n;
	seen.faults += rest != 0;
	return rest;
}

static unsigned long copy_from_user(void *to, const void *from, unsigned long n)
{
	bool behind = seen.faults;
	unsigned long rest;

	/* What is not copied is cleared, and all that the next function needs with it. */
	insist(n <= ARENA);
	rest = left(from, n);

	seen.reads_behind += behind && rest < n;
	memcpy(to, from, n - rest);
	memset((u8 *)to + n - rest, 0, rest);
	return rest;
}

static unsigned long copy_to_user(void *to, const void *from, unsigned long n)
{
	unsigned long rest = left(to, n);

	memcpy(to, from, n - rest);
	return rest;
}

static bool begin(const void *p, size_t n, enum kind kind)
{
	insist(open_kind == CLOSED);
	if (!access_ok(p, n)) {
		seen.faults++;
		return false;
	}
	open_kind = kind;
	return true;
}

static void end(enum kind kind)
{
	insist(open_kind == kind || (masks && own_ends && open_kind == BOTH));
	open_kind = CLOSED;
}

#define user_access_begin(p, n) begin(p, n, BOTH)
#define user_read_access_begin(p, n) begin(p, n, READ)
#define user_write_access_begin(p, n) begin(p, n, WRITE)
#define user_access_end() end(BOTH)
#define user_read_access_end() end(READ)
#define user_write_access_end() end(WRITE)
#define can_do_masked_user_access() masks

static void *mask(const void *p, enum kind kind)
{
	insist(masks);
	insist(begin(arena, 1, kind));
	return access_ok(p, 1) ? (void *)p : arena + NOWHERE;
}

#define masked_user_access_begin(p) mask(p, BOTH)
#define masked_user_read_access_begin(p) mask(p, READ)
#define masked_user_write_access_begin(p) mask(p, WRITE)

#define unsafe_get_user(x, p, label) do {				\
	__auto_type p_ = (p);						\
	__typeof__(*(p)) v_ = 0;					\
	insist(open_kind == BOTH || open_kind == READ);			\
	if (move(&v_, p_, sizeof(v_), true))				\
		goto label;						\
	(x) = v_;							\
} while (0)

#define unsafe_put_user(x, p, label) do {				\
	__auto_type p_ = (p);						\
	__typeof__(*(p)) v_ = (x);					\
	insist(open_kind == BOTH || open_kind == WRITE);		\
	if (move(&v_, p_, sizeof(v_), false))				\
		goto label;						\
} while (0)

static void leave(const void *pointer)
{
	(void)pointer;
	end(open_kind);
}

static const void *opened(const void *p, size_t n, enum kind kind, bool *fails)
{
	if (masks)
		return mask(p, kind);
	*fails = !begin(p, n, kind);
	return p;
}

/* Inside, the pointer is the masked one where pointers are masked. */
#define scope(p, n, way, label)						\
	for (bool done = false; !done; done = true)			\
		for (__typeof__(p) _tmpptr = ({				\
			bool fails_ = false;				\
			__typeof__(p) own_ = (__typeof__(p))opened((p), (n), (way), &fails_); \
			if (fails_)					\
				goto label;				\
			own_; }); !done; done = true)			\
			for (__typeof__(p) const p __attribute__((cleanup(leave))) = _tmpptr; !done; done = true)

#define scoped_user_read_access(p, label) scope(p, sizeof(*(p)), READ, label)
#define scoped_user_write_access(p, label) scope(p, sizeof(*(p)), WRITE, label)
#define scoped_user_rw_access(p, label) scope(p, sizeof(*(p)), BOTH, label)
#define scoped_user_read_access_size(p, n, label) scope(p, n, READ, label)
#define scoped_user_write_access_size(p, n, label) scope(p, n, WRITE, label)
#define scoped_user_rw_access_size(p, n, label) scope(p, n, BOTH, label)

/* Calls: what they were given, in order, and never inside a window. */
static noinline u32 trace(u32 what)
{
	insist(open_kind == CLOSED);
	if (seen.calls < ARRAY_SIZE(seen.called))
		seen.called[seen.calls] = what;
	seen.calls++;
	return what;
}
