// SPDX-License-Identifier: GPL-2.0-only
#include "cli/publish_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct option_row {
	const char *name;
	char key; /* short form, or 0 */
	const char *arg; /* NULL: a flag */
	int group;
	const char *doc;
};

static const struct option_row options[PUBLISH_OPTIONS] = {
	[PUBLISH_IFACE] = { "iface", 'i', "NAME", 1, "the interface to send from (needed)" },
	[PUBLISH_CYCLE] = { "cycle", 'c', "TIME", 1, "31.25us to 10s (needed)" },
	[PUBLISH_COUNT] = { "count", 'n', "N", 1,
			    "end after so many cycles, skipped ones included" },
	[PUBLISH_DURATION] = { "duration", 'd', "TIME", 1,
			       "end after this time; without either: at Ctrl-C" },
	[PUBLISH_DEST] = { "dest", 0, "MAC", 2, "destination (91:e0:f0:00:fe:00 + stream id)" },
	[PUBLISH_SOURCE] = { "source", 0, "MAC", 2, "source address (the interface's own)" },
	[PUBLISH_VLAN] = { "vlan", 0, "VID", 2, "0 to 4094: add a VLAN tag (none)" },
	[PUBLISH_PRIORITY] = { "priority", 'p', "N", 2,
			       "0 to 7: PCP of the tag, and traffic class (0)" },
	[PUBLISH_SIZE] = { "size", 0, "BYTES", 2,
			   "Ethernet header to end of payload, without FCS (64)" },
	[PUBLISH_OFFSET] = { "offset", 0, "TIME", 2, "launch within the cycle (0)" },
	[PUBLISH_ETHERTYPE] = { "ethertype", 0, "TYPE", 2, "EtherType (0x88b5)" },
	[PUBLISH_BASE_TIME] = { "base-time", 0, "TAI", 3,
				"start of a cycle since the TAI epoch, such as 1790000000.5s, or "
				"auto: multiples of "
				"the cycle" },
	[PUBLISH_PACING] = { "pacing", 0, "HOW", 3,
			     "auto, launch-time (SO_TXTIME and etf), gate (inside of a taprio "
			     "slot) or timer" },
	[PUBLISH_LEAD] = { "lead", 0, "TIME", 3,
			   "hand frames over so long before their launch (etf's delta and a "
			   "wake-up budget)" },
	[PUBLISH_SPIN] = { "spin", 0, "TIME", 3,
			   "stay awake for the last part before the release (0)" },
	[PUBLISH_DEADLINE_MODE] = { "deadline-mode", 0, "WHICH", 3,
				    "on, off or auto: the launch time is the latest one (as etf is "
				    "set)" },
	[PUBLISH_ON_LINK_LOSS] = { "on-link-loss", 0, "WHAT", 3, "wait (default) or stop" },
	[PUBLISH_APPLY] = { "apply", 0, NULL, 3,
			    "install the schedule of the file first, and take it back at the end" },
#define SYNC_ROW(option, name, argument, text) \
	[PUBLISH_SYNC_FIRST + SYNC_OPTION_##option] = { name, 0, argument, 4, text },
	SYNC_OPTION_TABLE(SYNC_ROW)
		[PUBLISH_CPU] = { "cpu", 0, "N", 5,
				  "of the cyclic thread (an isolated one, else the last)" },
	[PUBLISH_RT_PRIORITY] = { "rt-priority", 0, "N", 5, "1 to 99 (80)" },
	[PUBLISH_POLICY] = { "policy", 0, "NAME", 5, "fifo (default), rr, deadline or other" },
	[PUBLISH_STRICT] = { "strict", 0, NULL, 5,
			     "a real-time setting that cannot be had is an error" },
	[PUBLISH_BLAME] = { "blame", 0, NULL, 5, "find out who made the late wake-ups late" },
	[PUBLISH_BLAME_OVER] = { "blame-over", 0, "TIME", 5,
				 "look at wake-ups later than this (P99.9 so far)" },
	[PUBLISH_DEADLINE] = { "deadline", 0, "TIME", 6,
			       "a frame whose TX stamp is later than this after its launch is "
			       "late" },
	[PUBLISH_SLA] = { "sla", 0, "PERCENT", 6,
			  "share of the frames due that must leave in time: 99.99% (with "
			  "--deadline: 100%)" },
	[PUBLISH_TIMESTAMPS] = { "timestamps", 0, "LIST", 6,
				 "TX stamps: auto (hw and sw), none, or some of sched,sw,hw" },
	[PUBLISH_TIMESTAMP_EVERY] = { "timestamp-every", 0, "N", 6,
				      "ask for stamps of one frame in N (chosen by rate and NIC)" },
	[PUBLISH_LOG] = { "log", 'l', "FILE", 6, "write a record of each frame" },
	[PUBLISH_JSON] = { "json", 'j', NULL, 6, "the summary as one JSON document" },
	[PUBLISH_QUIET] = { "quiet", 'q', NULL, 6, "no live line: warnings and the summary only" },
};

const char *publish_option_name(enum publish_option option)
{
	return options[option].name;
}

bool publish_option_is_flag(enum publish_option option)
{
	return !options[option].arg;
}

/* The command line: argp ---------------------------------------------------------------------------- */

#define KEY_FIRST 0x100
#define KEY_CONFIG (KEY_FIRST + PUBLISH_OPTIONS)
#define KEY_NO (KEY_CONFIG + 1) /* --no-json, and the other flags */

static const char *const groups[] = {
	NULL,
	"What and how long:",
	"The frames (of one stream, or what all streams have in common):",
	"When they leave:",
	"The clocks:",
	"The cyclic thread:",
	"Stamps, bars and results:",
};

/* titles, options, flags that take back those of a file, --stream, --config, end */
static struct argp_option argp_options[2 * PUBLISH_OPTIONS + 10];

/* Hidden: without a file they say what is so anyway. */
static void add_negations(unsigned *n)
{
	static char names[PUBLISH_OPTIONS][24];

	for (int i = 0; i < PUBLISH_OPTIONS; i++) {
		if (!publish_option_is_flag((enum publish_option)i))
			continue;
		snprintf(names[i], sizeof(names[i]), "no-%s", options[i].name);
		argp_options[(*n)++] = (struct argp_option){ .name = names[i],
							     .key = KEY_NO + i,
							     .flags = OPTION_HIDDEN };
	}
}

__attribute__((constructor)) static void build_argp_options(void)
{
	unsigned n = 0;

	for (int group = 1; group < (int)(sizeof(groups) / sizeof(groups[0])); group++) {
		argp_options[n++] = (struct argp_option){ .doc = groups[group], .group = group };
		for (int i = 0; i < PUBLISH_OPTIONS; i++)
			if (options[i].group == group)
				argp_options[n++] = (struct argp_option){
					.name = options[i].name,
					.key = options[i].key ? options[i].key : KEY_FIRST + i,
					.arg = options[i].arg,
					.doc = options[i].doc,
				};
		if (group == 1)
			argp_options[n++] = (struct argp_option){
				.name = "config",
				.key = KEY_CONFIG,
				.arg = "FILE",
				.doc = "options and streams from a YAML file; the command line "
				       "wins",
			};
		if (group == 2)
			argp_options[n++] = (struct argp_option){
				.name = "stream",
				.key = 's',
				.arg = "KEY=VALUE,...",
				.doc = "one of several streams: id, dest, vlan, priority, offset, "
				       "every (Nth cycle), "
				       "phase, size, frames (a cycle); may be repeated",
			};
	}
	add_negations(&n);
}

int publish_parse_stream(char *text, struct stream_yaml *stream, struct error *err)
{
	const struct {
		const char *key;
		char **value;
	} keys[] = {
		{ "id", &stream->id },         { "dest", &stream->dest },
		{ "vlan", &stream->vlan },     { "priority", &stream->priority },
		{ "offset", &stream->offset }, { "every", &stream->every },
		{ "period", &stream->period }, { "phase", &stream->phase },
		{ "frames", &stream->frames }, { "size", &stream->size },
	};

	memset(stream, 0, sizeof(*stream));
	for (char *next, *item = text; item; item = next) {
		char *value;
		unsigned i;

		next = strchr(item, ',');
		if (next)
			*next++ = '\0';
		value = strchr(item, '=');
		if (!value)
			return error_input(err,
					   "--stream '%.64s': write key=value pairs, such as "
					   "id=1,offset=20us,size=100",
					   item);
		*value++ = '\0';
		for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			if (!strcmp(item, keys[i].key))
				break;
		if (i == sizeof(keys) / sizeof(keys[0]))
			return error_input(err,
					   "--stream: unknown key '%.64s'; use id, dest, vlan, "
					   "priority, offset, every, "
					   "period, phase, frames or size",
					   item);
		if (*keys[i].value)
			return error_input(err, "--stream: key '%s' stands twice", item);
		*keys[i].value = value;
	}
	return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct publish_line *line = state->input;
	int option = -1;
	char *copy;

	switch (key) {
	case KEY_CONFIG:
		line->config = arg;
		return 0;
	case 's':
		if (line->texts.stream_count == STREAMS_MAX) {
			error_input(&line->err, "--stream: at most %d streams", STREAMS_MAX);
			return EINVAL;
		}
		/* of its own: argv is what the log tells as the command line */
		copy = strdup(arg);
		if (!copy) {
			error_errno(&line->err, ENOMEM, "--stream");
			return EINVAL;
		}
		line->texts.streams = line->streams;
		line->stream_texts[line->texts.stream_count] = copy;
		return publish_parse_stream(copy, &line->streams[line->texts.stream_count++],
					    &line->err)
			       ? EINVAL
			       : 0;
	case ARGP_KEY_ARG:
		error_input(&line->err,
			    "'%.64s': the publisher takes options only; `tsnpub --help` lists the "
			    "commands",
			    arg);
		return EINVAL;
	}
	if (key >= KEY_NO && key < KEY_NO + PUBLISH_OPTIONS) {
		line->texts.value[key - KEY_NO] = "false";
		return 0;
	}
	for (int i = 0; i < PUBLISH_OPTIONS; i++)
		if (key == KEY_FIRST + i || (key && key == options[i].key))
			option = i;
	if (option < 0)
		return ARGP_ERR_UNKNOWN;
	line->texts.value[option] = options[option].arg ? arg : "true";
	return 0;
}

void publish_line_free(struct publish_line *line)
{
	for (unsigned i = 0; i < line->texts.stream_count; i++)
		free(line->stream_texts[i]);
	line->texts.stream_count = 0;
}

const struct argp publish_argp = {
	.options = argp_options,
	.parser = parse_option,
	.doc = "Publishes cyclic Ethernet frames, each with a launch time on CLOCK_TAI.\v"
	       "TIME needs a unit: 250us, 1ms, 2s. Exit status: 0 done; 1 done, but frames were "
	       "refused, missed "
	       "their launch or the link was lost, or a bar (--deadline, --sla) was missed; 2 "
	       "wrong usage or input; 3 the system refuses or "
	       "lacks something.\n\n"
	       "Example: tsnpub --iface enp1s0 --cycle 250us --duration 10s --log tx.tsnlog",
};
