"""Sections with code: of a PE, of a PDB from its copy, of a WASM module."""

import os
import re
import struct
import subprocess

EXECUTE = 0x20000000


def is_pe(data):
    return data[:2] == b"MZ"


def is_pdb(data):
    return data.startswith(b"Microsoft C/C++ MSF 7.00\r\n")


def is_wasm(data):
    return data[:4] == b"\0asm"


def pe_sections(data):
    pe = struct.unpack_from("<I", data, 0x3c)[0]
    count, optional = struct.unpack_from("<2xH12xH", data, pe + 4)
    for n in range(count):
        size, start = struct.unpack_from("<II", data,
                                         pe + 24 + optional + 40 * n + 8)
        flags = struct.unpack_from("<I", data,
                                   pe + 24 + optional + 40 * n + 36)[0]
        if flags & EXECUTE:
            yield start, size


def pdb_headers(pdbutil, path):
    """(start, size, flags) of each section."""
    said = subprocess.run([pdbutil, "dump", "--section-headers", path],
                          stdout=subprocess.PIPE).stdout
    said = said.decode("utf-8", "replace").partition("Original Section Headers")[0]
    for part in said.split("SECTION HEADER #")[1:]:
        size = re.search(r"(\w+) virtual size", part)
        start = re.search(r"(\w+) virtual address", part)
        yield (int(start[1], 16), int(size[1], 16),
               int(re.search(r"(\w+) flags", part)[1], 16))


def pdb_sections(pdbutil, path):
    for start, size, flags in pdb_headers(pdbutil, path):
        if flags & EXECUTE:
            yield start, size


def leb(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def wasm_functions(data):
    """(start, size) of each body, counted from the beginning of the file."""
    at = 8
    while at < len(data):
        kind, (size, body) = data[at], leb(data, at + 1)
        if kind == 10:
            count, place = leb(data, body)
            for _ in range(count):
                length, place = leb(data, place)
                yield place, length
                place += length
        at = body + size


def wasm_code(data):
    """Offset and size of the contents of the code section."""
    at = 8
    while at < len(data):
        kind, (size, body) = data[at], leb(data, at + 1)
        if kind == 10:
            return body, size
        at = body + size
    return 0, 0


def of_pdb(path):
    """The PE next to a PDB, or None."""
    stem = path[:-len(".pdb")]
    return next((stem + end for end in (".exe", ".dll", ".node", ".sys")
                 if os.path.exists(stem + end)), None)
