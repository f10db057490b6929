/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A transmission schedule: traffic classes, the gate control list (IEEE 802.1Q-2022, 8.6.8.4) and the classes that
 * take launch times. Pure: no system call.
 */
#ifndef TC_SCHEDULE_H
#define TC_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/stream.h"
#include "tc/findings.h"

#define SCHEDULE_CLASSES_MAX 16 /* the kernel's TC_QOPT_MAX_QUEUE */
#define SCHEDULE_GATES_MAX \
	1024 /* above, the kernel can no longer show in one dump what is installed */
#define SCHEDULE_QUEUES_MAX 64
#define SCHEDULE_NAME 32
#define SCHEDULE_FRAME_MAX 9018 /* jumbo, from the Ethernet header to the end of the payload */
#define PRIORITIES 8 /* of a VLAN tag; the kernel's 8 to 15 go with 0 */
#define FRAME_SIZE_DEFAULT \
	1518 /* largest frame of a class that names none: 1500 + header + VLAN tag */

enum schedule_mode {
	SCHEDULE_AUTO,
	SCHEDULE_FULL_OFFLOAD, /* taprio, gates in the NIC */
	SCHEDULE_TXTIME_ASSIST, /* taprio computes launch times for etf */
	SCHEDULE_SOFTWARE, /* taprio, gates in the kernel */
	SCHEDULE_MQPRIO, /* classes only, no gates; launch times through etf */
};

enum schedule_choice {
	CHOICE_AUTO,
	CHOICE_ON,
	CHOICE_OFF
};

struct traffic_class {
	char name[SCHEDULE_NAME];
	uint8_t priorities; /* bit p: priority p belongs to it */
	uint16_t queue_first; /* TX queues queue_first .. queue_first + queue_count - 1 */
	uint16_t queue_count;
	bool launch_time; /* etf on its queues: frames without a launch time are dropped */
	enum schedule_choice etf_offload;
	int64_t delta_ns; /* etf: handed to the NIC at launch time - delta */
	uint32_t
		max_frame; /* bytes, header to end of payload without FCS; 0: no limit of its own */
	bool preemptible; /* IEEE 802.3br */
};

struct gate {
	uint32_t open; /* bit c: class c may send */
	int64_t duration_ns;
};

enum base_kind {
	BASE_AUTO, /* the next multiple of the cycle since the TAI epoch, with time to deploy */
	BASE_ABSOLUTE, /* TAI */
	BASE_PHASE, /* as auto, plus the phase */
};

enum guard_kind {
	GUARD_AUTO, /* closes classes earlier by their largest frame where the NIC does not keep windows itself */
	GUARD_NONE,
	GUARD_TIME,
};

struct schedule {
	char interface[16];
	char driver[32]; /* "" or the hint of the file, for a plan without the NIC */
	uint32_t speed_mbps; /* 0 or the hint of the file */
	enum schedule_mode mode;
	int64_t cycle_ns; /* of the gates */
	int64_t stream_cycle_ns; /* of the streams; the gate cycle is a multiple of it, or equal */
	int64_t extension_ns; /* cycle-time-extension */
	enum base_kind base_kind;
	int64_t base_ns; /* absolute, or the phase */
	int64_t txtime_delay_ns; /* txtime-assist */
	enum guard_kind guard_kind;
	int64_t guard_ns;
	int64_t margin_ns; /* wanted free time behind each stream in its slot: jitter of launch and clocks */
	uint8_t ptp_priority; /* ptp4l's socket_priority, 0 by default */
	unsigned class_count; /* class number = place in the list, from 0 */
	struct traffic_class classes[SCHEDULE_CLASSES_MAX];
	bool plan_gates; /* gates: plan, or none where streams are to get slots */
	unsigned gate_count;
	struct gate gates[SCHEDULE_GATES_MAX];
};

/* A window in which a class is open, within the gate cycle: [start, end), 0 <= start < end <= 2 * cycle. */
struct window {
	int64_t start_ns;
	int64_t end_ns;
};

const char *schedule_mode_name(enum schedule_mode mode);
/* -1 when there is no such mode. */
int schedule_mode_find(const char *name);

/* Number of the class that carries the priority (0 to 15; those the file does not name go with 0), or -1. */
int schedule_class_of(const struct schedule *schedule, unsigned priority);

/* Number of the class of that name, or -1. */
int schedule_class_find(const struct schedule *schedule, const char *name);

/* Sum of the gates' durations. Saturates at INT64_MAX. */
int64_t schedule_gates_total(const struct schedule *schedule);

/*
 * The windows of a class over one cycle, in order. A window that runs over the cycle's end into the next one is given
 * once, with end > cycle; a class that is always open has one window [0, 2 * cycle). Without gates all are always open.
 * Returns their number; at most `room` are written (SCHEDULE_GATES_MAX is always enough).
 */
unsigned schedule_windows(const struct schedule *schedule, unsigned class, struct window *windows,
			  unsigned room);

/*
 * The gate list with the guard bands worked in: each class that closes does so `guard_ns[class]` earlier. `from` and
 * `to` must differ. An interval shorter than the guard is closed wholly for that class, never more than one interval.
 * Neighbours that became equal are joined; without any guard the list stays as it is. Returns 0, or -1 when more than SCHEDULE_GATES_MAX gates would result.
 */
int schedule_apply_guard(const struct schedule *from, const int64_t guard_ns[SCHEDULE_CLASSES_MAX],
			 struct schedule *to);

/*
 * Base time for the schedule: a multiple of the cycle (plus the phase) at least `lead_ns` after `now_ns`; the absolute
 * time as it stands for BASE_ABSOLUTE.
 */
int64_t schedule_base_time(const struct schedule *schedule, int64_t now_ns, int64_t lead_ns);

/* "control+video", "(all closed)"; bounded. Returns buffer. */
char *schedule_open_names(const struct schedule *schedule, uint32_t open, char *buffer,
			  size_t size);

/* "0-3" or "2". Returns buffer. */
char *schedule_queue_text(const struct traffic_class *class, char buffer[16]);

/* "0-4,7", or "none". Returns buffer. */
char *schedule_priority_text(const struct traffic_class *class, char buffer[24]);

#endif
