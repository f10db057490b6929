// SPDX-License-Identifier: GPL-2.0-only
#include "host/capability.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int get(uint64_t *effective, uint64_t *permitted)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];

	memset(data, 0, sizeof(data));
	if (syscall(SYS_capget, &header, data) < 0)
		return -1;
	*effective = data[0].effective | (uint64_t)data[1].effective << 32;
	*permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
	return 0;
}

bool capability_have(int capability)
{
	uint64_t effective, permitted;

	return get(&effective, &permitted) == 0 && (effective >> capability & 1);
}

const char *capability_name(int capability)
{
	switch (capability) {
	case CAP_NET_RAW:
		return "CAP_NET_RAW";
	case CAP_NET_ADMIN:
		return "CAP_NET_ADMIN";
	case CAP_SYS_NICE:
		return "CAP_SYS_NICE";
	case CAP_IPC_LOCK:
		return "CAP_IPC_LOCK";
	case CAP_SYS_ADMIN:
		return "CAP_SYS_ADMIN";
	case CAP_SYS_TIME:
		return "CAP_SYS_TIME";
	case CAP_BPF:
		return "CAP_BPF";
	case CAP_PERFMON:
		return "CAP_PERFMON";
	default:
		return "another capability";
	}
}

int capability_keep_only(uint64_t keep, struct error *err)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];
	uint64_t effective, permitted;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return error_errno(err, errno, "cannot set no_new_privs");
	if (get(&effective, &permitted) < 0)
		return error_errno(err, errno, "cannot read the capabilities");
	effective &= keep;
	permitted &= keep;
	memset(data, 0, sizeof(data));
	for (int i = 0; i < 2; i++) {
		data[i].effective = (uint32_t)(effective >> 32 * i);
		data[i].permitted = (uint32_t)(permitted >> 32 * i);
	}
	if (syscall(SYS_capset, &header, data) < 0)
		return error_errno(err, errno, "cannot give up capabilities");
	if (get(&effective, &permitted) < 0 || (effective & ~keep) || (permitted & ~keep))
		return error_system(err, "capabilities that were given up are still there");
	return 0;
}
