#!/usr/bin/env python3
"""elastic_server.py PLAN - a server with Elastic's interface for symbols.

Parts are read by Google's protobuf, each alone, from a description of its own.
PLAN is a list of JSON: the answers of the first requests, as
[status, Retry-After or null]; a status of 200 or less takes the part.  Prints
{"port": N}, then for each {} on its standard input what it has taken:

    {"FILEID": {"ranges": [records], "returnpads": [records]}, "headers": [...],
     "statuses": [...], "parts": {"ranges": N}}

Exits when standard input ends.
"""

import base64
import http.server
import json
import sys
import threading
import uuid

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

FIELD = descriptor_pb2.FieldDescriptorProto
# members of a choice follow each other, as protobuf wants it
MESSAGES = {
    "LineTable": [("offset", 1, "*uint32"), ("lineNumber", 2, "*uint32")],
    "RangeV1": [("deltaElfVA", 1, "sint64"), ("setElfVA", 12, "uint64"),
                ("length", 2, "uint64"),
                ("funcStr", 3, "string"), ("funcRef", 9, "uint32"),
                ("fileStr", 4, "string"), ("fileRef", 10, "uint32"),
                ("callLine", 5, "uint32"),
                ("callFileStr", 6, "string"), ("callFileRef", 11, "uint32"),
                ("depth", 7, "uint32"), ("lineTable", 8, "LineTable")],
    "ReturnPadV1": [("deltaElfVA", 1, "sint64"), ("setElfVA", 5, "uint64"),
                    ("func", 2, "*uint32"), ("file", 3, "*uint32"),
                    ("line", 4, "*uint32")],
    "StringTableV1": [("strings", 1, "*string")],
}
ONEOF = {"RangeV1": {"elfVA": [1, 12], "func": [3, 9], "file": [4, 10],
                     "callFile": [6, 11]},
         "ReturnPadV1": {"elfVA": [1, 5]}}


def classes():
    proto = descriptor_pb2.FileDescriptorProto(name="symbfile.proto", syntax="proto3")
    for name, fields in MESSAGES.items():
        message = proto.message_type.add(name=name)
        choices = {}
        for i, (choice, numbers) in enumerate(ONEOF.get(name, {}).items()):
            message.oneof_decl.add(name=choice)
            choices.update({number: i for number in numbers})
        for field, number, kind in fields:
            f = message.field.add(name=field, number=number)
            f.label = FIELD.LABEL_REPEATED if kind[0] == "*" else FIELD.LABEL_OPTIONAL
            if kind in MESSAGES:
                f.type, f.type_name = FIELD.TYPE_MESSAGE, "." + kind
            else:
                f.type = getattr(FIELD, "TYPE_" + kind.lstrip("*").upper())
            if number in choices:
                f.oneof_index = choices[number]
    pool = descriptor_pool.DescriptorPool()
    pool.Add(proto)
    # the one way of newer releases, the other of older ones
    factory = message_factory.MessageFactory(pool)
    get = getattr(message_factory, "GetMessageClass", None) or factory.GetPrototype
    return {name: get(pool.FindMessageTypeByName(name)) for name in MESSAGES}


CLASSES = classes()


def varint(b, at):
    n = shift = 0
    while True:
        n |= (b[at] & 127) << shift
        shift += 7
        at += 1
        if b[at - 1] < 128:
            return n, at


def parse(name, body):
    message = CLASSES[name]()
    message.ParseFromString(body)
    assert len(message.SerializeToString()) == len(body), "unknown fields"
    return message


def read_range(m, va, strings):
    def text(choice, ref, plain):
        which = m.WhichOneof(choice)
        return (None if which is None
                else strings[getattr(m, ref)] if which == ref else getattr(m, plain))

    lines, offset = [], 0
    assert len(m.lineTable.offset) == len(m.lineTable.lineNumber)
    for delta, line in zip(m.lineTable.offset, m.lineTable.lineNumber):
        offset += delta
        lines.append([offset, line])
    return {"va": va, "length": m.length, "func": text("func", "funcRef", "funcStr"),
            "file": text("file", "fileRef", "fileStr"), "call_line": m.callLine,
            "call_file": text("callFile", "callFileRef", "callFileStr"),
            "depth": m.depth, "lines": lines}


def read(b):
    """All records; every part is a symbfile of its own."""
    assert b[:10] == b"symbfile\0\1", b[:10]
    at, va, strings, records = 10, None, None, []
    while at < len(b):
        size, at = varint(b, at)
        kind, at = varint(b, at)
        body, at = b[at:at + size], at + size
        assert len(body) == size <= 16 << 20
        if kind == 4:
            strings = list(parse("StringTableV1", body).strings)
            continue
        m = parse({2: "RangeV1", 3: "ReturnPadV1"}[kind], body)
        va = (m.setElfVA if m.WhichOneof("elfVA") == "setElfVA"
              else (va + m.deltaElfVA) % 2**64)
        if kind == 2:
            assert m.depth == 0 or records, "a call without its function"
            records.append(["range", read_range(m, va, strings)])
        else:
            assert len(m.func) == len(m.file) == len(m.line) > 0
            records.append(["pad", {"va": va, "frames": [
                [strings[a], strings[b], c]
                for a, b, c in zip(m.func, m.file, m.line)]}])
    return records


plan = json.loads(sys.argv[1])
taken, headers, statuses, counts = {}, [], [], {}
lock = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with lock:
            status, retry = plan.pop(0) if plan else (200, None)
            if status == 200:
                status = self.take(body)
            statuses.append(status)
            headers.append({k: self.headers.get(k) for k in
                            ("Authorization", "FileID", "FilePart", "FileParts")})
        answer = ({"success": True, "status": 200} if status == 200 else
                  {"success": False, "uuid": str(uuid.UUID(int=7)), "status": status,
                   "error": {"Code": "1234", "Text": "Not this one."}})
        text = json.dumps(answer).encode()
        self.send_response(status)
        if retry is not None:
            self.send_header("Retry-After", str(retry))
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def take(self, body):
        kind = self.path.rsplit("-", 1)[-1]
        if self.path not in ("/p/api/symbols-ranges", "/p/api/symbols-returnpads"):
            return 404
        id_ = base64.urlsafe_b64decode(self.headers["FileID"] + "==").hex()
        part, parts = int(self.headers["FilePart"]), int(self.headers["FileParts"])
        assert 0 <= part < parts == counts.setdefault(kind, parts)
        taken.setdefault(id_, {}).setdefault(kind, {})[part] = read(body)
        return 200

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"port": server.server_port}), flush=True)
for line in sys.stdin:
    with lock:
        print(json.dumps({"taken": {id_: {kind: [r for i in sorted(parts)
                                                 for r in parts[i]]
                                          for kind, parts in kinds.items()}
                                    for id_, kinds in taken.items()},
                          "headers": headers, "statuses": statuses,
                          "parts": counts}), flush=True)
