// SPDX-License-Identifier: MIT OR Apache-2.0
/* Sweeps of calls on files: each user buffer at every position, the others of
 * the call being good. */
#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "guest.h"
#include "support.h"
#include "tollgate_bench.h"

static int fd = -1;
static const unsigned char zeros[MAX_BUFFER];

/* ---- getdents64 ---- */

/* An entry is as long as its name: where the members of the next one lie, the
 * content of the first one says, so that the buffer has none to name. */
#define ENTRIES 4
#define TOO_SMALL 16

static bool rewind_folder(void)
{
	return !lseek(fd, 0, SEEK_SET) || fail("lseek: %s", strerror(errno));
}

static long getdents_200(uintptr_t address)
{
	return tollgate_syscall4(SYS_getdents64, fd, (long)address, 200, 0);
}

static long getdents_too_small(uintptr_t address)
{
	return tollgate_syscall4(SYS_getdents64, fd, (long)address, TOO_SMALL, 0);
}

#if defined(SYS_getdents)

/* The call's older form, which has a function of its own in fs/readdir.c. */
static long getdents_old(uintptr_t address)
{
	return tollgate_syscall4(SYS_getdents, fd, (long)address, 200, 0);
}

static bool sweep_old(void)
{
	struct subject old = subject_of("getdents64", "old/", 200, NULL, getdents_old);

	old.fresh = rewind_folder;
	old.again = zeros;
	return sweep_positions(&old);
}

#else

/* An architecture as young as arm64 does not have it. */
static bool sweep_old(void)
{
	return true;
}

#endif

static bool run_getdents64(const long *values)
{
	struct subject all = subject_of("getdents64", "", 200, NULL, getdents_200);
	struct subject small = subject_of("getdents64", "small/", TOO_SMALL, NULL,
					  getdents_too_small);
	bool ok;

	(void)values;
	all.step = 1;
	all.fresh = rewind_folder;
	all.again = zeros;
	small.fresh = rewind_folder;
	fd = folder_with_files(ENTRIES);
	ok = fd >= 0 && sweep_positions(&all) && sweep_positions(&small) && sweep_old();
	folder_remove();
	return ok;
}

const struct sweep sweep_getdents64 = { .name = "getdents64", .run = run_getdents64 };

/* ---- read and write, of a pipe that never lets wait ---- */

static const unsigned char eight[] = { 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88 };
static int ends[2];
static unsigned char arrived[sizeof(eight)];
static struct iovec two_pieces[2];

static void empty_pipe(void)
{
	unsigned char gone[64];

	while (read(ends[0], gone, sizeof(gone)) > 0)
		;
}

static bool pipe_with_eight(void)
{
	empty_pipe();
	memset(arrived, CANARY, sizeof(arrived));
	return write(ends[1], eight, sizeof(eight)) == sizeof(eight) ||
	       fail("cannot write to a pipe: %s", strerror(errno));
}

static bool pipe_with_nothing(void)
{
	empty_pipe();
	memset(arrived, CANARY, sizeof(arrived));
	return true;
}

/* What came through is shown behind the buffer. */
static long and_what_arrived(long result)
{
	(void)tollgate_syscall4(SYS_read, ends[0], (long)arrived, sizeof(arrived), 0);
	return result;
}

static long read_eight(uintptr_t address)
{
	return tollgate_syscall4(SYS_read, ends[0], (long)address, sizeof(eight), 0);
}

static long write_eight(uintptr_t address)
{
	return and_what_arrived(
		tollgate_syscall4(SYS_write, ends[1], (long)address, sizeof(eight), 0));
}

static long read_pieces(uintptr_t address)
{
	return tollgate_syscall4(SYS_readv, ends[0], (long)address, ARRAY_SIZE(two_pieces), 0);
}

static long write_pieces(uintptr_t address)
{
	return and_what_arrived(tollgate_syscall4(SYS_writev, ends[1], (long)address,
						  ARRAY_SIZE(two_pieces), 0));
}

static const struct shape pieces_shape = {
	.each = sizeof(struct iovec),
	.fields = { FIELD(struct iovec, iov_base), FIELD(struct iovec, iov_len) },
};

static bool sweep_through(const char *prefix, size_t size, const void *content,
			  long (*call)(uintptr_t address), bool writes)
{
	struct subject subject = subject_of("pipe", prefix, size, content, call);

	subject.fresh = writes ? pipe_with_nothing : pipe_with_eight;
	/* A read that failed must have left the bytes where they were. */
	subject.again = writes ? NULL : content ? content : zeros;
	subject.also = arrived;
	subject.also_size = sizeof(arrived);
	subject.shape = size == sizeof(two_pieces) ? &pieces_shape : NULL;
	return sweep_positions(&subject);
}

static bool run_pipe(const long *values)
{
	static unsigned char bytes[sizeof(eight)];
	bool ok;

	(void)values;
	if (pipe(ends) || fcntl(ends[0], F_SETFL, O_NONBLOCK) ||
	    fcntl(ends[1], F_SETFL, O_NONBLOCK))
		return fail("cannot make a pipe: %s", strerror(errno));
	ok = sweep_through("read/", sizeof(eight), NULL, read_eight, false) &&
	     sweep_through("write/", sizeof(eight), eight, write_eight, true);
	for (size_t i = 0; i < ARRAY_SIZE(two_pieces); i++)
		two_pieces[i] = (struct iovec){ .iov_base = arrived + i, .iov_len = 1 };
	ok = ok && sweep_through("readv/", sizeof(two_pieces), two_pieces, read_pieces, false);
	memcpy(bytes, eight, sizeof(bytes));
	for (size_t i = 0; i < ARRAY_SIZE(two_pieces); i++)
		two_pieces[i].iov_base = bytes + i;
	return ok && sweep_through("writev/", sizeof(two_pieces), two_pieces, write_pieces, true);
}

const struct sweep sweep_pipe = { .name = "pipe", .run = run_pipe };

/* ---- statx ---- */

static struct statx good;

static long stat_root(uintptr_t address)
{
	return tollgate_syscall6(SYS_statx, -100 /* AT_FDCWD */, (long)"/", 0,
				 STATX_BASIC_STATS | STATX_BTIME, (long)address, 0);
}

#define STATX_TIME(member) \
	FIELD(struct statx, member.tv_sec), FIELD(struct statx, member.tv_nsec)

static const struct shape statx_shape = {
	.fields = {
		FIELD(struct statx, stx_mask), FIELD(struct statx, stx_blksize),
		FIELD(struct statx, stx_attributes), FIELD(struct statx, stx_nlink),
		FIELD(struct statx, stx_uid), FIELD(struct statx, stx_gid),
		FIELD(struct statx, stx_mode), FIELD(struct statx, stx_ino),
		FIELD(struct statx, stx_size), FIELD(struct statx, stx_blocks),
		FIELD(struct statx, stx_attributes_mask), STATX_TIME(stx_atime),
		STATX_TIME(stx_btime), STATX_TIME(stx_ctime), STATX_TIME(stx_mtime),
		FIELD(struct statx, stx_rdev_major), FIELD(struct statx, stx_rdev_minor),
		FIELD(struct statx, stx_dev_major), FIELD(struct statx, stx_dev_minor),
		/* What headers may be too old to name; the same in every ABI. */
		{ "stx_mnt_id", 144, 8 }, { "stx_dio_mem_align", 152, 4 },
		{ "stx_dio_offset_align", 156, 4 }, { "stx_subvol", 160, 8 },
		{ "stx_atomic_write_unit_min", 168, 4 }, { "stx_atomic_write_unit_max", 172, 4 },
		{ "stx_atomic_write_segments_max", 176, 4 },
		/* Of later kernels, or of none yet. */
		{ "stx_spare", 180, sizeof(struct statx) - 180 },
	},
};

/* Timestamps are of this boot: a byte that is as in the answer in good memory
 * becomes a mark. */
static void settle_times(uintptr_t address, uintptr_t from, uintptr_t to)
{
	const unsigned char *own = (const unsigned char *)&good;
	size_t first = offsetof(struct statx, stx_atime);
	size_t last = offsetof(struct statx, stx_rdev_major);

	for (size_t i = first; i < last; i++) {
		unsigned char *at = (unsigned char *)(address + i);

		if (address + i >= from && address + i < to && *at == own[i] && own[i])
			*at = 0xf1;
	}
}

/* The name is a user buffer, too, one that ends where its zero is. */
static long stat_name(uintptr_t address)
{
	return tollgate_syscall6(SYS_statx, -100 /* AT_FDCWD */, (long)address, 0,
				 STATX_BASIC_STATS | STATX_BTIME, (long)&good, 0);
}

static bool run_statx(const long *values)
{
	static const char name[] = "/././././.";
	struct subject told = subject_of("statx", "", sizeof(good), NULL, stat_root);
	struct subject named = subject_of("statx", "name/", sizeof(name), name, stat_name);

	(void)values;
	told.settle = settle_times;
	told.shape = &statx_shape;
	return (!stat_root((uintptr_t)&good) || skip("this kernel has no statx")) &&
	       sweep_positions(&told) && sweep_positions(&named);
}

const struct sweep sweep_statx = { .name = "statx", .run = run_statx };
