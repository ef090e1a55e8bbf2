// SPDX-License-Identifier: MIT OR Apache-2.0
/* futex_waitv: one call reads `futexes` waiters and their words; the last word
 * is not what its waiter expects, so that the call is back at once. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "guest.h"
#include "numbers.h"
#include "tollgate_bench.h"

static uint32_t words[FUTEX_WAITERS_MAX];
static struct futex_waiter waiters[FUTEX_WAITERS_MAX];
static long n_futexes;

static long wait_all(void)
{
	return tollgate_syscall6(NUMBER_FUTEX_WAITV, (long)waiters, n_futexes, 0, 0, 0, 0);
}

_Static_assert(BENCH_FUTEX_WAITV_FUTEXES_MOST == FUTEX_WAITERS_MAX, "of the kernel");

static bool setup(const long *values)
{
	n_futexes = values[BENCH_FUTEX_WAITV_FUTEXES];
	for (long i = 0; i < n_futexes; i++)
		waiters[i] = (struct futex_waiter){ .val = words[i],
						    .uaddr = (uintptr_t)&words[i],
						    .flags = FUTEX_WAITER_FLAGS };
	waiters[n_futexes - 1].val = 1;
	return wait_all() != -ENOSYS || skip("this kernel has no futex_waitv");
}

static bool phase(long ops)
{
	long last = -EAGAIN;

	tollgate_begin();
	for (long i = 0; i < ops; i++) {
		long result = wait_all();

		if (result != -EAGAIN)
			last = result;
	}
	tollgate_end();
	return last == -EAGAIN || fail("futex_waitv returned %ld, wanted %d", last, -EAGAIN);
}

const struct bench bench_futex_waitv = {
	.name = "futex_waitv",
	.params = PARAMS_BENCH_FUTEX_WAITV,
	.setup = setup,
	.phase = phase,
};
