// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * sync_ptr: SNDRV_PCM_IOCTL_SYNC_PTR on a prepared stream of snd-dummy;
 * sync_ptr_aloop: of snd-aloop. `layout` is the size
 * of the argument: 136 is the program's own layout, 132 that of 32-bit programs,
 * which the kernel takes from 64-bit programs too. `flags` is HWSYNC 1, APPL 2,
 * AVAIL_MIN 4, or a sum of them.
 */
#include <errno.h>
#include <string.h>

#include "guest.h"
#include "pcm.h"
#include "tollgate_bench.h"

#define APPL_PTR 16
#define AVAIL_MIN 64
/* SNDRV_PCM_STATE_PREPARED (include/uapi/sound/asound.h). */
#define PREPARED 2

static const struct pcm_layout *layout;
static int fd = -1;
static uint32_t flags;
static unsigned char request[136];

/* One setup serves both. */
_Static_assert(BENCH_SYNC_PTR_LAYOUT == BENCH_SYNC_PTR_ALOOP_LAYOUT &&
	       BENCH_SYNC_PTR_FLAGS == BENCH_SYNC_PTR_ALOOP_FLAGS, "the same places");

static bool setup(enum pcm_device device, const long *values)
{
	long result;

	layout = pcm_layout(values[BENCH_SYNC_PTR_LAYOUT]);
	flags = (uint32_t)values[BENCH_SYNC_PTR_FLAGS];
	fd = layout ? pcm_open(device) : -1;
	if (fd < 0)
		return false;
	pcm_request(layout, request, 0, APPL_PTR, AVAIL_MIN);
	result = pcm_sync(fd, layout, (uintptr_t)request);
	return !result || fail("the first call: %s", strerror((int)-result));
}

static bool setup_dummy(const long *values)
{
	return setup(PCM_DUMMY, values);
}

static bool setup_aloop(const long *values)
{
	return setup(PCM_ALOOP, values);
}

static bool phase(long ops)
{
	long last = 0;

	/* What the flags say is the kernel's to tell is wrong in the request. */
	pcm_request(layout, request, flags, flags & 2 ? 1 : APPL_PTR, flags & 4 ? 1 : AVAIL_MIN);
	tollgate_begin();
	for (long i = 0; i < ops; i++)
		last |= pcm_sync(fd, layout, (uintptr_t)request);
	tollgate_end();
	return !last || fail("the calls returned %ld, or-ed together", last);
}

static bool check(void)
{
	return (pcm_get(request, layout->state) == PREPARED &&
		pcm_get(request, layout->hw_ptr) == 0 &&
		pcm_get(request, layout->tstamp) != 0 &&
		pcm_get(request, layout->appl_ptr) == APPL_PTR &&
		pcm_get(request, layout->avail_min) == AVAIL_MIN) ||
	       fail("it told state=%u hw_ptr=%u tstamp=%u appl_ptr=%u avail_min=%u",
		    pcm_get(request, layout->state), pcm_get(request, layout->hw_ptr),
		    pcm_get(request, layout->tstamp), pcm_get(request, layout->appl_ptr),
		    pcm_get(request, layout->avail_min));
}

_Static_assert(BENCH_SYNC_PTR_FLAGS_MOST == PCM_SYNC_FLAGS, "all of them");

const struct bench bench_sync_ptr = {
	.name = "sync_ptr",
	.params = PARAMS_BENCH_SYNC_PTR,
	.setup = setup_dummy,
	.phase = phase,
	.check = check,
};

const struct bench bench_sync_ptr_aloop = {
	.name = "sync_ptr_aloop",
	.params = PARAMS_BENCH_SYNC_PTR_ALOOP,
	.setup = setup_aloop,
	.phase = phase,
	.check = check,
};
