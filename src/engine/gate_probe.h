/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Do gates hold on the wire? A few frames of each class are sent at times spread over the cycle, and their TX stamps must
 * lie in the windows of the class. The frames go to an address that bridges do not forward, and are no frames of a
 * stream's.
 */
#ifndef ENGINE_GATE_PROBE_H
#define ENGINE_GATE_PROBE_H

#include <signal.h>

#include "base/error.h"
#include "engine/transmit.h"
#include "tc/deployment.h"

struct gate_probe_class {
	bool asked; /* frames were sent: the class has priorities and opens */
	bool launch; /* they had launch times */
	unsigned sent, stamped;
	unsigned outside; /* stamps outside of all windows */
	bool hw; /* stamps are the NIC's; else the kernel's, when the driver took the frame */
	int64_t first_ns, last_ns; /* smallest and largest stamp within the cycle */
	int64_t worst_ns; /* the one outside, within the cycle */
	unsigned missed; /* refused or dropped by etf */
};

struct gate_probe {
	struct gate_probe_class classes[SCHEDULE_CLASSES_MAX];
};

/* Allowed beyond a window's end where the stamps are the kernel's: from the gate to the driver and its stamp. */
#define GATE_PROBE_SOFTWARE_NS (20 * NSEC_PER_USEC)

/*
 * Sends and looks; takes up to about 3 s. `base_ns`: of the gates. `hw`: hardware TX stamps are switched on. Returns 0 when
 * every class that opens was seen in its windows and nowhere else; -1 with the error that names class, stamp and window.
 */
int gate_probe_run(const char *ifname, int ifindex, const uint8_t source[6],
		   const struct deployment *deployment, int64_t base_ns, bool hw,
		   const volatile sig_atomic_t *interrupted, struct gate_probe *probe,
		   struct error *err);

#endif
