#!/usr/bin/env python3
"""sym_random.py SYMLOADER DIR COUNT SEED - small disordered .sym files.

Makes COUNT modules under DIR whose functions, lines, inlined calls and public
symbols overlap, leave gaps and nest at random, in an address space so small
that every address can be looked up.  Loads them with SYMLOADER into a store in
DIR and compares each answer with the oracle's, and with the oracle's answer for
the text that `dump` writes.  Prints the first file that differs, and last "N
answers, M modules differ".
"""

import json
import os
import random
import subprocess
import sys

import loader_compare
import sym_oracle

TOP = 0x90


def spans(source, start, end, size):
    """Addresses and sizes, mostly in order, some overlapping others."""
    at = start
    while at < end:
        length = source.randint(1, size)
        yield at, length
        at += source.choice((length, length, length, length + 3, length - 2, 0)
                            if length > 2 else (length, length + 1))
        if source.random() < 0.15:
            return


def inlines(source, start, end, depth, out):
    for at, size in spans(source, start, end, 12):
        ranges = [(at, size)]
        if source.random() < 0.2:
            ranges.append((source.randint(0, TOP), source.randint(1, 9)))
        out.append("INLINE %d %d %d %d %s" % (
            depth if source.random() < 0.95 else depth + 1,
            source.randint(0, 9), source.randint(0, 4), source.randint(0, 5),
            " ".join("%x %x" % r for r in ranges)))
        if depth < 3 and source.random() < 0.6:
            inlines(source, at, at + size, depth + 1, out)


def function(source, number, prefix):
    start, size = source.randint(0, TOP - 20), source.randint(1, 60)
    lines, calls = [], []
    out = ["FUNC %x %x 0 %sf%d" % (start, size, prefix, number)]
    if source.random() < 0.85:
        begin = start if source.random() < 0.8 else start + 3
        lines = ["%x %x %d %d" % (a, s, source.randint(0, 99),
                                  source.randint(0, 4))
                 for a, s in spans(source, begin, start + size, 10)]
    if source.random() < 0.7:
        inlines(source, start, start + size, 0, calls)
    if source.random() < 0.2:
        source.shuffle(lines)
    if source.random() < 0.2:
        source.shuffle(calls)
    return out + calls + lines


def module(source, name, ident, prefix=""):
    """Each name in it begins with the prefix."""
    out = ["MODULE Linux x86_64 %s %s" % (ident, name)]
    out += ["FILE %d src/%sfile%d.c" % (n, prefix, n) for n in range(4)]
    out += ["INLINE_ORIGIN %d %sinlined%d" % (n, prefix, n) for n in range(5)]
    for number in range(source.randint(1, 4)):
        out += function(source, number, prefix)
    out += ["PUBLIC %x 0 %spublic%d" % (source.randint(0, TOP), prefix, n)
            for n in range(source.randint(0, 2))]
    return "\n".join(out) + "\n"


def named(answer):
    """With the name that `dump` gives to calls without one."""
    for call in answer["inlines"] or []:
        call["function"] = call["function"] or "<name omitted>"
    return answer


def main():
    symloader, folder, count, seed = sys.argv[1:]
    source = random.Random(int(seed))
    store = os.path.join(folder, "store")
    files = []
    for n in range(int(count)):
        path = os.path.join(folder, "m%d.sym" % n)
        with open(path, "w", encoding="utf-8") as file:
            file.write(module(source, "m%d" % n, "%032X0" % (n + 1)))
        files.append(path)
    subprocess.run([symloader, "load", "--quiet", "--store", store] + files,
                   check=True)
    answers = differ = 0
    for n, path in enumerate(files):
        with open(path, "rb") as file:
            symbols = sym_oracle.Symbols(file.read())
        addrs = range(TOP + 0x60)
        got = subprocess.run(
            [symloader, "lookup", "--json", "--store", store,
             "m%d/%032X0" % (n, n + 1), "-"],
            input="".join("%x\n" % a for a in addrs), text=True,
            stdout=subprocess.PIPE, check=False).stdout.splitlines()
        dumped = subprocess.run(
            [symloader, "dump", "--store", store, "m%d/%032X0" % (n, n + 1)],
            stdout=subprocess.PIPE, check=False).stdout
        again = sym_oracle.Symbols(dumped)
        wrong = []
        for addr, line in zip(addrs, got):
            said = json.loads(line)
            said.pop("module", None)
            said.pop("function_size", None)
            expected = loader_compare.as_json(symbols.answer(addr))
            answers += 1
            if said != expected:
                wrong.append("%x: want %s, got %s" % (addr, expected, said))
            expected = named(symbols.answer(addr))
            if again.answer(addr) != expected:
                wrong.append("%x: want %s, dumped %s"
                             % (addr, expected, again.answer(addr)))
        if wrong or len(got) != len(addrs):
            differ += 1
            if differ == 1:
                with open(path, encoding="utf-8") as file:
                    print(file.read())
                print("\n".join(wrong[:5]))
    print("%d answers, %d modules differ" % (answers, differ))


if __name__ == "__main__":
    main()
