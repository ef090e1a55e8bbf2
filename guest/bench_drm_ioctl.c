// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * drm_ioctl: an ioctl that does nothing, with an argument of `size` bytes that
 * goes `dir`: 1 in, 2 out, 3 both. Size 0 is an ioctl without argument.
 * What is left is the way in and out, the copies among it.
 *
 * Real ioctls of Linux 6.12 with these sizes: 4 out GET_MAGIC; 8 in GEM_CLOSE
 * and FINISH; 16 in SET_CLIENT_CAP, in and out GET_CAP; 40 GET_CLIENT; 64
 * VERSION; 104 MODE_GETCRTC; 0 SET_MASTER and DROP_MASTER.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "guest.h"
#include "support.h"
#include "tollgate_bench.h"


static int fd = -1;
static long size, direction;
static unsigned char argument[BENCH_DRM_IOCTL_SIZE_MOST];

static bool setup(const long *values)
{
	size = values[BENCH_DRM_IOCTL_SIZE];
	direction = values[BENCH_DRM_IOCTL_DIR];
	fd = drm_open();
	return fd >= 0;
}

static bool phase(long ops)
{
	unsigned long request = drm_request(size, direction);
	long wrong = 0;

	memset(argument, CANARY, sizeof(argument));
	tollgate_begin();
	for (long i = 0; i < ops; i++)
		wrong |= tollgate_syscall4(SYS_ioctl, fd, (long)request, (long)argument, 0);
	tollgate_end();
	return !wrong || fail("ioctl %#lx returned %ld, or-ed together", request, wrong);
}

/* The kernel's copy of the argument is what came in, else zeros; what goes out
 * is that copy. */
static bool check(void)
{
	unsigned char want = direction == _IOC_READ ? 0 : CANARY;

	for (long i = 0; i < size; i++)
		if (argument[i] != want)
			return fail("byte %ld of the argument is %#x, not %#x", i, argument[i],
				    want);
	return true;
}

const struct bench bench_drm_ioctl = {
	.name = "drm_ioctl",
	.params = PARAMS_BENCH_DRM_IOCTL,
	.setup = setup,
	.phase = phase,
	.check = check,
};
