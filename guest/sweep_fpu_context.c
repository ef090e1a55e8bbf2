// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * fpu_context: how many bytes of registers the kernel keeps for each task, by
 * component, as CPUID tells a program. What a save and a load move at most.
 */
#include <cpuid.h>
#include <stdio.h>

#include "fpu.h"
#include "guest.h"

/* Intel SDM vol. 1, 13.1: the bits of XCR0, and 4.10 for 17 and 18. */
static const struct {
	unsigned int bit;
	const char *name;
} components[] = {
	{ 2, "avx" }, { 3, "bndregs" }, { 4, "bndcsr" }, { 5, "opmask" }, { 6, "zmm-upper" },
	{ 7, "zmm-16-31" }, { 9, "pkru" }, { 17, "tile-config" }, { 18, "tile-data" },
};

/* Bytes of a component; 0 where the processor has none. */
static long size_of(unsigned int bit)
{
	unsigned int eax, ebx, ecx, edx;

	return __get_cpuid_count(0xd, bit, &eax, &ebx, &ecx, &edx) ? (long)eax : 0;
}

static bool run(const long *values)
{
	(void)values;
	out_point("fpu_context", "bytes", (long)fpu_context_bytes(), "");
	for (size_t i = 0; i < ARRAY_SIZE(components); i++)
		out_point("fpu_context", components[i].name, size_of(components[i].bit), "");
	return true;
}

const struct sweep sweep_fpu_context = {
	.name = "fpu_context",
	.run = run,
};
