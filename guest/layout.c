// SPDX-License-Identifier: MIT OR Apache-2.0
/* What a sweep shows of memory, said once for all points of a prefix: only this
 * program knows where the members of its ABI's structures lie. */
#include <stdarg.h>
#include <stdio.h>

#include "guest.h"

/* Shorter than the longest line, which would be cut off without a word. */
#define TEXT_MAX 1900

struct text {
	char bytes[TEXT_MAX];
	size_t used;
};

static void __attribute__((format(printf, 2, 3))) append(struct text *text, const char *format, ...)
{
	va_list args;
	int n;

	if (text->used >= TEXT_MAX)
		return;
	va_start(args, format);
	n = vsnprintf(text->bytes + text->used, TEXT_MAX - text->used, format, args);
	va_end(args);
	text->used = n < 0 ? TEXT_MAX : text->used + (size_t)n;
}

static void append_shape(struct text *text, const char *key, size_t size,
			 const struct shape *shape)
{
	append(text, " %s=%zu", key, size);
	if (!shape)
		return;
	if (shape->each)
		append(text, " each=%zu", shape->each);
	for (size_t i = 0; i < MAX_FIELDS && shape->fields[i].name; i++)
		append(text, " %s=%zu+%zu", shape->fields[i].name, shape->fields[i].offset,
		       shape->fields[i].size);
}

bool out_layout(const char *sweep, const char *prefix, const struct layout *layout)
{
	struct text text = { .used = 0 };

	append(&text, "@tg layout %s %s front=%zu behind=%zu", sweep, *prefix ? prefix : "-",
	       layout->front, layout->behind);
	append_shape(&text, "size", layout->size, layout->shape);
	if (layout->also_size)
		append_shape(&text, "also", layout->also_size, layout->also_shape);
	if (text.used >= TEXT_MAX)
		return fail("the layout of %s %s is longer than a line", sweep, prefix);
	out_line("%s", text.bytes);
	return true;
}
