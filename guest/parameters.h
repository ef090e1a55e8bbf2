/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the guest takes. Made of data/bench.toml, which has the reasons; a test of
 * crates/lab compares the two and writes this file anew with UPDATE_PARAMETERS=1.
 *
 * PARAMS_X are the parameters of X: name, standard, least, most, step. X_Y is the
 * place of Y among its values, X_Y_MOST its largest value.
 */
#ifndef TOLLGATE_PARAMETERS_H
#define TOLLGATE_PARAMETERS_H

#define MIN_OPS 1L
#define MAX_OPS 1000000000L
#define MIN_REPS 0L
#define MAX_REPS 100000L
/* With the NUL behind it. */
#define MAX_NAME 32
/* With the program's own name. */
#define MAX_ARGUMENTS 256
#define MAX_PHASES 64

#define PARAMS_BENCH_EPOLL_WAIT { \
	{ "events", 64, 1, 4096, 1 }, \
}
#define BENCH_EPOLL_WAIT_EVENTS 0
#define BENCH_EPOLL_WAIT_EVENTS_MOST 4096

#define PARAMS_BENCH_SYNC_PTR { \
	{ "layout", 132, 132, 136, 4 }, \
	{ "flags", 7, 0, 7, 1 }, \
}
#define BENCH_SYNC_PTR_LAYOUT 0
#define BENCH_SYNC_PTR_LAYOUT_MOST 136
#define BENCH_SYNC_PTR_FLAGS 1
#define BENCH_SYNC_PTR_FLAGS_MOST 7

#define PARAMS_BENCH_SYNC_PTR_ALOOP { \
	{ "layout", 132, 132, 136, 4 }, \
	{ "flags", 7, 0, 7, 1 }, \
}
#define BENCH_SYNC_PTR_ALOOP_LAYOUT 0
#define BENCH_SYNC_PTR_ALOOP_LAYOUT_MOST 136
#define BENCH_SYNC_PTR_ALOOP_FLAGS 1
#define BENCH_SYNC_PTR_ALOOP_FLAGS_MOST 7

#define PARAMS_BENCH_DRM_IOCTL { \
	{ "size", 8, 0, 1024, 1 }, \
	{ "dir", 3, 1, 3, 1 }, \
}
#define BENCH_DRM_IOCTL_SIZE 0
#define BENCH_DRM_IOCTL_SIZE_MOST 1024
#define BENCH_DRM_IOCTL_DIR 1
#define BENCH_DRM_IOCTL_DIR_MOST 3

#define PARAMS_BENCH_TCP_RR { \
	{ "flows", 1, 1, 2000, 1 }, \
	{ "family", 4, 4, 6, 2 }, \
}
#define BENCH_TCP_RR_FLOWS 0
#define BENCH_TCP_RR_FLOWS_MOST 2000
#define BENCH_TCP_RR_FAMILY 1
#define BENCH_TCP_RR_FAMILY_MOST 6

#define PARAMS_BENCH_UDP_RR { \
	{ "flows", 1, 1, 2000, 1 }, \
	{ "family", 4, 4, 6, 2 }, \
}
#define BENCH_UDP_RR_FLOWS 0
#define BENCH_UDP_RR_FLOWS_MOST 2000
#define BENCH_UDP_RR_FAMILY 1
#define BENCH_UDP_RR_FAMILY_MOST 6

#define PARAMS_BENCH_GETDENTS64 { \
	{ "entries", 64, 1, 1000, 1 }, \
}
#define BENCH_GETDENTS64_ENTRIES 0
#define BENCH_GETDENTS64_ENTRIES_MOST 1000

#define PARAMS_BENCH_POLL { \
	{ "fds", 64, 1, 1000, 1 }, \
}
#define BENCH_POLL_FDS 0
#define BENCH_POLL_FDS_MOST 1000

#define PARAMS_BENCH_SELECT { \
	{ "fds", 64, 1, 1000, 1 }, \
}
#define BENCH_SELECT_FDS 0
#define BENCH_SELECT_FDS_MOST 1000

#define PARAMS_BENCH_RECVMSG_CONTROL { \
	{ "messages", 3, 0, 3, 1 }, \
}
#define BENCH_RECVMSG_CONTROL_MESSAGES 0
#define BENCH_RECVMSG_CONTROL_MESSAGES_MOST 3

#define PARAMS_BENCH_FUTEX_WAITV { \
	{ "futexes", 8, 1, 128, 1 }, \
}
#define BENCH_FUTEX_WAITV_FUTEXES 0
#define BENCH_FUTEX_WAITV_FUTEXES_MOST 128

#define PARAMS_BENCH_SIGNAL_CATCH { \
	{ "avx", 0, 0, 1, 1 }, \
}
#define BENCH_SIGNAL_CATCH_AVX 0
#define BENCH_SIGNAL_CATCH_AVX_MOST 1

#define PARAMS_BENCH_SIGNAL_NULL { \
	{ "avx", 0, 0, 1, 1 }, \
}
#define BENCH_SIGNAL_NULL_AVX 0
#define BENCH_SIGNAL_NULL_AVX_MOST 1

#define PARAMS_BENCH_SIGNAL_PREEMPTED { \
	{ "avx", 0, 0, 1, 1 }, \
}
#define BENCH_SIGNAL_PREEMPTED_AVX 0
#define BENCH_SIGNAL_PREEMPTED_AVX_MOST 1

#define PARAMS_BENCH_PIPE_BULK { \
	{ "kib", 4096, 4, 16384, 1 }, \
	{ "look", 65536, 8, 65536, 8 }, \
}
#define BENCH_PIPE_BULK_KIB 0
#define BENCH_PIPE_BULK_KIB_MOST 16384
#define BENCH_PIPE_BULK_LOOK 1
#define BENCH_PIPE_BULK_LOOK_MOST 65536

#define PARAMS_BENCH_UNIX_WAITALL { \
	{ "kib", 1024, 4, 16384, 1 }, \
	{ "look", 64, 8, 16777216, 8 }, \
}
#define BENCH_UNIX_WAITALL_KIB 0
#define BENCH_UNIX_WAITALL_KIB_MOST 16384
#define BENCH_UNIX_WAITALL_LOOK 1
#define BENCH_UNIX_WAITALL_LOOK_MOST 16777216

#define PARAMS_BENCH_ALG_SHA256 { \
	{ "kib", 64, 2, 64, 1 }, \
	{ "offset", 16, 0, 4095, 1 }, \
}
#define BENCH_ALG_SHA256_KIB 0
#define BENCH_ALG_SHA256_KIB_MOST 64
#define BENCH_ALG_SHA256_OFFSET 1
#define BENCH_ALG_SHA256_OFFSET_MOST 4095

#define PARAMS_SWEEP_EPOLL_WAIT { \
	{ "events", 4, 1, 16, 1 }, \
}
#define SWEEP_EPOLL_WAIT_EVENTS 0
#define SWEEP_EPOLL_WAIT_EVENTS_MOST 16

#define PARAMS_SWEEP_FPU_STATE { \
	{ "rounds", 100, 1, 100000, 1 }, \
	{ "cpus", 1, 1, 64, 1 }, \
}
#define SWEEP_FPU_STATE_ROUNDS 0
#define SWEEP_FPU_STATE_ROUNDS_MOST 100000
#define SWEEP_FPU_STATE_CPUS 1
#define SWEEP_FPU_STATE_CPUS_MOST 64

#define PARAMS_SWEEP_SYNC_PTR { \
	{ "layout", 132, 132, 136, 4 }, \
}
#define SWEEP_SYNC_PTR_LAYOUT 0
#define SWEEP_SYNC_PTR_LAYOUT_MOST 136

#define PARAMS_SWEEP_SYNC_PTR_ALOOP { \
	{ "layout", 132, 132, 136, 4 }, \
}
#define SWEEP_SYNC_PTR_ALOOP_LAYOUT 0
#define SWEEP_SYNC_PTR_ALOOP_LAYOUT_MOST 136

#endif
