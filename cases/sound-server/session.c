// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * A sound server at work: starts it, lets aplay play through it, and counts what the
 * whole machine does.
 *
 *   session SECONDS ROW...
 *
 * ROW is SCHEDULING-PERIOD-BUFFER[-CARD]: `tsched-441-882` plays with periods of 441
 * frames, two in the client's buffer, through a sink that is woken by timers (`irq`: by
 * the device). Each row is a phase of that name: SECONDS seconds of a stream that has run
 * for a while, behind a shorter repetition that warms up. Or it is one of the `events`
 * below, each a phase that holds the event once.
 *
 * `pipewire-` before a row has PipeWire as the server, which has timers alone; the phase
 * is called as without it.
 *
 * CARD is a PCM of alsa.conf, `dummy` where it is not said. `softvol` has a volume of
 * alsa-lib in front of it, half way up. On `loop` every frame of the
 * stream is its own number, and what arrives at the other end of the loop is read back:
 * frames that are lost, repeated or silent are counted.
 *
 * The server's ioctls of the PCM, its wake-ups and its underruns are counted in it by
 * count.c. A server that ends, or underruns while nothing else happens, ends the program:
 * it is not cheaper.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <sound/asound.h>

#include "count.h"
#include "tollgate_bench.h"

/* Paths of the guest, which holds nothing but this session. */
#define SERVER "/usr/bin/pulseaudio"
#define PIPEWIRE "/usr/bin/pipewire"
#define LINKER "/usr/bin/pw-link"
#define PLAYER "/usr/bin/aplay"
#define COUNTER "/lib/count.so"
#define RECORDER "/usr/bin/arecord"
#define SOCKET "/tmp/pulse.sock"
#define PIPEWIRE_SOCKET "/tmp/pipewire-0"
#define CLI "/tmp/pulse/cli"
#define SERVER_LOG "/tmp/server.log"
#define PLAYER_LOG "/tmp/player.log"
#define RECORDER_LOG "/tmp/recorder.log"
#define LINKER_LOG "/tmp/linker.log"
#define SIGNAL "/tmp/signal"
#define RECORDING "/tmp/recording"
#define SILENCE "/dev/zero"
/* What alsa.conf calls the volume of softvol, and what of it is 0 dB. */
#define VOLUME "PCM Playback Volume"
#define LOUDEST 255
#define CARDS 8
#define DRIVER "/sys/bus/platform/drivers/snd_dummy/"

#define RATE 44100
#define FRAME 4
/* Seconds after which a kernel that has just booted has timers finer than its tick. */
#define SETTLE 3
/* Seconds of a stream after which its server wakes up as it will from then on. */
#define STEADY 5
/* Seconds of the repetition that warms up, which is not counted. */
#define WARM_UP 10
#define RUNS 2
/* Tenths of a second that a server may take to be there. */
#define PATIENCE 100

struct row {
	char name[32];
	bool pipewire, timers;
	long period, buffer;
	char card[16];
};

/* A row that is at work. */
struct session {
	const struct row *row;
	pid_t server, player;
};

static struct counts *counts;
static bool in_phase;

static void __attribute__((format(printf, 1, 2))) say_why(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	printf("\n");
	fflush(stdout);
}

/* The last line of a log, for a sentence. */
static const char *last_line(const char *path)
{
	static char kept[256];
	char line[256];
	FILE *log = fopen(path, "re");

	strcpy(kept, "nothing");
	while (log && fgets(line, sizeof(line), log)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line)
			strcpy(kept, line);
	}
	if (log)
		fclose(log);
	return kept;
}

/* A phase that has begun has to end, or nothing of the boot can be used. */
static void __attribute__((noreturn)) give_up(void)
{
	if (in_phase)
		tollgate_end();
	exit(1);
}

#define die(...) \
	do { \
		say_why(__VA_ARGS__); \
		give_up(); \
	} while (0)

static void nap(long milliseconds)
{
	struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static void make_counts(void)
{
	int fd = open(COUNT_FILE, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, sizeof(*counts)))
		die("%s: %s", COUNT_FILE, strerror(errno));
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counts == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	close(fd);
}

/* Starts a program whose words and errors go to `log`. */
static pid_t start(char *const *words, const char *log, const char *preload)
{
	pid_t pid = fork();
	int fd;

	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid)
		return pid;
	fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	if (preload)
		setenv("LD_PRELOAD", preload, 1);
	execv(words[0], words);
	dprintf(STDERR_FILENO, "%s: %s\n", words[0], strerror(errno));
	_exit(127);
}

static void end(pid_t pid)
{
	int status;

	kill(pid, SIGTERM);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
}

static void must_live(pid_t pid, const char *what, const char *log)
{
	int status;

	if (waitpid(pid, &status, WNOHANG) == 0)
		return;
	if (WIFSIGNALED(status))
		die("%s was killed by signal %d; it said last: %s", what, WTERMSIG(status),
		    last_line(log));
	die("%s ended with status %d; it said last: %s", what, WEXITSTATUS(status), last_line(log));
}

/* Whether somebody listens at the server's socket. */
static bool answers(const char *socket_path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool there;

	strcpy(address.sun_path, socket_path);
	there = fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof(address));
	close(fd);
	return there;
}

static int sink_words(char *words, size_t room, const struct row *row)
{
	int used = snprintf(words, room, "module-alsa-sink device=%s tsched=%d", row->card, row->timers);

	/* By itself the device wakes its server a few times in the server's own buffer. */
	if (!row->timers && row->period < RATE / 40)
		used += snprintf(words + used, room - (size_t)used, " fragment_size=%ld fragments=2",
				 row->period * FRAME);
	return used;
}

static void await(pid_t server, const char *socket_path)
{
	for (int i = 0; i < PATIENCE && !answers(socket_path); i++) {
		nap(100);
		must_live(server, "the server", SERVER_LOG);
	}
	if (!answers(socket_path))
		die("the server does not answer; it said last: %s", last_line(SERVER_LOG));
}

/* The control of snd-dummy, open. */
static int open_dummy(void)
{
	struct snd_ctl_card_info info;
	char path[32];

	for (int card = 0; card < CARDS; card++) {
		int fd;

		snprintf(path, sizeof(path), "/dev/snd/controlC%d", card);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!ioctl(fd, SNDRV_CTL_IOCTL_CARD_INFO, &info) && !strcmp((char *)info.id, "Dummy"))
			return fd;
		close(fd);
	}
	die("no card is called Dummy");
}

/* softvol makes its control and locks it, so somebody opens it before the server does. At
 * 0 dB, where it begins, softvol copies; at any other volume it converts. */
static void set_volume(void)
{
	char *words[] = { PLAYER, "-q", "-D", "softvol", "-f", "cd", "-t", "raw", "-s", "1", SILENCE,
			  NULL };
	struct snd_ctl_elem_value volume = {
		.id = { .iface = SNDRV_CTL_ELEM_IFACE_MIXER, .name = VOLUME },
		.value.integer.value = { LOUDEST / 2, LOUDEST / 2 },
	};
	int status, fd;

	waitpid(start(words, PLAYER_LOG, NULL), &status, 0);
	if (status)
		die("%s does not play through softvol: %s", PLAYER, last_line(PLAYER_LOG));
	fd = open_dummy();
	if (ioctl(fd, SNDRV_CTL_IOCTL_ELEM_WRITE, &volume) < 0)
		die("%s cannot be set: %s", VOLUME, strerror(errno));
	close(fd);
}

/* That the server's softvol has taken the volume for its own. */
static void check_volume(void)
{
	struct snd_ctl_elem_value volume = {
		.id = { .iface = SNDRV_CTL_ELEM_IFACE_MIXER, .name = VOLUME },
	};
	int fd = open_dummy();
	int result = ioctl(fd, SNDRV_CTL_IOCTL_ELEM_READ, &volume);

	if (result || volume.value.integer.value[0] != LOUDEST / 2)
		die("%s is %ld, not %d", VOLUME, volume.value.integer.value[0], LOUDEST / 2);
	close(fd);
}

static pid_t start_pipewire(void)
{
	char *words[] = { PIPEWIRE, "-c", "pipewire.conf", NULL };
	pid_t pid = start(words, SERVER_LOG, COUNTER);

	await(pid, PIPEWIRE_SOCKET);
	return pid;
}

static pid_t start_server(const struct row *row)
{
	bool softvol = !strcmp(row->card, "softvol");
	char sink[256], protocol[128];
	char *words[] = {
		SERVER, "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1",
		"--realtime=no", "--high-priority=no", "--log-level=info", "--log-time=no",
		"--dl-search-path=/usr/lib/pulse", "-L", sink, "-L", protocol,
		"-L", "module-cli-protocol-unix", NULL
	};
	pid_t pid;

	if (row->pipewire)
		return start_pipewire();
	sink_words(sink, sizeof(sink), row);
	snprintf(protocol, sizeof(protocol), "module-native-protocol-unix auth-anonymous=1 socket=%s",
		 SOCKET);
	unlink(SOCKET);
	if (softvol)
		set_volume();
	pid = start(words, SERVER_LOG, COUNTER);
	await(pid, SOCKET);
	if (softvol)
		check_volume();
	return pid;
}

/* What a session manager does: the player's channels to the card's. */
static void link_channels(void)
{
	static char *const channels[][2] = {
		{ "player:output_FL", "card:playback_FL" },
		{ "player:output_FR", "card:playback_FR" },
	};
	int status;

	for (size_t i = 0; i < sizeof(channels) / sizeof(*channels); i++) {
		char *words[] = { LINKER, channels[i][0], channels[i][1], NULL };

		waitpid(start(words, LINKER_LOG, NULL), &status, 0);
		if (status)
			die("%s does not link %s: %s", LINKER, channels[i][0], last_line(LINKER_LOG));
	}
}

static pid_t start_player(const struct row *row, char *file)
{
	char period[32], buffer[32];
	char *server = row->pipewire ? "pipewire" : "pulse";
	char *words[] = { PLAYER, "-q", "-D", server, "-f", "cd", "-t", "raw", period, buffer, file,
			  NULL };

	snprintf(period, sizeof(period), "--period-size=%ld", row->period);
	snprintf(buffer, sizeof(buffer), "--buffer-size=%ld", row->buffer);
	return start(words, PLAYER_LOG, NULL);
}

/* The numbers of include/uapi/sound/asound.h. */
static const struct {
	int number;
	const char *name;
} requests[] = {
	{ 0x20, "STATUS" }, { 0x21, "DELAY" }, { 0x22, "HWSYNC" },
	{ 0x23, "SYNC_PTR" }, { 0x24, "STATUS_EXT" },
};

static const char *name_of(int number)
{
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++)
		if (requests[i].number == number)
			return requests[i].name;
	return NULL;
}

static void tell(void)
{
	for (int number = 0; number < REQUESTS; number++) {
		const char *name = name_of(number);

		if (name)
			printf("@tg tally ioctl-%s %lu\n", name, counts->asked[number]);
		else if (counts->asked[number])
			printf("@tg tally ioctl-%#x %lu\n", number, counts->asked[number]);
	}
	if (counts->volumes)
		printf("@tg tally ioctl-ELEM_READ %lu\n", counts->volumes);
	printf("@tg tally wake-ups %lu\n", counts->wakes);
	printf("@tg tally underruns %lu\n", counts->underruns);
	fflush(stdout);
}

static void must_work(const struct session *session)
{
	must_live(session->server, "the server", SERVER_LOG);
	must_live(session->player, "aplay", PLAYER_LOG);
}

static void begin_phase(void)
{
	tollgate_wait_for_tick();
	memset(counts, 0, sizeof(*counts));
	in_phase = true;
	tollgate_begin();
}

static void end_phase(const char *name, long ops)
{
	tollgate_end();
	in_phase = false;
	tollgate_phase(name, ops);
	tell();
}

static void measure(const struct session *session, long seconds)
{
	begin_phase();
	nap(seconds * 1000);
	end_phase(session->row->name, seconds);
	must_work(session);
	if (counts->underruns)
		die("%lu underruns of the device in %ld seconds of %s", counts->underruns, seconds,
		    session->row->name);
}

/* ---- What arrives: each frame is its own number, from 1 on ---- */

static void write_signal(uint32_t frames)
{
	FILE *file = fopen(SIGNAL, "we");

	for (uint32_t i = 1; file && i <= frames; i++)
		fwrite(&i, sizeof(i), 1, file);
	if (!file || fclose(file))
		die("%s: %s", SIGNAL, strerror(errno));
}

static pid_t start_recorder(void)
{
	char *words[] = { RECORDER, "-q", "-D", "loop_end", "-f", "cd", "-t", "raw", RECORDING, NULL };

	return start(words, RECORDER_LOG, NULL);
}

struct arrived {
	unsigned long frames, lost, repeated, silent;
	uint32_t last, sum;
};

/* Silence before the first frame and behind the last is no part of the stream. */
static void take_frame(struct arrived *arrived, uint32_t frame, unsigned long *silence)
{
	if (!frame) {
		++*silence;
		return;
	}
	if (arrived->frames)
		arrived->silent += *silence;
	*silence = 0;
	if (frame > arrived->last + 1)
		arrived->lost += frame - arrived->last - 1;
	else if (frame <= arrived->last)
		arrived->repeated++;
	arrived->last = frame;
	arrived->frames++;
	/* FNV-1a of whole frames: two recordings of one sum hold the same frames. */
	arrived->sum = (arrived->sum ^ frame) * 16777619u;
}

static struct arrived read_back(void)
{
	struct arrived arrived = { .sum = 2166136261u };
	unsigned long silence = 0;
	FILE *file = fopen(RECORDING, "re");
	uint32_t frame;

	if (!file)
		die("%s: %s", RECORDING, strerror(errno));
	while (fread(&frame, sizeof(frame), 1, file) == 1)
		take_frame(&arrived, frame, &silence);
	fclose(file);
	return arrived;
}

/* The signal from its first frame to its last, once. */
static void send_signal(struct session *session, long seconds)
{
	struct arrived arrived;
	pid_t recorder = start_recorder();

	nap(500);
	begin_phase();
	session->player = start_player(session->row, SIGNAL);
	nap(seconds * 1000 + 2000);
	end_phase(session->row->name, seconds);
	must_live(session->server, "the server", SERVER_LOG);
	must_live(recorder, "arecord", RECORDER_LOG);
	end(session->player);
	end(recorder);
	arrived = read_back();
	printf("@tg tally audio-frames %lu\n@tg tally audio-lost %lu\n", arrived.frames, arrived.lost);
	printf("@tg tally audio-repeated %lu\n@tg tally audio-silent %lu\n", arrived.repeated,
	       arrived.silent);
	printf("@tg tally audio-sum %u\n", arrived.sum);
	fflush(stdout);
}

static void loop(const struct row *row, long seconds)
{
	struct session session = { .row = row, .server = start_server(row) };

	write_signal((uint32_t)(seconds * RATE));
	for (int i = 0; i < RUNS; i++)
		send_signal(&session, seconds);
	end(session.server);
}

/* ---- Events: what the server must survive ---- */

/* Says something to the server's command line, as pacmd does, and waits for an answer. */
static void command(const char *format, ...)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = CLI };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char answer[4096];
	va_list list;

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		die("%s: %s; the server said last: %s", CLI, strerror(errno), last_line(SERVER_LOG));
	va_start(list, format);
	vdprintf(fd, format, list);
	va_end(list);
	dprintf(fd, "\n");
	shutdown(fd, SHUT_WR);
	while (read(fd, answer, sizeof(answer)) > 0)
		;
	close(fd);
}

/* How often the server's log has these words. */
static unsigned long said(const char *words)
{
	FILE *log = fopen(SERVER_LOG, "re");
	unsigned long times = 0;
	char line[512];

	while (log && fgets(line, sizeof(line), log))
		times += strstr(line, words) != NULL;
	if (log)
		fclose(log);
	return times;
}

/* Nobody plays for longer than the sink may be idle; then somebody does again. */
static void suspend(struct session *session)
{
	end(session->player);
	nap(4000);
	session->player = start_player(session->row, SILENCE);
	nap(2000);
}

/* The volume, each time of which what is in the buffer is rendered anew. */
static void rewinds(struct session *session)
{
	for (int i = 0; i < 20; i++) {
		command("set-sink-volume 0 %#x", 0x8000 + i * 0x400);
		nap(150);
	}
	(void)session;
}

/* The client stops, so that the stream runs out, and goes on. */
static void stopped(struct session *session)
{
	kill(session->player, SIGSTOP);
	nap(3000);
	kill(session->player, SIGCONT);
	nap(2000);
}

/* The sink closes its device and opens it again, with the stream in it. */
static void closed(struct session *session)
{
	for (int i = 0; i < 3; i++) {
		command("suspend-sink 0 1");
		nap(700);
		command("suspend-sink 0 0");
		nap(1300);
	}
	(void)session;
}

/* The stream moves to a sink of the same device without timers, and back. */
static void without_timers(struct session *session)
{
	struct row other = *session->row;
	char sink[256];

	for (int i = 0; i < 2; i++) {
		other.timers = i == 1 && session->row->timers;
		sink_words(sink, sizeof(sink), &other);
		command("load-module module-null-sink sink_name=meanwhile");
		command("move-sink-input 0 meanwhile");
		command("unload-module module-alsa-sink");
		command("load-module %s sink_name=again", sink);
		command("move-sink-input 0 again");
		command("unload-module module-null-sink");
		nap(2000);
	}
}

static void write_word(const char *path, const char *word)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, word, strlen(word)) < 0)
		die("%s: %s", path, strerror(errno));
	close(fd);
}

/* The card goes, and another comes: the server unloads its sink and must live on. */
static void unplugged(struct session *session)
{
	char sink[256];

	write_word(DRIVER "unbind", "snd_dummy.0");
	nap(1500);
	must_live(session->server, "the server", SERVER_LOG);
	end(session->player);
	write_word(DRIVER "bind", "snd_dummy.0");
	nap(500);
	sink_words(sink, sizeof(sink), session->row);
	command("load-module %s", sink);
	session->player = start_player(session->row, SILENCE);
	nap(2000);
}

static const struct event {
	const char *name;
	void (*happens)(struct session *session);
	/* Modules that it needs, and what of it the log tells. */
	const char *module, *words;
} events[] = {
	{ "suspend", suspend, "module-suspend-on-idle timeout=1", "Device suspended" },
	{ "rewinds", rewinds, NULL, "Tried rewind, but was apparently not possible" },
	{ "stopped-client", stopped, NULL, "Underrun" },
	{ "closed-device", closed, NULL, "Device suspended" },
	{ "no-timers", without_timers, NULL, "Successfully opened device" },
	{ "unplugged", unplugged, NULL, "Failed to" },
};

static const struct event *event_of(const char *word, size_t length)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		if (strlen(events[i].name) == length && !strncmp(events[i].name, word, length))
			return &events[i];
	return NULL;
}

/* Once more than a phase: every one is the same then. */
static void survive(const struct event *event, const struct row *row)
{
	struct session session = { .row = row, .server = start_server(row) };
	unsigned long before;

	if (event->module)
		command("load-module %s", event->module);
	session.player = start_player(row, SILENCE);
	nap(3000);
	for (int i = 0; i < RUNS; i++) {
		before = said(event->words);
		begin_phase();
		event->happens(&session);
		end_phase(row->name, 1);
		printf("@tg tally log-lines %lu\n", said(event->words) - before);
		must_work(&session);
	}
	end(session.player);
	end(session.server);
}

static void play(const struct row *row, long seconds)
{
	struct session session = { .row = row, .server = start_server(row) };

	nap(1000);
	session.player = start_player(row, SILENCE);
	if (row->pipewire) {
		nap(1000);
		link_channels();
	}
	nap(STEADY * 1000);
	measure(&session, WARM_UP);
	measure(&session, seconds);
	end(session.player);
	end(session.server);
}

static struct row row_of(const char *word)
{
	static const char pipewire[] = "pipewire-";
	struct row row = { .card = "dummy" };
	char kind[8];

	row.pipewire = !strncmp(word, pipewire, strlen(pipewire));
	word += row.pipewire ? strlen(pipewire) : 0;
	if (sscanf(word, "%7[a-z]-%ld-%ld-%15[a-z_]", kind, &row.period, &row.buffer, row.card) < 3 ||
	    (strcmp(kind, "tsched") && strcmp(kind, "irq")))
		die("no row is called %s: tsched-PERIOD-BUFFER or irq-PERIOD-BUFFER", word);
	snprintf(row.name, sizeof(row.name), "%s", word);
	row.timers = !strcmp(kind, "tsched");
	if (row.pipewire && !row.timers)
		die("PipeWire has no row %s: it is woken by timers alone", word);
	return row;
}

/* `EVENT-ROW`, or a row. */
static void work_off(const char *word, long seconds)
{
	const char *kind = strstr(word, "-tsched");
	const struct event *event;
	struct row row;

	kind = kind ? kind : strstr(word, "-irq");
	event = kind ? event_of(word, (size_t)(kind - word)) : NULL;
	row = row_of(event ? kind + 1 : word);
	if (event) {
		snprintf(row.name, sizeof(row.name), "%s", word);
		survive(event, &row);
	} else if (!strcmp(row.card, "loop"))
		loop(&row, seconds);
	else
		play(&row, seconds);
}

static void set_environment(void)
{
	setenv("ALSA_CONFIG_PATH", "/etc/alsa.conf", 1);
	setenv("HOME", "/tmp", 1);
	setenv("LC_ALL", "C", 1);
	setenv("PULSE_RUNTIME_PATH", "/tmp/pulse", 1);
	setenv("PULSE_SERVER", "unix:" SOCKET, 1);
	setenv("PIPEWIRE_RUNTIME_DIR", "/tmp", 1);
	setenv("PIPEWIRE_CONFIG_DIR", "/etc", 1);
	mkdir("/tmp/pulse", 0700);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		die("usage: session SECONDS ROW...");
	set_environment();
	make_counts();
	sleep(SETTLE);
	for (int i = 2; i < argc; i++)
		work_off(argv[i], atol(argv[1]));
	return 0;
}
