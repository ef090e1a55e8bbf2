// SPDX-License-Identifier: MIT OR Apache-2.0
/* Hashes made by the kernel, which uses the FPU for them. */
#include <errno.h>
#include <linux/if_alg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "alg.h"
#include "guest.h"

int alg_sha256(void)
{
	const struct sockaddr_alg address = {
		.salg_family = AF_ALG,
		.salg_type = "hash",
		.salg_name = "sha256",
	};
	int transform = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int operation = -1;

	if (transform < 0 || bind(transform, (const void *)&address, sizeof(address)))
		skip("this kernel hashes nothing for programs (AF_ALG, sha256): %s",
		     strerror(errno));
	else if ((operation = accept(transform, NULL, NULL)) < 0)
		fail("accept on an AF_ALG socket: %s", strerror(errno));
	if (transform >= 0)
		close(transform);
	return operation;
}
