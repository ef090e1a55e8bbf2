// SPDX-License-Identifier: MIT OR Apache-2.0
/* getdents64: one call reads a folder of `entries` files, and its dots, from
 * the start. An operation is an lseek and the call. */
/* struct dirent64, the kernel's record. */
#define _LARGEFILE64_SOURCE
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"
#include "support.h"
#include "tollgate_bench.h"

#define MAX_ENTRIES BENCH_GETDENTS64_ENTRIES_MOST
/* A record of a name of 9 characters is 32 bytes; "." and ".." take 24 each. */
#define RECORD 32
#define DOTS 48

static int fd = -1;
static long n_entries;
static char buffer[RECORD * MAX_ENTRIES + DOTS];

static bool setup(const long *values)
{
	n_entries = values[BENCH_GETDENTS64_ENTRIES];
	fd = folder_with_files(n_entries);
	return fd >= 0;
}

static long read_folder(void)
{
#if defined(SYS__llseek)
	loff_t result;

	tollgate_syscall6(SYS__llseek, fd, 0, 0, (long)&result, SEEK_SET, 0);
#else
	tollgate_syscall4(SYS_lseek, fd, 0, SEEK_SET, 0);
#endif
	return tollgate_syscall4(SYS_getdents64, fd, (long)buffer, sizeof(buffer), 0);
}

static bool phase(long ops)
{
	long want = n_entries * RECORD + DOTS, last = want;

	tollgate_begin();
	for (long i = 0; i < ops; i++) {
		long result = read_folder();

		if (result != want)
			last = result;
	}
	tollgate_end();
	return last == want || fail("getdents64 returned %ld bytes, wanted %ld", last, want);
}

static bool check(void)
{
	long files = 0;

	for (long at = 0; at < n_entries * RECORD + DOTS;) {
		const struct dirent64 *entry = (const struct dirent64 *)(buffer + at);

		files += !strncmp(entry->d_name, "file-", 5);
		at += entry->d_reclen;
	}
	return files == n_entries || fail("it told %ld files, wanted %ld", files, n_entries);
}

const struct bench bench_getdents64 = {
	.name = "getdents64",
	.params = PARAMS_BENCH_GETDENTS64,
	.setup = setup,
	.phase = phase,
	.check = check,
	.teardown = folder_remove,
};
