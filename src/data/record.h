/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The records of a log file: 64 bytes each, little-endian, as numpy.fromfile(name, dtype, offset=4096)
 * reads them. All times are TAI ns; STAMP_NONE where there is none.
 */
#ifndef DATA_RECORD_H
#define DATA_RECORD_H

#include <stddef.h>
#include <stdint.h>

#define RECORD_SIZE 64
#define STAMP_NONE 0 /* TAI 0 is 1970: no stamp of ours */

enum record_kind {
	RECORD_TX = 1, /* struct tx_record: from the publisher */
	RECORD_RX = 2, /* struct rx_record: from the receiver */
	RECORD_WAKE = 3, /* struct wake_record: from tsnpub latency */
	RECORD_SYNC = 4, /* struct sync_record: from tsnpub sync --log */
};

/*
 * In TX, RX and wake logs a record of another kind is told by this stream number, where the records of
 * that log have their stream. No frame has it: streams end at 0xffef.
 */
#define RECORD_STREAM_SYNC 0xffff /* the record is a struct sync_record */

/* tx_record.status */
#define TX_SENT 1 /* handed to the kernel, and it took it */
#define TX_SKIPPED 2 /* the cycle could no longer be met: not sent */
#define TX_REFUSED 4 /* sendmmsg refused the frame (ENOBUFS, ENETDOWN ...) */
#define TX_MISSED 8 /* the qdisc reported a missed launch (SO_EE_CODE_TXTIME_MISSED) */
#define TX_INVALID 16 /* the qdisc refused the launch time (SO_EE_CODE_TXTIME_INVALID_PARAM) */
#define TX_UNSYNCED 32 /* sent or skipped while the clock was not in sync: not in the statistics */
#define TX_LINK_DOWN 64 /* not sent: the link was down */
#define TX_LAST 128 /* the last frame of this stream in this run */
#define TX_PAUSED 256 /* not sent: paused by --on-sync-loss pause */

struct tx_record {
	int64_t seq;
	int64_t launch;
	int64_t wake; /* the cyclic thread's wake-up for this cycle */
	int64_t submit; /* when the kernel call returned */
	int64_t tx_sched; /* SOF_TIMESTAMPING_TX_SCHED */
	int64_t tx_sw; /* SOF_TIMESTAMPING_TX_SOFTWARE */
	int64_t tx_hw; /* SOF_TIMESTAMPING_TX_HARDWARE, the PHC's time taken as TAI */
	uint16_t stream;
	uint16_t status;
	uint32_t run;
};

/* rx_record.flags */
#define RX_STAMP 1 /* peer_tx and stamp_distance are valid */
#define RX_LAST 2 /* the last frame of this stream in this run */
#define RX_VLAN 4 /* the frame had a VLAN tag when it was seen */
#define RX_UNSYNCED 8 /* received while the clock was not in sync: not in the statistics */
#define RX_CUT 16 /* frame longer than the record can say */
#define RX_STAMP_HW 32 /* peer_tx is from hardware; clear: from software */

struct rx_record {
	int64_t seq;
	int64_t launch;
	int64_t rx_hw;
	int64_t rx_xdp; /* bpf_ktime_get_tai_ns(), or the kernel's socket stamp (`sw`) */
	int64_t rx_user; /* when user space took the record */
	int64_t peer_tx; /* the sender's TX stamp of frame seq - stamp_distance */
	uint16_t stream;
	uint16_t flags;
	uint16_t size; /* bytes, header to end of payload, without FCS */
	uint16_t queue;
	uint32_t run;
	uint16_t stamp_distance;
	uint16_t reserved;
};

/* From `tsnpub latency`: one wake-up of the cyclic thread. */
struct wake_record {
	int64_t seq;
	int64_t expected; /* the time asked for */
	int64_t wake; /* the time read after the wake-up */
	int64_t reserved[4];
	uint16_t stream; /* 0 */
	uint16_t status;
	uint32_t run;
};

/* sync_record.status */
#define SYNC_GOOD 1
#define SYNC_HAVE_MASTER 2 /* master_offset is valid */
#define SYNC_HAVE_PHC 4 /* phc_offset is valid */
#define SYNC_MARKED 8 /* the clocks count as lost, and frames of this moment are marked unsynced */
#define SYNC_MASTER 16 /* this clock is the grandmaster: what it tells is right by definition */

/* How far the clocks were apart: one a second. */
struct sync_record {
	int64_t time; /* TAI ns */
	int64_t master_offset; /* ptp4l's offset from its master, ns */
	int64_t phc_offset; /* PHC - CLOCK_TAI, ns */
	int64_t phc_window; /* width of the reading, ns: uncertainty is half of it */
	int64_t frequency_ppb; /* PHC against CLOCK_MONOTONIC_RAW */
	int64_t path_delay; /* mean or peer path delay, ns */
	uint16_t rx_stream; /* RECORD_STREAM_SYNC: where an rx_record has its stream */
	uint16_t port_state; /* IEEE 1588 portState of this interface's port, 0: unknown */
	int32_t tai_offset; /* the kernel's, seconds */
	uint16_t stream; /* RECORD_STREAM_SYNC: where the other records have theirs */
	uint16_t status;
	uint32_t run;
};

_Static_assert(sizeof(struct tx_record) == RECORD_SIZE, "TX record");
_Static_assert(sizeof(struct rx_record) == RECORD_SIZE, "RX record");
_Static_assert(sizeof(struct wake_record) == RECORD_SIZE, "wake record");
_Static_assert(sizeof(struct sync_record) == RECORD_SIZE, "sync record");
_Static_assert(offsetof(struct sync_record, rx_stream) == offsetof(struct rx_record, stream), "RX");
_Static_assert(offsetof(struct sync_record, stream) == offsetof(struct tx_record, stream), "TX");
_Static_assert(offsetof(struct sync_record, stream) == offsetof(struct wake_record, stream),
	       "wake");

#endif
