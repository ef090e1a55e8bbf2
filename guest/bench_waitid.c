// SPDX-License-Identifier: MIT OR Apache-2.0
/* waitid: asks for a child that has ended, and leaves it as it is (WNOWAIT), so
 * that every call finds it again. */
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "guest.h"
#include "support.h"
#include "tollgate_bench.h"

static pid_t child;
static siginfo_t info;

static bool setup(const long *values)
{
	(void)values;
	child = zombie();
	return child > 0;
}

static bool phase(long ops)
{
	long wrong = 0;

	memset(&info, CANARY, sizeof(info));
	tollgate_begin();
	for (long i = 0; i < ops; i++)
		wrong |= tollgate_syscall6(SYS_waitid, P_PID, child, (long)&info,
					   WEXITED | WNOWAIT, 0, 0);
	tollgate_end();
	return !wrong || fail("waitid returned %ld, or-ed together", wrong);
}

static bool check(void)
{
	return (info.si_signo == SIGCHLD && info.si_code == CLD_EXITED && info.si_pid == child &&
		info.si_status == ZOMBIE_STATUS) ||
	       fail("it told signal %d, code %d, status %d", info.si_signo, info.si_code,
		    info.si_status);
}

const struct bench bench_waitid = {
	.name = "waitid",
	.setup = setup,
	.phase = phase,
	.check = check,
};
