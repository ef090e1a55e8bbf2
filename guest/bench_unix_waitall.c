// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * unix_waitall: recv(MSG_WAITALL) of `kib` KiB from a stream socket of AF_UNIX,
 * which another process fills with writes of the same size. The receiver sleeps
 * several times inside one system call, and so does the sender.
 *
 * Each of the two returns to its program once for a message. It has to load its
 * registers if the other was there in the meantime, so twice a message where
 * they take turns, and less often where the scheduler lets one end two messages
 * before the other ends one.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"
#include "peer.h"
#include "tollgate_bench.h"

#define MAX_KIB 16384
/* What stands at the end of a message, so that one that is cut off is noticed. */
#define LAST 0x7a

static int fds[2];
static unsigned char *bytes;
static long size;

static void __attribute__((noreturn)) sender(void)
{
	bytes[size - 1] = LAST;
	while (write_all(fds[1], bytes, (size_t)size))
		;
	_exit(1);
}

static bool setup(const long *values)
{
	size = values[0] * 1024;
	bytes = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (bytes == MAP_FAILED)
		return fail("mmap of %ld bytes: %s", size, strerror(errno));
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		return fail("socketpair: %s", strerror(errno));
	return peer_start(sender) > 0;
}

static bool phase(long ops)
{
	long wrong = 0;

	tollgate_begin();
	for (long i = 0; i < ops; i++) {
		bytes[size - 1] = 0;
		wrong += tollgate_syscall6(SYS_recvfrom, fds[0], (long)bytes, size, MSG_WAITALL,
					   0, 0) != size;
		wrong += bytes[size - 1] != LAST;
	}
	tollgate_end();
	return !wrong || fail("%ld of %ld messages were not whole", wrong, ops);
}

const struct bench bench_unix_waitall = {
	.name = "unix_waitall",
	.params = { { "kib", 1024, 4, MAX_KIB } },
	.setup = setup,
	.phase = phase,
};
