"""Stops a program at random instructions; gdb's Python runs this file.

    gdb -nx -q -batch -x stops.py --args PROGRAM ...

STOPS_OUT names the file for the result (pickle), STOPS_N the number of stops,
STOPS_SEED the seed.  A stop is a signal after a random time and then often some
single steps, so that prologs and epilogs are seen as well.  Kept are registers,
stack and gdb's own stack trace.
"""

import os
import pickle
import random
import subprocess

import gdb

REGISTERS = ["rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
             "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"]
FRAMES_MAX = 256
STACK_MAX = 1 << 20


def mappings(pid):
    with open("/proc/%d/maps" % pid, encoding="ascii") as f:
        for line in f:
            parts = line.split(None, 5)
            start, end = (int(x, 16) for x in parts[0].split("-"))
            yield start, end, int(parts[2], 16), parts[5].strip() if len(parts) > 5 else ""


def stack_from(pid, sp):
    """The stack from 128 bytes below sp on (the red zone) to the mapping's end."""
    for start, end, _, _ in mappings(pid):
        if start <= sp < end:
            at = max(start, sp - 128)
            size = min(end - at, STACK_MAX)
            return at, bytes(gdb.selected_inferior().read_memory(at, size))
    return sp, b""


def trace():
    """Address of each function call, innermost first.  Inlined calls and tail calls,
    which gdb infers, have no frame on the stack.  The start of
    program and linker has no caller."""
    frames = []
    frame = gdb.newest_frame()
    while frame is not None and len(frames) < FRAMES_MAX:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            kind = "signal" if frame.type() == gdb.SIGTRAMP_FRAME else "normal"
            frames.append((frame.pc(), kind, frame.name() or ""))
            if frame.name() in ("_start", "_dl_start_user"):
                break
        frame = frame.older()
    return frames


def stop(rng):
    """False: the program has ended."""
    pid = gdb.selected_inferior().pid
    with subprocess.Popen(["sh", "-c", "sleep %.3f; kill -INT %d 2>/dev/null" % (
            rng.uniform(0.002, 0.02), pid)]):
        gdb.execute("continue", to_string=True)
    if gdb.selected_inferior().pid == 0:
        return False
    if rng.random() < 0.7:
        gdb.execute("stepi %d" % rng.randrange(1, 40), to_string=True)
    return gdb.selected_inferior().pid != 0


def main():
    rng = random.Random(int(os.environ["STOPS_SEED"]))
    n = int(os.environ["STOPS_N"])
    for setting in ("pagination off", "confirm off", "debuginfod enabled off",
                    "backtrace past-main on"):
        gdb.execute("set " + setting)
    gdb.execute("handle SIGINT stop print nopass", to_string=True)
    gdb.execute("handle SIGALRM SIGUSR1 nostop noprint pass", to_string=True)

    stops, runs, images, vdso = [], 0, {}, None
    while len(stops) < n and runs < 4 + n // 4:
        runs += 1
        gdb.execute("starti", to_string=True)
        while len(stops) < n and stop(rng):
            pid = gdb.selected_inferior().pid
            frames = trace()
            if len(frames) < 2:
                continue  # the start of the program or linker
            registers = {}
            frame = gdb.newest_frame()
            while frame.level() == 0 and frame.type() == gdb.INLINE_FRAME:
                frame = frame.older()
            for name in REGISTERS:
                registers[name] = int(frame.read_register(name)) & (1 << 64) - 1
            at, stack = stack_from(pid, registers["rsp"])
            stops.append((registers, at, stack, frames))
            for start, end, offset, path in mappings(pid):
                if path.startswith("/") or path == "[vdso]":
                    first, last, zero = images.get(path, (start, end, start - offset))
                    images[path] = (min(first, start), max(last, end), min(zero, start - offset))
                if path == "[vdso]":
                    vdso = bytes(gdb.selected_inferior().read_memory(start, end - start))
        if gdb.selected_inferior().pid != 0:
            gdb.execute("kill", to_string=True)

    with open(os.environ["STOPS_OUT"], "wb") as f:
        pickle.dump({"stops": stops, "images": images, "vdso": vdso}, f)


main()
