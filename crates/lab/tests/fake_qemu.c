// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * A program that offers a plugin what QEMU offers it, for each version of the
 * plugin API, and executes made-up instructions: so that the parts of
 * plugin/tollgate-counts.c for a QEMU that is not installed run all the same.
 *
 *   fake_qemu PLUGIN.so out=PATH TARGET SCENE [NEWEST API IT SPEAKS]
 *
 * It is compiled with the same -DTOLLGATE_PLUGIN_API as the plugin. Like QEMU it
 * moves the rows of scoreboards when a vCPU comes up.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API TOLLGATE_PLUGIN_API
#define MAX_OPS 4
#define MAX_BOARDS 64
#define MAX_VCPUS 2

struct board {
	size_t size;
	char *rows;
};
struct entry {
	struct board *board;
	size_t offset;
};
struct op {
	void (*call)(unsigned int vcpu, void *data);
	void *data;
	uint64_t *plain;
	struct entry entry;
	uint64_t add;
};
struct insn {
	uint64_t address;
	uint8_t bytes[16];
	size_t len;
	struct op ops[MAX_OPS];
	size_t n_ops;
};
struct tb {
	struct insn *insn;
};

static struct board boards[MAX_BOARDS];
static size_t n_boards;
static unsigned int n_vcpus = 1;

size_t qemu_plugin_tb_n_insns(const struct tb *tb)
{
	return tb->insn ? 1 : 0;
}

struct insn *qemu_plugin_tb_get_insn(const struct tb *tb, size_t index)
{
	return index ? NULL : tb->insn;
}

size_t qemu_plugin_insn_size(const struct insn *insn)
{
	return insn->len;
}

uint64_t qemu_plugin_insn_vaddr(const struct insn *insn)
{
	return insn->address;
}

#if API >= 3
size_t qemu_plugin_insn_data(const struct insn *insn, void *to, size_t len)
{
	size_t n = len < insn->len ? len : insn->len;

	memcpy(to, insn->bytes, n);
	return n;
}
#else
const void *qemu_plugin_insn_data(const struct insn *insn)
{
	return insn->bytes;
}
#endif

void qemu_plugin_register_vcpu_insn_exec_cb(struct insn *insn,
					    void (*call)(unsigned int, void *), int flags,
					    void *data)
{
	(void)flags;
	insn->ops[insn->n_ops++] = (struct op){ .call = call, .data = data };
}

#if API >= 2
struct board *qemu_plugin_scoreboard_new(size_t size)
{
	struct board *board = &boards[n_boards++];

	board->size = size;
	board->rows = calloc(n_vcpus, size);
	return board;
}

void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct insn *insn, int op,
							 struct entry entry, uint64_t add)
{
	(void)op;
	insn->ops[insn->n_ops++] = (struct op){ .entry = entry, .add = add };
}

uint64_t qemu_plugin_u64_sum(struct entry entry)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < n_vcpus; i++)
		sum += *(uint64_t *)(entry.board->rows + i * entry.board->size + entry.offset);
	return sum;
}
#else
void qemu_plugin_register_vcpu_insn_exec_inline(struct insn *insn, int op, void *at,
						uint64_t add)
{
	(void)op;
	insn->ops[insn->n_ops++] = (struct op){ .plain = at, .add = add };
}
#endif

#if API >= 7
static void (*translated)(struct tb *tb, void *data);
static void (*at_exit)(void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*call)(struct tb *, void *),
					   void *data)
{
	(void)id, (void)data;
	translated = call;
}

void qemu_plugin_register_atexit_cb(uint64_t id, void (*call)(void *), void *data)
{
	(void)id, (void)data;
	at_exit = call;
}
#else
static void (*translated)(uint64_t id, struct tb *tb);
static void (*at_exit)(uint64_t id, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*call)(uint64_t, struct tb *))
{
	(void)id;
	translated = call;
}

void qemu_plugin_register_atexit_cb(uint64_t id, void (*call)(uint64_t, void *), void *data)
{
	(void)id, (void)data;
	at_exit = call;
}
#endif

/* ---- A machine ---- */

static struct insn *translate(uint64_t address, const char *bytes, size_t len)
{
	struct insn *insn = calloc(1, sizeof(*insn));
	struct tb tb = { insn };

	insn->address = address;
	insn->len = len;
	memcpy(insn->bytes, bytes, len);
#if API >= 7
	translated(&tb, NULL);
#else
	translated(1, &tb);
#endif
	return insn;
}

static void execute(const struct insn *insn, unsigned int vcpu, unsigned int times)
{
	for (; times; times--) {
		for (size_t i = 0; i < insn->n_ops; i++) {
			const struct op *op = &insn->ops[i];

			if (op->call)
				op->call(vcpu, op->data);
			else if (op->plain)
				*op->plain += op->add;
			else
				*(uint64_t *)(op->entry.board->rows +
					      vcpu * op->entry.board->size +
					      op->entry.offset) += op->add;
		}
	}
}

static void bring_up_vcpu(void)
{
	for (size_t i = 0; i < n_boards; i++) {
		char *rows = calloc(n_vcpus + 1, boards[i].size);

		memcpy(rows, boards[i].rows, n_vcpus * boards[i].size);
		free(boards[i].rows);
		boards[i].rows = rows;
	}
	n_vcpus++;
}

#define KERNEL 0xffffffff81000000u

/* docs/guest-protocol.md, "Markers". */
static const struct markers {
	const char *target;
	size_t len;
	const char *begin, *end;
} all_markers[] = {
	{ "x86_64", 7, "\x0f\x1f\x80\x01\xb0\x67\x74", "\x0f\x1f\x80\x02\xb0\x67\x74" },
	{ "aarch64", 4, "\x3f\x00\xf6\xd2", "\x5f\x00\xf6\xd2" },
	{ "ppc64", 4, "\x01\xb0\x17\x08", "\x02\xb0\x17\x08" },
};
/* Of the target that is played; of x86 where it has none. */
static const struct markers *markers = all_markers;

static void find_markers(const char *target)
{
	for (size_t i = 0; i < sizeof(all_markers) / sizeof(all_markers[0]); i++)
		if (!strcmp(all_markers[i].target, target))
			markers = &all_markers[i];
}

/* Two phases, two CPUs, patched code, and more instructions than one block of
 * counters or one table of slots holds. */
static void counts(void)
{
	struct insn *begin = translate(0x401000, markers->begin, markers->len);
	struct insn *end = translate(0x401010, markers->end, markers->len);
	struct insn *user = translate(0x401007, "\x90", 1);
	struct insn *open = translate(KERNEL + 0x20000000, "\x0f\x01\xcb", 3);
	struct insn *again, *patched;

	execute(user, 0, 5);
	execute(open, 0, 7);
	execute(begin, 0, 1);
	execute(user, 0, 3);
	execute(open, 0, 2);
	bring_up_vcpu();
	execute(open, 1, 2);
	patched = translate(KERNEL + 0x20000000, "\x0f\x1f\x00", 3);
	execute(patched, 1, 1);
	for (uint32_t i = 0; i < 20000; i++)
		execute(translate(KERNEL + 20000 - i, "\x89\x01", 2), i & 1, 1 + (i == 19999));
	execute(end, 0, 1);
	execute(open, 0, 9);
	again = translate(KERNEL + 0x20000000, "\x0f\x01\xcb", 3);
	execute(begin, 1, 1);
	execute(again, 0, 1);
	execute(open, 1, 1);
	execute(end, 1, 1);
}

static void mistakes(void)
{
	struct insn *begin = translate(0x401000, markers->begin, markers->len);
	struct insn *end = translate(0x401010, markers->end, markers->len);
	/* A marker's bytes in the kernel are no marker. */
	struct insn *kernel = translate(KERNEL, markers->end, markers->len);

	execute(end, 0, 1);
	execute(begin, 0, 2);
	execute(kernel, 0, 1);
	execute(end, 0, 1);
	execute(begin, 0, 1);
}

int main(int argc, char **argv)
{
	struct {
		const char *target;
		int min, cur;
		bool system;
		int smp, max;
	} info = { argc > 3 ? argv[3] : "", 1,
		argc > 5 ? atoi(argv[5]) : API, true, MAX_VCPUS, MAX_VCPUS };
	int (*install)(uint64_t, const void *, int, char **);
	void *plugin = argc > 4 ? dlopen(argv[1], RTLD_NOW) : NULL;
	const int *version = plugin ? dlsym(plugin, "qemu_plugin_version") : NULL;

	if (!version || *version != API) {
		fprintf(stderr, "no plugin of API %d: %s\n", API, plugin ? "other" : dlerror());
		return 2;
	}
	*(void **)&install = dlsym(plugin, "qemu_plugin_install");
	find_markers(info.target);
	if (install(1, &info, 1, &argv[2]))
		return 1;
	if (strcmp(argv[4], "counts"))
		mistakes();
	else
		counts();
#if API >= 7
	at_exit(NULL);
#else
	at_exit(1, NULL);
#endif
	return 0;
}
