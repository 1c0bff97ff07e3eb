"""Sequence points of a portable PDB, read by its specification.

As a program: portable.py FILE OUT writes the portable PDB that a file embeds;
portable.py FILE prints every method and offset.
"""

import bisect
import struct
import sys
import zlib

# II.22 of ECMA-335 and the Portable PDB format: columns of the tables in a
# portable PDB.  Numbers are bytes; S, G, B: an index into a heap; a tuple: an
# index into one of these tables, after that many tag bits.
TABLES = {
    0x30: ("B", "G", "B", "G"),             # Document
    0x31: ((0, 0x30), "B"),                 # MethodDebugInformation
}


def embedded(data):
    """The portable PDB embedded in a PE: "MPDB", its size, deflated bytes."""
    at = data.find(b"MPDB")
    while at >= 0:
        try:
            out = zlib.decompressobj(-15).decompress(data[at + 8:])
            if out[:4] == b"BSJB":
                return out
        except zlib.error:
            pass
        at = data.find(b"MPDB", at + 4)
    return None


def pdb_in(data):
    if data[:4] == b"BSJB":
        return data
    return embedded(data) if data[:2] == b"MZ" else None


def streams(data):
    length = struct.unpack_from("<I", data, 12)[0]
    at = 16 + length + 2
    count, at = struct.unpack_from("<H", data, at)[0], at + 2
    found = {}
    for _ in range(count):
        offset, size = struct.unpack_from("<II", data, at)
        end = data.index(b"\0", at + 8)
        found[data[at + 8:end].decode()] = data[offset:offset + size]
        at += 8 + (end - at - 8) // 4 * 4 + 4
    return found


class Tables:
    def __init__(self, found):
        data = found["#~"]
        heaps, valid = data[6], struct.unpack_from("<Q", data, 8)[0]
        present = [n for n in range(64) if valid >> n & 1]
        self.rows = dict(zip(present, struct.unpack_from(
            "<%dI" % len(present), data, 24)))
        self.heap = {kind: 4 if heaps & bit else 2
                     for kind, bit in (("S", 1), ("G", 2), ("B", 4))}
        self.blobs, self.guids = found.get("#Blob", b""), found["#GUID"]
        self.data, self.start = data, {}
        at = 24 + 4 * len(present)
        for number in present:  # no other table comes before these two
            if number not in TABLES:
                break
            self.start[number] = at
            at += self.rows[number] * sum(map(self.width, TABLES[number]))

    def width(self, column):
        if isinstance(column, tuple):
            most = max(self.rows.get(n, 0) for n in column[1:])
            return 4 if most >= 1 << (16 - column[0]) else 2
        return self.heap[column]

    def all(self, number):
        widths = [self.width(c) for c in TABLES[number]]
        at = self.start.get(number, 0)
        for _ in range(self.rows.get(number, 0)):
            row = []
            for width in widths:
                row.append(int.from_bytes(self.data[at:at + width], "little"))
                at += width
            yield row

    def blob(self, offset):
        size, at = number(self.blobs, offset)
        return self.blobs[at:at + size]


def number(data, at):
    """II.23.2: a compressed unsigned integer."""
    first = data[at]
    if first < 0x80:
        return first, at + 1
    if first < 0xc0:
        return int.from_bytes(data[at:at + 2], "big") & 0x3fff, at + 2
    return int.from_bytes(data[at:at + 4], "big") & 0x1fffffff, at + 4


def signed(data, at):
    first = data[at]
    bits = 6 if first < 0x80 else 13 if first < 0xc0 else 28
    value, at = number(data, at)
    value, negative = value >> 1, value & 1
    return value - (1 << bits if negative else 0), at


def document(tables, offset):
    blob = tables.blob(offset)
    separator, at = (chr(blob[0]) if blob[0] else ""), 1
    parts = []
    while at < len(blob):
        part, at = number(blob, at)
        parts.append(tables.blob(part).decode("utf-8", "replace"))
    return separator.join(parts)


def points(blob, first_document):
    """(offset, document, line) of each point; a hidden one has line 0."""
    if not blob:
        return
    at = number(blob, 0)[1]             # the signature of local variables
    file = first_document
    if file == 0:
        file, at = number(blob, at)
    offset, line, column, is_first, is_any = 0, 0, 0, True, False
    while at < len(blob):
        delta, at = number(blob, at)
        if delta == 0 and not is_first:
            file, at = number(blob, at)
            continue
        offset += delta
        is_first = False
        lines, at = number(blob, at)
        if lines == 0:
            columns, at = number(blob, at)
        else:
            columns, at = signed(blob, at)
        if lines == 0 and columns == 0:
            yield offset, file, 0
            continue
        if is_any:
            step, at = signed(blob, at)
            line += step
            step, at = signed(blob, at)
            column += step
        else:
            line, at = number(blob, at)
            column, at = number(blob, at)
            is_any = True
        yield offset, file, line


class PortablePdb:
    def __init__(self, data):
        tables = Tables(streams(pdb_in(data)))
        self.documents = [document(tables, row[0]) for row in tables.all(0x30)]
        self.methods = [list(points(tables.blob(blob), first))
                        if blob else []
                        for first, blob in tables.all(0x31)]
        self.shown = [[p for p in found if p[2] != 0]
                      for found in self.methods]

    def asked(self):
        """Every method, every offset up to two after its last point."""
        for method, found in enumerate(self.methods, 1):
            last = found[-1][0] + 2 if found else 1
            for offset in range(last + 1):
                yield method, offset

    def chain(self, method, offset):
        """The last visible point at or before the offset: code of a hidden one
        has no line of its own."""
        found = self.shown[method - 1]
        at = bisect.bisect_right(found, offset, key=lambda p: p[0])
        if at == 0:
            return []
        _, file, line = found[at - 1]
        return [("", self.documents[file - 1], line)]


def main():
    with open(sys.argv[1], "rb") as f:
        data = f.read()
    if len(sys.argv) > 2:
        with open(sys.argv[2], "wb") as f:
            f.write(pdb_in(data))
        return
    for method, offset in PortablePdb(data).asked():
        print("%x %x" % (method, offset))


if __name__ == "__main__":
    main()
