#!/usr/bin/env python3
"""returnpads_compare.py - the return pads of a program, judged by others.

    returnpads_compare.py --calls OBJECT
        the first byte of each call instruction that llvm-objdump finds, in
        hexadecimal, one a line
    returnpads_compare.py PADS OBJECT ANSWERS
        PADS is a symbfile; ANSWERS has a line of JSON, as `symloader lookup
        --json` writes it, for each of these calls

A pad is at the last byte of a call, and has the frames of its first byte.  The
output is one JSON object: pads, calls (with a name), missing, surplus,
different (from the answers), and unlike (llvm-symbolizer's function, file or
line).  Each of the last four has a count and the first example.
"""

import json
import re
import subprocess
import sys

import symbfile

OBJDUMP = "llvm-objdump-19"
SYMBOLIZER = "llvm-symbolizer-19"
LINE = re.compile(r"^\s*([0-9a-f]+): ((?:[0-9a-f]+ )+)\s*(\S.*)$")
HASH = re.compile(r"::h[0-9a-f]{16}$")
RUST = {"$LT$": "<", "$GT$": ">", "$RF$": "&", "$BP$": "*", "$C$": ",",
        "$LP$": "(", "$RP$": ")", "$u20$": " ", "$u27$": "'", "$u5b$": "[",
        "$u5d$": "]", "$u7b$": "{", "$u7d$": "}"}
X86 = re.compile(r"^(?:\S+ )?(?:l?call[lqw]?|syscall|int|into)\b")
ARM64 = re.compile(r"^(?:bl|blr|svc)\b")


def calls(path):
    """{last byte: first byte}"""
    text = subprocess.run([OBJDUMP, "-d", path], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    is_call = ARM64 if "aarch64" in text[:200] else X86
    found = {}
    for line in text.splitlines():
        m = LINE.match(line)
        if m and is_call.match(m[3].replace("\t", " ")):
            at = int(m[1], 16)
            size = len(m[2].replace(" ", "")) // 2
            found[at + size - 1] = at
    return found


def answer_frames(answer):
    """Outermost first: (function, file, line)"""
    levels = [answer] + answer.get("inlines", [])[::-1]
    return [(f.get("function", ""), f.get("file", ""), f.get("line", 0))
            for f in levels]


def llvm_frames(path, addresses):
    text = subprocess.run(
        [SYMBOLIZER, "--obj=" + path, "--output-style=JSON"], check=True,
        input="".join("0x%x\n" % a for a in addresses), text=True,
        stdout=subprocess.PIPE).stdout
    for line in text.splitlines():
        yield [(f["FunctionName"], f["FileName"], f["Line"])
               for f in json.loads(line)["Symbol"][::-1]]


def rust_name(name):
    """llvm-symbolizer shows Rust's older names as C++ does."""
    name = re.sub(r" \(\.llvm\.\d+\)$", "", name)
    for word, sign in RUST.items():
        name = name.replace(word, sign)
    return HASH.sub("", name).replace("..", "::")


def names_equal(ours, theirs):
    if "$" in theirs or "::h" in theirs:
        theirs = rust_name(theirs)
    if theirs.startswith("_Z"):
        return True  # llvm-symbolizer cannot demangle it
    ours, theirs = (re.sub(r"[\s_]", "", name) for name in (ours, theirs))
    return ours.endswith(theirs) or theirs.endswith(ours)


def tail(path):
    return path.rsplit("/", 1)[-1]


def is_alike(ours, theirs):
    """DWARF qualifies names that symbols of the linker do not, and the other
    way round; a folder may be written in two ways.  A symbol has no file, but
    llvm-symbolizer shows that of the symbol table."""
    return len(ours) == len(theirs) and all(
        names_equal(a[0], b[0])
        and (tail(a[1]) == tail(b[1]) or a[1:] == ("", 0)) and a[2] == b[2] for a, b in zip(ours, theirs))


def main():
    if sys.argv[1] == "--calls":
        for at in sorted(calls(sys.argv[2]).values()):
            print("%x" % at)
        return

    pads_path, path, answers_path = sys.argv[1:]
    with open(pads_path, "rb") as f:
        pads = {p["va"]: [tuple(frame) for frame in p["frames"]]
                for _, p in symbfile.read(f.read())}
    with open(answers_path) as f:
        answers = [json.loads(line) for line in f]
    found = sorted(calls(path).items(), key=lambda item: item[1])
    assert len(answers) == len(found), (len(answers), len(found))

    named = {last: (first, answer_frames(answer))
             for (last, first), answer in zip(found, answers)
             if "function" in answer}
    both = sorted(set(pads) & set(named))
    theirs = llvm_frames(path, [named[at][0] for at in both])
    faults = {
        "missing": [(hex(at), named[at]) for at in sorted(set(named) - set(pads))],
        "surplus": [(hex(at), pads[at]) for at in sorted(set(pads) - set(named))],
        "different": [(hex(at), pads[at], named[at][1]) for at in both
                      if pads[at] != named[at][1]],
        "unlike": [(hex(at), pads[at], frames) for at, frames in zip(both, theirs)
                   if not is_alike(pads[at], frames)],
    }
    print(json.dumps({"pads": len(pads), "calls": len(named),
                      **{name: [len(all_), all_[:1]] for name, all_ in faults.items()}}))


if __name__ == "__main__":
    main()
