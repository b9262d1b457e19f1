# SPDX-License-Identifier: BSD-3-Clause
"""Long logs, damaged in the middle, through all that reads one: memory does not depend on their length, and a terminal
shows how far it is."""
import contextlib
import os
import pty
import struct
import subprocess
import time

import pytest

from harness import CLIENT, DEADLINE_S, LOGS, LONG, WATCHED, noting_peak

pytestmark = pytest.mark.xdist_group("large")      # its tests share what runs

REAL = (LOGS / "cc-hc-ghc9103" / "run.eventlog").read_bytes()
BANDS = [b"band-%d" % i for i in range(40)]
FORMATS = ["hp", "csv", "csv-wide", "json", "collapsed", "speedscope", "pprof", "perfetto", "openmetrics", "resid"]
STEP_NS = 10 ** 8
MIB = 1 << 20


def event(kind, at, payload):
    return struct.pack(">HQ", kind, at) + payload


def varying(kind, at, payload):
    return event(kind, at, struct.pack(">H", len(payload)) + payload)


def second(at):
    """A collection, sizes, residency, and a census with all bands."""
    events = event(9, at, b"") + event(50, at + 1, struct.pack(">IQ", 0, 64 * MIB)) + event(10, at + 2, b"")
    events += event(51, at + 3, struct.pack(">IQ", 0, 10 * MIB + at // STEP_NS % 7)) + event(162, at + 4, struct.pack(">Q", at // STEP_NS))
    for i, band in enumerate(BANDS):
        events += varying(164, at + 5, struct.pack(">BQ", 0, 1000 * i + at // STEP_NS % 97) + band + b"\0")
    return events + event(165, at + 6, struct.pack(">Q", at // STEP_NS))


def long_log(path, size):
    """The header of a real log, then seconds of our own; in the middle 64 KiB are lost."""
    with open(path, "wb") as log:
        head = REAL.index(b"datb") + 4
        log.write(REAL[:head] + event(43, 1, struct.pack(">IQI", 0, 1_700_000_000, 0)) + varying(58, 1, b"begin"))
        log.write(varying(160, 2, struct.pack(">BQI", 0, STEP_NS, 1) + b"\0" * 7))
        n = size // len(second(0))
        for i in range(n):
            log.write(bytes(65536) if i == n // 2 else second(i * STEP_NS + 10))
        log.write(b"\xff\xff")
    return path


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    directory = tmp_path_factory.mktemp("large")
    return long_log(directory / "short.eventlog", 8 * MIB), long_log(directory / "long.eventlog", 32 * MIB)


def peak(command, note):
    """Peak memory of the largest process of a command, in bytes; and what it wrote to its terminal."""
    main, terminal = pty.openpty()
    child = subprocess.Popen(noting_peak(note, command), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=terminal)
    os.close(terminal)
    seen, end = b"", time.monotonic() + DEADLINE_S
    with contextlib.suppress(OSError):      # a terminal's end is an error
        while time.monotonic() < end and (part := os.read(main, 65536)):
            seen += part
    os.close(main)
    return child.wait(DEADLINE_S), int(note.read_text()), seen


def commands(log, directory):
    yield from (["convert", log, "--to", to, "-o", "/dev/null"] for to in FORMATS)
    yield ["report", log, "-o", directory / "x.svg"]
    yield ["summary", log]
    yield ["diff", log, log]
    yield ["trend", log]
    yield ["report", log, "-o", directory / "x.json"]
    yield ["archive", "--db", directory / f"{log.stem}.db", log]


@pytest.mark.long
@pytest.mark.skipif(WATCHED, reason="a sanitizer's memory is not the program's")
@pytest.mark.parametrize("n", range(len(FORMATS) + 6) if LONG else (0, *range(len(FORMATS) + 1, len(FORMATS) + 4)))
def test_memory_does_not_depend_on_the_length(n, logs, directory):
    short, long = ([CLIENT, *list(commands(log, directory))[n]] for log in logs)
    status, little, _ = peak(short, directory / "peak")
    assert status == 0
    before = os.times()
    status, much, seen = peak(long, directory / "peak")
    used_s = os.times().children_user - before.children_user        # not by the clock: beside others all takes long
    assert status == 0, seen
    assert b" %)" in seen or used_s < 1, (long, seen[-300:])        # how far it is, unless that is soon over
    assert much < little + 16 * MIB, (long, little // MIB, much // MIB)      # histories fill up; the log is 24 MiB longer
