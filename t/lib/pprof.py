#!/usr/bin/env python3
"""pprof.py - profiles of pprof for tests, after profile.proto's field numbers.

    pprof.py json IN                     prints mappings and locations
    pprof.py bare IN OUT [NAME=HEX...]   removes all lines and functions, and gives
                                         mappings of files NAME that build id
    pprof.py reverse IN OUT              writes the fields in the opposite order
                                         (of equal fields: the same), not packed

It shares no code with the server's reader.
"""
import gzip
import json
import os
import sys

MAPPING, LOCATION, FUNCTION, STRING = 3, 4, 5, 6
FILE, BUILD_ID, LINE = 5, 6, 4


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    at, found = 0, []
    while at < len(data):
        tag, at = read_varint(data, at)
        if tag & 7 == 0:
            value, at = read_varint(data, at)
        elif tag & 7 == 2:
            size, at = read_varint(data, at)
            assert at + size <= len(data), 'truncated'
            value, at = data[at:at + size], at + size
        else:
            raise ValueError('wire type %d' % (tag & 7))
        found.append((tag >> 3, value))
    return found


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode(found):
    out = bytearray()
    for number, value in found:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return bytes(out)


def load(path):
    data = open(path, 'rb').read()
    return fields(gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data)


def save(path, found):
    with open(path, 'wb') as out:
        out.write(gzip.compress(encode(found)))


def numbers(message):
    """The last of each field counts."""
    return {number: value for number, value in fields(message)}


def of(profile, wanted):
    return [value for number, value in profile if number == wanted]


def strings(profile):
    return [s.decode() for s in of(profile, STRING)]


def bare(profile, ids):
    texts, out = strings(profile), []
    for number, value in profile:
        if number == FUNCTION:
            continue
        if number == LOCATION:
            value = encode([f for f in fields(value) if f[0] != LINE])
        if number == MAPPING:
            name = os.path.basename(texts[numbers(value).get(FILE, 0)])
            value = [f for f in fields(value) if f[0] < (BUILD_ID if name in ids else 7)]
            if name in ids:
                value.append((BUILD_ID, len(texts)))
                texts.append(ids[name])
            value = encode(value)
        out.append((number, value))
    return out + [(STRING, t.encode()) for t in texts[len(of(profile, STRING)):]]


def show(profile):
    texts = strings(profile)
    functions = [numbers(f) for f in of(profile, FUNCTION)]
    assert len({f[1] for f in functions}) == len(functions), 'ids of functions'
    by_id = {f[1]: f for f in functions}
    mappings = [numbers(m) for m in of(profile, MAPPING)]
    locations = []
    for message in of(profile, LOCATION):
        location = numbers(message)
        lines = []
        for line in of(fields(message), LINE):
            line = numbers(line)
            f = by_id[line[1]]
            lines.append({'function': texts[f.get(2, 0)], 'system_name': texts[f.get(3, 0)],
                          'file': texts[f.get(4, 0)], 'line': line.get(2, 0)})
        locations.append({'id': location[1], 'mapping': location.get(2, 0),
                          'address': location.get(3, 0), 'lines': lines})
    return {
        'functions': len(functions),
        'samples': len(of(profile, 2)),
        'locations': locations,
        'mappings': [{'id': m[1], 'start': m.get(2, 0), 'limit': m.get(3, 0),
                      'offset': m.get(4, 0), 'file': texts[m.get(5, 0)],
                      'build_id': texts[m.get(6, 0)],
                      'has': [m.get(flag, 0) for flag in (7, 8, 9, 10)]}
                     for m in mappings]}


def main():
    command, path = sys.argv[1], sys.argv[2]
    profile = load(path)
    if command == 'json':
        json.dump(show(profile), sys.stdout)
    elif command == 'bare':
        save(sys.argv[3], bare(profile, dict(a.split('=') for a in sys.argv[4:])))
    else:
        order = sorted(range(len(profile)), key=lambda i: (-profile[i][0], i))
        save(sys.argv[3], [profile[i] for i in order])


if __name__ == '__main__':
    main()
