#!/usr/bin/env python3
"""Compares a dump of a debug file with what libdwarf finds in the file.

    libdwarf_compare.py READ DUMP FILE [--arch NAME]
                       [--show N] [--nm PATH]

READ is t/libdwarf/read.c, DUMP what `symloader dump --no-demangle --format=json
FILE` wrote.  Functions are compared by their ranges and names, lines at each
row and at the start of each of our segments, with the table of the function's
own unit.  Prints counts as JSON.

Differences are sorted into classes, each a predicate below and a cause in
docs/formats/dwarf.md; "other" are unexplained ones.
"""

import argparse
import bisect
import json
import subprocess
import sys

OLD = "20210528"  # the version in Debian 12
TOP = (1 << 64) - 2  # values that linkers write for dropped code: -1 and -2


class Unit:
    def __init__(self, version, line_version):
        self.version = version
        self.line_version = line_version
        self.files = {}
        self.sequences = []
        self.rows = []

    def add_row(self, addr, kind, line, number, path):
        self.rows.append((addr, line, number, path, kind))
        if kind == "end":
            self.sequences.append(self.rows)
            self.rows = []

    def row_starts(self, low, high):
        return {r[0] for rows in self.sequences for r in rows[:-1]
                if low <= r[0] < high}

    def row(self, addr):
        """The last row at or below addr, of the first sequence with it."""
        for rows in self.sequences:
            if rows[0][0] <= addr < rows[-1][0]:
                addrs = [r[0] for r in rows]
                return rows[bisect.bisect_right(addrs, addr) - 1]
        return None


def joined(ranges):
    """Merges adjacent ranges."""
    found = []
    for low, high in sorted(ranges):
        if found and found[-1][1] == low:
            found[-1] = (found[-1][0], high)
        else:
            found.append((low, high))
    return found


class Theirs:
    def __init__(self, read, path, arch):
        out = subprocess.run([read, path] + ([arch] if arch else []),
                             stdout=subprocess.PIPE, check=True).stdout
        self.functions = []  # low, high, name, unit
        self.errors = []
        self.units = []
        unit = None
        for text in out.decode("utf-8", "replace").split("\n")[:-1]:
            kind, *f = text.split("\t")
            if kind == "libdwarf":
                self.version = f[0]
            elif kind == "base":
                self.base = int(f[0], 16)
            elif kind == "unit":
                unit = Unit(int(f[1]), int(f[2]))
                self.units.append(unit)
            elif kind == "file":
                unit.files[int(f[0])] = f[1]
            elif kind == "row":
                unit.add_row(int(f[0], 16), f[1], int(f[2]), int(f[3]), f[4])
            elif kind == "function":
                ends = [int(x, 16) for x in f[2:]]
                self.functions += [(low, high, f[1], unit) for low, high
                                   in joined(zip(ends[::2], ends[1::2]))
                                   if self.is_code(low)]
            elif kind == "error":
                self.errors.append(text)
            else:
                sys.exit("unknown line: " + text)

    def is_code(self, low):
        """Not the values that linkers write for dropped code."""
        return low != 0 and self.base <= low < min(TOP, self.base + (1 << 32))


class Ours:
    def __init__(self, path, base):
        self.functions = {}  # low: high, record
        with open(path, encoding="utf-8") as dump:
            for text in dump:
                r = json.loads(text)
                if r["type"] == "function":
                    low = int(r["address"], 16) + base
                    self.functions[low] = (low + r["size"], r)

    def segments(self, low, base):
        return [(int(s["address"], 16) + base, s.get("file", ""),
                 s.get("line", 0)) for s in self.functions[low][1]["lines"]]


def symbols(nm, path, arch):
    """All names at each address, as another tool lists them."""
    arch = ["--arch=" + arch] if arch else []
    out = subprocess.run([nm, "--format=bsd"] + arch + [path],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         check=False).stdout
    found = {}
    for text in out.decode("utf-8", "replace").split("\n"):
        f = text.split(" ", 2)
        if len(f) == 3 and f[0]:
            name = f[2].split("@")[0]  # dlclose@@GLIBC_2.34
            found.setdefault(int(f[0], 16), set()).add(name)
    return found


class Compare:
    def __init__(self, theirs, ours, names, show):
        self.theirs, self.ours, self.names = theirs, ours, names
        self.show = show
        self.counts = {}
        self.lines = 0

    def differ(self, kind, what):
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if kind.startswith("other") and self.show > 0:
            self.show -= 1
            print(kind + ":", what, file=sys.stderr)

    # --- functions ---

    def name_class(self, low, we, they):
        if we == they:
            return None
        if they and we.endswith("::" + they):
            return "qualified"
        if {we, "_" + we} & self.names.get(low, set()):
            return "symbol"
        return "other: name"

    def functions(self):
        seen = []  # ranges of the previous functions
        matched = set()
        for low, high, name, unit in self.theirs.functions:
            if any(a < high and low < b for a, b in seen):
                self.differ("claimed twice", (hex(low), name))
                continue
            seen.append((low, high))
            self.function(low, high, name, unit, matched)

        for low, (high, record) in self.ours.functions.items():
            if low not in matched:
                self.beside_functions(low, high, record, seen)
        return len(matched)

    def function(self, low, high, name, unit, matched):
        """One range; our records are cut where symbols begin."""
        at = low
        while at < high:
            end, record = self.ours.functions.get(at, (at, None))
            if not at < end <= high or (at != low
                                        and at not in self.names):
                self.differ("other: range", (hex(low), hex(high), name,
                                             hex(at)))
                return
            matched.add(at)
            kind = self.name_class(at, record["function"], name)
            if kind:
                self.differ(kind, (hex(at), record["function"], name))
            self.compare_lines(at, end, unit)
            at = end

    def beside_functions(self, low, high, record, seen):
        """Only ours: code with rows outside of functions, such as assembler."""
        units = [u for u in self.theirs.units if u.row(low)]
        if (not units or any(a < high and low < b for a, b in seen)
                or record["function"] not in self.names.get(low, {""})):
            self.differ("other: not theirs", (hex(low), record["function"]))
            return
        self.differ("lines without a function", low)
        self.compare_lines(low, high, units[0])

    # --- lines ---

    def line_class(self, unit, we, they):
        path, line = we
        _, their_line, number, their_path, _ = they
        if (path, line) == (their_path, their_line):
            return None
        if (self.theirs.version != OLD or unit.line_version != 5
                or line != their_line):
            return "other: line"
        if number == 0 and path.endswith(unit.files.get(1, "?")):
            return "first file"
        folder = their_path[:-len(path)]
        if folder and their_path.endswith(path) and path.startswith(folder):
            return "folder twice"
        return "other: line"

    def compare_lines(self, low, high, unit):
        segments = self.ours.segments(low, self.theirs.base)
        starts = [s[0] for s in segments]
        for addr in sorted(unit.row_starts(low, high) | set(starts)):
            self.lines += 1
            at = bisect.bisect_right(starts, addr) - 1
            we = segments[at][1:] if at >= 0 else ("", 0)
            they = unit.row(addr)
            if they is None:
                if we != ("", 0):
                    self.differ("other: line", (hex(addr), we, None))
                continue
            kind = self.line_class(unit, we, they)
            if kind:
                self.differ(kind, (hex(addr), we, they))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("read")
    p.add_argument("dump")
    p.add_argument("file")
    p.add_argument("--arch")
    p.add_argument("--nm", default="llvm-nm")
    p.add_argument("--show", type=int, default=0)
    args = p.parse_args()

    theirs = Theirs(args.read, args.file, args.arch)
    ours = Ours(args.dump, theirs.base)
    c = Compare(theirs, ours, symbols(args.nm, args.file, args.arch),
                args.show)
    matched = c.functions()
    print(json.dumps({"libdwarf": theirs.version, "functions": matched,
                      "lines": c.lines, "errors": theirs.errors,
                      "different": c.counts}))


main()
