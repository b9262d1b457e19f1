# SPDX-License-Identifier: BSD-3-Clause
"""Live sources fed with recorded logs: what arrives, what is lost, what happens when things go away and come back."""
import os
import signal
import socket
import threading

import pytest

import harness
from harness import DEADLINE_S, LOGS, LONG, WATCHED, Daemon, client, pb, rss_bytes, wait_for
from subscriber import Follower

LEAKY = (LOGS / "leaky-hT-ghc9103" / "run.eventlog").read_bytes()
STEADY = (LOGS / "steady-hT-thr-ghc9103" / "run.eventlog").read_bytes()
LEAKY_EVENTS, STEADY_EVENTS = 10918, 15927


def write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view):]


def append(path, data):
    with open(path, "ab") as f:
        f.write(data)


def ended(daemon, name, run=1):
    return daemon.wait_state(name, "ENDED", run=run)


def test_a_file_that_comes_later_and_grows(directory):
    log = directory / "later.eventlog"
    with Daemon(directory, f"t={log}") as d:
        t = d.wait_state("t", "WAITING")
        assert "later.eventlog" in t.detail
        append(log, LEAKY[:50000])
        d.wait_state("t", "RUNNING")
        wait_for(lambda: d.health("t").bytes == 50000, "the first piece")
        for at in range(50000, len(LEAKY), 30000):
            append(log, LEAKY[at:at + 30000])
        t = ended(d, "t")
        assert t.runs == 1 and t.run_info.ghc_version == "9.10.3" and t.run_info.program == "leaky"
        h = d.health("t")
        assert h.events == LEAKY_EVENTS and h.lost_bytes == 0


def test_a_replaced_file_is_a_new_run(directory):
    log, new = directory / "a.eventlog", directory / "new"
    log.write_bytes(LEAKY[:100000])
    with Daemon(directory, f"t={log}") as d:
        d.wait_state("t", "RUNNING")
        wait_for(lambda: d.health("t").bytes == 100000, "the first file")
        new.write_bytes(STEADY)
        os.rename(new, log)
        t = ended(d, "t", run=2)
        assert t.runs == 2 and t.run_info.program == "steady-thr"
        assert d.health("t").lost_bytes == 0


def test_a_truncated_file_is_a_new_run(directory):
    log = directory / "a.eventlog"
    log.write_bytes(STEADY)
    with Daemon(directory, f"t={log}") as d:
        ended(d, "t")
        with open(log, "wb") as f:
            f.write(LEAKY)
        t = ended(d, "t", run=2)
        assert t.run_info.program == "leaky"


@pytest.mark.long
def test_a_removed_file_comes_back(directory):
    """What is written to the old file is still read; in the long form, until it has not grown for a minute."""
    log = directory / "a.eventlog"
    log.write_bytes(STEADY[:90000])
    with Daemon(directory, f"t={log}") as d, open(log, "ab") as old:
        d.wait_state("t", "RUNNING")
        wait_for(lambda: d.health("t").bytes == 90000, "the first file")
        log.unlink()
        old.write(STEADY[90000:95000])
        old.flush()
        wait_for(lambda: d.health("t").bytes == 95000, "the rest of the old file")
        if LONG:
            d.wait_state("t", "CRASHED", "WAITING")
        log.write_bytes(LEAKY)
        assert ended(d, "t", run=2).run_info.program == "leaky"


def test_a_fifo_stays_open_between_programs(directory):
    fifo = directory / "log"
    os.mkfifo(fifo)
    with Daemon(directory, f"t=fifo:{fifo}") as d:
        for run, data in ((1, LEAKY), (2, STEADY)):
            with open(fifo, "wb") as f:
                f.write(data)
            ended(d, "t", run=run)
        h = d.health("t")
        assert h.events == LEAKY_EVENTS + STEADY_EVENTS and h.lost_bytes == 0


def test_a_program_killed_on_a_fifo_and_started_again(directory):
    fifo = directory / "log"
    os.mkfifo(fifo)
    with Daemon(directory, f"t=fifo:{fifo}") as d:
        with open(fifo, "wb") as f:
            f.write(LEAKY[:100003])             # inside an event
        with open(fifo, "wb") as f:
            f.write(STEADY)
        t = ended(d, "t", run=2)
        assert t.run_info.program == "steady-thr"
        assert d.health("t").lost_bytes < 4096  # the event that the cut went through, and the header taken for its rest


def serve(listener, parts):
    """Accepts once per part and sends it."""
    for part in parts:
        connection, _ = listener.accept()
        connection.sendall(part)
        connection.close()
    listener.close()


@pytest.mark.parametrize("kind", ["unix", "tcp"])
def test_connects_and_reconnects(directory, kind):
    if kind == "unix":
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(directory / "s"))
        uri = f"unix:{directory}/s"
    else:
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        uri = f"tcp:127.0.0.1:{listener.getsockname()[1]}"
    listener.listen(5)
    parts = [(LOGS / "socket-9103-prof-hc" / f"conn{i}.eventlog").read_bytes() for i in (1, 2)]
    server = threading.Thread(target=serve, args=(listener, parts), daemon=True)
    server.start()
    with Daemon(directory, f"t={uri}") as d:
        wait_for(lambda: d.health("t").bytes == sum(map(len, parts)), "both connections")
        t = d.wait_state("t", "LOST")
        assert t.runs == 1, "one process, one run, however often its connection breaks"
        h = d.health("t")
        assert h.reconnects >= 1 and h.gaps == 1 and 0.4e9 < h.gap_ns < 0.5e9
        # What the first connection brought is still there, and what the second did has joined it.
        times = [p.time_ns for p in d.ask(pb.Request(history=pb.HistoryRequest(target="t", series=pb.SERIES_HEAP_SIZE)))[0].history.points]
        assert min(times) < 1e9 and max(times) > 2e9 and times == sorted(times)


def test_the_same_log_again_is_another_run(directory):
    """The same process and start, but time begins again: it is replayed."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(directory / "s"))
    listener.listen(5)
    part = (LOGS / "socket-9103-prof-hc" / "conn1.eventlog").read_bytes()
    threading.Thread(target=serve, args=(listener, [part, part]), daemon=True).start()
    with Daemon(directory, f"t=unix:{directory}/s") as d:
        wait_for(lambda: d.health("t").bytes == 2 * len(part), "both connections")
        t = d.wait_state("t", "LOST", run=2)
        assert t.runs == 2 and d.health("t").gaps == 0


def test_another_program_after_a_lost_one_is_another_run(directory):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(directory / "s"))
    listener.listen(5)
    first = (LOGS / "socket-9103-prof-hc" / "conn1.eventlog").read_bytes()
    threading.Thread(target=serve, args=(listener, [first, STEADY]), daemon=True).start()
    with Daemon(directory, f"t=unix:{directory}/s") as d:
        t = ended(d, "t", run=2)
        assert t.runs == 2 and d.health("t").events > STEADY_EVENTS


def test_a_connection_that_breaks_restarts_nothing(directory):
    """A proxy between program and daemon that cuts the stream: alerts stay as they are, nothing has crashed or restarted."""
    parts = [(LOGS / "socket-9103-prof-hc" / f"conn{i}.eventlog").read_bytes() for i in (1, 2)]
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(directory / "s"))
    listener.listen(5)
    (directory / "rules.yaml").write_text(
        "groups:\n  - name: g\n    rules:\n      - alert: seen\n        expr: heap > 0\n        for: 0s\n")
    threading.Thread(target=serve, args=(listener, parts), daemon=True).start()
    with Daemon(directory, f"t=unix:{directory}/s", args=["--rules", f"{directory}/rules.yaml"]) as d:
        wait_for(lambda: d.health("t").gaps == 1, "the second connection")
        d.wait_state("t", "LOST")
        rows = {a.rule: a for u in d.snapshot("t").get("alerts", []) for a in u.alerts.alerts}
        assert rows["seen"].state == pb.Alert.STATE_FIRING and "crashed" not in rows and "restart-loop" not in rows


def test_listens_for_one_writer_after_the_other(directory):
    with Daemon(directory, f"t=unix-listen:{directory}/s") as d:
        for run, data in ((1, LEAKY), (2, STEADY)):
            writer = socket.socket(socket.AF_UNIX)
            wait_for(lambda: writer.connect_ex(str(directory / "s")) == 0, "the socket")
            writer.sendall(data)
            writer.close()
            ended(d, "t", run=run)


def test_stdin(directory):
    with open(LOGS / "leaky-hT-ghc9103" / "run.eventlog", "rb") as log:
        import subprocess
        from harness import DAEMON
        d = Daemon(directory)
        d.process = subprocess.Popen([DAEMON, "--publish", d.publish, "--request", d.request_endpoint, "t=stdin:"],
                                     stdin=log, stderr=subprocess.DEVNULL)
        try:
            wait_for(d.answers, "the daemon's first answer")
            ended(d, "t")
            assert d.health("t").events == LEAKY_EVENTS
        finally:
            d.stop()


def test_one_bad_target_harms_no_other(directory):
    (directory / "bad").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 300)
    (directory / "damaged").write_bytes(LEAKY[:60000] + b"\xff" * 5000 + LEAKY[60000:])
    (directory / "good").write_bytes(STEADY)
    targets = [f"{n}={directory}/{n}" for n in ("bad", "damaged", "good")]
    with Daemon(directory, *targets, f"dir={directory}", "nobody=tcp:127.0.0.1:1") as d:
        ended(d, "good")
        assert d.health("good").events == STEADY_EVENTS
        bad = d.wait_state("bad", "UNREADABLE")
        assert "hdrb" in bad.detail or "eventlog" in bad.detail
        ended(d, "damaged")
        h = d.health("damaged")
        assert h.resyncs >= 1 and 5000 <= h.lost_bytes <= 5000 + 70000
        assert h.damages[0].offset >= 59000 and h.damages[0].reason
        assert "directory" in d.wait_state("dir", "UNREADABLE").detail
        assert d.wait_state("nobody", "WAITING").detail
        assert d.process.poll() is None


def test_a_flood_is_drained_while_others_are_served(directory):
    """Bytes come as fast as they are read, until requests were answered and a subscriber was sent runs in between."""
    fifo, answered, written = directory / "log", threading.Event(), []
    os.mkfifo(fifo)

    def flood():
        with open(fifo, "wb") as f:
            while not answered.is_set():
                f.write(LEAKY)
                written.append(len(LEAKY))

    with Daemon(directory, f"t=fifo:{fifo}") as d, Follower(d.publish) as follower:
        follower.run_until(lambda f: f.ready)
        flooding = threading.Thread(target=flood, daemon=True)
        flooding.start()
        try:
            first = wait_for(lambda: (d.health("t") or pb.Health()).bytes, "the first bytes")
            wait_for(lambda: d.health("t").bytes > first, "an answer in the middle")
            follower.run_until(lambda f: "t" in f.targets and f.targets["t"].census and f.targets["t"].run > 1)
            wait_for(lambda: "census" in d.snapshot("t"), "a census of any run")
        finally:
            answered.set()
            flooding.join(DEADLINE_S)
        assert not flooding.is_alive()
        d.wait_state("t", "ENDED", run=len(written))
        h = d.health("t")
        assert (h.bytes, h.events, h.lost_bytes) == (sum(written), LEAKY_EVENTS * len(written), 0)


def test_fifty_targets_at_once_in_little_memory(directory):
    runs = sorted(p.parent.name for p in LOGS.glob("*/run.eventlog"))
    runs = (runs * 2)[:50]
    fifos = []
    for i in range(50):
        fifos.append(directory / f"f{i}")
        os.mkfifo(fifos[-1])
    with Daemon(directory, *(f"t{i}=fifo:{f}" for i, f in enumerate(fifos))) as d:
        def play(fifo, run):
            with open(fifo, "wb") as f:
                f.write((LOGS / run / "run.eventlog").read_bytes())

        threads = [threading.Thread(target=play, args=a, daemon=True) for a in zip(fifos, runs)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(DEADLINE_S)
            assert not t.is_alive(), "the daemon does not drain its FIFOs"
        sizes = {f"t{i}": (LOGS / run / "run.eventlog").stat().st_size for i, run in enumerate(runs)}
        wait_for(lambda: all(u.health.bytes == sizes[u.target] for u in d.status().targets
                             if u.WhichOneof("body") == "health"), "all bytes")
        if not WATCHED:
            assert rss_bytes(d.process.pid) < 24 << 20
        snapshot = d.snapshot()
        assert len({u.target for u in snapshot["target_state"]}) == 50


def test_a_restarted_daemon_reads_the_file_again(directory):
    log = directory / "a.eventlog"
    log.write_bytes(LEAKY)
    d = Daemon(directory, f"t={log}").start()
    ended(d, "t")
    first = d.snapshot("t")
    d.stop(signal.SIGKILL)
    d.start()                   # the sockets of the killed one are in the way: they must be replaced
    ended(d, "t")
    second = d.snapshot("t")
    assert first["census"][0].census == second["census"][0].census
    assert first["heap"][0].heap == second["heap"][0].heap
    assert first["heap"][0].epoch != second["heap"][0].epoch
    d.stop()


def test_history_and_errors(directory):
    (directory / "a").write_bytes(LEAKY)
    with Daemon(directory, f"t={directory}/a") as d:
        ended(d, "t")
        live = d.ask(pb.Request(history=pb.HistoryRequest(target="t", series=pb.SERIES_LIVE)))[0].history
        assert sum(p.count for p in live.points) > 5
        assert all(a.time_ns < b.time_ns for a, b in zip(live.points, live.points[1:]))
        assert all(0 < p.min <= p.mean <= p.max for p in live.points)
        assert d.ask(pb.Request(history=pb.HistoryRequest(target="t", band=1)))[0].history.points
        for request, word in ((pb.Request(history=pb.HistoryRequest(target="x", series=1)), "no target 'x'"),
                              (pb.Request(history=pb.HistoryRequest(target="t", band=60000)), "no band"),
                              (pb.Request(add_target=pb.AddTargetRequest(uri="gopher:x")), "gopher"),
                              (pb.Request(add_target=pb.AddTargetRequest(name="t", uri="/x")), "already"),
                              (pb.Request(add_target=pb.AddTargetRequest(uri="tcp-listen:0.0.0.0:1")), "loopback"),
                              (pb.Request(remove_target=pb.RemoveTargetRequest(name="x")), "no target 'x'")):
            assert word in d.ask(request)[0].error
        assert d.ask(pb.Request(add_target=pb.AddTargetRequest(name="u", uri=f"{directory}/a")))[0].done.target == "u"
        ended(d, "u")
        assert d.ask(pb.Request(remove_target=pb.RemoveTargetRequest(name="u")))[0].done.target == "u"
        assert d.target("u") is None
        assert list(d.status().daemon.targets) == ["t"]


def test_a_request_cannot_make_the_daemon_listen(directory):
    """It would make a file or a port; only the daemon's own configuration does, or allows it."""
    socket_path, allowed = directory / "s", directory / "allowed"
    allowed.mkdir()
    add = lambda uri: pb.Request(add_target=pb.AddTargetRequest(name="t", uri=uri))        # noqa: E731
    with Daemon(directory, args=["--allow-source", f"unix-listen:{allowed}/*"]) as d:
        for uri in (f"unix-listen:{socket_path}", f"unix-listen:{allowed}/../s", "tcp-listen:127.0.0.1:4242"):
            assert "sources.allow" in d.ask(add(uri))[0].error, uri
        assert not socket_path.exists() and d.status().daemon.targets == []
        done = client("add", "--connect", d.publish, f"t=unix-listen:{socket_path}")
        assert done.returncode == 1 and b"sources.allow" in done.stderr, done
        assert d.ask(add(f"unix-listen:{allowed}/s"))[0].done.target == "t"
        wait_for((allowed / "s").exists, "the socket")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a daemon with privileges: root")
def test_a_request_does_not_get_the_daemons_privileges(directory):
    private = directory / "private"
    private.mkdir(0o700)
    (private / "a.eventlog").write_bytes(LEAKY)
    os.chown(private, 54321, 54321)
    with Daemon(directory, f"own={private}/a.eventlog") as d:
        ended(d, "own")     # named by whoever started the daemon
        for name in ("a", "missing"):
            uri = f"{private}/{name}.eventlog"
            assert "sources.allow" in d.ask(pb.Request(add_target=pb.AddTargetRequest(name=name, uri=uri)))[0].error


@pytest.fixture
def limited(directory, monkeypatch):
    """limited(soft, hard): daemons started from now on may open so many descriptors."""
    if harness.VALGRIND:
        pytest.skip("valgrind has limits of its own, and some of the descriptors")

    def limit(soft, hard):
        script = directory / "limited"
        script.write_text(f'#!/bin/sh\nulimit -Sn {soft} && ulimit -Hn {hard} && exec {harness.DAEMON} "$@"\n')
        script.chmod(0o755)
        monkeypatch.setattr(harness, "DAEMON", script)
    return limit


def test_as_many_descriptors_as_the_system_allows(directory, limited):
    logs = [f"t{i}={directory}/{i}.eventlog" for i in range(300)]
    for i in range(300):
        append(directory / f"{i}.eventlog", LEAKY[:50000])
    limited(64, 4096)
    with Daemon(directory, *logs) as d:
        d.wait_state("t299", "RUNNING")
        done = client("top", "--once", "--connect", d.publish, "t7")
        assert done.returncode == 0 and b"t7" in done.stdout, done


def test_targets_are_refused_before_clients_are(directory, limited):
    limited(128, 128)
    with Daemon(directory) as d:
        refused = None
        for i in range(200):
            append(directory / f"{i}.eventlog", LEAKY[:50000])
            reply = d.ask(pb.Request(add_target=pb.AddTargetRequest(name=f"t{i}", uri=f"{directory}/{i}.eventlog")))[0]
            if reply.error:
                refused = (i, reply.error)
                break
        assert refused and refused[0] > 10 and "of the 128 descriptors" in refused[1] and "ulimit -Hn" in refused[1]
        for _ in range(20):     # clients still come and go
            assert client("status", "--connect", d.publish).returncode == 0
