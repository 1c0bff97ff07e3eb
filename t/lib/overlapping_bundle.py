#!/usr/bin/env python3
"""overlapping_bundle.py OUT DEBUG_ID FILES BYTES - a source bundle with FILES
files that share the same packed bytes, which unpack to BYTES bytes.

The zip's directory has an entry for each file, and all point to one local
header."""

import json
import struct
import sys
import zlib

out, debug_id, files, size = sys.argv[1:]
names = ["files/%d" % i for i in range(int(files))]
text = b"int f(void);\n" * (int(size) // 13)


def packed(data):
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return deflate.compress(data) + deflate.flush()


def local(name, data):
    body = packed(data)
    return struct.pack("<IHHHHHIIIHH", 0x04034b50, 20, 0, 8, 0, 0,
                       zlib.crc32(data), len(body), len(data), len(name), 0) \
        + name.encode() + body


def entry(name, data, at):
    return struct.pack("<IHHHHHHIIIHHHHHII", 0x02014b50, 20, 20, 0, 8, 0, 0,
                       zlib.crc32(data), len(packed(data)), len(data),
                       len(name), 0, 0, 0, 0, 0, at) + name.encode()


manifest = json.dumps({
    "debug_id": debug_id, "object_name": "a", "arch": "x86_64",
    "files": {n: {"type": "source", "path": "/" + n} for n in names},
}).encode()
zipped = local("manifest.json", manifest)
common = len(zipped)
zipped += local("files/0", text)
directory = entry("manifest.json", manifest, 0)
one = entry(names[0], text, common)
for name in names:
    directory += one[:28] + struct.pack("<H", len(name)) + one[30:46] \
        + name.encode()
end = struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, 0xffff & (len(names) + 1),
                  0xffff & (len(names) + 1), len(directory), len(zipped), 0)
with open(out, "wb") as f:
    f.write(b"SYSB" + struct.pack("<I", 2) + zipped + directory + end)
