// SPDX-License-Identifier: GPL-2.0-only
#include "cli/publish_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "bpf/wire.h"
#include "cli/config_file.h"
#include "engine/transmit.h"

#define DURATION_MAX_NS (366 * 86400 * NSEC_PER_SEC)
#define BASE_TIME_MAX_NS (8000000000LL * NSEC_PER_SEC) /* the year 2223; leaves room for sums */
#define SPIN_MAX_NS (10 * NSEC_PER_MSEC)

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
	[PUBLISH_TIMESTAMPS] = { "timestamps", 0, "LIST", 6,
				 "TX stamps: auto (hw and sw), none, or some of sched,sw,hw" },
	[PUBLISH_TIMESTAMP_EVERY] = { "timestamp-every", 0, "N", 6,
				      "ask for stamps of one frame in N (chosen by rate and NIC)" },
	[PUBLISH_LOG] = { "log", 'l', "FILE", 6, "write a record of each frame" },
	[PUBLISH_JSON] = { "json", 'j', NULL, 6, "the summary as one JSON document" },
	[PUBLISH_QUIET] = { "quiet", 'q', NULL, 6, "no live line and no summary, only warnings" },
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

static const char *const groups[] = {
	NULL,
	"What and how long:",
	"The frames (of one stream, or what all streams have in common):",
	"When they leave:",
	"The clocks:",
	"The cyclic thread:",
	"Stamps and results:",
};

/* titles, options, --stream, --config, end */
static struct argp_option argp_options[PUBLISH_OPTIONS + 10];

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

	switch (key) {
	case KEY_CONFIG:
		line->config = arg;
		return 0;
	case 's':
		if (line->texts.stream_count == STREAMS_MAX) {
			error_input(&line->err, "--stream: at most %d streams", STREAMS_MAX);
			return EINVAL;
		}
		line->texts.streams = line->streams;
		return publish_parse_stream(arg, &line->streams[line->texts.stream_count++],
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
	for (int i = 0; i < PUBLISH_OPTIONS; i++)
		if (key == KEY_FIRST + i || (key && key == options[i].key))
			option = i;
	if (option < 0)
		return ARGP_ERR_UNKNOWN;
	line->texts.value[option] = options[option].arg ? arg : "true";
	return 0;
}

const struct argp publish_argp = {
	.options = argp_options,
	.parser = parse_option,
	.doc = "Publishes cyclic Ethernet frames, each with a launch time on CLOCK_TAI.\v"
	       "TIME needs a unit: 250us, 1ms, 2s. Exit status: 0 done; 1 done, but frames were "
	       "refused, missed "
	       "their launch or the link was lost; 2 wrong usage or input; 3 the system refuses or "
	       "lacks something.\n\n"
	       "Example: tsnpub --iface enp1s0 --cycle 250us --duration 10s --log tx.tsnlog",
};

/* Conversion ---------------------------------------------------------------------------------------- */

struct conversion {
	const struct publish_texts *line;
	const struct config_file *file;
	struct publish_request *request;
	struct error *err;
	char what[YAML_WHAT];
};

/* The text that counts, and its name for errors in c->what. NULL: not given. */
static const char *given(struct conversion *c, enum publish_option option)
{
	const char *text = c->line->value[option];

	if (text) {
		snprintf(c->what, sizeof(c->what), "--%s", options[option].name);
		return text;
	}
	text = c->file ? c->file->texts.value[option] : NULL;
	if (text)
		yaml_file_what(c->file->yaml, options[option].name, c->what);
	return text;
}

static int duration(struct conversion *c, enum publish_option option, int64_t min, int64_t max,
		    int64_t *value)
{
	const char *text = given(c, option);

	return text ? parse_duration(c->what, text, min, max, value, c->err) : 0;
}

static int number(struct conversion *c, enum publish_option option, uint64_t min, uint64_t max,
		  uint64_t *value)
{
	const char *text = given(c, option);

	return text ? parse_number(c->what, text, min, max, value, c->err) : 0;
}

/* One of the words, by its place in the list. */
static int word(struct conversion *c, enum publish_option option, const char *const *words,
		unsigned count, unsigned *value)
{
	const char *text = given(c, option);
	char list[128] = "";

	if (!text)
		return 0;
	for (unsigned i = 0; i < count; i++) {
		if (!strcmp(text, words[i])) {
			*value = i;
			return 0;
		}
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "",
			 words[i]);
	}
	return error_input(c->err, "%s '%.64s': one of %s", c->what, text, list);
}

static int flag(struct conversion *c, enum publish_option option, bool *value)
{
	static const char *const words[] = { "false", "true", "no", "yes", "off", "on" };
	unsigned found = *value;

	if (word(c, option, words, 6, &found) < 0)
		return -1;
	*value = found & 1;
	return 0;
}

static int convert_length(struct conversion *c)
{
	struct publisher_options *p = &c->request->publisher;
	char a[DURATION_TEXT], b[DURATION_TEXT];
	uint64_t count = 0;
	int64_t time = 0;

	p->cycles = UINT64_MAX;
	if (given(c, PUBLISH_COUNT) && given(c, PUBLISH_DURATION)) {
		/* the command line wins over the file, but two of one place contradict each other */
		if (!c->line->value[PUBLISH_COUNT] == !c->line->value[PUBLISH_DURATION])
			return error_input(c->err, "--count and --duration: give one of them");
	}
	if (number(c, PUBLISH_COUNT, 1, UINT64_MAX - 1, &count) < 0 ||
	    duration(c, PUBLISH_DURATION, 1, DURATION_MAX_NS, &time) < 0)
		return -1;
	if (count && (!time || c->line->value[PUBLISH_COUNT])) {
		p->cycles = count;
	} else if (time) {
		if (time < p->cycle_ns)
			return error_input(
				c->err,
				"%s %s is shorter than the cycle (%s): no frame would be sent",
				c->what, format_duration(time, a), format_duration(p->cycle_ns, b));
		p->cycles = (uint64_t)(time / p->cycle_ns);
	}
	return 0;
}

static int convert_iface(struct conversion *c)
{
	struct publisher_options *p = &c->request->publisher;
	const char *text = given(c, PUBLISH_IFACE);

	if (!text)
		return error_input(
			c->err, "--iface: which interface? `ip link` lists them (tsnpub --help)");
	snprintf(p->ifname, sizeof(p->ifname), "%s", text);
	if (!given(c, PUBLISH_CYCLE))
		return error_input(
			c->err,
			"--cycle: how long is a cycle? Such as --cycle 250us (tsnpub --help)");
	return duration(c, PUBLISH_CYCLE, CYCLE_MIN_NS, CYCLE_MAX_NS, &p->cycle_ns);
}

static int convert_frames(struct conversion *c)
{
	struct publisher_options *p = &c->request->publisher;
	uint64_t ethertype = WIRE_ETHERTYPE;
	const char *text;

	if (number(c, PUBLISH_ETHERTYPE, 0x600, 0xffff, &ethertype) < 0)
		return -1;
	if (ethertype == 0x8100 || ethertype == 0x88a8)
		return error_input(c->err, "%s 0x%04x: is that of a VLAN tag, not of a payload",
				   c->what, (unsigned)ethertype);
	p->ethertype = (uint16_t)ethertype;
	text = given(c, PUBLISH_SOURCE);
	if (!text)
		return 0;
	p->has_source = true;
	if (parse_mac(c->what, text, p->source, c->err) < 0)
		return -1;
	if (p->source[0] & 1)
		return error_input(c->err,
				   "%s '%s': a multicast address cannot be a source; clear the "
				   "lowest bit of the first "
				   "byte",
				   c->what, text);
	return 0;
}

static int convert_timing(struct conversion *c)
{
	static const char *const modes[] = { "auto", "on", "off" };
	static const char *const losses[] = { "wait", "stop" };
	struct publisher_options *p = &c->request->publisher;
	unsigned mode = 0, loss = 0;
	const char *text;

	text = given(c, PUBLISH_BASE_TIME);
	if (text && strcmp(text, "auto")) {
		p->has_base = true;
		if (parse_duration(c->what, text, 0, BASE_TIME_MAX_NS, &p->base_ns, c->err) < 0)
			return -1;
	}
	text = given(c, PUBLISH_PACING);
	if (text && pacing_parse(c->what, text, &p->pacing.kind, c->err) < 0)
		return -1;
	p->pacing.lead_ns = -1;
	if (duration(c, PUBLISH_LEAD, 0, NSEC_PER_SEC, &p->pacing.lead_ns) < 0 ||
	    duration(c, PUBLISH_SPIN, 0, SPIN_MAX_NS, &p->pacing.spin_ns) < 0 ||
	    word(c, PUBLISH_DEADLINE_MODE, modes, 3, &mode) < 0 ||
	    word(c, PUBLISH_ON_LINK_LOSS, losses, 2, &loss) < 0)
		return -1;
	p->pacing.deadline_mode = (enum deadline_mode)mode;
	p->link_loss = (enum link_loss)loss;
	return 0;
}

static int convert_sync(struct conversion *c)
{
	struct sync_guard_options *sync = &c->request->publisher.sync;

	*sync = (struct sync_guard_options)SYNC_GUARD_DEFAULTS;
	for (int i = 0; i < SYNC_OPTIONS; i++) {
		const char *text = given(c, (enum publish_option)(PUBLISH_SYNC_FIRST + i));

		if (text && sync_option_set((enum sync_option)i, c->what, text, sync, c->err))
			return -1;
	}
	return 0;
}

static int convert_realtime(struct conversion *c)
{
	struct publisher_options *p = &c->request->publisher;
	uint64_t priority = 80;
	const char *text;

	p->realtime = (struct realtime_request){ .policy = REALTIME_FIFO,
						 .cpu = REALTIME_CPU_ANY,
						 .cycle_ns = p->cycle_ns };
	text = given(c, PUBLISH_POLICY);
	if (text && realtime_parse_policy(c->what, text, &p->realtime.policy, c->err) < 0)
		return -1;
	if (number(c, PUBLISH_RT_PRIORITY, 1, 99, &priority) < 0)
		return -1;
	p->realtime.priority = (int)priority;
	text = given(c, PUBLISH_CPU);
	if (text && realtime_parse_cpu(c->what, text, &p->realtime.cpu, c->err) < 0)
		return -1;
	if (text && p->realtime.policy == REALTIME_DEADLINE)
		return error_input(c->err,
				   "%s %s: a SCHED_DEADLINE thread cannot be pinned to a CPU "
				   "(sched_setattr(2)); use a "
				   "cpuset, or --policy fifo",
				   c->what, text);
	return flag(c, PUBLISH_APPLY, &c->request->apply) < 0 ? -1
							      : flag(c, PUBLISH_STRICT, &p->strict);
}

static int convert_stamps(struct conversion *c)
{
	static const struct {
		const char *name;
		unsigned bits;
	} names[] = {
		{ "none", 0 }, { "sched", STAMP_SCHED }, { "sw", STAMP_SW }, { "hw", STAMP_HW }
	};
	struct publisher_options *p = &c->request->publisher;
	const char *text = given(c, PUBLISH_TIMESTAMPS), *item = text;
	uint64_t every = 0;

	p->stamps_auto = !text || !strcmp(text, "auto");
	while (!p->stamps_auto) {
		size_t length = strcspn(item, ",");
		unsigned i;

		for (i = 0; i < 4; i++)
			if (strlen(names[i].name) == length &&
			    !strncmp(item, names[i].name, length))
				break;
		if (i == 4)
			return error_input(c->err, "%s '%.64s': auto, none, or some of sched,sw,hw",
					   c->what, text);
		p->stamps |= names[i].bits;
		item += length;
		if (!*item++)
			break;
	}
	if (number(c, PUBLISH_TIMESTAMP_EVERY, 1, UINT32_MAX, &every) < 0)
		return -1;
	p->stamp_every = (uint32_t)every;
	return 0;
}

static int convert_results(struct conversion *c)
{
	struct publish_request *request = c->request;

	request->publisher.log_path = given(c, PUBLISH_LOG);
	if (request->publisher.log_path && !*request->publisher.log_path)
		return error_input(c->err, "%s: an empty file name", c->what);
	return flag(c, PUBLISH_JSON, &request->json) || flag(c, PUBLISH_QUIET, &request->quiet) ? -1
												: 0;
}

/* Streams: the list (of the command line, else of the file), completed by the options of the same names. */
struct stream_source {
	const struct conversion *c;
	const struct publish_texts *list;
	bool from_line;
};

/* The fields that also are options. */
static const struct {
	enum publish_option option;
	size_t at; /* in struct stream_yaml */
} common[] = {
	{ PUBLISH_DEST, offsetof(struct stream_yaml, dest) },
	{ PUBLISH_VLAN, offsetof(struct stream_yaml, vlan) },
	{ PUBLISH_PRIORITY, offsetof(struct stream_yaml, priority) },
	{ PUBLISH_OFFSET, offsetof(struct stream_yaml, offset) },
	{ PUBLISH_SIZE, offsetof(struct stream_yaml, size) },
};

#define COMMON (sizeof(common) / sizeof(common[0]))

static char **field_of(struct stream_yaml *stream, size_t i)
{
	return (char **)((char *)stream + common[i].at);
}

enum origin {
	ENTRY, /* of the list */
	LINE, /* an option of the command line */
	TOP, /* of the file's top level */
};

/* The command line's options count over the file's entries, and complete its own. */
static enum origin origin_of(const struct stream_source *source, size_t i, bool own)
{
	const struct conversion *c = source->c;
	enum publish_option option = common[i].option;

	if (c->line->value[option] && (!own || !source->from_line))
		return LINE;
	if (!own && c->file && c->file->texts.value[option])
		return TOP;
	return ENTRY;
}

/* Names a value of a stream in an error. */
static char *what_stream(const void *context, unsigned index, const char *key,
			 char buffer[YAML_WHAT])
{
	const struct stream_source *source = context;
	const struct conversion *c = source->c;
	enum origin origin = ENTRY;
	char path[64];

	for (size_t i = 0; i < COMMON; i++)
		if (!strcmp(key, options[common[i].option].name))
			origin = origin_of(source, i,
					   index < source->list->stream_count &&
						   *field_of(&source->list->streams[index], i));
	if (origin == TOP)
		return yaml_file_what(c->file->yaml, key, buffer);
	if (origin == LINE || !source->list->stream_count)
		snprintf(buffer, YAML_WHAT, "--%s", *key ? key : "stream");
	else if (source->from_line && index == STREAMS_MAX)
		snprintf(buffer, YAML_WHAT, "--stream");
	else if (source->from_line)
		snprintf(buffer, YAML_WHAT, "--stream %u%s%s", index + 1, *key ? ": " : "", key);
	else if (index == STREAMS_MAX)
		return yaml_file_what(c->file->yaml, "streams", buffer);
	else {
		snprintf(path, sizeof(path), "streams[%u]%s%s", index, *key ? "." : "", key);
		return yaml_file_what(c->file->yaml, path, buffer);
	}
	return buffer;
}

static void complete(const struct stream_source *source, struct stream_yaml *stream)
{
	const struct conversion *c = source->c;

	for (size_t i = 0; i < COMMON; i++) {
		char **field = field_of(stream, i);
		enum origin origin = origin_of(source, i, *field != NULL);

		if (origin != ENTRY)
			*field = (char *)(uintptr_t)(origin == LINE
							     ? c->line->value[common[i].option]
							     : c->file->texts
								       .value[common[i].option]);
	}
}

static int convert_streams(struct conversion *c)
{
	struct publisher_options *p = &c->request->publisher;
	struct stream_source source = { .c = c, .from_line = c->line->stream_count > 0 };
	struct stream_yaml *texts;
	int result;

	source.list = source.from_line || !c->file ? c->line : &c->file->texts;
	p->count = source.list->stream_count ? source.list->stream_count : 1;
	texts = calloc(p->count, sizeof(*texts));
	p->streams = calloc(p->count, sizeof(*p->streams));
	if (!texts || !p->streams) {
		free(texts);
		return error_errno(c->err, ENOMEM, "cannot read the streams");
	}
	for (unsigned i = 0; i < p->count; i++) {
		if (source.list->stream_count)
			texts[i] = source.list->streams[i];
		complete(&source, &texts[i]);
	}
	result = streams_from_text(what_stream, &source, texts, p->count, p->cycle_ns, p->streams,
				   c->err);
	for (unsigned i = 0; !result && i < p->count; i++)
		if (p->streams[i].offset_ns == STREAM_ANYWHERE && !(c->file && c->file->schedule))
			result = error_input(c->err,
					     "%s 'anywhere': the publisher needs a time; `tsnpub "
					     "schedule plan` finds one",
					     what_stream(&source, i, "offset", c->what));
	free(texts);
	return result;
}

int publish_convert(const struct publish_texts *line, const struct config_file *file,
		    struct publish_request *request, struct error *err)
{
	struct conversion c = { .line = line, .file = file, .request = request, .err = err };

	memset(request, 0, sizeof(*request));
	if (convert_iface(&c) < 0 || convert_length(&c) < 0 || convert_frames(&c) < 0 ||
	    convert_timing(&c) < 0 || convert_sync(&c) < 0 || convert_realtime(&c) < 0 ||
	    convert_stamps(&c) < 0 || convert_results(&c) < 0)
		return -1;
	return convert_streams(&c);
}

void publish_request_free(struct publish_request *request)
{
	free(request->publisher.streams);
	request->publisher.streams = NULL;
}
