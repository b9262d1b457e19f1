# SPDX-License-Identifier: BSD-3-Clause
"""Real programs of the system's GHC, watched while they run, without `heapwatch run` in between."""
import os
import signal
import subprocess

import pytest

from harness import Daemon, pb, wait_for


def launch(program, log, *args, rts=("-l", "-hT", "-i0.1")):
    # In its own directory: the runtime system leaves PROGRAM.hp where it is started.
    return subprocess.Popen([program, *map(str, args), "+RTS", *rts, f"-ol{log}", "-RTS"], cwd=os.path.dirname(log),
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def censuses(daemon):
    found = daemon.snapshot("t").get("census")
    return found[0].census.number if found else 0


@pytest.mark.parametrize("kind", ["file", "fifo"])
def test_seen_while_it_runs(directory, programs, kind):
    log = directory / "log"
    if kind == "fifo":
        os.mkfifo(log)
    with Daemon(directory, f"t={kind}:{log}") as d:
        program = launch(programs["leaky"], log, 4)
        t = d.wait_state("t", "RUNNING")
        first = wait_for(lambda: censuses(d), "a census while it runs")
        wait_for(lambda: censuses(d) > first, "another census")
        assert program.poll() is None, "the program was to be seen while it runs"
        t = wait_for(lambda: (lambda t: t if t.run_info.HasField("start_wall_ns") else None)(d.target("t")), "who it is")
        assert t.run_info.pid == program.pid and t.run_info.program == "leaky"
        heap = wait_for(lambda: (lambda h: h if h.process.rss_bytes else None)(d.snapshot("t")["heap"][0].heap),
                        "the process's own memory")
        assert 1 << 20 < heap.process.rss_bytes < 1 << 30
        assert d.target("t").run_info.local
        assert program.wait(30) == 0, program.stderr.read()
        d.wait_state("t", "ENDED")
        notes = [n.text for u in d.snapshot("t")["notes"] for n in u.notes.notes]
        assert [n for n in notes if n in ("begin", "half", "end")] == ["begin", "half", "end"]
        live = d.ask(pb.Request(history=pb.HistoryRequest(target="t", series=pb.SERIES_LIVE)))[0].history.points
        assert max(p.max for p in live) > 2 * live[0].min
        assert d.health("t").lost_bytes == 0


@pytest.mark.parametrize("kind", ["file", "fifo"])
def test_killed(directory, programs, kind):
    log = directory / "log"
    if kind == "fifo":
        os.mkfifo(log)
    with Daemon(directory, f"t={kind}:{log}") as d:
        program = launch(programs["leaky"], log, 60)
        wait_for(lambda: censuses(d) and d.target("t").run_info.local, "a census and the process")
        program.send_signal(signal.SIGKILL)
        program.wait()
        t = d.wait_state("t", "CRASHED", deadline_s=15)
        assert str(program.pid) in t.detail and "without an end marker" in t.detail
        assert censuses(d) >= 1 and d.snapshot("t")["heap"][0].heap.live_bytes > 0
        again = launch(programs["leaky"], log, 1)
        assert again.wait(30) == 0
        t = d.wait_state("t", "ENDED", run=2)
        assert t.run_info.pid == again.pid


def test_program_restarted_in_the_same_file(directory, programs):
    log = directory / "log"
    with Daemon(directory, f"t={log}") as d:
        for run in (1, 2, 3):
            program = launch(programs["steady"], log, 1)
            assert program.wait(30) == 0
            assert d.wait_state("t", "ENDED", run=run).run_info.pid == program.pid


def test_the_log_restarted_in_the_middle(directory, programs):
    """One process ends its log and begins another in the same stream: two runs, each with what is its own."""
    fifo = directory / "log"
    os.mkfifo(fifo)
    with Daemon(directory, f"t=fifo:{fifo}") as d:
        program = launch(programs["restart"], fifo, 5)
        assert program.wait(30) == 0, program.stderr.read()
        t = d.wait_state("t", "ENDED", run=2)
        assert t.runs == 2 and d.health("t").lost_bytes == 0
        notes = [n.text for u in d.snapshot("t")["notes"] for n in u.notes.notes]
        assert "second" in notes and "first" not in notes


def test_the_source_is_drained_whatever_subscribers_do(directory, programs):
    """A subscriber is stopped for as long as the program takes; the program is as fast as with none."""
    import sys
    import time
    import zmq

    fifo = directory / "log"
    os.mkfifo(fifo)

    def seconds(d):
        began = time.monotonic()
        program = launch(programs["stress"], fifo, 400000, rts=("-l",))
        assert program.wait(120) == 0
        took = time.monotonic() - began
        wait_for(lambda: d.target("t").state == pb.Target.STATE_ENDED, "the end of the log")
        return took

    with Daemon(directory, f"t=fifo:{fifo}") as d:
        alone = seconds(d)
        # A subscriber of its own process that is stopped before the program starts and never reads.
        reader = subprocess.Popen([sys.executable, "-c", (
            "import zmq,sys,time\ns=zmq.Context().socket(zmq.SUB)\ns.subscribe(b'')\ns.connect(sys.argv[1])\n"
            "s.recv()\nprint('up',flush=True)\ntime.sleep(3600)"), d.publish], stdout=subprocess.PIPE)
        assert reader.stdout.readline() == b"up\n"
        reader.send_signal(signal.SIGSTOP)
        try:
            stopped = seconds(d)
        finally:
            reader.send_signal(signal.SIGCONT)
            reader.kill()
            reader.wait()
        # No measurement, a bound that a blocked program cannot keep: it would hang for ever.
        assert stopped < 10 * alone + 10
        assert d.health("t").lost_bytes == 0
        assert d.health("t").events > 800000
