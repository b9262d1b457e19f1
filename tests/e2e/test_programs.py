# SPDX-License-Identifier: BSD-3-Clause
"""Real programs of the system's GHC, watched while they run, without `heapwatch run` in between."""
import os
import signal
import subprocess
import sys

import pytest

from harness import DEADLINE_S, Daemon, end_input, pb, running, wait_for


def launch(program, log, *args, rts=("-l", "-hT", "-i0.1")):
    # In its own directory: the runtime system leaves PROGRAM.hp where it is started.
    return running(program, *args, "+RTS", *rts, f"-ol{log}", "-RTS", cwd=os.path.dirname(log),
                   stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def run(*args, **kwargs):
    """To its end."""
    with launch(*args, **kwargs) as program:
        assert program.wait(DEADLINE_S) == 0, program.stderr.read()
        return program.pid


def censuses(daemon):
    found = daemon.snapshot("t").get("census")
    return found[0].census.number if found else 0


@pytest.mark.parametrize("kind", ["file", "fifo"])
def test_seen_while_it_runs(directory, programs, kind):
    log = directory / "log"
    if kind == "fifo":
        os.mkfifo(log)
    # The program goes on until all of it has been seen.
    with Daemon(directory, f"t={kind}:{log}") as d, launch(programs["leaky"], log, 2, "more") as program:
        t = d.wait_state("t", "RUNNING")
        first = wait_for(lambda: censuses(d), "a census while it runs")
        wait_for(lambda: censuses(d) > first, "another census")
        t = wait_for(lambda: (lambda t: t if t.run_info.HasField("start_wall_ns") else None)(d.target("t")), "who it is")
        assert t.run_info.pid == program.pid and t.run_info.program == "leaky"
        heap = wait_for(lambda: (lambda h: h if h.process.rss_bytes else None)(d.snapshot("t")["heap"][0].heap),
                        "the process's own memory")
        assert 1 << 20 < heap.process.rss_bytes < 1 << 30
        assert d.target("t").run_info.local
        points = pb.Request(history=pb.HistoryRequest(target="t", series=pb.SERIES_LIVE))
        wait_for(lambda: (lambda p: p and max(x.max for x in p) > 2 * p[0].min)(d.ask(points)[0].history.points), "growth")
        assert program.poll() is None
        end_input(program)
        d.wait_state("t", "ENDED")
        notes = [n.text for u in d.snapshot("t")["notes"] for n in u.notes.notes]
        assert [n for n in notes if n in ("begin", "half", "end")] == ["begin", "half", "end"]
        assert d.health("t").lost_bytes == 0


@pytest.mark.parametrize("kind", ["file", "fifo"])
def test_killed(directory, programs, kind):
    log = directory / "log"
    if kind == "fifo":
        os.mkfifo(log)
    with Daemon(directory, f"t={kind}:{log}") as d:
        with launch(programs["leaky"], log, 1, "more") as program:
            wait_for(lambda: censuses(d) and d.target("t").run_info.local, "a census and the process")
            program.send_signal(signal.SIGKILL)
            program.wait()
        t = d.wait_state("t", "CRASHED")
        assert str(program.pid) in t.detail and "end marker" in t.detail
        assert censuses(d) >= 1 and d.snapshot("t")["heap"][0].heap.live_bytes > 0
        again = run(programs["leaky"], log, 1)
        t = d.wait_state("t", "ENDED", run=2)
        assert t.run_info.pid == again


def test_program_restarted_in_the_same_file(directory, programs):
    log = directory / "log"
    with Daemon(directory, f"t={log}") as d:
        for n in (1, 2, 3):
            pid = run(programs["steady"], log, 1)
            assert d.wait_state("t", "ENDED", run=n).run_info.pid == pid


def test_the_log_restarted_in_the_middle(directory, programs):
    """One process ends its log and begins another in the same stream: two runs, each with its own data."""
    fifo = directory / "log"
    os.mkfifo(fifo)
    with Daemon(directory, f"t=fifo:{fifo}") as d:
        run(programs["restart"], fifo, 5)
        t = d.wait_state("t", "ENDED", run=2)
        assert t.runs == 2 and d.health("t").lost_bytes == 0
        notes = [n.text for u in d.snapshot("t")["notes"] for n in u.notes.notes]
        assert "second" in notes and "first" not in notes


def test_the_source_is_drained_whatever_subscribers_do(directory, programs):
    """A subscriber that is stopped while the program writes does not block it: it would never end."""
    fifo = directory / "log"
    os.mkfifo(fifo)
    with Daemon(directory, f"t=fifo:{fifo}") as d:
        # A subscriber in its own process that is stopped before the program starts and never reads.
        with running(sys.executable, "-c", (
                "import zmq,sys,time\ns=zmq.Context().socket(zmq.SUB)\ns.subscribe(b'')\ns.connect(sys.argv[1])\n"
                "s.recv()\nprint('up',flush=True)\ntime.sleep(3600)"), d.publish, stdout=subprocess.PIPE) as reader:
            assert reader.stdout.readline() == b"up\n"
            reader.send_signal(signal.SIGSTOP)
            run(programs["stress"], fifo, 800000, rts=("-l",))
            d.wait_state("t", "ENDED")
        assert d.health("t").lost_bytes == 0
        assert d.health("t").events > 800000
