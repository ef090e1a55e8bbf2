// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * fpu_state: whether a program ever finds other registers of the FPU than its
 * own. Several processes put values into them that no other has, do something
 * that may cost them their registers, and look. A timer interrupts all of them,
 * and its handler, on a stack of its own, writes over every register. Where there
 * are protection keys, theirs is one of them. A child has its parent's registers, a
 * new program none of them. One of the things is a segment for a socket whose segments
 * the kernel hashes as it receives them, in a softirq that uses the FPU before the
 * program's call returns.
 *
 * A point is one process and one thing that it does, its result how often the
 * registers were not the same afterwards: 0 in every kernel that works. Any other
 * number is a failure of the sweep as well.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "alg.h"
#include "fpu.h"
#include "guest.h"
#include "numbers.h"
#include "peer.h"
#include "softirq.h"

#define PROCESSES 6
/* Microseconds between two timer signals of a process: shorter than a round, so
 * that they meet every step, and different for each process. */
#define TIMER_US(process) (700 + 130 * (process))
#define STACK (64 * 1024)
/* Longer than the kernel's slice of time between two ticks would be too slow
 * under emulation; long enough that a timer signal falls into it now and then. */
#define SPIN 20000
#define ALG_BYTES 8192

enum step {
	STEP_CALL, STEP_YIELD, STEP_SLEEP, STEP_SPIN, STEP_SIGNAL, STEP_KERNEL_FPU, STEP_FORK,
	STEP_EXEC, STEP_SOFTIRQ, STEPS,
};

static const char *const step_names[STEPS] = {
	"call", "yield", "sleep", "spin", "signal", "kernel-fpu", "fork", "exec", "softirq",
};

/* What the processes have found, in memory that all of them share. */
struct found {
	unsigned long lost[STEPS];
	int missing;		/* the errno of a kernel without such a softirq */
	unsigned long signals;	/* handlers that ran */
	char first[48];		/* the first register that was another */
	bool done;
};

static struct found *found;
static struct found *mine;
static unsigned int handler_seed;
static int alg = -1;
static unsigned char bytes[ALG_BYTES];
static struct softirq softirq;

/* Which keys are closed: not the first, which all memory has. */
static uint32_t keys_of(unsigned int seed)
{
	return (seed * 2654435761u) & ~3u;
}

static void lose_unless(bool kept, enum step step, const char *what)
{
	if (kept)
		return;
	if (!mine->first[0])
		snprintf(mine->first, sizeof(mine->first), "%s: %s", step_names[step], what);
	mine->lost[step]++;
}

/* Leaves nothing of the program's registers, as a handler may. */
static void scribble(int signal)
{
	static struct fpu_image in, out;

	(void)signal;
	fpu_fill(&in, handler_seed++);
	fpu_set_keys(keys_of(handler_seed));
	fpu_across(&in, &out, 0, SYS_getppid, 0, 0, 0);
	mine->signals++;
}

static bool handle_on_own_stack(void)
{
	stack_t stack = { .ss_sp = malloc(STACK), .ss_size = STACK };
	struct sigaction action = { .sa_handler = scribble, .sa_flags = SA_ONSTACK | SA_RESTART };

	if (!stack.ss_sp || sigaltstack(&stack, NULL))
		return fail("sigaltstack: %s", strerror(errno));
	if (sigaction(SIGALRM, &action, NULL) || sigaction(SIGUSR1, &action, NULL))
		return fail("sigaction: %s", strerror(errno));
	return true;
}

static bool start_timer(unsigned int process)
{
	const struct timeval every = { .tv_usec = TIMER_US(process) };
	const struct itimerval timer = { every, every };

	return !setitimer(ITIMER_REAL, &timer, NULL) || fail("setitimer: %s", strerror(errno));
}

/* The child of a fork: it has the parent's registers. */
static void __attribute__((noreturn)) be_child(const struct fpu_image *in,
					       const struct fpu_image *out, uint32_t keys)
{
	_exit(fpu_difference(in, out) || fpu_keys() != keys);
}

/* A new program, begun with the registers full: init.c looks at what it finds. */
static void __attribute__((noreturn)) be_new_program(const struct fpu_image *in)
{
	static char *const arguments[] = { (char *)"guest", (char *)FPU_INITIAL, NULL };
	static char *const environment[] = { NULL };
	struct fpu_image out;

	fpu_across(in, &out, 0, SYS_execve, (long)"/proc/self/exe", (long)arguments,
		   (long)environment);
	_exit(2);
}

/* Whether the child says that all is well. */
static bool is_well(long child)
{
	int status = 1;

	while (waitpid((pid_t)child, &status, 0) < 0 && errno == EINTR)
		;
	return child > 0 && !status;
}

/* One step with the registers full. */
static void take(enum step step, const struct fpu_image *in, struct fpu_image *out)
{
	static const struct timespec nap = { .tv_nsec = 20000 };
	uint32_t keys = fpu_keys();
	long child;

	switch (step) {
	case STEP_CALL:
		fpu_across(in, out, 0, SYS_getppid, 0, 0, 0);
		break;
	case STEP_YIELD:
		fpu_across(in, out, 0, SYS_sched_yield, 0, 0, 0);
		break;
	case STEP_SLEEP:
		fpu_across(in, out, 0, SYS_nanosleep, (long)&nap, 0, 0);
		break;
	case STEP_SPIN:
		fpu_across(in, out, SPIN, -1, 0, 0, 0);
		break;
	case STEP_SIGNAL:
		fpu_across(in, out, 0, SYS_kill, getpid(), SIGUSR1, 0);
		break;
	case STEP_KERNEL_FPU:
		fpu_across(in, out, 0, SYS_write, alg, (long)bytes, sizeof(bytes));
		break;
	case STEP_FORK:
		child = fpu_across(in, out, 0, NUMBER_FORK, 0, 0, 0);
		if (!child)
			be_child(in, out, keys);
		lose_unless(is_well(child), step, "the child's registers");
		break;
	case STEP_EXEC:
		child = fpu_across(in, out, 0, NUMBER_FORK, 0, 0, 0);
		if (!child)
			be_new_program(in);
		lose_unless(is_well(child), step, "a new program's registers");
		break;
	case STEP_SOFTIRQ:
		fpu_across(in, out, 0, SYS_write, softirq.sender, (long)softirq.segment,
			   sizeof(softirq.segment));
		break;
	case STEPS:
		break;
	}
}

static void look(enum step step, const struct fpu_image *in, const struct fpu_image *out,
		 uint32_t keys)
{
	const char *differs = fpu_difference(in, out);

	if (!differs && fpu_keys() != keys)
		differs = "protection keys";
	lose_unless(!differs, step, differs);
}

/* Whether a step can be taken in this kernel. */
static bool is_there(enum step step)
{
	return step != STEP_SOFTIRQ || !mine->missing;
}

static void __attribute__((noreturn)) give_up(void)
{
	snprintf(mine->first, sizeof(mine->first), "%s", failure());
	_exit(1);
}

/* A segment that did not get there was no softirq. */
static void all_arrived(long rounds)
{
	long hashed = mine->missing ? rounds : softirq_hashed(&softirq);

	if (hashed >= 0 && hashed != rounds)
		fail("%ld of %ld segments were hashed", hashed, rounds);
	if (hashed != rounds)
		give_up();
}

static void work(unsigned int process, long rounds)
{
	static struct fpu_image in, out;

	mine = &found[process];
	handler_seed = process * 1000 + 500;
	alg = alg_sha256();
	if (alg < 0 || !softirq_open(&softirq, &mine->missing) || !handle_on_own_stack() ||
	    !start_timer(process))
		give_up();
	for (long round = 0; round < rounds; round++)
		for (enum step step = 0; step < STEPS; step++) {
			unsigned int seed = process + PROCESSES * (unsigned int)round + step;

			if (!is_there(step))
				continue;

			fpu_fill(&in, seed);
			fpu_set_keys(fpu_has_keys() ? keys_of(seed) : 0);
			take(step, &in, &out);
			look(step, &in, &out, fpu_has_keys() ? keys_of(seed) : 0);
		}
	all_arrived(rounds);
	mine->done = true;
	_exit(0);
}

static bool start(long rounds)
{
	for (unsigned int i = 0; i < PROCESSES; i++)
		switch (fork()) {
		case -1:
			return fail("fork: %s", strerror(errno));
		case 0:
			work(i, rounds);
		}
	return true;
}

static void wait_for_all(void)
{
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

/* A point for each step, and a sentence for what was lost. */
static bool report(unsigned int process)
{
	const struct found *one = &found[process];
	unsigned long lost = 0;
	char name[MAX_NAME];

	for (int i = 0; i < STEPS; i++) {
		snprintf(name, sizeof(name), "process-%u/%s", process, step_names[i]);
		if (i == STEP_SOFTIRQ && one->missing)
			out_point("fpu_state", name, -one->missing, "");
		else
			out_point("fpu_state", name, (long)one->lost[i], "");
		lost += one->lost[i];
	}
	if (!one->done)
		return fail("process %u did not come to its end: %s", process, one->first);
	if (!one->signals)
		return fail("process %u caught no signal", process);
	return !lost || fail("process %u lost its registers %lu times, first in %s", process,
			     lost, one->first);
}

static bool run(const long *values)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	bool kept = true;

	if (!fpu_known())
		return false;
	found = mmap(NULL, PROCESSES * sizeof(*found), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (found == MAP_FAILED)
		return fail("mmap: %s", strerror(errno));
	if (processors != values[SWEEP_FPU_STATE_CPUS])
		return fail("%ld processors are running, wanted %ld", processors, values[SWEEP_FPU_STATE_CPUS]);
	if (!start(values[SWEEP_FPU_STATE_ROUNDS]))
		return false;
	wait_for_all();
	for (unsigned int i = 0; i < PROCESSES; i++)
		kept = report(i) && kept;
	/* The sentence is the last failure's; the points say the rest. */
	return kept;
}

const struct sweep sweep_fpu_state = {
	.name = "fpu_state",
	.params = PARAMS_SWEEP_FPU_STATE,
	.run = run,
};
