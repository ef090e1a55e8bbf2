// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * pipe_bulk: one write of `kib` KiB into a pipe that holds 64, while another
 * process reads as much at a time as the pipe holds. The writer sleeps many times
 * inside one system call and uses no registers in between. Of what it reads the
 * reader looks at one word in `look` bytes.
 *
 * The reader returns to its program after each read, and so has registers to be
 * saved when it sleeps, except where the scheduler lets the writer, whom it has
 * just woken, go first: then it is switched away from before it has loaded any.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"
#include "peer.h"
#include "tollgate_bench.h"

/* What the reader asks for at a time: as much as the pipe holds. */
#define CHUNK BENCH_PIPE_BULK_LOOK_MOST

static int fds[2];
static unsigned char *bytes;
static long size;
static unsigned long look;
/* Shared with the reader: how much it has read, and how much of it was wrong. */
static volatile struct {
	unsigned long read, wrong;
} *seen;

/* Whether the numbered words of what is written are there in order; `part` begins
 * `position` bytes into it, and may hold the end of one write and the next. */
static bool in_order(const unsigned char *part, unsigned long length, unsigned long position)
{
	unsigned long wrong = 0;

	for (unsigned long i = 0; i < length; i += look)
		wrong |= *(const unsigned long *)(part + i) ^ (position + i) % (unsigned long)size;
	return !wrong;
}

static void __attribute__((noreturn)) reader(void)
{
	static unsigned char chunk[CHUNK] __attribute__((aligned(sizeof(unsigned long))));
	unsigned long position = 0;

	for (;;) {
		long n = tollgate_syscall4(SYS_read, fds[0], (long)chunk, sizeof(chunk), 0);

		if (n <= 0)
			_exit(1);
		seen->wrong += !in_order(chunk, (unsigned long)n, position);
		position = (position + (unsigned long)n) % (unsigned long)size;
		seen->read += (unsigned long)n;
	}
}

static void *shared(size_t length)
{
	void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory != MAP_FAILED)
		return memory;
	fail("mmap of %zu bytes: %s", length, strerror(errno));
	return NULL;
}

static bool setup(const long *values)
{
	size = values[BENCH_PIPE_BULK_KIB] * 1024;
	look = (unsigned long)values[BENCH_PIPE_BULK_LOOK];
	seen = shared(4096);
	bytes = shared((size_t)size);
	if (!seen || !bytes)
		return false;
	for (unsigned long i = 0; i < (unsigned long)size; i += sizeof(i))
		*(unsigned long *)(bytes + i) = i;
	if (pipe(fds))
		return fail("pipe: %s", strerror(errno));
	return peer_start(reader) > 0;
}

static bool phase(long ops)
{
	long wrong = 0;

	seen->read = 0;
	seen->wrong = 0;
	tollgate_begin();
	for (long i = 0; i < ops; i++)
		wrong += tollgate_syscall4(SYS_write, fds[1], (long)bytes, size, 0) != size;
	tollgate_end();
	return !wrong || fail("%ld writes of %ld were short", wrong, ops);
}

static bool read_whole_writes(void)
{
	return seen->read && seen->read % (unsigned long)size == 0;
}

/* The reader takes what is left when this process sleeps; of writes that the pipe
 * has room for it may have taken nothing yet. */
static bool check(void)
{
	for (int i = 0; i < 1000 && !read_whole_writes(); i++)
		usleep(1000);
	if (!read_whole_writes())
		return fail("the reader has %lu bytes, which is no multiple of %ld", seen->read, size);
	return !seen->wrong || fail("%lu reads were not in order", seen->wrong);
}

const struct bench bench_pipe_bulk = {
	.name = "pipe_bulk",
	.params = PARAMS_BENCH_PIPE_BULK,
	.setup = setup,
	.phase = phase,
	.check = check,
};
