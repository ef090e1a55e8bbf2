// SPDX-License-Identifier: MIT OR Apache-2.0
/* Everything that a plan can name. A new benchmark is one file and one line. */
#include <string.h>

#include "guest.h"

#define BENCHES(entry) \
	entry(alg_sha256) \
	entry(drm_ioctl) \
	entry(epoll_wait) \
	entry(futex_waitv) \
	entry(getdents64) \
	entry(getppid) \
	entry(getrlimit) \
	entry(kworker) \
	entry(pipe_bulk) \
	entry(pipe_pingpong) \
	entry(poll) \
	entry(ptrace_regs) \
	entry(recvfrom_address) \
	entry(recvmsg_control) \
	entry(select) \
	entry(sigaltstack) \
	entry(signal_catch) \
	entry(signal_install) \
	entry(signal_null) \
	entry(signal_preempted) \
	entry(statx) \
	entry(sync_ptr) \
	entry(sync_ptr_aloop) \
	entry(tcp_rr) \
	entry(udp_rr) \
	entry(unix_waitall) \
	entry(waitid)

#define SWEEPS(entry) \
	entry(drm_ioctl) \
	entry(epoll_wait) \
	entry(fpu_context) \
	entry(fpu_frame) \
	entry(fpu_state) \
	entry(futex_waitv) \
	entry(getdents64) \
	entry(getrlimit) \
	entry(pipe) \
	entry(poll) \
	entry(recvfrom_address) \
	entry(recvmsg_control) \
	entry(select) \
	entry(sigaltstack) \
	entry(statx) \
	entry(sync_ptr) \
	entry(sync_ptr_aloop) \
	entry(tcp_rr) \
	entry(waitid)

#define DECLARE_BENCH(name) extern const struct bench bench_##name;
#define DECLARE_SWEEP(name) extern const struct sweep sweep_##name;
#define BENCH(name) &bench_##name,
#define SWEEP(name) &sweep_##name,

BENCHES(DECLARE_BENCH)
SWEEPS(DECLARE_SWEEP)

static const struct bench *const benches[] = { BENCHES(BENCH) };
static const struct sweep *const sweeps[] = { SWEEPS(SWEEP) };

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
