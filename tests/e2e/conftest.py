# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures that several files use."""
import shutil
import subprocess

import pytest

from harness import ROOT, private_directory

SOURCES, FLUSH = "tests/programs", "scripts/demo"


@pytest.fixture
def directory():
    with private_directory() as path:
        yield path


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    """The test programs, compiled once with the system's GHC: name -> path."""
    assert shutil.which("ghc"), "scripts/deps installs ghc"
    out = tmp_path_factory.mktemp("programs")

    def compile_one(source, name, *flags):
        # Relative names: GHC puts the object of a C file with an absolute name beside it, into the tree.
        subprocess.run(["ghc", "-v0", "-O1", f"-i{FLUSH}", f"-i{SOURCES}", "-outputdir", out / f"{name}.o", "-o",
                        out / name, *flags, f"{SOURCES}/{source}.hs", f"{FLUSH}/flush.c",
                        f"{SOURCES}/stubs.c"], check=True, cwd=ROOT)
        return out / name

    log = ["-rtsopts", "-eventlog"]
    return {
        "leaky": compile_one("Leaky", "leaky", *log),
        "steady": compile_one("Steady", "steady", *log),
        "offheap": compile_one("OffHeap", "offheap", *log),
        "crash": compile_one("Crash", "crash", *log),
        "stress": compile_one("Stress", "stress", *log),
        "restart": compile_one("Restart", "restart", *log),
        "hang": compile_one("Hang", "hang", *log),
        "some": compile_one("Stress", "some", "-eventlog"),
        "nolog": compile_one("Stress", "nolog", "-rtsopts"),
        "none": compile_one("Stress", "none", "-rtsopts=none", "-eventlog"),
    }
