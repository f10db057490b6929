// SPDX-License-Identifier: GPL-2.0-only
#include "engine/blame_usual.h"

static void move(struct usual_rank *rank, const struct usual *usual, uint32_t added, uint64_t tail)
{
	uint64_t most = usual->count / tail;

	rank->above += added > rank->bucket;
	while (rank->above > most)
		rank->above -= usual->buckets[++rank->bucket];
	while (rank->bucket && rank->above + usual->buckets[rank->bucket] <= most)
		rank->above += usual->buckets[rank->bucket--];
}

void usual_add(struct usual *usual, int64_t late_ns)
{
	uint32_t bucket = bucket_of(late_ns > 0 ? (uint64_t)late_ns : 0, USUAL_BITS);

	usual->count++;
	usual->buckets[bucket]++;
	move(&usual->middle, usual, bucket, 2);
	move(&usual->top, usual, bucket, 1000);
}

int64_t usual_median(const struct usual *usual)
{
	return usual->count ? (int64_t)bucket_high(usual->middle.bucket, USUAL_BITS) : 0;
}

int64_t usual_threshold(const struct usual *usual)
{
	int64_t worth = usual_median(usual) + USUAL_WORTH_NS;
	int64_t top = (int64_t)bucket_high(usual->top.bucket, USUAL_BITS);

	return usual->count >= USUAL_SETTLED && top > worth ? top : worth;
}
