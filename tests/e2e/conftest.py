# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures that several files use, and fewer cases where all would take too long.

HEAPWATCH_THIN=N: of the functions of a file marked `many`, every Nth case, and of the next function other ones.
scripts/valgrind sets it.
"""
import os

import pytest

from harness import SOURCES, Daemon, Programs, private_directory, private_surroundings

THIN = int(os.environ.get("HEAPWATCH_THIN", "1"))
thinned = set()


def pytest_configure(config):
    config.addinivalue_line("markers", "many: has many cases, of which HEAPWATCH_THIN=N takes every Nth")
    config.addinivalue_line("markers", "slow: takes half a minute or more by itself: begins early")
    config.addinivalue_line("markers", "long: has a longer form, with HEAPWATCH_LONG=1")


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
    # What takes longest begins first: groups, each run by one process, then slow tests.
    items[:] = sorted(kept, key=lambda item: (item.get_closest_marker("xdist_group") is None, item.get_closest_marker("slow") is None))


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


@pytest.fixture(scope="session", autouse=True)
def surroundings():
    with private_surroundings():
        yield


@pytest.fixture(scope="session")
def programs():
    """The test programs: name -> path."""
    flush = [f"{SOURCES}/flush.c", f"{SOURCES}/stubs.c"]
    flags = {name: ["-rtsopts", "-eventlog"] for name in ("leaky", "steady", "offheap", "crash", "stress", "restart", "hang", "spike")}
    flags |= {"some": ["-eventlog"], "nolog": ["-rtsopts"], "none": ["-rtsopts=none", "-eventlog"]}
    sources = {"offheap": "OffHeap", **dict.fromkeys(("some", "nolog", "none"), "Stress")}
    return Programs({name: (name, sources.get(name, name.title()), *own, *flush) for name, own in flags.items()})
