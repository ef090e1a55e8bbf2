// SPDX-License-Identifier: MIT OR Apache-2.0
/* Everything that a plan can name. A new benchmark is one file and one line. */
#include <string.h>

#include "guest.h"

extern const struct bench bench_epoll_wait, bench_getppid, bench_sync_ptr;
extern const struct sweep sweep_epoll_wait, sweep_sync_ptr;

static const struct bench *const benches[] = {
	&bench_epoll_wait,
	&bench_getppid,
	&bench_sync_ptr,
};

static const struct sweep *const sweeps[] = {
	&sweep_epoll_wait,
	&sweep_sync_ptr,
};

const struct bench *registry_bench(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(benches); i++)
		if (!strcmp(benches[i]->name, name))
			return benches[i];
	return NULL;
}

const struct sweep *registry_sweep(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(sweeps); i++)
		if (!strcmp(sweeps[i]->name, name))
			return sweeps[i];
	return NULL;
}
