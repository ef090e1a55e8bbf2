// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * What epoll_wait does when the event array is not what it should be: `events`
 * descriptors are ready, and the array ends, begins, or lies where user memory
 * does not. Each point has an epoll instance of its own, because a fault in the
 * middle changes what is still ready.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "numbers.h"
#include "tollgate_bench.h"

#define MAX_READY SWEEP_EPOLL_WAIT_EVENTS_MOST
#define EVENT sizeof(struct epoll_event)

/* Shown around the array: what lies in front of it and behind it must stay. */
#define FRONT 8
#define BEHIND 24

#define WINDOW_MAX (FRONT + MAX_READY * EVENT + BEHIND)
/* Two digits a byte and a comma a run; a run is shorter than what it stands for. */
#define TEXT_MAX (3 * WINDOW_MAX)

static int ready[MAX_READY];
static size_t n_ready;

/* One call. Addresses are integers, for most of them are no pointers. */
struct probe {
	uint32_t flags;		/* EPOLLET, EPOLLONESHOT or 0 */
	uintptr_t array;
	int maxevents;
	const unsigned char *readable, *readable_end;
};

static size_t array_size(void)
{
	return n_ready * EVENT;
}

static bool make_ready(long n)
{
	n_ready = (size_t)n;
	for (size_t i = 0; i < n_ready; i++) {
		ready[i] = eventfd(1, EFD_NONBLOCK);
		if (ready[i] < 0)
			return fail("eventfd: %s", strerror(errno));
	}
	return true;
}

/* Every byte of the data differs from its neighbours, so one that lands in the
 * wrong place is seen. */
static int make_epoll(uint32_t flags)
{
	int epfd = epoll_create1(0);

	for (size_t i = 0; epfd >= 0 && i < n_ready; i++) {
		struct epoll_event event = {
			.events = EPOLLIN | EPOLLOUT | flags,
			.data.u64 = UINT64_C(0xf1e2d3c4b5968700) + i,
		};

		if (epoll_ctl(epfd, EPOLL_CTL_ADD, ready[i], &event)) {
			close(epfd);
			epfd = -1;
		}
	}
	if (epfd < 0)
		fail("cannot make an epoll instance: %s", strerror(errno));
	return epfd;
}

static void print_result(const char *name, const struct probe *probe, long result)
{
	char text[TEXT_MAX];

	bytes_text(text, sizeof(text), (const unsigned char *)(probe->array - FRONT),
		   FRONT + array_size() + BEHIND, probe->readable, probe->readable_end);
	out_point("epoll_wait", name, result, text);
}

static long wait_once(int epfd, const struct probe *probe)
{
	return CALL_EPOLL_WAIT(epfd, (long)probe->array, probe->maxevents, 0);
}

static bool try_once(const char *name, const struct probe *probe)
{
	int epfd = make_epoll(probe->flags);

	if (epfd < 0)
		return false;
	print_result(name, probe, wait_once(epfd, probe));
	close(epfd);
	return true;
}

/* A second call into good memory shows what the first one left ready. */
static bool try_again(const char *name, const struct probe *probe)
{
	unsigned char good[FRONT + MAX_READY * EVENT + BEHIND];
	struct probe again = *probe;
	char name_again[64];
	int epfd = make_epoll(probe->flags);

	if (epfd < 0)
		return false;
	print_result(name, probe, wait_once(epfd, probe));
	memset(good, CANARY, sizeof(good));
	again.array = (uintptr_t)(good + FRONT);
	again.readable = good;
	again.readable_end = good + sizeof(good);
	again.maxevents = (int)n_ready;
	snprintf(name_again, sizeof(name_again), "%s/again", name);
	print_result(name_again, &again, wait_once(epfd, &again));
	close(epfd);
	return true;
}

/* ---- Families of points ------------------------------------------------- */

struct family {
	const char *name;
	enum beyond after;
	int maxevents;		/* 0: as many as are ready */
	size_t step;
	uint32_t flags;
	bool (*try)(const char *name, const struct probe *probe);
};

/* The array ends 0, step, 2 * step, ... bytes before what lies beyond. */
static bool sweep_ends(const struct family *family)
{
	size_t maxevents = family->maxevents ? (size_t)family->maxevents : n_ready;
	size_t furthest = (maxevents < n_ready ? maxevents : n_ready) * EVENT + EVENT;
	struct faulty faulty;
	bool ok = faulty_make(&faulty, BEYOND_UNMAPPED, family->after);

	for (size_t room = 0; ok && room <= furthest; room += family->step) {
		struct probe probe = {
			.flags = family->flags,
			.array = (uintptr_t)faulty_end(&faulty, room),
			.maxevents = (int)maxevents,
			.readable = faulty.readable,
			.readable_end = faulty.readable_end,
		};
		char name[48];

		snprintf(name, sizeof(name), "%s/%zu", family->name, room);
		faulty_reset(&faulty, family->after);
		ok = family->try(name, &probe);
	}
	faulty_free(&faulty);
	return ok;
}

/* The array begins before memory does: its first bytes are lost. */
static bool sweep_starts(void)
{
	struct faulty faulty;
	bool ok = faulty_make(&faulty, BEYOND_UNMAPPED, BEYOND_UNMAPPED);

	for (size_t lost = 1; ok && lost <= 2 * EVENT; lost++) {
		struct probe probe = {
			.array = (uintptr_t)faulty_start(&faulty, lost),
			.maxevents = (int)n_ready,
			.readable = faulty.readable,
			.readable_end = faulty.readable_end,
		};
		char name[48];

		snprintf(name, sizeof(name), "start/%zu", lost);
		faulty_reset(&faulty, BEYOND_UNMAPPED);
		ok = try_once(name, &probe);
	}
	faulty_free(&faulty);
	return ok;
}

/* Good memory: every alignment, every maxevents, and those that must fail. */
static bool try_good(const struct faulty *faulty, const char *name, size_t shift,
		     int maxevents)
{
	struct probe probe = {
		.array = (uintptr_t)faulty_start(faulty, 0) + 2 * FRONT + shift,
		.maxevents = maxevents,
		.readable = faulty->readable,
		.readable_end = faulty->readable_end,
	};

	return try_once(name, &probe);
}

static bool sweep_good(void)
{
	/* EP_MAX_EVENTS of fs/eventpoll.c, the largest that is not EINVAL. */
	const int most = (int)(INT_MAX / EVENT);
	const int limits[] = { 0, -1, INT_MIN, most, most + 1, INT_MAX };
	struct faulty faulty;
	bool ok = faulty_make(&faulty, BEYOND_UNMAPPED, BEYOND_UNMAPPED);
	char name[48];

	for (size_t shift = 0; ok && shift < EVENT; shift++) {
		snprintf(name, sizeof(name), "align/%zu", shift);
		faulty_reset(&faulty, BEYOND_UNMAPPED);
		ok = try_good(&faulty, name, shift, (int)n_ready);
	}
	for (int max = 1; ok && max <= (int)n_ready + 1; max++) {
		snprintf(name, sizeof(name), "max/%d", max);
		faulty_reset(&faulty, BEYOND_UNMAPPED);
		ok = try_good(&faulty, name, 0, max);
	}
	for (size_t i = 0; ok && i < ARRAY_SIZE(limits); i++) {
		snprintf(name, sizeof(name), "max/%d", limits[i]);
		faulty_reset(&faulty, BEYOND_UNMAPPED);
		ok = try_good(&faulty, name, 0, limits[i]);
	}
	faulty_free(&faulty);
	return ok;
}

static bool sweep_hostile(void)
{
	static const struct {
		const char *name;
		unsigned long address;
	} hostile[] = { TOLLGATE_HOSTILE_ADDRESSES };
	bool ok = true;

	for (size_t i = 0; ok && i < ARRAY_SIZE(hostile); i++) {
		struct probe probe = {
			.array = hostile[i].address,
			.maxevents = (int)n_ready,
		};
		char name[48];

		snprintf(name, sizeof(name), "at/%s", hostile[i].name);
		ok = try_once(name, &probe);
	}
	return ok;
}

/* Maps the last page of user space, unless the stack is there already, as it
 * is when the kernel does not randomise. */
static bool map_last_page(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *last = (void *)(TOLLGATE_USER_END - page);
	void *got = mmap(last, page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (got == last || (got == MAP_FAILED && errno == EEXIST))
		return true;
	return fail("cannot map the last page of user space: %s", strerror(errno));
}

/* The array ends at the end of user space: where a range check decides. Only
 * the few bytes that are used are overwritten, and put back, for the stack's
 * last page holds the program's own arguments. */
static bool sweep_top(void)
{
	unsigned char *end = (unsigned char *)TOLLGATE_USER_END;
	unsigned char saved[FRONT + (MAX_READY + 1) * EVENT];
	size_t furthest = array_size() + EVENT;
	bool ok = map_last_page();

	if (!ok)
		return false;
	memcpy(saved, end - sizeof(saved), sizeof(saved));
	for (size_t room = 0; ok && room <= furthest; room++) {
		struct probe probe = {
			.array = (uintptr_t)(end - room),
			.maxevents = (int)n_ready,
			.readable = end - sizeof(saved),
			.readable_end = end,
		};
		char name[48];

		snprintf(name, sizeof(name), "top/%zu", room);
		memset(end - sizeof(saved), CANARY, sizeof(saved));
		ok = try_once(name, &probe);
	}
	memcpy(end - sizeof(saved), saved, sizeof(saved));
	return ok;
}

static bool say_layout(void)
{
	static const struct shape events = {
		.each = EVENT,
		.fields = { FIELD(struct epoll_event, events), FIELD(struct epoll_event, data) },
	};
	struct layout layout = {
		.front = FRONT,
		.behind = BEHIND,
		.size = array_size(),
		.shape = &events,
	};

	return out_layout("epoll_wait", "", &layout);
}

static bool run(const long *values)
{
	/* Every byte offset where a fault ends the copy; whole fields (4 bytes)
	 * where the question is what happens next. */
	static const struct family families[] = {
		{ "end", BEYOND_UNMAPPED, 0, 1, 0, try_once },
		{ "read-only", BEYOND_READ_ONLY, 0, 1, 0, try_once },
		{ "no-access", BEYOND_NO_ACCESS, 0, 4, 0, try_once },
		{ "write-only", BEYOND_WRITE_ONLY, 0, 4, 0, try_once },
		{ "absent", BEYOND_ABSENT, 0, 4, 0, try_once },
		{ "end-max1", BEYOND_UNMAPPED, 1, 1, 0, try_once },
		{ "end-max2", BEYOND_UNMAPPED, 2, 1, 0, try_once },
		{ "end-max32", BEYOND_UNMAPPED, 32, 1, 0, try_once },
		{ "level", BEYOND_UNMAPPED, 0, 4, 0, try_again },
		{ "edge", BEYOND_UNMAPPED, 0, 4, EPOLLET, try_again },
		{ "oneshot", BEYOND_UNMAPPED, 0, 4, EPOLLONESHOT, try_again },
	};
	bool ok = make_ready(values[SWEEP_EPOLL_WAIT_EVENTS]) && say_layout();

	for (size_t i = 0; ok && i < ARRAY_SIZE(families); i++)
		ok = sweep_ends(&families[i]);
	return ok && sweep_starts() && sweep_good() && sweep_hostile() && sweep_top();
}

const struct sweep sweep_epoll_wait = {
	.name = "epoll_wait",
	.params = PARAMS_SWEEP_EPOLL_WAIT,
	.run = run,
};
