// SPDX-License-Identifier: MIT OR Apache-2.0
/* tcp_rr: requests and responses of one byte over `flows` TCP connections on
 * loopback, IPv4 or IPv6. An operation is one transaction (rr.c). */
#include <unistd.h>

#include "guest.h"
#include "rr.h"

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

	sides.n_clients = sides.n_servers = values[BENCH_TCP_RR_FLOWS];
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

const struct bench bench_tcp_rr = {
	.name = "tcp_rr",
	.params = PARAMS_BENCH_TCP_RR,
	.setup = setup,
	.phase = rr_phase,
};
