// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * A player that talks to alsa-lib directly, as a sound server does: silence into
 * the device's own buffer, one period for each wake-up.
 *
 *   client SECONDS PERIOD BUFFER WAY [sync-ptr]
 *
 * PERIOD and BUFFER are frames at 44.1 kHz. WAY is how it learns what is free:
 *
 *   each-write  snd_pcm_avail() before each write, until nothing is free, and
 *               snd_pcm_delay() once: what PulseAudio's sink does
 *   one-avail   snd_pcm_avail() once for each wake-up
 *   no-ask      snd_pcm_avail_update() alone, which reads the page that the kernel
 *               shares
 *   stall       as no-ask, and once sleeps for two buffers: it must underrun
 *
 * With sync-ptr alsa-lib may not map that page and asks with SYNC_PTR instead, as
 * it does on machines whose caches are not coherent.
 *
 * The phase `play` holds SECONDS seconds of audio, from the first write to the
 * last. An underrun ends the program: a way that underruns is not cheaper.
 * `ioctl-counted` and `ioctl-plain` say what the count of the ioctls adds to one.
 */
#define _GNU_SOURCE	/* RTLD_NEXT */
#include <alsa/asoundlib.h>
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "tollgate_bench.h"

#define RATE 44100
#define CHANNELS 2
#define FRAME (CHANNELS * (int)sizeof(short))
#define MAX_FDS 4
/* A phase that ran once warmed up only. */
#define RUNS 2
#define CALLS 1000
/* Seconds after which a kernel that has just booted has timers finer than its tick. */
#define SETTLE 3
/* No descriptor: the cheapest ioctl there is. */
#define NO_FD (-1)

/* What was asked of the PCM, by the number of the request (include/uapi/sound/asound.h). */
static unsigned long asked[256];
static unsigned long wakes;

typedef int (*ioctl_call)(int fd, unsigned long request, void *argument);
static ioctl_call plain_ioctl;

/* `from` is RTLD_NEXT for the C library's, RTLD_DEFAULT for the one below. */
static ioctl_call find_ioctl(void *from)
{
	ioctl_call found;

	/* A function's address out of a void pointer, as POSIX has it. */
	*(void **)&found = dlsym(from, "ioctl");
	if (!found)
		abort();
	return found;
}

/* Stands in front of the C library's, for alsa-lib too: it counts, and hands on. */
int ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	void *argument;

	va_start(list, request);
	argument = va_arg(list, void *);
	va_end(list);
	if (_IOC_TYPE(request) == 'A')
		asked[_IOC_NR(request)]++;
	return plain_ioctl(fd, request, argument);
}

enum way { EACH_WRITE, ONE_AVAIL, NO_ASK, STALL, WAYS };
static const char *const ways[WAYS] = { "each-write", "one-avail", "no-ask", "stall" };

struct player {
	snd_pcm_t *pcm;
	enum way way;
	snd_pcm_uframes_t period, buffer, left;
	struct pollfd fds[MAX_FDS];
	unsigned int n_fds;
};

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	printf("\n");
	exit(1);
}

/* `error` as alsa-lib gives it, what was being done where it is one. */
static long good(long error, const char *what)
{
	if (error == -EPIPE)
		die("underrun in %s after %lu wake-ups", what, wakes);
	if (error < 0)
		die("%s: %s", what, snd_strerror((int)error));
	return error;
}

static void set_hw(struct player *player)
{
	snd_pcm_hw_params_t *hw;
	snd_pcm_t *pcm = player->pcm;

	snd_pcm_hw_params_alloca(&hw);
	good(snd_pcm_hw_params_any(pcm, hw), "snd_pcm_hw_params_any");
	good(snd_pcm_hw_params_set_access(pcm, hw, SND_PCM_ACCESS_MMAP_INTERLEAVED), "access");
	good(snd_pcm_hw_params_set_format(pcm, hw, SND_PCM_FORMAT_S16_LE), "format");
	good(snd_pcm_hw_params_set_channels(pcm, hw, CHANNELS), "channels");
	good(snd_pcm_hw_params_set_rate(pcm, hw, RATE, 0), "rate");
	good(snd_pcm_hw_params_set_period_size(pcm, hw, player->period, 0), "period");
	good(snd_pcm_hw_params_set_buffer_size(pcm, hw, player->buffer), "buffer");
	good(snd_pcm_hw_params(pcm, hw), "snd_pcm_hw_params");
}

static void set_sw(struct player *player)
{
	snd_pcm_sw_params_t *sw;
	snd_pcm_t *pcm = player->pcm;

	snd_pcm_sw_params_alloca(&sw);
	good(snd_pcm_sw_params_current(pcm, sw), "snd_pcm_sw_params_current");
	good(snd_pcm_sw_params_set_avail_min(pcm, sw, player->period), "avail_min");
	good(snd_pcm_sw_params(pcm, sw), "snd_pcm_sw_params");
}

static void open_pcm(struct player *player, const char *name)
{
	good(snd_pcm_open(&player->pcm, name, SND_PCM_STREAM_PLAYBACK, SND_PCM_NONBLOCK), name);
	set_hw(player);
	set_sw(player);
	player->n_fds = (unsigned int)snd_pcm_poll_descriptors(player->pcm, player->fds, MAX_FDS);
	if (!player->n_fds || player->n_fds > MAX_FDS)
		die("the device has %u descriptors to poll", player->n_fds);
}

static snd_pcm_uframes_t writable(struct player *player)
{
	bool ask = player->way == EACH_WRITE || player->way == ONE_AVAIL;
	long frames = ask ? snd_pcm_avail(player->pcm) : snd_pcm_avail_update(player->pcm);

	return (snd_pcm_uframes_t)good(frames, ask ? "snd_pcm_avail" : "snd_pcm_avail_update");
}

static void put(struct player *player, snd_pcm_uframes_t free)
{
	const snd_pcm_channel_area_t *areas;
	snd_pcm_uframes_t offset, frames;

	while (free && player->left) {
		frames = free < player->left ? free : player->left;
		good(snd_pcm_mmap_begin(player->pcm, &areas, &offset, &frames), "snd_pcm_mmap_begin");
		memset((char *)areas->addr + offset * FRAME, 0, frames * FRAME);
		frames = (snd_pcm_uframes_t)good(snd_pcm_mmap_commit(player->pcm, offset, frames),
						 "snd_pcm_mmap_commit");
		free -= frames;
		player->left -= frames;
	}
}

static void fill(struct player *player)
{
	snd_pcm_sframes_t delay;
	snd_pcm_uframes_t free = writable(player);

	do {
		put(player, free);
		free = player->way == EACH_WRITE ? writable(player) : 0;
	} while (free >= player->period && player->left);
	if (player->way == EACH_WRITE)
		good(snd_pcm_delay(player->pcm, &delay), "snd_pcm_delay");
}

static void sleep_for(snd_pcm_uframes_t frames)
{
	const struct timespec nap = { .tv_nsec = (long)(frames * 1000000000ULL / RATE) };

	nanosleep(&nap, NULL);
}

static void wait_for_period(struct player *player)
{
	unsigned short events;

	do {
		if (poll(player->fds, player->n_fds, -1) < 0)
			die("poll: %s", strerror(errno));
		wakes++;
		good(snd_pcm_poll_descriptors_revents(player->pcm, player->fds, player->n_fds,
						      &events), "revents");
	} while (!(events & (POLLOUT | POLLERR)));
	if (player->way == STALL && wakes == 10)
		sleep_for(2 * player->buffer);
}

static void play(struct player *player)
{
	fill(player);
	good(snd_pcm_start(player->pcm), "snd_pcm_start");
	while (player->left) {
		wait_for_period(player);
		fill(player);
	}
}

/* The numbers of include/uapi/sound/asound.h, whose types alsa-lib has too. */
static const struct {
	int number;
	const char *name;
} requests[] = {
	{ 0x20, "STATUS" }, { 0x21, "DELAY" }, { 0x22, "HWSYNC" },
	{ 0x23, "SYNC_PTR" }, { 0x24, "STATUS_EXT" }, { 0x42, "START" },
};
#define PCM_HWSYNC _IO('A', 0x22)

static const char *name_of(int number)
{
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++)
		if (requests[i].number == number)
			return requests[i].name;
	return NULL;
}

static void tell(void)
{
	for (int number = 0; number < (int)(sizeof(asked) / sizeof(*asked)); number++) {
		const char *name = name_of(number);

		if (name)
			printf("@tg tally ioctl-%s %lu\n", name, asked[number]);
		else if (asked[number])
			printf("@tg tally ioctl-%#x %lu\n", number, asked[number]);
	}
	printf("@tg tally wake-ups %lu\n", wakes);
}

/* The card's timer has the period's length, and so may the kernel's tick: where they
 * ended together, one interrupt would serve both in one mode and not in another. */
static void between_ticks(void)
{
	const struct timespec nap = { .tv_nsec = 4000000 };

	tollgate_wait_for_tick();
	nanosleep(&nap, NULL);
}

static void run(struct player player, const char *device, long seconds)
{
	player.left = (snd_pcm_uframes_t)seconds * RATE;
	open_pcm(&player, device);
	memset(asked, 0, sizeof(asked));
	wakes = 0;
	between_ticks();
	tollgate_begin();
	play(&player);
	tollgate_end();
	tollgate_phase("play", seconds);
	tell();
	good(snd_pcm_close(player.pcm), "snd_pcm_close");
}

static void calibrate(const char *name, ioctl_call call)
{
	tollgate_wait_for_tick();
	tollgate_begin();
	for (int i = 0; i < CALLS; i++)
		call(NO_FD, PCM_HWSYNC, NULL);
	tollgate_end();
	tollgate_phase(name, CALLS);
}

static enum way way_of(const char *word)
{
	for (int way = 0; way < WAYS; way++)
		if (!strcmp(word, ways[way]))
			return (enum way)way;
	die("no way is called %s", word);
}

int main(int argc, char **argv)
{
	bool sync_ptr = argc == 6 && !strcmp(argv[5], "sync-ptr");
	struct player player = { 0 };

	plain_ioctl = find_ioctl(RTLD_NEXT);
	if (argc != 5 && !sync_ptr)
		die("usage: client SECONDS PERIOD BUFFER WAY [sync-ptr]");
	setenv("ALSA_CONFIG_PATH", "/etc/alsa.conf", 1);
	player.period = strtoul(argv[2], NULL, 10);
	player.buffer = strtoul(argv[3], NULL, 10);
	player.way = way_of(argv[4]);
	sleep(SETTLE);
	for (int i = 0; i < RUNS; i++)
		run(player, sync_ptr ? "sync_ptr" : "mapped", atol(argv[1]));
	for (int i = 0; i < RUNS; i++) {
		calibrate("ioctl-counted", find_ioctl(RTLD_DEFAULT));
		calibrate("ioctl-plain", plain_ioctl);
	}
	return 0;
}
