// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * sync_ptr on snd-dummy, sync_ptr_aloop on snd-aloop.
 *
 * What SNDRV_PCM_IOCTL_SYNC_PTR does with every combination of its flags and
 * its argument at every position. The stream is put back before each call, and
 * a second call tells what the first left in the kernel: one that faults while
 * it answers has already moved the application's pointer.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "guest.h"
#include "pcm.h"

#define APPL_PTR 16
#define AVAIL_MIN 64

static const struct pcm_layout *layout;
static struct shape shape;
static const char *sweep_name;
static int fd = -1;

static long call(uintptr_t address)
{
	return pcm_sync(fd, layout, address);
}

static void settle(uintptr_t address, uintptr_t from, uintptr_t to)
{
	pcm_settle(layout, address, from, to);
}

static bool fresh(void)
{
	unsigned char bytes[136];
	long result;

	pcm_request(layout, bytes, 0, APPL_PTR, AVAIL_MIN);
	result = call((uintptr_t)bytes);
	return !result || fail("cannot put the stream back: %s", strerror((int)-result));
}

/* struct snd_pcm_sync_ptr: two structures, each with room for more. */
static void find_shape(void)
{
	const struct pcm_layout *at = layout;

	shape = (struct shape){ .fields = {
		{ "flags", 0, 4 },
		{ "status.state", at->state, 4 },
		{ "status.hw_ptr", at->hw_ptr, at->word },
		{ "status.tstamp.tv_sec", at->tstamp, at->time },
		{ "status.tstamp.tv_nsec", at->tstamp + at->time, at->time },
		{ "status.suspended_state", at->tstamp + 2 * at->time, 4 },
		{ "status.audio_tstamp.tv_sec", at->audio_tstamp, at->time },
		{ "status.audio_tstamp.tv_nsec", at->audio_tstamp + at->time, at->time },
		{ "control.appl_ptr", at->appl_ptr, at->word },
		{ "control.avail_min", at->avail_min, at->word },
	} };
}

/* Every byte for one combination; where a field begins for the others. */
static bool sweep_flags(uint32_t flags)
{
	unsigned char content[136];
	char prefix[32];
	struct subject subject = {
		.sweep = sweep_name,
		.prefix = prefix,
		.size = layout->size,
		.step = flags ? 4 : 1,
		.brief = flags != 0 && flags != PCM_SYNC_FLAGS,
		.fresh = fresh,
		.content = content,
		.call = call,
		.settle = settle,
		.shape = &shape,
	};

	snprintf(prefix, sizeof(prefix), "flags=%u/", flags);
	pcm_request(layout, content, flags, APPL_PTR + 5, AVAIL_MIN + 5);
	return sweep_positions(&subject);
}

/* What a fault left in the kernel: the second call asks for both counters. The
 * stream is stopped, so that hw_ptr is not 0. */
static bool sweep_stopped(void)
{
	unsigned char content[136], ask[136];
	struct subject subject = {
		.sweep = sweep_name,
		.prefix = "stopped/",
		.size = layout->size,
		.step = 4,
		.brief = true,
		.fresh = fresh,
		.content = content,
		.call = call,
		.settle = settle,
		.shape = &shape,
		.again = ask,
	};

	pcm_request(layout, content, 0, APPL_PTR + 7, AVAIL_MIN + 7);
	pcm_request(layout, ask, 6, 1, 1);
	return sweep_positions(&subject);
}

_Static_assert(SWEEP_SYNC_PTR_LAYOUT == SWEEP_SYNC_PTR_ALOOP_LAYOUT, "the same place");

static bool run(const char *name, enum pcm_device device, const long *values)
{
	bool ok;

	sweep_name = name;
	layout = pcm_layout(values[SWEEP_SYNC_PTR_LAYOUT]);
	fd = layout ? pcm_open(device) : -1;
	ok = fd >= 0;
	if (ok)
		find_shape();
	/* Also a bit that means nothing. */
	for (uint32_t flags = 0; ok && flags <= PCM_SYNC_FLAGS + 1; flags++)
		ok = sweep_flags(flags);
	return ok && pcm_play_a_while(fd) && sweep_stopped();
}

static bool run_dummy(const long *values)
{
	return run("sync_ptr", PCM_DUMMY, values);
}

static bool run_aloop(const long *values)
{
	return run("sync_ptr_aloop", PCM_ALOOP, values);
}

const struct sweep sweep_sync_ptr = {
	.name = "sync_ptr",
	.params = PARAMS_SWEEP_SYNC_PTR,
	.run = run_dummy,
};

const struct sweep sweep_sync_ptr_aloop = {
	.name = "sync_ptr_aloop",
	.params = PARAMS_SWEEP_SYNC_PTR_ALOOP,
	.run = run_aloop,
};
