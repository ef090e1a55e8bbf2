// SPDX-License-Identifier: MIT OR Apache-2.0
/* A prepared playback stream without a sound library: the sequence of ioctls
 * that makes one, for snd-dummy, snd-aloop or any other device. */
/* The status page lies at an offset that 31 bits do not hold. */
#define _LARGEFILE64_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <sound/asound.h>

#include "guest.h"
#include "pcm.h"
#include "tollgate_bench.h"

#define MAX_CARDS 8
#define RATE 48000
#define PERIOD 1024
#define BUFFER 4096
/* One try in 15 or so meets the canary. */
#define MAX_TRIES 16

/* What lies before a word of 32 bits where the kernel's own layout has room for 64
 * (include/uapi/sound/asound.h, __pad_before_uframe). */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define BEFORE_WORD 4
#else
#define BEFORE_WORD 0
#endif

/*
 * sound/core/pcm_native.c: struct snd_pcm_sync_ptr of the kernel's own (136
 * bytes) and snd_pcm_sync_ptr32 (132 bytes), which the native ioctl takes too,
 * by its size. sound/core/pcm_compat.c: snd_pcm_sync_ptr_x32 (136 bytes).
 */
static const struct pcm_layout layouts[] = {
#if defined(__LP64__)
	{ .size = 136, .state = 8, .hw_ptr = 16, .appl_ptr = 72, .avail_min = 80, .word = 8,
	  .tstamp = 24, .audio_tstamp = 48, .time = 8 },
#elif defined(__x86_64__)
	{ .size = 136, .state = 8, .hw_ptr = 16, .appl_ptr = 72, .avail_min = 76, .word = 4,
	  .tstamp = 24, .audio_tstamp = 48, .time = 8 },
#else
	{ .size = 136, .state = 8, .hw_ptr = 16 + BEFORE_WORD, .appl_ptr = 72 + BEFORE_WORD,
	  .avail_min = 80 + BEFORE_WORD, .word = 4, .tstamp = 24, .audio_tstamp = 48,
	  .time = 8 },
#endif
	{ .size = 132, .state = 4, .hw_ptr = 12, .appl_ptr = 68, .avail_min = 72, .word = 4,
	  .tstamp = 16, .audio_tstamp = 28, .time = 4 },
};

/* Where the kernel's own status page has the same fields: struct
 * __snd_pcm_mmap_status64 at SNDRV_PCM_MMAP_OFFSET_STATUS_NEW. */
#define STATUS_OFFSET 0x82000000
#define OWN_HW_PTR 8
#define OWN_TSTAMP 16
#define OWN_AUDIO_TSTAMP 40
#define OWN_END 56
/* Where the lowest bytes of its eight are. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LOW(len) (8 - (len))
#else
#define LOW(len) 0
#endif
static const unsigned char *own_status;
/* Where a kernel hands that page to nobody (arm64: pcm_native.c says which do),
 * the same fields of its answer in the layout of its own, from this offset on. */
#define OWN_LAYOUT 136
#define OWN_IN_LAYOUT 8
/* SNDRV_PCM_SYNC_PTR_APPL and _AVAIL_MIN: nothing is taken from the caller. */
#define TELL_ALL 6
static int own_fd = -1;

const struct pcm_layout *pcm_layout(long size)
{
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if ((long)layouts[i].size == size)
			return &layouts[i];
	fail("a program of this ABI has no layout of %ld bytes", size);
	return NULL;
}

static void set_mask(struct snd_pcm_hw_params *params, int which, unsigned int bit)
{
	struct snd_mask *mask = &params->masks[which - SNDRV_PCM_HW_PARAM_FIRST_MASK];

	memset(mask, 0, sizeof(*mask));
	mask->bits[bit / 32] = 1U << bit % 32;
}

static void set_interval(struct snd_pcm_hw_params *params, int which, unsigned int value)
{
	struct snd_interval *interval =
		&params->intervals[which - SNDRV_PCM_HW_PARAM_FIRST_INTERVAL];

	memset(interval, 0, sizeof(*interval));
	interval->min = value;
	interval->max = value;
	interval->integer = 1;
}

/* Everything that is not set below may be what the device likes. */
static void any_params(struct snd_pcm_hw_params *params)
{
	memset(params, 0, sizeof(*params));
	memset(params->masks, 0xff, sizeof(params->masks));
	for (size_t i = 0; i < ARRAY_SIZE(params->intervals); i++)
		params->intervals[i].max = ~0U;
	params->rmask = ~0U;
	params->info = ~0U;
}

/* Nothing starts or stops the stream but an ioctl. */
static bool never_stop(int fd)
{
	struct snd_pcm_sw_params params;

	memset(&params, 0, sizeof(params));
	params.tstamp_mode = SNDRV_PCM_TSTAMP_ENABLE;
	params.period_step = 1;
	params.avail_min = 1;
	params.start_threshold = 0x7fffffff;
	params.stop_threshold = ~(snd_pcm_uframes_t)0;
	return !ioctl(fd, SNDRV_PCM_IOCTL_SW_PARAMS, &params) ||
	       fail("SNDRV_PCM_IOCTL_SW_PARAMS: %s", strerror(errno));
}

/* Longer than a second: the seconds of audio must not be 0 either. */
static bool play(int fd)
{
	const struct timespec a_while = { .tv_sec = 1, .tv_nsec = 50000000 };

	if (ioctl(fd, SNDRV_PCM_IOCTL_START))
		return fail("SNDRV_PCM_IOCTL_START: %s", strerror(errno));
	nanosleep(&a_while, NULL);
	if (ioctl(fd, SNDRV_PCM_IOCTL_HWSYNC) || ioctl(fd, SNDRV_PCM_IOCTL_DROP))
		return fail("cannot stop the stream: %s", strerror(errno));
	return true;
}

static bool prepare(int fd)
{
	return !ioctl(fd, SNDRV_PCM_IOCTL_PREPARE) ||
	       fail("SNDRV_PCM_IOCTL_PREPARE: %s", strerror(errno));
}

/* NULL where a program can learn it in no other way than by the call itself. */
static const unsigned char *status_now(void)
{
	static unsigned char answer[OWN_LAYOUT] __attribute__((aligned(8)));
	const uint32_t flags = TELL_ALL;
	const struct pcm_layout *layout = pcm_layout(OWN_LAYOUT);

	if (own_status || !layout)
		return own_status;
	memset(answer, 0, sizeof(answer));
	memcpy(answer, &flags, sizeof(flags));
	return pcm_sync(own_fd, layout, (uintptr_t)answer) ? NULL : answer + OWN_IN_LAYOUT;
}

/* A byte of a timestamp that is the canary's could not be told from one that was
 * not written. */
static bool has_canary(void)
{
	const unsigned char *own = status_now();

	return own && memchr(own + OWN_HW_PTR, CANARY, OWN_END - OWN_HW_PTR);
}

bool pcm_play_a_while(int fd)
{
	for (int i = 0; i < MAX_TRIES; i++)
		if (!play(fd))
			return false;
		else if (!has_canary())
			return true;
		else if (!prepare(fd))
			return false;
	return fail("%d times in a row a timestamp held the byte %#x", MAX_TRIES, CANARY);
}

static bool map_status(int fd)
{
	void *page = mmap64(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd,
			    STATUS_OFFSET);

	own_fd = fd;
	if (page == MAP_FAILED)
		return errno == ENXIO || fail("cannot map the status page: %s", strerror(errno));
	own_status = page;
	return true;
}

static bool start_up(int fd)
{
	struct snd_pcm_hw_params params;

	any_params(&params);
	set_mask(&params, SNDRV_PCM_HW_PARAM_ACCESS, SNDRV_PCM_ACCESS_RW_INTERLEAVED);
	set_mask(&params, SNDRV_PCM_HW_PARAM_FORMAT, SNDRV_PCM_FORMAT_S16_LE);
	set_interval(&params, SNDRV_PCM_HW_PARAM_CHANNELS, 2);
	set_interval(&params, SNDRV_PCM_HW_PARAM_RATE, RATE);
	set_interval(&params, SNDRV_PCM_HW_PARAM_PERIOD_SIZE, PERIOD);
	set_interval(&params, SNDRV_PCM_HW_PARAM_BUFFER_SIZE, BUFFER);
	if (ioctl(fd, SNDRV_PCM_IOCTL_HW_PARAMS, &params))
		return fail("SNDRV_PCM_IOCTL_HW_PARAMS: %s", strerror(errno));
	return never_stop(fd) && map_status(fd) && prepare(fd) && pcm_play_a_while(fd) &&
	       prepare(fd);
}

/* snd_card_dummy and snd_aloop fill these in (sound/drivers). */
static const char *const drivers[] = { [PCM_DUMMY] = "Dummy", [PCM_ALOOP] = "Loopback" };

static bool is_card_of(int card, const char *driver)
{
	struct snd_ctl_card_info info = { 0 };
	char path[48];
	int fd;
	bool same;

	snprintf(path, sizeof(path), "/dev/snd/controlC%d", card);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	same = fd >= 0 && !ioctl(fd, SNDRV_CTL_IOCTL_CARD_INFO, &info) &&
	       !strcmp((const char *)info.driver, driver);
	if (fd >= 0)
		close(fd);
	return same;
}

int pcm_open(enum pcm_device device)
{
	char path[48];
	int fd = -1;

	for (int card = 0; fd < 0 && card < MAX_CARDS; card++) {
		if (!is_card_of(card, drivers[device]))
			continue;
		snprintf(path, sizeof(path), "/dev/snd/pcmC%dD0p", card);
		fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	}
	if (fd < 0) {
		skip("none of the cards 0 to %d has the driver %s and a playback device",
		     MAX_CARDS - 1, drivers[device]);
		return -1;
	}
	if (start_up(fd))
		return fd;
	close(fd);
	return -1;
}

long pcm_sync(int fd, const struct pcm_layout *layout, uintptr_t address)
{
	/* SNDRV_PCM_IOCTL_SYNC_PTR, _IOWR('A', 0x23, ...), with this layout's size. */
	unsigned long request = _IOC(_IOC_READ | _IOC_WRITE, 'A', 0x23, layout->size);

	return tollgate_syscall4(SYS_ioctl, fd, (long)request, (long)address, 0);
}

void pcm_put(const struct pcm_layout *layout, unsigned char *bytes, size_t offset,
	     uint32_t value)
{
	memset(bytes + offset, 0, layout->word);
	memcpy(bytes + offset, &value, sizeof(value));
}

uint32_t pcm_get(const unsigned char *bytes, size_t offset)
{
	uint32_t value;

	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

void pcm_request(const struct pcm_layout *layout, unsigned char *bytes, uint32_t flags,
		 uint32_t appl_ptr, uint32_t avail_min)
{
	memset(bytes, CANARY, layout->size);
	memcpy(bytes, &flags, sizeof(flags));
	pcm_put(layout, bytes, layout->appl_ptr, appl_ptr);
	pcm_put(layout, bytes, layout->avail_min, avail_min);
}

static bool is_zero(const unsigned char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (bytes[i])
			return false;
	return true;
}

/* Zero is the same in every boot. */
static void settle_field(uintptr_t at, const unsigned char *own, size_t len, unsigned char number,
			 uintptr_t from, uintptr_t to)
{
	if (is_zero(own, len))
		return;
	for (size_t i = 0; i < len; i++) {
		unsigned char *byte = (unsigned char *)(at + i);

		if (at + i >= from && at + i < to && *byte == own[i])
			*byte = number;
	}
}

void pcm_settle(const struct pcm_layout *layout, uintptr_t address, uintptr_t from,
		uintptr_t to)
{
	const struct {
		size_t offset, own, len;
	} fields[] = {
		{ layout->hw_ptr, OWN_HW_PTR + LOW(layout->word), layout->word },
		{ layout->tstamp, OWN_TSTAMP + LOW(layout->time), layout->time },
		{ layout->tstamp + layout->time, OWN_TSTAMP + 8 + LOW(layout->time),
		  layout->time },
		{ layout->audio_tstamp, OWN_AUDIO_TSTAMP + LOW(layout->time), layout->time },
		{ layout->audio_tstamp + layout->time, OWN_AUDIO_TSTAMP + 8 + LOW(layout->time),
		  layout->time },
	};

	const unsigned char *own = status_now();

	for (size_t i = 0; own && i < ARRAY_SIZE(fields); i++)
		settle_field(address + fields[i].offset, own + fields[i].own,
			     fields[i].len, (unsigned char)(0xf1 + i), from, to);
}
