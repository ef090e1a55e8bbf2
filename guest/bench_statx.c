// SPDX-License-Identifier: MIT OR Apache-2.0
/* statx: one call tells everything about the root folder. */
#include <fcntl.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/syscall.h>

#include "guest.h"
#include "tollgate_bench.h"

/* S_IFDIR; <sys/stat.h> cannot be had beside <linux/stat.h>. */
#define FOLDER 0040000
#define TYPE 0170000

static struct statx got;

static bool setup(const long *values)
{
	(void)values;
	return true;
}

static bool phase(long ops)
{
	long wrong = 0;

	memset(&got, CANARY, sizeof(got));
	tollgate_begin();
	for (long i = 0; i < ops; i++)
		wrong |= tollgate_syscall6(SYS_statx, AT_FDCWD, (long)"/", 0, STATX_BASIC_STATS,
					   (long)&got, 0);
	tollgate_end();
	return !wrong || fail("statx returned %ld, or-ed together", wrong);
}

static bool check(void)
{
	return ((got.stx_mask & STATX_BASIC_STATS) == STATX_BASIC_STATS &&
		(got.stx_mode & TYPE) == FOLDER) ||
	       fail("it told mask %#x and mode %#o", got.stx_mask, got.stx_mode);
}

const struct bench bench_statx = {
	.name = "statx",
	.setup = setup,
	.phase = phase,
	.check = check,
};
