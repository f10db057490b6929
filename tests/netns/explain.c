// SPDX-License-Identifier: GPL-2.0-only
/* explain NIC ERRNO EXTACK: prints what the table of NICs makes of a refusal; status 1 when it knows nothing of it. */
#include <stdio.h>
#include <stdlib.h>

#include "tc/nic.h"

int main(int argc, char **argv)
{
	const struct nic *nic = argc == 4 ? nic_by_name(argv[1]) : NULL;
	const char *meaning = nic ? nic_explain(nic, atoi(argv[2]), argv[3]) : NULL;

	if (!meaning)
		return 1;
	puts(meaning);
	return 0;
}
