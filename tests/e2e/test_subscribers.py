# SPDX-License-Identifier: BSD-3-Clause
"""Subscribers that join late, are killed, stopped or follow several daemons end with the state of one that was always there."""
import os
import signal
import subprocess
import sys
from contextlib import closing

import pytest
import zmq

from harness import DEADLINE_S, LOGS, ROOT, Daemon, pb, piped, printed, wait_for
from subscriber import Follower

LOG = LOGS / "leaky-hi-ghc9103" / "run.eventlog"
OTHER = LOGS / "cc-hc-ghc9103" / "run.eventlog"


def pieces(path, n):
    data = path.read_bytes()
    step = len(data) // n + 1
    return [data[i:i + step] for i in range(0, len(data), step)]


def feed(path, parts):
    with open(path, "ab") as f:
        for part in parts:
            f.write(part)
            f.flush()


@pytest.mark.parametrize("log", [LOG, OTHER, LOGS / "ticky-ghc966" / "run.eventlog", LOGS / "cc-p-ghc966" / "run.eventlog"],
                         ids=lambda p: p.parent.name)
def test_late_and_returning_subscribers_have_the_same_state(directory, log):
    path = directory / "log"
    parts = pieces(log, 3)
    with Daemon(directory, f"t={path}") as d, Follower(d.publish) as early:
        early.run_until(lambda f: f.ready)
        feed(path, parts[:1])
        early.run_until(lambda f: "t" in f.targets and f.targets["t"].plain.get("heap") is not None)
        with Follower(d.publish) as gone:
            gone.run_until(lambda f: f.ready)
            feed(path, parts[1:2])
            gone.run_for(0.3)
        feed(path, parts[2:])
        d.wait_state("t", "ENDED")
        states = []
        with Follower(d.publish) as back, Follower(d.publish) as late:
            for f in (early, back, late):
                wait_until_quiet(f)
                states.append(f.state())
        assert states[0]["t"]["heap"] and states[0]["t"]["run"] == 1
        assert states[1] == states[0]
        assert states[2] == states[0]


def test_every_census_of_a_burst_is_sent(directory):
    """A log that arrives all at once gives subscribers the same as one that arrives slowly."""
    path = directory / "log"
    expected = [int(u["census"]["number"]) for u in piped(LOG) if "census" in u]
    with Daemon(directory) as d, closing(d.context.socket(zmq.SUB)) as sub:
        sub.subscribe(b"hw1/")
        sub.connect(d.publish)
        assert sub.poll(DEADLINE_S * 1000), "no heartbeat"      # the subscription is there
        path.write_bytes(LOG.read_bytes())
        d.ask(pb.Request(add_target=pb.AddTargetRequest(name="t", uri=str(path))))
        found, state = [], None
        while state != pb.Target.STATE_ENDED:
            assert sub.poll(DEADLINE_S * 1000)
            u = pb.Update.FromString(sub.recv_multipart()[1])
            if u.HasField("census"):
                found.append(u.census.number)
            if u.HasField("target_state"):
                state = u.target_state.state
        assert found == expected and len(found) > 3


def wait_until_quiet(follower):
    follower.run_until_quiet("t", lambda t: t.target and t.target.state == pb.Target.STATE_ENDED)


RUNS = 800      # far more updates than the daemon keeps for one that does not read

FOLLOW = f"""
import sys; sys.path.insert(0, {str(ROOT / 'tests' / 'e2e')!r})
import json
from subscriber import Follower, schema
pb = schema()
f = Follower(sys.argv[1])
f.run_until(lambda f: f.ready)
print("ready", flush=True)
sys.stdin.readline()            # stopped here by the test, then resumed
f.run_until_quiet("t", lambda t: t.target and t.target.state == pb.Target.STATE_ENDED)
print(json.dumps([f.lost, f.state()]), flush=True)
"""


def test_a_stopped_subscriber_loses_counts_and_heals(directory):
    """More updates than its queue and the sockets hold while it does not read: it detects the gap and resyncs."""
    import json

    fifo = directory / "log"
    os.mkfifo(fifo)
    with Daemon(directory, f"t=fifo:{fifo}") as d:
        slow = subprocess.Popen([sys.executable, "-c", FOLLOW, d.publish], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True)
        assert slow.stdout.readline() == "ready\n"
        slow.send_signal(signal.SIGSTOP)
        try:
            # A program restarted many times in one stream: every census and band of every run is a message.
            data = LOG.read_bytes()
            with open(fifo, "wb") as f:
                for _ in range(RUNS):
                    f.write(data)
            d.wait_state("t", "ENDED", run=RUNS)
        finally:
            slow.send_signal(signal.SIGCONT)
        slow.stdin.write("\n")
        slow.stdin.flush()
        lost, state = json.loads(slow.stdout.readline())
        assert slow.wait(DEADLINE_S) == 0
        with Follower(d.publish) as fresh:
            wait_until_quiet(fresh)
            expected = json.loads(json.dumps(fresh.state()))
        assert lost > 0, "nothing was lost: the test did not stop it for long enough"
        assert state == expected


def test_two_daemons_in_one_client(directory):
    one, two = directory / "one", directory / "two"
    one.mkdir(mode=0o700)
    two.mkdir(mode=0o700)
    with Daemon(one, f"a={LOG}") as d1, Daemon(two, f"b={OTHER}") as d2:
        d1.wait_state("a", "ENDED")
        d2.wait_state("b", "ENDED")
        lines = [line.split() for line in printed("top", "--plain", "--once", "--connect", d1.publish, "--connect", d2.publish).splitlines()]
        assert lines[0][-2:] == ["2", "targets"]
        assert sorted((line[0], line[-1]) for line in lines[2:4]) == [("a", "ended"), ("b", "ended")]


def test_fifty_targets_are_all_seen_by_a_late_subscriber(directory):
    runs = sorted(p.parent.name for p in LOGS.glob("*/run.eventlog"))
    runs = (runs * 2)[:50]
    with Daemon(directory, *(f"t{i}={LOGS / run / 'run.eventlog'}" for i, run in enumerate(runs))) as d:
        wait_for(lambda: all(u.target_state.runs >= 1 for u in d.status().targets
                             if u.WhichOneof("body") == "target_state"), "all headers")
        with Follower(d.publish) as f:
            f.run_until(lambda f: f.ready and len([n for n in f.targets if n]) == 50)
