// SPDX-License-Identifier: MIT OR Apache-2.0
/* What drm_ioctl() does with arguments of several sizes and directions, at every
 * position. The ioctl itself does nothing; what it was given comes back. */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "guest.h"
#include "support.h"
#include "tollgate_bench.h"

static int fd = -1;
static unsigned long request;

static long call(uintptr_t address)
{
	return tollgate_syscall4(SYS_ioctl, fd, (long)request, (long)address, 0);
}

static bool sweep_size(long size, long direction)
{
	static unsigned char content[MAX_BUFFER];
	char prefix[48];
	struct subject subject = {
		.sweep = "drm_ioctl",
		.prefix = prefix,
		.size = (size_t)size,
		.step = size > 16 ? 4 : 1,
		.brief = size > 16,
		.content = content,
		.call = call,
	};

	/* No two neighbours are alike. */
	for (size_t i = 0; i < sizeof(content); i++)
		content[i] = (unsigned char)(i * 7 + 1);
	request = drm_request(size, direction);
	snprintf(prefix, sizeof(prefix), "size=%ld,direction=%ld/", size, direction);
	return sweep_positions(&subject);
}

static bool run(const long *values)
{
	/* Around each size that a small copy treats specially, and one for which
	 * the kernel takes memory. */
	static const long sizes[] = { 1, 2, 3, 4, 5, 8, 9, 16, 17, 24, 72, 200 };
	bool ok;

	(void)values;
	fd = drm_open();
	ok = fd >= 0;
	for (size_t i = 0; ok && i < ARRAY_SIZE(sizes); i++)
		for (long direction = 1; ok && direction <= 3; direction++)
			ok = sweep_size(sizes[i], direction);
	return ok;
}

const struct sweep sweep_drm_ioctl = {
	.name = "drm_ioctl",
	.run = run,
};
