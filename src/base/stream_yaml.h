/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The `streams:` list of a YAML file: one schema for the publisher, the planner and the checks.
 *
 *	streams:
 *	- id: 1
 *	  priority: 7		# 0 to 7; default 0
 *	  offset: 10us		# or "anywhere": the planner finds one
 *	  period: 1ms		# or every: 4 (cycles); default every cycle
 *	  phase: 2		# sent in the cycles whose number % every is 2; default 0
 *	  frames: 1
 *	  size: 100		# bytes, Ethernet header to end of payload, without FCS
 *	  dest: 91:e0:f0:00:fe:01
 *	  vlan: 5
 */
#ifndef BASE_STREAM_YAML_H
#define BASE_STREAM_YAML_H

#include <stdint.h>

#include "base/error.h"
#include "base/stream.h"
#include "base/yaml.h"

/* As libcyaml reads it; all text, so that each value's error can say what to write. */
struct stream_yaml {
	char *id;
	char *dest;
	char *vlan;
	char *priority;
	char *offset;
	char *every;
	char *period;
	char *phase;
	char *frames;
	char *size;
};

/* One entry, to stand in a CYAML_FIELD_SEQUENCE. */
extern const cyaml_schema_value_t stream_yaml_entry;

/*
 * The shortest cycle of which all periods are multiples (their greatest common divisor), for a file without `cycle`.
 * Returns 0, or -1 with the error, also where no stream names a period.
 */
int stream_yaml_cycle(const struct yaml_file *file, const struct stream_yaml *yaml, unsigned count,
		      int64_t *cycle_ns, struct error *err);

/*
 * Checks and converts `count` entries at path "streams" into `streams` (room for `count`; at most STREAMS_MAX).
 * Offsets "anywhere" become STREAM_ANYWHERE. Ids must be unique. Returns 0, or -1 with the error (status 2).
 */
int streams_from_yaml(const struct yaml_file *file, const struct stream_yaml *yaml, unsigned count,
		      int64_t cycle_ns, struct stream *streams, struct error *err);

/*
 * The same for texts from elsewhere, such as the command line. `what` names a value for its error, as
 * yaml_file_what() does; an index of STREAMS_MAX stands for the list as a whole.
 */
typedef char *(*stream_what)(const void *context, unsigned index, const char *key,
			     char buffer[YAML_WHAT]);

int streams_from_text(stream_what what, const void *context, const struct stream_yaml *texts,
		      unsigned count, int64_t cycle_ns, struct stream *streams, struct error *err);

#endif
