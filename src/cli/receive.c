// SPDX-License-Identifier: GPL-2.0-only
#include <argp.h>
#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/stream.h"
#include "base/units.h"
#include "bpf/wire.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/sync_options.h"
#include "engine/rx_session.h"

#define DURATION_MAX_NS (366 * 86400 * NSEC_PER_SEC)

enum {
	OPTION_TIMESTAMPS = 256,
	OPTION_XDP,
	OPTION_RUN,
	OPTION_DEST,
	OPTION_ETHERTYPE,
	OPTION_PASS,
	OPTION_PROMISC,
	OPTION_DEADLINE,
	OPTION_SLA,
	OPTION_BUSY_POLL,
	OPTION_RING_SIZE,
	OPTION_STAY,
	OPTION_BLAME,
	OPTION_BLAME_OVER,
	OPTION_READY_FD,
};

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0, "What to receive:", 1 },
	{ "iface", 'i', "NAME", 0, "the interface (needed)", 0 },
	{ "stream", 's', "ID", 0, "only this stream; may be repeated", 0 },
	{ "run", OPTION_RUN, "HEX", 0, "only this run, as the publisher prints it", 0 },
	{ "ethertype", OPTION_ETHERTYPE, "TYPE", 0, "EtherType of the frames (0x88b5)", 0 },
	{ "dest", OPTION_DEST, "MAC", 0,
	  "let this destination through the NIC's filter; may be repeated. The default addresses "
	  "91:e0:f0:00:fe:xx always pass",
	  0 },
	{ "promisc", OPTION_PROMISC, NULL, 0, "let all destinations and VLANs through", 0 },
	{ NULL, 0, NULL, 0, "How:", 2 },
	{ "timestamps", OPTION_TIMESTAMPS, "SOURCE", 0,
	  "auto, hw (NIC, in XDP), xdp (kernel, in XDP), hw-socket (NIC, through a socket) or sw "
	  "(kernel, through a socket)",
	  0 },
	{ "xdp", OPTION_XDP, "MODE", 0, "auto, native or generic", 0 },
	{ "pass", OPTION_PASS, NULL, 0, "matched frames also go on to the network stack", 0 },
	{ "busy-poll", OPTION_BUSY_POLL, "TIME", 0,
	  "look for frames for so long before sleeping: less delay, more CPU time", 0 },
	{ "ring-size", OPTION_RING_SIZE, "BYTES", 0,
	  "of the ring between kernel and program, with K, M or G (16M: 262,144 frames)", 0 },
	{ NULL, 0, NULL, 0, "How long (else until the last frame, or Ctrl-C):", 3 },
	{ "count", 'n', "N", 0, "end after so many frames", 0 },
	{ "duration", 'd', "TIME", 0, "end after this time", 0 },
	{ "stay", OPTION_STAY, NULL, 0, "go on after the last frame, for further runs", 0 },
	{ NULL, 0, NULL, 0, "Bars and results:", 4 },
	{ "deadline", OPTION_DEADLINE, "TIME", 0, "a frame with a higher latency is late", 0 },
	{ "sla", OPTION_SLA, "PERCENT", 0, "share of the frames that must arrive in time: 99.99%",
	  0 },
	{ "blame", OPTION_BLAME, NULL, 0,
	  "find out which interrupts of this machine made late frames late", 0 },
	{ "blame-over", OPTION_BLAME_OVER, "TIME", 0,
	  "look at frames that are so much later than the median (P99.9 so far)", 0 },
	{ "log", 'l', "FILE", 0, "write a record of each frame", 0 },
	{ "json", 'j', NULL, 0, "the summary as one JSON document", 0 },
	{ "quiet", 'q', NULL, 0, "no live line: warnings and the summary only", 0 },
	{ "ready-fd", OPTION_READY_FD, "N", OPTION_HIDDEN,
	  "write a newline to this descriptor once frames are taken", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

struct parse {
	struct rx_session_options session;
	struct sync_option_parse sync; /* points into this */
	struct error err;
};

static int parse_iface(const char *arg, struct receiver_options *receiver, struct error *err)
{
	if (!*arg || strlen(arg) >= sizeof(receiver->ifname))
		return error_input(err,
				   "--iface '%.64s': an interface name has 1 to 15 characters; "
				   "`ip link` lists them",
				   arg);
	strcpy(receiver->ifname, arg);
	return 0;
}

static int parse_timestamps(const char *arg, struct receiver_options *receiver, struct error *err)
{
	static const char *const names[] = {
		[RECEIVER_AUTO] = "auto",           [RECEIVER_HW] = "hw", [RECEIVER_XDP] = "xdp",
		[RECEIVER_HW_SOCKET] = "hw-socket", [RECEIVER_SW] = "sw",
	};
	unsigned value;

	if (parse_word("--timestamps", arg, names, sizeof(names) / sizeof(names[0]), &value, err))
		return -1;
	receiver->stamps = (enum receiver_stamps)value;
	return 0;
}

static int parse_xdp(const char *arg, struct receiver_options *receiver, struct error *err)
{
	static const char *const names[] = {
		[XDP_MODE_AUTO] = "auto",
		[XDP_MODE_NATIVE] = "native",
		[XDP_MODE_GENERIC] = "generic",
	};
	unsigned value;

	if (parse_word("--xdp", arg, names, sizeof(names) / sizeof(names[0]), &value, err))
		return -1;
	receiver->xdp_mode = (enum xdp_mode)value;
	return 0;
}

static int parse_stream(const char *arg, struct receiver_options *receiver, struct error *err)
{
	uint64_t value;

	if (receiver->stream_count == RX_STREAM_FILTERS)
		return error_input(err, "--stream %.32s: at most %d; without any all are received",
				   arg, RX_STREAM_FILTERS);
	if (parse_number("--stream", arg, 0, STREAM_ID_MAX, &value, err))
		return -1;
	receiver->streams[receiver->stream_count++] = (uint16_t)value;
	return 0;
}

static int parse_run(const char *arg, struct receiver_options *receiver, struct error *err)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(arg, &end, 16);
	if (*end || end == arg || errno || value > UINT32_MAX || strspn(arg, "-+ \t"))
		return error_input(err,
				   "--run '%.64s': a run is up to 8 hexadecimal digits, as the "
				   "publisher and the summary show it",
				   arg);
	receiver->run = (uint32_t)value;
	receiver->has_run = true;
	return 0;
}

static int parse_dest(const char *arg, struct receiver_options *receiver, struct error *err)
{
	if (receiver->dest_count == RECEIVER_DESTS_MAX)
		return error_input(err, "--dest %.32s: at most %d; --promisc lets all through", arg,
				   RECEIVER_DESTS_MAX);
	if (parse_mac("--dest", arg, receiver->dests[receiver->dest_count], err))
		return -1;
	receiver->dest_count++;
	return 0;
}

static int parse_ring_size(const char *arg, struct receiver_options *receiver, struct error *err)
{
	static const char units[] = "KMG";
	size_t length = strlen(arg);
	const char *unit = length ? strchr(units, arg[length - 1]) : NULL;
	char number[32];
	uint64_t value;

	snprintf(number, sizeof(number), "%s", arg);
	if (unit && *unit && length < sizeof(number))
		number[length - 1] = 0;
	else
		unit = NULL;
	if (parse_number("--ring-size", number, 1, RECEIVER_RING_MAX, &value, err))
		return -1;
	if (unit)
		value <<= 10 * (unit - units + 1);
	if (value & (value - 1) || value < (uint64_t)sysconf(_SC_PAGESIZE) ||
	    value > RECEIVER_RING_MAX)
		return error_input(err,
				   "--ring-size %.32s: a power of two from %ld to 1G (16M is the "
				   "default)",
				   arg, sysconf(_SC_PAGESIZE));
	receiver->ring_bytes = value;
	return 0;
}

static int parse_ready_fd(const char *arg, struct rx_session_options *session, struct error *err)
{
	uint64_t value;

	if (parse_number("--ready-fd", arg, 0, 1023, &value, err))
		return -1;
	session->ready_fd = (int)value;
	return 0;
}

static int take_option(int key, const char *arg, struct parse *parse)
{
	struct rx_session_options *session = &parse->session;
	struct receiver_options *receiver = &session->receiver;
	struct error *err = &parse->err;

	switch (key) {
	case 'i':
		return parse_iface(arg, receiver, err);
	case 's':
		return parse_stream(arg, receiver, err);
	case OPTION_RUN:
		return parse_run(arg, receiver, err);
	case OPTION_ETHERTYPE:
		return parse_ethertype("--ethertype", arg, &receiver->ethertype, err);
	case OPTION_DEST:
		return parse_dest(arg, receiver, err);
	case OPTION_TIMESTAMPS:
		return parse_timestamps(arg, receiver, err);
	case OPTION_XDP:
		return parse_xdp(arg, receiver, err);
	case OPTION_RING_SIZE:
		return parse_ring_size(arg, receiver, err);
	case OPTION_BUSY_POLL:
		return parse_duration("--busy-poll", arg, 0, NSEC_PER_SEC, &receiver->busy_poll_ns,
				      err);
	case 'n':
		return parse_number("--count", arg, 1, INT64_MAX, &session->count, err);
	case 'd':
		return parse_duration("--duration", arg, NSEC_PER_MSEC, DURATION_MAX_NS,
				      &session->duration_ns, err);
	case OPTION_DEADLINE:
		return parse_duration("--deadline", arg, 1, DURATION_MAX_NS, &session->deadline_ns,
				      err);
	case OPTION_BLAME_OVER:
		return parse_duration("--blame-over", arg, 1, DURATION_MAX_NS,
				      &session->blame_over_ns, err);
	case OPTION_SLA:
		return parse_percent("--sla", arg, &session->sla, err);
	case OPTION_READY_FD:
		return parse_ready_fd(arg, session, err);
	default:
		return 1;
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct parse *parse = state->input;
	int ret;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &parse->sync;
		return 0;
	case OPTION_PASS:
		parse->session.receiver.pass = true;
		return 0;
	case OPTION_PROMISC:
		parse->session.receiver.promiscuous = true;
		return 0;
	case OPTION_BLAME:
		parse->session.blame = true;
		return 0;
	case OPTION_STAY:
		parse->session.stay = true;
		return 0;
	case 'l':
		parse->session.log_path = arg;
		return 0;
	case 'j':
		parse->session.json = true;
		return 0;
	case 'q':
		parse->session.quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		error_input(&parse->err, "'%.64s': receive takes options only; --iface %.15s?", arg,
			    arg);
		return EINVAL;
	case ARGP_KEY_END:
		if (parse->session.blame_over_ns && !parse->session.blame) {
			error_input(&parse->err, "--blame-over goes with --blame");
			return EINVAL;
		}
		if (parse->session.receiver.ifname[0])
			return 0;
		error_input(&parse->err, "--iface is missing: `tsnpub receive --iface enp2s0`");
		return EINVAL;
	default:
		ret = take_option(key, arg, parse);
		return ret > 0 ? ARGP_ERR_UNKNOWN : ret ? EINVAL : 0;
	}
}

int cmd_receive(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &sync_options_argp, 0, "The clocks:", 5 },
		{ NULL, 0, NULL, 0 },
	};
	static const struct argp argp = {
		options,
		parse_option,
		NULL,
		"Receives the publisher's frames in XDP: stamps each on arrival, shows latency and "
		"jitter live, logs, and sums up at the end."
		"\vExit status: 0 done; 1 a bar was missed (--deadline, --sla), or no frame came; "
		"2 "
		"wrong usage; 3 the system refuses or lacks something.",
		children,
		NULL,
		NULL
	};
	struct parse parse = { .session = { .argv = argv,
					    .sync = SYNC_GUARD_DEFAULTS,
					    .ready_fd = -1,
					    .receiver = { .ethertype = WIRE_ETHERTYPE,
							  .ring_bytes = RECEIVER_RING_DEFAULT } },
			       .err = ERROR_INIT };
	int status;

	parse.sync = (struct sync_option_parse){ &parse.session.sync, &parse.err };
	if (arguments_parse(&argp, argc, argv, &parse, &parse.err))
		return error_report(&parse.err);
	status = rx_session_run(&parse.session, &parse.err);
	return status < 0 ? error_report(&parse.err) : status;
}
