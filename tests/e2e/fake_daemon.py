# SPDX-License-Identifier: BSD-3-Clause
"""A daemon made up of the wire schema alone: publishes invented targets over XPUB, answers snapshots over ROUTER.

With it clients are tested without eventlogs: the test chooses the values.
"""
import random
import threading
import time

import zmq


class FakeDaemon:
    """One thread owns both sockets. `targets`: name -> function(pb, tick) -> list of Updates."""

    def __init__(self, pb, directory, targets):
        self.pb = pb
        self.endpoint = "ipc://%s/publish" % directory
        self.targets = targets
        self.epoch = random.getrandbits(63) | 1
        self.sequences = {}
        self.newest = {}
        self.requests = []
        self.running = True
        self.context = zmq.Context()
        self.xpub = self.context.socket(zmq.XPUB)
        self.xpub.bind(self.endpoint)
        self.router = self.context.socket(zmq.ROUTER)
        self.router.bind("ipc://%s/request" % directory)
        self.memory_pressure = None
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.running = False
        self.thread.join()
        self.context.destroy(linger=0)

    def _publish(self, update):
        which = update.WhichOneof("body")
        kind = {"target_state": "target", "bands": "band", "notes": "note", "trends": "trend",
                "alerts": "alert"}.get(which, which)
        topic = "hw1/%s/%s/" % (kind, update.target)
        update.epoch = self.epoch
        update.sequence = self.sequences.get(topic, 0) + 1
        update.published_wall_ns = time.time_ns()
        self.sequences[topic] = update.sequence
        self.newest[topic] = update
        self.xpub.send_multipart([topic.encode(), update.SerializeToString()])

    def _tick(self, tick):
        state = self.pb.Update()
        state.daemon.version = "0.9.0"
        state.daemon.targets.extend(sorted(self.targets))
        if self.memory_pressure:
            state.daemon.memory_pressure = self.memory_pressure
        self._publish(state)
        for name in sorted(self.targets):
            for update in self.targets[name](self.pb, tick):
                update.target = name
                self._publish(update)

    def _answer(self, frames):
        request = self.pb.Request.FromString(frames[-1])
        self.requests.append(request)
        replies = []
        what = request.WhichOneof("what")
        if what == "snapshot":
            for update in self.newest.values():
                if update.WhichOneof("body") == "daemon":
                    continue
                reply = self.pb.Reply(id=request.id, more=True)
                reply.update.CopyFrom(update)
                del reply.update.heap.samples[:]
                if update.WhichOneof("body") != "heap":
                    reply.update.CopyFrom(update)
                replies.append(reply)
            end = self.pb.Reply(id=request.id)
            end.snapshot_end.epoch = self.epoch
            replies.append(end)
        elif what == "status":
            reply = self.pb.Reply(id=request.id)
            reply.status.daemon.version = "0.9.0"
            for update in self.newest.values():
                if update.WhichOneof("body") == "target_state":
                    reply.status.targets.add().CopyFrom(update)
            replies.append(reply)
        elif what == "history":
            reply = self.pb.Reply(id=request.id)
            reply.history.target = request.history.target
            reply.history.series = request.history.series
            reply.history.points.add(time_ns=10**9, width_ns=10**9, count=3, min=1, max=3, mean=2, last=3)
            replies.append(reply)
        elif what == "add_target":
            replies.append(self.pb.Reply(id=request.id, error="the name is taken"))
        elif what in ("silence", "unsilence"):
            reply = self.pb.Reply(id=request.id)
            reply.silences.SetInParent()
            replies.append(reply)
        elif what == "remove_target":
            reply = self.pb.Reply(id=request.id)
            reply.done.target = request.remove_target.name
            replies.append(reply)
        for reply in replies:
            self.router.send_multipart(frames[:-1] + [reply.SerializeToString()])

    def _run(self):
        poller = zmq.Poller()
        poller.register(self.xpub, zmq.POLLIN)
        poller.register(self.router, zmq.POLLIN)
        tick, due = 0, 0
        while self.running:
            if time.monotonic() >= due:
                self._tick(tick)
                tick += 1
                due = time.monotonic() + 0.2
            for socket, _ in poller.poll(20):
                frames = socket.recv_multipart()
                if socket is self.router:
                    self._answer(frames)


MIB = 1 << 20


def leaky(pb, tick):
    """Updates of one growing service at `tick` fifths of a second."""
    now = tick * 200_000_000 + 61_000_000_000
    start = time.time_ns() - now
    live = 20 * MIB + tick * MIB // 4
    state = pb.Update(run=1, event_time_ns=now)
    state.target_state.state = pb.Target.STATE_RUNNING
    state.target_state.uri = "file:/var/tmp/leaky.eventlog"
    state.target_state.run_info.program = "leaky"
    state.target_state.run_info.pid = 4242
    state.target_state.run_info.ghc_version = "9.0.2"
    state.target_state.run_info.threaded = True
    state.target_state.run_info.capabilities = 2
    state.target_state.run_info.start_wall_ns = start
    state.target_state.run_info.max_heap_bytes = 512 * MIB
    state.target_state.run_info.breakdown = pb.BREAKDOWN_CLOSURE_TYPE
    heap = pb.Update(run=1, event_time_ns=now)
    h = heap.heap
    h.live_bytes, h.live_time_ns, h.max_live_bytes = live, now - 100_000_000, live
    h.heap_size_bytes, h.allocated_bytes = 3 * live, tick * 50 * MIB
    h.allocation_rate_bps = 250.0 * MIB
    h.process.rss_bytes = 3 * live + 8 * MIB
    h.process.cgroup_current_bytes, h.process.cgroup_max_bytes = 3 * live + 9 * MIB, 256 * MIB
    for series, value in ((1, live), (2, 3 * live), (4, tick * 50 * MIB), (9, 3 * live + 8 * MIB)):
        h.samples.add(series=series, times_ns=[now], values=[value])
    gc = pb.Update(run=1, event_time_ns=now)
    gc.gc.gc_share, gc.gc.gc_share_run = 0.042, 0.031
    gc.gc.generations.add(generation=0, count=1234 + tick, pause_p50_ns=310_000, pause_p99_ns=1_250_000,
                          pause_max_ns=3_400_000, pause_total_ns=2_310_000_000)
    gc.gc.generations.add(generation=1, count=12 + tick // 5, pause_p50_ns=8_100_000, pause_p99_ns=24_100_000,
                          pause_max_ns=31_200_000, pause_total_ns=310_000_000)
    bands = pb.Update(run=1, event_time_ns=now)
    names = ["ARR_WORDS", "THUNK_2_0", "CONSTR_2_0", "FUN_1_1", "évil \x1b[31mred\x1b[0m, \"quoted\"", "MUT_VAR_CLEAN", "WEAK", "TSO"]
    for i, name in enumerate(names):
        bands.bands.bands.add(id=i + 1, label=name)
    census = pb.Update(run=1, event_time_ns=now)
    census.census.number, census.census.time_ns = tick + 1, now
    for i in range(len(names)):
        census.census.band.append(i + 1)
        census.census.bytes.append((8 * MIB + tick * MIB // 5) if i == 0 else (4 * MIB >> i) + (tick * 7919 * i) % 5000)
    census.census.total_bytes = sum(census.census.bytes)
    notes = pb.Update(run=1, event_time_ns=now)
    notes.notes.notes.add(number=tick + 1, time_ns=now, what=pb.Note.WHAT_MARKER if tick % 5 == 0 else
                          pb.Note.WHAT_MESSAGE, text="handled %d requests" % (tick * 100))
    health = pb.Update(run=1, event_time_ns=now)
    health.health.bytes, health.health.lost_bytes, health.health.late_samples = tick * 4096, 0, 0
    health.health.lag_ns = 12_000_000
    health.health.advice.add(code=16, text="Major collections are rare, so the number of live bytes is old: add "
                                           "+RTS -I0.3 to the program's flags, or ask for one.")
    return [state, heap, gc, bands, census, notes, health]


if __name__ == "__main__":  # python3 fake_daemon.py GENERATED_DIR SOCKET_DIR [COUNT]: for looking at the console
    import sys

    sys.path.insert(0, sys.argv[1])
    import heapwatch_pb2

    count = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with FakeDaemon(heapwatch_pb2, sys.argv[2], {"leaky-%d" % (i + 1): leaky for i in range(count)}):
        while True:
            time.sleep(1)
