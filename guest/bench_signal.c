// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Signals to oneself:
 *
 *   signal_catch      kill(self) with a handler that only counts: the signal, the
 *                     frame, the handler and the return from it
 *   signal_null       kill(self, 0): what of that is only the call; catch less
 *                     null is the signal's own cost
 *   signal_install    sigaction() with another handler each time
 *   signal_preempted  the handler gives the processor to another process, so
 *                     that the return finds foreign registers
 *
 * avx=1 uses the AVX registers before, so that they are part of the context.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fpu.h"
#include "guest.h"
#include "peer.h"
#include "tollgate_bench.h"

static volatile sig_atomic_t caught;
static bool with_avx;

static void count(int signal)
{
	(void)signal;
	caught++;
}

static void count_also(int signal)
{
	(void)signal;
	caught++;
}

static void count_and_yield(int signal)
{
	(void)signal;
	caught++;
	tollgate_syscall0(SYS_sched_yield);
}

static bool handle(void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	return !sigaction(SIGUSR1, &action, NULL) || fail("sigaction: %s", strerror(errno));
}

/*
 * A signal that is never delivered keeps one object of the slab of queued
 * signals in use. Without it each signal would be the slab's only one, and each
 * would allocate and free a page: 824 of 4,424 instructions.
 */
static bool keep_the_slab(void)
{
	const union sigval nothing = { .sival_int = 0 };
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGRTMIN);
	if (sigprocmask(SIG_BLOCK, &blocked, NULL) || sigqueue(getpid(), SIGRTMIN, nothing))
		return fail("cannot leave a signal pending: %s", strerror(errno));
	return true;
}

/* One setup serves them all. */
_Static_assert(BENCH_SIGNAL_CATCH_AVX == BENCH_SIGNAL_NULL_AVX &&
	       BENCH_SIGNAL_PREEMPTED_AVX == BENCH_SIGNAL_NULL_AVX, "the same place");

static bool setup_null(const long *values)
{
	with_avx = values[BENCH_SIGNAL_NULL_AVX];
	return keep_the_slab() && (!with_avx || fpu_use_avx());
}

static bool setup_catch(const long *values)
{
	return setup_null(values) && handle(count);
}

static void __attribute__((noreturn)) yield_forever(void)
{
	for (;;)
		tollgate_syscall0(SYS_sched_yield);
}

static bool setup_preempted(const long *values)
{
	return setup_null(values) && handle(count_and_yield) && peer_start(yield_forever) > 0;
}

static bool kill_self(long ops, int signal, long want)
{
	const long self = getpid();
	long wrong = 0;

	caught = 0;
	/* Everything since setup() may have put the registers back. */
	if (with_avx && !fpu_use_avx())
		return false;
	tollgate_begin();
	for (long i = 0; i < ops; i++)
		wrong += tollgate_syscall4(SYS_kill, self, signal, 0, 0) != 0;
	tollgate_end();
	if (wrong)
		return fail("kill failed %ld times of %ld", wrong, ops);
	return caught == want || fail("caught %ld signals, wanted %ld", (long)caught, want);
}

static bool phase_catch(long ops)
{
	return kill_self(ops, SIGUSR1, ops);
}

static bool phase_null(long ops)
{
	return kill_self(ops, 0, 0);
}

static bool setup_install(const long *values)
{
	(void)values;
	return handle(count_also);
}

/* By way of the C library: the kernel's form of the argument has a restorer,
 * which is the library's. */
static bool phase_install(long ops)
{
	struct sigaction action = { .sa_handler = count }, now;
	long wrong = 0;

	tollgate_begin();
	for (long i = 0; i < ops; i++) {
		action.sa_handler = i & 1 ? count : count_also;
		wrong += sigaction(SIGUSR1, &action, NULL) != 0;
	}
	tollgate_end();
	if (sigaction(SIGUSR1, NULL, &now))
		return fail("sigaction: %s", strerror(errno));
	if (now.sa_handler != action.sa_handler)
		return fail("the last handler is not the one that is installed");
	return !wrong || fail("sigaction failed %ld times of %ld", wrong, ops);
}

const struct bench bench_signal_catch = {
	.name = "signal_catch", .params = PARAMS_BENCH_SIGNAL_CATCH,
	.setup = setup_catch, .phase = phase_catch,
};

const struct bench bench_signal_null = {
	.name = "signal_null", .params = PARAMS_BENCH_SIGNAL_NULL,
	.setup = setup_null, .phase = phase_null,
};

const struct bench bench_signal_install = {
	.name = "signal_install", .setup = setup_install, .phase = phase_install,
};

const struct bench bench_signal_preempted = {
	.name = "signal_preempted", .params = PARAMS_BENCH_SIGNAL_PREEMPTED,
	.setup = setup_preempted, .phase = phase_catch,
};
