// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Stands in front of the C library in a sound server (LD_PRELOAD) and counts what it
 * asks of a PCM, its wake-ups and its underruns. It changes nothing, and reads of an
 * answer only what the kernel has written anyway.
 *
 * A server that sets the stop threshold beyond the buffer is never told of an
 * underrun by an error: the PCM runs on. The kernel remembers how much was free at
 * most since it was asked last (avail_max), which is more than the buffer then.
 *
 * With LATE each wake-up of the server comes that many nanoseconds later, which is the one
 * thing that it does change: cases/sound-server-late.
 */
#define _GNU_SOURCE	/* RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include <sound/asound.h>

#include "count.h"

#ifndef LATE
#define LATE 0
#endif

static struct counts *counts;
static unsigned long buffer;

static int (*plain_ioctl)(int fd, unsigned long request, void *argument);
static int (*plain_poll)(struct pollfd *fds, nfds_t n, int timeout);
static int (*plain_ppoll)(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
			  const sigset_t *mask);
static int (*plain_epoll_wait)(int fd, struct epoll_event *events, int most, int timeout);

static void *next(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		abort();
	return found;
}

static void __attribute__((constructor)) begin(void)
{
	int fd = open(COUNT_FILE, O_RDWR | O_CLOEXEC);
	void *mapped = MAP_FAILED;

	/* Functions' addresses out of void pointers, as POSIX has it. */
	*(void **)&plain_ioctl = next("ioctl");
	*(void **)&plain_poll = next("poll");
	*(void **)&plain_ppoll = next("ppoll");
	*(void **)&plain_epoll_wait = next("epoll_wait");
	if (fd >= 0)
		mapped = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mapped == MAP_FAILED)
		abort();
	close(fd);
	counts = mapped;
}

static void look(unsigned long request, const void *argument, int result)
{
	const struct snd_pcm_hw_params *hw = argument;
	const struct snd_pcm_status *status = argument;

	if (result < 0 && errno == EPIPE)
		counts->underruns++;
	if (result < 0)
		return;
	/* The only value that is left of the range. */
	if (request == SNDRV_PCM_IOCTL_HW_PARAMS)
		buffer = hw->intervals[SNDRV_PCM_HW_PARAM_BUFFER_SIZE -
				       SNDRV_PCM_HW_PARAM_FIRST_INTERVAL].min;
	if (request == SNDRV_PCM_IOCTL_STATUS_EXT && status->state == SNDRV_PCM_STATE_RUNNING &&
	    status->avail_max > buffer)
		counts->underruns++;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	void *argument;
	int result;

	va_start(list, request);
	argument = va_arg(list, void *);
	va_end(list);
	result = plain_ioctl(fd, request, argument);
	if (_IOC_TYPE(request) == 'A') {
		counts->asked[_IOC_NR(request)]++;
		look(request, argument, result);
	}
	if (request == SNDRV_CTL_IOCTL_ELEM_READ)
		counts->volumes++;
	return result;
}

/* The TSC of the guest counts nanoseconds (-icount shift=0). */
static void be_late(void)
{
	unsigned long long until = LATE ? __rdtsc() + LATE : 0;

	while (LATE && __rdtsc() < until)
		;
}

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	int result = plain_poll(fds, n, timeout);

	counts->wakes++;
	return result;
}

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	int result = plain_ppoll(fds, n, timeout, mask);

	counts->wakes++;
	be_late();
	return result;
}

int epoll_wait(int fd, struct epoll_event *events, int most, int timeout)
{
	int result = plain_epoll_wait(fd, events, most, timeout);

	counts->wakes++;
	return result;
}
