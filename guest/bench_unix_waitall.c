// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * unix_waitall: recv(MSG_WAITALL) of `kib` KiB from a stream socket of AF_UNIX,
 * which another process fills with writes of the same size, as many as it was
 * asked for. The receiver sleeps several times inside one system call, and so does
 * the sender. Of a message the receiver looks at one word in `look` bytes, and at
 * the last word, between two calls.
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

static int fds[2];
/* Through it the receiver asks for messages. */
static int requests[2];
static size_t size, words, stride;
/* Sent in turns, so that what is left of a message is not taken for the next. */
static unsigned long *messages[2];
static unsigned long *received;
/* The messages received since the start. */
static unsigned long count;

static unsigned long first_word(unsigned long message)
{
	return message * words;
}

static void __attribute__((noreturn)) sender(void)
{
	unsigned long i = 0;
	long ops;

	while (read_all(requests[0], &ops, sizeof(ops)))
		while (ops-- > 0)
			if (!write_all(fds[1], messages[i++ % 2], size))
				_exit(1);
	_exit(1);
}

static unsigned long *buffer(void)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory != MAP_FAILED)
		return memory;
	fail("mmap of %zu bytes: %s", size, strerror(errno));
	return NULL;
}

static bool make_message(unsigned long message)
{
	messages[message] = buffer();
	for (size_t i = 0; messages[message] && i < words; i++)
		messages[message][i] = first_word(message) + i;
	return messages[message];
}

static bool setup(const long *values)
{
	size = (size_t)values[BENCH_UNIX_WAITALL_KIB] * 1024;
	words = size / sizeof(*received);
	stride = (size_t)values[BENCH_UNIX_WAITALL_LOOK] / sizeof(*received);
	received = buffer();
	if (!received || !make_message(0) || !make_message(1))
		return false;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		return fail("socketpair: %s", strerror(errno));
	if (pipe(requests))
		return fail("pipe: %s", strerror(errno));
	return peer_start(sender) > 0;
}

static bool is_message(unsigned long first)
{
	unsigned long wrong = received[words - 1] ^ (first + words - 1);

	for (size_t i = 0; i < words; i += stride)
		wrong |= received[i] ^ (first + i);
	return !wrong;
}

static bool phase(long ops)
{
	long wrong = 0;

	tollgate_begin();
	wrong += tollgate_syscall4(SYS_write, requests[1], (long)&ops, sizeof(ops), 0) !=
		 sizeof(ops);
	for (long i = 0; i < ops; i++) {
		long n = tollgate_syscall6(SYS_recvfrom, fds[0], (long)received, (long)size,
					   MSG_WAITALL, 0, 0);

		wrong += n != (long)size || !is_message(first_word(count++ % 2));
	}
	tollgate_end();
	return !wrong || fail("%ld of %ld messages were not as they were sent", wrong, ops);
}

const struct bench bench_unix_waitall = {
	.name = "unix_waitall",
	.params = PARAMS_BENCH_UNIX_WAITALL,
	.setup = setup,
	.phase = phase,
};
