"""Why our answer differs from llvm-symbolizer's: one rule per cause.

A rule compares one pair of frames, or both chains, and applies only if it
explains the whole difference.  A difference that no rule explains is a bug.
"""

import collections
import os
import re

import names


def normal(path):
    """Without "." and "name/..": tools spell the same path differently."""
    parts = []
    for part in path.split("/"):
        if part == ".." and parts and parts[-1] not in ("", ".."):
            parts.pop()
        elif part != "." and (part or not parts):
            parts.append(part)
    return "/".join(parts)


# --- rules for names ---

def version(ours, theirs):
    return re.sub(r"@@?[A-Za-z_].*$", "", theirs) == ours


def qualified(ours, theirs):
    return theirs != "" and ours.endswith("::" + theirs)


# --- rules for positions: (file, line) ---

def symbols_file(ours, theirs):
    return ours == ("", 0) and theirs[0] != "" and theirs[1] == 0


def without_file(ours, theirs):
    return ours == ("", 0) and theirs[0] == "" and theirs[1] != 0


# --- rules for chains ---

def padding(ours, theirs):
    return not ours and len(theirs) == 1 and theirs[0][0] == ""


NAMES = {"version": version, "qualified": qualified}
PLACES = {"file of the symbol": symbols_file,
          "line without a file": without_file}
CHAINS = {"padding": padding}


# --- rules that need the file (facts.py) ---

def past_section(ours, theirs, address, file):
    return (not ours and len(theirs) == 1 and theirs[0][1:] == ("", 0)
            and file.is_beyond(theirs[0][0], address))


def claimed_twice(ours, theirs, address, file):
    return file.claims(address) > 1


def data(ours, theirs, address, file):
    return not ours and not file.is_code(address)


FILES = {"past its section": past_section, "data": data,
         "claimed twice": claimed_twice}

TEXT = {
    "version": "llvm-symbolizer leaves the version at a symbol's name, "
               "`dlclose@@GLIBC_2.34`; we cut it, because the source has "
               "`dlclose`",
    "qualified": "without a linkage name, llvm-symbolizer gives the bare "
                 "name, we give it with its namespaces and types",
    "padding": "after the end of a function llvm-symbolizer continues with the "
               "last line, without a function; we give nothing, because nothing "
               "runs there",
    "file of the symbol": "for code without lines llvm-symbolizer gives the "
                          "name of the file symbol before, without a folder "
                          "and line; we give no file",
    "line without a file": "the number of the file is not in the line table: "
                           "we drop the line too",
    "past its section": "llvm-symbolizer extends a symbol without a size "
                        "beyond its section: `_init` over `.plt`",
    "data": "llvm-symbolizer returns data symbols for code addresses; we do not",
    "claimed twice": "two units contain the address (copies of one "
                     "inline function; the linker kept one); we take "
                     "the first unit in the file",
}


def of_pair(rules, ours, theirs):
    return next((name for name, rule in rules.items() if rule(ours, theirs)),
                None)


def place(frame):
    return (normal(frame[1]), frame[2])


def same_functions(ours, theirs):
    """Compares the whole chain; a frame without a name counts as none."""
    names = [[f[0] for f in chain] for chain in (ours, theirs)]
    return names[0] == names[1] or not any(names[0] + names[1])


def same_lines(ours, theirs):
    return [place(f) for f in ours] == [place(f) for f in theirs]


def causes(ours, theirs, address, file):
    """Names of all causes; an empty set: equal; None: unexplained."""
    if same_functions(ours, theirs) and same_lines(ours, theirs):
        return set()

    whole = of_pair(CHAINS, ours, theirs)
    if whole is not None:
        return {whole}

    found = set()
    if len(ours) == len(theirs):
        for a, b in zip(ours, theirs):
            if a[0] != b[0]:
                found.add(of_pair(NAMES, a[0], b[0]))
            if place(a) != place(b):
                found.add(of_pair(PLACES, place(a), place(b)))
        if None not in found:
            return found

    name = next((name for name, rule in FILES.items()
                 if rule(ours, theirs, address, file)), None)
    return {name} if name else None


# --- rules for several readers (peers.py): answers by reader ---

def places(chain):
    return [place(f) for f in chain or []]


# Known facts about the code at an address of a PDB: (name, file, line) of each
# procedure, if the linker folded some; dump_syms' (depth, name) of inlined
# calls.
Here = collections.namedtuple("Here", "procedures calls")


def without_lines(ours, others, here):
    """The function has no line there, but calls inlined in it have.  dump_syms
    omits the outermost of these, which has no position, and the others if they
    have no answer there."""
    return (len(ours) > 1 and place(ours[-1]) == ("", 0)
            and others.get("symbolic") == [ours[-1]]
            and bool(others.get("dump_syms"))
            and [(depth + 1, f[0]) for depth, f in enumerate(ours[-3::-1])]
            == here.calls)


def same_calls(ours, theirs):
    """Everything except the name of the function around them."""
    return (bool(theirs) and places(theirs) == places(ours)
            and [f[0] for f in theirs[:-1]] == [f[0] for f in ours[:-1]])


def same_inside(ours, theirs):
    """All calls that are inlined there; at least the position of a single
    frame."""
    if not theirs:
        return False
    return (places(theirs[:-1]) == places(ours[:-1])
            and [f[0] for f in theirs[:-1]] == [f[0] for f in ours[:-1]]
            or len(ours) == 1 and place(theirs[0]) == place(ours[0]))


def folded(ours, others, here):
    """Function and line are those of one of several procedures with this code,
    and the inlined calls equal some reader's."""
    return (bool(ours)
            and any(names.same(names.bare(ours[-1][0]), names.bare(p[0]))
                    and place(ours[-1]) == place(p) for p in here.procedures)
            and any(same_inside(ours, c) for c in others.values()))


def other_symbol(ours, others, _):
    """Same as llvm-symbolizer, whose name for the function no other reader has."""
    symbolic = others.get("symbolic")
    return ("dump_syms" not in others
            and same_calls(ours, others.get("llvm-symbolizer"))
            and (not symbolic or symbolic[-1][0] == ours[-1][0]))


def between(ours, others, _):
    """Padding: llvm-symbolizer continues with the last line, symbolic does not."""
    llvm = others.get("llvm-symbolizer")
    return (not others.get("symbolic") and bool(llvm) and len(llvm) == 1
            and places(ours) in ([], [("", 0)], [place(llvm[0])]))


def copied(ours, others, _):
    """A line, and the same line of a file in another folder."""
    def lines(chain):
        return [(name, os.path.basename(file), line)
                for name, file, line in chain or []]
    return any(lines(c) == lines(ours) for c in others.values())


PEERS = {"calls of generated code": without_lines, "folded": folded,
         "other symbol": other_symbol, "between functions": between,
         "copies": copied}

PEERS_TEXT = {
    "calls of generated code":
        "a compiler's own function (a destructor) has no lines, but calls that "
        "are inlined in it have: symbolic omits these, dump_syms reports "
        "one of their lines as the function's; we give calls and lines, like the "
        "records",
    "folded":
        "the linker has folded equal functions into one: each reader names "
        "another of them, or gives one the lines of another (symbolic takes any "
        "of a unit's tables for this code); we name the last one that has "
        "lines, with these",
    "other symbol":
        "calls and lines are llvm-symbolizer's, which names the function around "
        "them by a symbol of another section (WebAssembly: `.rodata`) or of the "
        "same address; we and symbolic by its own",
    "between functions":
        "after the last byte of a function llvm-symbolizer continues with its "
        "last line; we give the symbol at most, symbolic nothing",
    "copies":
        "two units have the function, from headers with the same text in two "
        "folders; the linker kept one copy of its code",
}


def of_peers(ours, others, here):
    """The cause, or None; others: the answer of each reader, None: it crashed."""
    return next((name for name, rule in PEERS.items()
                 if rule(ours, others, here)), None)
