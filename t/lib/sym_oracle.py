#!/usr/bin/env python3
"""sym_oracle.py - answers addresses directly from the text of a Breakpad .sym
file.

The tests compare the store's answers with these.  It shares no code with the C
program: it is slow and obviously right.  The rules are those of
docs/use/compat.md, "Breakpad .sym" (the answers of Mozilla's server today,
except for the accidents listed there).

    sym_oracle.py FILE ADDR...            hexadecimal addresses; - reads stdin
    sym_oracle.py FILE --all-boundaries   start, start+1, end-1, end of every
                                          FUNC, line, INLINE range and PUBLIC
    sym_oracle.py FILE --random N [--seed S]
    sym_oracle.py FILE --module           facts of the MODULE and INFO lines

One JSON object a line: addr, function, function_addr, file, line, inlines
(innermost first, each with function, file, line).  Unknown: null; the line is
null whenever the file is.  A rejected file: exit status 1 and the line number.
"""

import argparse
import bisect
import heapq
import json
import random
import re
import sys

LIMIT = 1 << 32  # limit of addresses
SPACES = ("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"
          + "".join(map(chr, range(0x2000, 0x200b))))  # Unicode's White_Space
NOTHING = (None, None)  # neither file nor line
HOME_FILE = object()  # old INLINE form: the file of the calling function

S = rb"[ \t\r\n]+"
HEX = rb"([0-9A-Fa-f]+)"
DEC = rb"([0-9]+)"
NAME = rb"(?:" + S + rb"(.*))?$"

MODULE_RE = re.compile(
    rb"MODULE" + S + rb"(\S+)" + S + rb"(\S+)" + S + HEX + NAME, re.S)
CODE_ID_RE = re.compile(rb"INFO" + S + rb"CODE_ID" + S + rb"(\S+)" + NAME, re.S)
FILE_RE = re.compile(rb"FILE" + S + DEC + NAME, re.S)
ORIGIN_RE = re.compile(rb"INLINE_ORIGIN" + S + DEC + S + rb"(.+)$", re.S)
OLD_ORIGIN_RE = re.compile(rb"(-?[0-9]+)" + S + rb"(.+)$", re.S)
FUNC_RE = re.compile(
    rb"FUNC" + S + rb"(?:m" + S + rb")?" + HEX + S + HEX + S + HEX + NAME, re.S)
PUBLIC_RE = re.compile(
    rb"PUBLIC" + S + rb"(?:m" + S + rb")?" + HEX + S + HEX + NAME, re.S)
LINE_RE = re.compile(HEX + S + HEX + S + rb"(-?)" + DEC + S + DEC + rb"$")

ARCHES = re.compile(
    rb"(x86|i386|x86_64|amd64|x86_64h|arm\S*|aarch64|ppc|ppc64|mips|mips64|"
    rb"riscv|riscv32|riscv64|loongarch64|s390|s390x|sparc|sparcv9|wasm32|"
    rb"unknown)$", re.I)


class Rejected(Exception):
    pass


class OrderedHeap:
    """INLINE ranges by address and depth; equal ones in the order of the file."""

    def __init__(self):
        self.items = []
        self.pushed = 0

    def push(self, start, depth, end, inline):
        self.pushed += 1
        heapq.heappush(self.items, (start, depth, self.pushed, end, inline))

    def pop(self):
        start, depth, _, end, inline = heapq.heappop(self.items)
        return start, depth, end, inline


class RustHeap:
    """The same, with equal ones in the order of std::collections::BinaryHeap:
    pop moves the last item to the top, down to the bottom by the lesser child
    (the right one of equals), and up again past greater ones."""

    def __init__(self):
        self.items = []

    def push(self, start, depth, end, inline):
        self.items.append((start, depth, end, inline))
        self.sift_up(len(self.items) - 1)

    def pop(self):
        last = self.items.pop()
        if not self.items:
            return last
        top, self.items[0] = self.items[0], last
        at = 0
        while 2 * at + 1 < len(self.items):
            child = 2 * at + 1
            if (child + 1 < len(self.items)
                    and self.items[child + 1][:2] <= self.items[child][:2]):
                child += 1
            self.items[at], self.items[child] = \
                self.items[child], self.items[at]
            at = child
        self.sift_up(at)
        return top

    def sift_up(self, at):
        while at > 0:
            parent = (at - 1) // 2
            if not self.items[at][:2] < self.items[parent][:2]:
                break
            self.items[at], self.items[parent] = \
                self.items[parent], self.items[at]
            at = parent


def number(digits, base=10):
    value = int(digits, base)
    if value >= 1 << 64:
        raise ValueError("over 64 bits")
    return value


def cut(line):
    """Line numbers have 32 bits; a larger one is unknown."""
    return line if line < 1 << 32 else 0


def clean_path(path):
    """The file's path in answers."""
    stripped = path.rstrip("/\\")
    path = stripped if stripped else path
    last = re.split(r"[/\\]", path)[-1]
    if last.startswith("<") and last.endswith(">"):
        return last
    drive = re.match(r"[A-Za-z]:([/\\]|$)", path)
    windows = drive or "\\" in path or re.match(r"//.", path)
    parts = re.split(r"[/\\]", path)
    root = []
    while parts and parts[0] == "" and len(parts) > 1:
        root.append(parts.pop(0))
    if drive:
        root.append(parts.pop(0))
    kept = []
    for part in parts:
        if part == "." or (part == "" and not kept):
            continue
        if part == ".." and kept and kept[-1] != "..":
            kept.pop()
        elif part == ".." and root:
            pass  # nothing is above the root
        else:
            kept.append(part)
    text = ("\\" if windows else "/").join(root + kept)
    if root and not kept and not (drive and len(path) == 2):
        text += "\\" if windows else "/"  # the root itself
    return text


class Inline:
    def __init__(self, start, end, depth, origin, call):
        self.start, self.end, self.depth = start, end, depth
        self.origin, self.call = origin, call


class Func:
    """One FUNC with its records; answers addresses inside it."""

    def __init__(self, order, start, size, name):
        self.order, self.start, self.name = order, start, name
        self.end = min(start + size, LIMIT)
        self.lines = []  # (start, end, (file, line)) as read
        self.inlines = []  # Inline, as read

    def settle(self):
        self.home = self.lines[0][2][0] if self.lines else None
        self.lines.sort(key=lambda l: l[0])  # stable
        kept, free = [], self.start
        for line in self.lines:
            if free <= line[0] < self.end:  # a record inside another is dropped
                kept.append((line[0], min(line[1], self.end), line[2]))
                free = kept[-1][1]
        self.lines = kept
        self.line_starts = [l[0] for l in kept]
        self.nest()
        edges = {self.start}
        edges.update(self.line_starts)
        for level in self.levels:
            for node in level:
                edges.update((node.start, node.end))
        self.edges = sorted(e for e in edges if e < self.end)
        self.recorded = set(self.edges)
        first = self.answer(self.start)
        if len(first) == 1 and not first[0][1][0]:
            self.recorded.discard(self.start)

    def nest(self):
        """levels[d]: open calls at depth d, sorted, not overlapping."""
        self.levels = []
        inlines = [i for i in self.inlines
                   if i.start >= self.start and i.start < i.end]
        ties = len({(i.start, i.depth) for i in inlines}) < len(inlines)
        queue = RustHeap() if ties else OrderedHeap()
        for i in inlines:
            queue.push(i.start, i.depth, i.end, i)
        while queue.items:
            start, depth, end, inline = queue.pop()
            if start >= self.end:
                break
            if depth > len(self.levels):
                continue  # nothing was ever open at depth - 1
            if depth == 0:
                limit = self.end
            else:
                parent = self.levels[depth - 1][-1]
                if not parent.start <= start < parent.end:
                    continue
                limit = parent.end
            if depth < len(self.levels):
                before = self.levels[depth][-1]
                if start < before.end:
                    if end > before.end:
                        queue.push(before.end, depth, end, inline)
                    continue
            else:
                self.levels.append([])
            if end > limit:
                if limit < self.end:
                    queue.push(limit, depth, end, inline)
                end = limit
            self.levels[depth].append(
                Inline(start, end, depth, inline.origin, inline.call))
        self.level_starts = [[n.start for n in l] for l in self.levels]

    def open_at(self, addr):
        """Inlined calls around addr, outermost first."""
        nodes = []
        for level, starts in zip(self.levels, self.level_starts):
            at = bisect.bisect_right(starts, addr) - 1
            if at < 0 or addr >= level[at].end:
                break
            nodes.append(level[at])
        return nodes

    def line_at(self, addr):
        at = bisect.bisect_right(self.line_starts, addr) - 1
        if at < 0 or addr >= self.lines[at][1]:
            return None
        return self.lines[at]

    def call_of(self, node):
        file, line = node.call
        return (self.home if file is HOME_FILE else file, line)

    def before_gap(self, addr, depth, begin):
        """The position of a call with so many levels, open since begin, or of
        the function itself (depth 0), by the last record about it."""
        ends = [e for _, e, _ in self.lines if begin < e <= addr]
        if depth < len(self.levels):
            ends += [n.end for n in self.levels[depth] if begin < n.end <= addr]
        if not ends:
            return None
        last = max(ends) - 1
        nodes = self.open_at(last)
        return (self.call_of(nodes[depth]) if depth < len(nodes)
                else self.line_at(last)[2])

    def latest_edge(self, addr):
        return self.edges[bisect.bisect_right(self.edges, addr) - 1]

    def answer(self, addr):
        """[(name, (file, line))], innermost first; the last is the function."""
        nodes = self.open_at(addr)
        line = self.line_at(addr)
        if line:
            where = line[2]
        else:
            where = self.before_gap(addr, len(nodes),
                                    nodes[-1].start if nodes else self.start)
            if not where:
                where = self.call_of(nodes.pop()) if nodes else NOTHING
        chain = []
        for node in reversed(nodes):
            chain.append((node.origin[0], where))
            where = self.call_of(node)
        return chain + [(self.name, where)]


class Symbols:
    def __init__(self, data):
        self.files, self.origins = {}, {}
        self.funcs, self.publics = [], {}
        self.code_id = self.code_file = ""
        self.pending = {}  # origins named before they are defined
        self.parents = []  # file of the origin open at each depth (old form)
        self.func = None
        self.stage = "head"
        if not data.startswith(b"MODULE ") or len(data) < 16:
            raise Rejected("line 1: no MODULE record")
        lines = data.split(b"\n")
        if lines[-1] == b"":
            lines.pop()
        for n, raw in enumerate(lines, 1):
            try:
                if not self.read(raw[:-1] if raw.endswith(b"\r") else raw, n):
                    break
            except (ValueError, AttributeError, UnicodeDecodeError) as error:
                raise Rejected("line %d: %s" % (n, error))
        for func in self.funcs:
            func.settle()
        self.index()

    def read(self, raw, n):
        if n == 1:
            self.module(raw)
        elif raw.startswith(b"STACK "):
            return False
        elif raw.startswith(b"FUNC "):
            self.stage = "body"
            self.read_func(raw)
        elif raw.startswith(b"PUBLIC "):
            self.stage = "body"
            self.func = None
            try:
                self.read_public(raw)
            except (ValueError, AttributeError, UnicodeDecodeError):
                pass  # only this line is skipped
        elif raw.startswith(b"INLINE_ORIGIN "):
            self.read_origin(raw)
        elif self.func is not None:
            if raw.startswith(b"INLINE "):
                self.read_inline(raw)
            elif raw:
                self.read_line(raw)
        elif raw.startswith(b"FILE "):
            self.stage = "body"
            self.read_file(raw)
        elif raw.startswith(b"INFO ") and self.stage == "head":
            self.read_info(raw)
        return True

    @staticmethod
    def text(raw):
        return raw.decode("utf-8").strip(SPACES).encode("utf-8")

    def module(self, raw):
        os, arch, ident, name = MODULE_RE.match(self.text(raw)).groups()
        if not ARCHES.match(arch):
            raise Rejected("line 1: unknown architecture")
        if not (len(ident) >= 32 or 9 <= len(ident) <= 16):
            raise Rejected("line 1: not a debug id")
        self.os, self.arch = os.decode(), arch.decode()
        self.debug_id, self.name = ident.decode(), (name or b"").decode()

    def read_info(self, raw):
        try:
            found = CODE_ID_RE.match(self.text(raw))
        except UnicodeDecodeError:
            return
        if found and not self.code_id:
            self.code_id = found.group(1).decode()
            self.code_file = (found.group(2) or b"").decode()

    def read_file(self, raw):
        try:
            n, name = FILE_RE.match(self.text(raw)).groups()
            self.files[number(n)] = clean_path((name or b"").decode())
        except (ValueError, AttributeError, UnicodeDecodeError):
            pass  # only this line is skipped

    def read_origin(self, raw):
        n, name = ORIGIN_RE.match(self.text(raw)).groups()
        n, file = number(n), None
        old = OLD_ORIGIN_RE.match(name)
        if old:
            file, name = self.files.get(int(old.group(1))), old.group(2)
        if n in self.pending:
            origin = self.pending.pop(n)
            origin[:] = [name.decode(), file]
        else:
            origin = [name.decode(), file]
        self.origins[n] = origin

    def read_func(self, raw):
        self.func = None
        addr, size, param, name = FUNC_RE.match(self.text(raw)).groups()
        addr, size = number(addr, 16), number(size, 16)
        number(param, 16)
        self.func = Func(len(self.funcs), addr, size,
                         (name or b"<unknown>").decode())
        self.parents = []
        if size != 0 and addr < LIMIT:
            self.funcs.append(self.func)

    def read_public(self, raw):
        addr, param, name = PUBLIC_RE.match(self.text(raw)).groups()
        addr = number(addr, 16)
        number(param, 16)
        if addr < LIMIT:
            self.publics.setdefault(addr, (name or b"<unknown>").decode())

    def read_inline(self, raw):
        fields = re.split(S, self.text(raw))[1:]
        old = len(fields) % 2 == 1
        head = 3 if old else 4
        if len(fields) < head + 2:
            raise ValueError("INLINE has too few fields")
        for field in fields[:head]:
            if not re.match(rb"[0-9]+$", field):
                raise ValueError("not a decimal number")
        for field in fields[head:]:
            if not re.match(HEX + rb"$", field):
                raise ValueError("not a hexadecimal number")
        numbers = [number(f) for f in fields[:head]]
        ranges = [number(f, 16) for f in fields[head:]]
        depth, line, origin = numbers[0], numbers[1], numbers[-1]
        if origin not in self.origins:
            self.origins[origin] = self.pending[origin] = ["", None]
        origin = self.origins[origin]
        if not old:
            file = self.files.get(numbers[2])
        elif depth == 0:
            file = HOME_FILE
        else:
            file = self.parents[depth - 1] if depth <= len(self.parents) else None
        if depth <= len(self.parents):
            self.parents[depth:] = [origin[1]]
        for addr, size in zip(ranges[::2], ranges[1::2]):
            self.func.inlines.append(
                Inline(addr, addr + size, depth, origin, (file, cut(line))))

    def read_line(self, raw):
        addr, size, sign, line, file = LINE_RE.match(self.text(raw)).groups()
        addr, size = number(addr, 16), number(size, 16)
        line, file = number(line), number(file)
        line = 0 if sign else cut(line)
        if size != 0 and addr < LIMIT:
            self.func.lines.append(
                (addr, addr + size, (self.files.get(file), line)))

    def index(self):
        self.by_start = sorted(self.funcs, key=lambda f: f.start)
        self.starts = [f.start for f in self.by_start]
        self.reach, reach = [], 0  # greatest end so far
        for func in self.by_start:
            reach = max(reach, func.end)
            self.reach.append(reach)
        self.public_starts = sorted(
            p for p in self.publics if not self.covering(p))

    def covering(self, addr):
        found = []
        at = bisect.bisect_right(self.starts, addr) - 1
        while at >= 0 and self.reach[at] > addr:
            if self.by_start[at].end > addr:
                found.append(self.by_start[at])
            at -= 1
        return found

    @staticmethod
    def rank(func, addr):
        """The latest record wins.  At one address, a recorded start wins over a
        bare function start; the last of recorded starts counts, and the first
        of bare ones."""
        edge = func.latest_edge(addr)
        recorded = edge in func.recorded
        return (edge, recorded, func.order if recorded else -func.order)

    def answer(self, addr):
        result = {"addr": addr, "function": None, "function_addr": None,
                  "file": None, "line": None, "inlines": []}
        if not 0 <= addr < LIMIT:
            return result
        funcs = self.covering(addr)
        if funcs:
            func = max(funcs, key=lambda f: self.rank(f, addr))
            chain = [dict(function=name, **self.place(where))
                     for name, where in func.answer(addr)]
            result.update(chain.pop(), function_addr=func.start, inlines=chain)
            return result
        at = bisect.bisect_right(self.public_starts, addr) - 1
        if at >= 0:
            start = self.public_starts[at]
            between = (bisect.bisect_right(self.starts, addr)
                       - bisect.bisect_right(self.starts, start))
            if between == 0:
                result.update(function=self.publics[start], function_addr=start)
        return result

    @staticmethod
    def place(where):
        file, line = where
        if not file:
            return {"file": None, "line": None}
        return {"file": file, "line": line if line else None}

    def boundaries(self):
        addrs = set()

        def edge(start, end):
            addrs.update((start, start + 1, end - 1, end))

        for func in self.funcs:
            edge(func.start, func.end)
            for start, end, _ in func.lines:
                edge(start, end)
            for inline in func.inlines:
                edge(inline.start, inline.end)
        for addr in self.publics:
            edge(addr, addr + 1)
        return sorted(a for a in addrs if 0 <= a <= LIMIT)

    def random(self, count, seed):
        source = random.Random(seed)
        ends = [f.end for f in self.funcs] + [p + 64 for p in self.publics]
        top = min(max(ends, default=0) + 4096, LIMIT - 1)
        return [source.randint(0, top) for _ in range(count)]


def main():
    parser = argparse.ArgumentParser(
        description="Answers addresses straight from a .sym file's text.")
    parser.add_argument("file")
    parser.add_argument("addrs", nargs="*", metavar="ADDR")
    parser.add_argument("--all-boundaries", action="store_true")
    parser.add_argument("--random", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--module", action="store_true")
    args = parser.parse_args()

    with open(args.file, "rb") as file:
        data = file.read()
    try:
        symbols = Symbols(data)
    except Rejected as error:
        sys.exit("%s: rejected: %s" % (args.file, error))

    if args.module:
        print(json.dumps({
            "os": symbols.os, "arch": symbols.arch,
            "debug_id": symbols.debug_id, "debug_file": symbols.name,
            "code_id": symbols.code_id, "code_file": symbols.code_file}))
    addrs = []
    for text in args.addrs:
        words = sys.stdin.read().split() if text == "-" else [text]
        addrs += [int(word, 16) for word in words]
    if args.all_boundaries:
        addrs += symbols.boundaries()
    addrs += symbols.random(args.random, args.seed)
    for addr in addrs:
        print(json.dumps(symbols.answer(addr)))


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.stderr.close()
