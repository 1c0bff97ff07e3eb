"""Contents of an ELF file's own tables, read by binutils."""

import re
import subprocess

import facts

CODE = ("FUNC", "IFUNC")


def readelf(*options):
    return subprocess.run(["readelf", "--wide", *options],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True).stdout.decode("utf-8", "replace")


def image_base(path):
    """Address of the first segment; addresses in a module count from it."""
    for line in readelf("--segments", path).splitlines():
        field = line.split()
        if field[:1] == ["LOAD"]:
            return int(field[2], 16)
    return 0


def executable_sections(path):
    """[(address, size), ...] of the sections with code."""
    spans = []
    for line in readelf("--sections", path).splitlines():
        field = line.partition("]")[2].split()
        if len(field) > 6 and "X" in field[6] and field[2].isalnum():
            spans.append((int(field[2], 16), int(field[4], 16)))
    return spans


def symbols(path):
    """[(address, size), ...] of the functions in the symbol tables."""
    found = set()
    for line in readelf("--symbols", path).splitlines():
        field = line.split()
        if len(field) > 6 and field[3] in CODE and field[6] != "UND":
            found.add((int(field[1], 16), int(field[2], 0)))
    return sorted(found)


def claimed_spans(path):
    """The addresses of code that each unit claims."""
    spans = []
    for line in readelf("--debug-dump=aranges", path).splitlines():
        field = line.split()
        if len(field) == 2 and len(field[0]) == len(field[1]) == 16:
            start = int(field[0], 16)
            spans.append((start, start + int(field[1], 16)))
    return spans


def unsized_symbols(path):
    """The end of the section, by name of the symbols without a size."""
    ends = {}
    for line in readelf("--sections", path).splitlines():
        match = re.match(r" *\[ *(\d+)\]", line)
        field = line.partition("]")[2].split()
        if match and len(field) > 6 and field[2].isalnum():
            ends[match[1]] = int(field[2], 16) + int(field[4], 16)

    unsized = {}
    for line in readelf("--symbols", path).splitlines():
        field = line.split()
        if len(field) > 7 and field[2] == "0" and field[6] in ends:
            unsized[field[7]] = ends[field[6]]
    return unsized


class Facts(facts.Facts):
    def __init__(self, path):
        self.path = path
        self.spans = None  # the table is read at the first use
        self.unsized = unsized_symbols(path)

    def claims(self, address):
        if self.spans is None:
            self.spans = claimed_spans(self.path)
        return sum(low <= address < high for low, high in self.spans)

    def is_beyond(self, name, address):
        return address >= self.unsized.get(name, address + 1)
