/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of the validator that looks at one class after the other: windows, launch times, frame sizes. Pure. */
#ifndef TC_VALIDATE_CLASSES_H
#define TC_VALIDATE_CLASSES_H

#include "tc/deployment.h"
#include "tc/findings.h"

/* Adds what it finds. The gates are those that will be installed, and add up to the cycle. */
void validate_classes(const struct deployment *deployment, struct findings *findings);

/* Where a key of a class stands in the file: "schedule.classes[1].queues". Returns buffer. */
char *validate_class_path(unsigned class, const char *key, char buffer[64]);

#endif
