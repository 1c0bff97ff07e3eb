#!/usr/bin/python3
"""Packs standard input to standard output in the given format.

    pack_input.py KIND [NAME...]

Used by t/loader_containers.t for formats that no command line tool writes:
zlib, zip written to a pipe, and cab with LZX.
"""

import io
import struct
import sys
import zipfile
import zlib


class Pipe(io.RawIOBase):
    """Cannot seek, so zipfile writes sizes and checksum after the data."""

    def __init__(self):
        self.data = b''

    def writable(self):
        return True

    def write(self, data):
        self.data += bytes(data)
        return len(data)


def make_zip(names, data, method=zipfile.ZIP_DEFLATED, out=None, comment=b''):
    out = out if out is not None else io.BytesIO()
    with zipfile.ZipFile(out, 'w', method) as z:
        z.comment = comment
        for name in names:
            z.writestr(name, b'' if name.endswith('/') else data)
    return out


def streamed_zip(names, data, method):
    return make_zip(names, data, method, Pipe()).data


class Bits:
    """LZX: 16-bit words, low byte first, filled from the highest bit."""

    def __init__(self):
        self.bits = ''

    def put(self, value, count):
        self.bits += format(value, '0%db' % count) if count else ''

    def data(self):
        bits = self.bits + '0' * (-len(self.bits) % 16)
        return b''.join(struct.pack('<H', int(bits[i:i + 16], 2))
                        for i in range(0, len(bits), 16))


def lzx_verbatim(data):
    """One block: bytes in 9 bits each; eight times the last byte in 1 bit.

    The main tree has lengths 9 for the 256 bytes and 1 for the match of eight
    bytes at the last distance (256 + 6), which is 1 at the start.
    """
    b = Bits()
    b.put(0, 1)             # no translation of x86 calls
    b.put(1, 3)
    b.put(len(data), 24)
    put_lengths(b, [9] * 256)
    put_lengths(b, [0] * 6 + [1] + [0] * 233)   # 30 slots: a window of 32 KiB
    put_lengths(b, [0] * 249)
    i = 0
    while i < len(data):
        if i > 0 and data[i:i + 8] == data[i - 1:i] * 8:
            b.put(0, 1)
            i += 8
        else:
            b.put(256 + data[i], 9)
            i += 1
    return b.data()


def put_lengths(b, lengths):
    """Lengths of one tree, coded by a tree with two codes of one bit: zero, and
    the other."""
    other = max(lengths) or 1
    symbol = 17 - other     # a length is written as its decrease
    for i in range(20):
        b.put(1 if i in (0, symbol) else 0, 4)
    for length in lengths:
        b.put(1 if length else 0, 1)


def lzx_stored(data):
    b = Bits()
    b.put(0, 1)
    b.put(3, 3)
    b.put(len(data), 24)
    return b.data() + struct.pack('<III', 1, 1, 1) + data


def make_cab(names, data, method, packed, flags=0):
    """All in one block, so data must be 32 KiB at most."""
    assert len(data) <= 32768
    files = b''.join(struct.pack('<IIHHHH', len(data), 0, 0, 0, 0, 0x20)
                     + name.encode() + b'\0' for name in names)
    first = 36 + 8 + len(files)
    head = struct.pack('<4sIIIIIBBHHHHH', b'MSCF', 0, first + 8 + len(packed),
                       0, 36 + 8, 0, 3, 1, 1, len(names), flags, 0, 0)
    return (head + struct.pack('<IHH', first, 1, method) + files
            + struct.pack('<IHH', 0, len(packed), len(data)) + packed)


LZX_15 = 15 << 8 | 3    # a window of 32 KiB
QUANTUM = 0x1072

KINDS = {
    'zlib': lambda n, d: zlib.compress(d),
    'zlib-fast': lambda n, d: zlib.compress(d, 1),
    'zip': lambda n, d: make_zip(n, d).getvalue(),
    'zip-stored': lambda n, d: make_zip(n, d, zipfile.ZIP_STORED).getvalue(),
    'zip-bzip2': lambda n, d: make_zip(n, d, zipfile.ZIP_BZIP2).getvalue(),
    'zip-comment': lambda n, d: make_zip(n, d, comment=b'c' * 65535).getvalue(),
    'zip-streamed': lambda n, d: streamed_zip(n, d, zipfile.ZIP_DEFLATED),
    'zip-streamed-stored': lambda n, d: streamed_zip(n, d, zipfile.ZIP_STORED),
    'cab-stored': lambda n, d: make_cab(n, d, 0, d),
    'cab-several': lambda n, d: make_cab(n, d, 0, d, flags=2),
    'cab-lzx': lambda n, d: make_cab(n, d, LZX_15, lzx_verbatim(d)),
    'cab-lzx-stored': lambda n, d: make_cab(n, d, LZX_15, lzx_stored(d)),
    'cab-quantum': lambda n, d: make_cab(n, d, QUANTUM, d),
}

if __name__ == '__main__':
    data = sys.stdin.buffer.read()
    sys.stdout.buffer.write(KINDS[sys.argv[1]](sys.argv[2:], data))
