"""source - a symbol server that misbehaves by plan, and records how.

The response to the n-th request for a module follows from the seed, the module
and n alone.  The judge reads its records: an answer may only lack modules that
this source has denied.  The behaviours themselves are those of fault_server.py.
"""

import asyncio
import random
import time

import fault_server

READY, ABSENT, MALFORMED, FAILED = "ready", "absent", "malformed", "failed"

CUT = r"the body was cut short"
NOTHING = r"no connection|no answer in HTTP"
SLOW = r"timeout|the body was cut short"

# proxy_read_timeout of SymChaos.pm
READ_S = 2

# name: prefix of fault_server.py before the file's path, outcome, and for
# failures the reason that clients get.  V is the module's current version; RATE
# takes some seconds for the whole file.
BEHAVIOURS = {
    "ok": ("ok/V", READY, None),
    "chunked": ("chunked/V", READY, None),
    "close": ("close/V", READY, None),
    "gzip": ("gzip/V", READY, None),
    "gzipbare": ("gzipbare/V", READY, None),
    "long": ("long/100/V", READY, None),
    "drip": ("drip/RATE/V", READY, None),
    "gone": ("status/404", ABSENT, None),
    "removed": ("status/410", ABSENT, None),
    "forbidden": ("status/403", ABSENT, None),
    "empty": ("ok/empty", MALFORMED, None),
    "nothing": ("status/204", ABSENT, None),
    "request": ("status/400", ABSENT, None),
    "redirect": ("redirect/302/ok/V", ABSENT, None),
    "garbage": ("ok/garbage", MALFORMED, None),
    "page": ("ok/page", MALFORMED, None),
    "bent": ("ok/bent", MALFORMED, None),
    "cutgzip": ("ok/cutgzip", MALFORMED, None),
    "other": ("chunked/other", MALFORMED, None),
    "error": ("status/500", FAILED, "it answered with an error: 500"),
    "busy": ("status/503", FAILED, "it answered with an error: 503"),
    "hangup": ("hangup", FAILED, NOTHING),
    "reset": ("reset/none", FAILED, NOTHING),
    "nohttp": ("garbage", FAILED, NOTHING),
    "blackhole": ("blackhole", FAILED, "timeout"),
    "cut": ("reset/200/V", FAILED, CUT),
    "short": ("short/20/V", FAILED, CUT),
    "chunkcut": ("chunkcut/200/V", FAILED, CUT),
    "stall": ("stall/200/V", FAILED, SLOW),
}


class Fetch:
    """One request to the source.  Times are of time.monotonic()."""

    def __init__(self, name, outcome, reason):
        self.name, self.outcome, self.reason = name, outcome, reason
        self.begin = time.monotonic()
        self.end = None

    def __repr__(self):
        return "%s %.3f-%s" % (self.name, self.begin,
                               "%.3f" % self.end if self.end else "")


class Source(fault_server.Server):
    """mix: {behaviour: weight}; {}: no faults."""

    def __init__(self, folder, name):
        super().__init__(folder)
        self.name = name
        self.modules = {}  # path => Module
        self.log = {}  # module => [Fetch]
        self.tell("", {})

    def tell(self, seed, mix):
        self.seed = seed
        self.names, self.weights = list(mix), list(mix.values())
        self.counts = {}

    def add(self, module):
        self.modules[module.path] = module

    def forget(self, module):
        del self.modules[module.path]
        self.log.pop(module, None)

    def choose(self, module):
        n = self.counts[module] = self.counts.get(module, 0) + 1
        if not self.names:
            return "ok"
        plan = random.Random("%s/%s/%s/%d" % (
            self.seed, self.name, module.key, n))
        return plan.choices(self.names, self.weights)[0]

    async def answer(self, connection, request):
        path = request.path.partition(self.name + "/")[2]
        module = self.modules.get(path)
        if module is None:
            await fault_server.Answer(self, connection, request).error(404)
            return
        name = self.choose(module)
        way, outcome, reason = BEHAVIOURS[name]
        way = way.replace("RATE", "%d" % (6000 + module.padding / 2))
        way = way.replace("V", "v%d" % module.versions)
        fetch = Fetch(name, outcome, reason)
        self.log.setdefault(module, []).append(fetch)
        try:
            answer = fault_server.Answer(self, connection, request)
            await answer.run(way + "/" + path)
        except asyncio.CancelledError:
            # nginx has left; it may, if this machine was slow
            if outcome == READY and time.monotonic() - fetch.begin > READ_S:
                fetch.outcome, fetch.reason = FAILED, SLOW
            raise
        finally:
            fetch.end = time.monotonic()

    def used(self):
        """{behaviour: how often}"""
        counts = {}
        for fetches in self.log.values():
            for fetch in fetches:
                counts[fetch.name] = counts.get(fetch.name, 0) + 1
        return counts

    async def until_idle(self, seconds):
        """Whether it gets no more requests."""
        try:
            await asyncio.wait_for(self.stats.wait(None, "now", 0), seconds)
        except asyncio.TimeoutError:
            return False
        return True
