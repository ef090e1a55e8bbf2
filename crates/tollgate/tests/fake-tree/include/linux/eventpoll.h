/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The shape of the kernel's own include/linux/eventpoll.h. */
#ifndef _LINUX_EVENTPOLL_H
#define _LINUX_EVENTPOLL_H

#include <linux/uaccess.h>

struct epoll_event {
	__poll_t events;
	__u64 data;
};

static inline struct epoll_event __user *
epoll_put_uevent(__poll_t revents, __u64 data,
		 struct epoll_event __user *uevent)
{
	if (__put_user(revents, &uevent->events) ||
	    __put_user(data, &uevent->data))
		return NULL;

	return uevent+1;
}

#endif /* #ifndef _LINUX_EVENTPOLL_H */
