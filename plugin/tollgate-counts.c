// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * tollgate-counts: a QEMU TCG plugin that counts every instruction between two
 * markers, per instruction of the kernel, and writes docs/guest-protocol.md's
 * counts file.
 *
 *   gcc -shared -fPIC -O2 -Wall -Wextra -Werror -DTOLLGATE_PLUGIN_API=N \
 *       -o tollgate-counts.so tollgate-counts.c
 *   qemu-system-x86_64 -plugin tollgate-counts.so,out=PATH[,kernel=HEX] ...
 *
 * N is the plugin API of the QEMU that will load it; data/qemu/plugin-api.toml
 * says which. The declarations below are ours, because distributions ship QEMU
 * without its plugin header. QEMU refuses a plugin whose qemu_plugin_version is
 * outside what it supports, and qemu_plugin_install() refuses a QEMU that calls
 * what we use in another way, so a wrong N is a sentence and not a crash.
 *
 * Counting is per instruction, not per translation block: a block left in the
 * middle (a fault, an interrupt) would count instructions that never ran. The
 * counter is bumped before its instruction executes, so one that faults and is
 * restarted counts once for each attempt.
 *
 * Counts are exact when one host thread runs all vCPUs (`-icount`, or one
 * vCPU). With API 1 and several threads two increments may collide.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef TOLLGATE_PLUGIN_API
#error "define TOLLGATE_PLUGIN_API: the plugin API of the QEMU at hand, see data/qemu/plugin-api.toml"
#endif
#define NEWEST_API 7
#if TOLLGATE_PLUGIN_API < 1 || TOLLGATE_PLUGIN_API > NEWEST_API
#error "TOLLGATE_PLUGIN_API: this plugin knows the plugin APIs 1 to 7"
#endif

/* ---- What QEMU offers, by API version ---------------------------------- */

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef struct {
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
	union {
		struct {
			int smp_vcpus;
			int max_vcpus;
		} system;
	};
} qemu_info_t;

/* enum qemu_plugin_cb_flags and enum qemu_plugin_op: both start at 0. */
enum { CB_NO_REGS = 0 };
enum { INLINE_ADD_U64 = 0 };

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb,
						 size_t idx);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    void (*cb)(unsigned int vcpu, void *data),
					    int flags, void *data);

/* API 7 drops the plugin id from callbacks and hands over user data instead. */
#if TOLLGATE_PLUGIN_API >= 7
#define TRANSLATED_ARGS struct qemu_plugin_tb *tb, void *data
#define AT_EXIT_ARGS void *data
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(TRANSLATED_ARGS), void *data);
#else
#define TRANSLATED_ARGS qemu_plugin_id_t data, struct qemu_plugin_tb *tb
#define AT_EXIT_ARGS qemu_plugin_id_t id, void *data
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(TRANSLATED_ARGS));
#endif
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*cb)(AT_EXIT_ARGS),
				    void *data);

/* From API 3 on the bytes are copied out; before, QEMU lends a pointer. */
#if TOLLGATE_PLUGIN_API >= 3
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *dest,
			     size_t len);
#else
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
#endif

/* From API 2 on inline counters live in scoreboards, one row for each vCPU. */
#if TOLLGATE_PLUGIN_API >= 2
struct qemu_plugin_scoreboard;
typedef struct {
	struct qemu_plugin_scoreboard *score;
	size_t offset;
} qemu_plugin_u64;
struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t element_size);
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *insn,
							 int op, qemu_plugin_u64 entry,
							 uint64_t imm);
uint64_t qemu_plugin_u64_sum(qemu_plugin_u64 entry);
#else
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn,
						int op, void *ptr, uint64_t imm);
#endif

EXPORT int qemu_plugin_version = TOLLGATE_PLUGIN_API;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info,
			       int argc, char **argv);

/* ---- Markers ------------------------------------------------------------ */

/* The longest x86 instruction has 15 bytes, those of the others 4 or 8. */
#define MAX_INSN 16

enum marker { NO_MARKER, PHASE_BEGINS, PHASE_ENDS };

/* An instruction without effect per target; guest/tollgate_bench.h emits it. */
static const struct {
	const char *target;
	size_t len;
	uint8_t begin[MAX_INSN];
	uint8_t end[MAX_INSN];
} markers[] = {
	{ "x86_64", 7,
	  { 0x0f, 0x1f, 0x80, 0x01, 0xb0, 0x67, 0x74 },
	  { 0x0f, 0x1f, 0x80, 0x02, 0xb0, 0x67, 0x74 } },
	{ "i386", 7,
	  { 0x0f, 0x1f, 0x80, 0x01, 0xb0, 0x67, 0x74 },
	  { 0x0f, 0x1f, 0x80, 0x02, 0xb0, 0x67, 0x74 } },
	{ "aarch64", 4, { 0x3f, 0x00, 0xf6, 0xd2 }, { 0x5f, 0x00, 0xf6, 0xd2 } },
	{ "riscv64", 4, { 0x37, 0x10, 0x00, 0x0b }, { 0x37, 0x20, 0x00, 0x0b } },
	{ "ppc", 4, { 0x0c, 0x17, 0xb0, 0x01 }, { 0x0c, 0x17, 0xb0, 0x02 } },
	/* Little-endian; QEMU plays both byte orders under one name. */
	{ "ppc64", 4, { 0x01, 0xb0, 0x17, 0x08 }, { 0x02, 0xb0, 0x17, 0x08 } },
};

/* The row of `markers` for the running target. */
static size_t marker_row;

/* Whether bytes come in the order of the host and not of the guest's memory, as those of
 * a big-endian guest do in older versions of QEMU. A marker tells, and nothing is printed
 * before one has run. */
static bool reversed;

/* ---- State, all of it under `lock` -------------------------------------- */

/* One instruction. Its bytes are part of the key: the kernel patches itself
 * (alternatives, static keys), and what ran is what must be named. */
struct key {
	uint64_t address;
	uint8_t len;
	uint8_t bytes[MAX_INSN];
};

/* Counters never move once QEMU knows them, so they come in blocks. */
#define BLOCK 8192u
#define MAX_BLOCKS 4096u

/* Counter 0 is user space; counter i > 0 belongs to keys[i]. */
#define USER_COUNTER 0u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t kernel_start = UINT64_C(0xffff800000000000);
static char *out_path;
static char *tmp_path;
static FILE *out;

#if TOLLGATE_PLUGIN_API >= 2
static struct qemu_plugin_scoreboard *blocks[MAX_BLOCKS];
#else
static uint64_t *blocks[MAX_BLOCKS];
#endif

static struct key *keys;	/* [n_counters], room for `room` */
static uint64_t *before;	/* counts when the phase began, same room */
static uint32_t *order;		/* scratch of print_phase(), same room */
static uint32_t n_counters;
static uint32_t room;
static uint32_t *slots;		/* open addressing; 0 is an empty slot */
static uint32_t n_slots;	/* a power of two */

static bool in_phase;
static uint32_t n_before;	/* counters that existed when the phase began */
static unsigned int n_phases;
static bool out_of_memory;

/* ---- Errors ------------------------------------------------------------- */

static void __attribute__((format(printf, 1, 2))) error(const char *format, ...)
{
	FILE *to[2] = { stderr, out };
	const char *prefix[2] = { "tollgate-counts: ", "error " };

	for (int i = 0; i < 2; i++) {
		va_list args;

		if (!to[i])
			continue;
		fputs(prefix[i], to[i]);
		va_start(args, format);
		vfprintf(to[i], format, args);
		va_end(args);
		fputc('\n', to[i]);
	}
}

/* Says it once: the next million instructions would fail in the same way. */
static void no_memory(const char *what)
{
	if (!out_of_memory)
		error("out of memory for %s after %" PRIu32 " instructions; counts are incomplete",
		      what, n_counters);
	out_of_memory = true;
}

/* ---- Counters ----------------------------------------------------------- */

static bool grow_array(void **array, size_t element, uint32_t want)
{
	void *larger = realloc(*array, element * want);

	if (larger)
		*array = larger;
	return larger != NULL;
}

static bool grow_room(void)
{
	uint32_t want = room ? room * 2 : BLOCK;

	if (!grow_array((void **)&keys, sizeof(*keys), want) ||
	    !grow_array((void **)&before, sizeof(*before), want) ||
	    !grow_array((void **)&order, sizeof(*order), want))
		return false;
	room = want;
	return true;
}

static bool new_block(uint32_t block)
{
	if (block >= MAX_BLOCKS)
		return false;
#if TOLLGATE_PLUGIN_API >= 2
	blocks[block] = qemu_plugin_scoreboard_new(BLOCK * sizeof(uint64_t));
#else
	blocks[block] = calloc(BLOCK, sizeof(uint64_t));
#endif
	return blocks[block] != NULL;
}

static bool make_space(void)
{
	uint32_t block = n_counters / BLOCK;

	if (n_counters == room && !grow_room())
		return false;
	return n_counters % BLOCK || new_block(block);
}

#if TOLLGATE_PLUGIN_API >= 2
static qemu_plugin_u64 counter(uint32_t index)
{
	return (qemu_plugin_u64){ blocks[index / BLOCK],
				  index % BLOCK * sizeof(uint64_t) };
}

static uint64_t count_of(uint32_t index)
{
	return qemu_plugin_u64_sum(counter(index));
}

static void count_execution(struct qemu_plugin_insn *insn, uint32_t index)
{
	qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, INLINE_ADD_U64,
							    counter(index), 1);
}
#else
static uint64_t *counter(uint32_t index)
{
	return &blocks[index / BLOCK][index % BLOCK];
}

static uint64_t count_of(uint32_t index)
{
	return *counter(index);
}

static void count_execution(struct qemu_plugin_insn *insn, uint32_t index)
{
	qemu_plugin_register_vcpu_insn_exec_inline(insn, INLINE_ADD_U64,
						   counter(index), 1);
}
#endif

/* ---- From an instruction to its counter --------------------------------- */

static uint64_t hash(const struct key *key)
{
	uint64_t words[2];

	memcpy(words, key->bytes, sizeof(words));
	/* Odd 64-bit constants; the upper half holds the mixed bits. */
	return ((key->address * UINT64_C(0x9e3779b97f4a7c15)) ^
		(words[0] * UINT64_C(0xc2b2ae3d27d4eb4f)) ^
		(words[1] * UINT64_C(0x165667b19e3779f9)) ^ key->len) >> 16;
}

static bool same(const struct key *a, const struct key *b)
{
	return a->address == b->address && a->len == b->len &&
	       !memcmp(a->bytes, b->bytes, MAX_INSN);
}

/* The slot that holds `key`, or the empty one where it belongs. */
static uint32_t *slot_of(const struct key *key)
{
	uint32_t at = (uint32_t)hash(key) & (n_slots - 1);

	while (slots[at] && !same(&keys[slots[at]], key))
		at = (at + 1) & (n_slots - 1);
	return &slots[at];
}

static bool grow_slots(void)
{
	uint32_t want = n_slots ? n_slots * 2 : 4 * BLOCK;
	uint32_t *larger = calloc(want, sizeof(*larger));

	if (!larger)
		return false;
	free(slots);
	slots = larger;
	n_slots = want;
	for (uint32_t i = USER_COUNTER + 1; i < n_counters; i++)
		*slot_of(&keys[i]) = i;
	return true;
}

/* 0 when there is no memory for a new one. */
static uint32_t index_of(const struct key *key)
{
	uint32_t *slot;

	if (n_counters >= n_slots / 2 && !grow_slots())
		return 0;
	slot = slot_of(key);
	if (*slot)
		return *slot;
	if (!make_space())
		return 0;
	keys[n_counters] = *key;
	*slot = n_counters++;
	return *slot;
}

/* ---- Phases ------------------------------------------------------------- */

static int by_address_then_bytes(const void *left, const void *right)
{
	const struct key *a = &keys[*(const uint32_t *)left];
	const struct key *b = &keys[*(const uint32_t *)right];
	size_t shorter = a->len < b->len ? a->len : b->len;
	int bytes;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	bytes = memcmp(a->bytes, b->bytes, shorter);
	return bytes ? bytes : (int)a->len - (int)b->len;
}

/* What the phase added; a counter made during the phase began at 0. */
static uint64_t added(uint32_t index)
{
	return count_of(index) - (index < n_before ? before[index] : 0);
}

static void print_insn(uint32_t index)
{
	const struct key *key = &keys[index];

	fprintf(out, "k %" PRIx64 " ", key->address);
	for (uint8_t i = 0; i < key->len; i++)
		fprintf(out, "%02x", key->bytes[reversed ? key->len - 1 - i : i]);
	fprintf(out, " %" PRIu64 "\n", added(index));
}

static void print_phase(void)
{
	uint32_t n = 0;

	for (uint32_t i = USER_COUNTER + 1; i < n_counters; i++)
		if (added(i))
			order[n++] = i;
	qsort(order, n, sizeof(*order), by_address_then_bytes);
	fprintf(out, "phase %u\nuser %" PRIu64 "\n", n_phases, added(USER_COUNTER));
	for (uint32_t i = 0; i < n; i++)
		print_insn(order[i]);
	fprintf(out, "end %u\n", n_phases);
}

static void phase_begins(unsigned int vcpu, void *data)
{
	(void)vcpu, (void)data;
	pthread_mutex_lock(&lock);
	if (in_phase) {
		error("a phase begins inside phase %u; phases do not nest", n_phases);
	} else {
		in_phase = true;
		n_before = n_counters;
		for (uint32_t i = 0; i < n_counters; i++)
			before[i] = count_of(i);
	}
	pthread_mutex_unlock(&lock);
}

static void phase_ends(unsigned int vcpu, void *data)
{
	(void)vcpu, (void)data;
	pthread_mutex_lock(&lock);
	if (in_phase) {
		print_phase();
		n_phases++;
		in_phase = false;
	} else {
		error("a phase ends that never began, after %u phases", n_phases);
	}
	pthread_mutex_unlock(&lock);
}

/* ---- Translation -------------------------------------------------------- */

/* False for an instruction that is too long to be one; never seen so far. */
static bool read_key(const struct qemu_plugin_insn *insn, struct key *key)
{
	size_t len = qemu_plugin_insn_size(insn);

	memset(key, 0, sizeof(*key));
	key->address = qemu_plugin_insn_vaddr(insn);
	if (len > MAX_INSN)
		return false;
	key->len = (uint8_t)len;
#if TOLLGATE_PLUGIN_API >= 3
	return qemu_plugin_insn_data(insn, key->bytes, len) == len;
#else
	memcpy(key->bytes, qemu_plugin_insn_data(insn), len);
	return true;
#endif
}

static bool same_reversed(const uint8_t *a, const uint8_t *b, uint8_t len)
{
	for (uint8_t i = 0; i < len; i++)
		if (a[i] != b[len - 1 - i])
			return false;
	return true;
}

static enum marker marker_of(const struct key *key)
{
	const uint8_t *begin = markers[marker_row].begin, *end = markers[marker_row].end;

	if (key->len != markers[marker_row].len)
		return NO_MARKER;
	if (!memcmp(key->bytes, begin, key->len))
		return PHASE_BEGINS;
	if (!memcmp(key->bytes, end, key->len))
		return PHASE_ENDS;
	/* No marker read backwards is an instruction that a compiler emits. */
	if (same_reversed(key->bytes, begin, key->len)) {
		reversed = true;
		return PHASE_BEGINS;
	}
	return reversed && same_reversed(key->bytes, end, key->len) ? PHASE_ENDS : NO_MARKER;
}

static void instrument_user(struct qemu_plugin_insn *insn, const struct key *key)
{
	switch (marker_of(key)) {
	case PHASE_BEGINS:
		qemu_plugin_register_vcpu_insn_exec_cb(insn, phase_begins, CB_NO_REGS, NULL);
		break;
	case PHASE_ENDS:
		qemu_plugin_register_vcpu_insn_exec_cb(insn, phase_ends, CB_NO_REGS, NULL);
		break;
	case NO_MARKER:
		count_execution(insn, USER_COUNTER);
		break;
	}
}

static void instrument_kernel(struct qemu_plugin_insn *insn, const struct key *key)
{
	uint32_t index = index_of(key);

	if (index)
		count_execution(insn, index);
	else
		no_memory("counters");
}

static void translated(TRANSLATED_ARGS)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	(void)data;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		struct key key;

		if (!read_key(insn, &key))
			error("the instruction at %" PRIx64 " has no readable bytes; it is not counted",
			      key.address);
		else if (key.address >= kernel_start)
			instrument_kernel(insn, &key);
		else
			instrument_user(insn, &key);
	}
	pthread_mutex_unlock(&lock);
}

/* ---- Beginning and end -------------------------------------------------- */

/* The file gets its name only when it is whole: a QEMU that was killed leaves
 * PATH.tmp, which nobody takes for a result. */
static void finish(AT_EXIT_ARGS)
{
	bool written;

#if TOLLGATE_PLUGIN_API < 7
	(void)id;
#endif
	(void)data;
	pthread_mutex_lock(&lock);
	if (in_phase)
		error("phase %u never ended", n_phases);
	fprintf(out, "complete %u\n", n_phases);
	written = !ferror(out);
	written = !fclose(out) && written;
	out = NULL;
	if (!written)
		error("cannot write %s: %s", tmp_path, strerror(errno));
	else if (rename(tmp_path, out_path))
		error("cannot rename %s to %s: %s", tmp_path, out_path, strerror(errno));
	pthread_mutex_unlock(&lock);
}

static bool read_kernel_start(const char *text)
{
	char *end;

	errno = 0;
	kernel_start = strtoull(text, &end, 16);
	if (*text && !*end && !errno)
		return true;
	error("kernel=%s: want the lowest kernel address in hex, such as ffff800000000000", text);
	return false;
}

static bool read_argument(const char *argument)
{
	if (!strncmp(argument, "out=", 4)) {
		free(out_path);
		out_path = strdup(argument + 4);
		return out_path != NULL;
	}
	if (!strncmp(argument, "kernel=", 7))
		return read_kernel_start(argument + 7);
	error("unknown argument '%s'; there are out=PATH and kernel=HEX", argument);
	return false;
}

static bool read_arguments(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (!read_argument(argv[i]))
			return false;
	if (!out_path || !*out_path)
		error("no output file given; say out=PATH");
	return out_path && *out_path;
}

static bool find_markers(const char *target)
{
	size_t rows = sizeof(markers) / sizeof(markers[0]);

	for (marker_row = 0; marker_row < rows; marker_row++)
		if (!strcmp(markers[marker_row].target, target))
			return true;
	error("no phase markers are known for target %s", target);
	return false;
}

/* An older result must not survive a run that fails. */
static bool open_output(void)
{
	size_t len = strlen(out_path) + sizeof(".tmp");

	tmp_path = malloc(len);
	if (!tmp_path)
		return false;
	snprintf(tmp_path, len, "%s.tmp", out_path);
	if (unlink(out_path) && errno != ENOENT)
		error("cannot remove the old %s: %s", out_path, strerror(errno));
	else
		out = fopen(tmp_path, "w");
	if (!out)
		error("cannot write %s: %s", tmp_path, strerror(errno));
	return out != NULL;
}

static bool make_user_counter(void)
{
	if (!make_space() || !grow_slots()) {
		no_memory("the first counter");
		return false;
	}
	memset(&keys[USER_COUNTER], 0, sizeof(keys[USER_COUNTER]));
	n_counters = USER_COUNTER + 1;
	return true;
}

/* The oldest API that works as `api` does for the calls above. QEMU does not
 * raise its lowest version with each of these changes, so we look ourselves. */
static int same_calls(int api)
{
	return api >= 7 ? 7 : api >= 3 ? 3 : api;
}

static bool fits(int spoken)
{
	if (spoken <= NEWEST_API && same_calls(spoken) == same_calls(TOLLGATE_PLUGIN_API))
		return true;
	error("compiled for plugin API %d, but this QEMU speaks %d; compile for that one (1 to %d are known)",
	      TOLLGATE_PLUGIN_API, spoken, NEWEST_API);
	return false;
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info,
			       int argc, char **argv)
{
	if (!fits(info->version.cur))
		return -1;
	if (!info->system_emulation) {
		error("this plugin counts a whole system, not a single program");
		return -1;
	}
	if (!find_markers(info->target_name) || !read_arguments(argc, argv) ||
	    !open_output() || !make_user_counter())
		return -1;
	fprintf(out, "tollgate-counts 1\ntarget %s\nkernel %" PRIx64 "\n",
		info->target_name, kernel_start);
#if TOLLGATE_PLUGIN_API >= 7
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated, NULL);
#else
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
#endif
	qemu_plugin_register_atexit_cb(id, finish, NULL);
	return 0;
}
