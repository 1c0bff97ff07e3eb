"""judge - finds the errors of each answer.

A module's frames must be those of the oracle, for a version that the source
could have had; a missing answer must have been denied by the source, or caused
by a process that was in fact killed.  All times are time.monotonic().
"""

import collections
import re

from chaos.source import ABSENT, FAILED, MALFORMED

NO_LOADER = re.compile("symbol loader")
# workers that get no processor time pin the free pages of a small store
# (docs/use/operations.md)
MAP_FULL = re.compile("the store's map is full")
# a worker retries the connection to a lost loader every 0.1 to 5 seconds
RECONNECTS_S = 5


class World:
    """Events that excuse answers.  slack_s: how late a slow machine may be."""

    def __init__(self, ttl_s, budget_s, slack_s):
        self.ttl_s, self.budget_s, self.slack_s = ttl_s, budget_s, slack_s
        self.source = None
        self.loader_down = []  # [begin, end]; end None: it is still down
        self.workers_killed = []  # the same
        self.forgotten = {}  # module => [[sent, done]]; done None: unknown
        self.can_evict = False
        self.current = {}  # module => [begin of version 1, of version 2, ..]

    @staticmethod
    def overlaps(spans, begin, end, after=0):
        return any(s[0] <= end and (s[1] is None or s[1] + after >= begin)
                   for s in spans)

    def lost_loader(self, begin, end):
        return self.overlaps(self.loader_down, begin, end,
                             RECONNECTS_S + self.slack_s)

    def lost_worker(self, begin, end):
        return self.overlaps(self.workers_killed, begin, end, self.slack_s)

    def forgotten_at(self, module, begin):
        """When the last completed order to forget it was given."""
        return max((sent for sent, done in self.forgotten.get(module, ())
                    if done and done <= begin), default=float("-inf"))

    def may_go(self, module, begin, end):
        """Whether its record may have left the store meanwhile: by the quota,
        by an order, or by expiry."""
        return self.can_evict or self.overlaps(
            self.forgotten.get(module, ()), begin, end) or self.fetches(
                module, (ABSENT, MALFORMED, FAILED), begin, end)

    def versions(self, module, begin, end):
        """Versions that may be in an answer."""
        since = self.forgotten_at(module, begin)
        starts = self.current[module]
        return [n + 1 for n, start in enumerate(starts) if start <= end
                and (n + 1 == len(starts) or starts[n + 1] >= since)]

    def fetches(self, module, outcomes, begin, end):
        """Those whose outcome may be in an answer."""
        since = self.forgotten_at(module, begin)
        return [f for f in self.source.log.get(module, ())
                if f.outcome in outcomes and since <= f.begin <= end
                and (f.end is None or f.end + self.ttl_s[f.outcome]
                     + self.slack_s >= begin)]


class Question:
    """frames: [(module, address)] of one job, split into stacks by `cuts`."""

    def __init__(self, frames, api="v5", partial=False, budget_s=None,
                 order=None):
        self.frames, self.api, self.partial = frames, api, partial
        self.budget_s = budget_s
        self.modules = order or list(dict.fromkeys(m for m, _ in frames))

    def json(self):
        job = {"memoryMap": [[m.name, m.id] for m in self.modules],
               "stacks": [[[self.modules.index(m), a]
                           for m, a in self.frames]]}
        return job if self.api == "v4" else {"jobs": [job]}


def place(answer):
    out = {}
    if answer["file"] is not None:
        out["file"] = answer["file"]
    if answer["line"] is not None:
        out["line"] = answer["line"]
    return out


def v5_frame(n, module, address, version):
    frame = {"frame": n, "module": module.name, "module_offset": hex(address)}
    answer = module.answer(version, address) if version else None
    if answer and answer["function"] is not None:
        frame["function"] = answer["function"]
        frame["function_offset"] = hex(address - answer["function_addr"])
        frame.update(place(answer))
        calls = [dict(function=c["function"], **place(c))
                 for c in answer["inlines"]]
        if calls:
            frame["inlines"] = calls
    return frame


def v4_frame(_, module, address, version):
    answer = module.answer(version, address) if version else None
    name = answer["function"] if answer else None
    return "%s (in %s)" % (hex(address) if name is None else name, module.name)


class Judge:
    def __init__(self, world):
        self.world = world
        self.counts = collections.Counter()

    def judge(self, question, response, begin, end):
        """Its errors, as a list of sentences."""
        if response.status == 200:
            wrong = self.answered(question, response, begin, end)
        elif response.status == 503:
            wrong = self.refused(question, response, begin, end)
        else:
            wrong = ["status %d" % response.status]
        if not wrong:
            self.counts["status %d" % response.status] += 1
        return wrong

    def broken(self, why, begin, end):
        """A connection that ended without an answer."""
        self.counts["broken"] += 1
        if self.world.lost_worker(begin, end):
            return []
        return ["no answer: %s" % why]

    def answered(self, question, response, begin, end):
        try:
            states, frames = self.read(question, response.json)
        except (KeyError, TypeError, IndexError, ValueError) as error:
            return ["unexpected form: %r" % error]
        if len(frames) != len(question.frames):
            return ["%d frames of %d" % (len(frames), len(question.frames))]
        if len(states) != len(question.modules):
            return ["%d modules of %d" % (len(states), len(question.modules))]

        wrong = []
        by_module = {m: [] for m in question.modules}
        for n, (module, address) in enumerate(question.frames):
            by_module[module].append((n, address))
        can_retry = "retry-after" in response.headers
        for module, state in zip(question.modules, states):
            asked = by_module[module]
            why = self.state(question, module, state, can_retry, begin, end)
            if not why:
                why = self.frames(question, module, state, asked, frames,
                                  begin, end)
            wrong += ["%s: %s" % (module.key, w) for w in why]
            self.counts["%s" % state] += not why
        return wrong

    @staticmethod
    def read(question, answer):
        """A state for each module, and the frames."""
        if question.api == "v4":
            states, (frames,) = (answer["knownModules"],
                                 answer["symbolicatedStacks"])
            return states, frames
        (result,), = answer.values()
        (frames,), found = result["stacks"], result["found_modules"]
        return [found[m.key] for m in question.modules], frames

    def state(self, question, module, state, can_retry, begin, end):
        if state is True:
            return []
        if state is None:
            budget_s = question.budget_s or self.world.budget_s
            if not can_retry:
                return ["pending without Retry-After"]
            # a module that is evicted again and again is not waited for
            if end - begin < 0.8 * budget_s and not self.world.may_go(
                    module, begin, end):
                return ["pending after %.3f s of %.1f" % (
                    end - begin, budget_s)]
            return []
        if state is False:
            denied = self.world.fetches(module, (ABSENT, MALFORMED), begin, end)
            if denied:
                return []
            if question.partial and can_retry and (
                    self.world.lost_loader(begin, end)
                    or self.world.fetches(module, (FAILED,), begin, end)):
                return []
            return ["false, but the source has it"]
        return ["its state is %r" % state]

    def frames(self, question, module, state, asked, frames, begin, end):
        of = v4_frame if question.api == "v4" else v5_frame
        if state is True:
            candidates = self.world.versions(module, begin, end)
        else:
            candidates = [None]
        worst = []
        for version in candidates:
            worst = ["version %s, address %x: want %r, got %r" % (
                version, a, of(n, module, a, version), frames[n])
                for n, a in asked if frames[n] != of(n, module, a, version)]
            if not worst:
                self.counts["frames"] += len(asked)
                self.counts["names"] += sum(
                    "function" in frames[n] for n, _ in asked
                    if question.api == "v5")
                return []
        if state is True and module.versions and len(worst) == len(asked):
            for version in range(1, module.versions + 1):
                if all(frames[n] == of(n, module, a, version)
                       for n, a in asked):
                    return ["it is version %d, which was forgotten; %s" % (
                        version, candidates)]
        return worst[:2]

    def refused(self, question, response, begin, end):
        """A 503 must name modules of this request, and a reason that is true."""
        listed = (response.json or {}).get("modules")
        if not listed:
            return ["503: %s" % response.body[:300]]
        if question.partial:
            return ["503 where partial answers are requested"]
        wrong = []
        asked = {(m.name, m.id): m for m in question.modules}
        for entry in listed:
            module = asked.get((entry["debug_file"], entry["debug_id"]))
            if module is None:
                wrong.append("503 names %r, which was not requested" % entry)
            elif not self.excuses(module, entry["reason"], begin, end):
                wrong.append("%s: 503, %s" % (module.key, entry["reason"]))
        if "retry-after" not in response.headers:
            wrong.append("503 without Retry-After")
        return wrong

    def excuses(self, module, reason, begin, end):
        if NO_LOADER.search(reason):
            self.counts["no loader"] += 1
            return self.world.lost_loader(begin, end)
        if MAP_FULL.search(reason):
            self.counts["map full"] += 1
            return self.world.can_evict
        name = 'source "%s": ' % self.world.source.name
        if not reason.startswith(name):
            return False
        self.counts["failed"] += 1
        return any(re.search(f.reason, reason[len(name):]) for f in
                   self.world.fetches(module, (FAILED,), begin, end))
