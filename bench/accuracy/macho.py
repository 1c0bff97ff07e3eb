"""Contents of a Mach-O file's own tables, read by LLVM's tools; like elf.py."""

import bisect
import os
import re
import struct
import subprocess

import facts

THIN = (b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe")
FAT = b"\xca\xfe\xba\xbe"


def said(*command):
    return subprocess.run(command, stdout=subprocess.PIPE,
                          check=True).stdout.decode("utf-8", "replace")


def is_one(path):
    with open(path, "rb") as f:
        return f.read(4) in (*THIN, FAT)


def slices(path, folder):
    """A copy of each slice, in a folder where no tool finds another file next
    to it."""
    with open(path, "rb") as f:
        data = f.read()
    spans = [(0, len(data))]
    if data[:4] == FAT:
        count = struct.unpack_from(">I", data, 4)[0]
        spans = [struct.unpack_from(">II", data, 16 + 20 * n)
                 for n in range(count)]
    for number, (offset, size) in enumerate(spans):
        out = os.path.join(folder, "%d" % number)
        with open(out, "wb") as f:
            f.write(data[offset:offset + size])
        yield out


def identity(path):
    """Architecture, and the UUID with age 0, as Breakpad writes it."""
    uuid, arch = re.match(r"UUID: (\S+) \((\w+)\)",
                          said("llvm-dwarfdump", "--uuid", path)).groups()
    return arch, uuid.replace("-", "") + "0"


# --- the same facts as in elf.py ---

def image_base(path):
    segment = ""
    for line in said("llvm-objdump", "--macho", "--private-headers",
                     path).splitlines():
        field = line.split()
        if field[:1] == ["segname"]:
            segment = field[1]
        if field[:1] == ["vmaddr"] and segment == "__TEXT":
            return int(field[1], 16)
    return 0


def sections(path, *kinds):
    spans = []
    for line in said("llvm-objdump", "--section-headers", path).splitlines():
        field = line.split()
        if len(field) == 5 and field[4] in kinds and int(field[2], 16) != 0:
            spans.append((int(field[3], 16), int(field[2], 16)))
    return spans


def executable_sections(path):
    """The data of a library without code, where nothing must be found."""
    return sections(path, "TEXT") or sections(path, "DATA")


def symbols(path):
    """Each symbol reaches to the next: none has a size."""
    starts = sorted({int(field[0], 16) for field in map(
        str.split, said("llvm-nm", "--defined-only", path).splitlines())
        if len(field) == 3})
    return [(a, b - a) for a, b in zip(starts, starts[1:] + starts[-1:])]


# --- atos's lines ---

def folders(path):
    """Compilation directory by the offset of a line table."""
    found = {}
    units = said("llvm-dwarfdump", "--debug-info", path).split(
        "DW_TAG_compile_unit")
    for unit in units[1:]:
        table = re.search(r"DW_AT_stmt_list\s+\((\w+)\)", unit)
        folder = re.search(r'DW_AT_comp_dir\s+\("(.*)"\)', unit)
        if table and folder:
            found[int(table[1], 16)] = folder[1]
    return found


class LineTable:
    def __init__(self, folder):
        self.dirs, self.files, self.last = {0: folder}, {}, None

    def add(self, line):
        if match := re.match(r'include_directories\[\s*(\d+)\] = "(.*)"', line):
            self.dirs[int(match[1])] = os.path.join(self.dirs[0], match[2])
        elif match := re.match(r"file_names\[\s*(\d+)\]:", line):
            self.last = int(match[1])
        elif match := re.match(r'\s+name: "(.*)"', line):
            self.files[self.last] = match[1]
        elif match := re.match(r"\s+dir_index: (\d+)", line):
            self.files[self.last] = os.path.join(self.dirs[int(match[1])],
                                                 self.files[self.last])


def kept(rows):
    """Rows of a sequence that atos shows: statements, and rows before the first
    one; the first of several at one address."""
    shown, is_begun = {}, False
    for address, place, is_stmt in rows:
        if is_stmt and not is_begun:
            shown[address] = place
        elif is_stmt or not is_begun:
            shown.setdefault(address, place)
        is_begun = is_begun or is_stmt
    return shown


def sequences(path):
    """[(low, end, rows), ...], decoded by llvm-dwarfdump; the rule is ours."""
    table, rows, found, dirs = None, [], [], folders(path)
    for line in said("llvm-dwarfdump", "--debug-line", path).splitlines():
        match = re.match(r"0x(\w{16})\s+(\d+)\s+\d+\s+(\d+) (.*)", line)
        if line.startswith("debug_line["):
            table = LineTable(dirs.get(int(line[11:-1], 16), ""))
        elif not match:
            table and table.add(line)
        elif "end_sequence" in match[4]:
            shown = kept(rows)
            if shown:
                found.append((min(shown), int(match[1], 16),
                              sorted(shown.items())))
            rows = []
        else:
            rows.append((int(match[1], 16),
                         (table.files[int(match[3])], int(match[2])),
                         "is_stmt" in match[4]))
    return found


class Facts(facts.Facts):
    def __init__(self, path):
        self.code = sections(path, "TEXT")
        self.lines = sequences(path)

    def is_code(self, address):
        return any(start <= address < start + size
                   for start, size in self.code)

    def statement(self, address):
        for low, end, rows in self.lines:
            if low <= address < end:
                at = bisect.bisect_right(rows, address, key=lambda r: r[0])
                return rows[at - 1][1]
        return None
