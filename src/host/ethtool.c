// SPDX-License-Identifier: GPL-2.0-only
#include "host/ethtool.h"

#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/link.h"
#include "host/netlink.h"

#define ATTRIBUTES_MAX 48 /* highest attribute that is looked at, in any message */
#define ATTR_HEADER 1 /* the same in every message of the family */

struct ethtool {
	struct netlink *nl;
	uint16_t family;
};

static const struct setting {
	const char *name;
	uint8_t get, set; /* messages */
	uint16_t attr, max; /* attributes; max 0: none */
	uint8_t size; /* bytes */
	char option; /* of the ethtool command */
	const char *word; /* in the ethtool command */
} settings[ETHTOOL_SETTINGS] = {
#define COALESCE(attribute, size)                                                              \
	ETHTOOL_MSG_COALESCE_GET, ETHTOOL_MSG_COALESCE_SET, ETHTOOL_A_COALESCE_##attribute, 0, \
		size, 'C'
#define RINGS(attribute)                                                           \
	ETHTOOL_MSG_RINGS_GET, ETHTOOL_MSG_RINGS_SET, ETHTOOL_A_RINGS_##attribute, \
		ETHTOOL_A_RINGS_##attribute##_MAX, 4, 'G'
#define CHANNELS(attribute)                                                                      \
	ETHTOOL_MSG_CHANNELS_GET, ETHTOOL_MSG_CHANNELS_SET,                                      \
		ETHTOOL_A_CHANNELS_##attribute##_COUNT, ETHTOOL_A_CHANNELS_##attribute##_MAX, 4, \
		'L'
#define PAUSE(attribute) \
	ETHTOOL_MSG_PAUSE_GET, ETHTOOL_MSG_PAUSE_SET, ETHTOOL_A_PAUSE_##attribute, 0, 1, 'A'
	[ETHTOOL_RX_USECS] = { "rx-usecs", COALESCE(RX_USECS, 4), "rx-usecs" },
	[ETHTOOL_TX_USECS] = { "tx-usecs", COALESCE(TX_USECS, 4), "tx-usecs" },
	[ETHTOOL_RX_FRAMES] = { "rx-frames", COALESCE(RX_MAX_FRAMES, 4), "rx-frames" },
	[ETHTOOL_TX_FRAMES] = { "tx-frames", COALESCE(TX_MAX_FRAMES, 4), "tx-frames" },
	[ETHTOOL_ADAPTIVE_RX] = { "adaptive-rx", COALESCE(USE_ADAPTIVE_RX, 1), "adaptive-rx" },
	[ETHTOOL_ADAPTIVE_TX] = { "adaptive-tx", COALESCE(USE_ADAPTIVE_TX, 1), "adaptive-tx" },
	[ETHTOOL_RING_RX] = { "ring-rx", RINGS(RX), "rx" },
	[ETHTOOL_RING_TX] = { "ring-tx", RINGS(TX), "tx" },
	[ETHTOOL_CHANNELS_RX] = { "channels-rx", CHANNELS(RX), "rx" },
	[ETHTOOL_CHANNELS_TX] = { "channels-tx", CHANNELS(TX), "tx" },
	[ETHTOOL_CHANNELS_COMBINED] = { "channels-combined", CHANNELS(COMBINED), "combined" },
	[ETHTOOL_PAUSE_AUTONEG] = { "pause-autoneg", PAUSE(AUTONEG), "autoneg" },
	[ETHTOOL_PAUSE_RX] = { "pause-rx", PAUSE(RX), "rx" },
	[ETHTOOL_PAUSE_TX] = { "pause-tx", PAUSE(TX), "tx" },
	[ETHTOOL_EEE] = { "eee", ETHTOOL_MSG_EEE_GET, ETHTOOL_MSG_EEE_SET, ETHTOOL_A_EEE_ENABLED, 0,
			  1, 0, "eee" },
};

const char *ethtool_setting_name(enum ethtool_setting setting)
{
	return settings[setting].name;
}

int ethtool_setting_find(const char *name)
{
	for (int i = 0; i < ETHTOOL_SETTINGS; i++)
		if (!strcmp(settings[i].name, name))
			return i;
	return -1;
}

char *ethtool_setting_command(const char *ifname, enum ethtool_setting setting, uint32_t value,
			      char *buffer, size_t size)
{
	const struct setting *s = &settings[setting];
	char number[16];

	snprintf(number, sizeof(number), "%u", value);
	if (s->option)
		snprintf(buffer, size, "ethtool -%c %s %s %s", s->option, ifname, s->word,
			 s->size == 4 ? number
			 : value      ? "on"
				      : "off");
	else
		snprintf(buffer, size, "ethtool --set-%s %s %s %s", s->word, ifname, s->word,
			 value ? "on" : "off");
	return buffer;
}

struct ethtool *ethtool_open(struct error *err)
{
	struct ethtool *ethtool = calloc(1, sizeof(*ethtool));
	int family;

	if (!ethtool) {
		error_errno(err, ENOMEM, "ethtool socket");
		return NULL;
	}
	ethtool->nl = netlink_open(NETLINK_GENERIC, err);
	if (!ethtool->nl)
		goto fail;
	family = netlink_family(ethtool->nl, ETHTOOL_GENL_NAME);
	if (family < 0) {
		error_errno(err, -family, "this kernel has no ethtool netlink (it needs 5.6)");
		goto fail;
	}
	ethtool->family = (uint16_t)family;
	return ethtool;

fail:
	ethtool_close(ethtool);
	return NULL;
}

void ethtool_close(struct ethtool *ethtool)
{
	if (!ethtool)
		return;
	netlink_close(ethtool->nl);
	free(ethtool);
}

static struct nlmsghdr *request(struct ethtool *ethtool, const char *ifname, uint8_t message,
				uint32_t flags)
{
	struct nlmsghdr *nlh = netlink_request(ethtool->nl, ethtool->family, 0);
	struct genlmsghdr *genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	struct nlattr *header;

	genl->cmd = message;
	genl->version = ETHTOOL_GENL_VERSION;
	header = mnl_attr_nest_start(nlh, ATTR_HEADER);
	mnl_attr_put_strz(nlh, ETHTOOL_A_HEADER_DEV_NAME, ifname);
	if (flags)
		mnl_attr_put_u32(nlh, ETHTOOL_A_HEADER_FLAGS, flags);
	mnl_attr_nest_end(nlh, header);
	return nlh;
}

/* A copy of one answer, because the socket's buffer is used again. */
struct reply {
	const struct nlattr *table[ATTRIBUTES_MAX + 1];
	bool here;
	char data[16384] __attribute__((aligned(8)));
};

static int keep_reply(const struct nlmsghdr *answer, void *context)
{
	struct reply *reply = context;
	size_t size;

	if (mnl_nlmsg_get_payload_len(answer) < GENL_HDRLEN)
		return -EBADMSG;
	size = mnl_nlmsg_get_payload_len(answer) - GENL_HDRLEN;
	if (size > sizeof(reply->data))
		return -EMSGSIZE;
	memcpy(reply->data, mnl_nlmsg_get_payload_offset(answer, GENL_HDRLEN), size);
	reply->here = true;
	return netlink_attributes(reply->data, size, reply->table, ATTRIBUTES_MAX);
}

/* What an errno means where the question is whether the device has the thing at all. */
static bool is_absent(int result)
{
	return result == -EOPNOTSUPP || result == -524 /* ENOTSUPP, inside the kernel only */;
}

static int ask(struct ethtool *ethtool, const char *ifname, uint8_t message, uint32_t flags,
	       struct reply *reply, const char *what, struct error *err)
{
	int result;

	memset(reply->table, 0, sizeof(reply->table));
	reply->here = false;
	if (strlen(ifname) >= IFNAMSIZ)
		return error_input(err, "interface name '%.64s' is too long", ifname);
	result = netlink_talk(ethtool->nl, request(ethtool, ifname, message, flags), keep_reply,
			      reply);
	if (is_absent(result))
		return ETHTOOL_ABSENT;
	if (result == -ENODEV)
		return link_not_there(ifname, err);
	if (result < 0)
		return netlink_error(err, ethtool->nl, result, "%s: cannot read its %s", ifname,
				     what);
	return reply->here ? 0 : ETHTOOL_ABSENT;
}

static bool number(const struct nlattr *attr, size_t size, uint32_t *value)
{
	const void *data = netlink_payload(attr, size);

	if (!data)
		return false;
	if (size == 1)
		*value = *(const uint8_t *)data;
	else
		memcpy(value, data, sizeof(*value));
	return true;
}

int ethtool_get(struct ethtool *ethtool, const char *ifname, enum ethtool_setting setting,
		uint32_t *value, uint32_t *max, struct error *err)
{
	const struct setting *s = &settings[setting];
	struct reply reply;
	int result = ask(ethtool, ifname, s->get, 0, &reply, s->name, err);
	uint32_t top = 0;

	if (result)
		return result;
	if (s->max)
		number(reply.table[s->max], 4, &top);
	if (max)
		*max = top;
	return number(reply.table[s->attr], s->size, value) ? 0 : ETHTOOL_ABSENT;
}

int ethtool_set(struct ethtool *ethtool, const char *ifname, enum ethtool_setting setting,
		uint32_t value, struct error *err)
{
	const struct setting *s = &settings[setting];
	struct nlmsghdr *nlh;
	uint32_t now = 0, max = 0;
	int result;

	result = ethtool_get(ethtool, ifname, setting, &now, &max, err);
	if (result || now == value)
		return result;
	if (s->max && value > max)
		return error_input(err, "%s: %s %u is above this device's maximum of %u", ifname,
				   s->name, value, max);
	nlh = request(ethtool, ifname, s->set, 0);
	if (s->size == 1)
		mnl_attr_put_u8(nlh, s->attr, (uint8_t)value);
	else
		mnl_attr_put_u32(nlh, s->attr, value);
	result = netlink_talk(ethtool->nl, nlh, NULL, NULL);
	if (is_absent(result))
		return ETHTOOL_ABSENT;
	if (result < 0)
		return netlink_error(err, ethtool->nl, result, "%s: cannot set %s to %u%s", ifname,
				     s->name, value,
				     result == -EPERM ? " (needs CAP_NET_ADMIN)" : "");
	result = ethtool_get(ethtool, ifname, setting, &now, NULL, err);
	if (result)
		return result;
	if (now != value)
		return error_system(err, "%s: set %s to %u, but the driver keeps %u", ifname,
				    s->name, value, now);
	return 0;
}

/* Is the bit of that name set in a bitset in its verbose form? */
static bool bit_by_name(const struct nlattr *bitset, const char *name)
{
	const struct nlattr *table[ETHTOOL_A_BITSET_MAX + 1];
	const struct nlattr *bit;

	if (!bitset)
		return false;
	netlink_attributes(mnl_attr_get_payload(bitset), mnl_attr_get_payload_len(bitset), table,
			   ETHTOOL_A_BITSET_MAX);
	if (!table[ETHTOOL_A_BITSET_BITS])
		return false;
	mnl_attr_for_each_nested(bit, table[ETHTOOL_A_BITSET_BITS])
	{
		const struct nlattr *inner[ETHTOOL_A_BITSET_BIT_MAX + 1];
		char text[64];

		netlink_attributes(mnl_attr_get_payload(bit), mnl_attr_get_payload_len(bit), inner,
				   ETHTOOL_A_BITSET_BIT_MAX);
		netlink_string(inner[ETHTOOL_A_BITSET_BIT_NAME], text, sizeof(text));
		if (strcmp(text, name))
			continue;
		/* with a mask, listed bits are the mask and VALUE tells which are set */
		return table[ETHTOOL_A_BITSET_NOMASK] || inner[ETHTOOL_A_BITSET_BIT_VALUE];
	}
	return false;
}

int ethtool_feature(struct ethtool *ethtool, const char *ifname, const char *feature, bool *on,
		    bool *fixed, struct error *err)
{
	struct reply reply;
	int result = ask(ethtool, ifname, ETHTOOL_MSG_FEATURES_GET, 0, &reply, "features", err);

	if (result)
		return result;
	*on = bit_by_name(reply.table[ETHTOOL_A_FEATURES_ACTIVE], feature);
	if (fixed)
		*fixed = !bit_by_name(reply.table[ETHTOOL_A_FEATURES_HW], feature) ||
			 bit_by_name(reply.table[ETHTOOL_A_FEATURES_NOCHANGE], feature);
	return 0;
}

int ethtool_feature_set(struct ethtool *ethtool, const char *ifname, const char *feature, bool on,
			struct error *err)
{
	struct nlattr *wanted, *bits, *bit;
	struct nlmsghdr *nlh;
	bool now, fixed;
	int result;

	result = ethtool_feature(ethtool, ifname, feature, &now, &fixed, err);
	if (result || now == on)
		return result;
	if (fixed)
		return ETHTOOL_ABSENT;
	nlh = request(ethtool, ifname, ETHTOOL_MSG_FEATURES_SET, ETHTOOL_FLAG_OMIT_REPLY);
	wanted = mnl_attr_nest_start(nlh, ETHTOOL_A_FEATURES_WANTED);
	bits = mnl_attr_nest_start(nlh, ETHTOOL_A_BITSET_BITS);
	bit = mnl_attr_nest_start(nlh, ETHTOOL_A_BITSET_BITS_BIT);
	mnl_attr_put_strz(nlh, ETHTOOL_A_BITSET_BIT_NAME, feature);
	if (on)
		mnl_attr_put(nlh, ETHTOOL_A_BITSET_BIT_VALUE, 0, NULL);
	mnl_attr_nest_end(nlh, bit);
	mnl_attr_nest_end(nlh, bits);
	mnl_attr_nest_end(nlh, wanted);
	result = netlink_talk(ethtool->nl, nlh, NULL, NULL);
	if (is_absent(result))
		return ETHTOOL_ABSENT;
	if (result < 0)
		return netlink_error(err, ethtool->nl, result, "%s: cannot switch %s %s%s", ifname,
				     feature, on ? "on" : "off",
				     result == -EPERM ? " (needs CAP_NET_ADMIN)" : "");
	result = ethtool_feature(ethtool, ifname, feature, &now, NULL, err);
	if (result)
		return result;
	if (now != on)
		return error_system(err, "%s: switched %s %s, but the driver keeps it %s", ifname,
				    feature, on ? "on" : "off", now ? "on" : "off");
	return 0;
}

int ethtool_link(struct ethtool *ethtool, const char *ifname, struct ethtool_link *link,
		 struct error *err)
{
	struct reply reply;
	uint32_t value;
	int result;

	memset(link, 0, sizeof(*link));
	result = ask(ethtool, ifname, ETHTOOL_MSG_LINKSTATE_GET, 0, &reply, "link state", err);
	if (result < 0)
		return result;
	if (!result && number(reply.table[ETHTOOL_A_LINKSTATE_LINK], 1, &value))
		link->carrier = value;
	result = ask(ethtool, ifname, ETHTOOL_MSG_LINKMODES_GET, ETHTOOL_FLAG_COMPACT_BITSETS,
		     &reply, "link mode", err);
	if (result < 0)
		return result;
	if (result == ETHTOOL_ABSENT)
		return 0;
	if (number(reply.table[ETHTOOL_A_LINKMODES_SPEED], 4, &value) && value != UINT32_MAX)
		link->speed_mbps = value;
	if (number(reply.table[ETHTOOL_A_LINKMODES_DUPLEX], 1, &value))
		link->full_duplex = value == 1;
	if (number(reply.table[ETHTOOL_A_LINKMODES_AUTONEG], 1, &value))
		link->autoneg = value == 1;
	return 0;
}

/* The first 32 bits of a bitset in its compact form. */
static uint32_t compact_bits(const struct nlattr *bitset)
{
	const struct nlattr *table[ETHTOOL_A_BITSET_MAX + 1];
	uint32_t bits = 0;

	if (!bitset)
		return 0;
	netlink_attributes(mnl_attr_get_payload(bitset), mnl_attr_get_payload_len(bitset), table,
			   ETHTOOL_A_BITSET_MAX);
	number(table[ETHTOOL_A_BITSET_VALUE], 4, &bits);
	return bits;
}

int ethtool_stamping(struct ethtool *ethtool, const char *ifname, struct ethtool_stamping *stamping,
		     struct error *err)
{
	struct reply reply;
	uint32_t phc;
	int result = ask(ethtool, ifname, ETHTOOL_MSG_TSINFO_GET, ETHTOOL_FLAG_COMPACT_BITSETS,
			 &reply, "time stamping", err);

	memset(stamping, 0, sizeof(*stamping));
	stamping->phc_index = -1;
	if (result)
		return result;
	stamping->so_timestamping = compact_bits(reply.table[ETHTOOL_A_TSINFO_TIMESTAMPING]);
	stamping->tx_types = compact_bits(reply.table[ETHTOOL_A_TSINFO_TX_TYPES]);
	stamping->rx_filters = compact_bits(reply.table[ETHTOOL_A_TSINFO_RX_FILTERS]);
	if (number(reply.table[ETHTOOL_A_TSINFO_PHC_INDEX], 4, &phc) && phc <= INT32_MAX)
		stamping->phc_index = (int)phc;
	return 0;
}
