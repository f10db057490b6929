// SPDX-License-Identifier: GPL-2.0-only
/* From the texts of the publisher's options to what the engine takes. */
#include <errno.h>
#include <linux/types.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "bpf/wire.h"
#include "cli/arguments.h"
#include "cli/config_file.h"
#include "cli/publish_options.h"
#include "engine/transmit.h"

#define DURATION_MAX_NS (366 * 86400 * NSEC_PER_SEC)
#define BASE_TIME_MAX_NS (8000000000LL * NSEC_PER_SEC) /* the year 2223; leaves room for sums */
#define SPIN_MAX_NS (10 * NSEC_PER_MSEC)

struct conversion {
	const struct publish_texts *line;
	const struct config_file *file;
	struct publish_request *request;
	struct error *err;
	/*
	 * The file by itself, though the command line overrides some of it: each value must be one that the option can have.
	 * What only goes, or does not go, with another one is asked of what counts in the end.
	 */
	bool alone;
	char what[YAML_WHAT];
};

/* The text that counts, and its name for errors in c->what. NULL: not given. */
static const char *given(struct conversion *c, enum publish_option option)
{
	const char *text = c->line->value[option];

	if (text) {
		snprintf(c->what, sizeof(c->what), "--%s", publish_option_name(option));
		return text;
	}
	text = c->file ? c->file->texts.value[option] : NULL;
	if (text)
		yaml_file_what(c->file->yaml, publish_option_name(option), c->what);
	return text;
}

/* The command line wins: what the file says of `option` means nothing under what the line says of another one. */
static bool is_overruled(const struct conversion *c, enum publish_option option,
			 enum publish_option by)
{
	return !c->line->value[option] && c->line->value[by];
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

	return text ? parse_word(c->what, text, words, count, value, c->err) : 0;
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
	if (!c->alone && given(c, PUBLISH_COUNT) && given(c, PUBLISH_DURATION)) {
		/* the command line wins over the file, but two of one place contradict each other */
		if (!c->line->value[PUBLISH_COUNT] == !c->line->value[PUBLISH_DURATION]) {
			given(c, PUBLISH_COUNT);
			return error_input(c->err, "%s and %sduration: give one of them", c->what,
					   c->line->value[PUBLISH_COUNT] ? "--" : "");
		}
	}
	if (number(c, PUBLISH_COUNT, 1, UINT64_MAX - 1, &count) < 0 ||
	    duration(c, PUBLISH_DURATION, 1, DURATION_MAX_NS, &time) < 0)
		return -1;
	if (count && (!time || c->line->value[PUBLISH_COUNT])) {
		p->cycles = count;
	} else if (time) {
		if (time < p->cycle_ns && !c->alone)
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

	if (!text && !c->alone)
		return error_input(
			c->err,
			"--iface: which interface? `ip link` lists them (`tsnpub publish --help`)");
	snprintf(p->ifname, sizeof(p->ifname), "%s", text ? text : "");
	if (!given(c, PUBLISH_CYCLE))
		return error_input(c->err, "--cycle: how long is a cycle? Such as --cycle 250us "
					   "(`tsnpub publish --help`)");
	return duration(c, PUBLISH_CYCLE, CYCLE_MIN_NS, CYCLE_MAX_NS, &p->cycle_ns);
}

static int convert_frames(struct conversion *c)
{
	struct publisher_options *p = &c->request->publisher;
	const char *text = given(c, PUBLISH_ETHERTYPE);

	p->ethertype = WIRE_ETHERTYPE;
	if (text && parse_ethertype(c->what, text, &p->ethertype, c->err) < 0)
		return -1;
	text = given(c, PUBLISH_SOURCE);
	if (!text)
		return 0;
	p->has_source = true;
	if (parse_mac(c->what, text, p->source, c->err) < 0)
		return -1;
	if (!memcmp(p->source, "\0\0\0\0\0", sizeof(p->source)))
		return error_input(c->err, "%s '%s': bridges drop frames from this address",
				   c->what, text);
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
	uint64_t priority = 80, cpu;
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
	if (p->realtime.policy == REALTIME_DEADLINE && is_overruled(c, PUBLISH_CPU, PUBLISH_POLICY))
		text = NULL;
	/* a file of a larger machine may name one that is not here */
	if (c->alone)
		return text && parse_number(c->what, text, 0, CPU_SETSIZE - 1, &cpu, c->err) < 0
			       ? -1
			       : 0;
	if (text && realtime_parse_cpu(c->what, text, &p->realtime.cpu, c->err) < 0)
		return -1;
	if (text && p->realtime.policy == REALTIME_DEADLINE)
		return error_input(c->err,
				   "%s %s: a SCHED_DEADLINE thread cannot be pinned to a CPU "
				   "(sched_setattr(2)); use a "
				   "cpuset, or --policy fifo",
				   c->what, text);
	return 0;
}

static int convert_switches(struct conversion *c)
{
	struct publish_request *request = c->request;

	if (flag(c, PUBLISH_BLAME, &request->blame) < 0 ||
	    duration(c, PUBLISH_BLAME_OVER, 1, CYCLE_MAX_NS, &request->blame_over_ns) < 0)
		return -1;
	if (!request->blame && is_overruled(c, PUBLISH_BLAME_OVER, PUBLISH_BLAME))
		request->blame_over_ns = 0;
	if (request->blame_over_ns && !request->blame && !c->alone)
		return error_input(c->err, "%s goes with --blame", c->what);
	return flag(c, PUBLISH_APPLY, &request->apply) < 0
		       ? -1
		       : flag(c, PUBLISH_STRICT, &request->publisher.strict);
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
		if (!names[i].bits && text[length])
			return error_input(c->err, "%s '%.64s': none stands alone", c->what, text);
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

	const char *text = given(c, PUBLISH_SLA);

	if (text && parse_percent(c->what, text, &request->publisher.sla, c->err) < 0)
		return -1;
	if (duration(c, PUBLISH_DEADLINE, 1, DURATION_MAX_NS, &request->publisher.deadline_ns) < 0)
		return -1;
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
		if (!strcmp(key, publish_option_name(common[i].option)))
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
		if (p->streams[i].offset_ns == STREAM_ANYWHERE && !c->alone &&
		    !(c->file && c->file->schedule))
			result = error_input(c->err,
					     "%s 'anywhere': the publisher needs a time; `tsnpub "
					     "schedule plan` finds one",
					     what_stream(&source, i, "offset", c->what));
	free(texts);
	return result;
}

/* Each may be right by itself: do they go together? */
static int check_together(struct conversion *c)
{
	const struct publisher_options *p = &c->request->publisher;
	char cycle[DURATION_TEXT];
	const char *text;

	format_duration(p->cycle_ns, cycle);
	text = given(c, PUBLISH_SPIN);
	if (text && p->pacing.spin_ns >= p->cycle_ns)
		return error_input(c->err,
				   "%s %.32s: not shorter than the cycle (%s), so the thread would "
				   "never sleep; 20us to 100us do",
				   c->what, text, cycle);
	text = given(c, PUBLISH_RT_PRIORITY);
	if (text && p->realtime.policy != REALTIME_FIFO && p->realtime.policy != REALTIME_RR &&
	    !is_overruled(c, PUBLISH_RT_PRIORITY, PUBLISH_POLICY))
		return error_input(c->err,
				   "%s %.32s: only --policy fifo and rr have a priority; leave it "
				   "out, or use one of them",
				   c->what, text);
	if (c->request->blame && p->realtime.policy == REALTIME_DEADLINE) {
		given(c, PUBLISH_BLAME);
		return error_input(c->err,
				   "%s looks at one CPU, and a SCHED_DEADLINE thread cannot be "
				   "pinned to one; use --policy fifo",
				   c->what);
	}
	text = given(c, PUBLISH_TIMESTAMP_EVERY);
	if (text && !p->stamps_auto && !p->stamps &&
	    !is_overruled(c, PUBLISH_TIMESTAMP_EVERY, PUBLISH_TIMESTAMPS))
		return error_input(
			c->err,
			"%s %.32s: with --timestamps none there are no stamps; leave one "
			"of them out",
			c->what, text);
	return 0;
}

static int convert(struct conversion *c)
{
	memset(c->request, 0, sizeof(*c->request));
	if (convert_iface(c) < 0 || convert_length(c) < 0 || convert_frames(c) < 0 ||
	    convert_timing(c) < 0 || convert_sync(c) < 0 || convert_realtime(c) < 0 ||
	    convert_switches(c) < 0 || convert_stamps(c) < 0 || convert_results(c) < 0 ||
	    (!c->alone && check_together(c) < 0))
		return -1;
	return convert_streams(c);
}

/* A wrong value must not lie in wait until the day on which the command line does not override it. */
static int check_file(const struct publish_texts *line, const struct config_file *file,
		      struct error *err)
{
	struct publish_texts cycle = { 0 };
	struct publish_request unused;
	struct conversion c = {
		.line = &cycle, .file = file, .request = &unused, .err = err, .alone = true
	};
	int result;

	/* what lies within the cycle needs one */
	if (!file->texts.value[PUBLISH_CYCLE])
		cycle.value[PUBLISH_CYCLE] = line->value[PUBLISH_CYCLE];
	if (!given(&c, PUBLISH_CYCLE))
		return 0;
	result = convert(&c);
	publish_request_free(&unused);
	return result;
}

int publish_convert(const struct publish_texts *line, const struct config_file *file,
		    struct publish_request *request, struct error *err)
{
	struct conversion c = { .line = line, .file = file, .request = request, .err = err };

	memset(request, 0, sizeof(*request));
	if (file && check_file(line, file, err) < 0)
		return -1;
	return convert(&c);
}

void publish_request_free(struct publish_request *request)
{
	free(request->publisher.streams);
	request->publisher.streams = NULL;
}
