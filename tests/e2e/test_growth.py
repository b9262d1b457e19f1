# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of growing memory: what `trend`, `top --once` and `alerts` say of each, while it runs.

All run at once under one daemon; each answer is waited for, so a slow machine is only slower.
"""
import contextlib
import re
import signal
import subprocess

import pytest

from harness import SOURCES, Daemon, client, compile_haskell, pb, private_directory, running, wait_for

pytestmark = pytest.mark.xdist_group("growth")      # its tests share what runs

GROWING = {"thunks": "THUNK", "map": "Data.Map", "pinned": ""}     # and what grows most; a large object has a census late
OFF_HEAP = "malloc"
STEADY = ("cache", "saw")
RULES = """groups:
  - name: quick
    rules:
      - alert: quick-leak
        expr: leak(live)
        for: 500ms
      - alert: quick-off-heap
        expr: growing(foreign)
        for: 500ms
      - alert: quick-band
        expr: leak(band)
        for: 500ms
        labels: {severity: info, part_of: quick-leak}
      - alert: quick-growth
        expr: growing(live)
        labels: {severity: critical, part_of: quick-off-heap quick-leak}
"""


@pytest.fixture(scope="module")
def program():
    return compile_haskell("growth", "Growth", "-rtsopts", "-eventlog", f"{SOURCES}/flush.c")


def launch(program, directory, kind, log=None, ms=20):
    return running(program, kind, ms, "+RTS", "-l", "-hT", "-i0.2", f"-ol{log or kind}.eventlog", "-RTS", cwd=directory,
                   stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def watched(program):
    """All kinds, under way, and their daemon."""
    kinds = (*GROWING, *STEADY)
    with private_directory() as directory, contextlib.ExitStack() as stack:
        (directory / "rules.yaml").write_text(RULES)
        args = ["--resolution", "100ms", "--leak-after", "3s", "--rules", directory / "rules.yaml"]
        daemon = stack.enter_context(Daemon(directory, *(f"{r}={directory}/{r}.eventlog" for r in kinds), args=args))
        for kind in kinds:
            stack.enter_context(launch(program, directory, kind))
        # Resident memory is looked at once a second: that is its step, and what malloc took is small until there is a verdict.
        stack.enter_context(launch(program, directory, OFF_HEAP, ms=200))
        daemon.ask(pb.Request(add_target=pb.AddTargetRequest(name=OFF_HEAP, uri=f"file:{directory}/{OFF_HEAP}.eventlog", resolution_ns=10**9)))
        yield daemon


def says(daemon, *args):
    return client(*args, "--connect", daemon.publish).stdout.decode()


def until(ask, *words):
    """Asks until all words are in the answer, and returns it."""
    last = ""

    def there():
        nonlocal last
        last = ask()
        return all(w in last for w in words)

    try:
        wait_for(there, f"{words}", poll_s=0.5)
    except AssertionError as e:
        raise AssertionError(f"{e}; the last answer:\n{last}") from None
    return last


@pytest.mark.parametrize("kind", GROWING)
def test_what_leaks_is_said_everywhere(watched, kind):
    until(lambda: says(watched, "trend", kind), "the program retains more and more data", "a leak: grows and does not slow down",
          GROWING[kind])
    until(lambda: says(watched, "top", "--once", kind), "leak: +")
    until(lambda: says(watched, "alerts", "--target", kind), f"critical  firing    {kind}", "quick-leak", "          firing  quick-growth (critical)")


def test_the_bands_of_a_leak_are_its_parts(watched):
    text = until(lambda: says(watched, "alerts", "--target", "thunks"), "          firing  THUNK")
    assert "quick-band" not in text and text.count("critical  ") == 1, "not an alert beside it"


def test_what_c_holds_is_said_to_be_off_the_heap(watched):
    """Nothing on the Haskell heap is blamed for it, and the words are the same everywhere."""
    text = until(lambda: says(watched, "trend", OFF_HEAP),
                 "foreign memory (C code, malloc, shared memory) grows while the heap does not")
    assert "the program retains more and more data" not in text
    screen = until(lambda: says(watched, "top", "--once", OFF_HEAP), "foreign", "In foreign memory (C code, malloc, shared memory)", "heap profile can show this")
    assert re.search(r"(leak|growing): \+[0-9.]+ [KM]iB/s since \S+ \(malloc\), foreign", screen), screen
    assert re.search(r"grows +(Nothing|Hardly anything) on the Haskell heap", screen), screen
    until(lambda: says(watched, "alerts", "--target", OFF_HEAP), "quick-off-heap")
    said = says(watched, "alerts", "--target", OFF_HEAP)
    assert "quick-leak" not in said and "quick-band" not in said, said


@pytest.mark.parametrize("kind", STEADY)
def test_what_only_looks_like_a_leak_is_steady_in_the_end(watched, kind):
    until(lambda: says(watched, "trend", kind), "no lasting growth")
    # On a busy machine its collections may be long, which is another alert.
    wait_for(lambda: not re.search("quick-|leak|grow", says(watched, "alerts", "--target", kind)), "no alert of growth")
    assert "leak: +" not in says(watched, "top", "--once", kind)


def test_killed_and_started_again(program, directory):
    with Daemon(directory, f"api={directory}/api.eventlog", args=["--checkpoint", directory / "kept"]) as d:
        with launch(program, directory, "saw", "api") as run:
            wait_for(lambda: d.snapshot("api").get("heap") and d.target("api").run_info.local, "its process")
            run.send_signal(signal.SIGKILL)
            run.wait()
        until(lambda: says(d, "alerts"), "crashed")
        until(lambda: says(d, "top", "--once", "api"), "crashed", "run 1")
        d.stop()
        d.start()       # the next daemon knows it, too
        until(lambda: says(d, "alerts"), "crashed")
        until(lambda: says(d, "top", "--once", "api"), "It crashed: process", "run 1", "lasted")
        assert d.target("api").state == pb.Target.STATE_CRASHED
        with launch(program, directory, "saw", "api"):
            until(lambda: says(d, "top", "--once", "api"), "run 2", "running")
            assert "api crashed" in says(d, "alerts"), "it stays for a quarter of an hour"
            assert "restart-loop" not in says(d, "alerts")
