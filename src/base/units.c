// SPDX-License-Identifier: GPL-2.0-only
#include "base/units.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	int64_t ns;
} units[] = {
	{ "ns", 1 },           { "us", NSEC_PER_USEC },    { "ms", NSEC_PER_MSEC },
	{ "s", NSEC_PER_SEC }, { "m", 60 * NSEC_PER_SEC }, { "h", 3600 * NSEC_PER_SEC },
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits, then optionally a point and digits: value = whole + fraction / scale. */
static const char *read_decimal(const char *text, uint64_t *whole, uint64_t *fraction,
				uint64_t *scale, bool *overflow)
{
	*whole = 0;
	*fraction = 0;
	*scale = 1;
	*overflow = false;
	if (!is_digit(*text))
		return NULL;
	for (; is_digit(*text); text++)
		if (__builtin_mul_overflow(*whole, 10, whole) ||
		    __builtin_add_overflow(*whole, (uint64_t)(*text - '0'), whole))
			*overflow = true;
	if (*text != '.')
		return text;
	text++;
	if (!is_digit(*text))
		return NULL;
	for (; is_digit(*text); text++) {
		/* 13 decimals reach below 1 ns for every unit; further ones must be zeros */
		if (*scale >= 10000000000000ULL) {
			if (*text != '0')
				return NULL;
			continue;
		}
		*scale *= 10;
		*fraction = *fraction * 10 + (uint64_t)(*text - '0');
	}
	return text;
}

int parse_duration(const char *what, const char *text, int64_t min_ns, int64_t max_ns, int64_t *ns,
		   struct error *err)
{
	char low[DURATION_TEXT], high[DURATION_TEXT];
	uint64_t whole, fraction, scale;
	const char *digits = text;
	bool negative = false, overflow;
	int64_t unit = 0;
	const char *end;
	__int128 value;

	if (*digits == '-') {
		negative = true;
		digits++;
	}
	end = read_decimal(digits, &whole, &fraction, &scale, &overflow);
	if (!end)
		return error_input(
			err, "%s '%.64s': not a time; write a number with its unit, such as 250us",
			what, text);
	if (!*end && (whole || fraction))
		return error_input(
			err, "%s '%.64s': a time needs a unit; write %.20sus, %.20sms or %.20ss",
			what, text, text, text, text);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(end, units[i].name))
			unit = units[i].ns;
	if (!unit && *end)
		return error_input(err,
				   "%s '%.64s': unknown unit '%.16s'; use ns, us, ms, s, m or h",
				   what, text, end);
	if (!unit)
		unit = 1;
	value = (__int128)fraction * unit;
	if (value % scale)
		return error_input(err, "%s '%.64s': finer than one nanosecond", what, text);
	value = value / scale + (__int128)whole * unit;
	if (negative)
		value = -value;
	if (negative && min_ns >= 0)
		return error_input(err, "%s '%.64s': must not be negative; at least %s", what, text,
				   format_duration(min_ns, low));
	if (overflow || value < min_ns || value > max_ns) {
		if (max_ns == INT64_MAX && !overflow && value < min_ns)
			return error_input(err, "%s '%.64s': too short; at least %s", what, text,
					   format_duration(min_ns, low));
		return error_input(err, "%s '%.64s': out of range; %s to %s", what, text,
				   format_duration(min_ns, low), format_duration(max_ns, high));
	}
	*ns = (int64_t)value;
	return 0;
}

int parse_number(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *value,
		 struct error *err)
{
	const char *digits = text;
	unsigned base = 10;
	uint64_t number = 0;
	bool overflow = false;

	if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
		digits += 2;
		base = 16;
	}
	if (!*digits)
		return error_input(err, "%s '%.64s': not a number; write %llu to %llu", what, text,
				   (unsigned long long)min, (unsigned long long)max);
	for (; *digits; digits++) {
		unsigned digit;

		if (is_digit(*digits))
			digit = (unsigned)(*digits - '0');
		else if (base == 16 && (*digits | 0x20) >= 'a' && (*digits | 0x20) <= 'f')
			digit = (unsigned)((*digits | 0x20) - 'a' + 10);
		else
			return error_input(
				err, "%s '%.64s': not a whole number; write %llu to %llu", what,
				text, (unsigned long long)min, (unsigned long long)max);
		if (__builtin_mul_overflow(number, base, &number) ||
		    __builtin_add_overflow(number, digit, &number))
			overflow = true;
	}
	if (overflow || number < min || number > max)
		return error_input(err, "%s '%.64s': out of range; %llu to %llu", what, text,
				   (unsigned long long)min, (unsigned long long)max);
	*value = number;
	return 0;
}

int parse_percent(const char *what, const char *text, double *fraction, struct error *err)
{
	uint64_t whole, part, scale;
	bool overflow;
	const char *end = read_decimal(text, &whole, &part, &scale, &overflow);
	double value;

	if (!end || strcmp(end, "%"))
		return error_input(
			err,
			"%s '%.64s': not a percentage; write it with its sign, such as 99.99%%",
			what, text);
	value = ((double)whole + (double)part / (double)scale) / 100.0;
	if (overflow || value <= 0.0 || value > 1.0)
		return error_input(err, "%s '%.64s': out of range; above 0%% and up to 100%%", what,
				   text);
	*fraction = value;
	return 0;
}

static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		return (c | 0x20) - 'a' + 10;
	return -1;
}

int parse_mac(const char *what, const char *text, uint8_t mac[6], struct error *err)
{
	uint8_t bytes[6];
	const char *p = text;

	for (int i = 0; i < 6; i++) {
		int high = hex_value(p[0]);
		int low = high < 0 ? -1 : hex_value(p[1]);

		if (low < 0 || p[2] != (i < 5 ? ':' : '\0'))
			return error_input(
				err, "%s '%.64s': not a MAC address; write it as 91:e0:f0:00:fe:00",
				what, text);
		bytes[i] = (uint8_t)(high << 4 | low);
		p += 3;
	}
	memcpy(mac, bytes, sizeof(bytes));
	return 0;
}

int parse_speed(const char *what, const char *text, uint32_t *mbps, struct error *err)
{
	uint64_t whole, part, scale, unit;
	bool overflow;
	const char *end = read_decimal(text, &whole, &part, &scale, &overflow);

	if (end && !strcmp(end, "M"))
		unit = 1;
	else if (end && !strcmp(end, "G"))
		unit = 1000;
	else
		return error_input(err, "%s '%.64s': not a link speed; write 100M, 1G or 2.5G",
				   what, text);
	if (overflow || whole > 800000 || part * unit % scale ||
	    whole * unit + part * unit / scale < 10 || whole * unit + part * unit / scale > 800000)
		return error_input(err, "%s '%.64s': out of range; 10M to 800G in whole Mb/s", what,
				   text);
	*mbps = (uint32_t)(whole * unit + part * unit / scale);
	return 0;
}

char *format_duration(int64_t ns, char buffer[DURATION_TEXT])
{
	uint64_t value = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	const char *sign = ns < 0 ? "-" : "";
	const char *name = "ns";
	uint64_t unit = 1;
	int length;

	for (size_t i = 0; i < 4; i++)
		if (value >= (uint64_t)units[i].ns) {
			unit = (uint64_t)units[i].ns;
			name = units[i].name;
		}
	if (value % unit == 0) {
		snprintf(buffer, DURATION_TEXT, "%s%llu%s", sign,
			 (unsigned long long)(value / unit), name);
		return buffer;
	}
	length = snprintf(buffer, DURATION_TEXT, "%s%llu.%0*llu", sign,
			  (unsigned long long)(value / unit),
			  unit == 1000ULL      ? 3
			  : unit == 1000000ULL ? 6
					       : 9,
			  (unsigned long long)(value % unit));
	while (buffer[length - 1] == '0')
		length--;
	snprintf(buffer + length, (size_t)(DURATION_TEXT - length), "%s", name);
	return buffer;
}

char *format_mac(const uint8_t mac[6], char buffer[MAC_TEXT])
{
	snprintf(buffer, MAC_TEXT, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
		 mac[4], mac[5]);
	return buffer;
}

int64_t wire_time_ns(uint32_t size, uint32_t mbps)
{
	uint64_t bits = ((size < 60 ? 60 : (uint64_t)size) + 8 + 4 + 12) * 8;

	return (int64_t)((bits * 1000 + mbps - 1) / mbps);
}
