// SPDX-License-Identifier: MIT OR Apache-2.0
/* tcp_rr: requests and responses of one byte over `flows` TCP connections on
 * loopback, IPv4 or IPv6. An operation is one transaction (rr.c). */
#include <time.h>
#include <unistd.h>

#include "guest.h"
#include "rr.h"
#include "tollgate_bench.h"

/*
 * From one phase's beginning to the next one's, where a flow has one transaction in
 * a phase. TCP guesses from the time between two segments how long it may keep an
 * acknowledgement back (tcp_event_data_recv()), and takes another way behind 20 ms
 * (TCP_ATO_MIN / 2), 74 instructions dearer. 1000 transactions over IPv6 are 20 million
 * instructions, so that a few more or less decided which: with this it is always the
 * longer one. Behind 40 ms (TCP_DELACK_MIN) an acknowledgement would go by itself.
 */
#define APART_NS 25000000

static long n_flows;

static unsigned char answers[RR_DESCRIPTORS];

static bool serve(const struct epoll_event *event)
{
	int fd = event->data.fd;

	if (event->events & EPOLLOUT)
		return rr_transmit(fd, &answers[fd], NULL) == 1 && rr_rearm(fd, EPOLLIN);
	if (rr_receive(fd, &answers[fd], NULL) != 1)
		return false;
	answers[fd] = rr_answer(answers[fd]);
	return rr_rearm(fd, EPOLLOUT);
}

static bool setup(const long *values)
{
	static struct rr sides = { .serve = serve };
	struct endpoint address;
	int listener;

	n_flows = sides.n_clients = sides.n_servers = values[BENCH_TCP_RR_FLOWS];
	if (!rr_prepare(sides.n_clients))
		return false;
	listener = tcp_listen(values[BENCH_TCP_RR_FAMILY], &address);
	for (long i = 0; listener >= 0 && i < sides.n_clients; i++)
		if (!tcp_connect(listener, &address, &sides.clients[i], &sides.servers[i]))
			return false;
	if (listener < 0)
		return false;
	close(listener);
	return rr_start(&sides);
}

#if !defined(TOLLGATE_TIMED)
static long long nanoseconds_since(const struct timespec *then, struct timespec *now)
{
	if (clock_gettime(CLOCK_MONOTONIC, now))
		return APART_NS;
	return (now->tv_sec - then->tv_sec) * 1000000000LL + now->tv_nsec - then->tv_nsec;
}

static void stay_apart(void)
{
	static struct timespec begun;
	struct timespec now = begun;

	while (nanoseconds_since(&begun, &now) < APART_NS)
		tollgate_wait_for_tick();
	begun = now;
}
#endif

static bool phase(long ops)
{
#if !defined(TOLLGATE_TIMED)
	if (ops <= n_flows)
		stay_apart();
#endif
	return rr_phase(ops);
}

const struct bench bench_tcp_rr = {
	.name = "tcp_rr",
	.params = PARAMS_BENCH_TCP_RR,
	.setup = setup,
	.phase = phase,
};
