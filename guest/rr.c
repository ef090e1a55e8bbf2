// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The client of tcp_rr and udp_rr, and the process that their server is:
 *
 *   client: EPOLLIN, recv, send the next request at once
 *   server: EPOLLIN, recv, epoll_ctl(MOD, EPOLLOUT); EPOLLOUT, send,
 *           epoll_ctl(MOD, EPOLLIN)
 *
 * so a transaction takes 3 events and 2 epoll_ctl. Both fetch up to 1000 events a
 * call. What is counted is both sides and the network between them.
 */
/* SCHED_BATCH is Linux's own. */
#define _GNU_SOURCE
#include "rr.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"
#include "numbers.h"
#include "tollgate_bench.h"

#define MAX_EVENTS 1000

static int epfd = -1;
static const int *clients;
static long n_flows;
static unsigned char next_request[RR_DESCRIPTORS];
static struct epoll_event events[MAX_EVENTS];

unsigned char rr_answer(unsigned char request)
{
	return request ^ 0x5a;
}

long rr_receive(int fd, unsigned char *byte, struct endpoint *from)
{
	if (!from)
		return tollgate_syscall6(SYS_recvfrom, fd, (long)byte, 1, 0, 0, 0);
	from->len = sizeof(from->address);
	return tollgate_syscall6(SYS_recvfrom, fd, (long)byte, 1, 0, (long)&from->address,
				 (long)&from->len);
}

long rr_transmit(int fd, const unsigned char *byte, const struct endpoint *to)
{
	return tollgate_syscall6(SYS_sendto, fd, (long)byte, 1, MSG_NOSIGNAL,
				 to ? (long)&to->address : 0, to ? (long)to->len : 0);
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

bool rr_rearm(int fd, unsigned int what)
{
	return watch(EPOLL_CTL_MOD, fd, what);
}

/* Neither side takes the CPU from the other when it is woken: where that
 * happens depends on how long either has run, and a few instructions more or
 * less in the kernel would change how often the two are switched. */
static bool be_patient(void)
{
	const struct sched_param param = { .sched_priority = 0 };

	return !sched_setscheduler(0, SCHED_BATCH, &param) ||
	       fail("sched_setscheduler: %s", strerror(errno));
}

bool rr_prepare(long flows)
{
	return allow_descriptors(2 * flows + 32) && be_patient();
}

/* This side keeps its own sockets, closes the other's and watches. */
static bool keep(const int *mine, long n_mine, const int *theirs, long n_theirs)
{
	epfd = epoll_create1(EPOLL_CLOEXEC);
	for (long i = 0; i < n_theirs; i++)
		close(theirs[i]);
	for (long i = 0; i < n_mine; i++)
		if (!watch(EPOLL_CTL_ADD, mine[i], EPOLLIN))
			return fail("cannot watch flow %ld", i);
	return true;
}

/* ---- The server: a process that ends with its client ---- */

static void __attribute__((noreturn)) server(const struct rr *sides, pid_t client)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != client ||
	    !keep(sides->servers, sides->n_servers, sides->clients, sides->n_clients))
		_exit(1);
	for (;;) {
		long n = wait_for_events();

		for (long i = 0; i < n; i++)
			if (!sides->serve(&events[i]))
				_exit(0);
		if (n < 0)
			_exit(1);
	}
}

/* ---- The client ---- */

static bool ask(int fd)
{
	next_request[fd]++;
	return rr_transmit(fd, &next_request[fd], NULL) == 1;
}

static bool answered(int fd)
{
	unsigned char got;

	return rr_receive(fd, &got, NULL) == 1 && got == rr_answer(next_request[fd]);
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

bool rr_start(const struct rr *sides)
{
	pid_t client = getpid();

	clients = sides->clients;
	n_flows = sides->n_clients;
	switch (fork()) {
	case -1:
		return fail("fork: %s", strerror(errno));
	case 0:
		server(sides, client);
	}
	return keep(clients, n_flows, sides->servers, sides->n_servers) && settle();
}

bool rr_phase(long ops)
{
	long done;

	tollgate_begin();
	done = transact(ops);
	/* The server's last epoll_ctl() belongs to the transactions, too. */
	tollgate_syscall0(SYS_sched_yield);
	tollgate_end();
	return done == ops || fail("transaction %ld of %ld went wrong", done, ops);
}
