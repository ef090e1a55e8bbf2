// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * epoll_wait: one call fetches `events` ready events. The descriptors are
 * eventfds that stay readable and level-triggered, so every call finds all of
 * them again and copies each to user space.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "guest.h"
#include "numbers.h"
#include "support.h"
#include "tollgate_bench.h"

/* The kernel's table of descriptors is the limit; 1024 is the soft one of a
 * process that nobody configured (RLIMIT_NOFILE). */
#define MAX_EVENTS BENCH_EPOLL_WAIT_EVENTS_MOST

static int epfd = -1;
static long n_events;
static struct epoll_event got[MAX_EVENTS];

/* Recognisable, distinct, and never equal to a descriptor or an index alone. */
static uint64_t data_of(long index)
{
	return UINT64_C(0x7467000000000000) + (uint64_t)index;
}

static bool add_ready(long index)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = data_of(index) };
	int fd = eventfd(1, EFD_NONBLOCK);

	if (fd < 0)
		return fail("eventfd %ld: %s", index, strerror(errno));
	if (epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event))
		return fail("epoll_ctl %ld: %s", index, strerror(errno));
	return true;
}

static bool setup(const long *values)
{
	n_events = values[BENCH_EPOLL_WAIT_EVENTS];
	/* Standard descriptors, the epoll descriptor, and some to spare. */
	if (!allow_descriptors(n_events + 16))
		return false;
	epfd = epoll_create1(0);
	if (epfd < 0)
		return fail("epoll_create1: %s", strerror(errno));
	for (long i = 0; i < n_events; i++)
		if (!add_ready(i))
			return false;
	return true;
}

static bool phase(long ops)
{
	long want = n_events, last = want, result;

	memset(got, 0, sizeof(got[0]) * (size_t)want);
	tollgate_begin();
	for (long i = 0; i < ops; i++) {
		result = CALL_EPOLL_WAIT(epfd, (long)got, want, 0);
		if (result != want)
			last = result;
	}
	tollgate_end();
	if (last < 0)
		return fail("epoll_wait: %s", strerror((int)-last));
	return last == want ||
	       fail("epoll_wait returned %ld events, wanted %ld", last, want);
}

/* Each event once, in whatever order, and nothing else. */
static bool check(void)
{
	static bool seen[MAX_EVENTS];

	memset(seen, 0, sizeof(seen));
	for (long i = 0; i < n_events; i++) {
		uint64_t index = got[i].data.u64 - data_of(0);

		if (got[i].events != EPOLLIN || index >= (uint64_t)n_events || seen[index])
			return fail("event %ld holds events=%#x data=%#llx", i,
				    (unsigned int)got[i].events,
				    (unsigned long long)got[i].data.u64);
		seen[index] = true;
	}
	return true;
}

const struct bench bench_epoll_wait = {
	.name = "epoll_wait",
	.params = PARAMS_BENCH_EPOLL_WAIT,
	.setup = setup,
	.phase = phase,
	.check = check,
};
