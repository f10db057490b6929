// SPDX-License-Identifier: GPL-2.0-only
/* tsnpub doctor: what on this machine spoils determinism, and the fix. */
#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/signals.h"
#include "base/units.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "host/doctor.h"
#include "host/facts.h"
#include "host/fix.h"
#include "tc/nic.h"

#define IRQ_LOOK_NS (200 * NSEC_PER_MSEC)

struct options {
	const char *iface;
	const char *cpus;
	const char *cycle;
	const char *priority;
	const char *root;
	bool json, fix, yes, undo, brief;
};

enum {
	KEY_FOR = 256,
	KEY_FIX,
	KEY_YES,
	KEY_UNDO,
	KEY_ROOT,
	KEY_PRIORITY,
};

static const struct argp_option argp_options[] = {
	{ "iface", 'i', "NAME", 0, "examine this network device as well", 1 },
	{ "cpu", 'C', "LIST", 0, "the real-time CPUs (the first isolated one, else the last)", 1 },
	{ "for", KEY_FOR, "CYCLE", 0, "weigh what is found for this cycle (1ms)", 1 },
	{ "rt-priority", KEY_PRIORITY, "N", 0, "priority of the cyclic thread (80)", 1 },
	{ "brief", 'b', NULL, 0, "only what is not good", 2 },
	{ "json", 'j', NULL, 0, "one JSON document", 2 },
	{ "fix", KEY_FIX, NULL, 0, "change what can be changed now; asks before each", 3 },
	{ "yes", KEY_YES, NULL, 0, "with --fix: do not ask", 3 },
	{ "undo", KEY_UNDO, NULL, 0, "put back what --fix has changed", 3 },
	{ "root", KEY_ROOT, "DIR", 0,
	  "look at the /proc and /sys below DIR, a recording of another machine", 4 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static const struct argument_place places[] = {
	ARGUMENT_TEXT('i', struct options, iface),
	ARGUMENT_TEXT('C', struct options, cpus),
	ARGUMENT_TEXT(KEY_FOR, struct options, cycle),
	ARGUMENT_TEXT(KEY_PRIORITY, struct options, priority),
	ARGUMENT_FLAG('b', struct options, brief),
	ARGUMENT_FLAG('j', struct options, json),
	ARGUMENT_FLAG(KEY_FIX, struct options, fix),
	ARGUMENT_FLAG(KEY_YES, struct options, yes),
	ARGUMENT_FLAG(KEY_UNDO, struct options, undo),
	ARGUMENT_TEXT(KEY_ROOT, struct options, root),
	ARGUMENT_END,
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	return arguments_store_options(places, state, key, arg);
}

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	interrupted = number;
}

/* Does the list name a CPU that no list holds? Lists of the kernel's may, and that is passed over. */
static bool beyond_lists(const char *text)
{
	while (*text) {
		char *end;

		if (strtoul(text, &end, 10) >= CPULIST_MAX && end != text)
			return true;
		text = end == text ? text + 1 : end + (*end != '\0');
	}
	return false;
}

static int check_options(const struct options *options, struct exam *exam, struct error *err)
{
	uint64_t priority;

	if (options->undo &&
	    (options->fix || options->yes || options->iface || options->cpus || options->cycle ||
	     options->priority || options->brief || options->json))
		return error_input(err, "--undo goes without other options (but --root): it puts "
					"back all that --fix has changed");
	if (options->brief && options->json)
		return error_input(err, "--brief is for the text; the JSON document has it all, "
					"with the verdict of each: leave one of them out");
	if (options->root && access(options->root, F_OK) < 0)
		return error_input(err, "--root '%.256s': %s", options->root, strerror(errno));
	if (options->yes && !options->fix)
		return error_input(err, "--yes goes with --fix");
	if (options->fix && options->json && !options->yes)
		return error_input(err, "--fix with --json cannot ask: add --yes");
	if (options->fix && !options->yes && !isatty(STDIN_FILENO))
		return error_input(err, "--fix asks on a terminal; without one add --yes");
	if (parse_duration("--for", options->cycle ? options->cycle : "1ms", 10 * NSEC_PER_USEC,
			   10 * NSEC_PER_SEC, &exam->cycle_ns, err) ||
	    parse_number("--rt-priority", options->priority ? options->priority : "80", 1, 99,
			 &priority, err))
		return -1;
	exam->rt_priority = (int)priority;
	if (options->cpus && (cpulist_parse(options->cpus, &exam->cpus) ||
			      beyond_lists(options->cpus) || cpulist_empty(&exam->cpus)))
		return error_input(
			err, "--cpu '%.64s': not a list of CPUs from 0 to %d; write 3 or 2-3,5",
			options->cpus, CPULIST_MAX - 1);
	return 0;
}

struct result {
	struct finding *findings;
	size_t count;
	size_t verdicts[VERDICTS];
};

static void free_result(struct result *result)
{
	for (size_t i = 0; i < result->count; i++)
		finding_free(&result->findings[i]);
	free(result->findings);
	memset(result, 0, sizeof(*result));
}

static char ability(enum nic_can can)
{
	return can == NIC_YES ? 'y' : can == NIC_NO ? 'n' : '?';
}

/* What the table of NICs says of this one. Drivers that are not in it are left as not known. */
static void look_up_part(struct nic_facts *nic)
{
	char pci_id[16] = "", vendor[16], device[16];
	const struct nic *row, *table;
	unsigned count;

	if (fact_text("", vendor, sizeof(vendor), "/sys/class/net/%s/device/vendor", nic->name) >
		    2 &&
	    fact_text("", device, sizeof(device), "/sys/class/net/%s/device/device", nic->name) > 2)
		snprintf(pci_id, sizeof(pci_id), "%.6s:%.6s", vendor + 2, device + 2);
	row = nic_find(nic->driver.name, nic->driver.firmware, pci_id);
	table = nic_table(&count);
	if (row == &table[count - 1])
		return;
	nic->part = row->name;
	nic->launch_time = ability(row->etf_offload);
	nic->taprio = ability(row->taprio_offload);
	nic->mqprio_launch_note = row->mqprio_ends_launch ? nic_launch_ignored : NULL;
	nic->ability_note = row->etf_excludes_taprio ? "not both at once" : NULL;
	/* IGC_TSN parts alone: the driver serves others as well */
	if (!strcmp(nic->driver.name, "igc") &&
	    (!strcmp(pci_id, "8086:15f3") || !strcmp(pci_id, "8086:5502") ||
	     !strcmp(pci_id, "8086:15fd"))) {
		nic->part = "an I225 or I226 part without TSN";
		nic->launch_time = nic->taprio = 'n';
		nic->ability_note = NULL;
	}
}

static int examine(const struct options *options, struct exam *exam, struct result *result,
		   struct error *err)
{
	memset(result, 0, sizeof(*result));
	exam->root = options->root ? options->root : "";
	exam->tai_offset = options->root ? EXAM_UNKNOWN : tai_offset_seconds();
	exam->nic.name[0] = '\0';
	if (options->iface && options->root)
		snprintf(exam->nic.name, sizeof(exam->nic.name), "%s", options->iface);
	else if (options->iface && nic_facts_gather(options->iface, &exam->nic, err) < 0)
		return -1;
	if (options->iface && !options->root)
		look_up_part(&exam->nic);
	if (exam_gather(exam, options->root ? 0 : IRQ_LOOK_NS, err) < 0)
		return -1;
	result->findings = calloc(doctor_count(), sizeof(*result->findings));
	if (!result->findings)
		return error_errno(err, ENOMEM, "doctor");
	for (size_t i = 0; i < doctor_count(); i++) {
		const struct check *check = doctor_check(i);
		struct finding *finding = &result->findings[result->count];

		if (check->group == GROUP_NIC && !exam->nic.name[0])
			continue;
		doctor_judge(exam, check, finding);
		result->count++;
		if (finding->failed)
			return error_errno(err, ENOMEM, "doctor");
		result->verdicts[finding->verdict]++;
	}
	return 0;
}

static void print_finding(const struct finding *finding)
{
	printf("  %-7s  %-14s %s\n", verdict_name(finding->verdict), finding->check->name,
	       finding->value);
	printf("           why: %s\n", finding->check->why);
	if (finding->fix[0] && finding->verdict != VERDICT_OK)
		printf("           fix: %s\n", finding->fix);
}

static void print_text(const struct options *options, const struct exam *exam,
		       const struct result *result)
{
	char cpus[CPULIST_TEXT], cycle[DURATION_TEXT], boot[1024];
	size_t fixable = 0;

	printf("real-time CPU %s%s, weighed for a cycle of %s%s%s\n",
	       cpulist_format(&exam->cpus, cpus, sizeof(cpus)),
	       options->cpus ? "" : " (taken: name others with --cpu)",
	       format_duration(exam->cycle_ns, cycle), exam->nic.name[0] ? ", " : "",
	       exam->nic.name);
	for (int group = 0; group < GROUPS; group++) {
		bool titled = false;

		if (group == GROUP_NIC && !exam->nic.name[0]) {
			if (!options->brief)
				printf("\nNIC\n  no device was named: --iface\n");
			continue;
		}
		for (size_t i = 0; i < result->count; i++) {
			const struct finding *finding = &result->findings[i];

			if ((int)finding->check->group != group ||
			    (options->brief && finding->verdict == VERDICT_OK))
				continue;
			if (!titled)
				printf("\n%s\n", group_name((enum check_group)group));
			titled = true;
			print_finding(finding);
			fixable += finding->change_count > 0;
		}
	}
	printf("\n%zu bad, %zu warn, %zu ok, %zu unknown\n", result->verdicts[VERDICT_BAD],
	       result->verdicts[VERDICT_WARN], result->verdicts[VERDICT_OK],
	       result->verdicts[VERDICT_UNKNOWN]);
	if (*doctor_boot_line(result->findings, result->count, boot, sizeof(boot)))
		printf("boot parameters, as one line: %s\n", boot);
	if (fixable && !options->fix && !options->root)
		printf("the same with --fix can mend %zu of these now; `tsnpub doctor --undo` "
		       "takes it back\n",
		       fixable);
}

static json_t *finding_json(const struct finding *finding)
{
	json_t *changes = json_array();
	json_t *object;

	for (size_t i = 0; i < finding->change_count; i++) {
		const struct change *c = &finding->changes[i];

		json_array_append_new(
			changes, json_pack("{s:s,s:s,s:s,s:s}", "kind", change_kind_name(c->kind),
					   "target", c->target, "key", c->key, "value", c->value));
	}
	object = json_pack("{s:s,s:s,s:s,s:s%,s:s,s:s%,s:s,s:o}", "name", finding->check->name,
			   "group", group_name(finding->check->group), "verdict",
			   verdict_name(finding->verdict), "value", finding->value,
			   strlen(finding->value), "why", finding->check->why, "fix", finding->fix,
			   strlen(finding->fix), "boot", finding->boot, "changes", changes);
	if (object && finding->cost_ns)
		json_object_set_new(object, "cost_ns", json_integer(finding->cost_ns));
	return object;
}

static int print_json(const struct exam *exam, const struct result *result, json_t *fixed,
		      struct error *err)
{
	json_t *root = json_object(), *list = json_array(), *cpus = json_array();
	char boot[1024];

	cpulist_for_each(cpu, &exam->cpus) json_array_append_new(cpus, json_integer(cpu));
	for (size_t i = 0; i < result->count; i++) {
		json_array_append_new(list, finding_json(&result->findings[i]));
	}
	json_object_set_new(root, "cycle_ns", json_integer(exam->cycle_ns));
	json_object_set_new(root, "cpus", cpus);
	if (exam->nic.name[0])
		json_object_set_new(root, "iface", json_string(exam->nic.name));
	json_object_set_new(root, "findings", list);
	for (int i = 0; i < VERDICTS; i++)
		json_object_set_new(root, verdict_name((enum verdict)i),
				    json_integer((json_int_t)result->verdicts[i]));
	json_object_set_new(
		root, "boot_parameters",
		json_string(doctor_boot_line(result->findings, result->count, boot, sizeof(boot))));
	if (fixed)
		json_object_set(root, "fixed", fixed);
	if (json_dumpf(root, stdout, JSON_INDENT(1)) || putchar('\n') == EOF) {
		json_decref(root);
		return error_errno(err, errno, "cannot write the document");
	}
	json_decref(root);
	return 0;
}

/*
 * The first character of a line from the terminal; 0 at the end of the input or when interrupted. A signal
 * just before the wait ends it as well: it stays blocked until ppoll() lets it in.
 */
static char read_answer(void)
{
	struct pollfd terminal = { .fd = STDIN_FILENO, .events = POLLIN };
	sigset_t caught, before;
	char text[64], first = 0;
	ssize_t size = 0;

	signals_that_end(&caught);
	sigprocmask(SIG_BLOCK, &caught, &before);
	do {
		if (interrupted || ppoll(&terminal, 1, NULL, &before) < 0)
			size = -1;
		else
			size = read(STDIN_FILENO, text, sizeof(text));
		if (!first && size > 0)
			first = text[0];
	} while (size > 0 && text[size - 1] != '\n');
	sigprocmask(SIG_SETMASK, &before, NULL);
	return size > 0 ? first : 0;
}

/* What is answered on the terminal: see read_answer(). */
static char ask(const struct finding *finding)
{
	printf("\n%s: %s\n  %s\n", finding->check->name, finding->value, finding->fix);
	printf("change this (%zu setting%s)? [y/N] ", finding->change_count,
	       finding->change_count == 1 ? "" : "s");
	fflush(stdout);
	return read_answer();
}

/* Applies what the findings offer. 0, or -1 when something failed or was interrupted. */
static int apply(const struct options *options, const struct result *result, json_t *fixed,
		 struct error *err)
{
	struct fix *fix = fix_open(options->root ? options->root : "", true, err);
	int failed = 0;

	if (!fix)
		return -1;
	signals_catch(on_signal);
	for (size_t i = 0; i < result->count && !interrupted; i++) {
		const struct finding *finding = &result->findings[i];
		struct error why = ERROR_INIT;
		size_t made = 0, refused = 0;
		char note[640];

		if (!finding->change_count || finding->verdict == VERDICT_OK)
			continue;
		if (!options->yes) {
			char answer = ask(finding);

			if (!answer)
				break;
			if (answer != 'y' && answer != 'Y')
				continue;
		}
		if (fix_apply(fix, finding->changes, finding->change_count, &made, &refused, &why) <
		    0) {
			failed++;
			snprintf(note, sizeof(note), "failed, put back: %s", why.text);
		} else if (refused) {
			snprintf(note, sizeof(note),
				 "%zu changed; %zu refused by the kernel (it manages them itself)",
				 made, refused);
		} else {
			snprintf(note, sizeof(note), "%zu changed", made);
		}
		json_object_set_new(fixed, finding->check->name, json_string(note));
		if (!options->json)
			printf("%-14s %s\n", finding->check->name, note);
	}
	if (interrupted) {
		struct error why = ERROR_INIT;

		failed = fix_rollback(fix, &why) < 0;
		fix_close(fix);
		if (failed)
			return error_system(err, "interrupted, and not all could be put back: %s",
					    why.text);
		return error_system(err, "interrupted: all changes of this run are put back");
	}
	fix_close(fix);
	if (failed)
		return error_system(err,
				    "%d of the fixes failed; those were put back, the others "
				    "hold",
				    failed);
	return 0;
}

struct undo_counts {
	size_t restored, left, failed;
};

static void report_undone(const struct change *was, enum fix_undone result, const char *text,
			  void *context)
{
	struct undo_counts *counts = context;
	char name[CHANGE_TEXT + 80];

	snprintf(name, sizeof(name), "%s%s%s", was->target, was->key[0] ? " " : "", was->key);
	switch (result) {
	case FIX_RESTORED:
		counts->restored++;
		printf("%s: %s again\n", name, was->value);
		return;
	case FIX_CHANGED_SINCE:
		counts->left++;
		printf("%s: left at %s, somebody else has set it since (it was %s)\n", name, text,
		       was->value);
		return;
	case FIX_GONE:
		counts->left++;
		printf("%s: is gone\n", name);
		return;
	case FIX_ELSEWHERE:
		counts->failed++;
		printf("%s: belongs to another network namespace; undo it there\n", name);
		return;
	case FIX_FAILED:
		counts->failed++;
		printf("%s: cannot be put back: %s\n", name, text);
		return;
	}
}

static int undo(const struct options *options, struct error *err)
{
	struct fix *fix = fix_open(options->root ? options->root : "", false, err);
	struct undo_counts counts = { 0 };
	int result;

	if (!fix)
		return -1;
	if (!fix_count(fix)) {
		printf("nothing to undo\n");
		fix_close(fix);
		return 0;
	}
	result = fix_undo(fix, report_undone, &counts, err);
	fix_close(fix);
	if (result < 0)
		return -1;
	printf("%zu put back", counts.restored);
	if (counts.left)
		printf(", %zu left as they are", counts.left);
	putchar('\n');
	if (counts.failed)
		return error_system(err,
				    "%zu could not be put back; they are kept for another --undo",
				    counts.failed);
	return 0;
}

int cmd_doctor(int argc, char **argv)
{
	static const struct argp argp = {
		argp_options,
		parse_option,
		NULL,
		"Examines kernel, CPU, interrupts, NIC, clock and process for what spoils "
		"determinism; says why, and what to do. Exit status 1 when something is bad.",
		NULL,
		NULL,
		NULL
	};
	struct options options = { 0 };
	struct exam exam = { 0 };
	struct result result = { 0 };
	struct error err = ERROR_INIT;
	json_t *fixed = NULL;
	int status = STATUS_SYSTEM, failed = 0;

	if (arguments_parse(&argp, argc, argv, &options, &err))
		return error_report(&err);
	if (check_options(&options, &exam, &err))
		return error_report(&err);
	if (options.undo)
		return undo(&options, &err) ? error_report(&err) : STATUS_GOOD;
	if (examine(&options, &exam, &result, &err) < 0) {
		status = error_report(&err);
		goto out;
	}
	if (options.fix) {
		fixed = json_object();
		if (!options.json)
			print_text(&options, &exam, &result);
		if (!options.json)
			printf("\n");
		failed = apply(&options, &result, fixed, &err);
		/* nothing was tried, or all is as it was: the table stands */
		if (failed && (interrupted || !json_object_size(fixed))) {
			status = error_report(&err);
			goto out;
		}
		if (failed)
			error_report(&err);
		/* what is in force now */
		struct cpulist cpus = exam.cpus;

		free_result(&result);
		exam_free(&exam);
		exam.cpus = cpus;
		if (examine(&options, &exam, &result, &err) < 0) {
			status = error_report(&err);
			goto out;
		}
		if (!options.json)
			printf("\nafter the changes: ");
	}
	if (options.json && print_json(&exam, &result, fixed, &err) < 0) {
		status = error_report(&err);
		goto out;
	}
	if (!options.json && options.fix)
		options.brief = true;
	if (!options.json)
		print_text(&options, &exam, &result);
	status = failed                         ? STATUS_SYSTEM
		 : result.verdicts[VERDICT_BAD] ? STATUS_BAR_MISSED
						: STATUS_GOOD;
out:
	free_result(&result);
	exam_free(&exam);
	json_decref(fixed);
	return status;
}
