// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * ptrace_regs: the registers of the FPU of a stopped process, read
 * (PTRACE_GETREGSET, NT_X86_XSTATE) and written back.
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fpu.h"
#include "guest.h"
#include "peer.h"
#include "tollgate_bench.h"

/* More than any processor's context. */
#define MOST 16384
/* In FXSAVE's layout (Intel SDM vol. 1, 10.5.1), where xmm0 is. */
#define XMM0 160

static pid_t traced;
static unsigned char state[MOST] __attribute__((aligned(64)));
static struct fpu_image pattern;

static void stopped_with_pattern(void)
{
	static struct fpu_image after;

	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	/* The registers hold the pattern while it stops. */
	for (;;)
		fpu_across(&pattern, &after, 0, SYS_kill, getpid(), SIGSTOP, 0);
}

static bool setup(const long *values)
{
	int status;

	(void)values;
	if (!fpu_known())
		return false;
	fpu_fill(&pattern, 1);
	traced = peer_start(stopped_with_pattern);
	if (traced < 0)
		return false;
	if (waitpid(traced, &status, 0) != traced || !WIFSTOPPED(status))
		return fail("the traced process did not stop");
	return true;
}

static bool phase(long ops)
{
	struct iovec area = { state, sizeof(state) };
	long wrong = 0;

	memset(state, 0, sizeof(state));
	tollgate_begin();
	for (long i = 0; i < ops; i++) {
		area.iov_len = sizeof(state);
		wrong += tollgate_syscall4(SYS_ptrace, PTRACE_GETREGSET, traced, NT_X86_XSTATE,
					   (long)&area) != 0;
		wrong += tollgate_syscall4(SYS_ptrace, PTRACE_SETREGSET, traced, NT_X86_XSTATE,
					   (long)&area) != 0;
	}
	tollgate_end();
	if (wrong)
		return fail("%ld calls of %ld failed", wrong, 2 * ops);
	return !memcmp(state + XMM0, pattern.vectors[0], 16) ||
	       fail("xmm0 of the traced process is not what it put there");
}

const struct bench bench_ptrace_regs = {
	.name = "ptrace_regs",
	.setup = setup,
	.phase = phase,
};
