/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ptp4l and phc2sys set-up that fits an interface and a version of linuxptp, as text with the reason of each
 * setting. Pure.
 */
#ifndef PTP_SETUP_H
#define PTP_SETUP_H

#include <stdbool.h>
#include <stddef.h>

#include "ptp/sync.h"

struct setup_facts {
	const char *iface;
	const char *ptp4l, *phc2sys; /* the programs to run, "ptp4l" */
	const char *socket; /* ptp4l's uds_address; NULL: its default */
	int phc_index; /* -1: none */
	char phc_name[PHC_NAME_SIZE];
	bool hardware_stamps;
	bool has_address; /* IPv4, for the default profile's transport */
	char version[32]; /* of linuxptp: "3.1.1"; "": it is not installed */
	enum sync_role role;
	bool gptp; /* profile IEEE 802.1AS; else IEEE 1588's default profile */
	int domain; /* -1: 0 */
};

/* 3 for "3.1.1", 4 for "4.2", 0: unknown (then the names that all versions take are used). */
int setup_version(const char *version);

/*
 * Writes ptp4l's configuration, each setting with its reason as a comment where `comments`. Returns the length
 * that it has or would have, as snprintf().
 */
size_t setup_ptp4l_config(const struct setup_facts *facts, bool comments, char *text, size_t size);

#define SETUP_ARGUMENTS 24

/*
 * Fills argv (NULL at the end; strings are static, of `facts`, or of `config_path`) with the commands. phc2sys:
 * returns false when there is nothing for it to do (no PHC).
 */
void setup_ptp4l_command(const struct setup_facts *facts, const char *config_path,
			 const char *argv[SETUP_ARGUMENTS]);
bool setup_phc2sys_command(const struct setup_facts *facts, const char *argv[SETUP_ARGUMENTS]);

/* The whole, for people: what was found, configuration, commands, what to do then, and why. */
size_t setup_text(const struct setup_facts *facts, char *text, size_t size);

#endif
