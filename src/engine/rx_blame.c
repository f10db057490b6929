// SPDX-License-Identifier: GPL-2.0-only
#include "engine/rx_blame.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "base/worker.h"
#include "data/histogram.h"
#include "engine/blame.h"
#include "engine/blame_report.h"
#include "host/capability.h"

/* Before so many frames nothing is known about their distribution. */
#define SETTLED 1000
/* What is later than the median by less than this is no lateness that anyone hunts. */
#define WORTH_NS (20 * NSEC_PER_USEC)
/* Late ones of one drain that are looked at: each takes some microseconds. */
#define LATE_MAX 256

enum stage {
	STAGE_LEARNING, /* what is usual, without blame */
	STAGE_ATTACHING,
	STAGE_FOLLOWING,
	STAGE_FAILED, /* to be attached, which is yet to be said */
	STAGE_NONE,
};

/* Latencies before and with blame; the latest SETTLED and the first SETTLED. */
struct sample {
	int64_t latency[SETTLED];
	uint64_t count;
};

struct rx_blame {
	struct blame *blame;
	struct blame_tally tally;
	struct histogram
		latency; /* of the kernel's stamps: those are taken on the CPU that is followed */
	int64_t over_ns;
	int64_t median_ns, threshold_ns; /* INT64_MAX: not known yet */
	struct late {
		int64_t due, stamp; /* CLOCK_TAI */
	} late[LATE_MAX]; /* since the last drain */
	size_t late_count;
	uint64_t unlooked;
	enum stage stage;
	struct sample without, with;
	bool measured;
	struct blame_tenth without_it, with_it; /* of them */
	/* attaches, with the capabilities for it */
	struct worker *worker;
	atomic_int attached; /* 1, or -1 with the error */
	struct error attach_err;
};

/* The worker's: at first to give up what it does not need, then to attach. */
enum job {
	JOB_NONE,
	JOB_DROP,
	JOB_ATTACH,
};

static enum job jobs[] = { [JOB_DROP] = JOB_DROP, [JOB_ATTACH] = JOB_ATTACH };

static void work(void *context, void *block)
{
	struct rx_blame *b = context;
	struct error ignored = ERROR_INIT;
	uint64_t keep = 1ULL << CAP_BPF | 1ULL << CAP_PERFMON;

	if (*(enum job *)block == JOB_ATTACH) {
		atomic_store(&b->attached, blame_attach(b->blame, &b->attach_err) < 0 ? -1 : 1);
		return;
	}
	/* where there was no thread to be had this is the receiver's own, which needs more */
	if (syscall(SYS_gettid) == getpid())
		return;
	if (!capability_have(CAP_BPF) || !capability_have(CAP_PERFMON))
		keep |= 1ULL << CAP_SYS_ADMIN;
	capability_keep_only(keep, &ignored);
}

struct rx_blame *rx_blame_open(int64_t over_ns)
{
	struct rx_blame *b = calloc(1, sizeof(*b));
	struct error err = ERROR_INIT;

	if (b)
		b->blame = blame_load(0, &err);
	if (b && b->blame)
		b->worker = worker_new(work, b);
	if (!b || !b->blame || !b->worker) {
		message_warn("--blame is not available: %s", err.text[0] ? err.text : "no memory");
		if (b)
			blame_close(b->blame);
		free(b);
		return NULL;
	}
	worker_give(b->worker, &jobs[JOB_DROP]);
	b->over_ns = over_ns;
	b->threshold_ns = INT64_MAX;
	b->tally.cpu = -1;
	b->tally.frames = true;
	if (*blame_missing(b->blame))
		message_note("--blame: this kernel does not show %s", blame_missing(b->blame));
	return b;
}

static void sample(struct rx_blame *b, int64_t latency)
{
	if (b->stage == STAGE_LEARNING)
		b->without.latency[b->without.count++ % SETTLED] = latency;
	else if (b->stage == STAGE_FOLLOWING && b->with.count < SETTLED)
		b->with.latency[b->with.count++] = latency;
}

void rx_blame_add(struct rx_blame *b, const struct rx_record *records, size_t count)
{
	for (size_t i = 0; b && i < count; i++) {
		const struct rx_record *r = &records[i];
		int64_t latency, late;

		if (r->rx_xdp == STAMP_NONE || r->launch == STAMP_NONE ||
		    __builtin_sub_overflow(r->rx_xdp, r->launch, &latency))
			continue;
		histogram_add(&b->latency, latency, (uint64_t)r->seq, r->stream);
		sample(b, latency);
		if (b->threshold_ns == INT64_MAX ||
		    __builtin_sub_overflow(latency, b->median_ns, &late) || late <= b->threshold_ns)
			continue;
		if (b->late_count == LATE_MAX || late >= r->rx_xdp)
			b->unlooked++;
		else
			b->late[b->late_count++] = (struct late){ r->rx_xdp - late, r->rx_xdp };
	}
}

static void look_at_late(struct rx_blame *b)
{
	struct blame_case recent;
	int64_t ahead, since;

	if (!b->late_count)
		return;
	ahead = tai_now_ns() - clock_now_ns(CLOCK_MONOTONIC);
	since = blame_look(b->blame, &recent);
	for (size_t i = 0; i < b->late_count; i++) {
		recent.due = b->late[i].due - ahead;
		recent.awake = b->late[i].stamp - ahead;
		/* what ran when it was due has been forgotten: half an answer would blame the wrong one */
		if (recent.due < since)
			b->unlooked++;
		else
			blame_tally_add(&b->tally, &recent);
	}
	b->late_count = 0;
	b->tally.unkept = b->unlooked;
}

static void move_threshold(struct rx_blame *b)
{
	int64_t top;

	if (!histogram_percentile(&b->latency, 2, &b->median_ns) ||
	    !histogram_percentile(&b->latency, 1000, &top))
		return;
	b->threshold_ns = b->over_ns                      ? b->over_ns
			  : top - b->median_ns > WORTH_NS ? top - b->median_ns
							  : WORTH_NS;
	b->tally.threshold_ns = b->threshold_ns;
	b->tally.follows = !b->over_ns;
}

/* Once its programs are attached. */
static void begin(struct rx_blame *b)
{
	worker_finish(b->worker);
	b->worker = NULL;
	b->stage = atomic_load(&b->attached) > 0 ? STAGE_FOLLOWING : STAGE_FAILED;
	if (b->stage != STAGE_FOLLOWING)
		return;
	move_threshold(b);
	blame_follow_cpu(b->blame, b->tally.cpu);
}

void rx_blame_drained(struct rx_blame *b)
{
	if (!b)
		return;
	look_at_late(b);
	if (b->stage == STAGE_ATTACHING && atomic_load(&b->attached))
		begin(b);
}

int rx_blame_tick(struct rx_blame *b, int cpu, struct error *err)
{
	if (!b)
		return 0;
	if (b->stage == STAGE_FAILED) {
		b->stage = STAGE_NONE;
		*err = b->attach_err;
		return -1;
	}
	if (b->stage == STAGE_LEARNING && cpu >= 0 && b->latency.count >= SETTLED) {
		b->tally.cpu = cpu;
		b->stage = STAGE_ATTACHING;
		worker_give(b->worker, &jobs[JOB_ATTACH]);
	}
	if (b->stage != STAGE_FOLLOWING)
		return 0;
	move_threshold(b);
	if (cpu >= 0 && cpu != b->tally.cpu) {
		b->tally.cpu = cpu;
		blame_follow_cpu(b->blame, cpu);
	}
	return 0;
}

void rx_blame_end(struct rx_blame *b)
{
	if (!b)
		return;
	worker_finish(b->worker);
	b->worker = NULL;
	blame_stop(b->blame);
	b->measured = b->with.count == SETTLED;
	if (!b->measured)
		return;
	b->without_it = blame_tenth_of(b->without.latency, SETTLED);
	b->with_it = blame_tenth_of(b->with.latency, SETTLED);
}

void rx_blame_print(FILE *out, const struct rx_blame *b)
{
	char cost[BLAME_COST_TEXT];

	if (!b || b->stage >= STAGE_FAILED)
		return;
	if (b->stage != STAGE_FOLLOWING) {
		fputs("\nBlame\n  nobody: it is not known which CPU takes the frames, and what is "
		      "usual (too few of them, or they came through a socket)\n",
		      out);
		return;
	}
	blame_print(out, &b->tally, b->blame);
	if (!b->measured)
		return;
	fprintf(out,
		"\nBlame makes a frame's stamp %s of latency (%d frames each, before and with it; "
		"what else has changed meanwhile is in it)\n",
		blame_cost_text(&b->with_it, &b->without_it, cost), SETTLED);
}

json_t *rx_blame_json(const struct rx_blame *b)
{
	json_t *o = b && b->stage < STAGE_FAILED ? blame_json(&b->tally, b->blame) : NULL;

	if (o && b->measured)
		json_object_set_new(
			o, "cost",
			json_pack("{s:I,s:I,s:I,s:I,s:i}", "stamp_later_ns",
				  (json_int_t)(b->with_it.ns - b->without_it.ns), "with_ns",
				  (json_int_t)b->with_it.ns, "without_ns",
				  (json_int_t)b->without_it.ns, "noise_ns",
				  (json_int_t)blame_cost_noise(&b->with_it, &b->without_it),
				  "frames", SETTLED));
	return o;
}

void rx_blame_close(struct rx_blame *b)
{
	if (!b)
		return;
	worker_finish(b->worker);
	blame_close(b->blame);
	histogram_free(&b->latency);
	free(b);
}
