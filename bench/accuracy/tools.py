"""The tools that are compared.  Each gives one chain per address: [(function,
file, line), ...], innermost first; empty strings and 0 for unknown parts. Each
is one process that reads all addresses from its standard input.
"""

import json
import re
import subprocess


def run(command, addresses):
    text = "".join("0x%x\n" % a for a in addresses)
    done = subprocess.run(command, input=text.encode(),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.stdout.decode("utf-8", "replace")


def known(text):
    return "" if text in ("??", "<invalid>") else text


def chain(frames):
    """An answer without content counts as none."""
    return [] if all(f == ("", "", 0) for f in frames) else frames


# --- ours ---

def load(loader, store, path, debug_id=None):
    """Loads one file into a new store; returns NAME/ID of its module, of
    several the one with that id."""
    subprocess.run([loader, "init", "--store", store, "--quota", "8g"],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run([loader, "load", "--store", store, "--quiet", path],
                   check=True, stdout=subprocess.DEVNULL)
    listed = subprocess.run([loader, "ls", "--store", store, "--json"],
                            check=True, stdout=subprocess.PIPE).stdout
    return next("%s/%s" % (module["name"], module["id"])
                for module in map(json.loads, listed.splitlines())
                if debug_id in (None, module["id"]))


def ours(loader, store, module, base, addresses):
    out = run([loader, "lookup", "--store", store, "--json",
               "--no-demangle", module, "-"],
              [a - base for a in addresses])
    for line in out.splitlines():
        answer = json.loads(line)
        yield chain([(f.get("function", ""), f.get("file", ""),
                      f.get("line", 0))
                     for f in answer.get("inlines", []) + [answer]])


def ours_managed(loader, store, module, pairs):
    out = subprocess.run([loader, "lookup", "--store", store, "--json",
                          "--kind", "ppdb", module, "-"],
                         input="".join("%x+%x\n" % p for p in pairs).encode(),
                         stdout=subprocess.PIPE).stdout
    for line in out.decode().splitlines():
        answer = json.loads(line)
        yield chain([("", answer.get("file", ""), answer.get("line", 0))])


SHOWN = re.compile(r"\(in [^()]*\) \((.*):(\d+)\)$")


def atos(loader, store, module, addresses):
    """(file, line) of the innermost call in `symloader atos`."""
    out = run([loader, "atos", "--store", store, "-o", module, "-fullPath",
               "--inline", "line"], addresses)
    for line in out.splitlines():
        match = SHOWN.search(line)
        yield (match[1], int(match[2])) if match else ("", 0)


# --- llvm-symbolizer ---

def llvm(symbolizer, path, addresses, *options):
    """None: it crashed at this address (22 does at some in PDBs of arm64), or
    has crashed too often before."""
    at = deaths = 0
    while at < len(addresses) and deaths < 20:
        out = run([symbolizer, "--obj=" + path, "--inlines",
                   "--functions=linkage", "--no-demangle",
                   "--output-style=JSON", *options], addresses[at:])
        for line in out.splitlines():
            yield chain([(known(s["FunctionName"]), known(s["FileName"]),
                          s["Line"])
                         for s in json.loads(line).get("Symbol", [])])
            at += 1
        if at < len(addresses):
            yield None
            at, deaths = at + 1, deaths + 1
    yield from [None] * (len(addresses) - at)


# --- eu-addr2line ---

PLACE = re.compile(r"^(.*?):(\d+)(?::\d+)?(?: \(.*\))?$")


def place(text):
    match = PLACE.match(text)
    return (known(match[1]), int(match[2])) if match else ("", 0)


def elfutils(path, addresses):
    out = run(["eu-addr2line", "-a", "-f", "-i", "-e", path], addresses)
    frames = None
    lines = iter(out.splitlines())
    for line in lines:
        if line.startswith("0x"):
            if frames is not None:
                yield chain(frames)
            frames = []
        else:
            function = line.split(" inlined at ")[0]
            frames.append((known(function), *place(next(lines, ""))))
    if frames is not None:
        yield chain(frames)
