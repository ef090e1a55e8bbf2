// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * kworker: to a kernel thread and back. A write to vm.stat_refresh queues work on
 * each processor and waits for it (mm/vmstat.c, vmstat_refresh()). The kernel
 * thread has no registers of its own, so those of the program stay where they
 * are.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"
#include "tollgate_bench.h"

static int fd = -1;

static bool setup(const long *values)
{
	(void)values;
	fd = open("/proc/sys/vm/stat_refresh", O_WRONLY | O_CLOEXEC);
	return fd >= 0 || fail("/proc/sys/vm/stat_refresh: %s", strerror(errno));
}

static bool phase(long ops)
{
	const char text[] = "1";
	long wrong = 0;

	tollgate_begin();
	for (long i = 0; i < ops; i++)
		wrong += tollgate_syscall4(SYS_write, fd, (long)text, 1, 0) != 1;
	tollgate_end();
	return !wrong || fail("%ld writes of %ld failed", wrong, ops);
}

const struct bench bench_kworker = {
	.name = "kworker",
	.setup = setup,
	.phase = phase,
};
