#!/usr/bin/env python3
"""symbfile.py write FILE.json FILE | read FILE - Elastic's symbfiles.

An independent writer and reader, after the description in
docs/formats/symbfile.md.  The JSON is a list of records:

    {"strings": ["main", ...]}
    {"range": {"va": 4096, "length": 16, "func": "main" or 0, "file": ..., "depth": 1,
               "call_line": 7, "call_file": ..., "lines": [[offset, line], ...]}}
    {"pad": {"va": 4100, "frames": [[func, file, line], ...]}}
    {"raw": [type, "hexadecimal bytes"]}

A number instead of a string is the string's number in the table.
"""

import json
import sys


def varint(n):
    out = bytearray()
    while n >= 128:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def number(field, n):
    return varint(field << 3) + varint(n)


def data(field, b):
    return varint(field << 3 | 2) + varint(len(b)) + b


def packed(field, values):
    return data(field, b"".join(map(varint, values))) if values else b""


def message(kind, body):
    return varint(len(body)) + varint(kind) + body


class Writer:
    def __init__(self, is_packed=True):
        self.out = bytearray(b"symbfile" + message(1, b""))
        self.va = None
        self.is_packed = is_packed

    def column(self, field, values):
        if self.is_packed:
            return packed(field, values)
        return b"".join(number(field, v) for v in values)

    def address(self, va, field):
        delta, last = None, self.va
        self.va = va
        if last is not None:
            delta = va - last
            return number(1, (delta << 1) ^ (delta >> 63) if delta >= 0
                          else ((-delta) << 1) - 1)
        return number(field, va)

    def text(self, value, as_text, as_number):
        if value is None:
            return b""
        if isinstance(value, int):
            return number(as_number, value)
        return data(as_text, value.encode())

    def strings(self, texts):
        self.out += message(4, b"".join(data(1, s.encode()) for s in texts))

    def range(self, r):
        body = self.address(r["va"], 12)
        body += number(2, r["length"]) if r["length"] else b""
        body += self.text(r.get("func"), 3, 9)
        body += self.text(r.get("file"), 4, 10)
        for key, field in (("call_line", 5), ("depth", 7)):
            body += number(field, r[key]) if r.get(key) else b""
        body += self.text(r.get("call_file"), 6, 11)
        if r.get("lines"):
            at, deltas = 0, []
            for offset, _ in r["lines"]:
                deltas.append(offset - at)
                at = offset
            body += data(8, self.column(1, deltas)
                         + self.column(2, [line for _, line in r["lines"]]))
        self.out += message(2, body)

    def pad(self, p):
        body = self.address(p["va"], 5)
        for i in range(3):
            body += self.column(2 + i, [f[i] for f in p["frames"]])
        self.out += message(3, body)


def read_varint(b, at):
    n = shift = 0
    while True:
        n |= (b[at] & 127) << shift
        shift += 7
        at += 1
        if b[at - 1] < 128:
            return n, at


def fields(b):
    """{number: [values]}; packed numbers stay bytes."""
    found, at = {}, 0
    while at < len(b):
        tag, at = read_varint(b, at)
        if tag & 7 == 0:
            value, at = read_varint(b, at)
        elif tag & 7 == 2:
            size, at = read_varint(b, at)
            value, at = b[at:at + size], at + size
            assert len(value) == size
        else:
            raise ValueError("wire type %d" % (tag & 7))
        found.setdefault(tag >> 3, []).append(value)
    return found


def numbers(values):
    out = []
    for v in values:
        if isinstance(v, int):
            out.append(v)
            continue
        at = 0
        while at < len(v):
            n, at = read_varint(v, at)
            out.append(n)
    return out


def read(b):
    """Yields ("range", {...}) and ("pad", {...}), strings instead of numbers."""
    assert b.startswith(b"symbfile\0\1"), "magic and header"
    at, va, strings = 10, None, None

    def address(f, field):
        if field in f:
            return f[field][-1]
        n = f[1][-1]
        return (va + (n >> 1 ^ -(n & 1))) % 2**64

    def text(f, as_text, as_number):
        if as_text in f:
            return f[as_text][-1].decode()
        return strings[f[as_number][-1]] if as_number in f else None

    while at < len(b):
        size, at = read_varint(b, at)
        kind, at = read_varint(b, at)
        body, at = b[at:at + size], at + size
        assert len(body) == size
        f = fields(body)
        if kind == 4:
            strings = [s.decode() for s in f.get(1, [])]
        elif kind == 2:
            va = address(f, 12)
            lines, offset = [], 0
            if 8 in f:
                table = fields(f[8][-1])
                deltas = numbers(table.get(1, []))
                values = numbers(table.get(2, []))
                assert len(deltas) == len(values)
                for delta, line in zip(deltas, values):
                    offset += delta
                    lines.append((offset, line))
            yield "range", {"va": va, "length": f.get(2, [0])[-1],
                            "func": text(f, 3, 9), "file": text(f, 4, 10),
                            "call_line": f.get(5, [0])[-1],
                            "call_file": text(f, 6, 11),
                            "depth": f.get(7, [0])[-1], "lines": lines}
        elif kind == 3:
            va = address(f, 5)
            columns = [numbers(f.get(2 + i, [])) for i in range(3)]
            assert len({len(c) for c in columns}) == 1
            yield "pad", {"va": va,
                          "frames": [(strings[a], strings[b], c)
                                     for a, b, c in zip(*columns)]}
        else:
            raise ValueError("message of type %d" % kind)


def main():
    if sys.argv[1] == "write":
        with open(sys.argv[2]) as f:
            records = json.load(f)
        w = Writer(is_packed="--unpacked" not in sys.argv)
        for record in records:
            (kind, value), = record.items()
            if kind == "raw":
                w.out += message(value[0], bytes.fromhex(value[1]))
            else:
                getattr(w, kind)(value)
        with open(sys.argv[3], "wb") as f:
            f.write(w.out)
    else:
        with open(sys.argv[2], "rb") as f:
            for record in read(f.read()):
                print(json.dumps(record))


if __name__ == "__main__":
    main()
