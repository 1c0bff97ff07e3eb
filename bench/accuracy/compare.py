"""One file, all addresses, three answers: what is equal and what is not."""

import collections
import random
import tempfile
import time

import addresses
import causes
import elf
import tools

SAMPLES = 3


def to_be_asked(wanted, differing, votes, seed):
    """Addresses for eu-addr2line, which takes milliseconds for one: some of
    those where we differ from llvm-symbolizer, and as many of all."""
    chance = random.Random(seed)
    return (set(chance.sample(differing, min(len(differing), votes // 2))),
            set(chance.sample(wanted, min(len(wanted), votes // 2))))


def doubled(path):
    """eu-addr2line puts a relative compilation directory before paths that
    begin with it already: ./csu/./csu/a.c."""
    parts = causes.normal(path).split("/")
    for n in range(1, len(parts) // 2 + 1):
        if parts[:n] == parts[n:2 * n]:
            return "/".join(parts[n:])
    return "/".join(parts)


def single(chain):
    return [(name, doubled(file), line) for name, file, line in chain]


def same_places(ours, elfutils):
    """As deep, and at each depth the same line; none is as good as nothing."""
    return causes.same_lines(single(ours), single(elfutils))


def agree(ours, elfutils):
    return (causes.same_functions(ours, elfutils)
            and same_places(ours, elfutils))


def sample(result, kind, address, ours, theirs):
    samples = result["samples"][kind]
    if len(samples) < SAMPLES:
        samples.append((hex(address), ours, theirs))


class At:
    """What the file says of one address."""

    def __init__(self, address, claims, beyond):
        self.claims = lambda: claims(address)
        self.is_beyond = lambda name: beyond(name, address)


def count(result, wanted, ours, llvm, path):
    """Against llvm-symbolizer; gives the addresses that differ."""
    differing = {}
    claims, beyond = elf.claims(path), elf.beyond(path)
    for address, a, b in zip(wanted, ours, llvm):
        why = causes.causes(a, b, At(address, claims, beyond))
        result["functions"] += causes.same_functions(a, b)
        result["lines"] += causes.same_lines(a, b)
        result["equal"] += why == set()
        if why == set():
            continue
        kind = "not explained" if why is None else ", ".join(sorted(why))
        result["differences"][kind] += 1
        differing[address] = kind
        sample(result, kind, address, a, b)
    return differing


def vote(result, ours, llvm, elfutils, differing):
    """Whom does eu-addr2line side with where we differ?"""
    for address in differing.keys() & elfutils.keys():
        a, b, c = ours[address], llvm[address], elfutils[address]
        side = "ours" if agree(a, c) else "llvm" if agree(b, c) else "neither"
        result["votes"][differing[address] + ": " + side] += 1


def count_elfutils(result, ours, llvm, elfutils, some):
    """Against eu-addr2line, at addresses that were chosen by chance."""
    for address in some:
        a, b, c = ours[address], llvm[address], elfutils[address]
        result["asked"] += 1
        if agree(a, c):
            result["elfutils"]["equal"] += 1
        elif same_places(a, c):
            result["elfutils"]["named otherwise"] += 1
        elif causes.same_functions(a, b) and causes.same_lines(a, b):
            result["elfutils"]["eu-addr2line alone"] += 1
            sample(result, "eu-addr2line alone", address, a, c)
        elif same_places(b, c):
            result["elfutils"]["as llvm-symbolizer"] += 1
        else:
            result["elfutils"]["each its own"] += 1


def compare(name, path, options):
    result = {"name": name, "functions": 0, "lines": 0, "equal": 0, "asked": 0,
              "seconds": {}, "differences": collections.Counter(),
              "votes": collections.Counter(),
              "elfutils": collections.Counter(),
              "samples": collections.defaultdict(list)}
    wanted = addresses.of_file(elf.symbols(path),
                               elf.executable_sections(path),
                               options.random, options.seed)
    answers = {}

    def timed(who, ask):
        started = time.time()
        answers[who] = list(ask())
        result["seconds"][who] = round(time.time() - started, 1)

    with tempfile.TemporaryDirectory() as folder:
        store = folder + "/store"
        module = tools.load(options.loader, store, path)
        timed("ours", lambda: tools.ours(options.loader, store, module,
                                         elf.image_base(path), wanted))
    timed("llvm", lambda: tools.llvm(options.symbolizer, path, wanted))
    if not len(wanted) == len(answers["ours"]) == len(answers["llvm"]):
        raise SystemExit("accuracy: %s: %d addresses, %d and %d answers" % (
            name, len(wanted), len(answers["ours"]), len(answers["llvm"])))

    differing = count(result, wanted, answers["ours"], answers["llvm"],
                      path)
    result["addresses"] = len(wanted)

    disputed, some = to_be_asked(wanted, sorted(differing), options.votes,
                                 options.seed)
    asked = sorted(disputed | some)
    timed("elfutils", lambda: tools.elfutils(path, asked))
    if len(answers["elfutils"]) != len(asked):
        raise SystemExit("accuracy: %s: eu-addr2line gave %d answers of %d" % (
            name, len(answers["elfutils"]), len(asked)))

    ours = dict(zip(wanted, answers["ours"]))
    llvm = dict(zip(wanted, answers["llvm"]))
    elfutils = dict(zip(asked, answers["elfutils"]))
    vote(result, ours, llvm, elfutils, differing)
    count_elfutils(result, ours, llvm, elfutils, sorted(some))
    return result
