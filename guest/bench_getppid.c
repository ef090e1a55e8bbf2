// SPDX-License-Identifier: MIT OR Apache-2.0
/* getppid: a system call that touches no user memory. The control: a change to
 * user access must not move it. */
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"
#include "tollgate_bench.h"

static bool setup(const long *values)
{
	(void)values;
	return true;
}

static bool phase(long ops)
{
	long expected = getppid();
	long wrong = 0;

	tollgate_begin();
	for (long i = 0; i < ops; i++)
		wrong += tollgate_syscall0(SYS_getppid) != expected;
	tollgate_end();
	return !wrong || fail("getppid was wrong %ld times of %ld", wrong, ops);
}

const struct bench bench_getppid = {
	.name = "getppid",
	.setup = setup,
	.phase = phase,
};
