// SPDX-License-Identifier: MIT OR Apache-2.0
/* recvfrom_address: one datagram over UDP loopback, received with the address
 * of its sender. */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "guest.h"
#include "support.h"
#include "tollgate_bench.h"

static int fd = -1;
static struct sockaddr_in own, sender;
static socklen_t len;
static char byte = 'x', got;

static bool setup(const long *values)
{
	(void)values;
	fd = udp_to_itself(&own);
	return fd >= 0;
}

static bool phase(long ops)
{
	long wrong = 0;

	memset(&sender, CANARY, sizeof(sender));
	tollgate_begin();
	for (long i = 0; i < ops; i++) {
		len = sizeof(sender);
		wrong += tollgate_syscall6(SYS_sendto, fd, (long)&byte, 1, 0, 0, 0) != 1;
		wrong += tollgate_syscall6(SYS_recvfrom, fd, (long)&got, 1, 0, (long)&sender,
					   (long)&len) != 1;
	}
	tollgate_end();
	return !wrong || fail("%ld calls did not move one byte", wrong);
}

static bool check(void)
{
	return (len == sizeof(own) && !memcmp(&sender, &own, sizeof(own)) && got == byte) ||
	       fail("the sender's address is not this socket's");
}

const struct bench bench_recvfrom_address = {
	.name = "recvfrom_address",
	.setup = setup,
	.phase = phase,
	.check = check,
};
