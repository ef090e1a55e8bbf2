/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The registers of the FPU, as a program sees them. */
#ifndef TOLLGATE_FPU_H
#define TOLLGATE_FPU_H

#include <stdbool.h>
#include <stdint.h>

/* Whether this is a program for x86, whose registers these functions know;
 * false after skip(). Elsewhere none of the others does anything. */
bool fpu_known(void);

/* Whether the processor and the kernel let a program use AVX. */
bool fpu_has_avx(void);

/* Puts something into the upper halves of the AVX registers, so that they are
 * no longer in their initial state; false after fail() or skip(). */
bool fpu_use_avx(void);

/* Bytes that XSAVE writes for all that the kernel has enabled (CPUID leaf 0xd,
 * subleaf 0, EBX); 0 without XSAVE. */
uint32_t fpu_context_bytes(void);

/* The bytes of one component (CPUID leaf 0xd, subleaf `bit`, EAX); 0 where the
 * processor has none. */
uint32_t fpu_component_bytes(unsigned int bit);

/* Where a component lies in an XSAVE area of the standard format (the same subleaf,
 * EBX). */
uint32_t fpu_component_offset(unsigned int bit);

/* Whether the processor and the kernel have protection keys for programs. */
bool fpu_has_keys(void);
/* The register of protection keys: two bits a key, no access and no writing. Without
 * keys 0, and nothing is set. */
uint32_t fpu_keys(void);
void fpu_set_keys(uint32_t keys);

/* Whether the registers are as a new program finds them, as far as the C library has
 * left them alone. */
bool fpu_is_initial(void);
/* The guest's argument by which it is started to say that, with its exit status. */
#define FPU_INITIAL "--fpu-initial"

/* The vector registers that a program of this ABI has. */
#if defined(__x86_64__)
#define FPU_VECTORS 16
#else
#define FPU_VECTORS 8
#endif

/* What is loaded into the registers, or was found in them. Of a vector the
 * upper half is used with AVX only. */
struct fpu_image {
	unsigned char vectors[FPU_VECTORS][32];
	double x87[4];
	uint32_t mxcsr;
};

/* Values of which no two are alike, and none is those of another seed. */
void fpu_fill(struct fpu_image *image, unsigned int seed);

/* The first thing that differs: "ymm3", "x87 1", "mxcsr"; NULL when nothing
 * does. */
const char *fpu_difference(const struct fpu_image *a, const struct fpu_image *b);

/* Loads `in`, makes the system call (none if it is negative), spins `spin`
 * times and stores the registers to `out`, without a C function in between. */
long fpu_across(const struct fpu_image *in, struct fpu_image *out, long spin,
		long call, long a, long b, long c);

#endif
