// SPDX-License-Identifier: MIT OR Apache-2.0
/* sigaltstack: one call sets the stack that is set already and tells it. */
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "guest.h"
#include "tollgate_bench.h"

#define SIZE 65536

static char stack[SIZE];
static stack_t wanted = { .ss_sp = stack, .ss_size = SIZE };
static stack_t got;

static bool setup(const long *values)
{
	(void)values;
	return true;
}

static bool phase(long ops)
{
	long wrong = 0;

	memset(&got, CANARY, sizeof(got));
	/* The one before the first is another one. */
	tollgate_syscall4(SYS_sigaltstack, (long)&wanted, 0, 0, 0);
	tollgate_begin();
	for (long i = 0; i < ops; i++)
		wrong |= tollgate_syscall4(SYS_sigaltstack, (long)&wanted, (long)&got, 0, 0);
	tollgate_end();
	return !wrong || fail("sigaltstack returned %ld, or-ed together", wrong);
}

static bool check(void)
{
	return (got.ss_sp == stack && got.ss_size == SIZE && got.ss_flags == 0) ||
	       fail("it told a stack of %zu bytes with flags %d", got.ss_size, got.ss_flags);
}

const struct bench bench_sigaltstack = {
	.name = "sigaltstack",
	.setup = setup,
	.phase = phase,
	.check = check,
};
