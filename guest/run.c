// SPDX-License-Identifier: MIT OR Apache-2.0
/* Runs a job in a child process, repetition by repetition. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "tollgate_bench.h"

/* Exit status of a child that printed its own error line. */
#define CHILD_FAILED 1

/* Phases are numbered over all jobs, as the plugin numbers them, so the count
 * is shared with the children. */
static unsigned long *n_phases;

/*
 * Before a phase that is counted: nothing is left to send, and a tick has just
 * passed. A phase that is timed follows the one before at once instead, so that
 * it finds the processor awake; what it has to say is sent when the job is done.
 */
static void settle(void)
{
#if !defined(TOLLGATE_TIMED)
	out_drain();
	tollgate_wait_for_tick();
#endif
}

static void print_phase(const struct job *job, unsigned long phase, long rep)
{
	char params[PARAMS_TEXT];
	char time[32] = "";

#if defined(TOLLGATE_TIMED)
	snprintf(time, sizeof(time), " ns=%llu", tollgate_nanoseconds());
#endif
	params_text(job, params);
	out_line("@tg phase %lu %s%s ops=%ld rep=%ld%s", phase, job->name, params,
		 job->ops, rep, time);
}

static bool repeat(const struct job *job, const struct bench *bench)
{
	for (long rep = 0; rep <= job->reps; rep++) {
		unsigned long phase = (*n_phases)++;

		settle();
		if (!bench->phase(job->ops) || (bench->check && !bench->check()))
			return false;
		print_phase(job, phase, rep);
	}
	return true;
}

/* The value the plan gives, or the standard one. */
static long value_of(const struct job *job, const struct param_spec *spec)
{
	for (size_t i = 0; i < job->n_params; i++)
		if (!strcmp(job->params[i].name, spec->name))
			return job->params[i].value;
	return spec->standard;
}

static bool is_known(const struct param_spec *specs, const char *name)
{
	for (size_t i = 0; i < MAX_PARAMS && specs[i].name; i++)
		if (!strcmp(specs[i].name, name))
			return true;
	return false;
}

static bool is_taken(long value, const struct param_spec *spec)
{
	return value >= spec->min && value <= spec->max &&
	       (value - spec->min) % spec->step == 0;
}

static bool wants(const struct param_spec *spec)
{
	char step[32] = "";

	if (spec->step != 1)
		snprintf(step, sizeof(step), " in steps of %ld", spec->step);
	return fail("want %s=%ld to %ld%s", spec->name, spec->min, spec->max, step);
}

static bool find_values(const struct job *job, const struct param_spec *specs, long *values)
{
	for (size_t i = 0; i < job->n_params; i++)
		if (!is_known(specs, job->params[i].name))
			return fail("it has no parameter '%s'", job->params[i].name);
	for (size_t i = 0; i < MAX_PARAMS && specs[i].name; i++) {
		values[i] = value_of(job, &specs[i]);
		if (!is_taken(values[i], &specs[i]))
			return wants(&specs[i]);
	}
	return true;
}

static bool run_bench(const struct job *job, const struct bench *bench)
{
	long values[MAX_PARAMS];
	bool ok = find_values(job, bench->params, values);

	if (!ok)
		return false;
	ok = bench->setup(values) && repeat(job, bench);
	if (bench->teardown)
		bench->teardown();
	return ok;
}

static bool run_sweep(const struct job *job, const struct sweep *sweep)
{
	long values[MAX_PARAMS];

	if (!find_values(job, sweep->params, values) || !sweep->run(values))
		return false;
	out_line("@tg points %s %lu", sweep->name, out_points());
	return true;
}

static void __attribute__((noreturn)) child(const struct job *job, const struct bench *bench,
					    const struct sweep *sweep)
{
	bool done = bench ? run_bench(job, bench) : run_sweep(job, sweep);

	if (!done && is_skip())
		out_job_skip(job, failure());
	else if (!done)
		out_job_error(job, failure());
	out_drain();
	_exit(done || is_skip() ? 0 : CHILD_FAILED);
}

static bool wait_for(pid_t pid, const struct job *job)
{
	char sentence[128];
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno == EINTR)
			continue;
		snprintf(sentence, sizeof(sentence), "waitpid: %s", strerror(errno));
		out_job_error(job, sentence);
		return false;
	}
	if (WIFSIGNALED(status)) {
		snprintf(sentence, sizeof(sentence), "killed by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
		out_job_error(job, sentence);
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool share_phases(void)
{
	void *shared;

	if (n_phases)
		return true;
	shared = mmap(NULL, sizeof(*n_phases), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return false;
	n_phases = shared;
	return true;
}

bool next_phase(unsigned long *number)
{
	if (!share_phases())
		return false;
	*number = (*n_phases)++;
	return true;
}

bool run_job(const struct job *job)
{
	const struct bench *bench = job->kind == JOB_BENCH ? registry_bench(job->name) : NULL;
	const struct sweep *sweep = job->kind == JOB_SWEEP ? registry_sweep(job->name) : NULL;
	pid_t pid;

	if (job->kind == JOB_PROGRAM)
		return run_program(job);
	if (!bench && !sweep) {
		out_job_skip(job, job->kind == JOB_BENCH ?
			     "this guest has no benchmark of that name" :
			     "this guest has no sweep of that name");
		return true;
	}
	out_drain();
	pid = share_phases() ? fork() : -1;
	if (pid == 0)
		child(job, bench, sweep);
	if (pid < 0) {
		out_job_error(job, strerror(errno));
		return false;
	}
	return wait_for(pid, job);
}
