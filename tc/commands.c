// SPDX-License-Identifier: GPL-2.0-only
#include "tc/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For a shell: a name may have what it would take for more than a name. */
static void print_device(FILE *out, const char *name)
{
	bool plain = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				  "-_.@:+") == strlen(name);

	fprintf(out, "tc qdisc replace dev %s", plain ? "" : "'");
	for (; *name; name++)
		if (*name == '\'')
			fprintf(out, "'\\''");
		else
			putc(*name, out);
	fprintf(out, "%s", plain ? "" : "'");
}

static void print_classes(FILE *out, const struct deployment *deployment)
{
	const struct schedule *schedule = &deployment->schedule;

	fprintf(out, " num_tc %u map", schedule->class_count);
	for (unsigned p = 0; p < 16; p++)
		fprintf(out, " %d", schedule_class_of(schedule, p));
	fprintf(out, " queues");
	for (unsigned c = 0; c < schedule->class_count; c++)
		fprintf(out, " %u@%u", schedule->classes[c].queue_count,
			schedule->classes[c].queue_first);
}

static void print_preemption(FILE *out, const struct deployment *deployment)
{
	if (!deployment->preemption)
		return;
	fprintf(out, " fp");
	for (unsigned c = 0; c < deployment->schedule.class_count; c++)
		fprintf(out, " %c", deployment->schedule.classes[c].preemptible ? 'P' : 'E');
}

static void print_taprio(FILE *out, const struct deployment *deployment, const char *interface,
			 int64_t base_ns)
{
	const struct schedule *schedule = &deployment->schedule;
	bool limited = false;

	print_device(out, interface);
	fprintf(out, " root handle %x: stab overhead %d taprio", DEPLOYMENT_HANDLE, WIRE_OVERHEAD);
	print_classes(out, deployment);
	fprintf(out, " base-time %lld", (long long)base_ns);
	for (unsigned i = 0; i < schedule->gate_count; i++)
		fprintf(out, " sched-entry S %02x %lld", schedule->gates[i].open,
			(long long)schedule->gates[i].duration_ns);
	fprintf(out, " cycle-time %lld", (long long)schedule->cycle_ns);
	if (schedule->extension_ns)
		fprintf(out, " cycle-time-extension %lld", (long long)schedule->extension_ns);
	for (unsigned c = 0; c < schedule->class_count; c++)
		limited |= schedule->classes[c].max_frame != 0;
	if (limited) {
		fprintf(out, " max-sdu");
		for (unsigned c = 0; c < schedule->class_count; c++)
			fprintf(out, " %u", deployment_max_sdu(deployment, c));
	}
	print_preemption(out, deployment);
	if (deployment->mode == SCHEDULE_FULL_OFFLOAD)
		fprintf(out, " flags 0x2");
	else
		fprintf(out, "%s clockid CLOCK_TAI",
			deployment->mode == SCHEDULE_TXTIME_ASSIST ? " flags 0x1" : "");
	if (deployment->mode == SCHEDULE_TXTIME_ASSIST)
		fprintf(out, " txtime-delay %lld", (long long)deployment->txtime_delay_ns);
}

static void print_mqprio(FILE *out, const struct deployment *deployment, const char *interface)
{
	print_device(out, interface);
	fprintf(out, " root handle %x: mqprio", DEPLOYMENT_HANDLE);
	print_classes(out, deployment);
	print_preemption(out, deployment);
	fprintf(out, " hw %d", deployment->mqprio_hw);
}

static void print_etf(FILE *out, const struct deployment *deployment, const char *interface,
		      unsigned class, unsigned queue)
{
	print_device(out, interface);
	fprintf(out,
		" parent %x:%x handle %x: etf clockid CLOCK_TAI delta "
		"%lld%s%s",
		DEPLOYMENT_HANDLE, queue + 1, DEPLOYMENT_HANDLE + 1 + queue,
		(long long)deployment->schedule.classes[class].delta_ns,
		deployment->etf_offload[class] ? " offload" : "",
		deployment->mode == SCHEDULE_TXTIME_ASSIST ? " skip_sock_check" : "");
}

char *deployment_command(const struct deployment *deployment, const char *interface,
			 int64_t base_ns, unsigned index)
{
	const struct schedule *schedule = &deployment->schedule;
	bool found = index == 0;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (index == 0 && deployment_has_gates(deployment))
		print_taprio(out, deployment, interface, base_ns);
	else if (index == 0)
		print_mqprio(out, deployment, interface);
	for (unsigned c = 0, n = 1; c < schedule->class_count && !found; c++) {
		const struct traffic_class *class = &schedule->classes[c];

		for (unsigned q = 0; class->launch_time && q < class->queue_count && !found;
		     q++, n++)
			if (n == index) {
				print_etf(out, deployment, interface, c, class->queue_first + q);
				found = true;
			}
	}
	if (fclose(out) || !found) {
		free(text);
		return NULL;
	}
	return text;
}
