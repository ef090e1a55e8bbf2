// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * fpu_context: how many bytes of registers the kernel keeps for each task, by
 * component, as CPUID tells a program. What a save and a load move at most.
 */
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

static bool run(const long *values)
{
	(void)values;
	if (!fpu_known())
		return false;
	out_point("fpu_context", "bytes", (long)fpu_context_bytes(), "");
	for (size_t i = 0; i < ARRAY_SIZE(components); i++)
		out_point("fpu_context", components[i].name,
			  (long)fpu_component_bytes(components[i].bit), "");
	return true;
}

const struct sweep sweep_fpu_context = {
	.name = "fpu_context",
	.run = run,
};
