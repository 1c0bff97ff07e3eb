"""client - HTTP clients of all kinds: some wait for their answers, some read
them slowly, and some leave.
"""

import asyncio
import gzip
import json
import socket

PATIENCE = 120  # seconds, then an answer is late
CHUNK = 1 << 16


class Response:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body
        try:
            self.json = json.loads(body) if body else None
        except ValueError:
            self.json = None


class Broken(Exception):
    """The connection ended before there was an answer."""


def text(method, path, body=b"", headers=()):
    lines = ["%s %s HTTP/1.1" % (method, path), "Host: chaos",
             "Connection: close"]
    lines += ["%s: %s" % h for h in headers]
    if body:
        lines.append("Content-Length: %d" % len(body))
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def unchunked(data):
    out = []
    while True:
        size, end, data = data.partition(b"\r\n")
        if not end:
            raise Broken("a chunk without its size")
        size = int(size, 16)
        if len(data) < size + 2:
            raise Broken("a chunk without its end")
        if size == 0:
            return b"".join(out)
        out.append(data[:size])
        data = data[size + 2:]


def parse(data):
    head, end, body = data.partition(b"\r\n\r\n")
    if not end:
        raise Broken("no answer" if not data else "no end of the headers")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    if headers.get("transfer-encoding") == "chunked":
        body = unchunked(body)
    elif len(body) != int(headers.get("content-length", len(body))):
        raise Broken("%d bytes of %s" % (len(body), headers["content-length"]))
    return Response(int(first.split()[1]), headers, body)


class Client:
    def __init__(self, port):
        self.port = port

    async def open(self, receive_buffer=None):
        sock = socket.socket()
        sock.setblocking(False)
        if receive_buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF,
                            receive_buffer)
        try:
            await asyncio.get_running_loop().sock_connect(
                sock, ("127.0.0.1", self.port))
            return await asyncio.open_connection(sock=sock,
                                                 limit=receive_buffer or CHUNK)
        except OSError as error:
            sock.close()
            raise Broken(str(error)) from None

    async def ask(self, data, pace=0):
        """The answer; pace: seconds between two reads of 4 KiB."""
        try:
            return await asyncio.wait_for(self.exchange(data, pace), PATIENCE)
        except asyncio.TimeoutError:
            raise Broken("no answer in %d s" % PATIENCE) from None

    async def exchange(self, data, pace):
        reader, writer = await self.open(4096 if pace else None)
        got = []
        try:
            writer.write(data)
            while True:
                piece = await reader.read(4096 if pace else CHUNK)
                if not piece:
                    break
                got.append(piece)
                if pace:
                    await asyncio.sleep(pace)
        except OSError as error:
            raise Broken(str(error)) from None
        finally:
            writer.close()
        return parse(b"".join(got))

    async def leave(self, data, share, seconds, reads=False):
        """Sends the given share of the request, and leaves without an answer."""
        try:
            reader, writer = await self.open(4096)
        except Broken:
            return
        try:
            writer.write(data[:int(len(data) * share)])
            if reads:
                await asyncio.wait_for(reader.read(1), seconds)
            else:
                await asyncio.sleep(seconds)
        except (OSError, asyncio.TimeoutError):
            pass
        finally:
            writer.transport.abort()


def post(path, question, headers=(), pack=False):
    body = json.dumps(question).encode()
    headers = [("Content-Type", "application/json"), *headers]
    if pack:
        body = gzip.compress(body, 1)
        headers.append(("Content-Encoding", "gzip"))
    return text("POST", path, body, headers)
