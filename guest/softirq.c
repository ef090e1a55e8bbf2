// SPDX-License-Identifier: MIT OR Apache-2.0
/* A softirq that uses the FPU, whenever a program wants one. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "guest.h"
#include "softirq.h"

/* Of include/uapi/linux/tcp.h since 6.7, which is younger than many C libraries. */
#define AO_ADD_KEY 38
#define AO_INFO 40

struct ao_key {
	unsigned char address[128];	/* struct __kernel_sockaddr_storage */
	char hash[64];
	int32_t ifindex;
	uint32_t flags;
	uint16_t reserved;
	uint8_t prefix, send_id, receive_id, hash_bytes, key_flags, key_bytes;
	uint8_t key[80];
} __attribute__((aligned(8)));

struct ao_info {
	uint32_t flags;
	uint16_t reserved;
	uint8_t current, next;
	uint64_t good, bad, no_key, required, dropped_icmp __attribute__((aligned(8)));
} __attribute__((aligned(8)));

_Static_assert(sizeof(struct ao_key) == 288, "the kernel's struct tcp_ao_add");
_Static_assert(sizeof(struct ao_info) == 48, "the kernel's struct tcp_ao_info_opt");

/* The option in a segment: its kind, its length, two key numbers, the hash. */
#define OPTION_KIND 29
#define OPTION_BYTES 16
#define KEY_ID 100
#define SYN 0x02

static bool add_key(int fd, const struct sockaddr_in *peer)
{
	struct ao_key key = {
		.hash = "hmac(sha256)",
		.prefix = 32,
		.send_id = KEY_ID,
		.receive_id = KEY_ID,
		.hash_bytes = OPTION_BYTES - 4,
		.key_bytes = 16,
	};

	memcpy(key.address, peer, sizeof(*peer));
	return !setsockopt(fd, IPPROTO_TCP, AO_ADD_KEY, &key, sizeof(key));
}

static uint32_t sum(const unsigned char *bytes, size_t n)
{
	uint32_t all = 0;

	for (size_t i = 0; i + 1 < n; i += 2)
		all += (uint32_t)bytes[i] << 8 | bytes[i + 1];
	return all;
}

/* A first segment of a connection, as the peer would send it but for its hash. */
static void forge(unsigned char segment[SOFTIRQ_SEGMENT], const struct sockaddr_in *to)
{
	const unsigned char *address = (const unsigned char *)&to->sin_addr;
	uint32_t check;

	memset(segment, 0, SOFTIRQ_SEGMENT);
	segment[0] = 1;			/* from port 256 */
	memcpy(segment + 2, &to->sin_port, 2);
	segment[12] = SOFTIRQ_SEGMENT / 4 << 4;
	segment[13] = SYN;
	segment[14] = 0x10;		/* a window of 4096 bytes */
	segment[20] = OPTION_KIND;
	segment[21] = OPTION_BYTES;
	segment[22] = segment[23] = KEY_ID;
	/* Both addresses are the same. */
	check = sum(segment, SOFTIRQ_SEGMENT) + 2 * sum(address, 4) + IPPROTO_TCP + SOFTIRQ_SEGMENT;
	while (check >> 16)
		check = (check & 0xffff) + (check >> 16);
	check = ~check;
	segment[16] = (unsigned char)(check >> 8);
	segment[17] = (unsigned char)check;
}

bool softirq_open(struct softirq *softirq, int *missing)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	struct sockaddr_in peer = address;
	socklen_t length = sizeof(address);

	*missing = 0;
	softirq->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (softirq->listener < 0 || bind(softirq->listener, (const void *)&address, length) ||
	    getsockname(softirq->listener, (void *)&address, &length))
		return fail("a socket of TCP: %s", strerror(errno));
	if (!add_key(softirq->listener, &peer)) {
		if (errno != ENOPROTOOPT)
			return fail("a key for TCP-AO: %s", strerror(errno));
		*missing = errno;
		return true;
	}
	if (listen(softirq->listener, 1))
		return fail("listen: %s", strerror(errno));
	softirq->sender = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_TCP);
	if (softirq->sender < 0 || connect(softirq->sender, (const void *)&peer, sizeof(peer)))
		return fail("a raw socket: %s", strerror(errno));
	forge(softirq->segment, &address);
	return true;
}

long softirq_hashed(const struct softirq *softirq)
{
	struct ao_info info = { 0 };
	socklen_t length = sizeof(info);

	if (getsockopt(softirq->listener, IPPROTO_TCP, AO_INFO, &info, &length)) {
		fail("what TCP-AO refused: %s", strerror(errno));
		return -1;
	}
	return (long)info.bad;
}
