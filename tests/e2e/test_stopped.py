# SPDX-License-Identifier: BSD-3-Clause
"""Programs that are stopped: by SIGSTOP, by a debugger, with their control group. Nothing is judged meanwhile."""
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from harness import TRACE, Daemon, Programs, heapwatch, pb, require_tracing, running, wait_for


@pytest.fixture(scope="module")
def programs():
    return Programs({"serving-threaded": ("serving-threaded", "Serve", "-threaded")})


def state(daemon, name):
    t = daemon.target(name)
    return t.state if t else None


def wait_running(daemon, name):
    wait_for(lambda: state(daemon, name) == pb.Target.STATE_RUNNING and daemon.target(name).run_info.local, f"{name} to run")


def verdicts(daemon, name):
    """What is judged: verdicts of series and bands, where it grows, rise and countdown; and rates."""
    snapshot = daemon.snapshot(name)
    trends = [u.trends for u in snapshot.get("trends", [])]
    return [t.verdict for s in trends for t in s.trends if t.HasField("verdict")] + \
        [s.growth.where for s in trends if s.growth.where] + [1 for s in trends if s.HasField("early") or s.HasField("time_to_limit")] + \
        [u.heap.allocation_rate_bps for u in snapshot.get("heap", []) if u.heap.HasField("allocation_rate_bps")] + \
        [u.gc.gc_share for u in snapshot.get("gc", []) if u.gc.HasField("gc_share")]


def test_a_stopped_program(directory, programs):
    """Each face says so, as long as it lasts; what reads its memory goes on; the agent's answers are not waited for."""
    require_tracing()
    with Daemon(directory, args=("--resolution", "100ms", "--leak-after", "3s")) as d, \
            running(programs["serving-threaded"], stdin=subprocess.PIPE) as p, \
            running(programs["serving-threaded"], stdin=subprocess.PIPE) as unwatched:
        wait_for(lambda: heapwatch(directory, "attach", p.pid, "--name", "s").returncode == 0, "the agent in it")
        wait_for(lambda: verdicts(d, "s"), "a verdict")
        os.kill(p.pid, signal.SIGSTOP)
        os.kill(unwatched.pid, signal.SIGSTOP)
        t = wait_for(lambda: (t := d.target("s")) and t.state == pb.Target.STATE_STOPPED and t, "the stop to be seen")
        assert t.detail.startswith("stopped for ") and t.stopped_by_signal
        assert wait_for(lambda: not verdicts(d, "s"), "nothing to be judged")
        assert "stopped" in heapwatch(directory, "status").stdout.split("\ns ")[1].split("\n")[0]
        [line] = heapwatch(directory, "trend").stdout.splitlines()
        assert line.split()[:2] == ["s", "stopped"] and "nothing is judged" in line
        assert " stopped " in heapwatch(directory, "top", "s", "--plain", "--once").stdout
        listed = {int(row.split()[0]): row for row in heapwatch(directory, "ps").stdout.splitlines()[1:]}
        assert "stopped" in listed[p.pid] and "stopped" in listed[unwatched.pid]
        assert heapwatch(directory, "threads", "s").returncode == 0
        began = time.monotonic()
        done = heapwatch(directory, "detach", "s")
        assert done.returncode == 2 and "stopped" in done.stderr and time.monotonic() - began < 10, done
        done = heapwatch(directory, "attach", unwatched.pid, "--name", "u")
        assert done.returncode == 0 and "from outside, because it is stopped" in done.stdout, done
        assert Path(f"/proc/{p.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T"
        os.kill(p.pid, signal.SIGCONT)
        wait_running(d, "s")
        wait_for(lambda: verdicts(d, "s"), "a verdict again")


def test_a_program_in_a_debugger(directory, programs):
    require_tracing()
    held = TRACE + "\nimport signal, time\nlibc.ptrace(0x4207, int(sys.argv[1]), 0, 0)\ntime.sleep(600)"     # PTRACE_INTERRUPT
    with Daemon(directory) as d, running(programs["serving-threaded"], stdin=subprocess.PIPE) as p:
        assert heapwatch(directory, "attach", "--process-only", p.pid, "--name", "d").returncode == 0
        wait_running(d, "d")
        with running("/usr/bin/python3", "-c", held, p.pid):
            t = wait_for(lambda: (t := d.target("d")) and t.state == pb.Target.STATE_STOPPED and t, "the stop to be seen")
            assert "debugger" in t.detail and not t.stopped_by_signal
        wait_running(d, "d")


def freezer(name):
    """A control group whose processes can be frozen, of either version: its folder, the file, the words for on and off."""
    for parent, file, words in (("/sys/fs/cgroup", "cgroup.freeze", ("1", "0")), ("/sys/fs/cgroup/freezer", "freezer.state", ("FROZEN", "THAWED"))):
        group = Path(parent, name)
        try:
            group.mkdir()
        except OSError:
            continue
        if (group / file).exists():
            return group, group / file, words
        group.rmdir()
    pytest.skip("no control groups can be made here (tests/unit/source/test_procfs.c has made-up ones)")


def test_a_frozen_program(directory, programs):
    group, file, (on, off) = freezer(f"heapwatch-test-{os.getpid()}")
    try:
        with Daemon(directory) as d, running(programs["serving-threaded"], stdin=subprocess.PIPE) as p:
            (group / "cgroup.procs").write_text(str(p.pid))
            assert heapwatch(directory, "attach", "--process-only", p.pid, "--name", "f").returncode == 0
            wait_running(d, "f")
            file.write_text(on)
            t = wait_for(lambda: (t := d.target("f")) and t.state == pb.Target.STATE_STOPPED and t, "the stop to be seen")
            assert "frozen" in t.detail
            assert heapwatch(directory, "threads", p.pid, "--max-pause", "100ms").returncode == 0
            file.write_text(off)
            wait_running(d, "f")
    finally:
        file.write_text(off)
        wait_for(lambda: not (group / "cgroup.procs").read_text(), "the control group to be empty")
        group.rmdir()
