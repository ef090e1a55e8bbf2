/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What count.c counts in the server, and session.c reads: a file that both map. */
#ifndef SOUND_SERVER_COUNT_H
#define SOUND_SERVER_COUNT_H

#define COUNT_FILE "/tmp/counts"
#define REQUESTS 256

struct counts {
	/* ioctls of a PCM, by the number of the request (include/uapi/sound/asound.h) */
	unsigned long asked[REQUESTS];
	/* reads of a control, which is where softvol has its volume */
	unsigned long volumes;
	/* poll() and ppoll() of all threads that returned */
	unsigned long wakes;
	/* answers that say that more was free than the buffer holds, or that the PCM
	 * had run out */
	unsigned long underruns;
};

#endif
