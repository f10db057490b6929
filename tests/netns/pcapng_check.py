#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""pcapng_check.py FILE: reads a pcapng file block by block and prints what it found, as JSON."""
import json
import struct
import sys


def main():
    with open(sys.argv[1], "rb") as capture:
        data = capture.read()
    interfaces, packets, comments, last, offset = [], {}, {}, {}, 0
    while offset < len(data):
        kind, size = struct.unpack_from("<II", data, offset)
        assert size % 4 == 0 and size >= 12 and offset + size <= len(data), offset
        assert struct.unpack_from("<I", data, offset + size - 4)[0] == size, offset
        if offset == 0:
            assert kind == 0x0A0D0D0A and struct.unpack_from("<IHHq", data, 8) == (0x1A2B3C4D, 1, 0, -1)
        body = data[offset + 8:offset + size - 4]
        if kind in (1, 6):
            at = 8 if kind == 1 else 20 + (struct.unpack_from("<I", body, 12)[0] + 3 & ~3)
            options = {}
            while at < len(body):
                code, length = struct.unpack_from("<HH", body, at)
                if code == 0:
                    break
                options[code] = body[at + 4:at + 4 + length]
                at += 4 + (length + 3 & ~3)
        if kind == 1:
            assert struct.unpack_from("<H", body)[0] == 1 and options[9] == b"\x09"
            interfaces.append(options[2].decode())
        if kind == 6:
            interface, high, low, captured, length = struct.unpack_from("<IIIII", body)
            frame = body[20:20 + captured]
            assert captured <= length
            name = interfaces[interface]
            packets[name] = packets.get(name, 0) + 1
            if 1 in options:
                comment = options[1].decode()
                comments[comment] = comments.get(comment, 0) + 1
            # as text: JSON readers round numbers of this size
            last[name] = {"time_ns": str(high << 32 | low), "length": length, "frame": frame.hex()}
        offset += size
    print(json.dumps({"packets": packets, "comments": comments, "last": last}))


main()
