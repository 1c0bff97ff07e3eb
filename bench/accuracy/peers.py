"""Files of Windows, .NET and WebAssembly: our answers compared with those of
several readers, each of which has errors of its own."""

import collections
import glob
import os
import subprocess
import tempfile
import time

import addresses
import causes
import image
import names
import portable
import procedures
import tools
from sym_oracle import Symbols

SAMPLES = 3


def newest(name):
    """The demangled name from `llvm-undname-22` if installed, or the plain
    name."""
    found = glob.glob("/usr/bin/%s-[0-9]*" % name)
    return max(found, key=lambda path: int(path.rsplit("-", 1)[1]),
               default=name)


# --- the readers ---

def symbolic(peer, path, asked):
    out = subprocess.run([peer, "answers", path], stdout=subprocess.PIPE,
                         input="".join("%s\n" % a for a in asked).encode())
    for line in out.stdout.decode("utf-8", "replace").split("\n")[:-1]:
        field = line.split("\t")
        yield tools.chain([(name, file, int(number or 0)) for
                           name, file, number in zip(field[::3], field[1::3],
                                                     field[2::3])])




def frames(answer):
    """The answers of the tests' reader of .sym files."""
    return tools.chain([(f["function"] or "", f["file"] or "", f["line"] or 0)
                        for f in answer["inlines"] + [answer]])


# --- the files ---

class Native:
    """Answers of a PDB, a PE or a WASM module for addresses."""

    def __init__(self, path, options):
        self.path, self.options = path, options
        with open(path, "rb") as f:
            self.data = f.read()
        self.sym = self.procedures = None
        if image.is_pdb(self.data):
            done = subprocess.run([options.dump_syms, "--inlines", path],
                                  stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
            self.sym = Symbols(done.stdout)

    def sections(self):
        if image.is_wasm(self.data):
            return self.spans()  # between bodies are sizes, not code
        if image.is_pe(self.data):
            return list(image.pe_sections(self.data))
        return list(image.pdb_sections(newest("llvm-pdbutil"), self.path))

    def spans(self):
        if self.sym:
            return ([(f.start, f.end - f.start) for f in self.sym.funcs]
                    + [(start, 0) for start in self.sym.publics])
        if image.is_wasm(self.data):
            return list(image.wasm_functions(self.data))
        return symbols(self.path)

    def asked(self):
        return addresses.of_file(sorted(set(self.spans())), self.sections(),
                                 self.options.random, self.options.seed)

    def ours(self, store, key, asked):
        return tools.ours(self.options.loader, store, key, 0, asked)

    def oracles(self):
        file = image.of_pdb(self.path) if self.sym else self.path
        if file is not None:
            yield "llvm-symbolizer", lambda asked: self.llvm(file, asked)
        yield "symbolic", lambda asked: symbolic(
            self.options.peer, self.path, ["%x" % a for a in asked])
        if self.sym:
            yield "dump_syms", lambda asked: [frames(self.sym.answer(a))
                                              for a in asked]

    def llvm(self, file, asked):
        """It counts from a module's base only with an option, in WebAssembly
        from the code section; it finds a PDB next to its PE."""
        if image.is_wasm(self.data):
            base, _ = image.wasm_code(self.data)
            return tools.llvm(self.options.symbolizer, file,
                              [a - base for a in asked])
        return tools.llvm(self.options.symbolizer, file, asked,
                          "--relative-address")

    def here(self, address):
        """For a PDB: the facts of procedures.py about that code, and dump_syms'
        INLINE records for it."""
        if not self.sym:
            return causes.Here([], [])
        if not self.procedures:
            self.procedures = procedures.Procedures(newest("llvm-pdbutil"),
                                                    self.path)
        funcs = self.sym.covering(address)
        func = funcs and max(funcs, key=lambda f: self.sym.rank(f, address))
        return causes.Here(
            self.procedures.folded(address),
            sorted((i.depth, i.origin[0]) for i in func.inlines
                   if i.start <= address < i.end) if func else [])

    def show(self, address):
        return hex(address)


def symbols(path):
    """Symbols of a PE from llvm-nm; each reaches to the next."""
    base = next(int(line.split()[1], 16) for line in subprocess.run(
        [newest("llvm-readobj"), "--file-headers", path],
        stdout=subprocess.PIPE).stdout.decode().splitlines()
        if line.strip().startswith("ImageBase:"))
    starts = sorted({int(field[0], 16) - base for field in map(
        str.split, subprocess.run([newest("llvm-nm"), "--defined-only", path],
                                  stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
        .stdout.decode().splitlines()) if len(field) == 3})
    return [(a, b - a) for a, b in zip(starts, starts[1:] + starts[-1:])]


class Managed:
    """Answers of a portable PDB for offsets in methods."""

    def __init__(self, path, options):
        self.path, self.options = path, options
        with open(path, "rb") as f:
            self.pdb = portable.PortablePdb(f.read())

    def asked(self):
        return list(self.pdb.asked())

    def ours(self, store, key, asked):
        return tools.ours_managed(self.options.loader, store, key, asked)

    def oracles(self):
        yield "symbolic", lambda asked: symbolic(
            self.options.peer, self.path, ["%x %x" % a for a in asked])
        yield "the specification", lambda asked: [self.pdb.chain(*a)
                                                  for a in asked]

    def here(self, _):
        return causes.Here([], [])

    def show(self, pair):
        return "method %d, offset %d" % pair


def is_one(path):
    """Can files of this kind be compared here?"""
    with open(path, "rb") as f:
        data = f.read(4096)
    return (data[:4] == b"BSJB" or image.is_pdb(data) or image.is_wasm(data)
            or image.is_pe(data))


def open_file(path, options):
    with open(path, "rb") as f:
        is_managed = portable.pdb_in(f.read()) is not None
    return (Managed if is_managed else Native)(path, options)


# --- the comparison ---

def slashes(chain):
    return chain and [(name, file.replace("\\", "/"), line) for name, file, line in chain]


class Spelling:
    """MSVC's names are demangled once for all answers."""

    def __init__(self, chains):
        self.plain = names.demangled(newest("llvm-undname"), newest("llvm-cxxfilt"), {
            name for chain in chains for name, _, _ in chain})
        self.known = {}

    def of(self, name):
        if name not in self.known:
            plain = self.plain.get(name, name)
            self.known[name] = (names.exact(plain), names.bare(plain))
        return self.known[name]

    def exactly(self, ours, theirs):
        return [self.of(f[0])[0] for f in ours] == [self.of(f[0])[0]
                                                    for f in theirs]

    def barely(self, ours, theirs):
        return len(ours) == len(theirs) and all(
            names.same(self.of(a[0])[1], self.of(b[0])[1])
            for a, b in zip(ours, theirs))


def judge(ours, theirs, spelling):
    """Are all lines equal, and the names exactly, or except for spelling?"""
    if theirs is None:
        return (False, False, False)
    return (causes.same_lines(ours, theirs),
            spelling.exactly(ours, theirs), spelling.barely(ours, theirs))


def count(result, wanted, ours, others, file):
    spelling = Spelling([c for answers in (ours, *others.values())
                         for c in answers if c is not None])
    for n, key in enumerate(wanted):
        a = slashes(ours[n])
        best = (False, False, False)
        for who, answers in others.items():
            verdict = judge(a, slashes(answers[n]), spelling)
            lines, exactly, barely = verdict
            result["oracles"][who]["all"] += lines and exactly
            result["oracles"][who]["but for names"] += lines and barely
            result["oracles"][who]["lines"] += lines
            best = max(best, (lines and barely, lines and exactly, barely))
        result["all"] += best[1]
        result["but for names"] += best[0]
        if best[0]:
            continue
        why = causes.of_peers(a, {who: slashes(answers[n])
                                  for who, answers in others.items()},
                              file.here(key))
        kind = why or "not explained"
        result["differences"][kind] += 1
        if len(result["samples"][kind]) < SAMPLES:
            result["samples"][kind].append(
                (file.show(key), ours[n],
                 {who: answers[n] for who, answers in others.items()}))


def compare(name, path, options):
    file = open_file(path, options)
    wanted, others = file.asked(), {}
    result = {"name": name, "addresses": len(wanted), "all": 0,
              "but for names": 0, "seconds": {}, "oracles": {},
              "differences": collections.Counter(),
              "samples": collections.defaultdict(list)}

    def timed(who, ask):
        started = time.time()
        found = list(ask())
        result["seconds"][who] = round(time.time() - started, 1)
        if len(found) != len(wanted):
            raise SystemExit("accuracy: %s: %d addresses, %d answers of %s" % (
                name, len(wanted), len(found), who))
        return found

    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "store")
        key = tools.load(options.loader, store, path)
        ours = timed("ours", lambda: file.ours(store, key, wanted))
    for who, ask in file.oracles():
        others[who] = timed(who, lambda ask=ask: ask(wanted))
        result["oracles"][who] = collections.Counter()
    count(result, wanted, ours, others, file)
    return result
