// SPDX-License-Identifier: MIT OR Apache-2.0
/* One line of the plan: `bench NAME KEY=INTEGER ... ops=N reps=R`, `sweep NAME
 * KEY=INTEGER ...`, `program NAME`, a comment or nothing. Words are separated by one space. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest.h"

#define MAX_LINE 512

/* Of `ops` and `reps`; no plan can say it, being out of their range. */
#define NOT_GIVEN LONG_MIN

struct words {
	char text[MAX_LINE];
	char *rest;		/* NULL after the last word */
};

/* NULL when no word is left; "" where two spaces meet. */
static char *next_word(struct words *words)
{
	return words->rest ? strsep(&words->rest, " ") : NULL;
}

static bool read_integer(const char *text, long *value)
{
	char *end;

	errno = 0;
	*value = strtol(text, &end, 10);
	return *text && *text != '+' && !*end && !errno && !isspace((unsigned char)*text);
}

static bool read_kind(const char *word, struct job *job)
{
	if (!strcmp(word, "bench"))
		job->kind = JOB_BENCH;
	else if (!strcmp(word, "sweep"))
		job->kind = JOB_SWEEP;
	else if (!strcmp(word, "program"))
		job->kind = JOB_PROGRAM;
	else
		return false;
	return true;
}

static bool has_param(const struct job *job, const char *name)
{
	for (size_t i = 0; i < job->n_params; i++)
		if (!strcmp(job->params[i].name, name))
			return true;
	return false;
}

static bool add_param(struct job *job, const char *name, long value)
{
	if (job->n_params == MAX_PARAMS)
		return false;
	strcpy(job->params[job->n_params].name, name);
	job->params[job->n_params++].value = value;
	return true;
}

/* `ops` and `reps` belong to every benchmark and are no parameters of it. */
static long *own_key(struct job *job, const char *name)
{
	if (!strcmp(name, "ops"))
		return &job->ops;
	return strcmp(name, "reps") ? NULL : &job->reps;
}

/* What is wrong with it, or NULL when it is stored. */
static const char *store(struct job *job, const char *name, long value)
{
	long *own = own_key(job, name);

	if (!*name || strlen(name) >= MAX_NAME)
		return "is no name";
	if (own && job->kind != JOB_BENCH)
		return "is for a bench alone";
	if ((own && *own != NOT_GIVEN) || has_param(job, name))
		return "is given twice";
	if (own)
		*own = value;
	else if (!add_param(job, name, value))
		return "is one parameter too many";
	return NULL;
}

static bool read_param(char *word, struct job *job, char *why, size_t room)
{
	char *equals = strchr(word, '=');
	const char *wrong;
	long value;

	if (!equals || !read_integer(equals + 1, &value)) {
		snprintf(why, room, "'%s' is not KEY=INTEGER", word);
		return false;
	}
	*equals = '\0';
	wrong = store(job, word, value);
	if (wrong)
		snprintf(why, room, "'%s' %s", word, wrong);
	return !wrong;
}

static bool read_params(struct words *words, struct job *job, char *why, size_t room)
{
	for (char *word = next_word(words); word; word = next_word(words))
		if (!read_param(word, job, why, room))
			return false;
	return true;
}

static bool check_counts(const struct job *job, char *why, size_t room)
{
	if (job->kind != JOB_BENCH)
		return true;
	if (job->ops >= MIN_OPS && job->ops <= MAX_OPS && job->reps >= MIN_REPS &&
	    job->reps <= MAX_REPS)
		return true;
	snprintf(why, room, "want ops= of %ld to %ld and reps= of %ld to %ld", MIN_OPS, MAX_OPS,
		 MIN_REPS, MAX_REPS);
	return false;
}

static bool read_job(struct words *words, struct job *job, char *why, size_t room)
{
	const char *kind = next_word(words);
	const char *name = next_word(words);

	if (!read_kind(kind, job)) {
		snprintf(why, room, "'%s' is none of bench, sweep, program", kind);
		return false;
	}
	if (!name || !*name || strlen(name) >= MAX_NAME) {
		snprintf(why, room, "'%s' wants a name of 1 to %d characters", kind, MAX_NAME - 1);
		return false;
	}
	strcpy(job->name, name);
	return read_params(words, job, why, room) && check_counts(job, why, room);
}

enum plan_line plan_parse(const char *line, struct job *job, char *why, size_t room)
{
	struct words words;

	if (!*line || *line == '#')
		return PLAN_NOTHING;
	if (strlen(line) >= sizeof(words.text)) {
		snprintf(why, room, "longer than %zu characters", sizeof(words.text) - 1);
		return PLAN_BAD;
	}
	memset(job, 0, sizeof(*job));
	job->ops = NOT_GIVEN;
	job->reps = NOT_GIVEN;
	strcpy(words.text, line);
	words.rest = words.text;
	return read_job(&words, job, why, room) ? PLAN_JOB : PLAN_BAD;
}
