"""The counts, as text and as the tables of bench/ACCURACY.md."""

import collections
import re
import subprocess

import causes

BEGIN, END = "<!-- begin of tables -->\n", "<!-- end of tables -->\n"
PEERS_BEGIN = "<!-- begin of tables of Windows -->\n"
PEERS_END = "<!-- end of tables of Windows -->\n"


def percent(part, whole):
    """Never rounded up: 100 % means all of them."""
    if whole == 0:
        return "-"
    return "%.2f %%" % (10000 * part // whole / 100)


def thousands(n):
    return "{:,}".format(n)


def say(result):
    total = result["addresses"]
    print("== %s: %s addresses" % (result["name"], thousands(total)))
    print("   equal %s, functions and calls %s, lines %s; seconds: %s" % (
        percent(result["equal"], total), percent(result["functions"], total),
        percent(result["lines"], total), result["seconds"]))
    if result["atos"]:
        print("   atos shows another line for %d" % result["atos"])
    print("   eu-addr2line, at %d: %s" % (result["asked"],
                                          dict(result["elfutils"])))
    for kind, n in result["differences"].most_common():
        votes = {k.rsplit(": ", 1)[1]: v for k, v in result["votes"].items()
                 if k.rsplit(": ", 1)[0] == kind}
        print("   %8d %s; eu-addr2line sides with: %s" % (n, kind, votes))
    for kind, samples in result["samples"].items():
        if kind == "not explained" or kind.startswith("eu-addr2line"):
            for address, ours, theirs in samples:
                print("   %s, %s\n      ours   %s\n      theirs %s"
                      % (kind, address, ours, theirs))


def say_of_peers(result):
    total = result["addresses"]
    print("== %s: %s asked" % (result["name"], thousands(total)))
    print("   equal to one of them %s, except for spelling of names %s; "
          "seconds: %s" % (percent(result["all"], total),
                           percent(result["but for names"], total),
                           result["seconds"]))
    for who, n in result["oracles"].items():
        print("   %s: equal %s, but for names %s, lines %s" % (
            who, percent(n["all"], total), percent(n["but for names"], total),
            percent(n["lines"], total)))
    for kind, n in result["differences"].most_common():
        print("   %8d %s" % (n, kind))
        for where, ours, others in result["samples"][kind]:
            print("   %s\n      ours   %s" % (where, ours))
            for who, theirs in others.items():
                print("      %-6s %s" % (who, theirs))


def functions_named(result):
    """Equal functions and calls where only the spelling of a name differs."""
    return result["functions"] + sum(
        n for kind, n in result["differences"].items()
        if set(kind.split(", ")) & set(causes.NAMES))


TARGET = 0.999


def reading(result):
    """How the target is met, for functions and calls."""
    enough = TARGET * result["addresses"]
    if result["functions"] >= enough:
        return "met to the letter"
    if functions_named(result) >= enough:
        return "met, but for how names are written"
    rest = result["differences"]["not explained"]
    return ("met after classified differences"
            if result["addresses"] - rest >= enough else "**missed**")


def file_rows(results):
    yield ("| file | addresses | equal in all | functions and calls | ... but "
           "for how names are written | lines | all, after classified "
           "differences | functions and calls >= 99.9 % |\n"
           "|---|---|---|---|---|---|---|---|\n")
    for r in results:
        n = r["addresses"]
        rest = r["differences"]["not explained"]
        yield "| %s | %s | %s | %s | %s | %s | %s | %s |\n" % (
            r["name"], thousands(n), percent(r["equal"], n),
            percent(r["functions"], n), percent(functions_named(r), n),
            percent(r["lines"], n), percent(n - rest, n), reading(r))


ELFUTILS = ("equal", "named otherwise", "eu-addr2line alone",
            "as llvm-symbolizer", "each its own")


def elfutils_rows(results):
    yield "| file | addresses | %s |\n" % " | ".join(ELFUTILS)
    yield "|---" * (len(ELFUTILS) + 2) + "|\n"
    for r in results:
        if r["asked"] == 0:
            continue  # not an ELF file
        yield "| %s | %s | %s |\n" % (
            r["name"], thousands(r["asked"]),
            " | ".join(percent(r["elfutils"][k], r["asked"])
                       for k in ELFUTILS))


def cause_rows(results):
    counts, votes = collections.Counter(), collections.Counter()
    for r in results:
        for kind, n in r["differences"].items():
            for cause in kind.split(", "):
                counts[cause] += n
        for kind, n in r["votes"].items():
            names, side = kind.rsplit(": ", 1)
            for cause in names.split(", "):
                votes[cause, side] += n
    yield ("| class | addresses | eu-addr2line: as we, as llvm-symbolizer, as "
           "neither | cause |\n|---|---|---|---|\n")
    for cause, n in counts.most_common():
        if n != 0:
            yield "| %s | %s | %s | %s |\n" % (
                cause, thousands(n),
                ", ".join(thousands(votes[cause, side])
                          for side in ("ours", "llvm", "neither")),
                causes.TEXT.get(cause, "**unknown: a bug**"))


def said_version(command):
    said = subprocess.run(command, stdout=subprocess.PIPE).stdout.decode()
    return re.search(r"(\d+(\.\d+)+)", said)[1]


def peer_rows(results):
    readers = ("symbolic", "llvm-symbolizer", "dump_syms", "the specification")
    yield "| file | asked | equal to one reader | ... but for how names are " \
          "written | all, after classified differences | %s |\n%s\n" % (
              " | ".join(readers), "|---" * (5 + len(readers)) + "|")
    for r in results:
        n = r["addresses"]
        yield "| %s | %s | %s | %s | %s | %s |\n" % (
            r["name"], thousands(n), percent(r["all"], n),
            percent(r["but for names"], n),
            percent(n - r["differences"]["not explained"], n),
            " | ".join(percent(r["oracles"][who]["but for names"], n)
                       if who in r["oracles"] else "" for who in readers))


def peer_cause_rows(results):
    counts = collections.Counter()
    for r in results:
        counts.update(r["differences"])
    yield "| class | asked | cause |\n|---|---|---|\n"
    for cause, n in counts.most_common():
        if n != 0:
            yield "| %s | %s | %s |\n" % (
                cause, thousands(n),
                causes.PEERS_TEXT.get(cause, "**unknown: a bug**"))


def replaced(text, begin, end, tables):
    before, rest = text.split(begin)
    _, after = rest.split(end)
    return before + begin + "".join(tables) + end + after


def record(path, results, symbolizer):
    """Only the tables of compared files."""
    peers = [r for r in results if "oracles" in r]
    others = [r for r in results if "oracles" not in r]
    with open(path, encoding="utf-8") as f:
        text = f.read()
    if others:
        text = replaced(text, BEGIN, END, [
            "llvm-symbolizer %s, eu-addr2line %s.\n\n" % (
                said_version([symbolizer, "--version"]),
                said_version(["eu-addr2line", "--version"])),
            *file_rows(others), "\n", *cause_rows(others), "\n",
            *elfutils_rows(others)])
    if peers:
        text = replaced(text, PEERS_BEGIN, PEERS_END, [
            *peer_rows(peers), "\n", *peer_cause_rows(peers)])
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
