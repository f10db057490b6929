/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tsnsim: a pair of simulated TSN ports joined by a cable.
 *
 * Time. Three clocks meet here:
 *   raw   CLOCK_MONOTONIC_RAW in ns: the physical time of the model. The wire, the cable and the
 *         arrival of frames live in it, and no servo can bend it.
 *   phc   the PTP hardware clock of one port, an exact linear map of raw (phc.c). Launch times,
 *         gates and frame stamps are in it.
 *   mono  CLOCK_MONOTONIC, only to arm timers.
 * Every instant at which something happens in the model is computed, never read from a clock when
 * a timer happened to fire: a late timer delays the delivery of a frame, not its stamps.
 *
 * Locking, outermost first:
 *   rtnl_lock            taken by the stack around ndo_setup_tc, ndo_bpf, ethtool, open and stop;
 *                        xdp_prog, n_tc, taprio_on, autoneg are written under it
 *   culprit_mutex        debugfs only; nothing else is taken inside but the irq core's own locks
 *   __netif_tx_lock      a TX queue of one port, by the stack or by an XDP transmit; never two
 *   tsnsim_pair.lock     raw and irq-safe: hard interrupts (timers, on the rt kernel too) take it.
 *                        Covers all model state of both ports: queues, cable, PHC maps, schedules,
 *                        faults, moderation, counters. Inside are only raw locks of the timer and
 *                        workqueue cores: no allocation, no skb or frame is freed, nothing printed.
 *   late_stamps.lock     a leaf; softirq (on rt its thread), never inside tsnsim_pair.lock
 * Each work item and timer is cancelled in port_stop() or tsnsim_port_unregister(), after what
 * starts it was shut off: first the link (going, open), then timers and interrupts, then memory.
 * Timers: tx, rx and moderation are HARD, because a soft timer of the rt kernel waits behind other
 * threads; late_timer is SOFT, because it hands skbs to sockets.
 */
#ifndef CONFIG_64BIT
#error "PHC arithmetic needs 128-bit integers"
#endif

#ifndef TSNSIM_H
#define TSNSIM_H

#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/hrtimer.h>
#include <linux/if_vlan.h>
#include <linux/list.h>
#include <linux/net_tstamp.h>
#include <linux/netdevice.h>
#include <linux/ptp_clock_kernel.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>
#include <net/pkt_sched.h>
#include <net/xdp.h>

#define TSNSIM_NAME		"tsnsim"
#define TSNSIM_MAX_PAIRS	8
#define TSNSIM_MAX_QUEUES	8
#define TSNSIM_MAX_SLOTS	4
#define TSNSIM_MAX_MC		128
#define TSNSIM_MAX_FAULTS	64
#define TSNSIM_MAX_GATES	256
#define TSNSIM_PREAMBLE		8	/* preamble and SFD, bytes */
#define TSNSIM_IFG		12	/* inter-frame gap, bytes */
#define TSNSIM_TSN_MAX_FRAME	1600	/* igc: largest frame in TSN mode, bytes */
#define TSNSIM_NEVER		S64_MAX

/* How a part encodes and honours the launch time of a frame (launch.c). */
enum tsnsim_launch {
	TSNSIM_LAUNCH_EXACT,	/* any PHC time, 1 ns step */
	TSNSIM_LAUNCH_IGC,	/* offset into a cycle, first-in-cycle flag */
	TSNSIM_LAUNCH_IGB,	/* ns of the second / 32 */
	TSNSIM_LAUNCH_ENETC,	/* 25 bits of txtime >> 5 */
};

/* Whose driver a model imitates: names of counters, rules of coalescing and EEE (ethtool.c). */
enum tsnsim_driver {
	TSNSIM_DRIVER_NONE,	/* the union of all */
	TSNSIM_DRIVER_IGC,
	TSNSIM_DRIVER_IGB,
	TSNSIM_DRIVER_ENETC,
};

/* One row of the table in models.c; what each field means is told there. */
struct tsnsim_model {
	const char *name;
	const char *part;
	u8 tx_queues;
	u8 rx_queues;
	u32 max_speed_mbps;
	enum tsnsim_driver driver;
	u8 stamp_slots;
	enum tsnsim_launch launch;
	u8 launch_queues;
	u16 max_gates;
	bool taprio;
	bool mqprio;
	bool caps_mqprio;
	bool caps_taprio;
	bool broken_mqprio;
	bool queue_max_sdu;
	u8 sdu_header;
	bool sdu_without_tag;
	bool gate_per_txq;
	bool strict_cycle;
	bool cycle_extension;
	bool contiguous_gates;
	bool past_base_only;
	bool no_live_replace;
	bool negative_base;
	bool window_drops;
	bool overruns;
	bool drop_closed;
	bool closed_waits;
	bool tsn_mode;
	bool etf_needs_tc;
	bool etf_excludes_taprio;
	bool one_queue_per_tc;
	bool mqprio_ends_launch;
	bool queue0_first;
	bool xdp_kfuncs;
	bool xdp_takes_rings;
	bool crosststamp;
	bool vlan_strip;
	bool vlan_filter;
	bool preemption;
	bool throttles;
};

extern const struct tsnsim_model tsnsim_models[];
const struct tsnsim_model *tsnsim_model_find(const char *name);
void tsnsim_model_names(char *buf, size_t size);

enum tsnsim_fault_kind {
	TSNSIM_FAULT_LOSE,
	TSNSIM_FAULT_DUPLICATE,
	TSNSIM_FAULT_REORDER,
	TSNSIM_FAULT_CORRUPT,
	TSNSIM_FAULT_DELAY,
	TSNSIM_FAULT_LATE,
	TSNSIM_FAULT_STAMP_LOSE,
	TSNSIM_FAULT_STAMP_REPEAT,
	TSNSIM_FAULT_STAMP_DELAY,
	TSNSIM_FAULT_KINDS,
};

struct tsnsim_fault {
	enum tsnsim_fault_kind kind;
	u64 n;			/* which frame, counted from 1 since the fault was armed */
	u64 first;		/* value of the port's counter when it was armed */
	s64 arg;		/* ns, or the byte offset of corrupt (-1: bad FCS) */
	bool done;
	s64 tx_phc;		/* stamp of the frame it hit, 0 until known */
};

/* A frame on its way: in a TX queue, on the cable, or in an RX ring. Owns its bytes. */
struct tsnsim_frame {
	struct list_head node;
	struct sk_buff *skb;		/* until departure: to complete and to stamp */
	struct tsnsim_frame *twin;	/* the copy that a duplicate fault delivers */
	s64 enq_raw;
	s64 launch_phc;			/* not before this PHC time, if has_launch */
	s64 depart_raw;
	s64 arrive_raw;			/* last bit at the receiver */
	s64 mark_raw;			/* the instant that the RX stamp names */
	s64 rx_phc;
	s64 late_ns;
	s64 delay_ns;
	u32 wire_ns;			/* preamble to FCS */
	u16 len;			/* without FCS, padded to 60 */
	u8 queue;
	s8 slot;
	bool has_launch : 1;
	bool first_in_cycle : 1;
	bool lose : 1;
	bool bad_fcs : 1;
	bool reorder : 1;
	bool duplicate : 1;
	bool stamp_lose : 1;
	bool stamp_repeat : 1;
	bool driver_made : 1;
	bool counted : 1;		/* among those that faults count */
	s64 stamp_delay_ns;
	u64 faults;			/* bit mask of the faults on this frame */
	u32 fault_era;
	u8 data[];
};

/* One IEEE 802.1Q gate control list. Entries fill the cycle exactly. Times in PHC ns. */
struct tsnsim_sched {
	struct list_head retired;
	s64 base;
	s64 start;		/* first cycle that runs: base + n * cycle */
	s64 cycle;
	s64 extension;
	u32 n;
	struct {
		u32 mask;
		s64 end;	/* offset into the cycle at which this entry ends */
	} gate[];
};

struct tsnsim_txq {
	struct list_head ring;
	u32 used;		/* handed over and not completed yet */
	bool launch_on;
	bool gate_closed;	/* igc: no entry ever opens this queue */
	bool admin_closed;	/* nor does one of the schedule to come */
	u32 max_frame;		/* 0: no limit; without FCS and VLAN tag */
	u8 prio;		/* greater goes first */
	u8 gate;		/* bit of the gate mask */
	s64 last_ff_cycle;	/* igc driver state, as its own names */
	s64 last_tx_cycle;
	s64 hw_cycle;		/* igc: cycle of the last first-in-cycle frame */
	u64 packets, bytes, window_drops, sdu_drops, closed_drops;
};

/* Stands for an interrupt vector with its NAPI; vector i serves RX queue i and TX queue i. */
struct tsnsim_vec {
	struct tsnsim_port *port;
	struct napi_struct napi;
	struct list_head rx;		/* arrived frames */
	u32 rx_len;
	struct sk_buff *done;		/* departed skbs, singly linked through ->next */
	struct sk_buff **done_tail;
	int irq;
	char irq_name[IFNAMSIZ + 16];
	int irq_cpu;			/* the CPU that takes the interrupt */
	struct hrtimer hold_timer;	/* interrupt moderation */
	bool held;
	s64 held_until;			/* raw, if held */
	s64 last_irq_raw;
	call_single_data_t csd;
	struct page_pool *pool;
	struct xdp_rxq_info xdp_rxq;
	u64 rx_packets, rx_bytes, rx_hwtstamps;
	u64 xdp_drop, xdp_tx, xdp_redirect, xdp_pass, xdp_err;
};

struct tsnsim_phc_map {
	s64 raw0;
	s64 phc0;
	u64 frac0;	/* in 2^-TSNSIM_PHC_SHIFT ns */
	u64 mult;	/* PHC ns per raw ns, << TSNSIM_PHC_SHIFT */
};

#define TSNSIM_PHC_SHIFT	48
#define TSNSIM_PHC_MAPS		4
#define TSNSIM_MAX_ADJ_PPB	62499999
#define TSNSIM_MAX_DRIFT_PPB	1000000
#define TSNSIM_MAX_PHC_NS	(S64_MAX / 2)	/* sums with cycles stay in 63 bits */

struct tsnsim_phc {
	struct ptp_clock_info info;
	struct ptp_clock *clock;
	struct tsnsim_phc_map map[TSNSIM_PHC_MAPS];	/* [0] is in force, older ones behind */
	s32 drift_ppb;
	long scaled_ppm;
};

struct tsnsim_slot {
	bool busy;
	bool lost;			/* its stamp never comes: freed by the timeout */
	unsigned long since;		/* jiffies at which it was lost */
};

struct tsnsim_port_stats {
	u64 tx_packets, tx_bytes, tx_dropped, tx_empty_frames;
	u64 rx_crc_errors, rx_missed, rx_oversize, rx_filtered, cable_lost;
	u64 tx_hwtstamp_skipped, tx_hwtstamp_timeouts, tx_hwtstamps;
	u64 launch_late, qbv_config_change_errors, lpi_wakes;
};

struct tsnsim_port {
	struct tsnsim_pair *pair;
	struct tsnsim_port *peer;
	struct net_device *dev;
	const struct tsnsim_model *model;
	int index;			/* 0 or 1 in the pair */
	bool open;			/* under pair->lock */
	u8 n_txq, n_rxq, n_vec;
	u32 tx_ring_size, rx_ring_size;

	struct tsnsim_txq txq[TSNSIM_MAX_QUEUES];
	struct tsnsim_vec vec[TSNSIM_MAX_QUEUES];
	u32 kick;			/* vectors to interrupt, bit mask: at once */
	u32 kick_rx, kick_tx;		/* as the coalescing settings allow */
	s64 wire_free_raw;
	s64 idle_raw;		/* the transmitter has been silent since then */
	struct hrtimer tx_timer;
	struct hrtimer rx_timer;
	s64 tx_armed, rx_armed;		/* raw time they are set to */
	struct list_head flight;	/* frames on the cable towards this port, by arrival */
	struct list_head garbage;	/* frames to free in process or softirq context */
	struct delayed_work garbage_work;

	struct tsnsim_phc phc;
	struct kernel_hwtstamp_config hwtstamp;
	bool tx_stamps_on, rx_stamps_on;
	struct tsnsim_slot slot[TSNSIM_MAX_SLOTS];
	struct delayed_work slot_work;
	struct sk_buff_head late_stamps;
	struct hrtimer late_timer;

	struct tsnsim_sched *oper, *admin;
	struct list_head retired;	/* none is freed under the lock */
	bool taprio_on, mqprio_on;
	u8 n_tc;
	u16 stack_queues;	/* TX queues that the classes use */
	u16 tc_count[TC_MAX_QUEUE], tc_offset[TC_MAX_QUEUE];
	bool tsn_active;		/* igc: transmit mode is TSN */
	struct work_struct reset_work;
	struct delayed_work bounce_work;
	bool bouncing;

	struct bpf_prog __rcu *xdp_prog;

	bool promisc, allmulti;
	u32 n_mc;
	u8 mc[TSNSIM_MAX_MC][ETH_ALEN];
	DECLARE_BITMAP(vlans, VLAN_N_VID);

	struct tsnsim_fault fault[TSNSIM_MAX_FAULTS];
	u32 n_faults;
	u16 fault_ethertype;		/* 0: count all frames */
	u64 fault_frames, fault_stamps;	/* matching frames (that have a stamp coming) so far */
	u32 n_duplicates;		/* armed duplicate faults */
	u32 fault_era;			/* how often the faults were cleared */

	u8 autoneg;
	struct ethtool_coalesce coalesce;
	struct ethtool_keee eee;
	struct ethtool_mm_cfg mm;	/* under rtnl */
	s64 mm_raw;			/* when it was set */
	struct tsnsim_port_stats stats;
	struct dentry *debugfs;
};

struct tsnsim_pair {
	raw_spinlock_t lock;
	int index;
	struct tsnsim_port *port[2];
	u32 length_ns;			/* propagation delay of the cable */
	u32 speed_mbps;
	bool plugged;			/* debugfs: carrier */
	bool link_up;
	bool rx_stamp_end;		/* stamp the last bit instead of the first one */
	bool negotiating;		/* between two speeds */
	bool going;			/* being unloaded */
	struct work_struct link_work;
	struct dentry *debugfs;
};

/* skb->cb of a departed skb */
struct tsnsim_done {
	s64 stamp_phc;
	s64 delay_ns;
	u8 queue;
	s8 slot;
	bool stamp, lose, repeat;
};

static inline struct tsnsim_done *tsnsim_done(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct tsnsim_done) > sizeof_field(struct sk_buff, cb));
	return (struct tsnsim_done *)skb->cb;
}

static inline s64 tsnsim_raw_now(void)
{
	return ktime_get_raw_ns();
}

/* Time of n bytes on the wire in ns, rounded up (only 2.5 Gb/s has fractions). */
static inline s64 tsnsim_bytes_ns(u32 speed_mbps, u32 n)
{
	return DIV_ROUND_UP_ULL((u64)n * 8000, speed_mbps);
}

/* main.c */
/* -EINVAL if one of the ports is not able. A link that is up bounces. Process context. */
int tsnsim_pair_set_speed(struct tsnsim_pair *pair, u32 mbps);
extern unsigned int tsnsim_bounce_ms;
extern unsigned int tsnsim_reset_step_ns;
/* One instant at load in both clocks: all PHCs start there, so equal ones agree to the last bit. */
extern s64 tsnsim_epoch_raw, tsnsim_epoch_tai;

/* port.c: netdev life cycle, transmit path, link state */
/* Allocates a port and its PHC; unregistered. ERR_PTR on failure. */
struct tsnsim_port *tsnsim_port_create(struct tsnsim_pair *pair, int index,
				       const struct tsnsim_model *model, unsigned int queues);
/* Two phases, because each port of a pair touches the other until both are gone from the stack. */
void tsnsim_port_unregister(struct tsnsim_port *port);
void tsnsim_port_free(struct tsnsim_port *port);
/* A frame of len bytes (padded to 60 with zeros), without content; NULL without memory. */
struct tsnsim_frame *tsnsim_frame_alloc(u32 len);
/* Frames that exist; not 0 when the module goes is a leak, and is said. */
extern atomic_t tsnsim_frames_alive;
void tsnsim_frame_free(struct tsnsim_frame *f);
/* Appends f to its TX queue: faults, serialisation time. Owns f from here. Lock held. */
void tsnsim_port_queue(struct tsnsim_port *port, struct tsnsim_frame *f);
/* Would the driver or the part refuse this frame? Counts it. Lock held. */
bool tsnsim_port_refuses(struct tsnsim_port *port, const struct tsnsim_frame *f);
/* Prepares the twin of a frame that a duplicate fault may hit. Lock not held. */
void tsnsim_port_twin(struct tsnsim_port *port, struct tsnsim_frame *f);
/* Recomputes link_up; the carrier of the netdevs follows in a work item. Lock held. */
void tsnsim_link_update(struct tsnsim_pair *pair);
/* Carrier off for bounce_ms, rings emptied, PHC moved a little: a reset of the part. */
void tsnsim_port_reset(struct tsnsim_port *port);
/* Has what is in garbage and retired freed by a worker, soon. Lock held. */
void tsnsim_port_tidy(struct tsnsim_port *port);
/* The model has no room between now and an earlier decision: call after a change. Lock held. */
static inline void tsnsim_port_decided(struct tsnsim_port *port, s64 now)
{
	port->wire_free_raw = max(port->wire_free_raw, now);
}

/* From now on the transmitter counts as silent: it may sleep after its timer's time. Lock held. */
static inline void tsnsim_port_silent(struct tsnsim_port *port, s64 now)
{
	port->idle_raw = max(port->wire_free_raw, now);
}

/* rx.c: NAPI: completes departed skbs, delivers arrived frames */
int tsnsim_poll(struct napi_struct *napi, int budget);
int tsnsim_rx_open(struct tsnsim_port *port);
void tsnsim_rx_close(struct tsnsim_port *port);

/* xdp.c */
struct tsnsim_xdp_buff {
	struct xdp_buff xdp;		/* first: the kfuncs cast back */
	struct tsnsim_port *port;
	s64 rx_phc;
};

enum tsnsim_verdict { TSNSIM_PASS, TSNSIM_CONSUMED, TSNSIM_REDIRECTED };
enum tsnsim_verdict tsnsim_xdp_run(struct tsnsim_vec *vec, struct bpf_prog *prog,
				   struct tsnsim_xdp_buff *x);
int tsnsim_bpf(struct net_device *dev, struct netdev_bpf *bpf);
int tsnsim_xdp_xmit(struct net_device *dev, int n, struct xdp_frame **frames, u32 flags);
void tsnsim_xdp_init(struct tsnsim_port *port);

/* wire.c: which frame leaves when, the cable, arrival. All with the lock held. */
void tsnsim_wire_run(struct tsnsim_pair *pair);
enum hrtimer_restart tsnsim_tx_timer(struct hrtimer *t);
enum hrtimer_restart tsnsim_rx_timer(struct hrtimer *t);
/* Interrupts the vectors that have work. Lock NOT held; any context. */
void tsnsim_kick(struct tsnsim_pair *pair);

/* gates.c: gate schedule arithmetic, PHC time. No lock of its own, no side effect. */
/*
 * Earliest time >= t at which the gate stays open for need ns. NULL schedules are "all open".
 * oper rules before admin->start, admin from then on. TSNSIM_NEVER if the frame never fits.
 */
s64 tsnsim_gate_earliest(const struct tsnsim_sched *oper, const struct tsnsim_sched *admin,
			 u32 gate_mask, s64 t, s64 need, bool strict_cycle);
/* Does any entry open one of these gates? */
bool tsnsim_gate_opens(const struct tsnsim_sched *s, u32 gate_mask);
/* NULL without memory. start is set to the first cycle after now_phc, or base if that is later. */
struct tsnsim_sched *tsnsim_sched_build(const struct tc_taprio_qopt_offload *qopt, s64 now_phc);

/* launch.c */
struct tsnsim_launch_notes {
	bool insert_empty;	/* igc: an empty frame goes in front */
	bool near_cycle_end;	/* igc: the driver warns */
};

/* Sets f->launch_phc to what the part makes of txtime (TAI ns). Lock held. */
void tsnsim_launch_encode(struct tsnsim_port *port, struct tsnsim_frame *f, s64 txtime,
			  struct tsnsim_launch_notes *notes);

/* tc.c */
int tsnsim_setup_tc(struct net_device *dev, enum tc_setup_type type, void *data);
void tsnsim_tc_init(struct tsnsim_port *port);

/* phc.c: maps between raw and PHC time; lock held where a port is taken */
int tsnsim_phc_register(struct tsnsim_port *port, s64 offset_ns, s32 drift_ppb);
void tsnsim_phc_unregister(struct tsnsim_port *port);
s64 tsnsim_phc_at(const struct tsnsim_port *port, s64 raw);
/* Smallest raw at which the PHC shows phc or more; anything in the past for a past phc. */
s64 tsnsim_phc_to_raw(const struct tsnsim_port *port, s64 phc);
/* CLOCK_TAI of a snapshot, which has no such member. */
s64 tsnsim_snapshot_tai(const struct system_time_snapshot *snap);
/* -ERANGE if the PHC would leave [0, TSNSIM_MAX_PHC_NS]; it is not moved then. */
int tsnsim_phc_step(struct tsnsim_port *port, s64 ns);
void tsnsim_phc_set_drift(struct tsnsim_port *port, s32 ppb);

/* stamps.c */
int tsnsim_hwtstamp_get(struct net_device *dev, struct kernel_hwtstamp_config *cfg);
int tsnsim_hwtstamp_set(struct net_device *dev, struct kernel_hwtstamp_config *cfg,
			struct netlink_ext_ack *extack);
/* Takes a slot for skb's TX stamp and marks it IN_PROGRESS, or counts it as skipped. Lock held. */
s8 tsnsim_stamp_request(struct tsnsim_port *port, struct sk_buff *skb);
void tsnsim_stamp_cancel(struct tsnsim_port *port, s8 slot);
/* Delivers (under a fault withholds) the stamp of a departed skb; consumes it. Softirq context. */
void tsnsim_stamp_complete(struct tsnsim_port *port, struct sk_buff *skb, int budget);
void tsnsim_stamps_init(struct tsnsim_port *port);
void tsnsim_stamps_stop(struct tsnsim_port *port);

/* ethtool.c */
extern const struct ethtool_ops tsnsim_ethtool_ops;
/* How long a frame must wait for a link that has been idle for idle_ns. Lock held. */
s64 tsnsim_eee_wake_ns(const struct tsnsim_port *port, s64 idle_ns);
void tsnsim_ethtool_init(struct tsnsim_port *port);

/* merge.c */
int tsnsim_get_mm(struct net_device *dev, struct ethtool_mm_state *state);
int tsnsim_set_mm(struct net_device *dev, struct ethtool_mm_cfg *cfg,
		  struct netlink_ext_ack *extack);
void tsnsim_merge_init(struct tsnsim_port *port);

/* irq.c: interrupt lines that exist in software only */
/* An unused line number, or -errno. */
int tsnsim_irq_line(void);
int tsnsim_irq_alloc(struct tsnsim_vec *vec);
void tsnsim_irq_release(struct tsnsim_vec *vec);
int tsnsim_irq_request(struct tsnsim_vec *vec, int nr);
void tsnsim_irq_free(struct tsnsim_vec *vec);
void tsnsim_irq_raise(struct tsnsim_vec *vec);
/*
 * Interrupt moderation: may the vector interrupt now? If not, its timer is set. usecs is the
 * setting; 0 to 3 hold nothing back (igc and igb: 1 and 3 mean "adaptive"). Lock held.
 */
bool tsnsim_irq_allowed(struct tsnsim_vec *vec, u32 usecs, s64 now);
void tsnsim_irq_init(struct tsnsim_vec *vec);

/* faults.c. Lock held except for the debugfs file operations. */
void tsnsim_fault_frame(struct tsnsim_port *port, struct tsnsim_frame *f);
void tsnsim_fault_departed(struct tsnsim_port *port, struct tsnsim_frame *f, s64 tx_phc);
extern const struct file_operations tsnsim_fault_fops;

/* culprit.c: an interrupt handler, a softirq or a disabled-interrupt section that holds a CPU */
int tsnsim_culprit_init(struct dentry *root);
void tsnsim_culprit_exit(void);

/* debugfs.c */
extern struct dentry *tsnsim_debugfs_root;
void tsnsim_debugfs_init(void);
void tsnsim_debugfs_exit(void);
void tsnsim_debugfs_pair(struct tsnsim_pair *pair);

#endif
