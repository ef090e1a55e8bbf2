// SPDX-License-Identifier: MIT OR Apache-2.0
/* Buffers that end where user memory ends, and what a call left in them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "tollgate_bench.h"

/* Fewer canary bytes than this are printed as they are. */
#define SHORTEST_RUN 4

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static bool protect(unsigned char *page, enum beyond beyond)
{
	switch (beyond) {
	case BEYOND_UNMAPPED:
		return !munmap(page, page_size());
	case BEYOND_NO_ACCESS:
		return !mprotect(page, page_size(), PROT_NONE);
	case BEYOND_READ_ONLY:
		return !mprotect(page, page_size(), PROT_READ);
	case BEYOND_WRITE_ONLY:
		return !mprotect(page, page_size(), PROT_WRITE);
	case BEYOND_ABSENT:
		break;
	}
	return true;
}

static bool is_readable(enum beyond beyond)
{
	return beyond != BEYOND_UNMAPPED && beyond != BEYOND_NO_ACCESS;
}

bool faulty_make(struct faulty *faulty, enum beyond before, enum beyond after)
{
	size_t page = page_size();
	void *base = mmap((void *)TOLLGATE_LOW_ADDRESS, 3 * page, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED)
		return fail("mmap of three pages: %s", strerror(errno));
	faulty->base = base;
	memset(base, CANARY, 3 * page);
	faulty->readable = faulty->base + (is_readable(before) ? 0 : page);
	faulty->readable_end = faulty->base + (is_readable(after) ? 3 : 2) * page;
	if (!protect(faulty->base, before) || !protect(faulty->base + 2 * page, after))
		return fail("cannot protect a page: %s", strerror(errno));
	return true;
}

void faulty_free(struct faulty *faulty)
{
	(void)munmap(faulty->base, 3 * page_size());
}

void faulty_reset(struct faulty *faulty, enum beyond after)
{
	size_t page = page_size();

	memset(faulty->base + page, CANARY, page);
	if (after == BEYOND_WRITE_ONLY)
		memset(faulty->base + 2 * page, CANARY, page);
	if (after == BEYOND_ABSENT)
		(void)madvise(faulty->base + 2 * page, page, MADV_DONTNEED);
}

static void fill_page(unsigned char *page, enum beyond kind, unsigned char *at,
		      const unsigned char *bytes, size_t len)
{
	unsigned char *from = at > page ? at : page;
	unsigned char *to = at + len < page + page_size() ? at + len : page + page_size();

	if (from >= to || !is_readable(kind) || kind == BEYOND_ABSENT ||
	    mprotect(page, page_size(), PROT_READ | PROT_WRITE))
		return;
	memset(page, CANARY, page_size());
	memcpy(from, bytes + (from - at), (size_t)(to - from));
	(void)protect(page, kind);
}

void faulty_fill(struct faulty *faulty, enum beyond before, enum beyond after,
		 unsigned char *at, const unsigned char *bytes, size_t len)
{
	size_t page = page_size();
	unsigned char *middle = faulty->base + page;
	unsigned char *from = at > middle ? at : middle;
	unsigned char *to = at + len < middle + page ? at + len : middle + page;

	fill_page(faulty->base, before, at, bytes, len);
	fill_page(middle + page, after, at, bytes, len);
	if (from < to)
		memcpy(from, bytes + (from - at), (size_t)(to - from));
}

unsigned char *faulty_end(const struct faulty *faulty, size_t room)
{
	return faulty->base + 2 * page_size() - room;
}

unsigned char *faulty_start(const struct faulty *faulty, size_t lost)
{
	return faulty->base + page_size() - lost;
}

enum run { RUN_HEX, RUN_CANARY, RUN_UNREADABLE };

/* Compared as integers: `at` may point anywhere, even across address 0. */
static enum run kind_of(uintptr_t at, uintptr_t from, uintptr_t to)
{
	if (at < from || at >= to)
		return RUN_UNREADABLE;
	return *(const unsigned char *)at == CANARY ? RUN_CANARY : RUN_HEX;
}

static size_t hex_text(char *text, size_t room, const unsigned char *at, size_t len)
{
	size_t used = 0;

	for (size_t i = 0; i < len && used < room; i++)
		used += (size_t)snprintf(text + used, room - used, "%02x", at[i]);
	return used;
}

static size_t run_text(char *text, size_t room, enum run kind, uintptr_t at, size_t len)
{
	if (kind == RUN_UNREADABLE)
		return (size_t)snprintf(text, room, "--x%zu", len);
	if (kind == RUN_CANARY)
		return (size_t)snprintf(text, room, "..x%zu", len);
	return hex_text(text, room, (const unsigned char *)at, len);
}

/* The length of the run at `at`, and its kind. A canary run that is too short
 * is part of the plain bytes around it. */
static size_t run_at(uintptr_t at, size_t len, uintptr_t from, uintptr_t to, enum run *kind)
{
	size_t n = 1;

	*kind = kind_of(at, from, to);
	while (n < len && kind_of(at + n, from, to) == *kind)
		n++;
	if (*kind == RUN_CANARY && n < SHORTEST_RUN)
		*kind = RUN_HEX;
	return n;
}

void bytes_text(char *text, size_t room, const unsigned char *at, size_t len,
		const unsigned char *readable, const unsigned char *readable_end)
{
	uintptr_t from = (uintptr_t)readable, to = (uintptr_t)readable_end;
	enum run kind, last = RUN_CANARY;
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0, n; i < len && used < room; i += n) {
		n = run_at((uintptr_t)at + i, len - i, from, to, &kind);
		if (i && (kind != RUN_HEX || last != RUN_HEX))
			used += (size_t)snprintf(text + used, room - used, ",");
		if (used < room)
			used += run_text(text + used, room - used, kind, (uintptr_t)at + i, n);
		last = kind;
	}
}
