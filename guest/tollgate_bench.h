/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What a benchmark needs from the machine it is compiled for: phase markers and
 * system calls made without a C library. This is the guest's only file that
 * knows an architecture; a benchmark of your own may include it too
 * (docs/own-benchmark.md):
 *
 *   tollgate_wait_for_tick();
 *   tollgate_begin();
 *   for (long i = 0; i < ops; i++)
 *           tollgate_syscall4(SYS_epoll_wait, epfd, (long)events, n, 0);
 *   tollgate_end();
 *   tollgate_phase("wait", ops);
 *
 * Between the markers the counting plugin (plugin/tollgate-counts.c) counts
 * every instruction. Without the plugin they do nothing. Phases do not nest.
 *
 * Compiled with -DTOLLGATE_TIMED the clock is read outside the markers, before
 * the first and after the second, and each phase says how long it took, for
 * `tollgate run`. Without it nothing here knows of a clock.
 */
#ifndef TOLLGATE_BENCH_H
#define TOLLGATE_BENCH_H

#include <stdio.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)

/* nopl MAGIC(%rax), or (%eax) in 32-bit code: the same 7 bytes, which no
 * compiler emits, which need no privilege and touch no memory. The magics are
 * docs/guest-protocol.md's. */
#define TOLLGATE_MARKER(magic) \
	__asm__ volatile(".byte 0x0f, 0x1f, 0x80\n\t.long 0x7467" #magic ::: "memory")

#elif defined(__aarch64__)

/* movz xzr, #0xb001, lsl #48: a number that is thrown away. */
#define TOLLGATE_MARKER(magic) \
	__asm__ volatile("movz xzr, #0x" #magic ", lsl #48" ::: "memory")

#elif defined(__powerpc64__)

/* tdi 0,r23,0xb001: a trap under no condition at all. */
#define TOLLGATE_MARKER(magic) \
	__asm__ volatile(".long 0x08170000 + 0x" #magic ::: "memory")

#elif defined(__powerpc__)

/* twi 0,r23,0xb001: the same of 32 bits. */
#define TOLLGATE_MARKER(magic) \
	__asm__ volatile(".long 0x0c170000 + 0x" #magic ::: "memory")

#elif defined(__riscv)

/* lui zero,0xb001: a number that is thrown away. */
#define TOLLGATE_MARKER(magic) \
	__asm__ volatile(".4byte (0x" #magic " << 12) + 0x37" ::: "memory")

#else
#error "tollgate_bench.h: no markers for this architecture yet"
#endif

#if defined(TOLLGATE_TIMED)

/* When the last phase began and when it ended. Weak, so that all files of a
 * program share the two. RAW: no daemon that sets the clock bends it. */
__attribute__((weak)) struct timespec tollgate_began, tollgate_ended;
#define TOLLGATE_STAMP(when) ((void)clock_gettime(CLOCK_MONOTONIC_RAW, &(when)))

/* How long the last phase took, in nanoseconds. */
static inline unsigned long long tollgate_nanoseconds(void)
{
	const long long second = 1000000000;
	long long seconds = tollgate_ended.tv_sec - tollgate_began.tv_sec;

	return (unsigned long long)(seconds * second + tollgate_ended.tv_nsec -
				    tollgate_began.tv_nsec);
}

#else

#define TOLLGATE_STAMP(when) ((void)0)

#endif

static inline __attribute__((always_inline)) void tollgate_begin(void)
{
	TOLLGATE_STAMP(tollgate_began);
	TOLLGATE_MARKER(b001);
}

static inline __attribute__((always_inline)) void tollgate_end(void)
{
	TOLLGATE_MARKER(b002);
	TOLLGATE_STAMP(tollgate_ended);
}

/*
 * Sleeps until the kernel's tick has just passed: the coarse clock moves with
 * it. A phase shorter than a tick (10 ms at 100 Hz, 10 million instructions
 * under -icount shift=0) then has no timer interrupt inside. Sleeping costs
 * nothing under -icount sleep=off, where idle time is skipped.
 */
static inline void tollgate_wait_for_tick(void)
{
	const struct timespec nap = { .tv_nsec = 200000 };
	struct timespec start, now;

	if (clock_gettime(CLOCK_MONOTONIC_COARSE, &start))
		return;
	do {
		nanosleep(&nap, NULL);
		if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now))
			return;
	} while (start.tv_sec == now.tv_sec && start.tv_nsec == now.tv_nsec);
}

/*
 * Says what the phase that has just ended was: a name of at most 31 letters,
 * digits, '_', '.' and '-', and the operations in it. To be called once after
 * each tollgate_end(), by one thread. Phases of one name are repetitions; the
 * first of them warms up and is not counted, and may have other operations.
 */
static inline void tollgate_phase(const char *name, long ops)
{
#if defined(TOLLGATE_TIMED)
	printf("@tg phase %s ops=%ld ns=%llu\n", name, ops, tollgate_nanoseconds());
#else
	printf("@tg phase %s ops=%ld\n", name, ops);
#endif
	fflush(stdout);
}

/* Raw system calls: the kernel's result, so a negative errno on failure. Being
 * inline, they make the instructions of a hot loop those of its source, and
 * not those of whichever C library is installed. */
#if defined(__x86_64__)

/* A register is 64 bits wide in x32 programs too, where a pointer has 32: it is
 * extended with zeros, as the kernel wants a pointer. */
typedef unsigned long long tollgate_register;
#define TOLLGATE_REGISTER(value) ((tollgate_register)(unsigned long)(value))

static inline __attribute__((always_inline)) long tollgate_syscall0(long number)
{
	tollgate_register result;

	__asm__ volatile("syscall" : "=a"(result) : "0"(TOLLGATE_REGISTER(number))
			 : "rcx", "r11", "memory");
	return (long)result;
}

static inline __attribute__((always_inline)) long
tollgate_syscall4(long number, long a, long b, long c, long d)
{
	register tollgate_register r10 __asm__("r10") = TOLLGATE_REGISTER(d);
	tollgate_register result;

	__asm__ volatile("syscall" : "=a"(result)
			 : "0"(TOLLGATE_REGISTER(number)), "D"(TOLLGATE_REGISTER(a)),
			   "S"(TOLLGATE_REGISTER(b)), "d"(TOLLGATE_REGISTER(c)), "r"(r10)
			 : "rcx", "r11", "memory");
	return (long)result;
}

static inline __attribute__((always_inline)) long
tollgate_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	register tollgate_register r10 __asm__("r10") = TOLLGATE_REGISTER(d);
	register tollgate_register r8 __asm__("r8") = TOLLGATE_REGISTER(e);
	register tollgate_register r9 __asm__("r9") = TOLLGATE_REGISTER(f);
	tollgate_register result;

	__asm__ volatile("syscall" : "=a"(result)
			 : "0"(TOLLGATE_REGISTER(number)), "D"(TOLLGATE_REGISTER(a)),
			   "S"(TOLLGATE_REGISTER(b)), "d"(TOLLGATE_REGISTER(c)), "r"(r10),
			   "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return (long)result;
}

#elif defined(__i386__)

/* int $0x80 works on every processor and kernel; which of sysenter and syscall
 * does, a 32-bit program has to ask the vDSO. */
static inline __attribute__((always_inline)) long tollgate_syscall0(long number)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) : "0"(number) : "memory");
	return result;
}

static inline __attribute__((always_inline)) long
tollgate_syscall4(long number, long a, long b, long c, long d)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result)
			 : "0"(number), "b"(a), "c"(b), "d"(c), "S"(d)
			 : "memory");
	return result;
}

/* The sixth argument goes in ebp, which the compiler does not hand out. */
static inline __attribute__((always_inline)) long
tollgate_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	long result;

	__asm__ volatile("pushl %[f]\n\t"
			 "pushl %%ebp\n\t"
			 "movl 4(%%esp), %%ebp\n\t"
			 "int $0x80\n\t"
			 "popl %%ebp\n\t"
			 "addl $4, %%esp"
			 : "=a"(result)
			 : "0"(number), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e), [f] "im"(f)
			 : "memory");
	return result;
}

#elif defined(__aarch64__)

static inline __attribute__((always_inline)) long tollgate_syscall0(long number)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0");

	__asm__ volatile("svc #0" : "=r"(x0) : "r"(x8) : "memory");
	return x0;
}

static inline __attribute__((always_inline)) long
tollgate_syscall4(long number, long a, long b, long c, long d)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
}

static inline __attribute__((always_inline)) long
tollgate_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

#elif defined(__riscv)

#define TOLLGATE_ECALL(...) \
	__asm__ volatile("ecall" : "+r"(a0) : "r"(a7), ##__VA_ARGS__ : "memory")

static inline __attribute__((always_inline)) long tollgate_syscall0(long number)
{
	register long a7 __asm__("a7") = number;
	register long a0 __asm__("a0") = 0;

	TOLLGATE_ECALL();
	return a0;
}

static inline __attribute__((always_inline)) long
tollgate_syscall4(long number, long a, long b, long c, long d)
{
	register long a7 __asm__("a7") = number;
	register long a0 __asm__("a0") = a;
	register long a1 __asm__("a1") = b;
	register long a2 __asm__("a2") = c;
	register long a3 __asm__("a3") = d;

	TOLLGATE_ECALL("r"(a1), "r"(a2), "r"(a3));
	return a0;
}

static inline __attribute__((always_inline)) long
tollgate_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	register long a7 __asm__("a7") = number;
	register long a0 __asm__("a0") = a;
	register long a1 __asm__("a1") = b;
	register long a2 __asm__("a2") = c;
	register long a3 __asm__("a3") = d;
	register long a4 __asm__("a4") = e;
	register long a5 __asm__("a5") = f;

	TOLLGATE_ECALL("r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5));
	return a0;
}

#elif defined(__powerpc__)

/* sc, which every processor has; scv of POWER9 enters the kernel elsewhere. A
 * failure is a positive errno in r3 and the summary overflow bit of cr0
 * (Documentation/arch/powerpc/syscall64-abi.rst, which also lists what a call
 * may change). */
#define TOLLGATE_SC "sc\n\tbns+ 1f\n\tneg 3,3\n1:"
#define TOLLGATE_SC_CLOBBERS \
	"r9", "r10", "r11", "r12", "cr0", "cr1", "cr5", "cr6", "cr7", "ctr", "xer", "memory"

static inline __attribute__((always_inline)) long
tollgate_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r0 __asm__("r0") = number;
	register long r3 __asm__("r3") = a;
	register long r4 __asm__("r4") = b;
	register long r5 __asm__("r5") = c;
	register long r6 __asm__("r6") = d;
	register long r7 __asm__("r7") = e;
	register long r8 __asm__("r8") = f;

	__asm__ volatile(TOLLGATE_SC
			 : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r7), "+r"(r8)
			 :: TOLLGATE_SC_CLOBBERS);
	return r3;
}

static inline __attribute__((always_inline)) long tollgate_syscall0(long number)
{
	return tollgate_syscall6(number, 0, 0, 0, 0, 0, 0);
}

static inline __attribute__((always_inline)) long
tollgate_syscall4(long number, long a, long b, long c, long d)
{
	return tollgate_syscall6(number, a, b, c, d, 0, 0);
}

#endif

#if defined(__LP64__)

/* Usually free, and far enough from the end of user space that the longest
 * range a call can ask for (2 GiB) still lies in it. */
#define TOLLGATE_LOW_ADDRESS 0x100000000UL

/* The first address past user space, and addresses that a user pointer must
 * never reach. */
#define TOLLGATE_NEVER_MAPPED \
	{ "null", 0 }, \
	{ "one", 1 }, \
	{ "page-zero-end", 0xff8 }, \
	{ "user-end", TOLLGATE_USER_END }
#define TOLLGATE_LAST_ADDRESSES \
	{ "minus-page", 0xfffffffffffff000UL }, \
	{ "minus-event", 0xfffffffffffffff4UL }, \
	{ "minus-one", 0xffffffffffffffffUL }

#if defined(__x86_64__)

/* TASK_SIZE_MAX of a kernel with 4-level page tables
 * (arch/x86/include/asm/page_64.h). */
#define TOLLGATE_USER_END 0x00007ffffffff000UL
#define TOLLGATE_HOSTILE_ADDRESSES \
	TOLLGATE_NEVER_MAPPED, \
	{ "guard-page-end", 0x00007ffffffffff8UL }, \
	{ "non-canonical-low", 0x0000800000000000UL }, \
	{ "non-canonical-high", 0xffff7ffffffffff0UL }, \
	{ "sign-bit", 0x8000000000000000UL }, \
	{ "kernel-half", 0xffff800000000000UL }, \
	{ "direct-map", 0xffff888000000000UL }, \
	{ "vmalloc", 0xffffc90000000000UL }, \
	{ "kernel-text", 0xffffffff81000000UL }, \
	{ "vsyscall", 0xffffffffff600000UL }, \
	TOLLGATE_LAST_ADDRESSES

#elif defined(__aarch64__)

/* TASK_SIZE_MAX of a kernel with 48-bit addresses; what lies where above it is
 * in arch/arm64/include/asm/memory.h. An address with a tag in its top byte
 * (and bit 55 clear) reaches what it would without the tag. */
#define TOLLGATE_USER_END 0x0001000000000000UL
#define TOLLGATE_HOSTILE_ADDRESSES \
	TOLLGATE_NEVER_MAPPED, \
	{ "between-halves-low", 0x0080000000000000UL }, \
	{ "between-halves-high", 0xfffefffffffffff0UL }, \
	{ "tagged-null", 0x2a00000000000000UL }, \
	{ "sign-bit", 0x8000000000000000UL }, \
	{ "kernel-half", 0xffff000000000000UL }, \
	{ "kernel-text", 0xffff800080000000UL }, \
	{ "tagged-kernel-text", 0x2aff800080000000UL }, \
	TOLLGATE_LAST_ADDRESSES

#elif defined(__riscv)

/* TASK_SIZE with three levels of page tables (arch/riscv/include/asm/pgtable.h; the
 * machine's command line asks for them). Regions of the kernel:
 * Documentation/arch/riscv/vm-layout.rst. */
#define TOLLGATE_USER_END 0x0000004000000000UL
#define TOLLGATE_HOSTILE_ADDRESSES \
	TOLLGATE_NEVER_MAPPED, \
	{ "non-canonical-low", 0x0000008000000000UL }, \
	{ "non-canonical-high", 0xffffffbffffffff0UL }, \
	{ "sign-bit", 0x8000000000000000UL }, \
	{ "kernel-half", 0xffffffc000000000UL }, \
	{ "direct-map", 0xffffffd800000000UL }, \
	{ "kernel-text", 0xffffffff80000000UL }, \
	TOLLGATE_LAST_ADDRESSES

#elif defined(__powerpc64__)

/* TASK_SIZE_USER64 of a kernel with pages of 4 KiB
 * (arch/powerpc/include/asm/task_size_64.h). The top two bits say which quadrant
 * of the address space: 0 is the user's, 3 the kernel's, and 1 and 2 are the
 * hypervisor's. Regions of the kernel: arch/powerpc/include/asm/book3s/64/radix.h. */
#define TOLLGATE_USER_END 0x0000400000000000UL
#define TOLLGATE_HOSTILE_ADDRESSES \
	TOLLGATE_NEVER_MAPPED, \
	{ "quadrant-0-end", 0x3ffffffffffffff0UL }, \
	{ "quadrant-1", 0x4000000000000000UL }, \
	{ "quadrant-2", 0x8000000000000000UL }, \
	{ "kernel-text", 0xc000000000000000UL }, \
	{ "vmalloc", 0xc008000000000000UL }, \
	TOLLGATE_LAST_ADDRESSES

#endif

#else

/* Usually free, above a static program's text and heap. */
#define TOLLGATE_LOW_ADDRESS 0x60000000UL

#define TOLLGATE_NEVER_MAPPED \
	{ "null", 0 }, \
	{ "one", 1 }, \
	{ "page-zero-end", 0xff8 }, \
	{ "user-end", TOLLGATE_USER_END }
#define TOLLGATE_LAST_ADDRESSES \
	{ "minus-page", 0xfffff000UL }, \
	{ "minus-event", 0xfffffff4UL }, \
	{ "minus-one", 0xffffffffUL }

#if defined(__powerpc__) || TOLLGATE_KERNEL_BITS + 0 == 32

/* PAGE_OFFSET of a 32-bit kernel, with its text and data behind it: three gigabytes are
 * the user's on x86 (VMSPLIT_3G) and, where the kernel maps no memory to execute below
 * it, on powerpc (TASK_SIZE of arch/powerpc/Kconfig). */
#define TOLLGATE_USER_END 0xc0000000UL
#define TOLLGATE_HOSTILE_ADDRESSES \
	TOLLGATE_NEVER_MAPPED, \
	{ "sign-bit", 0x80000000UL }, \
	{ "user-last-page", 0xbffff000UL }, \
	{ "kernel-text", 0xc1000000UL }, \
	{ "vmalloc", 0xf0000000UL }, \
	TOLLGATE_LAST_ADDRESSES

#else

/* IA32_PAGE_OFFSET of a 64-bit kernel (arch/x86/include/asm/page_64_types.h),
 * where the stack of a program with 32-bit addresses ends. */
#define TOLLGATE_USER_END 0xffffe000UL
#define TOLLGATE_HOSTILE_ADDRESSES \
	TOLLGATE_NEVER_MAPPED, \
	TOLLGATE_LAST_ADDRESSES

#endif

#endif

#endif
