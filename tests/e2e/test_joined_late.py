# SPDX-License-Identifier: BSD-3-Clause
"""A FIFO or socket that is joined in the middle of a run continues from there, and every face says so."""
import contextlib
import json
import os
import socket

import pytest

from harness import LOGS, Daemon, client, pb, printed, wait_for
from web_browser import Web, opened

LIVE = (LOGS / "live-9103-fifo-flush" / "run.eventlog").read_bytes()
MIDDLE = len(LIVE) // 2


def values(daemon, target, series):
    found = daemon.ask(pb.Request(history=pb.HistoryRequest(target=target, series=series)))[0].history
    return {p.time_ns: (p.min, p.max, p.last) for p in found.points}


def give(directory, kind, data):
    """A function that writes `data` to a target of that kind, and the target's URI."""
    if kind == "fifo":
        os.mkfifo(directory / "fifo")

        def write():
            with open(directory / "fifo", "wb") as f:
                f.write(data)
        return write, f"fifo:{directory}/fifo"

    def send():
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as s:
            s.connect(f"{directory}/late.sock")
            s.sendall(data)
    return send, f"unix-listen:{directory}/late.sock"


@pytest.mark.parametrize("kind", ["fifo", "unix-listen"])
def test_what_comes_after_is_as_in_the_whole_log(directory, kind):
    (directory / "whole.eventlog").write_bytes(LIVE)
    write, uri = give(directory, kind, LIVE[MIDDLE:])
    with Daemon(directory, f"whole={directory}/whole.eventlog", f"late={uri}") as d:
        d.wait_state("whole", "ENDED")
        write()
        t = d.wait_state("late", "ENDED")
        assert t.joined_late and 0 < t.passed_bytes < 100_000 and not d.target("whole").joined_late
        assert t.run_info.program == "" and t.run_info.ghc_version == "" and not t.run_info.HasField("pid")
        h = d.health("late")
        assert h.bytes == len(LIVE) - MIDDLE and h.lost_bytes == 0 and h.resyncs == 0
        assert 100 < h.events < d.health("whole").events
        for series in (pb.SERIES_LIVE, pb.SERIES_HEAP_SIZE, pb.SERIES_BLOCKS_SIZE):
            whole, late = values(d, "whole", series), values(d, "late", series)
            first = min(late)
            assert len(late) > 2
            # The first point covers a step whose beginning was not seen.
            assert {t: v for t, v in late.items() if t > first} == {t: v for t, v in whole.items() if t > first}


def test_every_face_says_so(directory):
    os.mkfifo(directory / "fifo")
    with Daemon(directory, f"late=fifo:{directory}/fifo") as d, open(directory / "fifo", "wb") as f:
        f.write(LIVE[MIDDLE:-2000])
        f.flush()
        t = d.wait_state("late", "RUNNING")
        assert t.joined_late and "joined late, in the middle of its run" in t.detail
        wait_for(lambda: d.health("late").bytes == len(LIVE) - MIDDLE - 2000, "all of it")
        for command in (("ctl", "targets"), ("status",)):
            assert "joined late" in client(*command, "--connect", d.publish).stdout.decode()
        wide = {"COLUMNS": "200", "LINES": "50"}
        for command in (("top", "--once"), ("top", "--once", "late")):
            printed(*command, "--connect", d.publish, env={**os.environ, **wide})
        top = json.loads(client("top", "--once", "--format", "json", "--connect", d.publish).stdout)
        assert "joined late" in json.dumps(top).lower()
        with Web("--connect", d.publish) as web, opened(width=1440, height=900) as tab:
            tab.go(web.url).until("heapwatch.settled && document.body.innerText.includes('Joined late: nothing is known of its first')")
            assert not tab.diagnostics()


@pytest.mark.parametrize("first,word", [(b"# notes of the night\n" * 400, "not an eventlog, or the middle of one"),
                                        (b"\x1f\x8b" + bytes(2000), "gzip")])
def test_what_is_no_log_is_not_taken_for_one(directory, first, word):
    os.mkfifo(directory / "fifo")
    with Daemon(directory, f"t=fifo:{directory}/fifo") as d:
        with open(directory / "fifo", "wb") as f:
            f.write(first)
            f.flush()
            wait_for(lambda: d.target("t") and word in d.target("t").detail, word)
            f.write(LIVE)
        t = d.wait_state("t", "ENDED")
        assert not t.joined_late and t.runs == 1
        assert d.health("t").lost_bytes + t.passed_bytes == len(first)
