"""Debug files from Debian's packages, kept in a folder between runs."""

import glob
import os
import shutil
import subprocess


def fetch(package, folder):
    """The folder of a package's files, downloaded once; None: not available."""
    there = os.path.join(folder, package)
    if os.path.isdir(there):
        return there

    debs = os.path.join(folder, "debs")
    os.makedirs(debs, exist_ok=True)
    done = subprocess.run(["apt-get", "-q", "download", package], cwd=debs,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    found = glob.glob(os.path.join(glob.escape(debs), package + "_*.deb"))
    if done.returncode != 0 or not found:
        print("accuracy: %s is not available: %s"
              % (package, done.stderr.decode().strip()))
        return None

    half = there + ".new"
    shutil.rmtree(half, ignore_errors=True)
    subprocess.run(["dpkg-deb", "-x", found[0], half], check=True)
    os.rename(half, there)
    os.remove(found[0])
    return there


def version(package):
    said = subprocess.run(["apt-cache", "policy", package],
                          stdout=subprocess.PIPE).stdout.decode()
    return next((line.split()[1] for line in said.splitlines()
                 if line.strip().startswith("Candidate:")), "?")


def largest(folder):
    """The largest debug file below a folder."""
    files = glob.glob(os.path.join(glob.escape(folder), "**", "*.debug"),
                      recursive=True, include_hidden=True)
    return max((f for f in files if os.path.isfile(f)), key=os.path.getsize)


# --- other registries: programs for Windows ---

def kept(folder, name, make):
    """A folder that is made once, atomically; None: not available."""
    there = os.path.join(folder, name)
    if os.path.isdir(there):
        return there
    half = there + ".new"
    shutil.rmtree(half, ignore_errors=True)
    os.makedirs(half)
    done = make(half)
    if done.returncode != 0:
        print("accuracy: %s is not available: %s"
              % (name, (done.stderr or b"").decode().strip()[-500:]))
        return None
    os.rename(half, there)
    return there


def quiet(command, cwd):
    return subprocess.run(command, cwd=cwd, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE)


def wheel(wanted, platform, folder):
    """A package of PyPI, unpacked."""
    def make(half):
        done = quiet(["python3", "-m", "pip", "download", "--quiet",
                      "--no-deps", "--only-binary=:all:", "--python-version",
                      "3.11", "--platform", platform, wanted], half)
        for found in glob.glob(os.path.join(glob.escape(half), "*.whl")):
            shutil.unpack_archive(found, half, "zip")
        return done

    return kept(folder, "%s-%s" % (wanted.replace("==", "-"), platform), make)


def npm(wanted, folder):
    """A package of npm, unpacked."""
    def make(half):
        done = quiet(["npm", "pack", "--silent", wanted], half)
        for found in glob.glob(os.path.join(glob.escape(half), "*.tgz")):
            shutil.unpack_archive(found, half, "gztar")
        return done

    return kept(folder, wanted.replace("@", "-").replace("/", "-"), make)


def crate(wanted, folder):
    """A program from crates.io; its path in cargo's folder."""
    return kept(folder, "cargo-" + wanted.replace("@", "-"),
                lambda half: quiet(["cargo", "install", "--locked", "--quiet",
                                    "--root", half, wanted], half))
