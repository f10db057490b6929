// SPDX-License-Identifier: GPL-2.0-only
#include "host/doctor.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "host/facts.h"
#include "host/irq.h"
#include "host/realtime.h"

static const struct check_table *const tables[] = {
	&checks_kernel,    &checks_cpu,   &checks_irq,     &checks_nic,
	&checks_nic_power, &checks_clock, &checks_process,
};
#define TABLES (sizeof(tables) / sizeof(tables[0]))

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[VERDICTS] = { "ok", "warn", "bad", "unknown" };

	return names[verdict];
}

const char *group_name(enum check_group group)
{
	static const char *const names[GROUPS] = {
		"kernel", "CPU", "IRQ", "NIC", "clock", "process"
	};

	return names[group];
}

size_t doctor_count(void)
{
	size_t count = 0;

	for (size_t i = 0; i < TABLES; i++)
		count += tables[i]->count;
	return count;
}

const struct check *doctor_check(size_t index)
{
	for (size_t i = 0; i < TABLES; i++) {
		if (index < tables[i]->count)
			return &tables[i]->checks[index];
		index -= tables[i]->count;
	}
	return NULL;
}

static void format_value(struct finding *finding, const char *format, va_list args)
{
	vsnprintf(finding->value, sizeof(finding->value), format, args);
}

void finding_is(struct finding *finding, enum verdict verdict, const char *format, ...)
{
	va_list args;

	finding->verdict = verdict;
	va_start(args, format);
	format_value(finding, format, args);
	va_end(args);
}

void finding_costs(const struct exam *exam, struct finding *finding, int64_t cost_ns,
		   const char *format, ...)
{
	va_list args;

	finding->cost_ns = cost_ns ? cost_ns : finding->check->cost_ns;
	finding->verdict = finding->cost_ns >= exam->cycle_ns / 10           ? VERDICT_BAD
			   : finding->cost_ns >= (exam->cycle_ns + 99) / 100 ? VERDICT_WARN
									     : VERDICT_OK;
	va_start(args, format);
	format_value(finding, format, args);
	va_end(args);
}

void finding_fix(struct finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(finding->fix, sizeof(finding->fix), format, args);
	va_end(args);
}

void finding_boot(struct finding *finding, const char *format, ...)
{
	size_t used = strlen(finding->boot);
	va_list args;

	if (used && used + 1 < sizeof(finding->boot))
		finding->boot[used++] = ' ';
	va_start(args, format);
	vsnprintf(finding->boot + used, sizeof(finding->boot) - used, format, args);
	va_end(args);
}

/* Stands for the commands that the line does not hold. */
static const char more_commands[] = "; ... (all of them: tsnpub doctor --fix)";

static void add_command(struct finding *finding, const char *command)
{
	size_t used = strlen(finding->fix), marker = sizeof(more_commands) - 1;

	if (used >= marker && !strcmp(finding->fix + used - marker, more_commands))
		return;
	if (used + strlen(command) + 2 + marker < sizeof(finding->fix))
		sprintf(finding->fix + used, "%s%s", used ? "; " : "", command);
	else
		snprintf(finding->fix + used, sizeof(finding->fix) - used, "%s", more_commands);
}

void finding_change(struct finding *finding, const struct change *change, bool quiet)
{
	struct change *grown = realloc(finding->changes,
				       (finding->change_count + 1) * sizeof(*finding->changes));
	char command[CHANGE_TEXT + 160];

	if (!grown) {
		finding->failed = true;
		return;
	}
	finding->changes = grown;
	finding->changes[finding->change_count++] = *change;
	if (quiet)
		return;
	change_command(change, command, sizeof(command));
	add_command(finding, command);
}

void finding_change_file(struct finding *finding, const char *value, const char *path, ...)
{
	struct change change = { .kind = CHANGE_FILE };
	va_list args;

	va_start(args, path);
	vsnprintf(change.target, sizeof(change.target), path, args);
	va_end(args);
	snprintf(change.value, sizeof(change.value), "%s", value);
	finding_change(finding, &change, false);
}

void finding_free(struct finding *finding)
{
	free(finding->changes);
	finding->changes = NULL;
	finding->change_count = 0;
}

/* What files and threads are called is for others to say: nothing of it may break a line, a terminal or JSON. */
static void clean(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

void doctor_judge(const struct exam *exam, const struct check *check, struct finding *finding)
{
	memset(finding, 0, sizeof(*finding));
	finding->check = check;
	finding->verdict = VERDICT_UNKNOWN;
	check->judge(exam, finding);
	clean(finding->value);
	clean(finding->fix);
	clean(finding->boot);
	/* what does no harm at this cycle needs no remedy */
	if (finding->verdict == VERDICT_OK) {
		finding_free(finding);
		finding->boot[0] = '\0';
	}
}

static bool is_realtime_kernel(const struct exam *exam)
{
	char version[512];
	int64_t flag;

	if (!fact_number(exam->root, &flag, "/sys/kernel/realtime"))
		return flag == 1;
	if (kernel_config(exam->config, "CONFIG_PREEMPT_RT") == 'y')
		return true;
	return fact_text(exam->root, version, sizeof(version), "/proc/version") > 0 &&
	       strstr(version, "PREEMPT_RT");
}

int exam_gather(struct exam *exam, int64_t pause_ns, struct error *err)
{
	struct timespec pause = ns_to_timespec(pause_ns);
	int64_t start;
	char text[CPULIST_TEXT], wanted[CPULIST_TEXT];
	struct cpulist missing;

	fact_cpulist(exam->root, &exam->online, "/sys/devices/system/cpu/online");
	if (cpulist_empty(&exam->online))
		return error_system(err,
				    "cannot read %s/sys/devices/system/cpu/online; is /sys "
				    "mounted?",
				    exam->root);
	fact_cpulist(exam->root, &exam->isolated, "/sys/devices/system/cpu/isolated");
	missing = cpulist_without(&exam->cpus, &exam->online);
	if (!cpulist_empty(&missing))
		return error_input(err, "--cpu: CPU %s is not online; %s are",
				   cpulist_format(&missing, wanted, sizeof(wanted)),
				   cpulist_format(&exam->online, text, sizeof(text)));
	if (cpulist_empty(&exam->cpus)) {
		struct cpulist isolated = cpulist_and(&exam->isolated, &exam->online);

		if (!*exam->root)
			cpulist_add(&exam->cpus, realtime_choose_cpu());
		else if (!cpulist_empty(&isolated))
			cpulist_add(&exam->cpus, cpulist_next(&isolated, -1));
		else
			cpulist_add(&exam->cpus, cpulist_last(&exam->online));
	}
	exam->housekeeping = cpulist_without(&exam->online, &exam->cpus);
	fact_text(exam->root, exam->cmdline, sizeof(exam->cmdline), "/proc/cmdline");
	exam->config = kernel_config_load(exam->root);
	exam->realtime_kernel = is_realtime_kernel(exam);
	if (pause_ns) {
		start = clock_now_ns(CLOCK_MONOTONIC);
		exam->irqs_before_count = irq_list(exam->root, &exam->cpus, &exam->irqs_before);
		nanosleep(&pause, NULL);
		exam->irq_seconds = (double)(clock_now_ns(CLOCK_MONOTONIC) - start) /
				    (double)NSEC_PER_SEC;
	}
	exam->irq_count = irq_list(exam->root, &exam->cpus, &exam->irqs);
	return 0;
}

void exam_free(struct exam *exam)
{
	free(exam->config);
	free(exam->irqs);
	free(exam->irqs_before);
	exam->config = NULL;
	exam->irqs = exam->irqs_before = NULL;
	exam->irq_count = exam->irqs_before_count = 0;
}

static bool has_word(const char *line, const char *word, size_t length)
{
	for (const char *at = line; (at = strstr(at, word)); at++)
		if ((at == line || at[-1] == ' ') && (!at[length] || at[length] == ' '))
			return true;
	return false;
}

char *doctor_boot_line(const struct finding *findings, size_t count, char *buffer, size_t size)
{
	size_t used = 0;

	buffer[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		const char *at = findings[i].boot;

		if (findings[i].verdict == VERDICT_OK)
			continue;
		while (*at) {
			size_t length = strcspn(at, " ");
			char word[128];

			snprintf(word, sizeof(word), "%.*s", (int)length, at);
			if (used + length + 2 < size && !has_word(buffer, word, strlen(word)))
				used += (size_t)snprintf(buffer + used, size - used, "%s%s",
							 used ? " " : "", word);
			at += length;
			at += strspn(at, " ");
		}
	}
	return buffer;
}
