/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The `schedule:` part of a YAML file (man 5 tsnpub-schedule): libcyaml's schema and the conversion into the model.
 * Pure.
 */
#ifndef TC_SCHEDULE_YAML_H
#define TC_SCHEDULE_YAML_H

#include "base/error.h"
#include "base/yaml.h"
#include "tc/schedule.h"

struct launch_time_yaml {
	char *delta;
	char *offload;
};

struct class_yaml {
	char *name;
	char **priorities;
	unsigned priorities_count;
	char *queues;
	struct launch_time_yaml *launch_time;
	char *max_frame;
	char *preemptible;
};

struct gate_yaml {
	char **open;
	unsigned open_count;
	char *duration;
};

struct schedule_yaml {
	char *mode;
	char *driver;
	char *speed;
	char *cycle;
	char *cycle_extension;
	char *base_time;
	char *txtime_delay;
	char *guard;
	char *margin;
	char *ptp_priority;
	struct class_yaml *classes;
	unsigned classes_count;
	struct gate_yaml *gates;
	unsigned gates_count;
};

/* For a CYAML_FIELD_MAPPING_PTR of a larger file. */
extern const cyaml_schema_field_t schedule_yaml_fields[];

/*
 * Converts what libcyaml read. `interface` is "" or a checked name; `stream_cycle_ns` is the file's top-level cycle.
 * What can be said of a value alone is checked here (status 2, with its line); whether the values fit each other is
 * validate.h's. Returns 0 or -1.
 */
int schedule_from_yaml(const struct yaml_file *file, const struct schedule_yaml *yaml,
		       const char *interface, int64_t stream_cycle_ns, struct schedule *schedule,
		       struct error *err);

#endif
