#!/usr/bin/env python3
"""Cuts the DWARF sections out of ELF files, for fuzz/corpus/dwarf and t/bad.

    dwarf_container.py FILE [ALT] >SEED

The format is that of t/unit/dwarf_container.h.
"""

import struct
import sys

NAMES = ["info", "abbrev", "line", "str", "line_str", "str_offsets", "addr",
         "ranges", "rnglists"]


def sections(path):
    with open(path, "rb") as f:
        data = f.read()
    shoff, = struct.unpack_from("<Q", data, 0x28)
    size, number, names = struct.unpack_from("<HHH", data, 0x3A)
    table = [struct.unpack_from("<IIQQQQ", data, shoff + i * size)
             for i in range(number)]
    for name, _, _, _, offset, length in table:
        start = table[names][4] + name
        yield (data[start:data.index(b"\0", start)].decode(),
               data[offset:offset + length])


out = sys.stdout.buffer
out.write(bytes([4 if len(sys.argv) > 2 else 0]))
for i, path in enumerate(sys.argv[1:3]):
    found = dict(sections(path))
    for number, name in enumerate(NAMES):
        data = found.get(".debug_" + name, b"")
        if data:
            out.write(bytes([number + 16 * i]) + struct.pack("<I", len(data))[:3])
            out.write(data)
