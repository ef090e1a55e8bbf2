// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Runs a program of the user's: `program`, with the arguments of `program.args`
 * (each ends in NUL, the program's own name first), beside the plan. What it
 * prints goes to a file until it has ended, so that the console has no part in
 * its phases; its phase lines are then numbered and handed on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

/* As a shell says it of what it cannot execute. */
#define NOT_EXECUTED 127

#define MARK "@tg "

struct phase {
	char name[MAX_NAME];
	long ops;
	long runs;
	unsigned long number;	/* of the last run */
};

/* What the program said. */
struct said {
	struct phase phases[MAX_PHASES];
	size_t n_phases;
	struct phase *latest;
	char last[128];		/* its last line that is no phase */
};

static bool read_arguments(char **arguments)
{
	FILE *file = fopen("program.args", "re");
	size_t room = 0;
	int n = 0;

	if (!file)
		return false;
	while (n < MAX_ARGUMENTS && getdelim(&arguments[n], &room, '\0', file) > 0) {
		room = 0;
		n++;
	}
	arguments[n] = NULL;
	fclose(file);
	return n > 0;
}

static void __attribute__((noreturn)) execute(FILE *output)
{
	static char *arguments[MAX_ARGUMENTS + 1];

	if (dup2(fileno(output), STDOUT_FILENO) >= 0 &&
	    dup2(fileno(output), STDERR_FILENO) >= 0 && read_arguments(arguments))
		execv("program", arguments);
	dprintf(STDERR_FILENO, "it cannot be executed: %s\n", strerror(errno));
	_exit(NOT_EXECUTED);
}

static struct phase *find_phase(struct said *said, const char *name)
{
	struct phase *phase;

	for (size_t i = 0; i < said->n_phases; i++)
		if (!strcmp(said->phases[i].name, name))
			return &said->phases[i];
	if (said->n_phases == MAX_PHASES)
		return NULL;
	phase = &said->phases[said->n_phases++];
	strcpy(phase->name, name);
	return phase;
}

/* Nothing, or ` ns=N` of a program that was compiled to be timed. */
static bool is_time(const char *text)
{
	const char *mark = " ns=";

	if (!*text)
		return true;
	if (strncmp(text, mark, strlen(mark)))
		return false;
	text += strlen(mark);
	return *text && strspn(text, "0123456789") == strlen(text);
}

/* `phase NAME ops=N` and perhaps ` ns=N` */
static bool take_phase(const struct job *job, struct said *said, const char *line)
{
	char name[MAX_NAME];
	struct phase *phase;
	unsigned long number;
	int end = 0;
	long ops;

	if (sscanf(line, "phase %31[A-Za-z0-9_.-] ops=%ld%n", name, &ops, &end) != 2 ||
	    !is_time(line + end) || ops < 1)
		return fail("it printed '" MARK "%s', wanted '" MARK "phase NAME ops=N'", line);
	phase = find_phase(said, name);
	if (!phase)
		return fail("it has more than %d phases", MAX_PHASES);
	/* The first warms up, and may be shorter: nobody counts it. */
	if (phase->runs > 1 && phase->ops != ops)
		return fail("phase %s had ops=%ld, then ops=%ld: give each its own name", name,
			    phase->ops, ops);
	if (!next_phase(&number))
		return fail("no memory for the number of its phases");
	phase->ops = ops;
	phase->number = number;
	said->latest = phase;
	out_line(MARK "phase %lu %s/%s ops=%ld rep=%ld%s", number, job->name, name, ops,
		 phase->runs++, line + end);
	return true;
}

/* `tally NAME N`: what it counted itself in the phase that it named last. */
static bool take_tally(const struct said *said, const char *line)
{
	char name[MAX_NAME];
	unsigned long long count;
	int end = 0;

	if (sscanf(line, "tally %31[A-Za-z0-9_.-] %llu%n", name, &count, &end) != 2 || line[end])
		return fail("it printed '" MARK "%s', wanted '" MARK "tally NAME N'", line);
	if (!said->latest)
		return fail("it printed '" MARK "%s' before any phase", line);
	out_line(MARK "tally %lu %s %llu", said->latest->number, name, count);
	return true;
}

static bool take_line(const struct job *job, struct said *said, const char *line)
{
	return strncmp(line, "tally ", strlen("tally ")) ? take_phase(job, said, line) :
							   take_tally(said, line);
}

static bool read_output(const struct job *job, struct said *said, FILE *output)
{
	char *line = NULL;
	size_t room = 0;
	bool ok = true;

	rewind(output);
	while (ok && getline(&line, &room, output) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, MARK, strlen(MARK)))
			ok = take_line(job, said, line + strlen(MARK));
		else if (*line)
			snprintf(said->last, sizeof(said->last), "%s", line);
	}
	free(line);
	return ok;
}

static bool check_end(int status, const struct said *said)
{
	const char *last = *said->last ? said->last : "nothing";

	if (WIFSIGNALED(status))
		return fail("killed by signal %d (%s); it said last: %s", WTERMSIG(status),
			    strsignal(WTERMSIG(status)), last);
	if (WEXITSTATUS(status))
		return fail("it ended with status %d; it said last: %s", WEXITSTATUS(status), last);
	return true;
}

static bool check_phases(const struct said *said)
{
	if (!said->n_phases)
		return fail("it printed no phase: call tollgate_phase() of tollgate_bench.h "
			    "after each tollgate_end()");
	for (size_t i = 0; i < said->n_phases; i++)
		if (said->phases[i].runs < 2)
			return fail("phase %s ran once: the first run of a phase warms up and is "
				    "not counted", said->phases[i].name);
	return true;
}

static bool run(const struct job *job, FILE *output)
{
	static struct said said;
	int status;
	pid_t pid;

	memset(&said, 0, sizeof(said));
	if (job->n_params)
		return fail("a program has no parameters");
	out_drain();
	pid = fork();
	if (pid == 0)
		execute(output);
	if (pid < 0)
		return fail("fork: %s", strerror(errno));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return fail("waitpid: %s", strerror(errno));
	return read_output(job, &said, output) && check_end(status, &said) &&
	       check_phases(&said);
}

bool run_program(const struct job *job)
{
	FILE *output = tmpfile();
	bool done = output ? run(job, output) : fail("no file for its output: %s", strerror(errno));

	if (output)
		fclose(output);
	if (!done)
		out_job_error(job, failure());
	return done;
}
