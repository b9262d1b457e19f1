# SPDX-License-Identifier: BSD-3-Clause
"""Hostile clients that speak ZMTP by hand: what they send is all that they do."""
import contextlib
import select
import socket
import time

import common  # noqa: F401: the path to the harness
from harness import DEADLINE_S, pb


class RawClient:
    """libzmq's own sockets drop subscriptions when they are too many at once, and send no half messages."""

    GREETING = b"\xff" + b"\0" * 8 + b"\x7f\x03\0NULL".ljust(23, b"\0") + b"\0" * 32

    def __init__(self, path, kind=b"SUB"):
        self.socket = socket.socket(socket.AF_UNIX)
        try:
            self.socket.settimeout(DEADLINE_S)
            self.socket.connect(path)
            self.socket.sendall(self.opening(kind))
            assert self.socket.recv(1)
        except (OSError, AssertionError):
            self.socket.close()
            raise OSError("turned away") from None

    @classmethod
    def opening(cls, kind):
        ready = b"\x05READY\x0bSocket-Type" + len(kind).to_bytes(4, "big") + kind
        return cls.GREETING + bytes([4, len(ready)]) + ready

    @staticmethod
    def frame(topic, on=1):
        return bytes([0, len(topic) + 1, on]) + topic


def toggle(path, number):
    """Subscribes and unsubscribes without end."""
    s = RawClient(path).socket
    with contextlib.closing(s):
        topics = [b"%d-%05d" % (number, i) for i in range(3000)]
        data = b"".join(RawClient.frame(t) + RawClient.frame(t, 0) for t in topics)
        while True:
            s.sendall(data)


def come_and_go(path, number):
    """Thousands of subscriptions that share no prefix, and away."""
    with contextlib.closing(RawClient(path).socket) as s:
        s.sendall(b"".join(RawClient.frame((b"%d-%06d" % (number, i))[::-1].ljust(100, b"x")) for i in range(2000)))


def endless(path, _):
    """One message, of parts without end: some are empty, which cost more than they are long."""
    request = path.endswith("request")
    with contextlib.closing(RawClient(path, b"DEALER" if request else b"SUB").socket) as s:
        parts = b"\x01\0" * 1000 + (b"\x03" + (60000).to_bytes(8, "big") + b"x" * 60000 if request else b"\x01\x64" + b"\x01" * 100)
        while True:
            s.sendall(parts)


def never_reads(path, number):
    """Requests all that is large, on several connections, and reads nothing until it is shut down."""
    wanted = pb.Request(snapshot=pb.SnapshotRequest()), pb.Request(status=pb.StatusRequest()), \
        pb.Request(history=pb.HistoryRequest(target="t", band=1))
    requests = b"".join(bytes([0, len(packed)]) + packed for packed in (r.SerializeToString() for r in wanted)) * 10
    with contextlib.ExitStack() as held:
        ends = select.poll()
        for _ in range(2 + number % 3):
            s = held.enter_context(contextlib.closing(RawClient(path, b"DEALER").socket))
            s.sendall(requests)
            ends.register(s, 0)
        ends.poll()


def too_early(path, _):
    """Sends requests before the handshake has ended, which is against the protocol: libzmq ends the connection."""
    packed = pb.Request(id=1, status=pb.StatusRequest()).SerializeToString()
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as s:
        s.settimeout(DEADLINE_S)
        s.connect(path)
        s.sendall(RawClient.opening(b"DEALER") + bytes([0, len(packed)]) + packed)
        while s.recv(4096):
            pass


def asks_on(path, _):
    """Requests a snapshot a hundred times a second, and reads nothing, until it is shut down."""
    packed = pb.Request(id=1, snapshot=pb.SnapshotRequest()).SerializeToString()
    with contextlib.closing(RawClient(path, b"DEALER").socket) as s:
        while True:
            s.sendall(bytes([0, len(packed)]) + packed)
            time.sleep(0.01)


def attack_for_ever(attack, path, number, until):
    while time.time() < until:
        with contextlib.suppress(OSError):
            attack(path, number)
        time.sleep(0.002)
