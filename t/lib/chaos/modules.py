"""modules - symbol files for the chaos tests, with a known answer for every
address.

A module has versions, like a file that is uploaded again; their names differ,
so that an answer shows its version.  sym_oracle.py, which shares no code with
the C program, gives the answer for an address.
"""

import os
import random

import sym_oracle
import sym_random

FUNCTIONS_END = sym_random.TOP + 0x60
PADDING_START = 0x1000
PADDING_STEP = 0x10
PADDING_NAME = 180  # characters; no two names have many in common


class Module:
    """padding: bytes of symbols after the functions, nearly incompressible."""

    def __init__(self, seed, name, number, padding=0):
        self.seed, self.name, self.padding = seed, name, padding
        self.id = "%032X%X" % (number, 1 + number % 9)
        self.key = "%s/%s" % (name, self.id)
        self.path = "%s/%s.sym" % (self.key, name)
        self.versions = 0
        self.oracles = {}  # version => its oracle
        self.answers = {}  # (version, address) => answer

    def symbols(self):
        """Number of addresses in the padding that have a name."""
        return self.padding // PADDING_NAME

    def text(self, version):
        source = random.Random("%s/%s/%d" % (self.seed, self.key, version))
        prefix = "%s_v%d_" % (self.name, version)
        text = plain(sym_random.module(source, self.name, self.id, prefix))
        for n in range(self.symbols()):
            text += "PUBLIC %x 0 %s%d_%0*x\n" % (
                PADDING_START + n * PADDING_STEP, prefix, n, PADDING_NAME,
                source.getrandbits(4 * PADDING_NAME))
        return text.encode()

    def publish(self, folder):
        """Writes the next version below FOLDER/vN/ and makes it the current
        one; returns its number."""
        version = self.versions + 1
        write(os.path.join(folder, "v%d" % version, self.path),
              self.text(version))
        self.versions = version
        return version

    def address(self, source):
        """An address that has a name, or has none."""
        if self.padding and source.random() < 0.3:
            return PADDING_START + source.randrange(
                self.symbols() * PADDING_STEP)
        return source.randrange(FUNCTIONS_END)

    def answer(self, version, address):
        key = (version, address)
        if key not in self.answers:
            if version not in self.oracles:
                self.oracles[version] = sym_oracle.Symbols(self.text(version))
            self.answers[key] = self.oracles[version].answer(address)
        return self.answers[key]


def plain(text):
    """Without calls of one depth that begin alike in a function, because
    t/loader_random.t tests which of them counts."""
    out, begun = [], set()
    for line in text.splitlines(True):
        words = line.split()
        if words[0] == "FUNC":
            begun = set()
        elif words[0] == "INLINE":
            begins = {(words[1], start) for start in words[5::2]}
            if begins & begun or len(begins) < len(words[5::2]):
                continue
            begun |= begins
        out.append(line)
    return "".join(out)


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "wb") as file:
        file.write(data)
    os.rename(path + ".new", path)


def spoil(folder, module, other):
    """Content that a broken source sends instead of the module's file."""
    text = module.text(1)
    for kind, data in (("garbage", b"\x00\xff no symbol file\n" * 40),
                       ("page", b"<!DOCTYPE html><title>not here</title>\n"),
                       ("bent", text.replace(b"\nFUNC ", b"\nFUNC x", 1)),
                       ("cutgzip", b"\x1f\x8b\x08\0\0\0\0\0\0\3 not deflate"),
                       ("other", other.text(1)),
                       ("empty", b"")):
        write(os.path.join(folder, kind, module.path), data)
