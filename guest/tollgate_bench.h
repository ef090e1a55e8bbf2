/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What a benchmark needs from the machine it is compiled for: phase markers and
 * system calls made without a C library. This is the guest's only file that
 * knows an architecture; a benchmark of your own may include it too:
 *
 *   tollgate_begin();
 *   for (long i = 0; i < ops; i++)
 *           tollgate_syscall4(SYS_epoll_wait, epfd, (long)events, n, 0);
 *   tollgate_end();
 *
 * Between the markers the counting plugin (plugin/tollgate-counts.c) counts
 * every instruction. Without the plugin they do nothing. Phases do not nest.
 */
#ifndef TOLLGATE_BENCH_H
#define TOLLGATE_BENCH_H

#if defined(__x86_64__)

/* nopl MAGIC(%rax): a 7-byte instruction that no compiler emits, needs no
 * privilege and touches no memory. The magics are docs/guest-protocol.md's. */
#define TOLLGATE_MARKER(magic) \
	__asm__ volatile(".byte 0x0f, 0x1f, 0x80\n\t.long " #magic ::: "memory")

static inline __attribute__((always_inline)) void tollgate_begin(void)
{
	TOLLGATE_MARKER(0x7467b001);
}

static inline __attribute__((always_inline)) void tollgate_end(void)
{
	TOLLGATE_MARKER(0x7467b002);
}

/* Raw system calls: the kernel's result, so a negative errno on failure. Being
 * inline, they make the instructions of a hot loop those of its source, and
 * not those of whichever C library is installed. */
static inline __attribute__((always_inline)) long tollgate_syscall0(long number)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "0"(number)
			 : "rcx", "r11", "memory");
	return result;
}

static inline __attribute__((always_inline)) long
tollgate_syscall4(long number, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall" : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
}

/* Usually free, and far enough from the end of user space that the longest
 * range a call can ask for (2 GiB) still lies in it. */
#define TOLLGATE_LOW_ADDRESS 0x100000000UL

/* The first address past user space, TASK_SIZE_MAX of a kernel with 4-level
 * page tables (arch/x86/include/asm/page_64.h), and addresses a user pointer
 * must never reach. */
#define TOLLGATE_USER_END 0x00007ffffffff000UL
#define TOLLGATE_HOSTILE_ADDRESSES \
	{ "null", 0 }, \
	{ "one", 1 }, \
	{ "page-zero-end", 0xff8 }, \
	{ "user-end", TOLLGATE_USER_END }, \
	{ "guard-page-end", 0x00007ffffffffff8UL }, \
	{ "non-canonical-low", 0x0000800000000000UL }, \
	{ "non-canonical-high", 0xffff7ffffffffff0UL }, \
	{ "sign-bit", 0x8000000000000000UL }, \
	{ "kernel-half", 0xffff800000000000UL }, \
	{ "direct-map", 0xffff888000000000UL }, \
	{ "vmalloc", 0xffffc90000000000UL }, \
	{ "kernel-text", 0xffffffff81000000UL }, \
	{ "vsyscall", 0xffffffffff600000UL }, \
	{ "minus-page", 0xfffffffffffff000UL }, \
	{ "minus-event", 0xfffffffffffffff4UL }, \
	{ "minus-one", 0xffffffffffffffffUL }

#else
#error "tollgate_bench.h: no markers and system calls for this architecture yet"
#endif

#endif
