// SPDX-License-Identifier: MIT OR Apache-2.0
/* The lines that the host reads. They are gathered and written in large pieces:
 * the console is an emulated serial port. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "guest.h"

/* A piece, and the longest line. */
#define PIECE 8192
#define LONGEST 2048

static char buffer[PIECE + LONGEST];
static size_t used;
static unsigned long points;
static char why[256];
static bool skipped;

static void flush(void)
{
	size_t done = 0;

	while (done < used) {
		ssize_t n = write(STDOUT_FILENO, buffer + done, used - done);

		if (n < 0 && errno != EINTR)
			break;
		if (n > 0)
			done += (size_t)n;
	}
	used = 0;
}

void out_drain(void)
{
	flush();
	/* Fails on a pipe or a file, where there is nothing to wait for. */
	(void)tcdrain(STDOUT_FILENO);
}

/* What a broken plan holds must not steer a terminal. */
static void make_printable(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~')
			text[i] = '?';
}

void out_line(const char *format, ...)
{
	va_list args;
	size_t len;
	int n;

	va_start(args, format);
	n = vsnprintf(buffer + used, LONGEST - 1, format, args);
	va_end(args);
	if (n < 0)
		return;
	len = (size_t)n < LONGEST - 1 ? (size_t)n : LONGEST - 2;
	make_printable(buffer + used, len);
	used += len;
	buffer[used++] = '\n';
	if (used >= PIECE)
		out_drain();
}

void params_text(const struct job *job, char text[PARAMS_TEXT])
{
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < job->n_params; i++)
		at += (size_t)snprintf(text + at, PARAMS_TEXT - at, " %s=%ld",
				       job->params[i].name, job->params[i].value);
}

const char *kind_name(enum job_kind kind)
{
	static const char *const names[] = {
		[JOB_BENCH] = "bench",
		[JOB_SWEEP] = "sweep",
		[JOB_PROGRAM] = "program",
	};

	return names[kind];
}

void out_job_error(const struct job *job, const char *sentence)
{
	char params[PARAMS_TEXT];

	params_text(job, params);
	out_line("@tg error %s %s%s: %s", kind_name(job->kind),
		 job->name, params, sentence);
}

void out_job_skip(const struct job *job, const char *sentence)
{
	char params[PARAMS_TEXT];

	params_text(job, params);
	out_line("@tg skip %s %s%s%s%s", kind_name(job->kind),
		 job->name, params, *params ? ": " : " ", sentence);
}

void out_point(const char *sweep, const char *point, long result, const char *bytes)
{
	out_line("@tg point %s %s ret=%ld errno=%ld bytes=%s", sweep, point,
		 result < 0 ? -1 : result, result < 0 ? -result : 0, bytes);
	points++;
}

unsigned long out_points(void)
{
	return points;
}

bool fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	return false;
}

bool skip(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	skipped = true;
	return false;
}

bool is_skip(void)
{
	return skipped;
}

const char *failure(void)
{
	return why;
}
