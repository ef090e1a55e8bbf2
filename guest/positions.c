// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * One call with its buffer at every position: ending and beginning where user
 * memory does, at the end of user space, at each alignment, and at addresses
 * that are no user memory. What moves the buffer knows nothing of the call.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "tollgate_bench.h"

/* Shown around the buffer: what lies in front of it and behind it must stay. */
#define FRONT 8
#define BEHIND 16
/* No scalar that a call moves is longer. */
#define ALIGNMENTS 16

#define TEXT_MAX 2000
#define NAME_MAX_TEXT 96

/* Where user memory is, for one position of the buffer. */
struct position {
	const char *family;
	unsigned long number;
	uintptr_t address;
	const unsigned char *readable, *readable_end;
	const unsigned char *writable, *writable_end;
};

/* How memory around the middle page is, and in which steps the buffer moves. */
struct family {
	const char *name;
	bool at_start;		/* the buffer begins in front of the middle page */
	enum beyond beyond;
	size_t coarse;		/* steps of at least so many bytes */
	bool brief;		/* also where a subject asks for few points */
};

static const struct family families[] = {
	{ "end", false, BEYOND_UNMAPPED, 1, true },
	{ "read-only", false, BEYOND_READ_ONLY, 1, true },
	{ "no-access", false, BEYOND_NO_ACCESS, 4, false },
	{ "write-only", false, BEYOND_WRITE_ONLY, 4, false },
	{ "absent", false, BEYOND_ABSENT, 4, false },
	{ "start", true, BEYOND_UNMAPPED, 4, false },
	{ "start-read-only", true, BEYOND_READ_ONLY, 1, false },
};

static size_t append_bytes(char *text, size_t used, const unsigned char *at, size_t len,
			   const unsigned char *from, const unsigned char *to)
{
	if (used && used < TEXT_MAX)
		text[used++] = ',';
	bytes_text(text + used, TEXT_MAX - used, at, len, from, to);
	return used + strlen(text + used);
}

static void print_result(const struct subject *subject, const char *name,
			 const struct position *position, long result)
{
	char text[TEXT_MAX];
	size_t used;

	if (subject->settle)
		subject->settle(position->address, (uintptr_t)position->writable,
				(uintptr_t)position->writable_end);
	used = append_bytes(text, 0, (const unsigned char *)(position->address - FRONT),
			    FRONT + subject->size + BEHIND, position->readable,
			    position->readable_end);
	if (subject->also)
		append_bytes(text, used, subject->also, subject->also_size, subject->also,
			     subject->also + subject->also_size);
	out_point(subject->sweep, name, result, text);
}

static void call_again(const struct subject *subject, const char *name)
{
	unsigned char good[FRONT + MAX_BUFFER + BEHIND];
	struct position position = {
		.address = (uintptr_t)(good + FRONT),
		.readable = good,
		.readable_end = good + sizeof(good),
		.writable = good,
		.writable_end = good + sizeof(good),
	};
	char again[NAME_MAX_TEXT + 8];

	memset(good, CANARY, sizeof(good));
	memcpy(good + FRONT, subject->again, subject->size);
	snprintf(again, sizeof(again), "%s/again", name);
	print_result(subject, again, &position, subject->call(position.address));
}

static bool try_at(const struct subject *subject, const struct position *position)
{
	char name[NAME_MAX_TEXT];

	snprintf(name, sizeof(name), "%s%s/%lu", subject->prefix, position->family,
		 position->number);
	if (subject->fresh && !subject->fresh())
		return false;
	print_result(subject, name, position, subject->call(position->address));
	if (subject->again)
		call_again(subject, name);
	return true;
}

static bool is_writable(enum beyond beyond)
{
	return beyond == BEYOND_WRITE_ONLY || beyond == BEYOND_ABSENT;
}

/* The buffer with `number` bytes in front of the third page, or in front of the
 * second one. */
static bool try_edge(const struct subject *subject, const struct family *family,
		     struct faulty *faulty, size_t number)
{
	enum beyond before = family->at_start ? family->beyond : BEYOND_UNMAPPED;
	enum beyond after = family->at_start ? BEYOND_UNMAPPED : family->beyond;
	unsigned char *at = family->at_start ? faulty_start(faulty, number)
					     : faulty_end(faulty, number);
	struct position position = {
		.family = family->name,
		.number = number,
		.address = (uintptr_t)at,
		.readable = faulty->readable,
		.readable_end = faulty->readable_end,
		.writable = faulty_start(faulty, 0),
		.writable_end = is_writable(after) ? faulty->readable_end
						   : faulty_end(faulty, 0),
	};

	faulty_reset(faulty, after);
	if (subject->content)
		faulty_fill(faulty, before, after, at, subject->content, subject->size);
	return try_at(subject, &position);
}

static bool sweep_edges(const struct subject *subject, const struct family *family)
{
	size_t step = subject->step > family->coarse ? subject->step : family->coarse;
	enum beyond before = family->at_start ? family->beyond : BEYOND_UNMAPPED;
	enum beyond after = family->at_start ? BEYOND_UNMAPPED : family->beyond;
	struct faulty faulty;
	bool ok = faulty_make(&faulty, before, after);

	for (size_t number = 0; ok && number <= subject->size; number += step)
		ok = try_edge(subject, family, &faulty, number);
	faulty_free(&faulty);
	return ok;
}

static bool sweep_alignments(const struct subject *subject)
{
	struct faulty faulty;
	bool ok = faulty_make(&faulty, BEYOND_UNMAPPED, BEYOND_UNMAPPED);

	for (size_t shift = 0; ok && shift < ALIGNMENTS; shift++) {
		unsigned char *at = faulty_start(&faulty, 0) + 2 * ALIGNMENTS + shift;
		struct position position = {
			.family = "align",
			.number = shift,
			.address = (uintptr_t)at,
			.readable = faulty.readable,
			.readable_end = faulty.readable_end,
			.writable = faulty_start(&faulty, 0),
			.writable_end = faulty_end(&faulty, 0),
		};

		faulty_reset(&faulty, BEYOND_UNMAPPED);
		if (subject->content)
			memcpy(at, subject->content, subject->size);
		ok = try_at(subject, &position);
	}
	faulty_free(&faulty);
	return ok;
}

static bool sweep_hostile(const struct subject *subject)
{
	static const struct {
		const char *name;
		unsigned long address;
	} hostile[] = { TOLLGATE_HOSTILE_ADDRESSES };
	char family[48];
	bool ok = true;

	for (size_t i = 0; ok && i < ARRAY_SIZE(hostile); i++) {
		struct position position = { .family = family, .address = hostile[i].address };

		snprintf(family, sizeof(family), "at/%s", hostile[i].name);
		ok = try_at(subject, &position);
	}
	return ok;
}

/* Maps the last page of user space, unless the stack is there already, as it
 * is when the kernel does not randomise. */
static bool map_last_page(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *last = (void *)(TOLLGATE_USER_END - page);
	void *got = mmap(last, page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (got == last || (got == MAP_FAILED && errno == EEXIST))
		return true;
	return fail("cannot map the last page of user space: %s", strerror(errno));
}

static bool try_top(const struct subject *subject, size_t room)
{
	unsigned char *end = (unsigned char *)TOLLGATE_USER_END;
	size_t len = subject->size < room ? subject->size : room;
	struct position position = {
		.family = "top",
		.number = room,
		.address = (uintptr_t)(end - room),
		.readable = end - FRONT - subject->size,
		.readable_end = end,
		.writable = end - FRONT - subject->size,
		.writable_end = end,
	};

	memset(end - FRONT - subject->size, CANARY, FRONT + subject->size);
	if (subject->content)
		memcpy(end - room, subject->content, len);
	return try_at(subject, &position);
}

/* The buffer ends at the end of user space: where a range check decides. Only
 * the few bytes that are used are overwritten, and put back, for the stack's
 * last page holds the program's own arguments. */
static bool sweep_top(const struct subject *subject)
{
	unsigned char *from = (unsigned char *)TOLLGATE_USER_END - FRONT - subject->size;
	unsigned char saved[FRONT + MAX_BUFFER];
	size_t step = subject->step > 4 ? subject->step : 4;
	bool ok = map_last_page();

	if (!ok)
		return false;
	memcpy(saved, from, FRONT + subject->size);
	for (size_t room = 0; ok && room <= subject->size; room += step)
		ok = try_top(subject, room);
	memcpy(from, saved, FRONT + subject->size);
	return ok;
}

struct subject subject_of(const char *sweep, const char *prefix, size_t size,
			  const void *content, long (*call)(uintptr_t address))
{
	return (struct subject){
		.sweep = sweep,
		.prefix = prefix,
		.size = size,
		.step = size > 64 ? 4 : 1,
		.content = content,
		.call = call,
	};
}

static bool say_layout(const struct subject *subject)
{
	struct layout layout = {
		.front = FRONT,
		.behind = BEHIND,
		.size = subject->size,
		.shape = subject->shape,
		.also_size = subject->also_size,
		.also_shape = subject->also_shape,
	};

	return out_layout(subject->sweep, subject->prefix, &layout);
}

bool sweep_positions(const struct subject *subject)
{
	bool ok = subject->size <= MAX_BUFFER ||
		  fail("a buffer of %zu bytes is longer than the sweep's %d", subject->size,
		       MAX_BUFFER);

	ok = ok && say_layout(subject);
	for (size_t i = 0; ok && i < ARRAY_SIZE(families); i++)
		if (families[i].brief || !subject->brief)
			ok = sweep_edges(subject, &families[i]);
	ok = ok && sweep_hostile(subject);
	return ok && (subject->brief || (sweep_alignments(subject) && sweep_top(subject)));
}
