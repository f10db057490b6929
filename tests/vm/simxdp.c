// SPDX-License-Identifier: GPL-2.0-only
/*
 * simxdp: attaches a small native XDP program to a port and says what it saw.
 *
 *   simxdp [-k] [-n] PORT pass|drop|tx|redirect [TO]
 *
 * It counts frames of EtherType 0x88b5 and gives them the verdict; all others pass. tx exchanges
 * the addresses first; redirect sends to the port TO. -k: the program is bound to the device and
 * calls the kfunc bpf_xdp_metadata_rx_timestamp. -n: only attach, print and leave. Otherwise
 * "attached" is printed and the end of standard input awaited, then:
 *   "frames=N ret=R stamp=NS hash_ret=R"     (of the last frame)
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEV_BOUND_ONLY (1U << 6) /* BPF_F_XDP_DEV_BOUND_ONLY, newer than our headers */

struct seen {
	long long ret, hash_ret, frames;
	unsigned long long stamp;
};

#define INSN(c, d, s, o, i) \
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) })
#define MOV_REG(d, s) INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOV_IMM(d, i) INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define ADD_IMM(d, i) INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define LOAD(size, d, s, o) INSN(BPF_LDX | BPF_MEM | (size), d, s, o, 0)
#define STORE(size, d, s, o) INSN(BPF_STX | BPF_MEM | (size), d, s, o, 0)
#define JUMP(op, d, s, o) INSN(BPF_JMP | (op) | BPF_X, d, s, o, 0)
#define JUMP_IMM(op, d, i, o) INSN(BPF_JMP | (op) | BPF_K, d, 0, o, i)
#define CALL_KFUNC(id) INSN(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 0, id)
#define CALL(fn) INSN(BPF_JMP | BPF_CALL, 0, 0, 0, fn)
#define EXIT INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

static int fail(const char *what, int err)
{
	fprintf(stderr, "simxdp: %s: %s\n", what, strerror(err < 0 ? -err : err));
	return 3;
}

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

int main(int argc, char **argv)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	LIBBPF_OPTS(bpf_map_create_opts, map_opts);
	static char log[65536];
	struct bpf_insn p[64];
	struct seen seen = {};
	bool kfunc = false, leave = false;
	int map, prog, port, to = 0, n = 0, opt, skip, zero = 0, action, err;
	int stamp_id = 0, hash_id = 0;

	while ((opt = getopt(argc, argv, "kn")) != -1)
		switch (opt) {
		case 'k':
			kfunc = true;
			break;
		case 'n':
			leave = true;
			break;
		default:
			return 2;
		}
	if (argc - optind < 2)
		return 2;
	port = if_nametoindex(argv[optind]);
	if (argc - optind > 2)
		to = if_nametoindex(argv[optind + 2]);
	if (!port)
		return fail(argv[optind], errno);
	action = !strcmp(argv[optind + 1], "pass")   ? XDP_PASS
		 : !strcmp(argv[optind + 1], "drop") ? XDP_DROP
		 : !strcmp(argv[optind + 1], "tx")   ? XDP_TX
						     : XDP_REDIRECT;
	libbpf_set_print(quiet);
	map_opts.map_flags = BPF_F_MMAPABLE;
	map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "seen", 4, sizeof(seen), 1, &map_opts);
	if (map < 0)
		return fail("map", map);
	if (kfunc) {
		struct btf *btf = btf__load_vmlinux_btf();

		if (!btf)
			return fail("BTF of the kernel", errno);
		stamp_id = btf__find_by_name_kind(btf, "bpf_xdp_metadata_rx_timestamp",
						  BTF_KIND_FUNC);
		hash_id = btf__find_by_name_kind(btf, "bpf_xdp_metadata_rx_hash", BTF_KIND_FUNC);
		if (stamp_id < 0 || hash_id < 0)
			return fail("kfunc", stamp_id);
		opts.prog_flags = DEV_BOUND_ONLY;
		opts.prog_ifindex = port;
	}

	p[n++] = MOV_REG(6, 1);
	p[n++] = LOAD(BPF_W, 2, 6, 0); /* data */
	p[n++] = LOAD(BPF_W, 3, 6, 4); /* data_end */
	p[n++] = MOV_REG(4, 2);
	p[n++] = ADD_IMM(4, 14);
	skip = n;
	p[n++] = JUMP(BPF_JGT, 4, 3, 0);
	p[n++] = LOAD(BPF_H, 5, 2, 12);
	p[n++] = JUMP_IMM(BPF_JNE, 5, htons(0x88b5), 0);
	if (action == XDP_TX) { /* swap the addresses, bytes 0-5 and 6-11 */
		p[n++] = LOAD(BPF_W, 4, 2, 0);
		p[n++] = LOAD(BPF_H, 5, 2, 4);
		p[n++] = LOAD(BPF_W, 7, 2, 6);
		p[n++] = LOAD(BPF_H, 8, 2, 10);
		p[n++] = STORE(BPF_W, 2, 7, 0);
		p[n++] = STORE(BPF_H, 2, 8, 4);
		p[n++] = STORE(BPF_W, 2, 4, 6);
		p[n++] = STORE(BPF_H, 2, 5, 10);
	}
	p[n++] = MOV_IMM(7, 0);
	p[n++] = MOV_IMM(8, 0);
	p[n++] = MOV_IMM(9, 0);
	if (kfunc) {
		p[n++] = STORE(BPF_DW, 10, 7, -8);
		p[n++] = STORE(BPF_DW, 10, 7, -16);
		p[n++] = MOV_REG(1, 6);
		p[n++] = MOV_REG(2, 10);
		p[n++] = ADD_IMM(2, -8);
		p[n++] = CALL_KFUNC(stamp_id);
		p[n++] = MOV_REG(7, 0);
		p[n++] = MOV_REG(1, 6);
		p[n++] = MOV_REG(2, 10);
		p[n++] = ADD_IMM(2, -16);
		p[n++] = MOV_REG(3, 10);
		p[n++] = ADD_IMM(3, -12);
		p[n++] = CALL_KFUNC(hash_id);
		p[n++] = MOV_REG(9, 0);
		p[n++] = LOAD(BPF_DW, 8, 10, -8);
	}
	p[n++] = INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_VALUE, 0, map);
	p[n++] = INSN(0, 0, 0, 0, 0);
	p[n++] = STORE(BPF_DW, 1, 7, offsetof(struct seen, ret));
	p[n++] = STORE(BPF_DW, 1, 9, offsetof(struct seen, hash_ret));
	p[n++] = STORE(BPF_DW, 1, 8, offsetof(struct seen, stamp));
	p[n++] = LOAD(BPF_DW, 2, 1, offsetof(struct seen, frames));
	p[n++] = ADD_IMM(2, 1);
	p[n++] = STORE(BPF_DW, 1, 2, offsetof(struct seen, frames));
	if (action == XDP_REDIRECT) {
		p[n++] = MOV_IMM(1, to);
		p[n++] = MOV_IMM(2, 0);
		p[n++] = CALL(BPF_FUNC_redirect);
		p[n++] = EXIT;
	} else {
		p[n++] = MOV_IMM(0, action);
		p[n++] = EXIT;
	}
	p[skip].off = n - skip - 1;
	p[skip + 2].off = n - (skip + 2) - 1;
	p[n++] = MOV_IMM(0, XDP_PASS);
	p[n++] = EXIT;

	opts.log_buf = log;
	opts.log_size = sizeof(log);
	opts.log_level = 1;
	prog = bpf_prog_load(BPF_PROG_TYPE_XDP, "simxdp", "GPL", p, n, &opts);
	if (prog < 0) {
		fputs(log, stderr);
		return fail("program", prog);
	}
	err = bpf_xdp_attach(port, prog, XDP_FLAGS_DRV_MODE, NULL);
	if (err)
		return fail("attach", err);
	printf("attached\n");
	fflush(stdout);
	if (!leave)
		while (getchar() != EOF)
			;
	bpf_map_lookup_elem(map, &zero, &seen);
	bpf_xdp_detach(port, XDP_FLAGS_DRV_MODE, NULL);
	printf("frames=%lld ret=%lld stamp=%llu hash_ret=%lld\n", seen.frames,
	       (long long)(int)seen.ret, seen.stamp, (long long)(int)seen.hash_ret);
	return 0;
}
