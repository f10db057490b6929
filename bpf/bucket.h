/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Log-linear buckets: values below 2^bits have a bucket each; above, each power of two is split into
 * 2^bits buckets of equal width, so that the relative width is at most 2^-bits. Shared by user space
 * and BPF (no loops, no division). Include <linux/types.h> or <linux/bpf.h> before it.
 *
 * Signed values are sorted into two halves: index < BUCKETS(bits) for value >= 0, and
 * BUCKETS(bits) + the magnitude's bucket for value < 0.
 */
#ifndef BPF_BUCKET_H
#define BPF_BUCKET_H

#define BUCKET_TOP_POWER 44 /* magnitudes from 2^44 ns (4.9 h) on share the last bucket */
#define BUCKETS(bits) ((BUCKET_TOP_POWER - (bits) + 1) << (bits))
#define BUCKETS_SIGNED(bits) (2 * BUCKETS(bits))

/*
 * floor(log2(value)), of 1 and more; 0 of 0. By halves, as BPF has no instruction for it, and without branches: the verifier
 * would follow each, and take the programs' loading most of its time.
 */
static inline __attribute__((always_inline)) __u32 bucket_log2_by_halves(__u64 value)
{
	__u32 power = 0, shift;

	shift = (__u32)((0 - (value >> 32)) >> 63) << 5;
	value >>= shift;
	power += shift;
	shift = (__u32)((0xffff - value) >> 63) << 4;
	value >>= shift;
	power += shift;
	shift = (__u32)((0xff - value) >> 63) << 3;
	value >>= shift;
	power += shift;
	shift = (__u32)((0xf - value) >> 63) << 2;
	value >>= shift;
	power += shift;
	shift = (__u32)((3 - value) >> 63) << 1;
	value >>= shift;
	return power + shift + (__u32)(value >> 1);
}

static inline __attribute__((always_inline)) __u32 bucket_log2(__u64 value)
{
#ifdef __bpf__
	return bucket_log2_by_halves(value);
#else
	return 63U - (__u32)__builtin_clzll(value);
#endif
}

/* The bucket of a magnitude; always < BUCKETS(bits). */
static inline __attribute__((always_inline)) __u32 bucket_of(__u64 value, __u32 bits)
{
	__u32 power;

	if (value < (1ULL << bits))
		return (__u32)value;
	if (value >> BUCKET_TOP_POWER)
		return BUCKETS(bits) - 1;
	power = bucket_log2(value);
	return ((power - bits + 1) << bits) + (__u32)((value >> (power - bits)) - (1ULL << bits));
}

/* The bucket of a signed value; always < BUCKETS_SIGNED(bits). */
static inline __attribute__((always_inline)) __u32 bucket_of_signed(__s64 value, __u32 bits)
{
	if (value >= 0)
		return bucket_of((__u64)value, bits);
	return BUCKETS(bits) + bucket_of(0 - (__u64)value, bits);
}

/* Smallest and largest magnitude that fall into the bucket. */
static inline __u64 bucket_low(__u32 index, __u32 bits)
{
	__u32 row = index >> bits, column = index & ((1U << bits) - 1);

	if (!row)
		return column;
	return ((__u64)column + (1ULL << bits)) << (row - 1);
}

static inline __u64 bucket_high(__u32 index, __u32 bits)
{
	return bucket_low(index + 1, bits) - 1;
}

#endif
