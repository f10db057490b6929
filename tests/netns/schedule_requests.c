// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedule_requests FILE.yaml NIC IFACE: prints, for each request that would install the file's schedule on that kind of
 * NIC, the tc command that does the same and the request's bytes, in hexadecimal: two lines each. Sends nothing.
 */
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/schedule_file.h"
#include "tc/commands.h"
#include "tc/prepare.h"
#include "tc/request.h"
#include "tc/tc_headers.h"

#define BASE 1790000000123456789LL

int main(int argc, char **argv)
{
	static struct preparation preparation;
	static _Alignas(4) unsigned char buffer[REQUEST_MAX];
	struct device_facts facts = { 0 };
	struct error err = ERROR_INIT;
	struct schedule_file file;

	if (argc != 4 || schedule_file_load(argv[1], &file, &err))
		return error_report(&err);
	if (prepare_deployment(&file.schedule, file.streams, file.stream_count,
			       nic_by_name(argv[2]), 1000, &facts, &preparation))
		return schedule_print_findings(&file, &preparation.findings, true);
	for (unsigned i = 0;; i++) {
		struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
		char *command;

		nlh->nlmsg_type = RTM_NEWQDISC;
		nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | REQUEST_FLAGS;
		if (!deployment_request(&preparation.deployment, (int)if_nametoindex(argv[3]), BASE,
					i, nlh, NULL))
			break;
		command = deployment_command(&preparation.deployment, argv[3], BASE, i);
		if (!command)
			return 1;
		puts(command);
		free(command);
		for (unsigned b = 0; b < nlh->nlmsg_len; b++)
			printf("%02x", buffer[b]);
		puts("");
	}
	schedule_file_free(&file);
	return 0;
}
