# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures that several files use, and fewer cases where all would take too long.

HEAPWATCH_THIN=N: of the functions of a file marked `many`, every Nth case, and of the next function other ones.
scripts/valgrind sets it.
"""
import os
import shutil
import subprocess

import pytest

from harness import ROOT, SOURCES, Daemon, private_directory

THIN = int(os.environ.get("HEAPWATCH_THIN", "1"))
thinned = set()


def pytest_configure(config):
    config.addinivalue_line("markers", "many: has many cases, of which HEAPWATCH_THIN=N takes every Nth")


def pytest_collection_modifyitems(config, items):
    functions, kept, dropped = {}, [], []
    for item in items:
        cases = functions.setdefault(item.function, [])
        first = len(functions) % THIN
        keep = item.get_closest_marker("many") is None or not hasattr(item, "callspec") or len(cases) % THIN == first
        cases.append(item)
        (kept if keep else dropped).append(item)
    thinned.update(item.path.name for item in dropped)
    config.hook.pytest_deselected(items=dropped)
    items[:] = kept


def pytest_terminal_summary(terminalreporter):
    for name in sorted(thinned):
        terminalreporter.write_line(f"thinned: one in {THIN} of the cases of {name}")


@pytest.fixture(autouse=True)
def no_daemon_outlives_its_test():
    before = len(Daemon.started)
    yield
    for process in Daemon.started[before:]:
        process.kill()
        process.wait()
    del Daemon.started[before:]


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
        subprocess.run(["ghc", "-v0", "-O1", f"-i{SOURCES}", "-outputdir", out / f"{name}.o", "-o",
                        out / name, *flags, f"{SOURCES}/{source}.hs", f"{SOURCES}/flush.c",
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
