// SPDX-License-Identifier: MIT OR Apache-2.0
/* The registers of the FPU, as a program sees them. */
#include <stdio.h>
#include <string.h>

#include "fpu.h"
#include "guest.h"

#if defined(__x86_64__) || defined(__i386__)

#include <cpuid.h>

bool fpu_known(void)
{
	return true;
}

/* CPUID leaf 1, ECX: the kernel has enabled XSAVE, and there is AVX. */
#define OSXSAVE_AND_AVX (bit_OSXSAVE | bit_AVX)
/* XCR0: the kernel keeps SSE's and AVX's registers. */
#define XCR0_SSE_AND_AVX 6
/* MXCSR's rounding mode, the bits that a program may choose freely. */
#define MXCSR_STANDARD 0x1f80
#define MXCSR_ROUNDING_SHIFT 13

#define STRING(text) #text
/* One instruction for each vector register. */
#define EACH_8(one) \
	one(0) one(1) one(2) one(3) one(4) one(5) one(6) one(7)
#define EACH_16(one) \
	EACH_8(one) one(8) one(9) one(10) one(11) one(12) one(13) one(14) one(15)

#define LOAD_AVX(n) "vmovdqu " STRING(n) "*32(%[in]), %%ymm" #n "\n\t"
#define STORE_AVX(n) "vmovdqu %%ymm" #n ", " STRING(n) "*32(%[out])\n\t"
#define LOAD_SSE(n) "movdqu " STRING(n) "*32(%[in]), %%xmm" #n "\n\t"
#define STORE_SSE(n) "movdqu %%xmm" #n ", " STRING(n) "*32(%[out])\n\t"
/* A compiler that does not use them will not have them named. */
#if defined(__SSE__)
#define CLOBBER_8 "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7"
#else
#define CLOBBER_8 "cc"
#endif
#define CLOBBER_16 CLOBBER_8, "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", \
	"xmm14", "xmm15"
#define CLOBBER_X87 "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)"

static uint32_t xcr0(void)
{
	uint32_t low, high;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return low;
}

bool fpu_has_avx(void)
{
	unsigned int eax, ebx, ecx, edx;

	return __get_cpuid(1, &eax, &ebx, &ecx, &edx) &&
	       (ecx & OSXSAVE_AND_AVX) == OSXSAVE_AND_AVX &&
	       (xcr0() & XCR0_SSE_AND_AVX) == XCR0_SSE_AND_AVX;
}

bool fpu_use_avx(void)
{
	if (!fpu_has_avx())
		return fail("this processor has no AVX");
	__asm__ volatile("vpcmpeqb %%xmm7, %%xmm7, %%xmm7\n\t"
			 "vinsertf128 $1, %%xmm7, %%ymm7, %%ymm7" ::: CLOBBER_8);
	return true;
}

uint32_t fpu_context_bytes(void)
{
	unsigned int eax, ebx, ecx, edx;

	return __get_cpuid_count(0xd, 0, &eax, &ebx, &ecx, &edx) ? ebx : 0;
}

uint32_t fpu_component_bytes(unsigned int bit)
{
	unsigned int eax, ebx, ecx, edx;

	return __get_cpuid_count(0xd, bit, &eax, &ebx, &ecx, &edx) ? eax : 0;
}

uint32_t fpu_component_offset(unsigned int bit)
{
	unsigned int eax, ebx, ecx, edx;

	return __get_cpuid_count(0xd, bit, &eax, &ebx, &ecx, &edx) ? ebx : 0;
}

/* CPUID leaf 7, ECX bit 4: OSPKE. */
bool fpu_has_keys(void)
{
	unsigned int eax, ebx, ecx, edx;

	return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && ecx & 1 << 4;
}

uint32_t fpu_keys(void)
{
	uint32_t keys = 0, edx;

	if (fpu_has_keys())
		/* RDPKRU, which compilers know with a flag only. */
		__asm__ volatile(".byte 0x0f, 0x01, 0xee" : "=a"(keys), "=d"(edx) : "c"(0));
	return keys;
}

void fpu_set_keys(uint32_t keys)
{
	if (fpu_has_keys())
		/* WRPKRU. */
		__asm__ volatile(".byte 0x0f, 0x01, 0xef" : : "a"(keys), "c"(0), "d"(0) : "memory");
}

/* The kernel's standard for new programs: only the first key is open
 * (arch/x86/mm/pkeys.c: init_pkru_value). */
#define KEYS_INITIAL 0x55555554u
/* FNSTENV's tag word when no register of the x87 is in use. */
#define X87_EMPTY 0xffff

bool fpu_is_initial(void)
{
	struct {
		uint32_t control, status, tags, more[4];
	} x87;
	uint32_t mxcsr;
	bool empty = true;

	__asm__ volatile("fnstenv %0\n\tstmxcsr %1" : "=m"(x87), "=m"(mxcsr));
#if defined(__x86_64__)
	/* The C library's own functions use the first eight. */
	struct {
		unsigned char bytes[16];
	} last;
	static const unsigned char nothing[sizeof(last)];

	__asm__ volatile("movdqu %%xmm15, %0" : "=m"(last));
	empty = !memcmp(&last, nothing, sizeof(last));
#endif
	return empty && mxcsr == MXCSR_STANDARD && (x87.tags & X87_EMPTY) == X87_EMPTY &&
	       (!fpu_has_keys() || fpu_keys() == KEYS_INITIAL);
}

void fpu_fill(struct fpu_image *image, unsigned int seed)
{
	memset(image, 0, sizeof(*image));
	for (unsigned int i = 0; i < FPU_VECTORS; i++)
		for (unsigned int j = 0; j < (fpu_has_avx() ? 32 : 16); j++)
			image->vectors[i][j] = (unsigned char)(seed * 37 + i * 5 + j);
	for (unsigned int i = 0; i < ARRAY_SIZE(image->x87); i++)
		image->x87[i] = seed * 16.0 + i + 0.5;
	image->mxcsr = MXCSR_STANDARD | (seed & 3) << MXCSR_ROUNDING_SHIFT;
}

const char *fpu_difference(const struct fpu_image *a, const struct fpu_image *b)
{
	static char name[16];

	for (unsigned int i = 0; i < FPU_VECTORS; i++) {
		snprintf(name, sizeof(name), "ymm%u", i);
		if (memcmp(a->vectors[i], b->vectors[i], sizeof(a->vectors[i])))
			return name;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(a->x87); i++) {
		snprintf(name, sizeof(name), "x87 %u", i);
		if (memcmp(&a->x87[i], &b->x87[i], sizeof(a->x87[i])))
			return name;
	}
	return a->mxcsr == b->mxcsr ? NULL : "mxcsr";
}

/* Behind the vectors: four doubles for the x87, then MXCSR. */
#define LOAD_REST(at) \
	"fldl " at "+0(%[in])\n\tfldl " at "+8(%[in])\n\t" \
	"fldl " at "+16(%[in])\n\tfldl " at "+24(%[in])\n\t" \
	"ldmxcsr " at "+32(%[in])\n\t"
#define STORE_REST(at) \
	"fstpl " at "+24(%[out])\n\tfstpl " at "+16(%[out])\n\t" \
	"fstpl " at "+8(%[out])\n\tfstpl " at "+0(%[out])\n\t" \
	"stmxcsr " at "+32(%[out])\n\t"

/* After the load: the call, unless its number is negative, and a loop that gives
 * a timer something to interrupt. */
#define CALL_AND_SPIN(call, width, counter) \
	"test %%eax, %%eax\n\tjs 1f\n\t" call "\n1:\t" \
	"2:\tsub" width " $1, " counter "\n\tjns 2b\n\t"

#if defined(__x86_64__)

#define BODY(load, store) \
	__asm__ volatile(EACH_16(load) LOAD_REST("512") \
			 CALL_AND_SPIN("syscall", "q", "%[spin]") \
			 EACH_16(store) STORE_REST("512") \
			 : "+a"(result), [spin] "+r"(count) \
			 : "D"(first), "S"(second), "d"(third), [in] "r"(from), [out] "r"(to) \
			 : "rcx", "r11", "memory", CLOBBER_16, CLOBBER_X87)
/* 64 bits wide in x32 programs, too, and a pointer is extended with zeros. */
typedef unsigned long long word;

#else

/* int $0x80 keeps ebp, esi and edi from a call of three arguments; the counter
 * waits on the stack. */
#define BODY(load, store) \
	__asm__ volatile("pushl %[spin]\n\t" EACH_8(load) LOAD_REST("256") \
			 CALL_AND_SPIN("int $0x80", "l", "(%%esp)") \
			 EACH_8(store) STORE_REST("256") "popl %%edx" \
			 : "+a"(result), "+d"(third) \
			 : "b"(first), "c"(second), [in] "D"(from), [out] "S"(to), \
			   [spin] "m"(count) \
			 : "memory", CLOBBER_8, CLOBBER_X87)
typedef unsigned long word;

#endif

#define WORD(value) ((word)(unsigned long)(value))

long fpu_across(const struct fpu_image *in, struct fpu_image *out, long spin,
		long call, long a, long b, long c)
{
	word result = WORD(call), count = WORD(spin), from = WORD(in), to = WORD(out);
	word first = WORD(a), second = WORD(b), third = WORD(c);

	memset(out, 0, sizeof(*out));
	if (fpu_has_avx())
		BODY(LOAD_AVX, STORE_AVX);
	else
		BODY(LOAD_SSE, STORE_SSE);
	/* What C code expects. */
	__asm__ volatile("ldmxcsr %0" : : "m"((uint32_t){ MXCSR_STANDARD }));
	return (long)result;
}

#else

bool fpu_known(void)
{
	return skip("it looks at registers of x86's FPU, and this is another architecture");
}

bool fpu_has_avx(void)
{
	return false;
}

bool fpu_use_avx(void)
{
	return fpu_known();
}

uint32_t fpu_context_bytes(void)
{
	return 0;
}

uint32_t fpu_component_bytes(unsigned int bit)
{
	(void)bit;
	return 0;
}

bool fpu_has_keys(void)
{
	return false;
}

uint32_t fpu_keys(void)
{
	return 0;
}

void fpu_set_keys(uint32_t keys)
{
	(void)keys;
}

bool fpu_is_initial(void)
{
	return true;
}

void fpu_fill(struct fpu_image *image, unsigned int seed)
{
	(void)seed;
	memset(image, 0, sizeof(*image));
}

const char *fpu_difference(const struct fpu_image *a, const struct fpu_image *b)
{
	(void)a, (void)b;
	return NULL;
}

long fpu_across(const struct fpu_image *in, struct fpu_image *out, long spin,
		long call, long a, long b, long c)
{
	(void)in, (void)out, (void)spin, (void)call, (void)a, (void)b, (void)c;
	return 0;
}

#endif
