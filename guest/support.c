// SPDX-License-Identifier: MIT OR Apache-2.0
/* What several benchmarks and sweeps need of the system. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "support.h"

bool allow_descriptors(long n)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return fail("getrlimit: %s", strerror(errno));
	if (limit.rlim_cur < (rlim_t)n)
		limit.rlim_cur = (rlim_t)n;
	if (limit.rlim_max < limit.rlim_cur)
		limit.rlim_max = limit.rlim_cur;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		return fail("cannot allow %ld descriptors: %s", n, strerror(errno));
	return true;
}

bool ready_descriptors(int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fds[i] = eventfd(1, EFD_NONBLOCK);
		if (fds[i] < 0)
			return fail("eventfd %zu: %s", i, strerror(errno));
	}
	return true;
}

/* The same in every boot; another one where somebody has it. */
#define PORT 29799

int udp_to_itself(struct sockaddr_in *address)
{
	socklen_t len = sizeof(*address);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memset(address, 0, sizeof(*address));
	address->sin_family = AF_INET;
	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	address->sin_port = htons(PORT);
	if (bind(fd, (struct sockaddr *)address, sizeof(*address)))
		address->sin_port = 0;
	if (fd < 0 ||
	    (!address->sin_port && bind(fd, (struct sockaddr *)address, sizeof(*address))) ||
	    getsockname(fd, (struct sockaddr *)address, &len) ||
	    connect(fd, (struct sockaddr *)address, sizeof(*address))) {
		fail("cannot make a UDP socket on 127.0.0.1: %s", strerror(errno));
		return -1;
	}
	return fd;
}

/* The loopback address of a family; port 0 is any. */
static void loopback(long family, unsigned short port, struct endpoint *at)
{
	struct sockaddr_in *four = (struct sockaddr_in *)&at->address;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&at->address;

	memset(at, 0, sizeof(*at));
	if (family == 6) {
		at->len = sizeof(*six);
		six->sin6_family = AF_INET6;
		six->sin6_addr = in6addr_loopback;
		six->sin6_port = htons(port);
	} else {
		at->len = sizeof(*four);
		four->sin_family = AF_INET;
		four->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		four->sin_port = htons(port);
	}
}

/* Whether this machine has the family at all; else skip(). */
static bool has_family(long family, int fd)
{
	bool absent = fd < 0 ? errno == EAFNOSUPPORT : errno == EADDRNOTAVAIL;

	return !absent || skip("this machine has no loopback over IPv%ld: %s", family,
			       strerror(errno));
}

static bool has_port(int fd, long family, unsigned short port, struct endpoint *at)
{
	loopback(family, port, at);
	return !bind(fd, (struct sockaddr *)&at->address, at->len);
}

/* A socket that has an address of loopback, and that address: at `port`, or at
 * another where somebody has it. */
static int bound(long family, int type, unsigned short port, struct endpoint *at)
{
	int fd = socket(family == 6 ? AF_INET6 : AF_INET, type | SOCK_CLOEXEC, 0);

	if (fd < 0 || (!has_port(fd, family, port, at) && !has_port(fd, family, 0, at)) ||
	    getsockname(fd, (struct sockaddr *)&at->address, &at->len)) {
		if (has_family(family, fd))
			fail("cannot have a socket on loopback: %s", strerror(errno));
		return -1;
	}
	return fd;
}

static bool connected(int fd, const struct endpoint *there)
{
	return !connect(fd, (const struct sockaddr *)&there->address, there->len) ||
	       fail("cannot connect over loopback: %s", strerror(errno));
}

int udp_bound(long family, long which, struct endpoint *at)
{
	return bound(family, SOCK_DGRAM, (unsigned short)(PORT + which), at);
}

bool udp_connect(long family, long which, const struct endpoint *there, int *fd)
{
	struct endpoint here;

	*fd = udp_bound(family, which, &here);
	return *fd >= 0 && connected(*fd, there);
}

int tcp_listen(long family, struct endpoint *at)
{
	int fd = bound(family, SOCK_STREAM, 0, at);

	if (fd >= 0 && listen(fd, 8)) {
		fail("cannot listen on loopback: %s", strerror(errno));
		return -1;
	}
	return fd;
}

static bool no_delay(int fd)
{
	const int on = 1;

	return !setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

bool tcp_connect(int listener, const struct endpoint *at, int *client, int *answerer)
{
	*client = socket(at->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*client < 0)
		return fail("socket: %s", strerror(errno));
	if (!connected(*client, at))
		return false;
	*answerer = accept(listener, NULL, NULL);
	if (*answerer < 0 || !no_delay(*client) || !no_delay(*answerer))
		return fail("cannot accept over loopback: %s", strerror(errno));
	return true;
}

bool tcp_pair(int *client, int *answerer)
{
	struct endpoint at;
	int listener = tcp_listen(4, &at);
	bool ok = listener >= 0 && tcp_connect(listener, &at, client, answerer);

	if (listener >= 0)
		close(listener);
	return ok;
}

pid_t zombie(void)
{
	siginfo_t info;
	pid_t pid = fork();

	if (pid == 0)
		_exit(ZOMBIE_STATUS);
	if (pid < 0 || waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT)) {
		fail("cannot make a child: %s", strerror(errno));
		return -1;
	}
	return pid;
}

static char folder[] = "/tmp/tollgate-XXXXXX";
static long folder_files;

static void file_name(char name[32], long index)
{
	snprintf(name, 32, "file-%04ld", index);
}

int folder_with_files(long n)
{
	int fd = mkdtemp(folder) ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	char name[32];

	for (folder_files = 0; fd >= 0 && folder_files < n; folder_files++) {
		file_name(name, folder_files);
		if (mknodat(fd, name, S_IFREG | 0600, 0)) {
			close(fd);
			fd = -1;
		}
	}
	if (fd < 0)
		fail("cannot make a folder with %ld files: %s", n, strerror(errno));
	return fd;
}

void folder_remove(void)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char name[32];

	for (long i = 0; fd >= 0 && i < folder_files; i++) {
		file_name(name, i);
		(void)unlinkat(fd, name, 0);
	}
	if (fd >= 0)
		close(fd);
	(void)rmdir(folder);
}

#define MAX_CARDS 8

int drm_open(void)
{
	char path[32];
	int fd = -1;

	for (int card = 0; fd < 0 && card < MAX_CARDS; card++) {
		snprintf(path, sizeof(path), "/dev/dri/card%d", card);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd >= 0 && ioctl(fd, drm_request(0, 0))) {
			close(fd);
			fd = -1;
		}
	}
	if (fd < 0)
		skip("no card /dev/dri/card0 to card%d can be opened as its master: %s",
		     MAX_CARDS - 1, strerror(errno));
	return fd;
}

unsigned long drm_request(long size, long direction)
{
	return size ? _IOC((unsigned int)direction, 'd', DRM_NOOP, (unsigned int)size)
		    : _IO('d', DRM_NO_ARGUMENT);
}
