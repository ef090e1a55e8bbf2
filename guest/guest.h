/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The guest's parts and what they say to each other. Each file has one duty:
 *
 *   init.c      becomes a system when it is process 1, reads the plan, powers off
 *   plan.c      a line of the plan -> a job
 *   run.c       a job -> a child process, its phases
 *   program.c   a program of the user's, and the phases it prints
 *   registry.c  the one table of benchmarks and sweeps
 *   output.c    the lines that the host reads
 *   faulty.c    buffers that end where user memory ends, for sweeps
 *   positions.c one call with its buffer at every position, for sweeps
 *   layout.c    what that buffer is made of, for the host's words
 *   support.c   what several benchmarks need of the system; pcm.c: of sound; rr.c: of
 *               requests and responses over a network
 *   bench_*.c   one benchmark each        sweep_*.c   one behaviour sweep each
 *
 * The lines that go in and out are docs/guest-protocol.md's.
 */
#ifndef TOLLGATE_GUEST_H
#define TOLLGATE_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parameters.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* ---- A job, as the plan gives it ---- */

#define MAX_PARAMS 8

struct param {
	char name[MAX_NAME];
	long value;
};

enum job_kind { JOB_BENCH, JOB_SWEEP, JOB_PROGRAM };

struct job {
	enum job_kind kind;
	char name[MAX_NAME];
	struct param params[MAX_PARAMS]; /* in the plan's order, without ops and reps */
	size_t n_params;
	long ops;		/* operations in a repetition; benchmarks only */
	long reps;		/* repetitions after the warm-up; benchmarks only */
};

enum plan_line { PLAN_NOTHING, PLAN_JOB, PLAN_BAD };

/* Reads one line without its newline. PLAN_BAD puts a sentence into `why`. */
enum plan_line plan_parse(const char *line, struct job *job, char *why, size_t room);

/* ---- Benchmarks and sweeps ---- */

/* A parameter that a benchmark or sweep understands: a line of parameters.h. */
struct param_spec {
	const char *name;
	long standard;		/* when the plan is silent */
	long min;
	long max;
	long step;		/* from min on */
};

/* A benchmark's functions return true, or false after fail(). `values` are in
 * the order of `params`. */
struct bench {
	const char *name;
	struct param_spec params[MAX_PARAMS];
	bool (*setup)(const long *values);
	/* One phase: the markers, and `ops` operations between them. */
	bool (*phase)(long ops);
	/* What can only be checked outside the markers; may be NULL. */
	bool (*check)(void);
	/* Removes what the benchmark left outside its process; may be NULL. */
	void (*teardown)(void);
};

struct sweep {
	const char *name;
	struct param_spec params[MAX_PARAMS];
	/* Prints its points with out_point(). */
	bool (*run)(const long *values);
};

const struct bench *registry_bench(const char *name);
const struct sweep *registry_sweep(const char *name);

/* ---- Running ---- */

/* Runs one job in a child, so that a crash is an error line and not the end of
 * process 1. Returns false if an error line was printed. */
bool run_job(const struct job *job);

/* The same for `program`. */
bool run_program(const struct job *job);

/* The number of the phase that comes next, as the plugin counts them. False when
 * there is no memory for it. */
bool next_phase(unsigned long *number);

/* ---- Output ---- */

/* " events=64", room for every parameter that a job can have. */
#define PARAMS_TEXT (MAX_PARAMS * (MAX_NAME + 24))
void params_text(const struct job *job, char text[PARAMS_TEXT]);

void out_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "bench", "sweep" or "program". */
const char *kind_name(enum job_kind kind);
/* "@tg error bench epoll_wait events=64: " and the sentence. */
void out_job_error(const struct job *job, const char *sentence);
/* "@tg skip bench sync_ptr layout=132: " and the sentence. */
void out_job_skip(const struct job *job, const char *sentence);
/* `result` as the kernel returned it: negative is an errno. */
void out_point(const char *sweep, const char *point, long result, const char *bytes);
/* The number of points printed by this process so far. */
unsigned long out_points(void);
/* Sends what is buffered and waits until the console has sent it, so that no
 * transmit interrupt falls into a phase. */
void out_drain(void);

/* Notes why the job at hand failed; run.c prints it. Returns false. */
bool fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *failure(void);
/* The same for what this machine lacks, a device or a system call: the job is
 * then a skip line and no error. Returns false. */
bool skip(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool is_skip(void);

/* ---- Buffers for sweeps ---- */

/* What lies before or after a buffer. */
enum beyond {
	BEYOND_UNMAPPED,
	BEYOND_NO_ACCESS,	/* PROT_NONE */
	BEYOND_READ_ONLY,
	BEYOND_WRITE_ONLY,	/* readable all the same where the MMU has no such page */
	BEYOND_ABSENT,		/* writable, but no page has been allocated yet */
};

/* Three pages; the middle one is readable and writable. */
struct faulty {
	unsigned char *base;
	const unsigned char *readable;		/* what may be read back: from */
	const unsigned char *readable_end;	/* up to */
};

bool faulty_make(struct faulty *faulty, enum beyond before, enum beyond after);
void faulty_free(struct faulty *faulty);
/* Fills the readable and writable page with the canary, and makes an absent
 * page absent again. */
void faulty_reset(struct faulty *faulty, enum beyond after);
/* Writes `len` bytes to `at`, as far as they lie in memory that a program may
 * read; what is not writable becomes so for that time. */
void faulty_fill(struct faulty *faulty, enum beyond before, enum beyond after,
		 unsigned char *at, const unsigned char *bytes, size_t len);
/* The address with `room` writable bytes in front of the third page. */
unsigned char *faulty_end(const struct faulty *faulty, size_t room);
/* The address with `lost` bytes of the first page in front of the second. */
unsigned char *faulty_start(const struct faulty *faulty, size_t lost);

/* `len` bytes from `at` in docs/guest-protocol.md's notation. Bytes outside
 * [readable, readable_end) are not touched. */
#define CANARY 0xa5
void bytes_text(char *text, size_t room, const unsigned char *at, size_t len,
		const unsigned char *readable, const unsigned char *readable_end);

/* ---- What a buffer is made of ---- */

/* A member of a structure. */
struct field {
	const char *name;
	size_t offset;
	size_t size;
};

#define FIELD(type, member) { #member, offsetof(type, member), sizeof(((type *)0)->member) }
/* The same where the buffer begins with the member `first`. */
#define FIELD_FROM(type, first, member) \
	{ #member, offsetof(type, member) - offsetof(type, first), sizeof(((type *)0)->member) }

#define MAX_FIELDS 40

/* A structure, or an array of it. */
struct shape {
	size_t each;		/* bytes of an element; 0: no array */
	struct field fields[MAX_FIELDS];	/* by their offsets; between them is padding */
};

/* What a sweep shows of memory. */
struct layout {
	size_t front, behind;	/* bytes around the buffer */
	size_t size;		/* of the buffer */
	const struct shape *shape;	/* NULL: bytes without names */
	size_t also_size;	/* of a second buffer, which follows; 0: there is none */
	const struct shape *also_shape;
};

/* Says it of all points whose name begins with `prefix`. */
bool out_layout(const char *sweep, const char *prefix, const struct layout *layout);

/* ---- One call, its buffer at every position ---- */

/* The longest buffer that the engine moves around. */
#define MAX_BUFFER 512

/* A call and one of the user buffers that it reads or writes. */
struct subject {
	const char *sweep;	/* as the points are called */
	const char *prefix;	/* of each point's name: "flags=3/" */
	size_t size;		/* bytes that the call may touch */
	size_t step;		/* from one position to the next; 1 is every byte */
	bool brief;		/* only where the buffer ends in unmapped or read-only memory */
	/* Puts what the call changes in the kernel back; may be NULL. */
	bool (*fresh)(void);
	/* What the buffer holds before the call, `size` bytes; NULL: the canary. */
	const unsigned char *content;
	/* Makes the call with the buffer at `address`. */
	long (*call)(uintptr_t address);
	/* Makes what is right but differs from boot to boot the same, in bytes of
	 * [from, to), which may be written; may be NULL. */
	void (*settle)(uintptr_t address, uintptr_t from, uintptr_t to);
	/* A buffer in good memory that the call also writes, shown behind the
	 * moved one; may be NULL. */
	const unsigned char *also;
	size_t also_size;
	/* What both are made of; NULL: bytes. */
	const struct shape *shape;
	const struct shape *also_shape;
	/* What a second call, into good memory, is made with: it shows what the
	 * first left in the kernel. NULL: there is none. */
	const unsigned char *again;
};

/* One whose buffer holds `content`, or the canary where it is NULL. */
struct subject subject_of(const char *sweep, const char *prefix, size_t size,
			  const void *content, long (*call)(uintptr_t address));

/* Prints the points of every position. */
bool sweep_positions(const struct subject *subject);

#endif
