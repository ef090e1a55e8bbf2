// SPDX-License-Identifier: MIT OR Apache-2.0
/* poll: one call asks `fds` descriptors, each of them readable. */
#include <errno.h>
#include <poll.h>
#include <time.h>

#include "guest.h"
#include "numbers.h"
#include "support.h"
#include "tollgate_bench.h"

#define MAX_FDS BENCH_POLL_FDS_MOST

static long n_fds;
static struct pollfd polled[MAX_FDS];
static struct timespec at_once;

static bool setup(const long *values)
{
	static int fds[MAX_FDS];

	n_fds = values[BENCH_POLL_FDS];
	if (!allow_descriptors(n_fds + 16) || !ready_descriptors(fds, (size_t)n_fds))
		return false;
	for (long i = 0; i < n_fds; i++)
		polled[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	return true;
}

static bool phase(long ops)
{
	long last = n_fds;

	for (long i = 0; i < n_fds; i++)
		polled[i].revents = 0;
	tollgate_begin();
	for (long i = 0; i < ops; i++) {
		long result = CALL_POLL((long)polled, n_fds, (long)&at_once);

		if (result != n_fds)
			last = result;
	}
	tollgate_end();
	return last == n_fds || fail("poll returned %ld, wanted %ld", last, n_fds);
}

static bool check(void)
{
	for (long i = 0; i < n_fds; i++)
		if (polled[i].revents != POLLIN)
			return fail("descriptor %ld has revents %#x", i,
				    (unsigned int)polled[i].revents);
	return true;
}

const struct bench bench_poll = {
	.name = "poll",
	.params = PARAMS_BENCH_POLL,
	.setup = setup,
	.phase = phase,
	.check = check,
};
