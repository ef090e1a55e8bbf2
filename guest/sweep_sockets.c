// SPDX-License-Identifier: MIT OR Apache-2.0
/* Sweeps of calls on sockets: each user buffer at every position, the others of
 * the call being good. */
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "guest.h"
#include "support.h"
#include "tollgate_bench.h"

static int fd = -1;

/* ---- recvmsg with control data, recvfrom with an address ---- */

static const unsigned char eight[] = { 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88 };
static unsigned char got[sizeof(eight)];
static struct iovec piece = { .iov_base = got, .iov_len = sizeof(got) };
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
	memset(got, CANARY, sizeof(got));
	memset(&sender, CANARY, sizeof(sender));
	sender_len = sizeof(sender);
	return send(fd, eight, sizeof(eight), 0) == sizeof(eight) ||
	       fail("send: %s", strerror(errno));
}

static long receive_control(uintptr_t address)
{
	message = (struct msghdr){
		.msg_iov = &piece,
		.msg_iovlen = 1,
		.msg_control = (void *)address,
		.msg_controllen = CONTROL,
	};
	return tollgate_syscall4(SYS_recvmsg, fd, (long)&message, MSG_DONTWAIT, 0);
}

static long receive_name(uintptr_t address)
{
	message = (struct msghdr){
		.msg_name = (void *)address,
		.msg_namelen = sizeof(sender),
		.msg_iov = &piece,
		.msg_iovlen = 1,
	};
	return tollgate_syscall4(SYS_recvmsg, fd, (long)&message, MSG_DONTWAIT, 0);
}

static long receive_pieces(uintptr_t address)
{
	message = (struct msghdr){ .msg_iov = (void *)address, .msg_iovlen = 1 };
	return tollgate_syscall4(SYS_recvmsg, fd, (long)&message, MSG_DONTWAIT, 0);
}

static long receive_data(uintptr_t address)
{
	struct iovec there = { .iov_base = (void *)address, .iov_len = sizeof(eight) };

	message = (struct msghdr){ .msg_iov = &there, .msg_iovlen = 1 };
	return tollgate_syscall4(SYS_recvmsg, fd, (long)&message, MSG_DONTWAIT, 0);
}

static long receive_header(uintptr_t address)
{
	return tollgate_syscall4(SYS_recvmsg, fd, (long)address, MSG_DONTWAIT, 0);
}

static bool ask_for_control(void)
{
	const int on = 1;

	return (!setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on)) &&
		!setsockopt(fd, IPPROTO_IP, IP_RECVTTL, &on, sizeof(on)) &&
		!setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &on, sizeof(on))) ||
	       fail("cannot ask for control messages: %s", strerror(errno));
}

static const struct shape sender_shape = {
	.fields = { FIELD(struct sockaddr_in, sin_family), FIELD(struct sockaddr_in, sin_port),
		    FIELD(struct sockaddr_in, sin_addr), FIELD(struct sockaddr_in, sin_zero) },
};
static const struct shape header_shape = {
	.fields = { FIELD(struct msghdr, msg_name), FIELD(struct msghdr, msg_namelen),
		    FIELD(struct msghdr, msg_iov), FIELD(struct msghdr, msg_iovlen),
		    FIELD(struct msghdr, msg_control), FIELD(struct msghdr, msg_controllen),
		    FIELD(struct msghdr, msg_flags) },
};
static const struct shape control_told = {
	.fields = { FIELD_FROM(struct msghdr, msg_controllen, msg_controllen),
		    FIELD_FROM(struct msghdr, msg_controllen, msg_flags) },
};
static const struct shape namelen_told = {
	.fields = { FIELD_FROM(struct msghdr, msg_namelen, msg_namelen) },
};
static const struct shape pieces_shape = {
	.each = sizeof(struct iovec),
	.fields = { FIELD(struct iovec, iov_base), FIELD(struct iovec, iov_len) },
};

static struct subject receives(const char *prefix, size_t size, const void *content,
			       long (*call)(uintptr_t address), const struct shape *shape)
{
	struct subject subject = subject_of("recvmsg_control", prefix, size, content, call);

	subject.fresh = one_datagram;
	subject.shape = shape;
	return subject;
}

static bool sweep_receive(struct subject subject, const void *also, size_t also_size,
			  const struct shape *also_shape)
{
	subject.also = also;
	subject.also_size = also_size;
	subject.also_shape = also_shape;
	return sweep_positions(&subject);
}

/* Each message is as long as its kind: the buffer has no members to name. Behind
 * it what the call says of it, its length and the flags. */
static bool sweep_control(void)
{
	struct subject subject = receives("control/", CONTROL, NULL, receive_control, NULL);

	subject.step = 1;
	return sweep_receive(subject, &message.msg_controllen,
			     sizeof(message) - offsetof(struct msghdr, msg_controllen),
			     &control_told);
}

static bool run_recvmsg_control(const long *values)
{
	static unsigned char control[CONTROL];
	struct msghdr header = { .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control,
				 .msg_controllen = CONTROL };
	struct sockaddr_in address;

	(void)values;
	fd = udp_to_itself(&address);
	if (fd < 0 || !ask_for_control())
		return false;
	return sweep_control() &&
	       sweep_receive(receives("header/", sizeof(header), &header, receive_header,
				      &header_shape), got, sizeof(got), NULL) &&
	       sweep_receive(receives("name/", sizeof(sender), NULL, receive_name, &sender_shape),
			     &message.msg_namelen, sizeof(message.msg_namelen), &namelen_told) &&
	       sweep_receive(receives("iovec/", sizeof(piece), &piece, receive_pieces,
				      &pieces_shape), got, sizeof(got), NULL) &&
	       sweep_receive(receives("data/", sizeof(eight), NULL, receive_data, NULL), NULL, 0,
			     NULL);
}

const struct sweep sweep_recvmsg_control = { .name = "recvmsg_control",
					     .run = run_recvmsg_control };

static long receive_from(uintptr_t address)
{
	return tollgate_syscall6(SYS_recvfrom, fd, (long)got, sizeof(got), MSG_DONTWAIT, (long)address,
				 (long)&sender_len);
}

static long receive_len(uintptr_t address)
{
	return tollgate_syscall6(SYS_recvfrom, fd, (long)got, sizeof(got), MSG_DONTWAIT, (long)&sender,
				 (long)address);
}

/* The datagram itself; its sender is told all the same. */
static long receive_bytes(uintptr_t address)
{
	return tollgate_syscall6(SYS_recvfrom, fd, (long)address, sizeof(eight), MSG_DONTWAIT,
				 (long)&sender, (long)&sender_len);
}

static bool sweep_len(socklen_t len, const char *prefix)
{
	struct subject subject = subject_of("recvfrom_address", prefix, sizeof(len), &len,
					    receive_len);

	subject.fresh = one_datagram;
	subject.also = (const unsigned char *)&sender;
	subject.also_size = sizeof(sender);
	subject.also_shape = &sender_shape;
	return sweep_positions(&subject);
}

static bool run_recvfrom_address(const long *values)
{
	struct sockaddr_in address;
	struct subject from = subject_of("recvfrom_address", "address/", sizeof(address), NULL,
					 receive_from);
	struct subject data = subject_of("recvfrom_address", "data/", sizeof(eight), NULL,
					 receive_bytes);

	(void)values;
	from.fresh = one_datagram;
	from.also = (const unsigned char *)&sender_len;
	from.also_size = sizeof(sender_len);
	from.shape = &sender_shape;
	data.fresh = one_datagram;
	data.also = (const unsigned char *)&sender;
	data.also_size = sizeof(sender);
	data.also_shape = &sender_shape;
	fd = udp_to_itself(&address);
	/* A length that is longer than an address, one that cuts it, and one that
	 * is no length. */
	return fd >= 0 && sweep_positions(&from) && sweep_len(100, "len=100/") &&
	       sweep_len(5, "len=5/") && sweep_len((socklen_t)-1, "len=-1/") &&
	       sweep_positions(&data);
}

const struct sweep sweep_recvfrom_address = { .name = "recvfrom_address",
					      .run = run_recvfrom_address };

/* ---- What a transaction of tcp_rr hands over: recv, send, epoll_ctl ---- */

static int peer = -1, epfd = -1;
static struct epoll_event event_told;

static bool drain(void)
{
	unsigned char gone[64];

	while (recv(peer, gone, sizeof(gone), MSG_DONTWAIT) > 0)
		;
	memset(got, CANARY, sizeof(got));
	return true;
}

static bool eight_underway(void)
{
	return drain() && (send(fd, eight, sizeof(eight), MSG_NOSIGNAL) == sizeof(eight) ||
			   fail("cannot send over loopback: %s", strerror(errno)));
}

static long receive_eight(uintptr_t address)
{
	return tollgate_syscall6(SYS_recvfrom, peer, (long)address, sizeof(eight), MSG_DONTWAIT, 0,
				 0);
}

/* What came over is shown behind the buffer. */
static long send_eight(uintptr_t address)
{
	long result = tollgate_syscall6(SYS_sendto, fd, (long)address, sizeof(eight),
					MSG_NOSIGNAL | MSG_DONTWAIT, 0, 0);

	(void)tollgate_syscall6(SYS_recvfrom, peer, (long)got, sizeof(got), MSG_DONTWAIT, 0, 0);
	return result;
}

static bool watch_nothing(void)
{
	struct epoll_event event = { .events = 0 };

	memset(&event_told, CANARY, sizeof(event_told));
	return !epoll_ctl(epfd, EPOLL_CTL_MOD, fd, &event) ||
	       fail("epoll_ctl: %s", strerror(errno));
}

/* What is watched now is shown behind the buffer. */
static long watch_this(uintptr_t address)
{
	long result = tollgate_syscall4(SYS_epoll_ctl, epfd, EPOLL_CTL_MOD, fd, (long)address);

	(void)epoll_wait(epfd, &event_told, 1, 0);
	return result;
}

static bool connect_to_itself(void)
{
	struct epoll_event event = { .events = 0 };

	if (!tcp_pair(&fd, &peer))
		return false;
	epfd = epoll_create1(EPOLL_CLOEXEC);
	return !epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event) ||
	       fail("cannot watch a socket: %s", strerror(errno));
}

static const struct shape event_shape = {
	.fields = { FIELD(struct epoll_event, events), FIELD(struct epoll_event, data) },
};

static bool run_tcp_rr(const long *values)
{
	static const unsigned char zeros[sizeof(eight)];
	struct epoll_event wanted = { .events = EPOLLOUT,
				      .data.u64 = UINT64_C(0xf1e2d3c4b5968778) };
	struct subject in = subject_of("tcp_rr", "recv/", sizeof(eight), NULL, receive_eight);
	struct subject out = subject_of("tcp_rr", "send/", sizeof(eight), eight, send_eight);
	struct subject ctl = subject_of("tcp_rr", "epoll_ctl/", sizeof(wanted), &wanted,
					watch_this);

	(void)values;
	in.fresh = eight_underway;
	in.again = zeros;
	out.fresh = drain;
	out.also = got;
	out.also_size = sizeof(got);
	ctl.fresh = watch_nothing;
	ctl.also = (const unsigned char *)&event_told;
	ctl.also_size = sizeof(event_told);
	ctl.shape = &event_shape;
	ctl.also_shape = &event_shape;
	return connect_to_itself() && sweep_positions(&in) && sweep_positions(&out) &&
	       sweep_positions(&ctl);
}

const struct sweep sweep_tcp_rr = { .name = "tcp_rr", .run = run_tcp_rr };
