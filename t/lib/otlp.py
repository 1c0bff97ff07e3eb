#!/usr/bin/env python3
"""otlp.py - profiles of OTLP for tests, after the field numbers of profiles.proto
(profiles/v1development, github.com/open-telemetry/opentelemetry-proto).

    otlp.py make PPROF OUT [NAME.HOW=VALUE...]
        writes pprof's profile as OTLP, without lines and functions.  Of mappings of
        files NAME:  NAME.gnu=HEX, NAME.htlhash=HEX are their ids,
        NAME.elf=OFFSET:SIZE:ADDRESS,...  their addresses become those of the file by
        these program headers (how OpenTelemetry's eBPF profiler writes them), and
        NAME.outside=1 leaves the mapping where it was.
    otlp.py fileid FILE         prints its FileID
    otlp.py json IN             prints mappings and locations like pprof.py
    otlp.py rest IN             prints all that symbols must not change
    otlp.py tables IN           prints functions and strings
    otlp.py pieces IN OUT       each entry in a dictionary of its own
    otlp.py reverse IN OUT      tables in the opposite order
    otlp.py many IN OUT N       N locations, by repeating those of IN

It shares no code with the server's reader.
"""
import gzip
import hashlib
import json
import os
import sys

import pprof
from pprof import encode, fields, numbers, of

RESOURCE_PROFILES, DICTIONARY = 1, 2
MAPPING, LOCATION, FUNCTION, LINK, STRING, ATTRIBUTE, STACK = range(1, 8)
KEYS = {'gnu': 'process.executable.build_id.gnu',
        'htlhash': 'process.executable.build_id.htlhash'}
LINES = 3
UNKNOWN = 1999


def load(path):
    """All occurrences of the dictionary are one."""
    data = open(path, 'rb').read()
    data = gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data
    outer, dictionary = [], []
    for number, value in fields(data):
        if number == DICTIONARY:
            dictionary += fields(value)
        else:
            outer.append((number, value))
    return outer, dictionary


def save(path, found):
    with open(path, 'wb') as out:
        out.write(encode(found))


def packed(values):
    return b''.join(pprof.varint(v) for v in values)


def repeated(message, number):
    values = []
    for value in of(fields(message), number):
        if isinstance(value, int):
            values.append(value)
            continue
        at = 0
        while at < len(value):
            one, at = pprof.read_varint(value, at)
            values.append(one)
    return values


class Table:
    """Distinct entries; the first is the zero value."""

    def __init__(self, zero=b''):
        self.entries, self.index = [zero], {zero: 0}

    def add(self, entry):
        if entry not in self.index:
            self.index[entry] = len(self.entries)
            self.entries.append(entry)
        return self.index[entry]


def to_elf(loads, offset):
    for start, size, address in loads:
        if start <= offset < start + size:
            return address + offset - start
    raise ValueError('no segment has offset %x' % offset)


class Maker:
    def __init__(self, profile, options):
        self.texts = pprof.strings(profile)
        self.profile = profile
        self.options = options
        self.strings, self.attributes = Table(), Table()
        self.mappings, self.locations, self.stacks = [b''], [b''], Table()
        self.number = {0: 0}        # of mappings, by pprof's id
        self.elf = {}               # (start, offset, loads) of such mappings
        self.location = {}

    def attribute(self, key, value):
        value = encode([(1, value.encode())])
        return self.attributes.add(encode([(1, self.strings.add(key.encode())), (2, value)]))

    def add_mapping(self, message):
        m = numbers(message)
        path = self.texts[m.get(5, 0)]
        options = self.options.get(os.path.basename(path), {})
        start, limit, offset = m.get(2, 0), m.get(3, 0), m.get(4, 0)
        ids = [self.attribute('other', 'text')]
        ids += [self.attribute(KEYS[k], options[k]) for k in KEYS if k in options]
        if 'elf' in options:
            loads = [tuple(int(n, 16) for n in load.split(':')) for load in options['elf'].split(',')]
            self.elf[m[1]] = start, offset, loads
            if 'outside' not in options:
                first = to_elf(loads, offset)
                limit, start = first + limit - start, first
        self.number[m[1]] = len(self.mappings)
        self.mappings.append(encode([
            (1, start), (2, limit), (3, offset), (4, self.strings.add(path.encode())),
            (5, packed(ids)), (UNKNOWN, b'mapping')]))

    def add_location(self, message):
        found = numbers(message)
        address = found.get(3, 0)
        if found.get(2, 0) in self.elf:
            start, offset, loads = self.elf[found[2]]
            address = to_elf(loads, address - start + offset)
        self.location[found[1]] = len(self.locations)
        self.locations.append(encode([(1, self.number[found.get(2, 0)]), (2, address),
                                      (UNKNOWN, b'location')]))

    def sample(self, message):
        ids, values = repeated(message, 1), repeated(message, 2)
        stack = self.stacks.add(encode([(1, packed(self.location[i] for i in ids))]))
        return encode([(1, stack), (4, packed(values[:1]))])

    def make(self):
        for message in of(self.profile, pprof.MAPPING):
            self.add_mapping(message)
        for message in of(self.profile, pprof.LOCATION):
            self.add_location(message)
        kind = numbers(of(self.profile, 1)[0])
        kind = encode([(n, self.strings.add(self.texts[kind[n]].encode())) for n in (1, 2)])
        samples = [(2, self.sample(s)) for s in of(self.profile, 2)]
        profile = encode([(1, kind)] + samples + [(7, bytes(range(16)))])
        scope = encode([(1, encode([(1, b'test')])), (2, profile)])
        function = encode([(1, self.strings.add(b'jit'))])
        line = encode([(1, 1), (2, 7)])
        self.locations.append(encode([(3, line), (UNKNOWN, b'its name is known')]))
        tables = [(MAPPING, self.mappings), (LOCATION, self.locations),
                  (FUNCTION, [b'', function]), (LINK, [b'']), (STRING, self.strings.entries),
                  (ATTRIBUTE, self.attributes.entries), (STACK, self.stacks.entries),
                  (UNKNOWN, [b'dictionary'])]
        dictionary = [(number, entry) for number, table in tables for entry in table]
        return [(RESOURCE_PROFILES, encode([(2, scope), (3, b'schema')])),
                (DICTIONARY, encode(dictionary)), (UNKNOWN, b'outside')]


def show(dictionary):
    texts = [s.decode() for s in of(dictionary, STRING)]
    functions = [numbers(f) for f in of(dictionary, FUNCTION)]
    locations, mappings = [], []
    for i, message in enumerate(of(dictionary, LOCATION)):
        location = numbers(message)
        lines = []
        for line in of(fields(message), LINES):
            line = numbers(line)
            f = functions[line[1]]
            lines.append({'function': texts[f.get(1, 0)], 'system_name': texts[f.get(2, 0)],
                          'file': texts[f.get(3, 0)], 'line': line.get(2, 0)})
        locations.append({'id': i, 'mapping': location.get(1, 0),
                          'address': location.get(2, 0), 'lines': lines})
    for i, message in enumerate(of(dictionary, MAPPING)):
        m = numbers(message)
        mappings.append({'id': i, 'start': m.get(1, 0), 'limit': m.get(2, 0),
                         'offset': m.get(3, 0), 'file': texts[m.get(4, 0)]})
    return {'functions': len(functions), 'locations': locations, 'mappings': mappings}


def rest(outer, dictionary):
    """Locations without lines, unless they have fields of no symbol; the tables that
    only grow are not here."""
    def plain(entry):
        number, value = entry
        if number == LOCATION and b'its name is known' not in value:
            value = encode([f for f in fields(value) if f[0] != LINES])
        return number, value.hex()
    kept = [plain(e) for e in dictionary if e[0] not in (FUNCTION, STRING)]
    return {'outer': [(n, v if isinstance(v, int) else v.hex()) for n, v in outer],
            'dictionary': kept}


def fileid(path):
    data = open(path, 'rb').read()
    size = len(data)
    digest = hashlib.sha256(data[:4096] + data[-4096:] + size.to_bytes(8, 'big'))
    return digest.hexdigest()[:32]


def options(args):
    found = {}
    for arg in args:
        what, value = arg.split('=')
        name, how = what.rsplit('.', 1)
        found.setdefault(name, {})[how] = value
    return found


def main():
    command, path = sys.argv[1], sys.argv[2]
    if command == 'make':
        save(sys.argv[3], Maker(pprof.load(path), options(sys.argv[4:])).make())
        return
    if command == 'fileid':
        print(fileid(path))
        return
    outer, dictionary = load(path)
    if command == 'json':
        json.dump(show(dictionary), sys.stdout)
    elif command == 'tables':
        json.dump({name: [entry.hex() for entry in of(dictionary, number)]
                   for name, number in (('functions', FUNCTION), ('strings', STRING))}, sys.stdout)
    elif command == 'rest':
        json.dump(rest(outer, dictionary), sys.stdout)
    elif command == 'pieces':
        save(sys.argv[3], [(DICTIONARY, encode([e])) for e in dictionary] + outer)
    elif command == 'reverse':
        order = sorted(range(len(dictionary)), key=lambda i: (-dictionary[i][0], i))
        save(sys.argv[3], [(DICTIONARY, encode([dictionary[i] for i in order]))] + outer)
    else:
        wanted = int(sys.argv[4])
        # the last one has a name
        locations = of(dictionary, LOCATION)[1:-1]
        more = [(LOCATION, locations[i % len(locations)]) for i in range(wanted)]
        save(sys.argv[3], outer + [(DICTIONARY, encode(dictionary + more))])


main()
