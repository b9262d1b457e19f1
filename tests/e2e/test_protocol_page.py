# SPDX-License-Identifier: BSD-3-Clause
"""The Follower, and the example of docs/PROTOCOL.md, against a small daemon played by this file."""

import os
import re
import subprocess
import sys
import threading
import time

import pytest
import zmq

import subscriber
from subscriber import DEADLINE_S, Follower


class Daemon(threading.Thread):
    """Answers snapshots from its state and publishes a heap update when told to."""

    def __init__(self, folder, epoch):
        super().__init__(daemon=True)
        self.pb, self.epoch = subscriber.schema(), epoch
        context = zmq.Context.instance()    # ending one of its own waits for ever now and then (libzmq 4.3.4)
        self.publish, self.router = context.socket(zmq.PUB), context.socket(zmq.ROUTER)
        self.endpoint = "ipc://%s/publish" % folder
        self.publish.bind(self.endpoint)
        self.router.bind("ipc://%s/request" % folder)
        self.sequence, self.heartbeats, self.commands, self.over = 1, 0, [], threading.Event()
        self.start()

    def heap(self):
        return self.pb.Update(epoch=self.epoch, sequence=self.sequence, target="a", run=1,
                              heap=self.pb.Heap(live_bytes=self.sequence * 100))

    def target(self):
        return self.pb.Update(epoch=self.epoch, sequence=self.heartbeats, target="a", run=1,
                              target_state=self.pb.Target(state=3, heads=[self.pb.TopicHead(kind=3,
                                                                                           sequence=self.sequence)]))

    def run(self):
        beat = 0
        while not self.over.is_set():
            if self.router.poll(10):
                who, body = self.router.recv_multipart()
                request = self.pb.Request.FromString(body)
                for u in (self.target(), self.heap()):
                    if not request.snapshot.kinds or u.HasField("heap"):
                        reply = self.pb.Reply(id=request.id, more=True, update=u)
                        self.router.send_multipart([who, reply.SerializeToString()])
                end = self.pb.Reply(id=request.id, snapshot_end=self.pb.SnapshotEnd(epoch=self.epoch))
                self.router.send_multipart([who, end.SerializeToString()])
            while self.commands:
                self.sequence += 1
                if self.commands.pop(0) == "send":
                    self.publish.send_multipart([b"hw1/heap/a/", self.heap().SerializeToString()])
            if time.monotonic() - beat > 0.2:
                beat, self.heartbeats = time.monotonic(), self.heartbeats + 1
                self.publish.send_multipart([b"hw1/target/a/", self.target().SerializeToString()])
        self.publish.close(0)
        self.router.close(0)

    def stop(self):
        self.over.set()
        self.join()


@pytest.fixture
def daemon(tmp_path):
    d = Daemon(tmp_path, 77)
    yield d
    d.stop()


def live(f):
    t = f.state().get("a")
    return int(t["heap"]["liveBytes"]) if t and t["heap"] else None


def test_follower_heals_gap_and_silent_loss(daemon):
    with Follower(daemon.endpoint) as f:
        # Its subscription has arrived when a heartbeat came.
        f.run_until(lambda f: f.ready and f.heard_live("a"))
        assert live(f) == 100
        daemon.commands.append("send")
        f.run_until(lambda f: live(f) == 200)
        assert (f.gaps, f.lost) == (0, 0)
        daemon.commands += ["lose", "send"]
        f.run_until(lambda f: live(f) == 400 and f.asked is None and not f.behind)
        assert (f.gaps, f.lost) == (1, 1)
        daemon.commands.append("lose")      # only the heads tell
        f.run_until(lambda f: live(f) == 500)
        assert (f.gaps, f.lost) == (2, 2)
        with Follower(daemon.endpoint) as late:
            late.run_until(lambda f: f.ready)
            assert late.state() == f.state()


def test_follower_sees_restart(tmp_path):
    first = Daemon(tmp_path, 77)
    with Follower(first.endpoint) as f:
        f.run_until(lambda f: f.ready)
        first.stop()
        second = Daemon(tmp_path, 78)
        f.run_until(lambda f: f.epoch == 78 and f.ready)
        assert f.resets == 2 and live(f) == 100
        second.stop()


def test_example_of_the_page(daemon, tmp_path):
    with open(os.path.join(subscriber.ROOT, "docs", "PROTOCOL.md")) as page:
        code = re.search(r"```python\n(.*?)```", page.read(), re.S).group(1)
    folder = os.path.dirname(subscriber.schema().__file__)
    script = tmp_path / "follow.py"
    script.write_text(code)
    with subprocess.Popen([sys.executable, str(script), daemon.endpoint], stdout=subprocess.PIPE, text=True,
                          env=dict(os.environ, PYTHONPATH=folder)) as p:
        timer = threading.Timer(DEADLINE_S, p.kill)
        timer.start()
        try:
            assert p.stdout.readline() == "a live 100\n"
            daemon.commands.append("send")
            assert p.stdout.readline() == "a live 200\n"
            daemon.commands += ["lose", "send"]
            assert p.stdout.readline() == "a live 400\n"
        finally:
            timer.cancel()
            p.kill()
