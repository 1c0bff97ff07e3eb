#!/usr/bin/env python3
"""fault_server.py FOLDER PORT [CERT KEY TLS_PORT] - an HTTP/1.1 server that
fails as requested.

Listens on 127.0.0.1 (port 0: a free one), with a certificate also for https;
prints {"port": N, "tls_port": N} when it does, and exits when standard input
ends.

The path says what happens; the rest of it names a file of FOLDER:

  /ok/FILE             the file, or 404
  /status/NNN/...      that status, with a short body
  /drip/BPS/FILE       the file at that many bytes a second
  /stall/N/FILE        its headers and N bytes of it, then nothing more
  /blackhole/...       never answers
  /hangup/...          closes without a byte
  /reset/N/FILE        N bytes of the file, then RST; N is "none": RST at once
  /short/N/FILE        N bytes less than its Content-Length, then closes
  /long/N/FILE         N bytes more than its Content-Length, then closes
  /close/FILE          no Content-Length: the end of the connection is its end
  /chunked/FILE        in chunks
  /chunkcut/N/FILE     N bytes in chunks, then closes without the last chunk
  /part/N/HOW/FILE     the file, or its rest: see do_part
  /gzip/FILE           gzipped, with Content-Encoding
  /gzipbare/FILE       gzipped, without
  /bighead/N/FILE      with a header of N bytes
  /garbage/...         answers with something that is not HTTP
  /redirect/NNN/REST   that status, with Location: /REST
  /endless/...         headers, and chunks until the client leaves
  /away/HOST/REST      302, with Location: http://HOST/REST
  /accel/REST          200 with X-Accel-Redirect: /REST, or @NAME of @NAME/...
  /gate/NAME/REST      waits until the gate is opened, then does REST
  /key/NAME/VALUE/REST does REST for requests with that header, else 403
  /as/NAME/FILE        does what the test has set for NAME: see script

/latest/... and /container/... are AWS's endpoints for credentials: see below.

Commands of the test:

  GET  /_control/stats               counts, by path: see Stats
  POST /_control/forget              from now on counts begin at zero; maxima
                                     at what is open now
  GET  /_control/wait?path=P&FIELD=N answers when FIELD (count, now, done) of P
                                     is at least N; now=0: when nothing is open
  POST /_control/gate/NAME/open      or close; all are closed at first
  POST /_control/script/NAME         body: JSON list of behaviours, as
                                     ["status/503", "ok"]: one a request, the
                                     last for all that follow
  POST /_control/credentials         body: JSON object, see CREDENTIALS

P of a wait is a path as it was sent; without it: all paths together.
"""

import asyncio
import datetime
import email.utils
import fcntl
import gzip
import hashlib
import json
import os
import socket
import ssl
import struct
import sys
import termios
import time
import urllib.parse

HEAD_MAX = 65536
BODY_MAX = 1 << 20
PIECE = 1 << 16


class Request:
    def __init__(self, method, target, headers, body):
        self.method, self.target = method, target
        self.headers, self.body = headers, body
        path, _, query = target.partition("?")
        self.path = path
        self.query = dict(urllib.parse.parse_qsl(query))


class Gone(Exception):
    """The client has closed, or the answer is meant to end here."""


class Connection:
    """Reads requests; notices if the client leaves during an answer."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer
        self.buffer = b""

    async def fill(self):
        try:
            data = await self.reader.read(PIECE)
        except OSError:
            return False
        self.buffer += data
        return bool(data)

    async def take(self, size):
        while len(self.buffer) < size:
            if not await self.fill():
                raise Gone
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    async def request(self):
        while b"\r\n\r\n" not in self.buffer:
            if len(self.buffer) > HEAD_MAX or not await self.fill():
                raise Gone
        head = await self.take(self.buffer.index(b"\r\n\r\n") + 4)
        first, *lines = head[:-4].decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        size = int(headers.get("content-length", 0))
        if not 0 <= size <= BODY_MAX or "transfer-encoding" in headers:
            raise Gone
        return Request(method, target, headers, await self.take(size))

    async def until_gone(self):
        while len(self.buffer) < HEAD_MAX and await self.fill():
            pass

    async def send(self, data):
        self.writer.write(data)
        try:
            await self.writer.drain()
        except OSError:
            raise Gone from None

    async def head(self, status, headers, size=None):
        text = "HTTP/1.1 %d Told\r\n" % status
        for name, value in headers.items():
            text += "%s: %s\r\n" % (name, value)
        if size is not None:
            text += "Content-Length: %d\r\n" % size
        await self.send((text + "\r\n").encode("latin-1"))

    async def reset(self):
        """RST, once the client's kernel has all that was sent."""
        sock = self.writer.get_extra_info("socket")
        for _ in range(5000):
            left = struct.unpack("i", fcntl.ioctl(
                sock.fileno(), termios.TIOCOUTQ, b"\0" * 4))[0]
            if not left:
                break
            await asyncio.sleep(0.001)  # there is no event for it
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                        struct.pack("ii", 1, 0))
        self.writer.transport.abort()
        raise Gone


class Stats:
    """count: requests received; done: those that are over, in any way; now:
    count less done; max: most that were open at once."""

    def __init__(self):
        self.paths = {}
        self.total = self.fresh()
        self.changed = asyncio.Condition()

    @staticmethod
    def fresh(now=0):
        return {"count": 0, "done": 0, "now": now, "max": now}

    def of(self, path):
        return self.paths.setdefault(path, self.fresh())

    async def begin(self, path):
        for s in (self.of(path), self.total):
            s["count"] += 1
            s["now"] += 1
            s["max"] = max(s["max"], s["now"])
        async with self.changed:
            self.changed.notify_all()

    async def end(self, path):
        for s in (self.of(path), self.total):
            s["done"] += 1
            s["now"] -= 1
        async with self.changed:
            self.changed.notify_all()

    def forget(self):
        self.paths = {p: self.fresh(s["now"])
                      for p, s in self.paths.items() if s["now"]}
        self.total = self.fresh(self.total["now"])

    async def wait(self, path, field, number):
        def reached():
            value = (self.of(path) if path else self.total)[field]
            return value == 0 if (field, number) == ("now", 0) \
                else value >= number
        async with self.changed:
            await self.changed.wait_for(reached)


# Answers of /latest and /container; the test changes any of these.
CREDENTIALS = {
    "role": "test-role",
    "access_key": "ASIAFAULTSERVER",
    "secret_key": "fault/secret",
    "token": "fault/token==",
    "expires_in_s": 3600,
    "expiration": None,         # text that replaces expires_in_s
    "code": "Success",          # of instance metadata
    "authorization": None,      # that a container must send; None: any
    "token_ttl_s": 21600,       # maximum, for metadata tokens
    "status": {},               # "token", "role", "keys", "container" => NNN
    "body": {},                 # the same => text of the answer
    "gate": None,               # a gate that every answer waits for
}


class Credentials:
    """Instance metadata, version 2 ("Use the Instance Metadata Service", EC2
    User Guide), and the container endpoint ("Container credential provider",
    AWS SDKs and Tools Reference Guide)."""

    def __init__(self, server):
        self.server = server
        self.told = dict(CREDENTIALS)
        self.tokens = {}  # token => loop time of its end

    def tell(self, what):
        unknown = set(what) - set(CREDENTIALS)
        if unknown:
            raise ValueError("no such credentials setting: %s" % unknown)
        self.told.update(what)

    def keys(self):
        now = datetime.datetime.now(datetime.timezone.utc)
        end = now + datetime.timedelta(seconds=self.told["expires_in_s"])
        return {
            "AccessKeyId": self.told["access_key"],
            "SecretAccessKey": self.told["secret_key"],
            "Token": self.told["token"],
            "Expiration": self.told["expiration"]
            or end.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }

    def token(self, request):
        ttl = request.headers.get("x-aws-ec2-metadata-token-ttl-seconds", "")
        if request.method != "PUT":
            return 405, {}, ""
        if "x-forwarded-for" in request.headers:
            return 403, {}, ""
        if not ttl.isdigit() or not 1 <= int(ttl) <= 21600:
            return 400, {}, ""
        ttl = min(int(ttl), self.told["token_ttl_s"])
        name = "token-%d" % (len(self.tokens) + 1)
        self.tokens[name] = asyncio.get_running_loop().time() + ttl
        return 200, {"X-Aws-Ec2-Metadata-Token-Ttl-Seconds": ttl}, name

    def metadata(self, request, name):
        token = request.headers.get("x-aws-ec2-metadata-token")
        if self.tokens.get(token, 0) <= asyncio.get_running_loop().time():
            return 401, {}, ""
        if name == "":
            return 200, {}, self.told["role"]
        if name != self.told["role"]:
            return 404, {}, ""
        return 200, {}, json.dumps({
            "Code": self.told["code"], "Type": "AWS-HMAC",
            "LastUpdated": "2024-01-01T00:00:00Z", **self.keys()})

    def container(self, request):
        wanted = self.told["authorization"]
        if wanted and request.headers.get("authorization") != wanted:
            return 401, {}, ""
        return 200, {}, json.dumps({
            "RoleArn": "arn:aws:iam::123456789012:role/" + self.told["role"],
            **self.keys()})

    async def answer(self, connection, request):
        iam = "/latest/meta-data/iam/security-credentials/"
        if request.path == "/latest/api/token":
            kind, answer = "token", self.token(request)
        elif request.path.startswith(iam):
            name = request.path[len(iam):]
            kind = "keys" if name else "role"
            answer = self.metadata(request, name)
        elif request.path.startswith("/container/"):
            kind, answer = "container", self.container(request)
        else:
            kind, answer = None, (404, {}, "")
        if self.told["gate"]:
            await self.server.gate(self.told["gate"]).wait()
        status, headers, text = answer
        status = self.told["status"].get(kind, status)
        body = self.told["body"].get(kind, text).encode()
        await connection.head(status, headers, len(body))
        await connection.send(body)


class Answer:
    """One request's answer: every method is a behaviour, which takes its
    arguments from the path."""

    def __init__(self, server, connection, request):
        self.server, self.connection = server, connection
        self.request = request

    async def run(self, rest):
        name, _, rest = rest.partition("/")
        method = getattr(self, "do_" + name, None)
        if method is None:
            await self.error(404)
        else:
            await method(rest)

    async def error(self, status, headers=()):
        body = b"told so\n"
        await self.connection.head(status, dict(headers), len(body))
        await self.body(body)

    async def body(self, data):
        if self.request.method != "HEAD":
            await self.connection.send(data)

    def read(self, name):
        path = os.path.realpath(os.path.join(
            self.server.folder, urllib.parse.unquote(name)))
        if not path.startswith(self.server.folder + os.sep):
            raise FileNotFoundError
        return open(path, "rb")

    async def copy(self, file, size):
        while size > 0 and self.request.method != "HEAD":
            piece = file.read(min(PIECE, size))
            if not piece:
                return
            size -= len(piece)
            await self.connection.send(piece)

    async def file(self, name, length=lambda size: size, send=None):
        """Headers with length(size) and send(size) bytes of the body."""
        with self.read(name) as file:
            size = os.fstat(file.fileno()).st_size
            await self.connection.head(200, {}, length(size))
            await self.copy(file, size if send is None else send(size))

    # --- behaviours ---

    async def do_ok(self, name):
        await self.file(name)

    async def do_status(self, rest):
        await self.error(int(rest.partition("/")[0]))

    async def do_drip(self, rest):
        rate, _, name = rest.partition("/")
        piece = max(1, int(rate) // 20)
        with self.read(name) as file:
            size = os.fstat(file.fileno()).st_size
            await self.connection.head(200, {}, size)
            while size > 0:
                await self.copy(file, min(piece, size))
                size -= piece
                await asyncio.sleep(piece / int(rate))

    async def do_stall(self, rest):
        size, _, name = rest.partition("/")
        await self.file(name, send=lambda _: int(size))
        await self.do_blackhole(rest)

    async def do_blackhole(self, _):
        await asyncio.get_running_loop().create_future()

    async def do_hangup(self, _):
        raise Gone

    async def do_reset(self, rest):
        size, _, name = rest.partition("/")
        if size != "none":
            await self.file(name, send=lambda _: int(size))
        await self.connection.reset()

    async def do_short(self, rest):
        less, _, name = rest.partition("/")
        await self.file(name, send=lambda size: size - int(less))
        raise Gone

    async def do_long(self, rest):
        more, _, name = rest.partition("/")
        await self.file(name)
        await self.body(b"x" * int(more))
        raise Gone

    async def do_close(self, name):
        with self.read(name) as file:
            await self.connection.head(200, {"Connection": "close"})
            await self.copy(file, os.fstat(file.fileno()).st_size)
        raise Gone

    async def chunks(self, name, size=None):
        with self.read(name) as file:
            left = os.fstat(file.fileno()).st_size if size is None else size
            await self.connection.head(200, {"Transfer-Encoding": "chunked"})
            while left > 0:
                piece = file.read(min(PIECE, left))
                if not piece:
                    return
                left -= len(piece)
                await self.body(b"%x\r\n%s\r\n" % (len(piece), piece))

    async def do_chunked(self, name):
        await self.chunks(name)
        await self.body(b"0\r\n\r\n")

    async def do_chunkcut(self, rest):
        size, _, name = rest.partition("/")
        await self.chunks(name, int(size))
        raise Gone

    async def do_part(self, rest):
        """A server with ranges.  It sends N bytes of the answer's body, then
        closes; all: the whole body.  HOW is a list of words:

          plain   correct, with an ETag
          rest    answers 400 unless a rest is requested
          ignore  ignores Range
          always  ignores If-Range
          quiet   does not announce ranges
          weak, untagged, tagless   the ETag is weak, is missing, or is missing in
                  a 206 alone
          old, new  a date of yesterday, or of now
          far, near  the range is one byte further, or ends one earlier
          grown   the size of the whole is another
          length  a 206 has one byte more
          chunks  in chunks
          gz      with Content-Encoding: gzip, as the file is
          bare    a 206 without it
          second  the file FILE.2
        """
        cut, words, name = rest.split("/", 2)
        how = set(words.split(","))
        with self.read(name + (".2" if "second" in how else "")) as file:
            data = file.read()
        size, first = len(data), 0
        tag = '"%s"' % hashlib.sha256(data).hexdigest()
        day = email.utils.formatdate(
            time.time() - (86400 if "old" in how else 1), usegmt=True)
        headers = {"Accept-Ranges": "bytes", "ETag": tag}
        if "quiet" in how:
            del headers["Accept-Ranges"]
        if "weak" in how:
            headers["ETag"] = "W/" + tag
        if "untagged" in how:
            del headers["ETag"]
        if how & {"old", "new"}:
            headers["Last-Modified"] = day
            headers["Date"] = email.utils.formatdate(usegmt=True)
        if "gz" in how:
            headers["Content-Encoding"] = "gzip"
        known = {headers.get("ETag"), headers.get("Last-Modified")}
        wanted = self.request.headers.get("range")
        if wanted is None and "rest" in how:
            raise ValueError
        status = 200
        if wanted and "ignore" not in how and (
                "always" in how
                or self.request.headers.get("if-range") in known):
            status, first = 206, int(wanted[len("bytes="):-1])
            headers["Content-Range"] = "bytes %d-%d/%d" % (
                first + ("far" in how), size - 1 - ("near" in how),
                size + ("grown" in how))
            if "tagless" in how:
                del headers["ETag"]
            if "bare" in how:
                del headers["Content-Encoding"]
            if "length" in how:
                data += b"x"
        data = data[first:]
        sent = data if cut == "all" else data[:int(cut)]
        if "chunks" in how:
            headers["Transfer-Encoding"] = "chunked"
            await self.connection.head(status, headers)
            await self.body(b"%x\r\n%s\r\n" % (len(sent), sent))
            if cut == "all":
                await self.body(b"0\r\n\r\n")
        else:
            await self.connection.head(status, headers, len(data))
            await self.body(sent)
        if cut != "all":
            raise Gone

    async def gzipped(self, name, headers):
        with self.read(name) as file:
            data = gzip.compress(file.read(), 1)
        await self.connection.head(200, headers, len(data))
        await self.body(data)

    async def do_gzip(self, name):
        await self.gzipped(name, {"Content-Encoding": "gzip"})

    async def do_gzipbare(self, name):
        await self.gzipped(name, {})

    async def do_bighead(self, rest):
        size, _, name = rest.partition("/")
        with self.read(name) as file:
            length = os.fstat(file.fileno()).st_size
            await self.connection.head(200, {"X-Big": "x" * int(size)}, length)
            await self.copy(file, length)

    async def do_garbage(self, _):
        await self.connection.send(b"\x00\x01 what is this\r\n\r\n")
        raise Gone

    async def do_redirect(self, rest):
        status, _, path = rest.partition("/")
        await self.error(int(status), {"Location": "/" + path})

    async def do_endless(self, _):
        await self.connection.head(200, {"Transfer-Encoding": "chunked"})
        line = b"FILE 0 end\n\n\n\n\n\n"  # 16 bytes
        piece = b"%x\r\n%s\r\n" % (PIECE, line * (PIECE // len(line)))
        while True:
            await self.body(piece)

    async def do_away(self, rest):
        await self.error(302, {"Location": "http://" + rest})

    async def do_accel(self, rest):
        body = b"go on there\n"
        to = rest.partition("/")[0] if rest[0] == "@" else "/" + rest
        await self.connection.head(200, {"X-Accel-Redirect": to}, len(body))
        await self.body(body)

    async def do_gate(self, rest):
        name, _, rest = rest.partition("/")
        await self.server.gate(name).wait()
        await self.run(rest)

    async def do_key(self, rest):
        name, value, rest = rest.split("/", 2)
        if self.request.headers.get(name.lower()) == value:
            await self.run(rest)
        else:
            await self.error(403)

    async def do_as(self, rest):
        name, _, rest = rest.partition("/")
        script = self.server.scripts.get(name, ["ok"])
        behaviour = script.pop(0) if len(script) > 1 else script[0]
        await self.run(behaviour + "/" + rest)


class Server:
    def __init__(self, folder):
        self.folder = os.path.realpath(folder)
        self.stats = Stats()
        self.gates = {}
        self.scripts = {}
        self.credentials = Credentials(self)

    def gate(self, name):
        return self.gates.setdefault(name, asyncio.Event())

    async def control(self, connection, request):
        status, body = 200, {}
        try:
            body = await self.obey(request) or {}
        except (ValueError, KeyError, IndexError, TypeError) as e:
            status, body = 400, {"error": repr(e)}
        text = json.dumps(body).encode()
        await connection.head(status, {}, len(text))
        await connection.send(text)

    async def obey(self, request):
        verb, *args = request.path.split("/")[2:]
        if verb == "stats":
            return {"total": self.stats.total, "paths": self.stats.paths}
        if verb == "forget":
            return self.stats.forget()
        if verb == "wait":
            query = dict(request.query)
            path = query.pop("path", None)
            (field, number), = query.items()
            return await self.stats.wait(path, field, int(number))
        if verb == "gate":
            gate, to = self.gate(args[0]), {"open": "set", "close": "clear"}
            return getattr(gate, to[args[1]])()
        if verb == "script":
            script = json.loads(request.body)
            if not script or not all(isinstance(b, str) for b in script):
                raise ValueError("a script is a list of behaviours")
            self.scripts[args[0]] = script
            return None
        if verb == "credentials":
            return self.credentials.tell(json.loads(request.body))
        raise ValueError("no such command: %s" % verb)

    async def answer(self, connection, request):
        if request.path.startswith(("/latest/", "/container/")):
            await self.credentials.answer(connection, request)
            return
        try:
            answer = Answer(self, connection, request)
            await answer.run(request.path[1:])
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            await answer.error(404)
        except ValueError:
            await answer.error(400)

    async def watched(self, connection, work):
        """Runs until it is done or the client has left."""
        tasks = [asyncio.ensure_future(work),
                 asyncio.ensure_future(connection.until_gone())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if not tasks[0].done():
                raise Gone
            return tasks[0].result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def one(self, connection):
        request = await connection.request()
        if request.path.startswith("/_control/"):
            await self.control(connection, request)
            return
        await self.stats.begin(request.path)
        try:
            await self.watched(connection, self.answer(connection, request))
        finally:
            await self.stats.end(request.path)
        if request.headers.get("connection", "").lower() == "close":
            raise Gone

    async def serve(self, reader, writer):
        connection = Connection(reader, writer)
        # drain() waits until the kernel has all of it; with TLS that never
        # returns (Python 3.11)
        if writer.get_extra_info("sslcontext") is None:
            writer.transport.set_write_buffer_limits(0)
        try:
            while True:
                await self.one(connection)
        except Gone:
            pass
        finally:
            writer.close()


async def until_stdin_ends():
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while await reader.read(PIECE):
        pass


async def listen(server, port, tls=None):
    served = await asyncio.start_server(
        server.serve, "127.0.0.1", int(port), ssl=tls, backlog=2048)
    return served.sockets[0].getsockname()[1]


async def main(folder, port, cert=None, key=None, tls_port=None):
    server = Server(folder)
    ports = {"port": await listen(server, port)}
    if cert:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(cert, key)
        ports["tls_port"] = await listen(server, tls_port, tls)
    print(json.dumps(ports), flush=True)
    await until_stdin_ends()
    os._exit(0)  # answers that are still in progress


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
