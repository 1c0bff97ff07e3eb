"""Compares three answers for all addresses of a file."""

import collections
import random
import tempfile
import time

import addresses
import causes
import elf
import macho
import tools

SAMPLES = 3


def to_be_asked(wanted, differing, votes, seed):
    """Addresses for eu-addr2line, which takes milliseconds for each: some of
    those at which we differ from llvm-symbolizer, and as many random ones."""
    chance = random.Random(seed)
    return (set(chance.sample(differing, min(len(differing), votes // 2))),
            set(chance.sample(wanted, min(len(wanted), votes // 2))))


def doubled(path):
    """eu-addr2line prepends a relative compilation directory to paths that
    already begin with it: ./csu/./csu/a.c."""
    parts = causes.normal(path).split("/")
    for n in range(1, len(parts) // 2 + 1):
        if parts[:n] == parts[n:2 * n]:
            return "/".join(parts[n:])
    return "/".join(parts)


def single(chain):
    return [(name, doubled(file), line) for name, file, line in chain]


def same_places(ours, elfutils):
    """Same depth, and the same line at each depth; no line equals an empty one."""
    return causes.same_lines(single(ours), single(elfutils))


def agree(ours, elfutils):
    return (causes.same_functions(ours, elfutils)
            and same_places(ours, elfutils))


def sample(result, kind, address, ours, theirs):
    samples = result["samples"][kind]
    if len(samples) < SAMPLES:
        samples.append((hex(address), ours, theirs))


class Module:
    """path is the file that we load; alone is the file, or its slice, that the
    other tools read."""

    def __init__(self, name, path, alone, debug_id, tables):
        self.name, self.path, self.alone = name, path, alone
        self.debug_id, self.tables = debug_id, tables
        self.facts = tables.Facts(alone)


def modules(name, path, folder):
    if not macho.is_one(path):
        yield Module(name, path, path, None, elf)
        return
    for alone in macho.slices(path, folder):
        arch, debug_id = macho.identity(alone)
        yield Module("%s, %s" % (name, arch), path, alone, debug_id, macho)


def count(result, wanted, ours, llvm, facts):
    """Compares with llvm-symbolizer; returns the addresses that differ."""
    differing = {}
    for address, a, b in zip(wanted, ours, llvm):
        why = causes.causes(a, b, address, facts)
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


def count_shown(result, wanted, ours, atos, facts):
    """The output of `symloader atos` must follow atos's rule, where the rule is
    known."""
    for address, a, shown in zip(wanted, ours, atos):
        rule = facts.statement(address)
        if rule is None:
            continue
        shown, rule = causes.place(("", *shown)), causes.place(("", *rule))
        result["atos"] += a != [] and causes.place(a[0]) != shown
        if shown != rule:
            result["differences"]["not explained"] += 1
            sample(result, "not explained", address, shown, rule)


def vote(result, ours, llvm, elfutils, differing):
    """Which reader does eu-addr2line agree with where we differ?"""
    for address in differing.keys() & elfutils.keys():
        a, b, c = ours[address], llvm[address], elfutils[address]
        side = "ours" if agree(a, c) else "llvm" if agree(b, c) else "neither"
        result["votes"][differing[address] + ": " + side] += 1


def count_elfutils(result, ours, llvm, elfutils, some):
    """Compares with eu-addr2line, at random addresses."""
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


def ask_us_and_llvm(module, wanted, timed, options, folder):
    store = folder + "/store"
    key = tools.load(options.loader, store, module.path, module.debug_id)
    timed("ours", lambda: tools.ours(options.loader, store, key,
                                     module.tables.image_base(module.alone),
                                     wanted))
    timed("llvm", lambda: tools.llvm(options.symbolizer, module.alone, wanted))
    if module.tables is macho:
        timed("atos", lambda: tools.atos(options.loader, store, key, wanted))


def judge_by_elfutils(result, module, wanted, answers, timed, options,
                      differing):
    disputed, some = to_be_asked(wanted, sorted(differing), options.votes,
                                 options.seed)
    asked = sorted(disputed | some)
    timed("elfutils", lambda: tools.elfutils(module.alone, asked))
    if len(answers["elfutils"]) != len(asked):
        raise SystemExit("accuracy: %s: eu-addr2line gave %d answers of %d" % (
            module.name, len(answers["elfutils"]), len(asked)))

    ours = dict(zip(wanted, answers["ours"]))
    llvm = dict(zip(wanted, answers["llvm"]))
    elfutils = dict(zip(asked, answers["elfutils"]))
    vote(result, ours, llvm, elfutils, differing)
    count_elfutils(result, ours, llvm, elfutils, sorted(some))


def compare_module(module, options, folder):
    tables, answers = module.tables, {}
    wanted = addresses.of_file(tables.symbols(module.alone),
                               tables.executable_sections(module.alone),
                               options.random, options.seed)
    result = {"name": module.name, "addresses": len(wanted), "functions": 0,
              "lines": 0, "equal": 0, "asked": 0, "atos": 0, "seconds": {},
              "differences": collections.Counter(),
              "votes": collections.Counter(),
              "elfutils": collections.Counter(),
              "samples": collections.defaultdict(list)}

    def timed(who, ask):
        started = time.time()
        answers[who] = list(ask())
        result["seconds"][who] = round(time.time() - started, 1)

    ask_us_and_llvm(module, wanted, timed, options, folder)
    for who, given in answers.items():
        if len(given) != len(wanted):
            raise SystemExit("accuracy: %s: %d addresses, %d answers of %s" % (
                module.name, len(wanted), len(given), who))

    differing = count(result, wanted, answers["ours"], answers["llvm"],
                      module.facts)
    if tables is macho:
        count_shown(result, wanted, answers["ours"], answers["atos"],
                    module.facts)
    if tables is elf:  # all that eu-addr2line can read
        judge_by_elfutils(result, module, wanted, answers, timed, options,
                          differing)
    return result


def compare(name, path, options):
    """One result for each module in the file."""
    with tempfile.TemporaryDirectory() as folder:
        for module in modules(name, path, folder):
            with tempfile.TemporaryDirectory() as own:
                yield compare_module(module, options, own)
