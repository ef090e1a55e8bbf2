/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A second process for benchmarks that need one to talk to. */
#ifndef TOLLGATE_PEER_H
#define TOLLGATE_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Starts a process that runs `run` and dies with this one. Its process id, or
 * -1 after fail(). */
pid_t peer_start(void (*run)(void));

/* read() and write() until all of it is done; false after fail(). */
bool read_all(int fd, void *buffer, size_t size);
bool write_all(int fd, const void *buffer, size_t size);

#endif
