/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frame's payload, behind the Ethernet header and its tags. Shared by user space and BPF; it only
 * needs the __u8 ... __be64 types, so include <linux/types.h> (or linux/bpf.h) before it.
 */
#ifndef BPF_WIRE_H
#define BPF_WIRE_H

#define WIRE_ETHERTYPE 0x88b5 /* IEEE local experimental EtherType 1 */
#define WIRE_MAGIC 0x54534e50 /* "TSNP" */
#define WIRE_VERSION 1

#define WIRE_FLAG_STAMP 1 /* stamp_distance and stamp are valid */
#define WIRE_FLAG_LAST 2 /* the last frame of this stream in this run */
#define WIRE_FLAG_STAMP_HW 4 /* the stamp is from hardware; clear: from software */

#define WIRE_STREAM_MAX 0xffef /* above: reserved */

/* All fields big-endian. */
struct wire_payload {
	__be32 magic;
	__u8 version;
	__u8 flags;
	__be16 stream;
	__be32 run; /* random for each run: a restart is not a reordering */
	__be16 stamp_distance; /* sequence of this frame minus that of the stamped one */
	__be16 reserved; /* 0 */
	__be64 seq; /* from 0, for each stream */
	__be64 launch; /* TAI ns */
	__be64 stamp; /* TX time, TAI ns, of the frame `stamp_distance` earlier */
} __attribute__((packed));

#define WIRE_PAYLOAD_SIZE 40 /* sizeof(struct wire_payload) */

#endif
