# SPDX-License-Identifier: BSD-3-Clause
"""A daemon that is killed and restarted keeps its state: verdict, onset, windows, alerts, history.

An hour of a leaking program's log is played in seconds, and the daemon is killed at moments spread over it; at the end it
has the same state as one that was never killed. HEAPWATCH_RESUME_KILLS=100 for more of these moments.
"""
import difflib
import json
import os
import random
import signal
import socket
import struct
import time

import pytest

from harness import DEADLINE_S, Daemon, client, pb, printed, private_directory, wait_for, wait_newer_checkpoint
import live_log
from live_log import LiveLog

KILLS = int(os.environ.get("HEAPWATCH_RESUME_KILLS", "5"))
MB = 1 << 20
SECOND = 10**9
HOUR = 3600
STEP = 2            # seconds of the log between two collections
BEGINS = 1200       # the second at which it begins to leak


class Hour(LiveLog):
    """The log of an hour: its header, and a piece for each step of it."""

    def __init__(self, start_wall_ns=1_700_000_000 * SECOND, seconds=HOUR, begins=BEGINS):
        self.written, self.start, self.begins = b"", start_wall_ns, begins
        super().__init__(None, start_wall_ns)
        self.header = self.opening(1)
        self.pieces = [self.step(second) for second in range(STEP, seconds, STEP)]

    def _append(self, data):
        self.written += data

    def opening(self, at_ns):
        """What every stream begins with: the header, which process it is and when it began, said at that time."""
        wall = self.start + at_ns
        block = self._block(
            self._event(live_log.OSPROCESS_PID, struct.pack(">II", 0, 4194304), at_ns) +
            self._event(live_log.WALL_CLOCK_TIME, struct.pack(">IQI", 0, wall // SECOND, wall % SECOND), at_ns), at_ns)
        return self._header() + block[:22] + b"\xff\xff" + block[24:]    # of no capability

    def step(self, second):
        self.written = b""
        leaked = max(0, second - self.begins) * MB // 8
        self.live(40 * MB + leaked + second % 7 * MB, second * SECOND)
        self.census({"FUN": 20 * MB + second % 5 * MB, "ARR_WORDS": 4 * MB + leaked, "THUNK": 3 * MB}, second * SECOND + 1)
        return self.written


ARGS = ("--resolution", "1s", "--checkpoint-every", "100ms", "--notify", "off")


started = []


def daemon(directory, target, *more):
    started.append(Daemon(directory, target, args=(*ARGS, "--checkpoint", f"{directory}/state.d", *more)))
    return started[-1]


@pytest.fixture(autouse=True)
def none_is_left():
    yield
    while started:
        started.pop().stop()


def plain(message, *without):
    """A message as text, without what differs between two daemons with the same state."""
    copy = type(message)()
    copy.CopyFrom(message)
    for field in without:
        copy.ClearField(field)
    return str(copy)


def known(d, name):
    """Everything a daemon publishes of a target, without the daemon's identity and the time."""
    found = {}
    for kind, updates in d.snapshot(name).items():
        if kind in ("health", "daemon"):
            continue
        texts = []
        for u in updates:
            body = getattr(u, u.WhichOneof("body"))
            texts.append(plain(body, *{"target_state": ("state_since_wall_ns", "heads", "detail", "uri")}.get(u.WhichOneof("body"), ())))
        found[kind] = texts
    for series in (pb.SERIES_LIVE, pb.SERIES_HEAP_SIZE, pb.SERIES_CENSUS_TOTAL):
        request = pb.Request(history=pb.HistoryRequest(target=name, series=series, from_ns=0, to_ns=HOUR * SECOND))
        found[f"history {series}"] = [plain(r.history) for r in d.ask(request)]
    return found


def same(a, b):
    assert sorted(a) == sorted(b)
    for kind in a:
        differences = list(difflib.unified_diff("".join(b[kind]).splitlines(), "".join(a[kind]).splitlines(), lineterm="", n=4))
        assert not differences, kind + "\n" + "\n".join(differences[:60])


def same_soon(one, other, name="t"):
    """Words of alerts are written again once a second."""
    end = time.monotonic() + 60
    a, b = known(one, name), known(other, name)
    while a != b and time.monotonic() < end:
        time.sleep(0.2)
        a, b = known(one, name), known(other, name)
    same(a, b)


def bytes_of(d, name):
    h = d.health(name)
    return h.bytes if h else 0


def census_of(d, name):
    """The newest census; read and not yet evaluated bytes are not in it."""
    return max((u.census.number for u in d.snapshot(name).get("census", [])), default=0)


def what_is_in(log):
    """What a log tells of its run, without how it ended and what its bytes were."""
    told = json.loads(printed("summary", "--format", "json", log))
    return {key: told[key] for key in ("memory", "collections", "heapProfile", "durationNs") if key in told}


def the_recording(directory):
    """There is one, however often the daemon was started again."""
    out = client("recording", "--dir", f"{directory}/kept", "--format", "json")
    runs = [json.loads(line) for line in out.stdout.splitlines()]
    assert len(runs) == 1, out.stdout.decode()
    return runs[0]


def is_recorded_whole(directory, log):
    assert the_recording(directory)["lostBytes"] == 0
    (directory / "whole.eventlog").write_bytes(log)
    told = what_is_in(f"recording:{directory}/kept/t")
    assert told == what_is_in(directory / "whole.eventlog") and told["heapProfile"], told


def test_growing_file():
    moments = sorted(random.Random(15).sample(range(50, HOUR // STEP - 10), KILLS))
    with private_directory() as one, private_directory() as other:
        path, hour = f"{one}/t.eventlog", Hour()
        d = daemon(one, f"t={path}", "--record", f"{one}/kept").start()
        with open(path, "ab", buffering=0) as f:
            size = f.write(hour.header)
            for i, piece in enumerate(hour.pieces):
                size += f.write(piece)
                if i not in moments:
                    continue
                if i % 2:       # else in the middle of reading
                    wait_for(lambda: bytes_of(d, "t") == size, "all that was written")
                if i == moments[0]:     # before it there is nothing by which a recording could be gone on with
                    wait_for(lambda: bytes_of(d, "t") > len(hour.header), "that the run has begun")
                    wait_newer_checkpoint(one, "t")
                d.stop(signal.SIGKILL)
                d.start()
        wait_for(lambda: bytes_of(d, "t") == size, "all of it")
        log = d.log.read_text()
        with daemon(other, f"t={path}") as never:
            wait_for(lambda: bytes_of(never, "t") == size, "all of it")
            same_soon(d, never)
            assert d.target("t").runs == 1
            trend = [t for u in d.snapshot("t")["trends"] for t in u.trends.trends if t.series == pb.SERIES_LIVE]
            assert trend and trend[0].verdict == pb.VERDICT_LEAK
        d.stop()
        assert log.count("resumes from its checkpoint") == KILLS
        assert "refused" not in log
        is_recorded_whole(one, hour.header + b"".join(hour.pieces))


class Socket:
    """A program that writes the hour on a socket, its header anew on each connection, and does not wait for readers."""

    def __init__(self, directory, hour):
        self.hour = hour
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(directory / "s"))
        self.listener.listen(5)
        self.listener.settimeout(DEADLINE_S)
        self.connection = None
        self.sent = 0

    def connect(self, second=0):
        self.connection, _ = self.listener.accept()
        opening = self.hour.opening(second * SECOND + 1)
        self.connection.sendall(opening)
        self.sent += len(opening)

    def send(self, i):
        self.connection.sendall(self.hour.pieces[i])
        self.sent += len(self.hour.pieces[i])

    def close(self):
        self.connection.close()


def play(directory, hour, moments, stop, before=None, more=()):
    """
    Plays the hour; at each moment `stop(daemon, socket)` ends the connection, and three pieces go nowhere. A while
    before each, `before(daemon, socket)`.
    """
    writer = Socket(directory, hour)
    d = daemon(directory, f"t=unix:{directory}/s", *more).start()
    writer.connect()
    i = 0
    while i < len(hour.pieces):
        if before and i + 1 in moments:
            before(d, writer)
        if i in moments:
            stop(d, writer)
            i += 3
            writer.connect((i + 1) * STEP - 1)
        writer.send(i)
        i += 1
    wait_for(lambda: bytes_of(d, "t") == writer.sent, "all of it")
    d.writer = writer       # whose connection stays open
    return d


def cut(d, writer):
    wait_for(lambda: bytes_of(d, "t") == writer.sent, "all that was sent")
    writer.close()
    d.wait_state("t", "LOST", "CONNECTED", "WAITING")


def wait_checkpoint(d, writer):
    wait_for(lambda: bytes_of(d, "t") == writer.sent, "all that was sent")
    wait_newer_checkpoint(d.directory, "t")


def kill_with_checkpoint(d, writer):
    wait_checkpoint(d, writer)
    d.stop(signal.SIGKILL)
    writer.close()
    d.start()


def some_moments():
    return set(random.Random(16).sample(range(50, HOUR // STEP - 20, 5), KILLS))


def test_socket_exactly():
    """A daemon that was killed right after a checkpoint is one whose connections broke at the same moments."""
    hour, moments = Hour(), some_moments()
    with private_directory() as one, private_directory() as other:
        d, never = play(one, hour, moments, kill_with_checkpoint), play(other, hour, moments, cut)
        same_soon(d, never)
        h, expected = d.health("t"), never.health("t")
        assert h.gaps == expected.gaps == KILLS and h.gap_ns == expected.gap_ns == KILLS * (4 * STEP - 1) * SECOND
        assert d.target("t").runs == 1
        assert {a.rule: a.state for u in d.snapshot("t")["alerts"] for a in u.alerts.alerts}["leak"] == pb.Alert.STATE_FIRING
        d.stop()
        never.stop()


def test_socket_killed_at_any_moment():
    """What was read since the newest checkpoint is a gap, too; verdict, onset and alerts are the same but for that."""
    hour, moments = Hour(), some_moments()

    def kill(d, writer):
        d.stop(signal.SIGKILL)
        writer.close()
        d.start()
        writer.sent = bytes_of(d, "t")      # what came since the newest checkpoint is forgotten

    with private_directory() as one, private_directory() as other:
        d, never = play(one, hour, moments, kill, wait_checkpoint), play(other, hour, set(), None)
        for who in d, never:
            trend = [t for u in who.snapshot("t")["trends"] for t in u.trends.trends if t.series == pb.SERIES_LIVE][0]
            assert trend.verdict == pb.VERDICT_LEAK
            assert abs(trend.onset_ns / SECOND - BEGINS) < 90
            assert who.target("t").runs == 1
            alerts = {a.rule: a.state for u in who.snapshot("t")["alerts"] for a in u.alerts.alerts}
            assert alerts["leak"] == pb.Alert.STATE_FIRING
        assert d.health("t").gaps == KILLS
        d.stop()
        never.stop()


def test_damaged_checkpoint_is_refused():
    with private_directory() as one:
        path, hour = f"{one}/t.eventlog", Hour()
        with open(path, "wb") as f:
            f.write(hour.header + b"".join(hour.pieces[:300]))
        with daemon(one, f"t={path}") as d:
            wait_for(lambda: census_of(d, "t") == 300, "all of it")
            before = known(d, "t")
        checkpoint = one / "state.d" / "t.checkpoint"
        assert checkpoint.stat().st_mode & 0o777 == 0o600 and (one / "state.d").stat().st_mode & 0o777 == 0o700
        good = checkpoint.read_bytes()
        middle = len(good) // 2
        # a single bit may be one of those that nothing is made of when it is unpacked
        inverted = bytes(b ^ 0xff for b in good[middle:middle + 8])
        for bad, why in ((good[:middle], "damaged"), (good[:middle] + inverted + good[middle + 8:], "damaged"),
                         (b"HWCHECK1" + good[8:], "not a checkpoint"), (b"", "not a checkpoint")):
            checkpoint.write_bytes(bad)
            checkpoint.chmod(0o600)
            with daemon(one, f"t={path}") as d:
                assert f"checkpoint refused: it" in d.log.read_text() and why in d.log.read_text()
                wait_for(lambda: census_of(d, "t") == 300, "all of it, from the start")
                same(known(d, "t"), before)
            d.log.unlink()


def test_a_run_with_a_silence():
    """Minutes without a sample, late enough that quantiles of minutes have left their ring and are kept in old memory."""
    with private_directory() as one:
        path, hour = f"{one}/t.eventlog", Hour()
        with open(path, "wb") as f:
            f.write(hour.header + b"".join(hour.pieces[:600] + hour.pieces[800:810]))
        with daemon(one, f"t={path}") as d:
            wait_for(lambda: census_of(d, "t") == 610, "all of it")
            before = known(d, "t")
        with daemon(one, f"t={path}") as d:
            wait_for(lambda: d.target("t"), "the target")
            assert "refused" not in d.log.read_text() and "resumes from its checkpoint" in d.log.read_text()
            same(known(d, "t"), before)


def test_another_file_is_another_run():
    with private_directory() as one:
        path, hour = one / "t.eventlog", Hour()
        path.write_bytes(hour.header + b"".join(hour.pieces[:300]))
        with daemon(one, f"t={path}") as d:
            wait_for(lambda: bytes_of(d, "t") == path.stat().st_size, "all of it")
        path.unlink()
        path.write_bytes(hour.header + b"".join(hour.pieces[:200]))
        with daemon(one, f"t={path}") as d:
            wait_for(lambda: d.target("t").runs == 2, "another run")


def test_targets_of_requests_come_back():
    with private_directory() as one:
        path, hour = one / "added.eventlog", Hour()
        path.write_bytes(hour.header + b"".join(hour.pieces[:300]))
        other = one / "other.eventlog"
        other.write_bytes(b"")
        with daemon(one, f"t={other}", "--allow-source", f"{one}/*") as d:
            reply = d.ask(pb.Request(add_target=pb.AddTargetRequest(name="added", uri=str(path), labels=["version=1.4.2"])))[0]
            assert reply.WhichOneof("what") == "done", reply
            wait_for(lambda: census_of(d, "added") == 300, "all of it")
            before = known(d, "added")
        with daemon(one, f"t={other}") as d:
            wait_for(lambda: d.target("added"), "the target")
            same(known(d, "added"), before)
            assert list(d.target("added").labels) == ["version=1.4.2"]
            d.ask(pb.Request(remove_target=pb.RemoveTargetRequest(name="added")))
        with daemon(one, f"t={other}") as d:
            assert not d.target("added")


def test_an_end_outlives_a_daemon_that_is_killed_at_once(directory):
    """An ended run that is restored as a running one would then be called crashed: its process is gone."""
    hour = Hour()
    os.mkfifo(directory / "t.fifo", 0o600)
    hour.written = b""
    hour.end()
    log = hour.header + b"".join(hour.pieces[:20]) + hour.written
    d = Daemon(directory, f"t=fifo:{directory}/t.fifo", args=(*ARGS, "--checkpoint-every", "30s", "--checkpoint", f"{directory}/state.d"))
    checkpoint = directory / "state.d" / "t.checkpoint"
    with d:
        wait_for(checkpoint.exists, "its first checkpoint")
        with open(directory / "t.fifo", "wb", buffering=0) as f:
            f.write(log[:-2])
            wait_for(lambda: census_of(d, "t") == 20, "all of it but the end")
            wait_for(lambda: d.target("t").state == pb.Target.STATE_RUNNING, "its run")
            before = checkpoint.stat().st_mtime_ns
            f.write(log[-2:])
            d.wait_state("t", "ENDED")
            wait_for(lambda: checkpoint.stat().st_mtime_ns != before, "a checkpoint of its end", 20)     # long before the next one is due
        d.stop(signal.SIGKILL)
        d.start()
        assert d.target("t").state == pb.Target.STATE_ENDED and not d.health("t").gaps
