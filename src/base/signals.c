// SPDX-License-Identifier: GPL-2.0-only
#include "base/signals.h"

#include <stddef.h>

static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };

void signals_that_end(sigset_t *set)
{
	struct sigaction now;

	sigemptyset(set);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		/* of the other two, those that an ignored one reaches in the background are meant by who sends them */
		if (numbers[i] != SIGHUP || sigaction(SIGHUP, NULL, &now) ||
		    now.sa_handler != SIG_IGN)
			sigaddset(set, numbers[i]);
}

void signals_catch(void (*handler)(int number))
{
	const struct sigaction action = { .sa_handler = handler };
	sigset_t set;

	signals_that_end(&set);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (sigismember(&set, numbers[i]))
			sigaction(numbers[i], &action, NULL);
}
