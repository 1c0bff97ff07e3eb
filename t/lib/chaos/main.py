#!/usr/bin/env python3
"""main - one chaos test: a hostile source, clients of all kinds, and a judge of
every answer.  SymChaos.pm starts it, and carries out its orders on nginx and
the loader.

    main.py PLAN        PLAN: a JSON object, see DEFAULTS

It prints {"port": N} when the source listens, waits for {"nginx": PORT}, and
then prints orders, each answered by a line:

    {"do": "kill_worker", "which": 0.7}     see SymChaos.pm
    {"do": "calm", ...}                     a round is over: time to measure
    {"do": "end", "wrong": [...], ...}      the last one

Requests, the behaviour of the source and all events follow from the seed; only
their exact timing depends on the machine.
"""

import asyncio
import json
import os
import random
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from chaos import client as http  # noqa: E402
from chaos.judge import Judge, Question, World  # noqa: E402
from chaos.modules import Module, spoil  # noqa: E402
from chaos.source import Source  # noqa: E402

DEFAULTS = {
    "folder": None,         # for symbol files
    "seed": 1,
    "seconds": 10,          # of a round
    "total_s": 10,          # seconds that rounds go on
    "clients": 8,
    "known": 10,            # modules without events, stored at first
    "modules": 60,          # others, new in each round
    "padding": [0],         # bytes of symbols in a module, one of these
    "most": 8,              # modules in a request
    "frames": 12,           # frames of a module in a request, at most
    "mix": {},              # behaviours of the source, by weight
    "manners": {"ask": 1},  # kinds of clients, by weight
    "can_evict": False,     # the quota is smaller than the requested modules
    "events": {},           # events: how often in a round
    "ttl_s": {"absent": 2, "malformed": 2, "failed": 1.25},
    "budget_s": 8,
    "slack_s": 5,           # how late the machine may be
    "calm_s": 60,           # how soon everything must be normal again
}

WRONG_MOST = 2  # failures of a kind that are printed completely
KIND = re.compile("[0-9]+|'[^']*'")  # ignored when failures are grouped


class Told:
    """Lines of JSON to and from the test."""

    def __init__(self, reader):
        self.reader, self.lock = reader, asyncio.Lock()

    async def line(self):
        line = await self.reader.readline()
        if not line:
            os._exit(1)  # the test has died
        return json.loads(line)

    async def ask(self, order, spans=None):
        """The answer; the time of the order is added to spans."""
        async with self.lock:
            span = [time.monotonic(), None]
            if spans is not None:
                spans.append(span)
            print(json.dumps(order), flush=True)
            answer = await self.line()
            span[1] = time.monotonic()
            return answer


class Chaos:
    def __init__(self, plan, told, source):
        self.plan, self.told, self.source = plan, told, source
        self.world = World(plan["ttl_s"], plan["budget_s"], plan["slack_s"])
        self.world.source = source
        self.world.can_evict = plan["can_evict"]
        self.judge = Judge(self.world)
        self.client = None
        self.known, self.others = [], []
        self.made = 0
        self.is_over = False
        self.begin = time.monotonic()
        self.seed = ""
        self.locks = {}
        self.by_hand = set()  # modules that are stored as loaded by hand
        self.wrong, self.wrong_of = [], {}
        self.happened = []
        self.waits = []  # seconds between small requests for stored modules
        self.done = {}  # event => how often

    # --- modules ---

    def make(self, name, source):
        self.made += 1
        module = Module(self.seed, name, self.made,
                        source.choice(self.plan["padding"]))
        module.publish(self.plan["folder"])
        self.world.current[module] = [time.monotonic()]
        self.source.add(module)
        return module

    def make_others(self, n):
        source = random.Random(self.seed + "/modules")
        for module in self.others:
            self.source.forget(module)
            for of in (self.world.forgotten, self.world.current, self.locks):
                of.pop(module, None)
        self.by_hand.clear()
        self.others = [self.make("r%d_m%d.so" % (n, i), source)
                       for i in range(self.plan["modules"])]
        for module in self.others:
            spoil(self.plan["folder"], module, self.known[0])

    # --- questions ---

    def question(self, source, most=None):
        modules = source.sample(self.others + self.known, source.randint(
            1, min(most or self.plan["most"],
                   len(self.others) + len(self.known))))
        frames = [(m, m.address(source)) for m in modules
                  for _ in range(source.randint(1, self.plan["frames"]))]
        source.shuffle(frames)
        source.shuffle(modules)
        return Question(frames, order=modules,
                        api="v4" if source.random() < 0.15 else "v5",
                        partial=source.random() < 0.2)

    async def ask(self, question, headers=(), pace=0, pack=False):
        """Sends a request and judges the answer; returns whether it was right
        and complete."""
        path = "/%s/%s" % ("partial" if question.partial else "symbolicate",
                           question.api)
        begin = time.monotonic()
        response = None
        try:
            response = await self.client.ask(http.post(
                path, question.json(), headers, pack), pace)
            wrong = self.judge.judge(question, response, begin,
                                     time.monotonic())
        except http.Broken as error:
            wrong = self.judge.broken(error, begin, time.monotonic())
        if wrong:
            self.tell_wrong(wrong, begin, question, response)
        return response, not wrong

    def tell_wrong(self, wrong, begin, question=None, response=None):
        kind = KIND.sub("", wrong[0])[:60]
        self.wrong_of[kind] = self.wrong_of.get(kind, 0) + 1
        if self.wrong_of[kind] > WRONG_MOST:
            return
        case = {"seed": self.seed, "began": round(begin, 3), "now": round(time.monotonic(), 3),
                "happened": self.happened[-30:],
                "wrong": wrong[:5]}
        if question:
            case["request"] = json.dumps(question.json())[:3000]
            case["source"] = {m.key: repr(self.source.log.get(m, []))[-500:]
                              for m in question.modules
                              if any(m.key in w for w in wrong)}
        if response:
            case["status"] = response.status
            case["answer"] = response.body.decode("utf-8", "replace")[:3000]
        self.wrong.append(case)

    # --- kinds of clients ---

    async def do_ask(self, source):
        await self.ask(self.question(source))

    async def do_pack(self, source):
        await self.ask(self.question(source), pack=True)

    async def do_hurry(self, source):
        question = self.question(source)
        question.budget_s = 0.2 + source.random()
        await self.ask(question, [("X-Symbolicate-Budget", "%dms" % (
            question.budget_s * 1000))])

    async def do_many(self, source):
        await self.ask(self.question(source, len(self.others)))

    async def do_slow(self, source):
        await self.ask(self.question(source), pace=source.random() / 20)

    def request(self, source):
        return http.post("/symbolicate/v5", self.question(
            source, len(self.others)).json())

    async def do_leave(self, source):
        await self.client.leave(self.request(source), 1, source.random())

    async def do_half(self, source):
        await self.client.leave(self.request(source), source.random(),
                                source.random())

    async def do_mute(self, source):
        await self.client.leave(self.request(source), 1, 3 * source.random(),
                                reads=True)

    async def run_client(self, n):
        source = random.Random("%s/client/%d" % (self.seed, n))
        names = list(self.plan["manners"])
        weights = list(self.plan["manners"].values())
        while not self.is_over:
            name, = source.choices(names, weights)
            await getattr(self, "do_" + name)(source)

    async def run_probe(self):
        """A small request for stored modules, again and again."""
        source = random.Random(self.seed + "/probe")
        while not self.is_over:
            module = source.choice(self.known[:2])
            begin = time.monotonic()
            await self.ask(Question([(module, module.address(source))]))
            self.waits.append(time.monotonic() - begin)
            await asyncio.sleep(0.2)

    # --- events ---

    async def on_kill_worker(self, source):
        await self.told.ask({"do": "kill_worker", "which": source.random()},
                            self.world.workers_killed)

    async def kill_loader(self, signal, down_s):
        await self.told.ask({"do": "kill_loader", "signal": signal,
                             "down_s": down_s}, self.world.loader_down)

    async def on_kill_loader(self, source):
        await self.kill_loader("KILL", source.choice([0, 0.3, 1]))

    async def on_stop_loader(self, source):
        await self.kill_loader("TERM", source.choice([0, 0.3]))

    async def on_reload(self, _):
        await self.told.ask({"do": "reload", "times": 1})

    async def on_reload_twice(self, _):
        await self.told.ask({"do": "reload", "times": 2})

    async def on_reload_lost(self, _):
        """A reload, and the loader dies while old workers exit."""
        await self.told.ask({"do": "reload", "times": 1})
        await self.kill_loader("KILL", 0.2)

    def lock(self, module):
        return self.locks.setdefault(module, asyncio.Lock())

    async def on_load(self, source):
        module = source.choice(self.others)
        async with self.lock(module):
            self.by_hand.add(module)
            await self.told.ask({"do": "load", "file": os.path.join(
                self.plan["folder"], "v%d" % module.versions, module.path)})

    async def on_forget(self, source):
        module = source.choice(self.others)
        async with self.lock(module):
            await self.forget(module, source)

    async def on_publish(self, source):
        """The source gets another file, and the holders of the old one are
        notified."""
        module = source.choice(self.others)
        async with self.lock(module):
            module.publish(self.plan["folder"])
            self.world.current[module].append(time.monotonic())
            await self.forget(module, source)

    async def forget(self, module, source):
        # a command takes a second; an event is about sources, and does not
        # affect modules loaded by hand
        way, = source.choices([self.by_delete, self.by_event, self.by_rm],
                              [6, 0 if module in self.by_hand else 6, 1])
        begin = time.monotonic()
        while time.monotonic() - begin < self.plan["calm_s"]:
            span = [time.monotonic(), None]
            self.world.forgotten.setdefault(module, []).append(span)
            if await way(module):
                span[1] = time.monotonic()
                self.by_hand.discard(module)
                self.tell_event("%s is forgotten" % module.name)
                return
            await asyncio.sleep(0.2)  # the loader is away
        self.tell_wrong(["%s cannot be forgotten" % module.key], begin)

    async def order(self, data):
        """Whether nginx has done it; if not, it is refused for now."""
        begin = time.monotonic()
        try:
            response = await self.client.ask(data)
        except http.Broken as error:
            wrong = self.judge.broken(error, begin, time.monotonic())
            if wrong:
                self.tell_wrong(wrong, begin)
            return False
        if response.status == 503 and self.world.lost_loader(
                begin, time.monotonic()):
            return False
        if response.status != 200:
            self.tell_wrong(["order: status %d" % response.status], begin,
                            response=response)
        return response.status == 200

    async def by_delete(self, module):
        return await self.order(http.text("DELETE", "/admin/cache/" +
                                          module.key))

    async def by_event(self, module):
        return await self.order(http.post("/admin/events", {"Records": [
            {"eventName": "ObjectCreated:Put", "s3": {
                "bucket": {"name": "b"}, "object": {"key": module.path}}}]}))

    async def by_rm(self, module):
        return (await self.told.ask({"do": "rm", "key": module.key}))["ok"]

    async def run_event(self, name, at, seed):
        left = self.begin + at - time.monotonic()
        if left > 0:
            await asyncio.sleep(left)
        if not self.is_over:
            await getattr(self, "on_" + name)(random.Random(seed))
            self.tell_event(name)
            self.done[name] = self.done.get(name, 0) + 1

    def tell_event(self, what):
        self.happened.append("%.3f %s" % (time.monotonic(), what))

    def events(self):
        """All events of the round, each at its time."""
        source = random.Random(self.seed + "/events")
        return [self.run_event(
            name, source.uniform(0.02, 0.95) * self.plan["seconds"],
            "%s/%s/%d" % (self.seed, name, n))
            for name, count in self.plan["events"].items()
            for n in range(count)]

    # --- a round ---

    async def run_until_over(self):
        tasks = [asyncio.ensure_future(t) for t in
                 [self.run_client(n) for n in range(self.plan["clients"])]
                 + [self.run_probe()] + self.events()]
        done, _ = await asyncio.wait(tasks, timeout=self.plan["seconds"],
                                     return_when=asyncio.FIRST_EXCEPTION)
        self.is_over = True
        for task in done:
            task.result()
        await asyncio.gather(*tasks)

    async def all_are_well(self):
        """Requests everything until nothing is missing; seconds it took."""
        begin = time.monotonic()
        source = random.Random(self.seed + "/calm")
        missing = self.known + self.others
        while True:
            left = []
            for at in range(0, len(missing), 20):
                some = missing[at:at + 20]
                response, is_right = await self.ask(Question(
                    [(m, m.address(source)) for m in some], partial=True))
                found = response.json["results"][0]["found_modules"] \
                    if is_right and response else {}
                left += [m for m in some if found.get(m.key) is not True]
            if not left:
                return time.monotonic() - begin
            missing = left
            if time.monotonic() - begin > self.plan["calm_s"]:
                self.tell_wrong(["%d modules are still missing %d s after"
                                 % (len(left), self.plan["calm_s"])] + [
                                     "%s: %r" % (m.key,
                                                 self.source.log.get(m))
                                     for m in left[:5]], begin)
                return time.monotonic() - begin
            await asyncio.sleep(0.1)

    async def settle(self):
        calm_s = await self.all_are_well()
        if not await self.source.until_idle(self.plan["calm_s"]):
            self.tell_wrong(["the source still gets requests: %r" % [
                p for p, s in self.source.stats.paths.items() if s["now"]]],
                self.begin)
        self.source.stats.forget()
        return calm_s

    async def round(self, n):
        self.seed = "%s.%d" % (self.plan["seed"], n)
        self.begin = time.monotonic()
        self.make_others(n)
        self.source.tell(self.seed, self.plan["mix"])
        self.is_over, self.happened = False, []
        self.begin = time.monotonic()
        await self.run_until_over()
        used = self.source.used()
        self.source.tell(self.seed, {})
        calm_s = await self.settle()
        await self.told.ask({
            "do": "calm", "round": n, "calm_s": round(calm_s, 2),
            "used": used, "is_last": self.is_last()})

    def is_last(self):
        return bool(self.wrong) or time.monotonic() > self.end

    async def run(self):
        self.client = http.Client((await self.told.line())["nginx"])
        self.seed = "%s.known" % self.plan["seed"]
        source = random.Random(self.seed)
        self.known = [self.make("known%d.so" % i, source)
                      for i in range(self.plan["known"])]
        for module in self.known:
            spoil(self.plan["folder"], module, self.known[module is
                                                          self.known[0]])
        self.end = time.monotonic() + self.plan["total_s"]
        for _ in range(3):  # every worker gets one
            await asyncio.gather(*(self.settle() for _ in range(20)))
        await self.told.ask({"do": "begun"})
        n = 0
        while n == 0 or not self.is_last():
            n += 1
            await self.round(n)
        await self.told.ask({
            "do": "end", "wrong": self.wrong, "wrong_of": self.wrong_of,
            "counts": self.judge.counts, "done": self.done,
            "longest_wait_s": round(max(self.waits), 3)})


async def main():
    plan = dict(DEFAULTS)
    given = json.loads(sys.argv[1])
    unknown = set(given) - set(DEFAULTS)
    if unknown:
        sys.exit("no such setting: %s" % unknown)
    plan.update(given)

    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    source = Source(plan["folder"], "chaos")
    served = await asyncio.start_server(source.serve, "127.0.0.1", 0,
                                        backlog=2048)
    print(json.dumps({"port": served.sockets[0].getsockname()[1]}), flush=True)
    chaos = Chaos(plan, Told(reader), source)
    try:
        await chaos.run()
    except Exception:  # the traceback, and then nothing waits any more
        import traceback
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
