// SPDX-License-Identifier: MIT OR Apache-2.0
/* recvmsg_control: one datagram to a UDP socket that asks for control data, and
 * recvmsg of it: `messages` control messages of IP_PKTINFO, IP_TTL, IP_TOS. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "guest.h"
#include "support.h"
#include "tollgate_bench.h"

#define MAX_MESSAGES BENCH_RECVMSG_CONTROL_MESSAGES_MOST

static int fd = -1;
static long n_messages;
static char byte = 'x', got;
static union {
	struct cmsghdr header;
	char room[256];
} control;
static struct iovec piece = { .iov_base = &got, .iov_len = 1 };
static struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control };

static bool setup(const long *values)
{
	static const int options[MAX_MESSAGES] = { IP_PKTINFO, IP_RECVTTL, IP_RECVTOS };
	struct sockaddr_in address;
	const int on = 1;

	n_messages = values[BENCH_RECVMSG_CONTROL_MESSAGES];
	fd = udp_to_itself(&address);
	for (long i = 0; fd >= 0 && i < n_messages; i++)
		if (setsockopt(fd, IPPROTO_IP, options[i], &on, sizeof(on)))
			return fail("cannot ask for control message %ld: %s", i, strerror(errno));
	return fd >= 0;
}

static bool phase(long ops)
{
	long wrong = 0;

	tollgate_begin();
	for (long i = 0; i < ops; i++) {
		message.msg_controllen = sizeof(control);
		wrong += tollgate_syscall6(SYS_sendto, fd, (long)&byte, 1, 0, 0, 0) != 1;
		wrong += tollgate_syscall4(SYS_recvmsg, fd, (long)&message, 0, 0) != 1;
	}
	tollgate_end();
	return !wrong || fail("%ld calls did not move one byte", wrong);
}

static bool check(void)
{
	static const int types[MAX_MESSAGES] = { IP_PKTINFO, IP_TTL, IP_TOS };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	long n = 0;

	for (; header; header = CMSG_NXTHDR(&message, header), n++)
		if (n >= n_messages || header->cmsg_level != IPPROTO_IP ||
		    header->cmsg_type != types[n])
			return fail("control message %ld is of type %d", n, header->cmsg_type);
	return (n == n_messages && got == byte) ||
	       fail("%ld control messages came, wanted %ld", n, n_messages);
}

const struct bench bench_recvmsg_control = {
	.name = "recvmsg_control",
	.params = PARAMS_BENCH_RECVMSG_CONTROL,
	.setup = setup,
	.phase = phase,
	.check = check,
};
