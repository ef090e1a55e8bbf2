// SPDX-License-Identifier: MIT OR Apache-2.0
#include <linux/eventpoll.h>

struct epoll_event *do_epoll_wait(struct epoll_event __user *events)
{
	return epoll_put_uevent(1, 2, events);
}
