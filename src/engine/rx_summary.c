// SPDX-License-Identifier: GPL-2.0-only
#include "engine/rx_summary.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "data/description.h"
#include "report/json.h"
#include "report/text.h"

/* Which frames of lost records were late the kernel's histogram tells, but for those in the bucket of the deadline. */
static void correct_late(struct rx_stream *stream, enum stamp_source source, int64_t deadline_ns,
			 const struct receiver_exact *exact)
{
	uint64_t late = 0, unsure = 0;
	struct rx_counts *counts = &stream->counts;
	struct histogram_bucket bucket;
	uint32_t cursor = 0;

	while (histogram_next(&exact->latency, &cursor, &bucket)) {
		uint32_t wide;

		if (bucket.low < 0)
			continue;
		/* what was imported stands in the middle of a wider one */
		wide = bucket_of((uint64_t)bucket.low, RX_HISTOGRAM_BITS);
		if ((int64_t)bucket_low(wide, RX_HISTOGRAM_BITS) > deadline_ns)
			late += bucket.count;
		else if (wide == BUCKETS(RX_HISTOGRAM_BITS) - 1 ||
			 (int64_t)bucket_high(wide, RX_HISTOGRAM_BITS) > deadline_ns)
			unsure += bucket.count;
	}
	/* of the deadline's bucket the records tell some; a duplicate whose first record was lost is late for them alone */
	if (counts->late[source] > late) {
		uint64_t more = counts->late[source] - late;

		more = more < unsure ? more : unsure;
		late += more;
		unsure -= more;
	}
	counts->late[source] = late;
	counts->unsure[source] = unsure;
}

/* NULL: user space gave it up. One of which no record came is none of those. */
static struct rx_stream *stream_of(struct rx_metrics *metrics, const struct receiver_exact *exact)
{
	for (size_t i = 0; i < metrics->count; i++)
		if (metrics->streams[i]->run == exact->run &&
		    metrics->streams[i]->stream == exact->stream)
			return metrics->streams[i];
	if (exact->records_lost < exact->frames)
		return NULL;
	return rx_metrics_unseen(metrics, exact->run, exact->stream, exact->frames);
}

void rx_correct(struct rx_metrics *metrics, enum stamp_source source,
		const struct receiver_exact *exact)
{
	struct sequence_counts *counts;
	struct rx_stream *stream;
	struct histogram *latency;

	if (!exact->records_lost)
		return;
	stream = stream_of(metrics, exact);
	/* fewer frames: the kernel forgot the stream when it was short of room, and began anew */
	if (!stream || exact->frames < stream->frames)
		return;
	counts = &stream->counts.sequence;
	free(stream->sequence); /* from here on `counts` is read as it is */
	stream->sequence = NULL;
	stream->frames = exact->frames;
	*counts = (struct sequence_counts){
		.received = exact->frames,
		.unique = exact->unique,
		.lost = exact->lost,
		.duplicate = exact->duplicate,
		.reordered = exact->reordered,
		.stray = exact->stray,
		.restarts = exact->restarts,
		.gaps = exact->gaps,
		.gap_max = exact->gap_max,
		.reorder_max = exact->reorder_max,
		.before_first = sequence_before_first(exact->first, exact->restarts),
	};
	/* the kernel does not know which frames are unsynced: the records alone tell then, and the rest is not judged */
	if (stream->counts.unsynced || !exact->latency.count)
		return;
	if (metrics->options.deadline_ns)
		correct_late(stream, source, metrics->options.deadline_ns, exact);
	latency = histogram_at(&stream->latency[source]);
	if (latency) {
		histogram_reset(latency);
		histogram_merge(latency, &exact->latency);
	}
}

/* One-way latencies are no better than the clocks at both ends. */
static void print_clocks(FILE *out, const struct rx_summary *summary)
{
	enum stamp_source source = summary->facts->setup->source;
	int64_t own_ns = clock_uncertainty_ns(summary->clocks, source);
	char duration[DURATION_TEXT];

	if (!summary->metrics->count)
		return;
	if (summary->sync_losses || summary->unsynced_ns)
		fprintf(out, "\nclocks: %s; lost %" PRIu64 " times, not in sync for %s\n",
			summary->sync, summary->sync_losses,
			format_duration(summary->unsynced_ns / NSEC_PER_MSEC * NSEC_PER_MSEC,
					duration));
	if (summary->unjudged)
		fprintf(out,
			"\n%" PRIu64 " frames were counted before it was known whether the clocks "
			"were good\n",
			summary->unjudged);
	if (own_ns >= 0)
		fprintf(out,
			"\nlatency(%s) is uncertain by %" PRId64
			" ns of this side's clock and by the "
			"sender's (join its log: tsnpub report)\n",
			source_name(source), own_ns);
}

void rx_summary_text(FILE *out, const struct rx_summary *summary)
{
	const struct rx_facts *facts = summary->facts;

	fprintf(out, "%s: %.1f s, ended by %s; %s\n", facts->options->ifname,
		(double)summary->elapsed_ns / 1e9, summary->ended, facts->setup->text);
	if (!summary->metrics->count)
		fputs("0 frames received:\n", out);
	else
		text_print_rx(out, summary->metrics);
	print_clocks(out, summary);
	rx_explain_drops(out, facts);
	if (!summary->metrics->count)
		rx_explain_nothing(out, facts);
	if (summary->log_path && summary->log_lost)
		fprintf(out,
			"  %-14" PRIu64 " records are missing in %s: it could not be written\n",
			summary->log_lost, summary->log_path);
	rx_blame_print(out, summary->blame);
	verdict_print(out, summary->verdict);
}

static json_t *counters_object(const struct rx_facts *facts)
{
	const struct rx_counters *c = &facts->counters;
	json_t *ethertypes = json_object();
	json_t *object;

	for (int i = 0; i < RX_ETHERTYPES && c->ethertype_frames[i]; i++) {
		char name[8];

		snprintf(name, sizeof(name), "0x%04x", c->ethertype[i]);
		json_object_set_new(ethertypes, name,
				    json_integer((json_int_t)c->ethertype_frames[i]));
	}
	/* "given_up" frames are among "ours": of pairs that user space had no room for */
	object = json_pack("{sI sI sI sI sI sI sI sI sI sI sI sI sI sI sI}", "ours",
			   (json_int_t)c->ours, "bytes", (json_int_t)c->bytes, "tagged",
			   (json_int_t)c->tagged, "records_lost", (json_int_t)c->records_lost,
			   "socket_drops", (json_int_t)facts->socket_drops, "too_many_runs",
			   (json_int_t)c->ignored_many, "given_up", (json_int_t)facts->other_frames,
			   "other_streams", (json_int_t)c->ignored_stream, "other_runs",
			   (json_int_t)c->ignored_run, "too_short", (json_int_t)c->too_short,
			   "wrong_version", (json_int_t)c->wrong_version, "wrong_magic",
			   (json_int_t)c->wrong_magic, "wrong_ethertype",
			   (json_int_t)c->wrong_ethertype, "all_zero", (json_int_t)c->all_zero,
			   "without_hw_stamp", (json_int_t)c->no_hw_stamp);
	json_object_set_new(object, "foreign", json_integer((json_int_t)c->foreign));
	json_object_set_new(object, "foreign_ethertypes", ethertypes);
	return object;
}

/* The explanation's lines as an array of texts. */
static json_t *explanation(const struct rx_summary *summary)
{
	json_t *lines = json_array();
	char *text = NULL, *line, *rest;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return lines;
	rx_explain_drops(out, summary->facts);
	if (!summary->metrics->count)
		rx_explain_nothing(out, summary->facts);
	fclose(out);
	for (rest = text; (line = strsep(&rest, "\n"));) {
		while (*line == ' ')
			line++;
		if (*line)
			json_array_append_new(lines, json_string(line));
	}
	free(text);
	return lines;
}

int rx_summary_json(FILE *out, const struct rx_summary *summary, struct error *err)
{
	const struct receiver_setup *setup = summary->facts->setup;
	json_t *document = json_of_rx(summary->metrics), *notes = json_array();
	int64_t own_ns = clock_uncertainty_ns(summary->clocks, setup->source);

	for (unsigned int i = 0; i < setup->note_count; i++)
		json_array_append_new(notes, json_string(setup->notes[i]));
	json_object_set_new(document, "interface", json_string(summary->facts->options->ifname));
	json_object_set_new(document, "elapsed_ns", json_integer(summary->elapsed_ns));
	json_object_set_new(document, "ended_by", json_string(summary->ended));
	json_object_set_new(
		document, "path",
		json_string(setup->xdp ? setup->native ? "xdp-native" : "xdp-generic" : "socket"));
	json_object_set_new(document, "stamps", json_string(source_name(setup->source)));
	/* tags that the NIC took off are not among "tagged" */
	json_object_set_new(document, "nic_strips_tags", json_boolean(summary->facts->vlan_strip));
	json_object_set_new(document, "counters", counters_object(summary->facts));
	json_object_set_new(document, "explanation", explanation(summary));
	json_object_set_new(document, "notes", notes);
	json_object_set_new(document, "sync", json_string(summary->sync));
	json_object_set_new(document, "sync_losses",
			    json_integer((json_int_t)summary->sync_losses));
	json_object_set_new(document, "unsynced_ns", json_integer(summary->unsynced_ns));
	json_object_set_new(document, "sync_unjudged", json_integer((json_int_t)summary->unjudged));
	if (own_ns >= 0)
		json_object_set_new(document, "receiver_uncertainty_ns", json_integer(own_ns));
	if (summary->verdict->judged)
		json_object_set_new(document, "verdict", verdict_json(summary->verdict));
	if (summary->blame)
		json_object_set_new(document, "blame", rx_blame_json(summary->blame));
	if (summary->log_path) {
		json_object_set_new(document, "log", describe_bytes(summary->log_path));
		json_object_set_new(document, "log_lost",
				    json_integer((json_int_t)summary->log_lost));
	}
	return json_print(out, document, err);
}
