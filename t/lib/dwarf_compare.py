#!/usr/bin/env python3
"""Compares our answers for an ELF file's DWARF with llvm-symbolizer's.

    dwarf_compare.py LOOKUP FILE [--random N] [--show N] [--symbolizer PATH]
                     [--seed N] [--alt FILE] [--whole FILE]

Compares LOOKUP (t/dwarf/lookup.c) and llvm-symbolizer at the first and last
address of every function and at N random ones, and prints how many answers are
equal frame by frame, as JSON.  llvm-symbolizer gets a copy without symbol
tables: it would take the outermost name from there.

Differences are sorted into classes; "other" are unexplained ones. With --whole
llvm-symbolizer reads that file instead of FILE: the same code before a tool
like dwz changed its DWARF.
"""

import argparse
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile


def sections(data):
    """(offset of header, type, flags, address, size) of each section."""
    shoff, = struct.unpack_from("<Q", data, 0x28)
    size, number, _ = struct.unpack_from("<HHH", data, 0x3A)
    for i in range(number):
        at = shoff + i * size
        kind, flags, addr, _, length = struct.unpack_from("<IQQQQ", data, at + 4)
        yield at, kind, flags, addr, length


def without_symbols(path, folder):
    copy = folder + "/file"
    shutil.copyfile(path, copy)
    if os.path.exists(path + ".dwp"):
        shutil.copyfile(path + ".dwp", copy + ".dwp")
    with open(copy, "r+b") as f:
        data = f.read()
        for at, kind, *_ in sections(data):
            if kind in (2, 11):  # SHT_SYMTAB, SHT_DYNSYM
                f.seek(at + 4)
                f.write(struct.pack("<I", 1))  # SHT_PROGBITS
    return copy


def random_addresses(path, n, seed):
    with open(path, "rb") as f:
        data = f.read()
    spans = [(a, s) for _, _, flags, a, s in sections(data) if flags & 4 and s]
    chance = random.Random(seed)
    total = sum(s for _, s in spans)
    for _ in range(n):
        at = chance.randrange(total)
        for addr, size in spans:
            if at < size:
                yield addr + at
                break
            at -= size


def ours(lookup, path, addresses, alt):
    text = "".join("%x\n" % a for a in addresses)
    out = subprocess.run([lookup, path, "-"] + ([alt] if alt else []),
                         input=text.encode(), stdout=subprocess.PIPE,
                         check=True).stdout.decode("utf-8", "replace")
    for line in out.split("\n")[:-1]:
        f = line.split("\t")[1:]
        yield [(f[i], f[i + 1], int(f[i + 2])) for i in range(0, len(f), 3)]


def theirs(symbolizer, path, addresses):
    text = "".join("0x%x\n" % a for a in addresses)
    out = subprocess.run([symbolizer, "--obj=" + path, "--inlines",
                          "--functions=linkage", "--no-demangle",
                          "--output-style=JSON"],
                         input=text.encode(), stdout=subprocess.PIPE,
                         check=True).stdout.decode("utf-8", "replace")
    for line in out.splitlines():
        yield [(s["FunctionName"], s["FileName"], s["Line"])
               for s in json.loads(line).get("Symbol", [])]


def names_equal(a, b):
    """Ours are qualified if there is no linkage name, llvm's never are."""
    return a == b or (a.endswith("::" + b) and b != "")


def classify(we, they):
    """None: equal."""
    they = [] if they == [("", "", 0)] else they
    if we == they:
        return None
    if not we and len(they) == 1 and they[0][0] == "":
        return "padding"  # lines of the function before, and no function
    if len(we) != len(they):
        return "other: depth"
    if not all(names_equal(a[0], b[0]) for a, b in zip(we, they)):
        return "other: name"
    if [a[1:] for a in we] == [b[1:] for b in they]:
        return "qualified"
    if all(a[1:] == b[1:] or (a[1:] == ("", 0) and b[1] == "")
           for a, b in zip(we, they)):
        return "line without a file"
    return "other: line"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("lookup")
    p.add_argument("file")
    p.add_argument("--random", type=int, default=20000)
    p.add_argument("--show", type=int, default=0)
    p.add_argument("--seed", type=int, default=4)
    p.add_argument("--symbolizer", default="llvm-symbolizer")
    p.add_argument("--alt")
    p.add_argument("--whole")
    args = p.parse_args()

    bounds = subprocess.run([args.lookup, args.file], stdout=subprocess.PIPE,
                            check=True).stdout.split()
    addresses = sorted({int(b, 16) for b in bounds}
                       | set(random_addresses(args.file, args.random,
                                              args.seed)))
    with tempfile.TemporaryDirectory() as folder:
        copy = without_symbols(args.whole or args.file, folder)
        answers = list(theirs(args.symbolizer, copy, addresses))
    mine = list(ours(args.lookup, args.file, addresses, args.alt))
    if not len(mine) == len(answers) == len(addresses):
        sys.exit("%d addresses, %d and %d answers" % (len(addresses),
                                                       len(mine), len(answers)))

    counts = {}
    named = shown = 0
    for addr, we, they in zip(addresses, mine, answers):
        kind = classify(we, they)
        named += bool(they and they[0][0])
        if kind is None:
            continue
        counts[kind] = counts.get(kind, 0) + 1
        if kind.startswith("other") and shown < args.show:
            shown += 1
            print("%x: %s\n  ours   %s\n  theirs %s" % (addr, kind, we, they),
                  file=sys.stderr)
    differ = sum(counts.values())
    other = sum(v for k, v in counts.items() if k.startswith("other"))
    print(json.dumps({"addresses": len(addresses), "named": named,
                      "boundaries": len(bounds), "different": counts,
                      "equal_percent": round(
                          100 * (1 - differ / len(addresses)), 4),
                      "explained_percent": round(
                          100 * (1 - other / len(addresses)), 4)}))


main()
