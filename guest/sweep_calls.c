// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Sweeps of calls that need no more than a buffer and a word on what it holds:
 * each is a few lines here, and the engine of positions.c does the rest. A call
 * with several buffers is swept once for each, the others being good.
 */
#include <errno.h>
#include <linux/stat.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "numbers.h"
#include "support.h"
#include "tollgate_bench.h"

static int fd = -1;
static const unsigned char canaries[MAX_BUFFER];

/* A subject whose buffer holds `content`, or the canary. */
static struct subject subject_of(const char *sweep, const char *prefix, size_t size,
				 const void *content, long (*call)(uintptr_t address))
{
	return (struct subject){
		.sweep = sweep,
		.prefix = prefix,
		.size = size,
		.step = size > 64 ? 4 : 1,
		.content = content,
		.call = call,
	};
}

/* ---- getdents64 ---- */

#define ENTRIES 4
#define TOO_SMALL 16

static bool rewind_folder(void)
{
	return !lseek(fd, 0, SEEK_SET) || fail("lseek: %s", strerror(errno));
}

static long getdents_200(uintptr_t address)
{
	return tollgate_syscall4(SYS_getdents64, fd, (long)address, 200, 0);
}

static long getdents_too_small(uintptr_t address)
{
	return tollgate_syscall4(SYS_getdents64, fd, (long)address, TOO_SMALL, 0);
}

static bool run_getdents64(const long *values)
{
	struct subject all = subject_of("getdents64", "", 200, NULL, getdents_200);
	struct subject small = subject_of("getdents64", "small/", TOO_SMALL, NULL,
					  getdents_too_small);
	bool ok;

	(void)values;
	all.step = 1;
	all.fresh = rewind_folder;
	all.again = canaries;
	small.fresh = rewind_folder;
	fd = folder_with_files(ENTRIES);
	ok = fd >= 0 && sweep_positions(&all) && sweep_positions(&small);
	folder_remove();
	return ok;
}

const struct sweep sweep_getdents64 = { .name = "getdents64", .run = run_getdents64 };

/* ---- poll and select ---- */

static long poll_three(uintptr_t address)
{
	return tollgate_syscall4(SYS_poll, (long)address, 3, 0, 0);
}

static bool run_poll(const long *values)
{
	/* One that is readable, one that is not open, one to be ignored. */
	struct pollfd polled[3] = { { .events = POLLIN | POLLOUT },
				    { .fd = 999, .events = POLLIN },
				    { .fd = -1, .events = POLLIN } };
	struct subject subject = subject_of("poll", "", sizeof(polled), polled, poll_three);

	(void)values;
	return ready_descriptors(&polled[0].fd, 1) && sweep_positions(&subject);
}

const struct sweep sweep_poll = { .name = "poll", .run = run_poll };

static struct timeval at_once;

static long select_64(uintptr_t address)
{
	return tollgate_syscall6(NUMBER_SELECT, 64, (long)address, 0, 0, (long)&at_once, 0);
}

static bool run_select(const long *values)
{
	unsigned char set[8] = { 0 };
	struct subject subject = subject_of("select", "", sizeof(set), set, select_64);
	int ready[2];

	(void)values;
	if (!ready_descriptors(ready, ARRAY_SIZE(ready)))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(ready); i++)
		set[ready[i] / 8] |= (unsigned char)(1 << ready[i] % 8);
	return sweep_positions(&subject);
}

const struct sweep sweep_select = { .name = "select", .run = run_select };

/* ---- recvmsg with control data, recvfrom with an address ---- */

static char byte = 'x';
static char got;
static struct iovec piece = { .iov_base = &got, .iov_len = 1 };
static struct msghdr message;
static struct sockaddr_in sender;
static socklen_t sender_len;

#define CONTROL 96

/* One datagram is there, and no other. */
static bool one_datagram(void)
{
	char gone;

	while (recv(fd, &gone, 1, MSG_DONTWAIT) >= 0)
		;
	memset(&sender, CANARY, sizeof(sender));
	sender_len = sizeof(sender);
	return send(fd, &byte, 1, 0) == 1 || fail("send: %s", strerror(errno));
}

static long receive_control(uintptr_t address)
{
	message = (struct msghdr){
		.msg_iov = &piece,
		.msg_iovlen = 1,
		.msg_control = (void *)address,
		.msg_controllen = CONTROL,
	};
	return tollgate_syscall4(SYS_recvmsg, fd, (long)&message, 0, 0);
}

static long receive_header(uintptr_t address)
{
	return tollgate_syscall4(SYS_recvmsg, fd, (long)address, 0, 0);
}

static bool run_recvmsg_control(const long *values)
{
	static unsigned char control[CONTROL];
	struct msghdr header = { .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control,
				 .msg_controllen = CONTROL };
	struct subject data = subject_of("recvmsg_control", "control/", CONTROL, NULL,
					 receive_control);
	struct subject head = subject_of("recvmsg_control", "header/", sizeof(header), &header,
					 receive_header);
	struct sockaddr_in address;
	const int on = 1;

	(void)values;
	fd = udp_to_itself(&address);
	if (fd < 0)
		return false;
	if (setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on)) ||
	    setsockopt(fd, IPPROTO_IP, IP_RECVTTL, &on, sizeof(on)) ||
	    setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &on, sizeof(on)))
		return fail("cannot ask for control messages: %s", strerror(errno));
	data.step = 1;
	data.fresh = one_datagram;
	/* What the call says of the control data: its length and the flags. */
	data.also = (const unsigned char *)&message.msg_controllen;
	data.also_size = sizeof(message) - offsetof(struct msghdr, msg_controllen);
	head.fresh = one_datagram;
	return sweep_positions(&data) && sweep_positions(&head);
}

const struct sweep sweep_recvmsg_control = { .name = "recvmsg_control",
					     .run = run_recvmsg_control };

static long receive_from(uintptr_t address)
{
	return tollgate_syscall6(SYS_recvfrom, fd, (long)&got, 1, 0, (long)address,
				 (long)&sender_len);
}

static long receive_len(uintptr_t address)
{
	return tollgate_syscall6(SYS_recvfrom, fd, (long)&got, 1, 0, (long)&sender,
				 (long)address);
}

static bool sweep_len(socklen_t len, const char *prefix)
{
	struct subject subject = subject_of("recvfrom_address", prefix, sizeof(len), &len,
					    receive_len);

	subject.fresh = one_datagram;
	subject.also = (const unsigned char *)&sender;
	subject.also_size = sizeof(sender);
	return sweep_positions(&subject);
}

static bool run_recvfrom_address(const long *values)
{
	struct sockaddr_in address;
	struct subject subject = subject_of("recvfrom_address", "address/", sizeof(address), NULL,
					    receive_from);

	(void)values;
	subject.fresh = one_datagram;
	subject.also = (const unsigned char *)&sender_len;
	subject.also_size = sizeof(sender_len);
	fd = udp_to_itself(&address);
	/* A length that is longer than an address, one that cuts it, and one that
	 * is no length. */
	return fd >= 0 && sweep_positions(&subject) && sweep_len(100, "len=100/") &&
	       sweep_len(5, "len=5/") && sweep_len((socklen_t)-1, "len=-1/");
}

const struct sweep sweep_recvfrom_address = { .name = "recvfrom_address",
					      .run = run_recvfrom_address };

/* ---- waitid ---- */

static pid_t child;

static long wait_for_child(uintptr_t address)
{
	return tollgate_syscall6(SYS_waitid, P_PID, child, (long)address, WEXITED | WNOWAIT, 0,
				 0);
}

/* Nobody to tell of: the fields are zeroed. */
static long wait_for_nobody(uintptr_t address)
{
	return tollgate_syscall6(SYS_waitid, P_PID, child, (long)address,
				 WSTOPPED | WNOWAIT | WNOHANG, 0, 0);
}

static bool run_waitid(const long *values)
{
	struct subject one = subject_of("waitid", "", sizeof(siginfo_t), NULL, wait_for_child);
	struct subject none = subject_of("waitid", "nobody/", sizeof(siginfo_t), NULL,
					 wait_for_nobody);

	(void)values;
	one.step = 1;
	none.brief = true;
	child = zombie();
	return child > 0 && sweep_positions(&one) && sweep_positions(&none);
}

const struct sweep sweep_waitid = { .name = "waitid", .run = run_waitid };

/* ---- getrlimit, sigaltstack, statx, futex_waitv ---- */

/* Two words of the program's own width; 64 bits for an x32 program, too. */
#if defined(__x86_64__)
#define LIMIT 16
#else
#define LIMIT 8
#endif

static long get_limit(uintptr_t address)
{
	return tollgate_syscall4(NUMBER_GETRLIMIT, 7 /* RLIMIT_NOFILE */, (long)address, 0, 0);
}

static bool run_getrlimit(const long *values)
{
	struct subject subject = subject_of("getrlimit", "", LIMIT, NULL, get_limit);

	(void)values;
	return sweep_positions(&subject);
}

const struct sweep sweep_getrlimit = { .name = "getrlimit", .run = run_getrlimit };

#define STACK_SIZE 65536

static char stack[STACK_SIZE];
static stack_t set_before = { .ss_sp = stack, .ss_size = STACK_SIZE };
static stack_t told;

static bool set_stack(void)
{
	memset(&told, CANARY, sizeof(told));
	return !tollgate_syscall4(SYS_sigaltstack, (long)&set_before, 0, 0, 0) ||
	       fail("sigaltstack failed on good memory");
}

static long tell_stack(uintptr_t address)
{
	return tollgate_syscall4(SYS_sigaltstack, 0, (long)address, 0, 0);
}

static long change_stack(uintptr_t address)
{
	return tollgate_syscall4(SYS_sigaltstack, (long)address, (long)&told, 0, 0);
}

static bool sweep_new_stack(const char *prefix, int flags, size_t size)
{
	stack_t wanted;
	struct subject subject = subject_of("sigaltstack", prefix, sizeof(wanted), &wanted,
					    change_stack);

	memset(&wanted, 0, sizeof(wanted));
	wanted.ss_sp = stack + 16;
	wanted.ss_size = size;
	wanted.ss_flags = flags;
	subject.fresh = set_stack;
	subject.also = (const unsigned char *)&told;
	subject.also_size = sizeof(told);
	return sweep_positions(&subject);
}

static bool run_sigaltstack(const long *values)
{
	struct subject old = subject_of("sigaltstack", "old/", sizeof(stack_t), NULL, tell_stack);

	(void)values;
	old.fresh = set_stack;
	/* One that is taken, one that turns it off, one that is too small, and a
	 * flag that there is not. */
	return sweep_positions(&old) && sweep_new_stack("new/", 0, STACK_SIZE / 2) &&
	       sweep_new_stack("off/", SS_DISABLE, 0) && sweep_new_stack("small/", 0, 16) &&
	       sweep_new_stack("flag/", 0x40, STACK_SIZE / 2);
}

const struct sweep sweep_sigaltstack = { .name = "sigaltstack", .run = run_sigaltstack };

static struct statx good;

static long stat_root(uintptr_t address)
{
	return tollgate_syscall6(SYS_statx, -100 /* AT_FDCWD */, (long)"/", 0,
				 STATX_BASIC_STATS | STATX_BTIME, (long)address, 0);
}

/* Timestamps are of this boot: a byte that is as in the answer in good memory
 * becomes a mark. */
static void settle_times(uintptr_t address, uintptr_t from, uintptr_t to)
{
	const unsigned char *own = (const unsigned char *)&good;
	size_t first = offsetof(struct statx, stx_atime);
	size_t last = offsetof(struct statx, stx_rdev_major);

	for (size_t i = first; i < last; i++) {
		unsigned char *at = (unsigned char *)(address + i);

		if (address + i >= from && address + i < to && *at == own[i] && own[i])
			*at = 0xf1;
	}
}

static bool run_statx(const long *values)
{
	struct subject subject = subject_of("statx", "", sizeof(good), NULL, stat_root);

	(void)values;
	subject.settle = settle_times;
	return (!stat_root((uintptr_t)&good) || skip("this kernel has no statx")) &&
	       sweep_positions(&subject);
}

const struct sweep sweep_statx = { .name = "statx", .run = run_statx };

static struct futex_waiter waiters[2];
static uint32_t words[ARRAY_SIZE(waiters)];

static long wait_for_two(uintptr_t address)
{
	return tollgate_syscall6(NUMBER_FUTEX_WAITV, (long)address, ARRAY_SIZE(waiters), 0, 0, 0,
				 0);
}

static bool run_futex_waitv(const long *values)
{
	struct subject subject = subject_of("futex_waitv", "", sizeof(waiters), waiters,
					    wait_for_two);

	(void)values;
	/* The second word is not what its waiter expects: no call waits. */
	for (size_t i = 0; i < ARRAY_SIZE(waiters); i++)
		waiters[i] = (struct futex_waiter){ .val = i, .uaddr = (uintptr_t)&words[i],
						    .flags = FUTEX_WAITER_FLAGS };
	return (wait_for_two((uintptr_t)waiters) != -ENOSYS ||
		skip("this kernel has no futex_waitv")) &&
	       sweep_positions(&subject);
}

const struct sweep sweep_futex_waitv = { .name = "futex_waitv", .run = run_futex_waitv };
