"""sym_link - a client of the loader's protocol, for t/serve_*.t.

Written from docs/formats/loader-protocol.md alone, so that it does not share
the loader's errors.  As a program it takes one command a line on standard input
and answers one line of JSON each, so that Perl can hold several connections:

    new NAME [VERSION]            connects and sends HELLO
    raw NAME HEX [PATH...]        a packet as given, with these files' descriptors
    send NAME {"type": ...}       a message; "path": FILE or "pipe": true
    recv NAME [SECONDS]           the next message, {"type": "END"} or
                                  {"type": "NOTHING"} when none arrived in time
    flood NAME TYPE COUNT [FIELD] that many messages, without reading answers,
                                  which differ by the key, scope or checksum;
                                  {"sent": COUNT} or fewer if it was cut off
    close NAME
"""

import json
import os
import socket
import struct
import sys

MAGIC = 0x4c53
FLOOD_ID = '00112233445566778899AABBCCDDEEFF1'
FIELDS = {
    'HELLO': (1, 'version'),
    'ENSURE': (2, 'ticket flags kind files layout ids casing scope reference'),
    'CANCEL': (3, 'ticket'),
    'INGEST': (4, 'ticket flags ttl offset length source outcomes map'),
    'NONE': (5, 'ticket state ttl text outcomes'),
    'MORE': (6, 'ticket length bits'),
    'INVALIDATE': (7, 'ticket key'),
    'CHANGED': (10, 'ticket scope source'),
    'STAT': (8, 'ticket'),
    'DEPOSIT': (9, 'ticket flags offset length text source'),
    'GIVEN': (11, 'ticket flags offset length'),
    'ABANDON': (14, 'ticket flags'),
    'ASSEMBLE': (16, 'ticket flags limit text source files layout ids casing scope chunks'),
    'UPLOAD': (15, 'ticket flags offset length limit text source files layout ids casing scope'),
    'MAKE': (17, 'ticket offset length limit text source kind?'),
    'REPLY': (18, 'ticket flags length text source'),
    'FOR_PEER': (20, 'ticket'),
    'WELCOME': (64, 'version'),
    'READY': (65, 'ticket flags'),
    'NEGATIVE': (66, 'ticket state ttl text'),
    'FETCH': (67, 'ticket flags length bits kind reference'),
    'DONE': (68, 'ticket flags key text kind?'),
    'STATS': (69, 'ticket text'),
    'REFUSED': (70, 'text'),
    'WANT': (71, 'ticket kind attempt name dir id'),
    'NOTE': (72, 'ticket text'),
    'RECLAIM': (75, 'ticket'),
    'OBJECT': (76, 'ticket offset length limit scope text source map kind?'),
}
NAMES = {number: name for name, (number, _) in FIELDS.items()}
WIDTHS = {'ticket': '<I', 'version': '<I', 'flags': '<I', 'state': '<I',
          'offset': '<Q', 'length': '<Q', 'bits': '<Q', 'limit': '<Q', 'kind': '<I', 'attempt': '<I',
          'files': '<I', 'layout': 'B', 'ids': 'B', 'casing': 'B'}
# For ENSURE: a symcache; files of all types in the layout `breakpad`, which has one
# place for a canonical id.  For other kinds: 1, `native`.
DEFAULTS = {'kind': 1, 'files': 0x7ffff}


def put_text(text):
    data = text.encode('latin-1')
    return struct.pack('<H', len(data)) + data


def canonical(debug_id):
    head = 32 if len(debug_id) >= 32 else 8
    return debug_id[:head].upper() + '%X' % int(debug_id[head:][:8] or '0', 16)


def binary(debug_id):
    """The form, the signature in 16 bytes, the age (big endian)."""
    head = 32 if len(debug_id) >= 32 else 8
    return (struct.pack('B', 1 if head == 32 else 2)
            + bytes.fromhex(debug_id[:head]).ljust(16, b'\0')
            + struct.pack('>I', int(debug_id[head:], 16)))


def part(tag, data):
    if isinstance(data, str):
        data = data.encode('latin-1')
    return struct.pack('<BH', tag, len(data)) + data if data else b''


def reference(m):
    """With a checksum, or the number of a type, the object is complete, else it has a
    name and an id, in which 40 digits are a build id, too."""
    name, sent = m['key'].rsplit('/', 1)
    debug_id = canonical(sent)
    checksum = m.get('checksum', '')
    code_id = m.get('code_id', sent.lower() if len(sent) == 40 else '')
    kind = m.get('object', int(checksum != ''))
    return ((part(1, bytes([kind])) if kind else part(2, '1'))
            + part(3, binary(debug_id)) + part(4, code_id)
            + part(6, name) + part(8, '' if sent == debug_id else sent)
            + part(9, checksum)).decode('latin-1')


def outcome(place, kind, status=0, word='', reason='', url=''):
    return (struct.pack('<BBHIQBHH', place, kind, status, 1, 0, len(word),
                        len(reason), len(url)).decode('latin-1')
            + word + reason + url)


def pack(m):
    number, fields = FIELDS[m['type']]
    if m['type'] == 'ENSURE':
        m = {**DEFAULTS, 'layout': int(m.get('kind', 1) != 1),
             'reference': reference(m), **m}
    if 'places' in m:       # [path number, outcome, ...] each
        m = {**m, 'outcomes': ''.join(outcome(*one) for one in m['places'])}
    out = struct.pack('<HH', MAGIC, number)
    for field in fields.split():
        if field.endswith('?'):
            field = field[:-1]
            if not m.get(field, 0):
                continue
        if field in WIDTHS:
            out += struct.pack(WIDTHS[field], m.get(field, int(field == 'bits')))
        elif field == 'ttl':
            out += struct.pack('<3I', *m.get('ttl', [3600, 86400, 10]))
        elif field == 'key':
            name, debug_id = m['key'].rsplit('/', 1)
            out += put_text(m.get('scope', '')) + put_text(name)
            out += put_text(debug_id)
        else:
            out += put_text(m.get(field, ''))
    return out


def take_text(data):
    length, = struct.unpack_from('<H', data)
    if len(data) < 2 + length:
        raise ValueError('a text runs past the packet')
    return data[2:2 + length].decode('latin-1'), data[2 + length:]


def unpack(data):
    magic, number = struct.unpack_from('<HH', data)
    if magic != MAGIC or number not in NAMES:
        raise ValueError('no message: %r' % data)
    m = {'type': NAMES[number]}
    data = data[4:]
    for field in FIELDS[m['type']][1].split():
        if field.endswith('?'):
            field = field[:-1]
            if not data:
                continue
        if field in WIDTHS:
            m[field], = struct.unpack_from(WIDTHS[field], data)
            data = data[struct.calcsize(WIDTHS[field]):]
        elif field == 'ttl':
            m['ttl'] = list(struct.unpack_from('<3I', data))
            data = data[12:]
        elif field == 'key':
            m['scope'], data = take_text(data)
            name, data = take_text(data)
            debug_id, data = take_text(data)
            m['key'] = name + '/' + debug_id if name or debug_id else ''
        else:
            m[field], data = take_text(data)
    if m.get('bits') == 1:  # the only place
        del m['bits']
    if m['type'] == 'FETCH' and not m['flags']:
        del m['flags']
    if m['type'] == 'FETCH' and m['kind'] == 0:  # no companion
        del m['kind'], m['reference']
    if data:
        raise ValueError('%d bytes too many' % len(data))
    return m


class Client:
    """One connection."""

    def __init__(self, path, version=16):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.connect(path)
        self.next = {}      # place, by ticket
        if version:
            self.send({'type': 'HELLO', 'version': version})

    def raw(self, packet, paths=()):
        fds = [os.open(path, os.O_RDONLY) for path in paths]
        try:
            if fds:
                socket.send_fds(self.socket, [packet], fds)
            else:
                self.socket.send(packet)
        finally:
            for fd in fds:
                os.close(fd)

    def send(self, m):
        fds = []
        ticket = m.get('ticket')
        if m['type'] == 'ENSURE':
            self.next[ticket] = 0
        elif m['type'] == 'INGEST' and 'places' not in m:
            place = self.next.get(ticket, 0)
            m = {**m, 'places': [[place, 1, 200, '', '', m.get('source', '')]]}
            self.next[ticket] = place + 1
        if 'path' in m:
            fds.append(os.open(m['path'], os.O_RDONLY))
            if 'length' not in m:
                m['length'] = os.fstat(fds[0]).st_size - m.get('offset', 0)
        elif m.get('pipe'):
            reading, writing = os.pipe()
            os.close(writing)
            fds.append(reading)
        if fds:
            socket.send_fds(self.socket, [pack(m)], fds)
        else:
            self.socket.send(pack(m))
        for fd in fds:
            os.close(fd)

    def recv(self, seconds=60.0):
        self.socket.settimeout(seconds)
        try:
            data = self.socket.recv(65536)
        except (socket.timeout, BlockingIOError):
            return {'type': 'NOTHING'}
        except ConnectionResetError:
            return {'type': 'END'}
        return unpack(data) if data else {'type': 'END'}

    def flood(self, kind, count, field='key'):
        self.socket.settimeout(60)
        for i in range(count):
            value = {'key': 'flood%d/%s' % (i, FLOOD_ID), 'scope': 'flood%d' % i,
                     'checksum': '%032x' % i}[field]
            try:
                self.socket.send(pack({'type': kind, 'ticket': i,
                                       'key': 'flood/' + FLOOD_ID,
                                       field: value}))
            except OSError:
                return i
        return count

    def close(self):
        self.socket.close()


def run(path):
    clients = {}
    for line in sys.stdin:
        command, _, rest = line.strip().partition(' ')
        name, _, rest = rest.partition(' ')
        answer = {}
        try:
            if command == 'new':
                numbers = [int(word) for word in rest.split()]
                clients[name] = Client(path, *numbers)
                answer = {} if numbers[:1] == [0] else clients[name].recv()
            elif command == 'raw':
                words = rest.split(' ')
                clients[name].raw(bytes.fromhex(words[0]), words[1:])
            elif command == 'send':
                clients[name].send(json.loads(rest))
            elif command == 'recv':
                answer = clients[name].recv(float(rest or 60))
            elif command == 'flood':
                kind, count, *field = rest.split(' ')
                answer = {'sent': clients[name].flood(kind, int(count),
                                                      *field)}
            elif command == 'close':
                clients.pop(name).close()
        except OSError as e:
            answer = {'error': str(e)}
        print(json.dumps(answer), flush=True)


if __name__ == '__main__':
    run(sys.argv[1])
