// SPDX-License-Identifier: MIT OR Apache-2.0
/* A second process for benchmarks that need one to talk to. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "guest.h"
#include "peer.h"

pid_t peer_start(void (*run)(void))
{
	pid_t benchmark = getpid();
	pid_t pid = fork();

	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (pid)
		return pid;
	/* Whatever ends the benchmark ends its peer. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* It may have ended before that, and then nothing is sent. */
	if (getppid() != benchmark)
		_exit(0);
	run();
	_exit(0);
}

bool read_all(int fd, void *buffer, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = read(fd, (char *)buffer + done, size - done);

		if (n <= 0)
			return fail("read: %s", n ? strerror(errno) : "the other end is closed");
		done += (size_t)n;
	}
	return true;
}

bool write_all(int fd, const void *buffer, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = write(fd, (const char *)buffer + done, size - done);

		if (n < 0)
			return fail("write: %s", strerror(errno));
		done += (size_t)n;
	}
	return true;
}
