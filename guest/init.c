// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The guest: runs the jobs of a plan and prints what the host reads.
 *
 *   gcc -static -O2 -o guest guest/[a-z]*.c
 *
 * As process 1 (the kernel starts it as /init) it mounts what programs expect,
 * reads /plan and powers off. On any Linux it is an ordinary program:
 *
 *   guest --plan FILE [--cpu N]
 *                         exit 0: every job ran; 1: an error line was printed;
 *                         2: no plan, or not on processor N, where everything
 *                         that it starts is to stay
 */
#define _GNU_SOURCE	/* CPU_SET */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "fpu.h"
#include "guest.h"

/* Major and minor number of /dev/console (Documentation/admin-guide/devices.txt). */
#define CONSOLE_MAJOR 5
#define CONSOLE_MINOR 1

/* A kernel without one of these file systems still runs the jobs that do not
 * need it, so a failure is no error here. */
static void mount_one(const char *type, const char *where)
{
	(void)mkdir(where, 0755);
	(void)mount(type, where, type, 0, NULL);
}

/* The kernel gives process 1 a console only when the initramfs holds the node. */
static void open_console(void)
{
	int fd;

	(void)mknod("/dev/console", S_IFCHR | 0600, makedev(CONSOLE_MAJOR, CONSOLE_MINOR));
	fd = open("/dev/console", O_RDWR | O_CLOEXEC);
	for (int i = 0; fd >= 0 && i <= STDERR_FILENO; i++)
		(void)dup2(fd, i);
}

/* Without an interface, a kernel without a network, there is nothing to do. */
static void start_loopback(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	(void)ioctl(fd, SIOCSIFFLAGS, &request);
	close(fd);
}

static void become_a_system(void)
{
	mount_one("devtmpfs", "/dev");
	mount_one("proc", "/proc");
	mount_one("sysfs", "/sys");
	mount_one("tmpfs", "/tmp");
	open_console();
	start_loopback();
}

/* With `reboot=t` and QEMU's -no-reboot a reset ends QEMU with status 0. */
static void power_off(void)
{
	sync();
	(void)reboot(RB_AUTOBOOT);
	/* Process 1 must not return: that would be a panic. */
	for (;;)
		pause();
}

static bool run_line(const char *path, unsigned int number, char *line, size_t len)
{
	char why[256] = "it holds a NUL byte";
	struct job job;
	bool whole = strlen(line) == len;

	line[strcspn(line, "\n")] = '\0';
	switch (whole ? plan_parse(line, &job, why, sizeof(why)) : PLAN_BAD) {
	case PLAN_JOB:
		return run_job(&job);
	case PLAN_BAD:
		out_line("@tg error %s line %u: %s", path, number, why);
		return false;
	case PLAN_NOTHING:
		break;
	}
	return true;
}

static int run_lines(const char *path, FILE *plan)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int status = 0;

	for (unsigned int number = 1; (len = getline(&line, &room, plan)) >= 0; number++)
		if (!run_line(path, number, line, (size_t)len))
			status = 1;
	free(line);
	if (!ferror(plan))
		return status;
	out_line("@tg error cannot read %s: %s", path, strerror(errno));
	return 2;
}

/* The exit status. */
static int run_plan(const char *path)
{
	FILE *plan = fopen(path, "re");
	int status = 2;

	out_line("@tg guest 1");
	if (plan) {
		status = run_lines(path, plan);
		fclose(plan);
	} else {
		out_line("@tg error cannot open %s: %s", path, strerror(errno));
	}
	out_line("@tg done");
	out_drain();
	return status;
}

static bool stay_on(const char *number)
{
	char *end;
	unsigned long cpu = strtoul(number, &end, 10);
	cpu_set_t set;

	CPU_ZERO(&set);
	errno = EINVAL;
	if (*number && !*end && cpu < CPU_SETSIZE) {
		CPU_SET(cpu, &set);
		if (!sched_setaffinity(0, sizeof(set), &set))
			return true;
	}
	fprintf(stderr, "cannot stay on processor '%s': %s\n", number, strerror(errno));
	return false;
}

int main(int argc, char **argv)
{
	bool pinned = argc == 5 && !strcmp(argv[3], "--cpu");

	if (getpid() == 1) {
		become_a_system();
		run_plan("/plan");
		power_off();
	}
	if (argc == 2 && !strcmp(argv[1], FPU_INITIAL))
		return !fpu_is_initial();
	if ((argc != 3 && !pinned) || strcmp(argv[1], "--plan")) {
		fprintf(stderr, "usage: %s --plan FILE [--cpu N] (or be process 1 with a file /plan)\n",
			argc ? argv[0] : "guest");
		return 2;
	}
	if (pinned && !stay_on(argv[4]))
		return 2;
	return run_plan(argv[2]);
}
