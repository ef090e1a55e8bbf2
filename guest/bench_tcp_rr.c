// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * tcp_rr: requests and responses of one byte over `flows` TCP connections on
 * loopback. Client and server are a process each with one epoll descriptor and
 * fetch up to 1000 events a call. An operation is one transaction:
 *
 *   client: EPOLLIN, recv, send the next request at once
 *   server: EPOLLIN, recv, epoll_ctl(MOD, EPOLLOUT); EPOLLOUT, send,
 *           epoll_ctl(MOD, EPOLLIN)
 *
 * so a transaction takes 3 events and 2 epoll_ctl. What is counted is both
 * sides and the network between them.
 */
/* SCHED_BATCH is Linux's own. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"
#include "numbers.h"
#include "support.h"
#include "tollgate_bench.h"

#define MAX_FLOWS BENCH_TCP_RR_FLOWS_MOST
#define MAX_EVENTS 1000
/* What the server makes of a request, so that an echo of old bytes is seen. */
#define ANSWER(byte) ((unsigned char)((byte) ^ 0x5a))

static int epfd = -1;
static int clients[MAX_FLOWS];
static long n_flows;
static unsigned char next_request[2 * MAX_FLOWS + 64];
static struct epoll_event events[MAX_EVENTS];

static long receive(int fd, unsigned char *byte)
{
	return tollgate_syscall6(SYS_recvfrom, fd, (long)byte, 1, 0, 0, 0);
}

static long transmit(int fd, const unsigned char *byte)
{
	return tollgate_syscall6(SYS_sendto, fd, (long)byte, 1, MSG_NOSIGNAL, 0, 0);
}

static long wait_for_events(void)
{
	return CALL_EPOLL_WAIT(epfd, (long)events, MAX_EVENTS, -1);
}

static bool watch(int operation, int fd, uint32_t what)
{
	struct epoll_event event = { .events = what, .data.fd = fd };

	return !tollgate_syscall4(SYS_epoll_ctl, epfd, operation, fd, (long)&event);
}

/* ---- The server: a process that ends when its first flow does ---- */

static unsigned char answers[2 * MAX_FLOWS + 64];

static bool serve(const struct epoll_event *event)
{
	int fd = event->data.fd;

	if (event->events & EPOLLOUT)
		return transmit(fd, &answers[fd]) == 1 && watch(EPOLL_CTL_MOD, fd, EPOLLIN);
	if (receive(fd, &answers[fd]) != 1)
		return false;
	answers[fd] = ANSWER(answers[fd]);
	return watch(EPOLL_CTL_MOD, fd, EPOLLOUT);
}

static void __attribute__((noreturn)) server(void)
{
	for (;;) {
		long n = wait_for_events();

		for (long i = 0; i < n; i++)
			if (!serve(&events[i]))
				_exit(0);
		if (n < 0)
			_exit(1);
	}
}

/* ---- The client, and how both come to their connections ---- */

/* Neither side takes the CPU from the other when it is woken: where that
 * happens depends on how long either has run, and a few instructions more or
 * less in the kernel would change how often the two are switched. */
static bool be_patient(void)
{
	const struct sched_param param = { .sched_priority = 0 };

	return !sched_setscheduler(0, SCHED_BATCH, &param) ||
	       fail("sched_setscheduler: %s", strerror(errno));
}

/* This side keeps `mine`, closes `theirs` and watches its own. */
static bool keep(const int *mine, const int *theirs)
{
	epfd = epoll_create1(EPOLL_CLOEXEC);
	for (long i = 0; i < n_flows; i++) {
		close(theirs[i]);
		if (!watch(EPOLL_CTL_ADD, mine[i], EPOLLIN))
			return fail("cannot watch flow %ld", i);
	}
	return true;
}

static bool ask(int fd)
{
	next_request[fd]++;
	return transmit(fd, &next_request[fd]) == 1;
}

static bool answered(int fd)
{
	unsigned char got;

	return receive(fd, &got) == 1 && got == ANSWER(next_request[fd]);
}

/* A request on each flow, and the next one where an answer comes, until `ops`
 * have been asked and answered: all of their work lies between the markers. */
static long transact(long ops)
{
	long asked = 0, done = 0, n = 0;

	while (asked < n_flows && asked < ops)
		if (!ask(clients[asked++]))
			return done;
	while (done < ops && (n = wait_for_events()) > 0)
		for (long i = 0; i < n; i++, done++) {
			int fd = events[i].data.fd;

			if (!answered(fd) || (asked < ops && !ask(fd)))
				return done;
			asked += asked < ops;
		}
	return done;
}

/* The first transactions of a connection do not take as many instructions as
 * later ones (measured: the second 870 fewer): these come before the first phase. */
#define SETTLED 4

static bool settle(void)
{
	long ops = SETTLED * n_flows, done = transact(ops);

	return done == ops || fail("transaction %ld of %ld before the first phase went wrong",
				   done, ops);
}

static bool setup(const long *values)
{
	static int servers[MAX_FLOWS];
	struct sockaddr_in address;
	int listener;

	n_flows = values[BENCH_TCP_RR_FLOWS];
	if (!allow_descriptors(2 * n_flows + 32) || !be_patient())
		return false;
	listener = tcp_listen(&address);
	for (long i = 0; listener >= 0 && i < n_flows; i++)
		if (!tcp_connect(listener, &address, &clients[i], &servers[i]))
			return false;
	if (listener < 0)
		return false;
	close(listener);
	switch (fork()) {
	case -1:
		return fail("fork: %s", strerror(errno));
	case 0:
		if (!keep(servers, clients))
			_exit(1);
		server();
	}
	return keep(clients, servers) && settle();
}

static bool phase(long ops)
{
	long done;

	tollgate_begin();
	done = transact(ops);
	/* The server's last epoll_ctl() belongs to the transactions, too. */
	tollgate_syscall0(SYS_sched_yield);
	tollgate_end();
	return done == ops || fail("transaction %ld of %ld went wrong", done, ops);
}

const struct bench bench_tcp_rr = {
	.name = "tcp_rr",
	.params = PARAMS_BENCH_TCP_RR,
	.setup = setup,
	.phase = phase,
};
