/*
 * User access as the kernel has it, on an arena with an end: what lies at or
 * behind user_end faults. Whatever the kernel would not survive aborts: an
 * access outside user space, outside a window, or not aligned where that is not
 * allowed, and windows that are nested, left open or closed by another's end.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define __user
#define __packed __attribute__((packed))
#define unlikely(x) (x)
#define fallthrough __attribute__((fallthrough))
#define IS_ENABLED(x) (x)
#define IS_ALIGNED(x, a) (((x) & ((a) - 1)) == 0)
#define CONFIG_64BIT 1

enum { ARENA = 1024, GUARD = 512 };
enum kind { CLOSED, BOTH, READ, WRITE };

static u8 arena[ARENA] __attribute__((aligned(64)));
static const u8 *user_end;
static enum kind open_kind;
static bool masks;

#define insist(what) ((what) ? (void)0 : (fprintf(stderr, "%d: not so: %s\n", __LINE__, #what), abort()))

static bool access_ok(const void *p, size_t n)
{
	return (const u8 *)p >= arena && n <= ARENA && (const u8 *)p + n <= arena + ARENA;
}

static bool mapped(const void *p, size_t n)
{
	insist(access_ok(p, n));
	return (const u8 *)p + n <= user_end;
}

static bool aligned(const void *p, size_t n)
{
	return CONFIG_HAVE_EFFICIENT_UNALIGNED_ACCESS || IS_ALIGNED((uintptr_t)p, n);
}

static int move(void *kernel, void *user, size_t n, bool read)
{
	insist(aligned(user, n));
	if (!mapped(user, n))
		return -EFAULT;
	memcpy(read ? kernel : user, read ? user : kernel, n);
	return 0;
}

#define get_user(x, p) ({						\
	__auto_type p_ = (p);						\
	__auto_type v_ = (__typeof__(*p_))0;				\
	int r_;								\
	insist(open_kind == CLOSED);					\
	r_ = access_ok(p_, sizeof(v_)) ? move(&v_, (void *)p_, sizeof(v_), true) : -EFAULT; \
	(x) = v_;							\
	r_; })

#define put_user(x, p) ({						\
	__auto_type p_ = (p);						\
	__typeof__(*p_) v_ = (x);					\
	insist(open_kind == CLOSED);					\
	access_ok(p_, sizeof(v_)) ? move(&v_, p_, sizeof(v_), false) : -EFAULT; })

/* Without the check: whoever forgot it aborts. */
#define __put_user(x, p) ({						\
	__typeof__(*(p)) v_ = (x);					\
	insist(open_kind == CLOSED);					\
	move(&v_, (p), sizeof(v_), false); })

#define __get_user(x, p) ({						\
	__auto_type v_ = (__typeof__(*(p)))0;				\
	int r_;								\
	insist(open_kind == CLOSED);					\
	r_ = move(&v_, (void *)(p), sizeof(v_), true);			\
	(x) = v_;							\
	r_; })

static unsigned long left(const void *p, unsigned long n)
{
	unsigned long have;

	insist(open_kind == CLOSED);
	if (!access_ok(p, n))
		return n;
	have = user_end > (const u8 *)p ? (unsigned long)(user_end - (const u8 *)p) : 0;
	return n > have ? n - have : 0;
}

static unsigned long copy_from_user(void *to, const void *from, unsigned long n)
{
	unsigned long rest = left(from, n);

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
	if (!access_ok(p, n))
		return false;
	open_kind = kind;
	return true;
}

static void end(enum kind kind)
{
	/* Where pointers are masked, one end closes all: the begin was for both. */
	insist(open_kind == kind || (masks && open_kind == BOTH));
	open_kind = CLOSED;
}

#define user_access_begin(p, n) begin(p, n, BOTH)
#define user_read_access_begin(p, n) begin(p, n, READ)
#define user_write_access_begin(p, n) begin(p, n, WRITE)
#define user_access_end() end(BOTH)
#define user_read_access_end() end(READ)
#define user_write_access_end() end(WRITE)
#define can_do_masked_user_access() masks

static void *masked_user_access_begin(void *p)
{
	insist(masks);
	insist(begin(arena, 1, BOTH));
	/* Nothing is mapped there, for a page. */
	return (u8 *)p >= arena && (u8 *)p < arena + ARENA ? p : arena + GUARD;
}

#define unsafe_get_user(x, p, label) do {				\
	__auto_type v_ = (__typeof__(*(p)))0;				\
	insist(open_kind == BOTH || open_kind == READ);			\
	if (move(&v_, (void *)(p), sizeof(v_), true))			\
		goto label;						\
	(x) = v_;							\
} while (0)

#define unsafe_put_user(x, p, label) do {				\
	__typeof__(*(p)) v_ = (x);					\
	insist(open_kind == BOTH || open_kind == WRITE);		\
	if (move(&v_, (p), sizeof(v_), false))				\
		goto label;						\
} while (0)

static void leave(const void *unused)
{
	insist(open_kind != CLOSED);
	open_kind = CLOSED;
	(void)unused;
}

/* The pointer that a scope opens for; none where the range is not the user's. */
static const void *opened(const void *p, size_t n, enum kind kind)
{
	if (!masks)
		return begin(p, n, kind) ? p : NULL;
	insist(begin(arena, 1, kind));
	return (const u8 *)p >= arena && (const u8 *)p < arena + ARENA ? p : arena + GUARD;
}

/* The pointer has another value inside, where pointers are masked. */
#define scope(p, n, way, label)						\
	for (bool done = false; !done; done = true)			\
		for (__typeof__(p) _tmpptr = ({				\
			__typeof__(p) own_ = (__typeof__(p))opened((p), (n), (way)); \
			if (!own_)					\
				goto label;				\
			own_; }); !done; done = true)			\
			for (__typeof__(p) const p __attribute__((cleanup(leave))) = _tmpptr; !done; done = true)

#define scoped_user_read_access(p, label) scope(p, sizeof(*(p)), READ, label)
#define scoped_user_write_access(p, label) scope(p, sizeof(*(p)), WRITE, label)
#define scoped_user_rw_access(p, label) scope(p, sizeof(*(p)), BOTH, label)
#define scoped_user_read_access_size(p, n, label) scope(p, n, READ, label)
#define scoped_user_write_access_size(p, n, label) scope(p, n, WRITE, label)
#define scoped_user_rw_access_size(p, n, label) scope(p, n, BOTH, label)

#define unsafe_copy_to_user(to, from, n, label) do {			\
	u8 *to_ = (u8 *)(to);						\
	const u8 *from_ = (const u8 *)(from);				\
	for (size_t at_ = 0; at_ < (n); at_++)				\
		unsafe_put_user(from_[at_], to_ + at_, label);		\
} while (0)

#define __copy_to_user(to, from, n) ({					\
	insist(access_ok(to, n));					\
	copy_to_user(to, from, n); })
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
