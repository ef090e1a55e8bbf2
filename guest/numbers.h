/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* System calls whose numbers or structs depend on the program's width, or are
 * younger than the C library's headers may be. */
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

/* 32-bit programs reach select with five arguments through its newer number. */
#if defined(SYS__newselect)
#define NUMBER_SELECT SYS__newselect
#else
#define NUMBER_SELECT SYS_select
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
