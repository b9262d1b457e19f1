# SPDX-License-Identifier: BSD-3-Clause
"""Hostile subscribers: what they send is all that they do."""
import contextlib
import socket
import time

import common  # noqa: F401: the path to the harness
from harness import DEADLINE_S


class RawSubscriber:
    """ZMTP by hand: libzmq's own sockets drop subscriptions when they are too many at once."""

    GREETING = b"\xff" + b"\0" * 8 + b"\x7f\x03\0NULL".ljust(23, b"\0") + b"\0" * 32

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        try:
            self.socket.settimeout(DEADLINE_S)
            self.socket.connect(path)
            ready = b"\x05READY\x0bSocket-Type\0\0\0\x03SUB"
            self.socket.sendall(self.GREETING + bytes([4, len(ready)]) + ready)
            assert self.socket.recv(1)
        except (OSError, AssertionError):
            self.socket.close()
            raise OSError("turned away") from None

    @staticmethod
    def frame(topic, on=1):
        return bytes([0, len(topic) + 1, on]) + topic


def toggle(path, number):
    """Subscribes and unsubscribes without end."""
    s = RawSubscriber(path).socket
    with contextlib.closing(s):
        topics = [b"%d-%05d" % (number, i) for i in range(3000)]
        data = b"".join(RawSubscriber.frame(t) + RawSubscriber.frame(t, 0) for t in topics)
        while True:
            s.sendall(data)


def come_and_go(path, number):
    """Thousands of subscriptions that share no prefix, and away."""
    with contextlib.closing(RawSubscriber(path).socket) as s:
        s.sendall(b"".join(RawSubscriber.frame((b"%d-%06d" % (number, i))[::-1].ljust(100, b"x")) for i in range(2000)))


def subscribe_for_ever(attack, path, number, until):
    while time.time() < until:
        with contextlib.suppress(OSError):
            attack(path, number)
        time.sleep(0.002)
