/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A softirq that uses the FPU, whenever a program wants one. */
#ifndef TOLLGATE_SOFTIRQ_H
#define TOLLGATE_SOFTIRQ_H

#include <stdbool.h>
#include <stddef.h>

/* TCP's header, and its authentication option with a hash of 12 bytes. */
#define SOFTIRQ_SEGMENT 36

/* A listening socket for which the kernel checks a hash on each segment (TCP-AO, RFC
 * 5925), and a raw socket through which a segment with another hash reaches it. The
 * check is in the softirq that receives; sending takes no FPU. */
struct softirq {
	int listener;
	int sender;
	unsigned char segment[SOFTIRQ_SEGMENT];
};

/* False after fail(). `*missing` is an errno where this kernel has no TCP-AO, and then
 * nothing is opened; else 0. */
bool softirq_open(struct softirq *softirq, int *missing);

/* How many segments the kernel has hashed and refused; -1 after fail(). */
long softirq_hashed(const struct softirq *softirq);

#endif
