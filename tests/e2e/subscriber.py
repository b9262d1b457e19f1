# SPDX-License-Identifier: BSD-3-Clause
"""An independent subscriber: docs/PROTOCOL.md in Python, with nothing of libheapwatch.

    with Follower("ipc:///run/user/1000/heapwatch/publish") as f:
        f.run_until(lambda f: f.ready, 10)
        print(f.state())

Two followers of the same daemon have the same state() once both are quiet,
whenever they joined.
"""

import functools
import importlib
import os
import subprocess
import sys
import tempfile
import time

import zmq

DEADLINE_S = float(os.environ.get("HEAPWATCH_DEADLINE", "180"))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@functools.lru_cache(maxsize=None)
def schema():
    """The module that protoc makes of proto/wire/heapwatch.proto."""
    folder = tempfile.mkdtemp(prefix="hw-proto-")
    subprocess.run(["protoc", "-I" + os.path.join(ROOT, "proto", "wire"), "--python_out=" + folder, "heapwatch.proto"],
                   check=True)
    sys.path.insert(0, folder)
    try:
        return importlib.import_module("heapwatch_pb2")
    finally:
        sys.path.remove(folder)


def request_endpoint(publish):
    """Where the daemon of this publish endpoint answers requests."""
    if publish.startswith("tcp://"):
        host, port = publish.rsplit(":", 1)
        return "%s:%d" % (host, int(port) + 1)
    head, tail = publish.rsplit("publish", 1)
    return head + "request" + tail


def ask(publish, request, timeout=DEADLINE_S):
    """All replies to one request; TimeoutError when they do not come."""
    pb = schema()
    context = zmq.Context()
    socket = context.socket(zmq.DEALER)
    socket.linger = 0
    try:
        socket.connect(request_endpoint(publish))
        if not request.id:
            request.id = 1
        socket.send(request.SerializeToString())
        replies, deadline = [], time.monotonic() + timeout
        while True:
            if not socket.poll(max(0, int((deadline - time.monotonic()) * 1000))):
                raise TimeoutError("no reply from " + publish)
            reply = pb.Reply.FromString(socket.recv())
            if reply.HasField("id") and reply.id != request.id:
                continue
            replies.append(reply)
            if not reply.more:
                return replies
    finally:
        socket.close()
        context.term()


class Target:
    """The state of one target: the newest message of each kind, parts put together."""

    def __init__(self):
        self.sequence = {}      # kind: newest
        self.live = {}          # kind: newest that came live
        self.target = None
        self.clear_run(None)

    def clear_run(self, run):
        self.run = run
        self.plain = {}         # heap, gc, sched, health: newest message
        self.census = None
        self.bands, self.notes, self.stacks, self.ticky = {}, {}, {}, {}
        self.ticks = None


class Follower:
    """Follows one daemon by the Clone pattern."""

    KINDS = {"daemon": 1, "target_state": 2, "heap": 3, "gc": 4, "census": 5, "bands": 6, "notes": 7, "profile": 8,
             "ticky": 9, "sched": 10, "health": 11, "trends": 12, "alerts": 13}
    TOPICS = {"target_state": "target", "bands": "band", "notes": "note", "trends": "trend", "alerts": "alert"}
    SNAPSHOT_TIMEOUT_S = 5.0      # seconds that a snapshot may make no progress: more than on any busy machine
    RESYNC_PAUSE_S = 1.0    # between two snapshots

    def __init__(self, publish, targets=None):
        self.pb = schema()
        self.context = zmq.Context()
        self.sub = self.context.socket(zmq.SUB)
        self.requests = self.context.socket(zmq.DEALER)
        for socket in (self.sub, self.requests):
            socket.linger = 0
            socket.reconnect_ivl = 100
            socket.reconnect_ivl_max = 2000
            socket.rcvhwm = 100000
        self.requests.immediate = 1     # a request must not wait for a daemon that is not there
        self.wanted = list(targets or [])
        if self.wanted:
            self.sub.subscribe(b"hw1/daemon//")
            for kind in self.KINDS:
                for name in self.wanted:
                    self.sub.subscribe(("hw1/%s/%s/" % (self.TOPICS.get(kind, kind), name)).encode())
        else:
            self.sub.subscribe(b"hw1/")
        self.sub.connect(publish)
        self.requests.connect(request_endpoint(publish))
        self.poller = zmq.Poller()
        self.poller.register(self.sub, zmq.POLLIN)
        self.poller.register(self.requests, zmq.POLLIN)
        self.epoch = None
        self.old_epoch = None
        self.targets = {}
        self.daemon = None
        self.ready = False
        self.whole = True               # a snapshot of everything is needed
        self.behind = set()               # targets to resync
        self.asked = None               # None, or the targets asked for ([]: all)
        self.held = []
        self.id = 0
        self.progress = 0.0
        self.ask_at = time.monotonic() + 0.1    # let the subscription arrive first
        self.heard = time.monotonic()
        self.gaps = self.lost = self.resets = self.snapshots = self.updates = 0

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        self.sub.close()
        self.requests.close()
        self.context.term()

    @property
    def stale(self):
        return time.monotonic() - self.heard > 3

    # ------------------------------------------------------------- running

    def step(self, timeout=0.05):
        """Handles what has arrived, waiting at most `timeout` seconds for the first of it."""
        self._timers()
        ready = dict(self.poller.poll(int(timeout * 1000)))
        budget = 10000
        while self.sub in ready and budget:
            budget -= 1
            try:
                topic, body = self.sub.recv_multipart(zmq.DONTWAIT)
            except zmq.Again:
                break
            self._live(topic, self.pb.Update.FromString(body))
        while self.requests in ready:
            try:
                self._reply(self.pb.Reply.FromString(self.requests.recv(zmq.DONTWAIT)))
            except zmq.Again:
                break

    def run_until(self, condition, timeout=DEADLINE_S):
        """Runs until condition(self) holds; TimeoutError when it does not in time."""
        deadline = time.monotonic() + timeout
        while not condition(self):
            if time.monotonic() > deadline:
                raise TimeoutError("the follower's condition did not come true in %g s" % timeout)
            self.step()

    def run_for(self, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.step()

    def heard_live(self, name, kind=2):
        """The sequence of the newest message of that kind (2: the heartbeat) that was published, not asked for; 0: none."""
        return self.targets[name].live.get(kind, 0) if name in self.targets else 0

    def run_until_quiet(self, name, condition):
        """Until the condition holds and nothing is missing: losses are found by the heads of heartbeats."""
        def whole(f):
            named = f.daemon and {"", *f.daemon.targets}
            return (f.ready and not f.behind and f.asked is None and named and set(f.targets) <= named and
                    name in f.targets and condition(f.targets[name]))

        self.run_until(whole)
        heard = self.heard_live(name)
        self.run_until(lambda f: f.heard_live(name) > heard and whole(f))

    def _timers(self):
        now = time.monotonic()
        if self.asked is not None and now - self.progress > self.SNAPSHOT_TIMEOUT_S:
            self.behind.update(self.asked)
            self._finish(False)
        if self.asked is None and (self.whole or self.behind) and now >= self.ask_at:
            self._ask(now)

    def _ask(self, now):
        names = [] if self.whole else sorted(self.behind)[:256]
        self.id += 1
        request = self.pb.Request(id=self.id, snapshot=self.pb.SnapshotRequest(targets=names or self.wanted))
        try:
            self.requests.send(request.SerializeToString(), zmq.DONTWAIT)
        except zmq.Again:
            self.ask_at = now + 0.25
            return
        self.asked = names
        self.behind.difference_update(names)
        self.progress = now
        self.ask_at = now + self.RESYNC_PAUSE_S
        self.snapshots += 1

    # -------------------------------------------------- the Clone pattern

    def _hear(self, epoch, by_reply):
        if epoch == self.old_epoch:
            return False
        self.heard = time.monotonic()
        if epoch == self.epoch:
            return True
        goes_on = self.asked == [] and (by_reply or self.epoch is None)
        self.old_epoch, self.epoch = self.epoch, epoch
        self.targets, self.held, self.behind, self.daemon = {}, [], set(), None
        self.ready, self.whole = False, True
        self.ask_at = time.monotonic()
        self.resets += 1
        if not goes_on:
            self.asked = None
        return True

    def _live(self, topic, u):
        kind = u.WhichOneof("body")
        assert topic.startswith(b"hw1/"), topic
        if not self._hear(u.epoch, False) or kind not in self.KINDS:
            return
        assert topic == ("hw1/%s/%s/" % (self.TOPICS.get(kind, kind), u.target)).encode(), (topic, kind, u.target)
        if self.whole or (self.asked and u.target in self.asked):
            self.held.append(u)
        else:
            self._accept(u)

    def _missed(self, name, t, kind, sequence):
        self.gaps += 1
        self.lost += sequence - t.sequence.get(kind, 0)
        t.sequence[kind] = sequence
        if name:
            self.behind.add(name)

    def _accept(self, u):
        t = self.targets.setdefault(u.target, Target())
        kind = self.KINDS[u.WhichOneof("body")]
        if u.sequence <= t.live.get(kind, 0):   # added again: counts from 1 again
            t = self.targets[u.target] = Target()
            self.behind.add(u.target)
        t.live[kind] = u.sequence
        if u.sequence <= t.sequence.get(kind, 0):
            return                              # the snapshot included it
        if u.sequence > t.sequence.get(kind, 0) + 1:
            self._missed(u.target, t, kind, u.sequence - 1)
        t.sequence[kind] = u.sequence
        if u.HasField("target_state"):
            for head in u.target_state.heads:
                if head.kind != 2 and head.sequence > t.sequence.get(head.kind, 0):
                    self._missed(u.target, t, head.kind, head.sequence)
        self._apply(t, u)

    def _reply(self, reply):
        if self.asked is None or (reply.id != self.id and (reply.HasField("id") or not reply.error)):
            return
        if reply.HasField("update"):
            if not self._hear(reply.update.epoch, True) or self.asked is None:
                return
        elif reply.HasField("snapshot_end"):
            if not self._hear(reply.snapshot_end.epoch, True) or self.asked is None:
                return
        self.progress = time.monotonic()
        if reply.error:
            self.ask_at = time.monotonic() + 2
            self._finish(self.asked != [])
        elif reply.HasField("update"):
            self._snapshot(reply.update)
        elif reply.HasField("snapshot_end"):
            self._finish(True)

    def _snapshot(self, u):
        body = u.WhichOneof("body")
        if body not in self.KINDS:
            return
        t = self.targets.setdefault(u.target, Target())
        kind = self.KINDS[body]
        t.sequence[kind] = max(t.sequence.get(kind, 0), u.sequence)
        if body == "target_state":
            for head in u.target_state.heads:
                t.sequence[head.kind] = max(t.sequence.get(head.kind, 0), head.sequence)
        self._apply(t, u)

    def _finish(self, resynced):
        if self.asked == [] and resynced:
            self.whole = False
            self.ready = True
        self.asked = None
        if not self.whole:
            held, self.held = self.held, []
            for u in held:
                self._accept(u)

    # -------------------------------------------------------------- state

    def _forget_removed(self, daemon):
        """A target that two heartbeats in a row do not name was removed, and its last message lost."""
        before = set(self.daemon.targets) if self.daemon else set(self.targets)
        for name in [n for n in self.targets if n and n not in before and n not in daemon.targets]:
            del self.targets[name]
            self.behind.discard(name)

    def _apply(self, t, u):
        self.updates += 1
        body = u.WhichOneof("body")
        if body == "daemon":
            self._forget_removed(u.daemon)
            self.daemon = u.daemon
            return
        if body == "target_state" and u.target_state.state == self.pb.Target.STATE_REMOVED:
            self.targets.pop(u.target, None)
            self.behind.discard(u.target)
            return
        if u.HasField("run"):
            if t.run is not None and u.run < t.run:
                return
            if u.run != t.run:
                t.clear_run(u.run)
        if body == "target_state":
            t.target = u.target_state
        elif body in ("heap", "gc", "sched", "health"):
            t.plain[body] = getattr(u, body)
        elif body == "census":
            t.census = u.census
            for band, size in zip(u.census.band, u.census.bytes):
                if band in t.bands and not t.bands[band].HasField("first_bytes"):
                    t.bands[band].first_bytes = size
        elif body == "bands":
            for b in u.bands.bands:
                if not b.HasField("first_bytes") and b.id in t.bands and t.bands[b.id].HasField("first_bytes"):
                    b.first_bytes = t.bands[b.id].first_bytes
                t.bands[b.id] = b
        elif body == "notes":
            t.notes.update((n.number, n) for n in u.notes.notes)
        elif body == "profile":
            t.ticks = u.profile.ticks
            t.stacks.update((s.id, s) for s in u.profile.stacks)
        elif body == "ticky":
            t.ticky.update((c.id, c) for c in u.ticky.counters)

    def state(self):
        """Name of each target -> a dict of plain values that can be compared and printed.

        Left out are parts that late joiners cannot have (samples, single collections, notes beyond the newest 512) and what
        changes although nothing happens (heads, health, alerts, the process in /proc) or is only repeated now and then
        (trends).
        """
        return {name: self._target_state(t) for name, t in sorted(self.targets.items()) if name}

    def _target_state(self, t):
        from google.protobuf.json_format import MessageToDict

        def plain(message, *without):
            if message is None:
                return None
            d = MessageToDict(message)
            for key in without:
                d.pop(key, None)
            return d

        def table(entries):
            return {key: plain(entries[key]) for key in sorted(entries)}

        census = plain(t.census, "band", "bytes")
        if census is not None:
            census["rows"] = dict(sorted(zip(t.census.band, t.census.bytes)))
        return {
            "target": plain(t.target, "heads"),
            "run": t.run,
            "heap": plain(t.plain.get("heap"), "samples", "process"),
            "gc": plain(t.plain.get("gc"), "collections", "collectionsDropped"),
            "sched": plain(t.plain.get("sched")),
            "bands": table(t.bands),
            "census": census,
            "notes": {key: plain(t.notes[key]) for key in sorted(t.notes)[-512:]},
            "profile": {"ticks": t.ticks, "stacks": table(t.stacks)},
            "ticky": table(t.ticky),
        }
