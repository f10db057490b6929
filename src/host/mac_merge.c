// SPDX-License-Identifier: GPL-2.0-only
#include "host/mac_merge.h"

#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <string.h>

#include "host/netlink.h"

/* Headers before Linux 6.3 lack these. */
#define MSG_MM_GET 42
#define MSG_MM_SET 43
enum {
	A_MM_HEADER = 1,
	A_MM_PMAC_ENABLED,
	A_MM_TX_ENABLED,
	A_MM_TX_ACTIVE,
	A_MM_TX_MIN_FRAG_SIZE,
	A_MM_RX_MIN_FRAG_SIZE,
	A_MM_VERIFY_ENABLED,
	A_MM_VERIFY_STATUS,
	A_MM_VERIFY_TIME,
	A_MM_MAX,
};

static uint8_t get_u8(const struct nlattr *attr)
{
	const uint8_t *value = netlink_payload(attr, sizeof(*value));

	return value ? *value : 0;
}

static uint32_t get_u32(const struct nlattr *attr)
{
	const uint32_t *value = netlink_payload(attr, sizeof(*value));

	return value ? *value : 0;
}

int mac_merge_parse(const struct nlmsghdr *answer, struct mac_merge *state)
{
	const struct nlattr *attrs[A_MM_MAX + 1];
	uint8_t verify;

	if (answer->nlmsg_len < NLMSG_LENGTH(GENL_HDRLEN))
		return -EBADMSG;
	netlink_attributes(mnl_nlmsg_get_payload_offset(answer, GENL_HDRLEN),
			   mnl_nlmsg_get_payload_len(answer) - GENL_HDRLEN, attrs, A_MM_MAX);
	verify = get_u8(attrs[A_MM_VERIFY_STATUS]);
	*state = (struct mac_merge){
		.pmac_enabled = get_u8(attrs[A_MM_PMAC_ENABLED]),
		.tx_enabled = get_u8(attrs[A_MM_TX_ENABLED]),
		.tx_active = get_u8(attrs[A_MM_TX_ACTIVE]),
		.verify_enabled = get_u8(attrs[A_MM_VERIFY_ENABLED]),
		.verify = verify <= MAC_MERGE_VERIFY_DISABLED ? (enum mac_merge_verify)verify
							      : MAC_MERGE_VERIFY_UNKNOWN,
		.tx_min_fragment = get_u32(attrs[A_MM_TX_MIN_FRAG_SIZE]),
		.rx_min_fragment = get_u32(attrs[A_MM_RX_MIN_FRAG_SIZE]),
		.verify_time_ms = get_u32(attrs[A_MM_VERIFY_TIME]),
	};
	return 0;
}

void mac_merge_put(struct nlmsghdr *nlh, const char *ifname, const struct mac_merge *wanted)
{
	struct genlmsghdr *head = mnl_nlmsg_put_extra_header(nlh, sizeof(*head));
	struct nlattr *nest;

	head->cmd = wanted ? MSG_MM_SET : MSG_MM_GET;
	head->version = ETHTOOL_GENL_VERSION;
	nest = mnl_attr_nest_start(nlh, A_MM_HEADER);
	mnl_attr_put_strz(nlh, ETHTOOL_A_HEADER_DEV_NAME, ifname);
	mnl_attr_nest_end(nlh, nest);
	if (!wanted)
		return;
	mnl_attr_put_u8(nlh, A_MM_PMAC_ENABLED, wanted->pmac_enabled);
	mnl_attr_put_u8(nlh, A_MM_TX_ENABLED, wanted->tx_enabled);
	mnl_attr_put_u8(nlh, A_MM_VERIFY_ENABLED, wanted->verify_enabled);
}

static int take(const struct nlmsghdr *answer, void *context)
{
	return mac_merge_parse(answer, context);
}

/* `set` NULL: get into *state. */
static int talk(const char *ifname, const struct mac_merge *set, struct mac_merge *state,
		struct error *err)
{
	struct netlink *nl = netlink_open(NETLINK_GENERIC, err);
	struct nlmsghdr *request;
	int family, result;

	if (!nl)
		return -1;
	family = netlink_family(nl, ETHTOOL_GENL_NAME);
	if (family < 0) {
		netlink_close(nl);
		return MAC_MERGE_ABSENT;
	}
	request = netlink_request(nl, (uint16_t)family, 0);
	mac_merge_put(request, ifname, set);
	result = netlink_talk(nl, request, set ? NULL : take, state);
	/* a kernel that does not know the question, or a driver that has no answer */
	if (result == -EOPNOTSUPP || (!set && result == -EINVAL))
		result = MAC_MERGE_ABSENT;
	else if (result)
		result = netlink_error(err, nl, result, "%s: frame preemption (MAC merge)", ifname);
	netlink_close(nl);
	return result;
}

int mac_merge_get(const char *ifname, struct mac_merge *state, struct error *err)
{
	memset(state, 0, sizeof(*state));
	return talk(ifname, NULL, state, err);
}

int mac_merge_set(const char *ifname, const struct mac_merge *wanted, struct error *err)
{
	struct mac_merge now;
	int result = talk(ifname, wanted, NULL, err);

	if (!result)
		result = mac_merge_get(ifname, &now, err);
	if (result)
		return result;
	if (now.pmac_enabled != wanted->pmac_enabled || now.tx_enabled != wanted->tx_enabled ||
	    now.verify_enabled != wanted->verify_enabled)
		return error_system(err,
				    "%s: frame preemption was set, but is not in force (pmac %d, "
				    "tx %d, verify %d)",
				    ifname, now.pmac_enabled, now.tx_enabled, now.verify_enabled);
	return 0;
}

const char *mac_merge_verify_name(enum mac_merge_verify verify)
{
	static const char *const names[] = { "unknown",   "initial", "verifying",
					     "succeeded", "failed",  "disabled" };

	return names[verify];
}
