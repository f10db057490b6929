/* SPDX-License-Identifier: GPL-2.0-only */
/* What the two ways of receiving give to receiver.c. */
#ifndef ENGINE_RECEIVER_PRIVATE_H
#define ENGINE_RECEIVER_PRIVATE_H

#include "engine/receiver.h"
#include "host/hwtstamp.h"

#define RECEIVER_BATCH 256

struct receiver_way {
	uint64_t (*capabilities)(const void *way);
	int (*fd)(const void *way);
	int64_t (*drain)(void *way, int64_t limit, receiver_handler *handler, void *context,
			 struct error *err);
	void (*tick)(void *way);
	void (*counters)(const void *way, struct rx_counters *counters);
	int (*busiest_cpu)(void *way); /* NULL: not known */
	uint64_t (*drops)(const void *way);
	void (*each_exact)(const void *way,
			   void (*each)(void *context, const struct receiver_exact *exact),
			   void *context);
	bool (*alive)(const void *way);
	void (*close)(void *way);
};

extern const struct receiver_way xdp_receiver_way, socket_receiver_way;

/*
 * Both fill `setup` in and return NULL with the error filled in. `hardware`: the driver gives stamps of
 * all received frames (RX timestamping has been switched on).
 */
void *xdp_receiver_open(const struct receiver_options *options, int ifindex, bool hardware,
			struct receiver_setup *setup, struct error *err);
void *socket_receiver_open(const struct receiver_options *options, int ifindex, bool hardware,
			   struct receiver_setup *setup, struct error *err);

void receiver_note(struct receiver_setup *setup, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
