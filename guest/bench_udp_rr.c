// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * udp_rr: requests and responses of one byte in datagrams on loopback, IPv4 or
 * IPv6. The client has a connected socket for each of `flows`; the server has one
 * socket for all, is told with each request who sent it, and answers there
 * (neper's udp_rr, https://github.com/google/neper: rr_fn_recvfrom, rr_fn_sendto).
 * So the server's epoll_wait() returns one event a call, the client's many. An
 * operation is one transaction (rr.c).
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "guest.h"
#include "rr.h"

/* Who asked, and the answer: the one socket holds them until it may be written. */
static struct endpoint asker;
static unsigned char answer;

static bool serve(const struct epoll_event *event)
{
	int fd = event->data.fd;

	if (event->events & EPOLLOUT)
		return rr_transmit(fd, &answer, &asker) == 1 && rr_rearm(fd, EPOLLIN);
	if (rr_receive(fd, &answer, &asker) != 1)
		return false;
	answer = rr_answer(answer);
	return rr_rearm(fd, EPOLLOUT);
}

/* What a datagram of one byte takes of a socket's buffer at most: a buffer's
 * structures and a small allocation, twice over. One that does not fit is lost,
 * and its flow with it. */
#define DATAGRAM 2048

static bool room_for(int fd, long flows)
{
	int wanted = (int)flows * DATAGRAM, got = 0;
	socklen_t len = sizeof(got);

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &wanted, sizeof(wanted)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof(wanted));
	if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &got, &len))
		return fail("SO_RCVBUF: %s", strerror(errno));
	return got >= wanted ||
	       skip("a receive buffer of %d bytes for %ld flows is more than net.core.rmem_max allows",
		    wanted, flows);
}

static bool setup(const long *values)
{
	static struct rr sides = { .n_servers = 1, .serve = serve };
	long family = values[BENCH_UDP_RR_FAMILY];
	struct endpoint address;

	sides.n_clients = values[BENCH_UDP_RR_FLOWS];
	if (!rr_prepare(sides.n_clients))
		return false;
	sides.servers[0] = udp_bound(family, 0, &address);
	if (sides.servers[0] < 0 || !room_for(sides.servers[0], sides.n_clients))
		return false;
	for (long i = 0; i < sides.n_clients; i++)
		if (!udp_connect(family, 1 + i, &address, &sides.clients[i]))
			return false;
	return rr_start(&sides);
}

const struct bench bench_udp_rr = {
	.name = "udp_rr",
	.params = PARAMS_BENCH_UDP_RR,
	.setup = setup,
	.phase = rr_phase,
};
