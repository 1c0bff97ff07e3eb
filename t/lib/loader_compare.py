#!/usr/bin/env python3
"""loader_compare.py EXPECTED JSON TEXT - compares answers of `symloader
lookup`.

EXPECTED is the output of sym_oracle.py, JSON and TEXT the loader's for the same
addresses in its two forms.  Prints the first differences, each with its
address, and last "N answers, M differ".
"""

import json
import sys


def as_json(want):
    """The keys and values that --json must print for this answer."""
    out = {"module_offset": hex(want["addr"])}
    if want["function"] is None:
        return out
    out["function"] = want["function"]
    out["function_offset"] = hex(want["addr"] - want["function_addr"])
    out.update(location(want))
    if want["inlines"]:
        out["inlines"] = [{"function": i["function"] or "", **location(i)}
                          for i in want["inlines"]]
    return out


def location(level):
    return {k: level[k] for k in ("file", "line") if level[k] is not None}


def as_text(want):
    """The lines that the text form must print."""
    if want["function"] is None:
        return ["??", "??:0", ""]
    lines = []
    for level in (want["inlines"] or []) + [want]:
        lines.append(level["function"] or "??")
        lines.append("%s:%d" % (level["file"] or "??", level["line"] or 0))
    return lines + [""]


def main():
    expected, got_json, got_text = (open(path, encoding="utf-8")
                                    for path in sys.argv[1:])
    count = differ = 0
    for line in expected:
        want = json.loads(line)
        got = json.loads(next(got_json, "{}"))
        got.pop("module", None)
        size = got.pop("function_size", None)
        text = [next(got_text, "").rstrip("\n") for _ in as_text(want)]
        count += 1
        inside = size is None or int(got["function_offset"], 16) < size
        if got == as_json(want) and text == as_text(want) and inside:
            continue
        differ += 1
        if differ <= 5:
            print("%x: want %s, got %s size %s, text %s"
                  % (want["addr"], as_json(want), got, size, text))
    for name, rest in (("json", got_json), ("text", got_text)):
        if next(rest, None) is not None:
            print("%s: more answers than addresses" % name)
            differ += 1
    print("%d answers, %d differ" % (count, differ))


if __name__ == "__main__":
    main()
