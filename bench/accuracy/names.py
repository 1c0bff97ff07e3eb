"""Names of one function as readers of PDBs and DWARF write them.

A name is exact if it is spelled the same, except for spaces.  It is the same
function if its scope and bare name are equal, because some readers have the
argument types and others, which take names from other records, do not.
"""

import re
import subprocess

UNDNAME = ("--no-access-specifier", "--no-calling-convention",
           "--no-return-type", "--no-member-type", "--no-variable-type")


def answers_of(command, wanted):
    done = subprocess.run(command, input="\n".join(wanted).encode(),
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout.decode("utf-8", "replace").splitlines()


def demangled(undname, cxxfilt, names):
    """LLVM's demangled form of MSVC's and of Itanium's names, by name."""
    found, last = {}, None
    # each name, its meaning, and an empty line
    for line in answers_of([undname, *UNDNAME], sorted(
            n for n in names if n.startswith(("?", "@?")))):
        if last is None:
            last = line
        elif line == "":
            last = None
        elif not line.startswith("error: "):
            found.setdefault(last, line)

    # the reader of PE files removes a leading underscore from those of x64, too
    wanted = sorted(n for n in names if re.match(r"_{0,2}ZN?K?[0-9STL]", n))
    whole = ["_" + n.lstrip("_") for n in wanted]
    found.update(zip(wanted, answers_of([cxxfilt], whole)))
    return found


KEYWORDS = re.compile(r"\b(class|struct|union|enum|__ptr64|__restrict)\b ?")


def exact(name):
    """Without spaces, and without words that say what kind of type follows."""
    name = name.replace(" dtor'", " destructor'")
    return KEYWORDS.sub("", name).replace(" ", "").replace("(void)", "()")


OPERATORS = re.compile(
    r"operator ?(<<=|>>=|<=>|<<|>>|<=|>=|->\*|->|\(\)|<|>)")
CONVERSION = re.compile(r"operator (?=[A-Za-z_])")


def bare(name):
    """Scope and name, without arguments, template arguments, return type and
    the prefixes and suffixes of Windows calling conventions on C names."""
    name = OPERATORS.sub(lambda m: "operator%d" % sum(m[1].encode()),
                         KEYWORDS.sub("", name.replace(" dtor'",
                                                       " destructor'")))
    name = CONVERSION.sub("operator~", name)
    name = name.replace("(anonymous namespace)", "`anonymous namespace'")
    name = re.sub(r"`[^`']*'", lambda m: m[0].replace(" ", "~"), name)
    out, depth = [], 0
    for c in name:
        if c in "<([":
            depth += 1
        elif c in ">)]":
            depth = max(0, depth - 1)
        elif depth == 0:
            out.append(c)
    words = [w for w in "".join(out).split()
             if w.strip("&*") not in ("", "const", "volatile", "noexcept")]
    return words[-1].lstrip("_") if words else ""


def same(ours, theirs):
    """Compares two bare names; one without a linkage name may lack its scope."""
    return ours == theirs or theirs != "" and ours.endswith("::" + theirs)
