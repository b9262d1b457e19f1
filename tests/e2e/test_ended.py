# SPDX-License-Identifier: BSD-3-Clause
"""What remains of a program that has ended: its target with everything seen, on every face, until it is removed."""
import contextlib
import itertools
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time

import pytest

from harness import CLIENT, DEADLINE_S, LOGS, Daemon, client, compile_haskell, pb, running, wait_for
from live_log import LiveLog
from test_run import daemon, finish, start     # noqa: F401: a fixture


def running_target(daemon, name):
    def with_data():
        t = daemon.target(name)
        return t and not t.kept and t.run_info.pid and daemon.snapshot(name).get("heap") and t

    return wait_for(with_data, f"{name} running")


def kept(daemon, name):
    return wait_for(lambda: (t := daemon.target(name)) and t.kept and t, f"{name} kept as it ended")


@contextlib.contextmanager
def one_run(daemon, name, path, log):
    """A run with a socket of its own, as `heapwatch run` adds it. Its stream is over afterwards."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        server.settimeout(DEADLINE_S)
        reply = daemon.ask(pb.Request(add_target=pb.AddTargetRequest(name=name, uri=f"unix:{path}", one_run=True)))[0]
        assert not reply.error, "a name is free from the moment that its run is told to have ended"
        with server.accept()[0] as connection:
            connection.sendall(log.path.read_bytes())
            yield
    path.unlink()


def leaky(daemon, programs, *more):
    return start(daemon, "--name", "mine", "--resolution", "100ms", "--rts", "-i0.1", *more, "--", programs["leaky"], 600)


def test_a_killed_program_stays_on_every_face(daemon, programs):
    env = {"HEAPWATCH_DIR": str(daemon.directory)}
    run = leaky(daemon, programs)
    pid = running_target(daemon, "mine").run_info.pid
    wait_for(lambda: daemon.snapshot("mine").get("census"), "a census")
    os.kill(pid, signal.SIGKILL)
    status, _, err = finish(run)
    assert status == 128 + signal.SIGKILL and "heapwatch top mine" in err
    t = kept(daemon, "mine")
    assert t.state == pb.Target.STATE_CRASHED and t.exit_signal == signal.SIGKILL
    assert t.detail == "killed by signal 9 (SIGKILL)"
    said = daemon.snapshot("mine")
    assert said["census"] and said["heap"][0].heap.live_bytes > 0 and said["gc"] and said["trends"]

    assert "killed by signal 9" in client("status", env=env).stdout.decode()
    done = client("alerts", env=env)
    assert done.returncode == 1 and "crashed" in done.stdout.decode()
    assert "mine crashed: killed by signal 9 (SIGKILL)" in done.stdout.decode()
    top = client("top", "--once", "mine", env=env).stdout.decode()
    assert "killed" in top and "mine" in top
    assert client("trend", "mine", env=env).stdout.decode().startswith("mine, run 1")
    with running(CLIENT, "pipe", "--format", "json", env={**os.environ, **env}, stdout=subprocess.PIPE) as pipe:
        assert any(json.loads(line).get("targetState", {}).get("exitSignal") == 9
                   for line in itertools.islice(pipe.stdout, 200))
    points = client("ctl", "history", "mine", "live", env=env).stdout.decode()
    assert len(points.splitlines()) > 1

    assert b"crashed" in client("alerts", "mine", env=env).stdout
    assert client("alerts", "other", env=env).returncode == 2

    # Until it is removed.
    assert client("remove", "mine", env=env).returncode == 0
    wait_for(lambda: daemon.target("mine") is None, "the removal")
    assert client("alerts", env=env).returncode == 0


def test_an_idle_program_ends_when_it_does(directory):
    """Not with its last event, which may be hours ago. Nor is its last census of its end. Of its recording alike."""
    program = compile_haskell("Exits", "Exits", "-threaded")
    env = {"HEAPWATCH_DIR": str(directory)}
    with Daemon(directory, args=("--record", directory / "recordings")) as d:
        run = start(d, "--name", "mine", "--", program, "rest", "0.3")
        pid = running_target(d, "mine").run_info.pid

        def rests():
            heap = d.snapshot("mine")["heap"][0]
            sampled_ns = heap.heap.process.sampled_wall_ns - d.target("mine").run_info.start_wall_ns
            return sampled_ns > heap.event_time_ns + 3_000_000_000 and sampled_ns / 1e9

        rested_s = wait_for(rests, "the program to rest")
        os.kill(pid, signal.SIGKILL)
        ending = finish(run)[2]
        kept(d, "mine")
        for source in "mine", f"recording:{directory}/recordings/mine":
            said = client("post-mortem", source, env=env).stdout.decode()
            into_s = float(re.search(r"killed by signal 9 \(SIGKILL\), at \S+ \(([0-9.]+) s into the run\)", said)[1])
            assert into_s >= rested_s - 0.1, said
        assert "band at the end" not in ending, ending


def test_one_that_computes_without_allocating_is_not_idle(directory):
    """Neither does it collect, nor can its agent flush its log."""
    program = compile_haskell("Exits", "Exits", "-threaded")
    with Daemon(directory) as d:
        run = start(d, "--name", "mine", "--", program, "compute", "0.3")
        silent = wait_for(lambda: (t := d.target("mine")) and "nothing has come from it" in t.detail and t, "its silence")
        assert "its process computes" in silent.detail and "idle" not in silent.detail, silent.detail
        os.kill(silent.run_info.pid, signal.SIGKILL)
        finish(run)


def test_the_run_before_is_kept_beside_the_next_one(daemon, programs):
    first = leaky(daemon, programs)
    first_pid = running_target(daemon, "mine").run_info.pid
    wait_for(lambda: (h := daemon.snapshot("mine").get("heap")) and h[0].heap.live_bytes, "live data")
    os.kill(first_pid, signal.SIGKILL)
    finish(first)
    kept(daemon, "mine")
    second = leaky(daemon, programs)
    pid = running_target(daemon, "mine").run_info.pid
    before = daemon.target("mine~1")
    assert before.kept and before.exit_signal == signal.SIGKILL and before.run_info.pid != pid
    assert daemon.snapshot("mine~1")["heap"][0].heap.live_bytes > 0
    env = {"HEAPWATCH_DIR": str(daemon.directory)}
    done = client("alerts", env=env)
    assert done.returncode == 1 and b"mine crashed: killed by signal 9" in done.stdout, "a quick restart hides no crash"
    assert client("top", "--once", "mine~1", env=env).stdout.decode().count("killed") >= 1
    os.kill(pid, signal.SIGKILL)
    finish(second)
    kept(daemon, "mine")
    third = start(daemon, "--name", "mine", "--", programs["leaky"], 1)
    assert finish(third)[0] == 0
    assert kept(daemon, "mine").exit_status == 0
    assert daemon.target("mine~1").run_info.pid == pid
    assert daemon.target("mine~2").run_info.pid == before.run_info.pid
    log = LOGS / "leaky-hT-ghc9103" / "run.eventlog"
    done = client("add", f"mine={log}", env=env)
    assert done.returncode == 0 and done.stdout == b"mine: done; the run that had this name is mine~1\n", done
    assert daemon.target("mine~1").exit_status == 0 and daemon.target("mine~2").run_info.pid == pid
    assert client("add", f"other={log}", env=env).stdout == b"other: done\n"


@pytest.mark.parametrize("end, detail", [({"exit_signal": 11}, "killed by signal 11 (SIGSEGV)"),
                                         ({"exit_status": 251}, "ended with status 251, GHC's for an exhausted heap; nothing of its log was seen")])
def test_what_fails_before_its_log_begins_is_a_crash_too(directory, end, detail):
    """As `heapwatch run` says it, of a program that ends before the daemon could read a byte: it is not waited for."""
    env = {"HEAPWATCH_DIR": str(directory)}
    with Daemon(directory) as d:
        def begins_and_ends(**how):
            d.ask(pb.Request(add_target=pb.AddTargetRequest(name="api", uri=f"unix:{directory}/never", one_run=True)))
            assert not d.ask(pb.Request(end_target=pb.EndTargetRequest(name="api", **how)))[0].HasField("error")

        begins_and_ends(**end)
        t = kept(d, "api")
        assert (t.state, t.detail) == (pb.Target.STATE_CRASHED, detail)
        done = client("alerts", env=env)
        assert done.returncode == 1 and "api crashed: " + detail in done.stdout.decode()
        top = client("top", "--once", "api", env=env).stdout.decode()
        assert "Is anything wrong? It was killed" in top or "Is anything wrong? It ended with status 251" in top
        assert ("Read its last output" in top or "raise -M" in top) and "+RTS -l" not in top and "no program has been seen" in top
        begins_and_ends(exit_status=0)
        assert d.target("api~1").detail == detail
        wait_for(lambda: not d.target("api"), "what ends well without a log is nothing but a name")
        assert client("alerts", env=env).returncode == 0


def test_what_was_attached_to_and_is_gone_before_its_log_leaves_no_target(directory):
    """Killed while it was being attached to: nobody will ever listen at its agent's socket. One that is there is waited for."""
    with running("true") as gone, running("sleep", DEADLINE_S) as there, Daemon(directory) as d:
        gone.wait()
        for name, process in (("gone", gone), ("there", there)):
            add = pb.AddTargetRequest(name=name, uri=f"unix:{directory}/agent-{process.pid}.sock", one_run=True)
            assert d.ask(pb.Request(add_target=add))[0].WhichOneof("what") == "done"
        wait_for(lambda: not d.target("gone"), "its removal")
        assert d.target("there").state == pb.Target.STATE_WAITING


def test_an_end_that_is_told_late_is_no_crash(daemon, programs):
    """`heapwatch run` was stopped when its program was, and goes on when the daemon keeps that as crashed."""
    runner = start(daemon, "--name", "mine", "--", programs["leaky"], 100)
    program = running_target(daemon, "mine").run_info.pid
    os.kill(runner.pid, signal.SIGSTOP)
    os.kill(program, signal.SIGTERM)
    assert kept(daemon, "mine").state == pb.Target.STATE_CRASHED
    os.kill(runner.pid, signal.SIGCONT)
    t = wait_for(lambda: (t := daemon.target("mine")).state == pb.Target.STATE_ENDED and t, "how it really ended")
    assert t.detail == "stopped by signal 15 (SIGTERM)"
    finish(runner)


def test_a_clean_end_stays_and_is_no_crash(daemon, programs):
    assert finish(start(daemon, "--name", "mine", "--", programs["leaky"], 1))[0] == 0
    t = kept(daemon, "mine")
    assert (t.state, t.exit_status, t.detail) == (pb.Target.STATE_ENDED, 0, "ended with status 0")
    assert client("alerts", env={"HEAPWATCH_DIR": str(daemon.directory)}).returncode == 0


def test_the_program_is_watched_on_after_run_itself_was_killed(daemon, programs):
    """Its connection is the program's own; the name is free when the program has ended, too."""
    run = leaky(daemon, programs)
    pid = running_target(daemon, "mine").run_info.pid
    try:
        run.kill()
        run.wait()
        before = daemon.health("mine").events
        wait_for(lambda: daemon.health("mine").events > before, "what it writes after that")
        assert daemon.target("mine").state == pb.Target.STATE_RUNNING
        assert not any(a.rule == "crashed" for u in daemon.snapshot("mine").get("alerts", []) for a in u.alerts.alerts)
    finally:
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: (t := kept(daemon, "mine")).state == pb.Target.STATE_CRASHED, "its end, which nobody reports")
    assert daemon.target("mine").detail == f"process {pid} is gone, and its log has no end marker"
    assert finish(start(daemon, "--name", "mine", "--", programs["leaky"], 1))[0] == 0
    assert daemon.target("mine~1").run_info.pid == pid


def test_a_lost_run_that_was_set_aside_ends_alone(daemon, programs):
    """Its alerts went with its name: nothing of them is used when its process ends."""
    first = subprocess.Popen(["sleep", "600"])
    log = LiveLog(daemon.directory / "first.eventlog")
    log.process(first.pid)
    log.live(1 << 20)
    try:
        with one_run(daemon, "mine", daemon.directory / "first", log):
            wait_for(lambda: daemon.target("mine").run_info.pid == first.pid, "the process")
        assert kept(daemon, "mine").state == pb.Target.STATE_LOST
        asked = client("threads", "mine", env={"HEAPWATCH_DIR": str(daemon.directory)})
        assert f"{first.pid}".encode() in asked.stderr, asked       # the process is there: what it is decides
        second = leaky(daemon, programs)
        newer = running_target(daemon, "mine").run_info.pid
        assert newer != first.pid and daemon.target("mine~1").state == pb.Target.STATE_LOST
    finally:
        first.kill()
        first.wait()
    wait_for(lambda: daemon.target("mine~1").state == pb.Target.STATE_CRASHED, "the end of the lost process")
    assert daemon.target("mine").state == pb.Target.STATE_RUNNING
    second.terminate()
    finish(second)


@pytest.mark.parametrize("most, left", [(1, ["mine", "mine~1"]), (0, ["mine"])])
def test_no_more_than_asked_for(directory, programs, most, left):
    with Daemon(directory, args=("--keep-ended", str(most))) as d:
        for _ in range(3):
            assert finish(start(d, "--name", "mine", "--", programs["leaky"], 1))[0] == 0
        run = start(d, "--name", "mine", "--", programs["leaky"], 600)
        try:
            running_target(d, "mine")
            wait_for(lambda: sorted(d.status().daemon.targets) == left, f"{left} to be left")
        finally:
            run.terminate()
            finish(run)


def test_no_longer_than_asked_for(directory, programs):
    with Daemon(directory, args=("--keep-ended-for", "3s")) as d:
        assert finish(start(d, "--name", "mine", "--", programs["leaky"], 1))[0] == 0
        kept(d, "mine")
        wait_for(lambda: d.target("mine") is None, "its end after three seconds")


def test_what_a_process_wrote_last_is_read_before_its_end_is_judged(directory):
    """After the daemon itself stood still, a process that ended meanwhile has bytes in its file that are not read."""
    log = LiveLog(directory / "t.eventlog")
    program = subprocess.Popen(["sleep", "600"])
    log.process(program.pid)
    log.live(1 << 20)
    with Daemon(directory, f"t={log.path}") as d:
        wait_for(lambda: (h := d.snapshot("t").get("heap")) and h[0].heap.process.rss_bytes, "its process")
        d.process.send_signal(signal.SIGSTOP)
        stopped = time.monotonic()
        log.live(2 << 20)
        log.end()
        program.kill()
        program.wait()
        wait_for(lambda: time.monotonic() > stopped + 2.5, "two looks of the daemon that do not come")
        d.process.send_signal(signal.SIGCONT)
        d.wait_state("t", "ENDED")
        states = re.findall(r"target=t state=(\w+)", d.log.read_text())
        assert states[-2:] == ["RUNNING", "ENDED"], states


def test_a_file_taken_from_under_its_program_is_no_crash(directory):
    """Its log has no end that anybody could have seen."""
    log = LiveLog(directory / "t.eventlog")
    program = subprocess.Popen(["sleep", "600"])
    log.process(program.pid)
    log.live(1 << 20)
    with Daemon(directory, f"t={log.path}") as d:
        wait_for(lambda: (h := d.snapshot("t").get("heap")) and h[0].heap.process.rss_bytes, "its process")
        log.path.write_bytes(b"what somebody else keeps there")
        d.wait_state("t", "LOST")
        beats = lambda: next(h.sequence for h in d.snapshot("t")["target_state"][0].target_state.heads if h.kind == pb.KIND_HEALTH)
        first = beats()
        wait_for(lambda: beats() > first + 2, "it is judged again")
        d.wait_state("t", "LOST")
        program.kill()
        program.wait()
        assert f"process {program.pid} is gone; how it ended is not known" in d.wait_state("t", "ENDED").detail


def test_a_connection_that_breaks_is_no_crash(directory):
    """Whether a process that cannot be seen from here has ended is unknown."""
    log = (LOGS / "leaky-hT-ghc9103" / "run.eventlog").read_bytes()
    server = socket.socket(socket.AF_UNIX)
    server.bind(f"{directory}/s")
    server.listen()

    def serve():
        peer, _ = server.accept()
        peer.sendall(log[:len(log) // 2])
        peer.close()
        server.close()

    threading.Thread(target=serve, daemon=True).start()
    with Daemon(directory, f"t=unix:{directory}/s") as d:
        t = d.wait_state("t", "LOST")
        assert "whether the program has ended is not known" in t.detail and not t.kept
        alerts = [a.rule for u in d.snapshot("t").get("alerts", []) for a in u.alerts.alerts]
        assert "crashed" not in alerts
        assert d.snapshot("t")["heap"][0].heap.live_bytes > 0


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount a small disk")
def test_a_full_disk_is_no_crash(directory, programs):
    """The log stops in the middle, however the program ends: that is unknown, and not reported as a crash."""
    disk = directory / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "none", disk], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        with Daemon(directory, f"t={disk}/s.eventlog") as d, \
                running(programs["steady"], "600", "+RTS", "-l", "-hT", "-i0.01", f"-ol{disk}/s.eventlog",
                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=directory) as program:
            wait_for(lambda: os.statvfs(disk).f_bavail == 0, "a full disk")
            d.wait_state("t", "RUNNING", "LOST")
            program.terminate()
            assert "is full" in d.wait_state("t", "LOST").detail
            assert not any(a.rule == "crashed" for u in d.snapshot("t").get("alerts", []) for a in u.alerts.alerts)
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


@pytest.mark.parametrize("kind", ["file", "fifo", "unix", "unix-listen"])
def test_the_run_before_in_the_same_source_stays(directory, kind):
    """A target whose source continues: its last run is there as NAME~1, on every face, and not mixed with the next."""
    path = directory / "s"
    runs = []
    for number, mib in enumerate((100, 20, 30)):
        log = LiveLog(directory / f"run{number}", known_length=False)
        log.live(mib << 20)
        log.census({"Main.only" + str(number): mib << 20})
        if number == 1:
            log.end()     # the others stop without an end marker
        runs.append((directory / f"run{number}").read_bytes())
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "file":
        path.write_bytes(runs[0])
    server = socket.socket(socket.AF_UNIX)
    if kind == "unix":
        server.bind(str(path))
        server.listen()

    def send(data):
        """A program's stream, from its begin to its end."""
        if kind == "file":
            path.unlink()
            path.write_bytes(data)
        elif kind == "fifo":
            path.write_bytes(data)
        elif kind == "unix":
            peer, _ = server.accept()
            peer.sendall(data)
            peer.close()
        else:
            with socket.socket(socket.AF_UNIX) as s:
                wait_for(lambda: s.connect_ex(str(path)) == 0, "the daemon to listen")
                s.sendall(data)

    with server, Daemon(directory, f"api={kind}:{path}") as d:
        if kind != "file":
            send(runs[0])
        wait_for(lambda: d.snapshot("api").get("census"), "the first run")
        send(runs[1])
        d.wait_state("api", "ENDED", run=2)
        first = d.target("api~1")
        assert (first.kept, first.runs, first.state in (pb.Target.STATE_CRASHED, pb.Target.STATE_LOST)) == (True, 1, True), first
        said = d.snapshot("api~1")
        assert said["heap"][0].heap.live_bytes == 100 << 20 and said["census"][0].census.bytes[0] == 100 << 20
        assert not said.get("alerts") or not said["alerts"][0].alerts.alerts
        assert d.snapshot("api")["heap"][0].heap.max_live_bytes == 20 << 20, "nothing of the first is left in the second"

        env = {"HEAPWATCH_DIR": str(d.directory)}
        assert "100 MiB" in client("top", "--once", "api~1", env=env).stdout.decode()
        assert client("trend", "api~1", env=env).stdout.decode().startswith("api~1, run 1")
        assert client("ctl", "history", "api~1", "live", env=env).stdout.decode().split()[-1] == str(100 << 20)
        labels = [b.label for u in said["bands"] for b in u.bands.bands]
        assert "Main.only0" in labels and "Main.only1" not in labels
        send(runs[2])
        wait_for(lambda: d.target("api").runs == 3, "the third run")
        assert d.target("api~1").state == pb.Target.STATE_ENDED and d.target("api~2").runs == 1
        assert client("remove", "api~1", env=env).returncode == 0
        assert sorted(d.status().daemon.targets) == ["api", "api~2"]


def test_a_restart_loop_pushes_no_other_run_out(directory, programs):
    """The four previous runs of a name are kept, even of thousands at once; those of other names stay."""
    one = LiveLog(directory / "one", known_length=False)
    one.live(1 << 20, at_ns=10**9)
    one.end()
    with Daemon(directory, f"loop={directory}/loop") as d:
        assert finish(start(d, "--name", "mine", "--", programs["leaky"], 1))[0] == 0
        kept(d, "mine")
        (directory / "loop").write_bytes((directory / "one").read_bytes() * 3000)
        d.wait_state("loop", "ENDED", run=3000)
        targets = sorted(d.status().daemon.targets)
        assert targets == ["loop", "loop~1", "loop~2", "loop~3", "loop~4", "mine"]
        assert [d.target(f"loop~{n}").runs for n in range(1, 5)] == [2999, 2998, 2997, 2996]


def test_the_newest_previous_runs_are_kept_over_a_restart_of_the_daemon(directory):
    """The next daemon finds their checkpoints in no order: the oldest is dropped for the next one, and NAME~1 is the run before."""
    def runs(d, numbers):
        for n in numbers:
            log = LiveLog(directory / f"{n}.eventlog", start_wall_ns=n * 10**9)
            log.live(n << 20, at_ns=10**9)
            log.end()
            with one_run(d, "loop", directory / f"{n}", log):
                pass
            d.wait_state("loop", "ENDED")
            ended = time.time()
            assert not d.ask(pb.Request(end_target=pb.EndTargetRequest(name="loop", exit_status=0)))[0].HasField("error")
            kept(d, "loop")
        wait_for(lambda: (directory / "state" / "loop.checkpoint").stat().st_mtime > ended, "a checkpoint of its end")

    def seen(d):
        return {t: d.snapshot(t)["heap"][0].heap.live_bytes >> 20 for t in d.status().daemon.targets}

    def alerts():
        return client("alerts", env={"HEAPWATCH_DIR": str(directory)}).stdout.decode()

    args = ("--checkpoint", directory / "state")
    with Daemon(directory, args=args) as d:
        runs(d, range(1, 7))
        assert seen(d) == {"loop~4": 2, "loop~3": 3, "loop~2": 4, "loop~1": 5, "loop": 6}
    with Daemon(directory, args=args) as d:
        assert seen(d) == {"loop~4": 2, "loop~3": 3, "loop~2": 4, "loop~1": 5, "loop": 6}
        runs(d, range(7, 10))
        assert seen(d) == {"loop~4": 5, "loop~3": 6, "loop~2": 7, "loop~1": 8, "loop": 9}
        wait_for(lambda: "has restarted 8 times" in alerts(), "the alert")
        # Killed as the next one begins, before that has a checkpoint: `heapwatch run`, which adds it again, finds all of the name.
        d.ask(pb.Request(add_target=pb.AddTargetRequest(name="loop", uri=f"unix:{directory}/10", one_run=True)))
        d.stop(signal.SIGKILL)
    with Daemon(directory, args=args) as d:
        runs(d, range(10, 11))
        assert seen(d) == {"loop~4": 6, "loop~3": 7, "loop~2": 8, "loop~1": 9, "loop": 10}
        wait_for(lambda: "has restarted 9 times" in alerts(), "the alert, with its count")


@pytest.mark.parametrize("end, rule, cause", [("exit 3", "failed", "ended with status 3"),
                                              ("kill -9 $$", "crashed", "killed by signal 9 (SIGKILL)")])
def test_a_loop_of_starts_fires_whatever_ends_them(directory, end, rule, cause):
    """As `heapwatch run` in a loop: each start is a target of its own, and some end before their log begins."""
    env = {"HEAPWATCH_DIR": str(directory)}
    how = {"exit_status": 3} if rule == "failed" else {"exit_signal": 9}
    with Daemon(directory) as d:
        for number in range(5):
            d.ask(pb.Request(add_target=pb.AddTargetRequest(name="loop", uri=f"unix:{directory}/s{number}", one_run=True)))
            assert not d.ask(pb.Request(end_target=pb.EndTargetRequest(name="loop", **how)))[0].HasField("error")
        done = wait_for(lambda: "has restarted 4 times" in (r := client("alerts", env=env)).stdout.decode() and r, "the alert")
        said = done.stdout.decode()
        assert done.returncode == 1 and f"loop {rule}: {cause}" in said, said
        assert "flush" not in said
        # The name restarts: the next start is counted, and how the last one ended is still said, and when.
        d.ask(pb.Request(add_target=pb.AddTargetRequest(name="loop", uri=f"unix:{directory}/s9", one_run=True)))
        said = wait_for(lambda: "has restarted 5 times" in (s := client("alerts", env=env).stdout.decode()) and s, "the newest start")
        assert f"loop {rule}: {cause}" in said and "unknown" not in said, said
        assert all("  fired 20" in line for line in said.splitlines() if line[0] != " "), said


def test_a_finished_log_shows_that_its_limit_was_met(programs, directory):
    """By the heap's largest size, as nobody knows the status: one statement on all faces, and `check` fails."""
    for limit, met in (("4m", True), ("2g", False)):
        log = directory / f"{limit}.eventlog"
        subprocess.run([programs["leaky"], "600" if met else "1", "+RTS", "-l", f"-M{limit}", f"-ol{log}"], stderr=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, timeout=60)
        said = client("post-mortem", log).stdout.decode()
        assert ("Its limit was reached: the heap limit -M (4.00 MiB)" in said) == met and ("No limit was reached" in said) != met, said
        checked = client("check", log)
        assert ("heap-limit-met" in checked.stdout.decode()) == met and (checked.returncode == 1) == met, checked


def test_what_led_to_a_crash_is_a_part_of_it_in_a_recording(programs, directory):
    with Daemon(directory, args=("--record", directory / "recordings")) as d:
        assert finish(start(d, "--name", "mine", "--rts", "-M4m", "--", programs["leaky"], 600))[0] == 251
        kept(d, "mine")
    for command in "check", "alerts":
        said = client(command, f"recording:{directory}/recordings/mine").stdout.decode()
        assert "mine crashed: ended with status 251" in said and "heap-limit-met" in said, said


def test_a_log_that_was_not_completed_gets_no_advice_that_it_follows(programs, directory):
    """GHC 9.0 leaves a header alone when SIGTERM ends it: which flags it had is not known."""
    log = directory / "x.eventlog"
    with running(programs["leaky"], "600", "+RTS", "-l", f"-ol{log}") as program:
        wait_for(lambda: log.exists() and log.stat().st_size > 0, "its header")
        program.send_signal(signal.SIGTERM)
        program.wait()
    assert "gc-events-missing" not in client("check", log).stdout.decode()


def test_how_a_program_failed_is_said(daemon, programs):
    """A status is a failure even if the log has its end marker, an exhausted heap a crash with its limit."""
    env = {"HEAPWATCH_DIR": str(daemon.directory)}
    assert finish(start(daemon, "--name", "mine", "--rts", "-M4m", "--", programs["leaky"], 600))[0] == 251
    t = kept(daemon, "mine")
    assert t.state == pb.Target.STATE_CRASHED and t.detail.startswith("ended with status 251, heap exhausted at -M4m"), t
    said = client("alerts", env=env).stdout.decode()
    assert "mine crashed: ended with status 251, heap exhausted at -M4m" in said and "critical" in said
    limited = ["sh", "-c", "ulimit -v 1200000; exec \"$@\"", "sh", programs["leaky"], 2]
    assert finish(start(daemon, "--name", "full", "--", *limited))[0] == 0
    state = daemon.snapshot("full")["trends"][-1].trends
    assert state.limit_source == pb.TimeToLimit.SOURCE_RESERVED and 770 << 20 < state.limit_bytes <= 782 << 20
    assert finish(start(daemon, "--name", "bad", "--", programs["leaky"], "no number"))[0] == 1
    t = kept(daemon, "bad")
    assert t.state == pb.Target.STATE_FAILED and t.detail.startswith("ended with status 1"), t
    done = client("alerts", env=env)
    assert done.returncode == 1 and "bad failed: ended with status 1" in done.stdout.decode()
    assert "failed" in client("status", env=env).stdout.decode()
    run = leaky(daemon, programs)
    os.kill(running_target(daemon, "mine").run_info.pid, signal.SIGTERM)
    finish(run)
    t = kept(daemon, "mine")
    assert (t.state, t.detail.split(";")[0]) == (pb.Target.STATE_ENDED, "stopped by signal 15 (SIGTERM)"), t


def test_a_fifo_whose_writer_is_killed_is_lost(directory):
    """Nothing but the header had come: its process is not known, and no more will ever come."""
    LiveLog(directory / "log")
    header = (directory / "log").read_bytes()
    os.mkfifo(directory / "fifo")
    with Daemon(directory, f"t=fifo:{directory}/fifo") as d:
        with running("sh", "-c", 'exec cat "$0/log" - >"$0/fifo"', str(directory), stdin=subprocess.PIPE) as writer:
            d.wait_state("t", "RUNNING")
            assert header
            writer.kill()
        t = d.wait_state("t", "LOST")
        assert "has closed it" in t.detail and t.state_since_wall_ns
        (directory / "again").write_bytes(header)
        with running("sh", "-c", 'exec cat "$0/again" - >"$0/fifo"', str(directory), stdin=subprocess.PIPE):
            assert d.wait_state("t", "RUNNING", run=2).runs == 2


@pytest.mark.parametrize("emptied", [False, True])
def test_a_header_that_a_restart_cuts_goes_on(directory, emptied):
    """Also where the file is emptied meanwhile, as by copytruncate: its writer goes on behind a hole."""
    log = LiveLog(directory / "whole")
    log.live(20 << 20)
    log.end()
    whole = (directory / "whole").read_bytes()
    (directory / "log").write_bytes(whole[:150])
    d = Daemon(directory, f"t=file:{directory}/log", args=("--checkpoint", f"{directory}/state"))
    d.start()
    wait_for(lambda: d.health("t") and d.health("t").bytes == 150, "the first bytes")
    d.stop(signal.SIGTERM)
    if emptied:
        os.truncate(directory / "log", 0)
    d.start()
    with open(directory / "log", "r+b") as f:
        f.seek(150)
        f.write(whole[150:])
    t = d.wait_state("t", "ENDED")
    assert t.runs == 1 and d.snapshot("t")["heap"][0].heap.live_bytes == 20 << 20
    d.stop()
