#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""report_check.py REPORT.json RX.tsnlog [TX.tsnlog]

Computes the figures of a report anew, with plain sorting and big integers, and compares: counts, extremes,
means and deviations exactly, percentiles to the width of a bucket (1/128).
"""
import json
import math
import struct
import sys

TX = struct.Struct("<7qHHI")
RX = struct.Struct("<6qHHHHIHH")
TAILS = {"p50": 2, "p90": 10, "p99": 100, "p99_9": 1000, "p99_99": 10000, "p99_999": 100000}


def records(path, layout):
    with open(path, "rb") as log:
        data = log.read()[4096:]
    return [layout.unpack_from(data, i) for i in range(0, len(data) - 63, 64)]


def check(what, reported, expected, relative=0.0):
    if abs(reported - expected) > relative * abs(expected):
        sys.exit(f"{what}: reported {reported}, should be {expected}")


def check_figure(figures, key, source, values):
    found = [f for f in figures if f["figure"] == key and f["source"] == source]
    if not values:
        assert not found, (key, source)
        return
    assert len(found) == 1, (key, source, [(f["figure"], f["source"]) for f in figures])
    figure, what = found[0], f"{key} ({source})"
    ordered = sorted(values)
    n = len(ordered)
    mean = sum(ordered) / n
    check(what + " count", figure["count"], n)
    check(what + " min", figure["min_ns"], ordered[0])
    check(what + " max", figure["max_ns"], ordered[-1])
    check(what + " mean", figure["mean_ns"] + 1e9, mean + 1e9, 1e-12)
    deviation = math.sqrt(sum((v - mean) ** 2 for v in ordered) / (n - 1)) if n > 1 else 0.0
    check(what + " stddev", figure["stddev_ns"], deviation, 1e-9)
    # PDV is latency less its minimum: its buckets are those of latency
    base = 0
    if key == "pdv":
        base = [f for f in figures if f["figure"] == "latency" and f["source"] == source][0]["min_ns"]
    for name, tail in TAILS.items():
        if n < tail:
            assert name + "_ns" not in figure, what + " " + name + " without enough samples"
            continue
        exact = ordered[n - n // tail - 1]
        if abs(figure[name + "_ns"] - exact) > abs(exact + base) / 128 + 1:
            sys.exit(f"{what} {name}: reported {figure[name + '_ns']}, should be {exact}")


def main():
    with open(sys.argv[1], encoding="utf-8") as text:
        report = json.load(text)
    rx = records(sys.argv[2], RX)
    tx = {}
    if len(sys.argv) > 3:
        tx = {(t[9], t[7], t[0]): t for t in records(sys.argv[3], TX) if t[8] & 1}
    latency, variation, path = {}, {}, {}
    seen, highest, last = set(), {}, {}
    lost = duplicate = reordered = 0
    spans = {}
    for r in rx:
        seq, launch, hw, xdp, user = r[:5]
        stream, run = (r[10], r[6]), r[10]
        key = (run, r[6], seq)
        if key in seen:
            duplicate += 1
            continue
        seen.add(key)
        low, high, count = spans.get(stream, (seq, seq, 0))
        in_order = count == 0 or seq > high
        reordered += not in_order
        spans[stream] = (min(low, seq), max(high, seq), count + 1)
        stamps = {name: s - launch for name, s in (("hw", hw), ("xdp", xdp), ("user", user)) if s}
        for name, value in stamps.items():
            latency.setdefault(name, []).append(value)
            if name == "user" and len(stamps) > 1:
                continue  # of it only the latency is of use beside a better source
            if in_order and stream in last and last[stream][0] == seq - 1 and name in last[stream][1]:
                variation.setdefault(name, []).append(value - last[stream][1][name])
            if key in tx:
                for tx_name, stamp in (("hw", tx[key][6]), ("sw", tx[key][5])):
                    if stamp:
                        path.setdefault(f"{name}-{tx_name}", []).append(value + launch - stamp)
        if in_order:
            last[stream] = (seq, stamps)
    lost = sum(high - low + 1 - count for low, high, count in spans.values())
    received = report["rx"]["received"]
    for name, value in (("lost", lost), ("duplicate", duplicate), ("reordered", reordered),
                        ("unique", len(seen)), ("frames", len(rx))):
        check(name, received[name], value)
    figures = report["rx"]["figures"]
    for source in ("hw", "xdp", "sw", "user"):
        values = latency.get(source, [])
        check_figure(figures, "latency", source, values)
        least = min(values, default=0)
        if source == "user" and len(latency) > 1:
            values = []
        check_figure(figures, "pdv", source, [v - least for v in values])
        check_figure(figures, "variation", source, variation.get(source, []))
        for tx_source in ("hw", "sw"):
            name = f"{source}-{tx_source}"
            check_figure(figures, "path", name, path.get(name, []))
    if tx:
        check("sent", report["join"]["sent"], len(tx))
        check("matched", report["join"]["received"], len(tx.keys() & seen))
        check("not received", report["join"]["not_received"], len(tx.keys() - seen))
        sent = report["tx"]["figures"]
        check_figure(sent, "launch_error", "hw", [t[6] - t[1] for t in tx.values() if t[6]])
        check_figure(sent, "launch_error", "sw", [t[5] - t[1] for t in tx.values() if t[5]])
        lead = report["logs"]["tx"]["options"]["lead_ns"]
        wakes = {}
        for t in tx.values():
            wakes.setdefault(t[2], t)
        check_figure(sent, "wakeup", "user", [t[2] - (t[1] - lead) for t in wakes.values()])
        check_figure(sent, "submit", "user", [t[3] - t[2] for t in wakes.values()])
    print("agrees")


main()
