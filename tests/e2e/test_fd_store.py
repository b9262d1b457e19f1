# SPDX-License-Identifier: BSD-3-Clause
"""A daemon is started again without the program that writes to its FIFO noticing: somebody keeps the FIFO open."""
import contextlib
import os
import pathlib
import select
import signal
import socket
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import harness
from harness import DEADLINE_S, Daemon, pb, private_directory, wait_for
from test_resume import ARGS, Hour, bytes_of, census_of, is_recorded_whole, same_soon


class Manager:
    """What systemd does with descriptors: keeps those that it is given by their names, and passes them to the next daemon."""

    def __init__(self, directory):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(directory / "notify"))
        self.socket.setblocking(False)
        self.kept, self.listeners = {}, []

    def hears(self):
        """Takes the datagrams that are there."""
        while True:
            try:
                text, fds, _, _ = socket.recv_fds(self.socket, 4096, 4)
            except BlockingIOError:
                return self.kept
            lines = dict(line.split("=", 1) for line in text.decode().splitlines())
            if lines.get("FDSTOREREMOVE") == "1":
                os.close(self.kept.pop(lines["FDNAME"], None) or os.dup(0))
            if lines.get("FDSTORE") == "1":
                assert len(fds) == 1 and lines["FDPOLL"] == "0" and lines["FDNAME"] not in self.kept
                self.kept[lines["FDNAME"]] = fds[0]
            else:
                assert not fds

    def listens(self, *paths):
        """At the addresses of a socket unit, in a directory of the user's own."""
        for path in paths:
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(str(path))
            listener.listen()
            self.listeners.append(listener)

    def starts(self, daemon, monkeypatch):
        """As systemd does: the descriptors are 3, 4 ..., those of a socket unit first, LISTEN_PID is the daemon's."""
        script = daemon.directory / "start"
        names = ["heapwatchd.socket"] * len(self.listeners) + list(self.kept)
        passed = [listener.fileno() for listener in self.listeners] + list(self.kept.values())
        script.write_text("#!/bin/bash\n" + "".join(f"exec {40 + i}<&{fd}\n" for i, fd in enumerate(passed)) +
                          "".join(f"exec {fd}<&-\n" for fd in passed) +
                          "".join(f"exec {3 + i}<&{40 + i} {40 + i}<&-\n" for i in range(len(passed))) +
                          f"export LISTEN_PID=$$ LISTEN_FDS={len(passed)} LISTEN_FDNAMES={':'.join(names)}\n"
                          f"exec {harness.BUILD}/heapwatchd \"$@\"\n")
        script.chmod(0o755)
        popen = subprocess.Popen
        with monkeypatch.context() as m:
            m.setattr(harness, "DAEMON", script)
            m.setattr(subprocess, "Popen", lambda *a, **k: popen(*a, pass_fds=passed, **k))
            m.setenv("NOTIFY_SOCKET", str(daemon.directory / "notify"))
            daemon.start()

    def close(self):
        for fd in self.kept.values():
            os.close(fd)
        for listener in self.listeners:
            listener.close()
        self.socket.close()


class Writer(threading.Thread):
    """A program that writes its log to a FIFO, and would die of SIGPIPE."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.pieces, self.more, self.failed = path, [], threading.Condition(), None
        self.start()

    def run(self):
        with open(self.path, "wb", buffering=0) as f:
            while True:
                with self.more:
                    self.more.wait_for(lambda: self.pieces)
                    piece = self.pieces[0]
                if piece is None:
                    return
                try:
                    f.write(piece)
                except OSError as e:
                    self.failed = e
                with self.more:
                    self.pieces.pop(0)

    def write(self, *pieces):
        with self.more:
            self.pieces += pieces
            self.more.notify()

    def is_done(self):
        return not self.pieces or self.failed


@pytest.mark.parametrize("keeper", ["service manager", "relay"])
def test_a_fifo_outlives_its_reader(directory, monkeypatch, keeper):
    hour, directory = Hour(), pathlib.Path(directory)
    path, held = directory / "t.fifo", -1
    os.mkfifo(path, 0o600)
    manager = Manager(directory)
    d = Daemon(directory, f"t=fifo:{path}",
               args=(*ARGS, "--checkpoint", f"{directory}/state.d", "--record", f"{directory}/kept"))
    if keeper == "relay":
        held = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        d.start()
    else:
        manager.starts(d, monkeypatch)
        wait_for(manager.hears, "a descriptor")
        (name,) = manager.kept
    writer = Writer(path)
    sent, at = hour.header + b"".join(hour.pieces[:500]), 500
    writer.write(sent)
    for _ in range(3):
        wait_for(lambda: bytes_of(d, "t") == len(sent), "all that was written")
        d.stop(signal.SIGTERM)
        manager.hears()
        more = b"".join(hour.pieces[at:at + 300])
        at, sent = at + 300, sent + more
        writer.write(*(more[i:i + 4096] for i in range(0, len(more), 4096)))
        wait_for(writer.is_done, "the end of writing: nobody reads, and it is not blocked")
        assert not writer.failed
        if keeper == "relay":
            d.start()
        else:
            assert list(manager.kept) == [name]
            manager.starts(d, monkeypatch)
            wait_for(lambda: bytes_of(d, "t") > 0, "the first bytes")
    wait_for(lambda: bytes_of(d, "t") == len(sent), "all of it")
    log = d.log.read_text()
    assert log.count("resumes from its checkpoint") == 3 and d.target("t").runs == 1 and not d.health("t").gaps
    with private_directory() as other:
        (other / "t.eventlog").write_bytes(sent)
        with Daemon(other, f"t={other}/t.eventlog", args=ARGS) as never:
            wait_for(lambda: bytes_of(never, "t") == len(sent), "all of it")
            same_soon(d, never)
    if keeper != "relay":
        # A target that is removed is not kept: its program shall find out.
        assert list(manager.hears()) == [name]
        d.ask(pb.Request(remove_target=pb.RemoveTargetRequest(name="t")))
        wait_for(lambda: not manager.hears(), "that it is forgotten")
    writer.write(None)
    d.stop()
    is_recorded_whole(directory, sent)
    if held >= 0:
        os.close(held)
    manager.close()


def test_a_fifo_whose_checkpoint_is_damaged_is_joined(directory):
    """Its program does not notice that either; what was before is in the recording."""
    hour, directory = Hour(), pathlib.Path(directory)
    path = directory / "t.fifo"
    os.mkfifo(path, 0o600)
    held = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    d = Daemon(directory, f"t=fifo:{path}",
               args=(*ARGS, "--checkpoint", f"{directory}/state.d", "--record", f"{directory}/kept"))
    d.start()
    writer = Writer(path)
    before, after = hour.header + b"".join(hour.pieces[:900]), b"".join(hour.pieces[900:1200])
    writer.write(before)
    wait_for(lambda: census_of(d, "t") == 900 and writer.is_done(), "all of it")
    d.stop(signal.SIGTERM)
    checkpoint = directory / "state.d" / "t.checkpoint"
    checkpoint.write_bytes(checkpoint.read_bytes()[:-7])
    writer.write(after)
    d.start()
    wait_for(lambda: census_of(d, "t") == 300, "what came since")
    t = d.target("t")
    assert t.runs == 1 and t.state == pb.Target.STATE_RUNNING and t.joined_late
    assert "checkpoint refused: it is damaged; the target starts over" in d.log.read_text()
    writer.write(None)
    d.stop()
    assert len(list((directory / "kept" / "t").iterdir())) == 2
    os.close(held)


def test_what_no_source_has_is_given_up(directory, monkeypatch):
    """What the manager kept for a target that is gone is closed, and no program waits for ever for a reader."""
    directory = pathlib.Path(directory)
    os.mkfifo(directory / "old", 0o600)
    manager = Manager(directory)
    manager.kept["fifo-1-2"] = os.open(directory / "old", os.O_RDONLY | os.O_NONBLOCK)
    d = Daemon(directory)
    monkeypatch.setenv("WATCHDOG_USEC", "400000")
    manager.starts(d, monkeypatch)
    wait_for(lambda: not manager.hears(), "that it is given up", DEADLINE_S)
    with pytest.raises(OSError):
        os.open(directory / "old", os.O_WRONLY | os.O_NONBLOCK)     # ENXIO: nobody reads it
    d.stop()
    manager.close()


def test_the_sockets_of_a_unit(directory, monkeypatch):
    """Whoever connects before the daemon is there is answered when it is; its sockets outlive it, and the next one has them."""
    directory = pathlib.Path(directory)
    manager = Manager(directory)
    manager.listens(directory / "publish", directory / "request")
    d = Daemon(directory)
    with contextlib.closing(manager), ThreadPoolExecutor() as threads:
        for _ in range(2):
            asking = threads.submit(d.ask, pb.Request(status=pb.StatusRequest()))
            wait_for(lambda: select.select(manager.listeners, [], [], 0)[0], "a client that connects")
            manager.starts(d, monkeypatch)
            assert asking.result()[0].status.daemon.pid == d.process.pid
            d.stop()
            assert sorted(p.name for p in directory.iterdir() if p.is_socket()) == ["notify", "publish", "request"]


def test_a_socket_at_another_place_is_not_taken(directory, monkeypatch):
    directory = pathlib.Path(directory)
    manager = Manager(directory)
    manager.listens(directory / "other")
    with contextlib.closing(manager):
        d = Daemon(directory)
        manager.starts(d, monkeypatch)
        assert d.status()
        d.stop()
