// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Sweeps of calls that need no more than a buffer and a word on what it holds:
 * each is a few lines here, and the engine of positions.c does the rest. A call
 * with several buffers is swept once for each, the others being good.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"
#include "numbers.h"
#include "support.h"
#include "tollgate_bench.h"

/* ---- poll and select ---- */

static struct timespec at_once;

static long poll_three(uintptr_t address)
{
	return CALL_POLL((long)address, 3, (long)&at_once);
}

static const struct shape pollfds = {
	.each = sizeof(struct pollfd),
	.fields = { FIELD(struct pollfd, fd), FIELD(struct pollfd, events),
		    FIELD(struct pollfd, revents) },
};

static bool run_poll(const long *values)
{
	/* One that is readable, one that is not open, one to be ignored. */
	struct pollfd polled[3] = { { .events = POLLIN | POLLOUT },
				    { .fd = 999, .events = POLLIN },
				    { .fd = -1, .events = POLLIN } };
	struct subject subject = subject_of("poll", "", sizeof(polled), polled, poll_three);

	(void)values;
	subject.shape = &pollfds;
	return ready_descriptors(&polled[0].fd, 1) && sweep_positions(&subject);
}

const struct sweep sweep_poll = { .name = "poll", .run = run_poll };

static unsigned char ready_set[8];

static long select_read(uintptr_t address)
{
	return CALL_SELECT(64, (long)address, 0, 0, (long)&at_once);
}

static long select_write(uintptr_t address)
{
	return CALL_SELECT(64, 0, (long)address, 0, (long)&at_once);
}

/* Nothing is exceptional: the set comes back empty. */
static long select_except(uintptr_t address)
{
	return CALL_SELECT(64, 0, 0, (long)address, (long)&at_once);
}

/* No time at all: what is left of any other is not the same in two kernels, and
 * is written back. */
static long select_timeout(uintptr_t address)
{
	unsigned char set[sizeof(ready_set)];

	memcpy(set, ready_set, sizeof(set));
	return CALL_SELECT(64, (long)set, 0, 0, (long)address);
}

/* Two words, whichever time the call takes. */
static const struct shape select_time = {
	.fields = { { "tv_sec", 0, sizeof(at_once) / 2 },
		    { SELECT_FRACTION, sizeof(at_once) / 2, sizeof(at_once) / 2 } },
};

static bool run_select(const long *values)
{
	struct subject subjects[] = {
		subject_of("select", "", sizeof(ready_set), ready_set, select_read),
		subject_of("select", "write/", sizeof(ready_set), ready_set, select_write),
		subject_of("select", "except/", sizeof(ready_set), ready_set, select_except),
		subject_of("select", "timeout/", sizeof(at_once), &at_once, select_timeout),
	};
	int ready[2];
	bool ok = ready_descriptors(ready, ARRAY_SIZE(ready));

	(void)values;
	subjects[3].shape = &select_time;
	for (size_t i = 0; ok && i < ARRAY_SIZE(ready); i++)
		ready_set[ready[i] / 8] |= (unsigned char)(1 << ready[i] % 8);
	for (size_t i = 0; ok && i < ARRAY_SIZE(subjects); i++)
		ok = sweep_positions(&subjects[i]);
	return ok;
}

const struct sweep sweep_select = { .name = "select", .run = run_select };

/* ---- waitid ---- */

static pid_t child;

static long wait_for_child(uintptr_t address)
{
	return tollgate_syscall6(SYS_waitid, P_PID, child, (long)address, WEXITED | WNOWAIT, 0,
				 0);
}

/* Nobody to tell of: the fields are zeroed. */
static long wait_for_nobody(uintptr_t address)
{
	return tollgate_syscall6(SYS_waitid, P_PID, child, (long)address,
				 WSTOPPED | WNOWAIT | WNOHANG, 0, 0);
}

static siginfo_t info;

/* Of SIGCHLD; what lies behind is of other signals. */
static const struct shape child_info = {
	.fields = { FIELD(siginfo_t, si_signo), FIELD(siginfo_t, si_errno),
		    FIELD(siginfo_t, si_code), FIELD(siginfo_t, si_pid),
		    FIELD(siginfo_t, si_uid), FIELD(siginfo_t, si_status),
		    FIELD(siginfo_t, si_utime), FIELD(siginfo_t, si_stime) },
};

static bool no_info(void)
{
	memset(&info, CANARY, sizeof(info));
	return true;
}

static long wait_for_usage(uintptr_t address)
{
	return tollgate_syscall6(SYS_waitid, P_PID, child, (long)&info, WEXITED | WNOWAIT,
				 (long)address, 0);
}

static struct rusage own_usage;

/* A counter is as wide as the kernel's word, which on x32 is wider than a long. */
#define USAGE(member) \
	{ #member, offsetof(struct rusage, member), \
	  offsetof(struct rusage, ru_ixrss) - offsetof(struct rusage, ru_maxrss) }

static const struct shape usage_told = {
	.fields = { FIELD(struct rusage, ru_utime.tv_sec), FIELD(struct rusage, ru_utime.tv_usec),
		    FIELD(struct rusage, ru_stime.tv_sec), FIELD(struct rusage, ru_stime.tv_usec),
		    USAGE(ru_maxrss), USAGE(ru_ixrss), USAGE(ru_idrss), USAGE(ru_isrss),
		    USAGE(ru_minflt), USAGE(ru_majflt), USAGE(ru_nswap), USAGE(ru_inblock),
		    USAGE(ru_oublock), USAGE(ru_msgsnd), USAGE(ru_msgrcv), USAGE(ru_nsignals),
		    USAGE(ru_nvcsw), USAGE(ru_nivcsw) },
};

/* User and system time, the first two fields: two kernels do not take the same. */
#define TIMES offsetof(struct rusage, ru_maxrss)

/* A byte that is as in the answer in good memory becomes a mark. */
static void settle_usage(uintptr_t address, uintptr_t from, uintptr_t to)
{
	const unsigned char *own = (const unsigned char *)&own_usage;

	for (size_t i = 0; i < TIMES; i++) {
		unsigned char *at = (unsigned char *)(address + i);

		if (address + i >= from && address + i < to && *at == own[i])
			*at = 0xf1;
	}
}

/* One in whose times no byte is the canary's: such a byte could not be told from
 * one that was not written. */
static bool child_of_plain_times(void)
{
	do {
		child = zombie();
	} while (child > 0 && !wait_for_usage((uintptr_t)&own_usage) &&
		 memchr(&own_usage, CANARY, TIMES));
	return child > 0;
}

static bool run_waitid(const long *values)
{
	struct subject one = subject_of("waitid", "", sizeof(siginfo_t), NULL, wait_for_child);
	struct subject none = subject_of("waitid", "nobody/", sizeof(siginfo_t), NULL,
					 wait_for_nobody);
	struct subject usage = subject_of("waitid", "rusage/", sizeof(struct rusage), NULL,
					  wait_for_usage);

	(void)values;
	one.step = 1;
	one.shape = &child_info;
	none.brief = true;
	none.shape = &child_info;
	usage.shape = &usage_told;
	usage.fresh = no_info;
	usage.settle = settle_usage;
	usage.also = (const unsigned char *)&info;
	usage.also_size = sizeof(info);
	usage.also_shape = &child_info;
	return child_of_plain_times() && sweep_positions(&one) && sweep_positions(&none) &&
	       sweep_positions(&usage);
}

const struct sweep sweep_waitid = { .name = "waitid", .run = run_waitid };

/* ---- getrlimit, sigaltstack, futex_waitv ---- */

/* Two words of the program's own width; 64 bits for an x32 program, too. */
#if defined(__x86_64__) || defined(__LP64__)
#define LIMIT 16
#else
#define LIMIT 8
#endif

static long get_limit(uintptr_t address)
{
	return tollgate_syscall4(NUMBER_GETRLIMIT, 7 /* RLIMIT_NOFILE */, (long)address, 0, 0);
}

static const struct shape limits = {
	.fields = { { "rlim_cur", 0, LIMIT / 2 }, { "rlim_max", LIMIT / 2, LIMIT / 2 } },
};

static bool run_getrlimit(const long *values)
{
	struct subject subject = subject_of("getrlimit", "", LIMIT, NULL, get_limit);

	(void)values;
	subject.shape = &limits;
	return sweep_positions(&subject);
}

const struct sweep sweep_getrlimit = { .name = "getrlimit", .run = run_getrlimit };

#define STACK_SIZE 65536

static char stack[STACK_SIZE];
static stack_t set_before = { .ss_sp = stack, .ss_size = STACK_SIZE };
static stack_t told;

static bool set_stack(void)
{
	memset(&told, CANARY, sizeof(told));
	return !tollgate_syscall4(SYS_sigaltstack, (long)&set_before, 0, 0, 0) ||
	       fail("sigaltstack failed on good memory");
}

static long tell_stack(uintptr_t address)
{
	return tollgate_syscall4(SYS_sigaltstack, 0, (long)address, 0, 0);
}

static long change_stack(uintptr_t address)
{
	return tollgate_syscall4(SYS_sigaltstack, (long)address, (long)&told, 0, 0);
}

static const struct shape stack_shape = {
	.fields = { FIELD(stack_t, ss_sp), FIELD(stack_t, ss_flags), FIELD(stack_t, ss_size) },
};

static bool sweep_new_stack(const char *prefix, int flags, size_t size)
{
	stack_t wanted;
	struct subject subject;

	memset(&wanted, 0, sizeof(wanted));
	wanted.ss_sp = stack + 16;
	wanted.ss_size = size;
	wanted.ss_flags = flags;
	subject = subject_of("sigaltstack", prefix, sizeof(wanted), &wanted, change_stack);
	subject.fresh = set_stack;
	subject.also = (const unsigned char *)&told;
	subject.also_size = sizeof(told);
	subject.shape = &stack_shape;
	subject.also_shape = &stack_shape;
	return sweep_positions(&subject);
}

static bool run_sigaltstack(const long *values)
{
	struct subject old = subject_of("sigaltstack", "old/", sizeof(stack_t), NULL, tell_stack);

	(void)values;
	old.fresh = set_stack;
	old.shape = &stack_shape;
	/* One that is taken, one that turns it off, one that is too small, and a
	 * flag that there is not. */
	return sweep_positions(&old) && sweep_new_stack("new/", 0, STACK_SIZE / 2) &&
	       sweep_new_stack("off/", SS_DISABLE, 0) && sweep_new_stack("small/", 0, 16) &&
	       sweep_new_stack("flag/", 0x40, STACK_SIZE / 2);
}

const struct sweep sweep_sigaltstack = { .name = "sigaltstack", .run = run_sigaltstack };

static struct futex_waiter waiters[2];
static uint32_t words[ARRAY_SIZE(waiters)];

static long wait_for_two(uintptr_t address)
{
	return tollgate_syscall6(NUMBER_FUTEX_WAITV, (long)address, ARRAY_SIZE(waiters), 0, 0, 0,
				 0);
}

static long wait_until(uintptr_t address)
{
	return tollgate_syscall6(NUMBER_FUTEX_WAITV, (long)waiters, ARRAY_SIZE(waiters), 0,
				 (long)address, CLOCK_MONOTONIC, 0);
}

/* The word that the first waiter looks at. */
static long wait_for_word(uintptr_t address)
{
	struct futex_waiter two[ARRAY_SIZE(waiters)];

	memcpy(two, waiters, sizeof(two));
	two[0].uaddr = address;
	return wait_for_two((uintptr_t)two);
}

static const struct shape waiter_shape = {
	.each = sizeof(struct futex_waiter),
	.fields = { FIELD(struct futex_waiter, val), FIELD(struct futex_waiter, uaddr),
		    FIELD(struct futex_waiter, flags), FIELD(struct futex_waiter, reserved) },
};

static const struct shape until_shape = {
	.fields = { { "tv_sec", 0, 8 }, { "tv_nsec", 8, 8 } },
};

static bool run_futex_waitv(const long *values)
{
	/* struct __kernel_timespec, the same in every ABI; long ago. */
	static const int64_t past[2];
	struct subject all = subject_of("futex_waitv", "", sizeof(waiters), waiters, wait_for_two);
	struct subject until = subject_of("futex_waitv", "timeout/", sizeof(past), past,
					  wait_until);
	struct subject word = subject_of("futex_waitv", "word/", sizeof(words[0]), &words[0],
					 wait_for_word);

	(void)values;
	all.shape = &waiter_shape;
	until.shape = &until_shape;
	/* The second word is not what its waiter expects: no call waits. */
	for (size_t i = 0; i < ARRAY_SIZE(waiters); i++)
		waiters[i] = (struct futex_waiter){ .val = i, .uaddr = (uintptr_t)&words[i],
						    .flags = FUTEX_WAITER_FLAGS };
	return (wait_for_two((uintptr_t)waiters) != -ENOSYS ||
		skip("this kernel has no futex_waitv")) &&
	       sweep_positions(&all) && sweep_positions(&until) && sweep_positions(&word);
}

const struct sweep sweep_futex_waitv = { .name = "futex_waitv", .run = run_futex_waitv };
