// SPDX-License-Identifier: MIT OR Apache-2.0
/* pipe_pingpong: one byte to another process through a pipe, and its answer
 * back through a second one. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"
#include "tollgate_bench.h"

static int to_peer[2], from_peer[2];

/* Ends when the other end of its pipe does. */
static void __attribute__((noreturn)) peer(void)
{
	unsigned char byte;

	close(to_peer[1]);
	close(from_peer[0]);
	while (tollgate_syscall4(SYS_read, to_peer[0], (long)&byte, 1, 0) == 1) {
		byte++;
		if (tollgate_syscall4(SYS_write, from_peer[1], (long)&byte, 1, 0) != 1)
			break;
	}
	_exit(0);
}

static bool setup(const long *values)
{
	(void)values;
	if (pipe(to_peer) || pipe(from_peer))
		return fail("pipe: %s", strerror(errno));
	switch (fork()) {
	case -1:
		return fail("fork: %s", strerror(errno));
	case 0:
		peer();
	}
	close(to_peer[0]);
	close(from_peer[1]);
	return true;
}

static bool phase(long ops)
{
	unsigned char byte = 0, got = 0;
	long wrong = 0;

	tollgate_begin();
	for (long i = 0; i < ops; i++, byte++) {
		wrong += tollgate_syscall4(SYS_write, to_peer[1], (long)&byte, 1, 0) != 1;
		wrong += tollgate_syscall4(SYS_read, from_peer[0], (long)&got, 1, 0) != 1;
		wrong += got != (unsigned char)(byte + 1);
	}
	tollgate_end();
	return !wrong || fail("%ld bytes did not come back as they should", wrong);
}

const struct bench bench_pipe_pingpong = {
	.name = "pipe_pingpong",
	.setup = setup,
	.phase = phase,
};
