/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lost, duplicate and reordered frames of one stream in one run, from 64-bit sequence numbers that
 * never wrap. O(1) for each frame, 2 KiB, whatever arrives.
 *
 * Reordered is RFC 4737's Type-P-Reordered: a frame whose number is below the highest seen so far,
 * and that was not seen before. A frame is lost while it is missing between the first and the highest
 * number seen; one that arrives late is no longer lost. Duplicates are those of RFC 5560.
 *
 * A number far outside of what is expected (SEQUENCE_JUMP ahead, or behind the window) is believed
 * only when SEQUENCE_CONFIRM frames in a row continue from it with no plausible one in between: a
 * forged or damaged frame is counted as a stray and changes nothing else.
 */
#ifndef DATA_SEQUENCE_H
#define DATA_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>

#define SEQUENCE_WINDOW 16384 /* frames behind the highest that can be told apart */
#define SEQUENCE_JUMP 65536 /* a larger step ahead has to be confirmed */
#define SEQUENCE_CONFIRM 16 /* frames in a row that confirm one */
#define SEQUENCE_GAP_MAX (1ULL << 32) /* a larger confirmed step is a restart, not loss */

enum sequence_verdict {
	SEQUENCE_IN_ORDER,
	SEQUENCE_REORDERED,
	SEQUENCE_DUPLICATE,
	SEQUENCE_STRAY, /* not believed (yet) */
};

struct sequence_counts {
	uint64_t received; /* all frames */
	uint64_t unique; /* without duplicates and strays */
	uint64_t lost;
	uint64_t duplicate;
	uint64_t reordered;
	uint64_t stray; /* implausible number: forged, damaged, or late beyond the window */
	uint64_t restarts; /* confirmed jumps back, or too far ahead to be loss */
	uint64_t reorder_max; /* largest distance, in numbers, behind the highest */
	/* steps over missing numbers, and the largest; what came late after all is in them too */
	uint64_t gaps, gap_max;
	/*
	 * Numbers below the first: frames that were sent before the receiver began to listen (or were lost
	 * then, which it cannot tell). 0 after a restart, and where the first number is beyond belief.
	 */
	uint64_t before_first;
};

#define SEQUENCE_BELIEVABLE (1ULL << 40) /* a year of frames at 31.25 us is less */

struct sequence_span {
	uint64_t first, highest; /* lowest and highest number believed in */
	uint64_t unique; /* of them */
	uint64_t lost_before, unique_before; /* of spans that a restart ended */
	uint64_t gaps, gap_max; /* of all spans */
};

struct sequence {
	uint64_t received, duplicate, reordered, stray, restarts, reorder_max;
	struct sequence_span span;
	struct sequence_span before_jump; /* in case it proves to be false */
	uint64_t restarts_before_jump;
	bool jumped;
	uint8_t held; /* numbers in `candidates`, counted as strays for now */
	uint64_t candidates[SEQUENCE_CONFIRM];
	uint64_t window[SEQUENCE_WINDOW / 64]; /* seen: bit (seq % SEQUENCE_WINDOW) */
};

/* Counts one frame. A zeroed struct is an empty tracker. */
enum sequence_verdict sequence_add(struct sequence *sequence, uint64_t seq);

/* sequence_counts.before_first, from the lowest number believed in. */
uint64_t sequence_before_first(uint64_t first, uint64_t restarts);

struct sequence_counts sequence_counts(const struct sequence *sequence);

#endif
