// SPDX-License-Identifier: MIT OR Apache-2.0
/* getrlimit: one call writes one struct to user space. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "guest.h"
#include "numbers.h"
#include "tollgate_bench.h"

/* A limit that no process has by chance. */
#define SOFT 731
#define HARD 937

/* As the kernel writes it: two words, of 64 bits for an x32 program, too. */
#if defined(__x86_64__)
static unsigned long long got[2];
#else
static unsigned long got[2];
#endif

static bool setup(const long *values)
{
	struct rlimit limit = { .rlim_cur = SOFT, .rlim_max = HARD };

	(void)values;
	return !setrlimit(RLIMIT_NOFILE, &limit) || fail("setrlimit: %s", strerror(errno));
}

static bool phase(long ops)
{
	long wrong = 0;

	memset(got, 0, sizeof(got));
	tollgate_begin();
	for (long i = 0; i < ops; i++)
		wrong |= tollgate_syscall4(NUMBER_GETRLIMIT, RLIMIT_NOFILE, (long)got, 0, 0);
	tollgate_end();
	return !wrong || fail("getrlimit returned %ld, or-ed together", wrong);
}

static bool check(void)
{
	return (got[0] == SOFT && got[1] == HARD) ||
	       fail("it told %llu and %llu", (unsigned long long)got[0],
		    (unsigned long long)got[1]);
}

const struct bench bench_getrlimit = {
	.name = "getrlimit",
	.setup = setup,
	.phase = phase,
	.check = check,
};
