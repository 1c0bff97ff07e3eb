#!/usr/bin/env python3
"""made_fixtures.py FOLDER - replaces the fixtures in a clone without them.

    symbols/NAME/ID/FILE.sym     a Breakpad store as tools write it
    elf/crash, crash.debug...    an executable and its debug file, of g++
    sentry/symbols/f1/...        the same by their build id

Names, ids and the order of sizes are those of the real files, so that tests can
use them unchanged; tests compare with what other programs read in them.  `make
unit` runs this.
"""

import os
import random
import re
import shutil
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
BUILD_ID = "f1c3bcc0279865fe3058404b2831d9e64135386c"
SAMPLE = "linux_inline/BBA6FA10B8AAB33D00000000000000000"

# folder, file name, OS, architecture, address of the first function; number of
# functions, at most this many lines and inlined calls in each; publics
MODULES = [
    ("crash-client/509C0610949836F7B70BD88BCF03E5400", "crash-client",
     "mac", "x86_64", 0xdd0, 4000, 64, 40, 41),
    ("kernel32.pdb/BCE8785C57B44245A669896B6A19B9542", "kernel32",
     "windows", "x86", 0x10c0, 0, 0, 0, 1576),
    ("ld-2.13.so/C32AD7E235EA6112E02A5B9D6219C4850", "ld-2.13.so",
     "Linux", "x86_64", 0xaf0, 0, 0, 0, 40),
    ("libc-2.13.so/F4F8DFCD5A5FB5A7CE64717E9E6AE3890", "libc-2.13.so",
     "Linux", "x86_64", 0x1e9a0, 0, 0, 0, 1710),
    ("libgcc_s.so.1/18B180F90887D8F8B5C35D185444AF4C0", "libgcc_s.so.1",
     "Linux", "x86_64", 0x2890, 0, 0, 0, 127),
    ("null_read_av/7B7D1968FF0D47AE4366E9C3A7E1B6750", "null_read_av",
     "Linux", "x86_64", 0x1c10, 158, 64, 0, 0),
    ("overflow/B0E1FC01EF48E39CAF5C881D2DF0C3840", "overflow",
     "Linux", "x86_64", 0x1e20, 168, 64, 0, 0),
    ("test_app.pdb/5A9832E5287241C1838ED98914E9B7FF1", "test_app",
     "windows", "x86", 0x1000, 1065, 22, 0, 5),
]

# Parts of names that a reader may stumble over.
NAMES = ["run", "core::fmt::write::<&mut dyn core::fmt::Write>", "operator()",
         "std::map<int, std::string>::find(int const&) const", "Größe::länge",
         "`anonymous namespace'::quote\"d", "a\\b", "-[View draw:]"]


def name(source, number):
    return "%s::%s_%d" % (
        "::".join("part%d" % source.randrange(50)
                  for _ in range(source.randint(1, 4))),
        source.choice(NAMES), number)


def nested(source, out, start, end, depth, left):
    """At most `left` inlined calls in a range; returns how many are left."""
    at = start
    while left > 0 and at < end:
        size = source.randint(1, max(1, end - at))
        ranges = "%x %x" % (at, size)
        if depth == 0 and size > 8 and source.random() < 0.2:
            ranges = "%x 2 %x %x" % (at, at + 4, size - 4)
        out.append("INLINE %d %d %d %d %s" % (
            depth, source.randint(0, 900), source.randrange(40),
            source.randrange(500), ranges))
        left -= 1
        if depth < 6 and size > 2 and " 2 " not in ranges:
            left = nested(source, out, at, at + size, depth + 1, left)
        at += size + source.randint(0, 9)
    return left


def function(source, at, size, title, most_lines, most_calls):
    out = ["FUNC %s%x %x 0 %s" % ("m " if source.random() < 0.1 else "", at,
                                  size, title)]
    if most_calls:
        nested(source, out, at, at + size, 0, source.randint(0, most_calls))
    start, end = at, at + size
    for _ in range(source.randint(1, most_lines)):
        length = source.randint(1, 16)
        if start + length >= end:
            break
        out.append("%x %x %d %d" % (start, length, source.randint(1, 2000),
                                    source.randrange(40)))
        start += length
    # as compilers write them: every byte has a line
    out.append("%x %x %d 0" % (start, end - start, source.randint(1, 2000)))
    return out


def module(source, folder, system, arch, at, functions, lines, calls, publics):
    title, ident = folder.split("/")
    out = ["MODULE %s %s %s %s" % (system, arch, ident, title)]
    if functions:
        out += ["FILE %d /build/src/part%d/file%d.cc" % (n, n % 7, n)
                for n in range(40)]
    if calls:
        out += ["INLINE_ORIGIN %d %s" % (n, name(source, n)) for n in range(500)]
    for number in range(functions):
        size = source.randint(0x10, 0x240 if calls else 0x90)
        # the example of docs/design/adding-an-api.md looks up this name
        title = ("wmemcpy_s" if system == "windows" and number == 1
                 else name(source, number))
        if number == 0:
            size = 0x1a
        out += function(source, at, size, title, lines, calls)
        at = (at + size + 15) & ~15
    for number in range(publics):
        out.append("PUBLIC %x 0 %s" % (at, name(source, number)))
        at += source.randint(1, 0x200)
    for _ in range(functions or publics):
        start = source.randrange(at)
        out.append("STACK CFI INIT %x 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^" % start
                   if system != "windows" else
                   "STACK WIN 4 %x 20 6 0 8 0 8 0 1 $eip 4 + ^ =" % start)
    return "\n".join(out) + "\n"


def older_form(text):
    """The sample with its INLINE records in the form of until 2021: a call's
    file is that of its origin."""
    text = re.sub(r"^INLINE_ORIGIN (\d+) ", r"INLINE_ORIGIN \1 0 ", text,
                  flags=re.M)
    return re.sub(r"^INLINE (\d+ \d+) \d+ ", r"INLINE \1 ", text, flags=re.M)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def make_symbols(store):
    for n, (folder, file, *rest) in enumerate(MODULES):
        write("%s/%s/%s.sym" % (store, folder, file),
              module(random.Random(n), folder, *rest))
    with open("%s/samples/%s/linux_inline.sym" % (ROOT, SAMPLE),
              encoding="utf-8") as file:
        sample = file.read()
    write("%s/%s/linux_inline.new.sym" % (store, SAMPLE), sample)
    write("%s/%s/linux_inline.old.sym" % (store, SAMPLE), older_form(sample))


def make_elf(folder):
    os.makedirs(folder, exist_ok=True)
    crash, debug = folder + "/crash", folder + "/crash.debug"
    # not $CXX, which a user sets for the project
    for command in [
            ["g++", "-O2", "-gdwarf-4", "-no-pie", "-fno-ipa-cp",
             "-Wl,--build-id=0x" + BUILD_ID,
             ROOT + "/t/lib/made_crash.cc", "-o", crash],
            ["objcopy", "--only-keep-debug", crash, debug],
            ["objcopy", "--strip-debug", "--add-gnu-debuglink=" + debug, crash],
            ["objcopy", "--compress-debug-sections=zlib", debug, debug + "-zlib"],
            ["objcopy", "--compress-debug-sections=zstd", debug, debug + "-zstd"]]:
        subprocess.run(command, check=True)


def main():
    folder = sys.argv[1]
    make_symbols(folder + "/symbols")
    make_elf(folder + "/elf")
    native = "%s/sentry/symbols/%s" % (folder, BUILD_ID[:2])
    os.makedirs(native, exist_ok=True)
    shutil.copy(folder + "/elf/crash", native + "/" + BUILD_ID[2:])
    shutil.copy(folder + "/elf/crash.debug",
                native + "/" + BUILD_ID[2:] + ".debug")


if __name__ == "__main__":
    main()
