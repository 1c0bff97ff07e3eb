"""Procedures of a PDB and their lines, from the records that llvm-pdbutil
prints: the possible names of a function where the linker has folded several
into one."""

import bisect
import collections
import re
import subprocess

import image

FIELD = re.compile(r"^ *(?:- )?(\w+): +(.*)$")
NO_LINES = (0xf00f00, 0xfeefee)  # the debugger never, or always, steps in


def text(value):
    if value[:1] == "'":
        return value[1:-1].replace("''", "'")
    return value.strip('"')


class Procedure:
    def __init__(self, name):
        self.name, self.segment, self.offset, self.size = name, 0, 0, 0
        self.lines = []  # (offset in the procedure, file, line), ascending
        self.tables = 1

    def place(self, offset):
        at = bisect.bisect(self.lines, offset, key=lambda line: line[0])
        return self.lines[max(at - 1, 0)][1:] if self.lines else ("", 0)


def pair(procedures, tables):
    """For procedures at one address in a module: each has its own table, in
    order."""
    for at, own in procedures.items():
        lines = tables.get(at, [])
        for n, procedure in enumerate(own):
            if lines:
                procedure.tables = len(lines)
                procedure.lines = sorted(lines[min(n, len(lines) - 1)],
                                         key=lambda line: line[0])


def modules(said):
    """{(segment, offset): procedures} and {...: tables of lines} of each."""
    procedures = tables = offset = file = fields = None
    for line in said.split("\n"):
        if line.startswith("    - Module: "):
            if procedures is not None:
                yield procedures, tables
            procedures = collections.defaultdict(list)
            tables = collections.defaultdict(list)
            continue
        if line.endswith("- !Lines"):
            fields = {}
            continue
        match = FIELD.match(line)
        if match is None or procedures is None:
            continue
        key, value = match.groups()
        if key == "Kind":
            fields = {"Kind": value}
        elif key == "RelocSegment":
            table = []
            tables[int(value), int(fields["RelocOffset"])].append(table)
        elif key == "FileName":
            file = text(value).replace("\\", "/")
        elif key == "LineStart":
            if int(value) not in NO_LINES:
                table.append((int(fields["Offset"]), file, int(value)))
        elif key == "DisplayName" and re.match(
                r"S_[GL]PROC32", fields.get("Kind", "")):
            procedure = Procedure(text(value))
            procedure.size = int(fields["CodeSize"])
            procedures[int(fields["Segment"]),
                       int(fields["Offset"])].append(procedure)
        elif fields is not None:
            fields[key] = value
    if procedures is not None:
        yield procedures, tables


class Procedures:
    def __init__(self, pdbutil, path):
        starts = [start for start, _, _ in image.pdb_headers(pdbutil, path)]
        said = subprocess.run([pdbutil, "pdb2yaml", "--modules",
                               "--module-syms", "--subsections=lines", path],
                              stdout=subprocess.PIPE).stdout
        self.found = collections.defaultdict(list)
        for procedures, tables in modules(said.decode("utf-8", "replace")):
            pair(procedures, tables)
            for (segment, offset), own in procedures.items():
                if 0 < segment <= len(starts):
                    self.found[starts[segment - 1] + offset] += own
        self.starts = sorted(self.found)

    def folded(self, address):
        """(name, file, line) of each procedure with that code, if there are
        several, or several tables of its lines."""
        n = bisect.bisect(self.starts, address)
        start = self.starts[n - 1] if n else 0
        here = [p for p in self.found.get(start, ())
                if address < start + p.size]
        if len(here) > 1 or any(p.tables > 1 for p in here):
            return [(p.name, *p.place(address - start)) for p in here]
        return []
