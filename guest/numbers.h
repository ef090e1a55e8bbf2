/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* System calls whose numbers, structs or arguments depend on the program's width
 * or its architecture, or are younger than the C library's headers may be. */
#ifndef TOLLGATE_NUMBERS_H
#define TOLLGATE_NUMBERS_H

#include <stdint.h>
#include <sys/syscall.h>

/* 32-bit programs have a number of their own for limits above 2 GiB. */
#if defined(SYS_ugetrlimit)
#define NUMBER_GETRLIMIT SYS_ugetrlimit
#else
#define NUMBER_GETRLIMIT SYS_getrlimit
#endif

/* Calls that an architecture younger than their successors (arm64) has only as
 * those, which take a signal mask, here none. A time is zero, which a struct
 * timeval and a struct timespec show alike. 32-bit programs reach select with five arguments through its
 * newer number. */
#if defined(SYS_epoll_wait)
#define CALL_EPOLL_WAIT(epfd, events, max, timeout) \
	tollgate_syscall4(SYS_epoll_wait, epfd, events, max, timeout)
#else
#define CALL_EPOLL_WAIT(epfd, events, max, timeout) \
	tollgate_syscall6(SYS_epoll_pwait, epfd, events, max, timeout, 0, 8)
#endif

#if defined(SYS_poll)
#define CALL_POLL(fds, n, at_once) ((void)(at_once), tollgate_syscall4(SYS_poll, fds, n, 0, 0))
#else
#define CALL_POLL(fds, n, at_once) tollgate_syscall6(SYS_ppoll, fds, n, at_once, 0, 8, 0)
#endif

#if defined(SYS__newselect)
#define SELECT_FRACTION "tv_usec"
#define CALL_SELECT(n, read, write, except, timeout) \
	tollgate_syscall6(SYS__newselect, n, read, write, except, timeout, 0)
#elif defined(SYS_select)
#define SELECT_FRACTION "tv_usec"
#define CALL_SELECT(n, read, write, except, timeout) \
	tollgate_syscall6(SYS_select, n, read, write, except, timeout, 0)
#else
#define SELECT_FRACTION "tv_nsec"
#define CALL_SELECT(n, read, write, except, timeout) \
	tollgate_syscall6(SYS_pselect6, n, read, write, except, timeout, 0)
#endif

/* A copy of this process: without flags clone() is fork(). */
#if defined(SYS_fork)
#define NUMBER_FORK SYS_fork
#else
#define NUMBER_FORK SYS_clone
#endif

/* Linux 5.16; x32 adds __X32_SYSCALL_BIT. */
#if defined(SYS_futex_waitv)
#define NUMBER_FUTEX_WAITV SYS_futex_waitv
#elif defined(__x86_64__) && defined(__ILP32__)
#define NUMBER_FUTEX_WAITV (0x40000000 + 449)
#else
#define NUMBER_FUTEX_WAITV 449
#endif

/* struct futex_waitv, FUTEX_32 and FUTEX_PRIVATE_FLAG, FUTEX_WAITV_MAX of
 * include/uapi/linux/futex.h. */
struct futex_waiter {
	uint64_t val;
	uint64_t uaddr;
	uint32_t flags;
	uint32_t reserved;
};
#define FUTEX_WAITER_FLAGS (0x02 | 128)
#define FUTEX_WAITERS_MAX 128

#endif
