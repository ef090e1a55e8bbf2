/*
 * What gcc's unwinder (libgcc_eh, since gcc 12) asks of the C library and musl does not
 * have: which part of the program an address is in, and where its unwind tables are.
 * scripts/static links it where Rust's library for musl is built of its source.
 *
 * The structure is glibc's (dlfcn.h, dl_find_object(3)) on machines without a data base
 * for unwinding: x86_64, aarch64. dl_iterate_phdr() knows static programs as well.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <string.h>

struct dl_find_object {
	unsigned long long flags;
	void *map_start;
	void *map_end;
	struct link_map *link_map;
	void *eh_frame;
	unsigned long long reserved[7];
};

struct search {
	ElfW(Addr) address;
	struct dl_find_object *found;
};

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;
	const ElfW(Phdr) *end = info->dlpi_phdr + info->dlpi_phnum, *header;
	int inside = 0;
	void *tables = NULL;

	(void)size;
	for (header = info->dlpi_phdr; header < end; header++) {
		ElfW(Addr) start = info->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_GNU_EH_FRAME)
			tables = (void *)start;
		if (header->p_type != PT_LOAD || search->address - start >= header->p_memsz)
			continue;
		inside = 1;
		search->found->map_start = (void *)start;
		search->found->map_end = (void *)(start + header->p_memsz);
	}
	search->found->eh_frame = tables;
	return inside && tables;
}

/* 0 where the address is in the program. */
int _dl_find_object(void *address, struct dl_find_object *found)
{
	struct search search = { (ElfW(Addr))address, found };

	memset(found, 0, sizeof(*found));
	return dl_iterate_phdr(look, &search) ? 0 : -1;
}
