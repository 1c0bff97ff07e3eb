#!/usr/bin/env python3
"""Extracts the DWARF sections of ELF files, for fuzz/corpus/dwarf and t/bad.

    dwarf_container.py FILE [ALT] >SEED
    dwarf_container.py FILE '' SPLIT >SEED      SPLIT: a .dwo or .dwp

The format is that of t/unit/dwarf_container.h.
"""

import struct
import sys

NAMES = ["info", "abbrev", "line", "str", "line_str", "str_offsets", "addr",
         "ranges", "rnglists", "cu_index"]


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
files = sys.argv[1:4]
out.write(bytes([sum((0, 4, 8)[i] for i, path in enumerate(files) if path)]))
for i, path in enumerate(files):
    found = dict(sections(path)) if path else {}
    for number, name in enumerate(NAMES):
        suffix = ".dwo" if i == 2 and name != "cu_index" else ""
        data = found.get(".debug_" + name + suffix, b"")
        if data:
            out.write(bytes([number + 16 * i]) + struct.pack("<I", len(data))[:3])
            out.write(data)
