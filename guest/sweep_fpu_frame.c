// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * fpu_frame: the registers of the FPU on their way into a signal frame and back.
 * A process of its own fills its registers, catches a signal on a stack that it
 * has prepared, and looks: in the handler at the frame, after it at the registers.
 * The kernel saves and loads them straight from user memory, with page faults off,
 * and goes another way where that faults: stacks that are not present, may not be
 * written, or are so in part; frames whose pages are gone when the handler returns.
 * Handlers also edit the frame, and point to another one.
 *
 * A point's result: the sum of what was not as it should be (below), or 4096 and the
 * signal that killed the process. 0 is all as it should be.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "fpu.h"
#include "guest.h"

#if defined(__x86_64__) || defined(__i386__)

/* What was not as it should be: in the frame, and in the registers behind it. */
#define FRAME_VECTORS 1
#define FRAME_MXCSR 2
#define FRAME_PKRU 4
#define FRAME_FORM 8
#define AFTER_VECTORS 16
#define AFTER_UPPER 32
#define AFTER_X87 64
#define AFTER_MXCSR 128
#define AFTER_PKRU 256
#define NO_HANDLER 512
#define KILLED 4096

/* The layout of a frame (Intel SDM vol. 1, 13.4, arch/x86/include/uapi/asm/
 * sigcontext.h): the legacy area, what software may use of it, the header. */
#define AT_MXCSR 24
#define AT_XMM 160
#define AT_MAGIC 464
#define MAGIC 0x46505853
#define AT_BITS 512
#define AT_RESERVED 544
#define BIT_AVX 2
#define BIT_PKRU 9

/* In front of it a 32-bit program's frame has the area of FSAVE. */
#if defined(__i386__)
#define FSAVE_BYTES 112
#else
#define FSAVE_BYTES 0
#endif

#define STACK_PAGES 8
#define PAGE 4096
/* Where frames begin is a matter of 64 bytes. */
#define STEP 64

/* What the handler does with the frame. */
enum deed {
	LEAVE, EDIT_VECTORS, EDIT_MXCSR, EDIT_PKRU, BAD_MXCSR, NO_MAGIC, NO_FRAME, INITIAL_AVX,
	UNKNOWN_BIT, RESERVED, DROP_PAGES, COPY, COPY_DROPPED, COPY_ASTRAY, COPY_ODD, YIELD, DEEDS,
};

/* `strict`: what is then not as it should be is an error by itself; else it is for
 * the comparison alone. */
static const struct {
	const char *name;
	bool strict;
} deeds[DEEDS] = {
	{ "leave", true }, { "edit-vectors", true }, { "edit-mxcsr", true }, { "edit-pkru", true },
	{ "bad-mxcsr", false }, { "no-magic", false }, { "no-frame", false },
	{ "initial-avx", true }, { "unknown-bit", false }, { "reserved", false },
	{ "drop-pages", true }, { "copy", true }, { "copy-dropped", true },
	{ "copy-astray", false }, { "copy-odd", false }, { "yield", true },
};

/* What the process and this one share. */
static struct found {
	int wrong;
	bool caught;
} *found;

static unsigned char *stack;
static unsigned char *elsewhere;
static enum deed deed;
static struct fpu_image in, out;
static uint32_t pkru_before, pkru_wanted;

static unsigned char *area_of(ucontext_t *context)
{
	return (unsigned char *)(uintptr_t)context->uc_mcontext.fpregs + FSAVE_BYTES;
}

static void point_to(ucontext_t *context, unsigned char *area)
{
	context->uc_mcontext.fpregs = (void *)(area ? area - FSAVE_BYTES : NULL);
}

static uint64_t bits_of(const unsigned char *area)
{
	uint64_t bits;

	memcpy(&bits, area + AT_BITS, sizeof(bits));
	return bits;
}

static void set_bits(unsigned char *area, uint64_t bits)
{
	memcpy(area + AT_BITS, &bits, sizeof(bits));
}

/* Where in the frame the upper half of a vector is, and the protection keys. */
static unsigned char *upper_of(unsigned char *area, unsigned int vector)
{
	return area + fpu_component_offset(BIT_AVX) + 16 * vector;
}

static bool in_frame(const unsigned char *area, unsigned int vector)
{
	const unsigned char *wanted = in.vectors[vector];

	if (memcmp(area + AT_XMM + 16 * vector, wanted, 16))
		return false;
	return !fpu_has_avx() || !(bits_of(area) & 1u << BIT_AVX) ||
	       !memcmp(upper_of((unsigned char *)(uintptr_t)area, vector), wanted + 16, 16);
}

static int look_at_frame(const unsigned char *area)
{
	int wrong = 0;
	uint32_t magic, mxcsr, pkru;

	for (unsigned int i = 0; i < FPU_VECTORS; i++)
		if (!in_frame(area, i))
			wrong |= FRAME_VECTORS;
	memcpy(&mxcsr, area + AT_MXCSR, sizeof(mxcsr));
	memcpy(&magic, area + AT_MAGIC, sizeof(magic));
	wrong |= mxcsr == in.mxcsr ? 0 : FRAME_MXCSR;
	wrong |= magic == MAGIC ? 0 : FRAME_FORM;
	if (!fpu_has_keys())
		return wrong;
	memcpy(&pkru, area + fpu_component_offset(BIT_PKRU), sizeof(pkru));
	return wrong | (pkru == pkru_before ? 0 : FRAME_PKRU);
}

/* Other vectors than the program's, in the frame and in what is expected. */
static void edit_vectors(unsigned char *area)
{
	for (unsigned int i = 0; i < FPU_VECTORS; i++) {
		memset(in.vectors[i], (int)(0x60 + i), fpu_has_avx() ? 32 : 16);
		memcpy(area + AT_XMM + 16 * i, in.vectors[i], 16);
		if (fpu_has_avx())
			memcpy(upper_of(area, i), in.vectors[i] + 16, 16);
	}
}

/* The same frame at another place: across the edge of a page, with what the kernel
 * reads before it loads the rest (what software may use, behind 464 bytes, and the
 * last word) on the second page alone. So where the pages are gone the load is the
 * first to miss the first one. */
static unsigned char *copied(const unsigned char *area, size_t off)
{
	unsigned char *to = elsewhere + PAGE - 4 * STEP + off;
	size_t size = fpu_context_bytes() + sizeof(uint32_t);

	memcpy(to - FSAVE_BYTES, area - FSAVE_BYTES, size + FSAVE_BYTES);
	return to;
}

/* Takes the pages away. What is in them stays: they are shared memory. */
static void drop(unsigned char *from, size_t pages)
{
	(void)madvise(from, pages * PAGE, MADV_DONTNEED);
}

static void forget_avx(unsigned char *area)
{
	set_bits(area, bits_of(area) & ~(uint64_t)(1u << BIT_AVX));
	for (unsigned int i = 0; i < FPU_VECTORS; i++)
		memset(in.vectors[i] + 16, 0, 16);
}

static void set_word(unsigned char *at, uint32_t word)
{
	memcpy(at, &word, sizeof(word));
}

static void change(ucontext_t *context, unsigned char *area)
{
	switch (deed) {
	case EDIT_VECTORS:
		edit_vectors(area);
		break;
	case EDIT_MXCSR:
		in.mxcsr ^= 0x6000;
		set_word(area + AT_MXCSR, in.mxcsr);
		break;
	case EDIT_PKRU:
		pkru_wanted = pkru_before ^ 0xcc0;
		if (fpu_has_keys())
			set_word(area + fpu_component_offset(BIT_PKRU), pkru_wanted);
		break;
	case BAD_MXCSR:
		set_word(area + AT_MXCSR, 0xffffffff);
		break;
	case NO_MAGIC:
		set_word(area + AT_MAGIC, 0);
		break;
	case NO_FRAME:
		point_to(context, NULL);
		break;
	case INITIAL_AVX:
		forget_avx(area);
		break;
	case UNKNOWN_BIT:
		set_bits(area, bits_of(area) | 1ull << 62);
		break;
	case RESERVED:
		area[AT_RESERVED] = 1;
		break;
	case DROP_PAGES:
		drop(stack, STACK_PAGES);
		break;
	case COPY:
		point_to(context, copied(area, 0));
		break;
	case COPY_DROPPED:
		point_to(context, copied(area, 0));
		drop(elsewhere, 2);
		break;
	case COPY_ASTRAY:
		point_to(context, copied(area, 0));
		(void)munmap(elsewhere + PAGE, PAGE);
		break;
	case COPY_ODD:
		point_to(context, copied(area, 4));
		break;
	case YIELD:
		fpu_across(&(struct fpu_image){ .mxcsr = 0x1f80 }, &(struct fpu_image){ .mxcsr = 0 },
			   0, SYS_sched_yield, 0, 0, 0);
		break;
	case LEAVE:
	case DEEDS:
		break;
	}
}

static void handler(int signal, siginfo_t *info, void *context)
{
	unsigned char *area = area_of(context);

	(void)signal, (void)info;
	found->caught = true;
	found->wrong |= look_at_frame(area);
	change(context, area);
}

static int look_behind(void)
{
	int wrong = 0;

	for (unsigned int i = 0; i < FPU_VECTORS; i++) {
		if (memcmp(in.vectors[i], out.vectors[i], 16))
			wrong |= AFTER_VECTORS;
		if (memcmp(in.vectors[i] + 16, out.vectors[i] + 16, 16))
			wrong |= AFTER_UPPER;
	}
	if (memcmp(in.x87, out.x87, sizeof(in.x87)))
		wrong |= AFTER_X87;
	if (in.mxcsr != out.mxcsr)
		wrong |= AFTER_MXCSR;
	if (fpu_has_keys() && fpu_keys() != pkru_wanted)
		wrong |= AFTER_PKRU;
	return wrong | (found->caught ? 0 : NO_HANDLER);
}

/* The process: `top` is where its stack for signals ends. */
static void __attribute__((noreturn)) catch_one(unsigned char *top)
{
	const stack_t where = { .ss_sp = stack, .ss_size = (size_t)(top - stack) };
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_ONSTACK | SA_SIGINFO };

	if (sigaltstack(&where, NULL) || sigaction(SIGUSR1, &action, NULL))
		_exit(1);
	fpu_fill(&in, 77);
	/* The keys of the program, of which the first has to stay open. */
	pkru_before = pkru_wanted = 0x15554550;
	fpu_set_keys(pkru_before);
	fpu_across(&in, &out, 0, SYS_kill, getpid(), SIGUSR1, 0);
	found->wrong |= look_behind();
	_exit(0);
}

static bool point(const char *name, unsigned char *top, bool strict)
{
	int status = 0;
	pid_t pid;
	long result;

	memset(found, 0, sizeof(*found));
	pid = fork();
	if (pid == 0)
		catch_one(top);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return fail("fork: %s", strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status))
		return fail("%s: no stack for signals, or no handler", name);
	result = WIFSIGNALED(status) ? KILLED + WTERMSIG(status) : found->wrong;
	out_point("fpu_frame", name, result, "");
	return !strict || !result || fail("%s: the frame or the registers are not right (%ld)", name,
					  result);
}

/* Shared memory: pages that are taken away come back with what was in them. */
static unsigned char *pages(size_t n)
{
	void *at = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED) {
		fail("mmap: %s", strerror(errno));
		return NULL;
	}
	return at;
}

/* Two pages that are mapped each by itself: reading one must not bring the other, as it
 * does in one mapping (the kernel's fault-around). */
static unsigned char *two_pages(void)
{
	unsigned char *at = pages(2);

	if (at && mmap(at + PAGE, PAGE, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
		fail("mmap: %s", strerror(errno));
		return NULL;
	}
	return at;
}

static bool fresh(void)
{
	stack = pages(STACK_PAGES);
	elsewhere = two_pages();
	return stack && elsewhere;
}

static void release(void)
{
	(void)munmap(stack, STACK_PAGES * PAGE);
	(void)munmap(elsewhere, 2 * PAGE);
}

static bool sweep_deeds(void)
{
	bool right = true;

	for (deed = 0; deed < DEEDS; deed++) {
		char name[MAX_NAME];

		snprintf(name, sizeof(name), "handler/%s", deeds[deed].name);
		if (!fresh())
			return false;
		memset(stack, 0, STACK_PAGES * PAGE);
		right = point(name, stack + STACK_PAGES * PAGE, deeds[deed].strict) && right;
		release();
	}
	deed = LEAVE;
	return right;
}

/* What is below the middle of the stack. */
enum below { ABSENT, READ_ONLY, NO_ACCESS, GONE, BELOW };

static const char *const below_names[BELOW] = { "absent", "read-only", "no-access", "gone" };

static bool spoil(enum below below)
{
	size_t half = STACK_PAGES / 2 * PAGE;

	memset(stack + half, 0, half);
	switch (below) {
	case READ_ONLY:
		return !mprotect(stack, half, PROT_READ);
	case NO_ACCESS:
		return !mprotect(stack, half, PROT_NONE);
	case GONE:
		return !munmap(stack, half);
	case ABSENT:
	case BELOW:
		break;
	}
	return true;
}

/* The stack ends `room` bytes above its middle, so that a frame lies across. */
static bool sweep_stack(enum below below, size_t room)
{
	char name[MAX_NAME];
	bool right;

	snprintf(name, sizeof(name), "%s/room-%zu", below_names[below], room);
	if (!fresh())
		return false;
	if (!spoil(below))
		return fail("%s: %s", name, strerror(errno));
	right = point(name, stack + STACK_PAGES / 2 * PAGE + room, below == ABSENT);
	release();
	return right;
}

static bool run(const long *values)
{
	bool right;

	(void)values;
	if (!fpu_context_bytes())
		return skip("this processor has no XSAVE");
	found = (struct found *)pages(1);
	right = found && sweep_deeds();
	for (enum below below = ABSENT; found && below < BELOW; below++)
		for (size_t room = 0; room <= 2 * PAGE; room += 2 * STEP)
			right = sweep_stack(below, room) && right;
	return right;
}

#else

static bool run(const long *values)
{
	(void)values;
	return fpu_known();
}

#endif

const struct sweep sweep_fpu_frame = {
	.name = "fpu_frame",
	.run = run,
};
