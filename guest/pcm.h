/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A prepared playback stream, and the layouts of SNDRV_PCM_IOCTL_SYNC_PTR. */
#ifndef TOLLGATE_PCM_H
#define TOLLGATE_PCM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Flags of the call (include/uapi/sound/asound.h): HWSYNC 1, APPL 2, AVAIL_MIN 4. */
#define PCM_SYNC_FLAGS 7

/* Offsets in bytes; `word` is the size of a frame counter. */
struct pcm_layout {
	size_t size;
	size_t state, hw_ptr, appl_ptr, avail_min;
	size_t word;
	size_t tstamp, audio_tstamp;	/* seconds, then nanoseconds, `time` bytes each */
	size_t time;
};

/* The layout of `size` bytes that this program can ask for, or NULL. */
const struct pcm_layout *pcm_layout(long size);

/* Whose playback device: sound/drivers/dummy.c's or sound/drivers/aloop.c's. */
enum pcm_device { PCM_DUMMY, PCM_ALOOP };

/* Its first playback device. It has run for a while, so that its timestamps tell
 * one from the other, and is stopped and prepared: no timer of it runs. A negative
 * number after fail() or skip(). */
int pcm_open(enum pcm_device device);

/* Runs a prepared stream and stops it. hw_ptr stays where it came to, which
 * preparing it would undo; HWSYNC is an error in this state. */
bool pcm_play_a_while(int fd);

/* Replaces, in an answer at `address`, what is right but differs from kernel to
 * kernel (hw_ptr, timestamps): a byte that agrees with the kernel's own status
 * page (or its answer in its own layout) becomes the number of its field. Only bytes in [from, to) are touched. */
void pcm_settle(const struct pcm_layout *layout, uintptr_t address, uintptr_t from,
		uintptr_t to);

/* One call; the kernel's result. */
long pcm_sync(int fd, const struct pcm_layout *layout, uintptr_t address);

void pcm_put(const struct pcm_layout *layout, unsigned char *bytes, size_t offset,
	     uint32_t value);
uint32_t pcm_get(const unsigned char *bytes, size_t offset);

/* Fills `bytes` as a caller does, the rest with the canary. */
void pcm_request(const struct pcm_layout *layout, unsigned char *bytes, uint32_t flags,
		 uint32_t appl_ptr, uint32_t avail_min);

#endif
