/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Hashes made by the kernel, which uses the FPU for them. */
#ifndef TOLLGATE_ALG_H
#define TOLLGATE_ALG_H

#define ALG_SHA256_BYTES 32

/* A socket that hashes with SHA-256 what is written to it; -1 after skip()
 * or fail(). */
int alg_sha256(void);

#endif
