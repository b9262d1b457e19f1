# SPDX-License-Identifier: BSD-3-Clause
"""Descriptors are a budget: whoever connects too often is turned away, and the daemon goes on."""
import contextlib
import os
import re
import resource
import socket
import subprocess

import pytest

from harness import CLIENT, DAEMON, DEADLINE_S, LOGS, VALGRIND, Daemon, client, pb, private_directory, wait_for


LIMIT = 132     # descriptors of a small daemon: its own, those of 32 clients, and of some targets


@pytest.fixture
def directory():
    with private_directory() as d:
        yield d


def connect(path):
    s = socket.socket(socket.AF_UNIX)
    s.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        s.connect(path)
    return s


def was_closed(s):
    try:
        return s.recv(64) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@pytest.mark.parametrize("which", ["publish", "request"])
@pytest.mark.parametrize("room", [40, 0])
def test_connections_until_refused(directory, which, room):
    """With room for a few more, and with none: libzmq alone would end the daemon at the first that has no descriptor."""
    with Daemon(directory, f"api={LOGS}/leaky-hi-ghc966/run.eventlog") as daemon:
        pid = daemon.process.pid
        used = max(map(int, os.listdir(f"/proc/{pid}/fd"))) + 1
        _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + room, hard))
        peers = []
        try:
            def refused():
                peers.append(connect(f"{directory}/{which}"))
                return sum(was_closed(p) for p in peers) > 20
            wait_for(refused, "connections that are turned away", poll_s=0)
            assert daemon.process.poll() is None
            assert b"connections_refused=" in daemon.log.read_bytes()
        finally:
            for p in peers:
                p.close()
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + 64, hard))
        wait_for(daemon.answers, "an answer, when they have gone")
        assert daemon.status().daemon.connections_refused > 20
        said = client("status", env={"HEAPWATCH_DIR": str(directory)})
        assert said.returncode == 0 and b"connections refused" in said.stdout


def start_limited(directory, limit, *targets):
    """The daemon's status and messages where it may open so many; None where it goes on: then it is answered, and ended."""
    process = subprocess.Popen([DAEMON, "--publish", f"ipc://{directory}/publish", "--request", f"ipc://{directory}/request",
                                *targets], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
    try:
        def ask():
            return client("status", env={"HEAPWATCH_DIR": str(directory)})

        wait_for(lambda: process.poll() is not None or ask().returncode == 0, "its end or an answer")
        if process.poll() is not None:
            return process.returncode, process.stderr.read()
        for _ in range(20):     # a client waits for 3 s, and a busy machine may be longer
            wait_for(lambda: ask().returncode == 0, "another answer")
        return None
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("kind, fit, many", [("file", 20, 100), ("fifo", 10, 50)])
def test_descriptors_of_targets_are_reserved_before_they_are_opened(directory, kind, fit, many):
    """More targets than descriptors are refused with the number that is missing, and do not lock clients out."""
    for i in range(many):
        if kind == "fifo":
            os.mkfifo(directory / f"f{i}")
        else:
            (directory / f"f{i}").touch()
    targets = [f"t{i}={kind}:{directory}/f{i}" for i in range(many)]
    assert start_limited(directory, LIMIT, *targets[:fit]) is None
    status, said = start_limited(directory, LIMIT, *targets)
    assert status == 2 and re.search(rf"of the {LIMIT} descriptors that this daemon may open \d+ (is|are) missing", said), said


FEW_OF = [12, 63] if VALGRIND else [8, 12, 63]
FEW = r"it may open only \d+ descriptors, and needs 64 at least; raise its limit \(ulimit -n, LimitNOFILE=\)\n"


def test_too_few_descriptors_to_start(directory):
    status, said = start_limited(directory, 12)
    assert status == 1 and re.fullmatch(f"heapwatchd: {FEW}", said), said


def limited(directory, limit, *command):
    return subprocess.run([CLIENT, *command], env={**os.environ, "HEAPWATCH_DIR": str(directory)}, capture_output=True, text=True,
                          timeout=DEADLINE_S, stdin=subprocess.DEVNULL,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))


@pytest.mark.parametrize("limit", FEW_OF)
def test_too_few_descriptors_for_a_command(directory, limit):
    """One sentence each; the library of connections would end the process."""
    for command in (["top", "--once"], ["status"], ["trend", "x"], ["alerts"], ["pipe", "--format", "json"], ["export"], ["notify"],
                    ["web"], ["attach", "1"], ["why", "1"], ["ctl", "reload"], ["report", "x"], ["recording"]):
        done = limited(directory, limit, *command)
        assert (done.returncode, done.stdout) == (2, "") and re.fullmatch(rf"heapwatch \w+: {FEW}", done.stderr), (command, done)


@pytest.mark.parametrize("limit", FEW_OF)
def test_with_too_few_descriptors_a_program_runs_unwatched(directory, limit):
    done = limited(directory, limit, "run", "--", "sh", "-c", "echo fine; exit 3")
    assert (done.returncode, done.stdout) == (3, "fine\n"), done
    assert re.fullmatch(rf"heapwatch run: sh runs unwatched: {FEW}", done.stderr), done


def test_a_target_more_is_refused_in_words(directory):
    with Daemon(directory) as daemon:
        pid = daemon.process.pid
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (80, 80))
        reply = daemon.ask(pb.Request(add_target=pb.AddTargetRequest(uri=f"a={LOGS}/leaky-hi-ghc966/run.eventlog")))[0]
        assert "descriptors" in reply.error and "LimitNOFILE" in reply.error
