// SPDX-License-Identifier: GPL-2.0-only
#include "report/csv.h"

#include <errno.h>
#include <string.h>

#define LINE 512

/* Numbers are formatted by hand: ten million lines of printf take longer than all the rest. */
static char *put_unsigned(char *p, uint64_t value)
{
	char digits[20];
	int n = 0;

	do {
		digits[n++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	while (n)
		*p++ = digits[--n];
	return p;
}

static char *put_signed(char *p, int64_t value)
{
	if (value < 0)
		*p++ = '-';
	return put_unsigned(p, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static char *put_text(char *p, const char *text)
{
	size_t n = strlen(text);

	memcpy(p, text, n);
	return p + n;
}

static char *put_time(char *p, int64_t time)
{
	*p++ = ',';
	return time == STAMP_NONE ? p : put_signed(p, time);
}

static const char *result_of(const struct joined_frame *f)
{
	static const char *const verdicts[] = {
		[SEQUENCE_IN_ORDER] = "received",
		[SEQUENCE_REORDERED] = "reordered",
		[SEQUENCE_DUPLICATE] = "duplicate",
		[SEQUENCE_STRAY] = "stray",
	};

	if (f->rx)
		return verdicts[f->verdict];
	if (f->lost)
		return "lost";
	return f->tx->status & TX_SENT ? "sent" : "not sent";
}

static char *put_run(char *p, uint32_t run)
{
	for (int shift = 28; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[run >> shift & 15];
	return p;
}

static char *put_frame(char *p, const struct joined_frame *f)
{
	static const struct tx_record no_tx;
	static const struct rx_record no_rx;
	const struct tx_record *tx = f->tx ? f->tx : &no_tx;
	const struct rx_record *rx = f->rx ? f->rx : &no_rx;

	p = put_run(p, f->rx ? rx->run : tx->run);
	*p++ = ',';
	p = put_unsigned(p, f->rx ? rx->stream : tx->stream);
	*p++ = ',';
	p = put_unsigned(p, (uint64_t)(f->rx ? rx->seq : tx->seq));
	*p++ = ',';
	p = put_text(p, result_of(f));
	p = put_time(p, f->rx ? rx->launch : tx->launch);
	p = put_time(p, tx->wake);
	p = put_time(p, tx->submit);
	p = put_time(p, tx->tx_sched);
	p = put_time(p, tx->tx_sw);
	p = put_time(p, tx->tx_hw);
	p = put_time(p, rx->rx_hw);
	p = put_time(p, rx->rx_xdp);
	p = put_time(p, rx->rx_user);
	*p++ = ',';
	if (f->rx)
		p = put_unsigned(p, rx->size);
	*p++ = ',';
	if (f->tx)
		p = put_unsigned(p, tx->status);
	*p++ = ',';
	if (f->rx)
		p = put_unsigned(p, rx->flags);
	*p++ = '\n';
	return p;
}

static char *put_wake(char *p, const struct wake_record *w)
{
	int64_t jitter;

	p = put_unsigned(p, (uint64_t)w->seq);
	p = put_time(p, w->wake);
	p = put_time(p, w->expected);
	*p++ = ',';
	if (!__builtin_sub_overflow(w->wake, w->expected, &jitter))
		p = put_signed(p, jitter);
	*p++ = '\n';
	return p;
}

int csv_frame(void *context, const struct joined_frame *frame, struct error *err)
{
	struct csv *csv = context;
	char line[LINE];
	char *end;

	if (!csv->titled) {
		if (frame->wake)
			fputs("index,actual_ns,predicted_ns,jitter_ns\n", csv->out);
		else
			fprintf(csv->out,
				"run,stream,seq,result,launch_ns,wake_ns,submit_ns,tx_sched_ns,tx_"
				"sw_ns,"
				"tx_hw_ns,rx_hw_ns,rx_%s_ns,rx_user_ns,size,tx_status,rx_flags\n",
				source_name(csv->stamp));
		csv->titled = true;
	}
	end = frame->wake ? put_wake(line, frame->wake) : put_frame(line, frame);
	if (fwrite(line, 1, (size_t)(end - line), csv->out) != (size_t)(end - line))
		return error_errno(err, errno, "--csv: cannot write it");
	return 0;
}
