/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef __LINUX_UACCESS_H__
#define __LINUX_UACCESS_H__

#define __user
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef unsigned int __poll_t;
#define NULL ((void *)0)

/* What a gate does is told by name, so that the fake QEMU can see it. */
int gate(const char *what);

#define __put_user(x, p)	(gate("fake passage"), *(p) = (x), 0)
#define user_write_access_begin(p, n)	(gate("fake window"), (p) != NULL)
#define user_write_access_end()	gate("fake end")
#define unsafe_put_user(x, p, label)	do { if (!(p)) goto label; *(p) = (x); } while (0)

#endif
