#!/usr/bin/env python3
"""given_server.py [CERT KEY]... - HTTP servers and a DNS server that answer as
requested.

HTTP on 127.0.0.1 and 127.0.0.2 at one port, https on 127.0.0.1 with each of the
certificates; DNS on a UDP port of 127.0.0.1.  Prints {"port": N, "dns": N,
"tls": [N, ...]} when all listen, and exits when standard input ends.

  POST /_control/route      {"path": P, "status": N, "headers": {}, "body": TEXT,
                            "file": NAME}: the answer for a path (with its query,
                            or without any); the body may be a file's;
                            "length": the Content-Length that it claims;
                            "stall": true: the connection stays open
  POST /_control/names      {NAME: [ANSWER, ...]}: an answer is a list of
                            addresses; they are given in turn, the last one for
                            all later queries; [] is NXDOMAIN, null no answer
  GET  /_control/requests   all received: method, target, headers, body, and the
                            address that each was sent to
  GET  /_control/asked      {NAME: number of queries}
  POST /_control/forget     forgets both
"""

import asyncio
import json
import socket
import ssl
import struct
import sys

routes, names, asked, seen = {}, {}, {}, []


async def answer_control(target, body):
    if target == "/_control/route":
        route = json.loads(body)
        routes[route["path"]] = route
    elif target == "/_control/names":
        names.update({k: list(v) for k, v in json.loads(body).items()})
    elif target == "/_control/forget":
        seen.clear()
        asked.clear()
    elif target == "/_control/requests":
        return json.dumps(seen).encode()
    elif target == "/_control/asked":
        return json.dumps(asked).encode()
    return b"{}"


async def answer(target, method, headers, body, address):
    if target.startswith("/_control/"):
        return 200, {}, await answer_control(target, body), {}
    seen.append({"method": method, "target": target, "headers": headers,
                 "body": body.decode("latin-1"), "address": address})
    route = routes.get(target) or routes.get(target.partition("?")[0])
    if route is None:
        return 404, {}, b"nothing here", {}
    if "file" in route:
        with open(route["file"], "rb") as f:
            data = f.read()
    else:
        data = route.get("body", "").encode("latin-1")
    return route.get("status", 200), route.get("headers", {}), data, route


async def serve(reader, writer):
    address = writer.get_extra_info("sockname")[0]
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head[:-4].split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        status, more, data, route = await answer(target, method, headers,
                                                 body, address)
        text = "HTTP/1.1 %d Told\r\nConnection: close\r\n" % status
        text += "Content-Length: %d\r\n" % route.get("length", len(data))
        for name, value in more.items():
            text += "%s: %s\r\n" % (name, value)
        writer.write((text + "\r\n").encode("latin-1") + data)
        await writer.drain()
        if route.get("stall"):
            await reader.read()
    except (OSError, asyncio.IncompleteReadError):
        pass
    writer.close()


class Names(asyncio.DatagramProtocol):
    """RFC 1035: one question, answers of A and AAAA records with a TTL of 0 s."""

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, addr):
        at, labels = 12, []
        while data[at]:
            labels.append(data[at + 1:at + 1 + data[at]].decode().lower())
            at += 1 + data[at]
        kind = struct.unpack(">H", data[at + 1:at + 3])[0]
        name = ".".join(labels)
        told = names.get(name, [[]])
        if kind == 1:
            asked[name] = asked.get(name, 0) + 1
            now = told.pop(0) if len(told) > 1 else told[0]
        else:
            now = told[0]
        if now is None:
            return
        family = socket.AF_INET if kind == 1 else socket.AF_INET6
        records = b""
        count = 0
        for text in now:
            if (":" in text) != (kind == 28):
                continue
            packed = socket.inet_pton(family, text)
            records += struct.pack(">HHHIH", 0xc00c, kind, 1, 0, len(packed))
            records += packed
            count += 1
        code = 0 if now else 3
        self.transport.sendto(
            data[:2] + struct.pack(">HHHHH", 0x8180 | code, 1, count, 0, 0)
            + data[12:at + 5] + records, addr)


async def main():
    loop = asyncio.get_running_loop()
    most = 1 << 20      # bytes of a header
    port = 0
    while not port:
        one = await asyncio.start_server(serve, "127.0.0.1", 0, limit=most)
        port = one.sockets[0].getsockname()[1]
        try:
            await asyncio.start_server(serve, "127.0.0.2", port)
        except OSError:     # that address belongs to another host there
            one.close()
            port = 0
    ports = {"port": port, "tls": []}
    for i in range(1, len(sys.argv) - 1, 2):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[i], sys.argv[i + 1])
        two = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
        ports["tls"].append(two.sockets[0].getsockname()[1])
    transport, _ = await loop.create_datagram_endpoint(
        Names, local_addr=("127.0.0.1", 0))
    ports["dns"] = transport.get_extra_info("sockname")[1]
    print(json.dumps(ports), flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


asyncio.run(main())
