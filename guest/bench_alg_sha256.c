// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * alg_sha256: `kib` KiB hashed by the kernel with one call. It uses the FPU once
 * for each page, so a program's registers may be saved and loaded many times in
 * one system call.
 *
 * The buffer begins `offset` bytes into a page. 16 is what malloc() leaves in
 * front of what it returns, so 64 KiB touch 17 pages and take 17 sections; at 0
 * they are 16.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "alg.h"
#include "guest.h"
#include "tollgate_bench.h"

/* A call takes at most 16 pages (crypto/algif_hash.c; include/crypto/if_alg.h,
 * ALG_MAX_PAGES). */
_Static_assert(BENCH_ALG_SHA256_KIB_MOST == 64, "16 pages");
#define PAGE 4096

static int fd = -1;
static unsigned char *bytes;
static long size;
static unsigned char expected[ALG_SHA256_BYTES];

/* The hash of the same bytes in pieces of half a page: another path through the
 * kernel that must come to the same end. */
static bool hash_in_pieces(void)
{
	for (long done = 0; done < size; done += 2048) {
		int more = done + 2048 < size ? MSG_MORE : 0;

		if (tollgate_syscall6(SYS_sendto, fd, (long)(bytes + done), 2048, more, 0, 0) !=
		    2048)
			return fail("a piece of 2048 bytes was not taken");
	}
	return read(fd, expected, sizeof(expected)) == (ssize_t)sizeof(expected) ||
	       fail("no hash: %s", strerror(errno));
}

static bool setup(const long *values)
{
	size = values[BENCH_ALG_SHA256_KIB] * 1024;
	bytes = mmap(NULL, (size_t)size + PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (bytes == MAP_FAILED)
		return fail("mmap of %ld bytes: %s", size + PAGE, strerror(errno));
	bytes += values[BENCH_ALG_SHA256_OFFSET];
	for (long i = 0; i < size; i++)
		bytes[i] = (unsigned char)(i * 7 + (i >> 8));
	fd = alg_sha256();
	return fd >= 0 && hash_in_pieces();
}

static bool phase(long ops)
{
	unsigned char hash[ALG_SHA256_BYTES] = { 0 };
	long wrong = 0;

	tollgate_begin();
	for (long i = 0; i < ops; i++) {
		wrong += tollgate_syscall4(SYS_write, fd, (long)bytes, size, 0) != size;
		wrong += tollgate_syscall4(SYS_read, fd, (long)hash, sizeof(hash), 0) !=
			 (long)sizeof(hash);
	}
	tollgate_end();
	if (wrong)
		return fail("%ld calls of %ld failed", wrong, 2 * ops);
	return !memcmp(hash, expected, sizeof(hash)) ||
	       fail("the hash is not that of the same bytes in pieces");
}

const struct bench bench_alg_sha256 = {
	.name = "alg_sha256",
	.params = PARAMS_BENCH_ALG_SHA256,
	.setup = setup,
	.phase = phase,
};
