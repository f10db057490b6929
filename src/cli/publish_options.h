/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The publisher's options: one table for the command line and for the YAML file, where they have the same
 * names. Values stay text until all are known, so that the command line wins, and so that each error can name
 * where the value stands.
 */
#ifndef CLI_PUBLISH_OPTIONS_H
#define CLI_PUBLISH_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/stream_yaml.h"
#include "cli/sync_options.h"
#include "engine/publisher.h"

enum publish_option {
	PUBLISH_IFACE,
	PUBLISH_CYCLE,
	PUBLISH_COUNT,
	PUBLISH_DURATION,
	PUBLISH_DEST,
	PUBLISH_SOURCE,
	PUBLISH_VLAN,
	PUBLISH_PRIORITY,
	PUBLISH_SIZE,
	PUBLISH_OFFSET,
	PUBLISH_ETHERTYPE,
	PUBLISH_BASE_TIME,
	PUBLISH_PACING,
	PUBLISH_LEAD,
	PUBLISH_SPIN,
	PUBLISH_DEADLINE_MODE,
	PUBLISH_ON_LINK_LOSS,
	PUBLISH_APPLY,
	PUBLISH_SYNC_FIRST, /* as enum sync_option */
	PUBLISH_SYNC_LAST = PUBLISH_SYNC_FIRST + SYNC_OPTIONS - 1,
	PUBLISH_CPU,
	PUBLISH_RT_PRIORITY,
	PUBLISH_POLICY,
	PUBLISH_STRICT,
	PUBLISH_BLAME,
	PUBLISH_BLAME_OVER,
	PUBLISH_DEADLINE,
	PUBLISH_SLA,
	PUBLISH_TIMESTAMPS,
	PUBLISH_TIMESTAMP_EVERY,
	PUBLISH_LOG,
	PUBLISH_JSON,
	PUBLISH_QUIET,
	PUBLISH_OPTIONS
};

/* "cycle": the name on the command line (behind "--") and in the file. */
const char *publish_option_name(enum publish_option option);
/* Is it on or off, rather than a value? On the command line it takes no argument, in the file true or false. */
bool publish_option_is_flag(enum publish_option option);

/* What is asked for, as text. NULL: not given. */
struct publish_texts {
	const char *value[PUBLISH_OPTIONS];
	struct stream_yaml *streams; /* in the order given */
	unsigned stream_count;
};

/* What came of it. */
struct publish_request {
	struct publisher_options publisher; /* its streams are owned by this */
	bool json, quiet;
	bool apply; /* the file's schedule for the length of the run */
	bool blame;
	int64_t blame_over_ns; /* 0: follow the measured P99.9 */
};

struct config_file;

/*
 * Merges the command line over the file (may be NULL) and converts. Returns 0, or -1 with the error (status 2).
 * The texts must outlive the request. publish_request_free() gives it back, also after a failure.
 */
int publish_convert(const struct publish_texts *line, const struct config_file *file,
		    struct publish_request *request, struct error *err);
void publish_request_free(struct publish_request *request);

/*
 * One --stream text, "id=1,offset=20us,size=100", into its fields. The values point into `text`, which is
 * changed. Returns 0, or -1 with the error.
 */
int publish_parse_stream(char *text, struct stream_yaml *stream, struct error *err);

/* For argp: the parser fills the texts in. The strings are argv's own, which is left as it is. */
struct publish_line {
	struct publish_texts texts;
	const char *config; /* --config */
	struct stream_yaml streams[STREAMS_MAX]; /* pointing into: */
	char *stream_texts[STREAMS_MAX];
	struct error err; /* status set: an option was wrong */
};

/* What the parser allocated, also after a failure; not the line itself. */
void publish_line_free(struct publish_line *line);

extern const struct argp publish_argp; /* input: struct publish_line */

#endif
