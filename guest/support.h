/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What several benchmarks and sweeps need of the system. */
#ifndef TOLLGATE_SUPPORT_H
#define TOLLGATE_SUPPORT_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

/* Raises the limit of open descriptors to `n` where it is lower. */
bool allow_descriptors(long n);

/* `n` eventfds that stay readable. */
bool ready_descriptors(int *fds, size_t n);

/* Where a socket is: an address of either family. */
struct endpoint {
	struct sockaddr_storage address;
	socklen_t len;
};

/* `family` is 4 or 6: 127.0.0.1 or ::1. */

/* A UDP socket on 127.0.0.1 that is its own peer, and its address. -1 after
 * fail(). */
int udp_to_itself(struct sockaddr_in *address);
/* A UDP socket without a peer, and where it is. `which` chooses the port, the same in
 * every boot: how long the kernel looks for a socket depends on which ports are taken.
 * Another one where somebody has it. -1 after fail() or skip(). */
int udp_bound(long family, long which, struct endpoint *at);
/* One whose peer is there, at a port that `which` chooses. False after fail(). */
bool udp_connect(long family, long which, const struct endpoint *there, int *fd);

/* Listens on a port that it tells. -1 after fail() or skip(). */
int tcp_listen(long family, struct endpoint *at);
/* One more connection to it, without Nagle's delay: one end for the client, one
 * that answers, both in this process. False after fail(). */
bool tcp_connect(int listener, const struct endpoint *at, int *client, int *answerer);
/* Both ends of one connection over IPv4. False after fail(). */
bool tcp_pair(int *client, int *answerer);

/* A child that has ended with status 7 and is not waited for. -1 after fail(). */
pid_t zombie(void);
#define ZOMBIE_STATUS 7

/* A new folder with `n` empty files, file-0000 and on; its path is kept for
 * folder_remove(). A descriptor of it, or -1 after fail(). */
int folder_with_files(long n);
void folder_remove(void);

/* The first DRM card that this process is master of. -1 after skip(). */
int drm_open(void);
/* drm_noop's number (drivers/gpu/drm/drm_ioctl.c): DRM_IOCTL_MODE_ATTACHMODE does
 * nothing, and drm_ioctl() goes by the size and direction that the caller puts
 * into the number, so one call shows every size. */
#define DRM_NOOP 0xa8
/* DRM_IOCTL_SET_MASTER has no argument; for the master it does nothing. */
#define DRM_NO_ARGUMENT 0x1e
/* `direction` is 1 for in (_IOC_WRITE), 2 for out, 3 for both. */
unsigned long drm_request(long size, long direction);

#endif
