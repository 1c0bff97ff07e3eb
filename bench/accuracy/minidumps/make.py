"""Minidumps with random stacks, for bench/accuracy/minidumps/run.

Layout: Microsoft's minidumpapiset.h and Breakpad's minidump_format.h.
"""

import random
import struct

WINDOWS, MACOS, IOS, LINUX, ANDROID = 3, 0x8101, 0x8102, 0x8201, 0x8203

# Processor: its number in the dump, bytes of a word, length of the context, its
# flags (offset, format, value), offsets of pc, sp and fp, format of a register.
CONTEXTS = {
    "x86": (0, 4, 716, (0, "I", 0x1003F), 0xB8, 0xC4, 0xB4, "I"),
    "x64": (9, 8, 1232, (0x30, "I", 0x10000F), 0xF8, 0x98, 0xA0, "Q"),
    "arm": (5, 4, 368, (0, "I", 0x40000003), 64, 56, 48, "I"),
    "arm64": (12, 8, 912, (0, "I", 0x400003), 264, 256, 240, "Q"),
    "arm64old": (0x8003, 8, 796, (0, "Q", 0x80000003), 264, 256, 240, "Q"),
    "mips": (1, 4, 600, (0, "I", 0x40003), 312, 240, None, "Q"),
}

# The oracle shows return addresses; Symbolicator and we show call addresses.
BEFORE_RETURN = {"x86": 1, "x64": 1, "arm": 2, "arm64": 4, "arm64old": 4, "mips": 8}


def context(arch, pc, sp, fp):
    _, _, size, (at, form, flags), pc_at, sp_at, fp_at, reg = CONTEXTS[arch]
    c = bytearray(size)
    struct.pack_into("<" + form, c, at, flags)
    struct.pack_into("<" + reg, c, pc_at, pc)
    struct.pack_into("<" + reg, c, sp_at, sp)
    if fp_at is not None:
        struct.pack_into("<" + reg, c, fp_at, fp)
    return bytes(c)


def exception(rng, platform, pc):
    if platform == WINDOWS:
        code = rng.choice([0xC0000005, 0xC0000006, 0xC0000409, 0xC00000FD, 0xE06D7363,
                           0xC0000374, 0x80000003, 0xC06D007E, rng.getrandbits(32)])
        values = [rng.choice([0, 1, 8, 5, 0xC0000005]) for _ in range(rng.randrange(5))]
        return code, rng.getrandbits(2), pc, values
    if platform in (MACOS, IOS) and rng.randrange(2):
        # EXC_RESOURCE, EXC_GUARD: type and flavor are among the bits
        kind = rng.choice([11, 12])
        flavor = rng.choice([0, 1, 2, 3, 4, 5, 8, 1 << rng.randrange(26)])
        code = rng.getrandbits(64)
        code = ((code & ~(7 << 58)) | (flavor & 7) << 58 if kind == 11
                else (code & ~(0x1fffffff << 32)) | flavor << 32)
        return (kind, rng.getrandbits(32), rng.getrandbits(40),
                [0, code, rng.choice([0, rng.getrandbits(64)])])
    if platform in (MACOS, IOS):
        return (rng.choice([1, 2, 3, 5, 6, 0x43507378, 77]),
                rng.choice([1, 2, 13, 10, 0x101, 0x105, 50, 0x10002, rng.getrandbits(6)]),
                rng.getrandbits(40), [])
    return (rng.choice([4, 5, 6, 7, 8, 11, 31, 15, 99, 0xFFFFFFFF]),
            rng.choice([0, 1, 2, 3, 0x80, 0xFFFFFFFA, 77, rng.getrandbits(32)]),
            rng.getrandbits(40), [])


def words(rng, n, width, sp, modules, signs):
    """A stack: addresses of code and of the stack, small and random numbers,
    often with a chain of frame pointers."""
    mask = (1 << 8 * width) - 1
    out = []

    def code():
        start, size = rng.choice(modules)
        value = start + rng.choice([0, 1, 4, rng.randrange(size), size - 1, size])
        return value | (rng.getrandbits(16) << 48 if signs and rng.random() < 0.3 else 0)

    for _ in range(n):
        kind = rng.random()
        out.append((code() if kind < 0.12
                    else sp + width * rng.randrange(-4, n + 4) if kind < 0.25
                    else 0 if kind < 0.5
                    else rng.randrange(0x2000) if kind < 0.6
                    else rng.getrandbits(8 * width)) & mask)
    at = rng.randrange(4) if rng.random() < 0.6 else n
    while at + 8 < n and rng.random() > 0.05:
        further = at + rng.randrange(2, 9)
        out[at] = (sp + width * further) & mask
        out[at + 1] = code() & mask
        at = further
    return out


def dump(rng):
    """(processor, bytes)"""
    arch = rng.choice(sorted(CONTEXTS))
    number, width = CONTEXTS[arch][:2]
    platform = rng.choice([WINDOWS, MACOS, IOS, LINUX, ANDROID])
    sp = 0x7FFF0000 if width == 4 else rng.choice([0x7FF000000000, 0x16F000000])
    address = 0x400000 if width == 4 else rng.choice([0x400000, 0x7F0000000000, 0x100000000])
    modules = []
    for _ in range(rng.randrange(1, 5)):
        modules.append((address, 0x1000 * rng.randrange(1, 30)))
        address += modules[-1][1] + rng.choice([0, 0x1000, 0x100000])
    n = rng.choice([4, 20, 60, 200, 1000])
    stack = struct.pack("<%d%s" % (n, "I" if width == 4 else "Q"),
                        *words(rng, n, width, sp, modules, arch.startswith("arm64")))
    start, size = rng.choice(modules)
    pc = start + rng.randrange(size)
    used = rng.choice([0, 0, 0, width * rng.randrange(n)])
    fp = rng.choice([sp + width * rng.randrange(-2, n + 2), sp + used + width * rng.randrange(4)])
    if rng.random() < 0.1:
        fp = rng.choice([0, -1, -17])
    regs = context(arch, pc, sp + used, fp & ((1 << 8 * width) - 1))
    return arch, build(number, platform, regs, sp, stack, modules, exception(rng, platform, pc))


def build(number, platform, regs, sp, stack, modules, crash):
    directory = 32 + 12 * 4
    out = bytearray()

    def add(data):
        at = directory + len(out)
        out.extend(data)
        out.extend(bytes(-len(out) % 8))
        return at

    def text(s):
        return add(struct.pack("<I", 2 * len(s)) + s.encode("utf-16-le"))

    regs_at, stack_at, version = add(regs), add(stack), text("")
    streams = {
        7: struct.pack("<HHHBBIIIIIHH", number, 6, 0x2A07, 4, 1, 6, 1, 2, platform, version, 0, 0)
           + b"GenuineIntel" + bytes(12),
        3: struct.pack("<IIIIIQQIIII", 1, 100, 0, 0, 0, 0, sp, len(stack), stack_at, len(regs), regs_at),
    }
    rows = struct.pack("<I", len(modules))
    for i, (start, size) in enumerate(modules):
        cv = b"LEpB" + bytes([i + 1] * 20)
        rows += struct.pack("<QIIII", start, size, 0, 0x5A000000, text("/m%d" % i)) + bytes(52)
        rows += struct.pack("<IIII", len(cv), add(cv), 0, 0) + bytes(16)
    streams[4] = rows
    code, flags, at, values = crash
    streams[6] = (struct.pack("<IIIIQQII", 100, 0, code, flags, 0, at, len(values), 0)
                  + struct.pack("<15Q", *(values + [0] * 15)[:15]) + struct.pack("<II", len(regs), regs_at))
    places = b"".join(struct.pack("<III", kind, len(data), add(data)) for kind, data in streams.items())
    return struct.pack("<4sIIIIIQ", b"MDMP", 0xA793, 4, 32, 0, 1700000000, 0) + places + bytes(out)
