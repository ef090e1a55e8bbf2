// SPDX-License-Identifier: MIT OR Apache-2.0
/* select: one call asks `fds` descriptors, each of them readable. */
#include <string.h>
#include <sys/select.h>
#include <time.h>

#include "guest.h"
#include "numbers.h"
#include "support.h"
#include "tollgate_bench.h"

/* FD_SETSIZE is 1024; some numbers are taken before. */
#define MAX_FDS BENCH_SELECT_FDS_MOST

static int fds[MAX_FDS];
static long n_fds;
static fd_set wanted, readable;
static struct timespec at_once;

static bool setup(const long *values)
{
	n_fds = values[BENCH_SELECT_FDS];
	if (!allow_descriptors(n_fds + 16) || !ready_descriptors(fds, (size_t)n_fds))
		return false;
	FD_ZERO(&wanted);
	for (long i = 0; i < n_fds; i++)
		FD_SET(fds[i], &wanted);
	return true;
}

static bool phase(long ops)
{
	long highest = fds[n_fds - 1] + 1, last = n_fds;

	readable = wanted;
	tollgate_begin();
	for (long i = 0; i < ops; i++) {
		long result = CALL_SELECT(highest, (long)&readable, 0, 0, (long)&at_once);

		if (result != n_fds)
			last = result;
	}
	tollgate_end();
	return last == n_fds || fail("select returned %ld, wanted %ld", last, n_fds);
}

static bool check(void)
{
	return !memcmp(&readable, &wanted, sizeof(wanted)) ||
	       fail("select told another set than it was asked for");
}

const struct bench bench_select = {
	.name = "select",
	.params = PARAMS_BENCH_SELECT,
	.setup = setup,
	.phase = phase,
	.check = check,
};
