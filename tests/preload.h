/* SPDX-License-Identifier: GPL-2.0-only */
/* The ioctl() of the tests' LD_PRELOADs, each of which has its own answered(). */
#ifndef TESTS_PRELOAD_H
#define TESTS_PRELOAD_H

#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Looks at what the kernel answered (-1: errno says why), and returns what the program is to see. */
static int answered(unsigned long request, void *arg, int result);

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	return answered(request, arg, (int)syscall(SYS_ioctl, fd, request, arg));
}

#endif
