/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What tcp_rr and udp_rr share: a client and a server, a process each with one
 * epoll descriptor, and requests and responses of one byte between them. */
#ifndef TOLLGATE_RR_H
#define TOLLGATE_RR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/epoll.h>

#include "parameters.h"
#include "support.h"

#define RR_MOST BENCH_TCP_RR_FLOWS_MOST
_Static_assert(BENCH_UDP_RR_FLOWS_MOST == RR_MOST, "both have room for as many flows");
/* One past the largest descriptor that either side has. */
#define RR_DESCRIPTORS (2 * RR_MOST + 64)

/* The sockets of both sides, and what the server does with an event; false ends it. */
struct rr {
	int clients[RR_MOST];
	long n_clients;
	int servers[RR_MOST];
	long n_servers;
	bool (*serve)(const struct epoll_event *event);
};

/* What the server makes of a request, so that an echo of old bytes is seen. */
unsigned char rr_answer(unsigned char request);
/* One byte in, with the sender's address where `from` is given, and out; what the
 * kernel returned. */
long rr_receive(int fd, unsigned char *byte, struct endpoint *from);
long rr_transmit(int fd, const unsigned char *byte, const struct endpoint *to);
/* Changes what the side's epoll descriptor waits for at a socket. */
bool rr_rearm(int fd, unsigned int what);

/* Room for `flows`, and the scheduler's patience, for both sides. False after fail(). */
bool rr_prepare(long flows);
/* Makes the server a process of its own, this one the client, and settles both.
 * False after fail(). */
bool rr_start(const struct rr *sides);
/* A phase of `ops` transactions. */
bool rr_phase(long ops);

#endif
