#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The cost of open pages: `make bench-streams` runs it.

    tests/bench/page_streams.py [--seconds N]

A log with ten censuses a second of 200 bands grows at the pace of a running program; a daemon follows it, a `heapwatch web`
follows the daemon, and 0, 1, 10 and again 0 readers hold a stream of all details open, as pages do. The figure is the CPU
time of daemon and web server in each of these phases. The daemon has one subscriber all the time, however many readers there
are: its cost must not change.
"""
import argparse
import contextlib
import os
import pathlib
import selectors
import socket
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("HEAPWATCH_BUILD", os.environ.get("BUILD", str(ROOT / "build")))
sys.path.insert(0, str(ROOT / "tests" / "e2e"))

from harness import BUILD, Daemon, private_directory  # noqa: E402
from processors import Others, spent  # noqa: E402
from web_browser import Web  # noqa: E402

READERS = (0, 1, 10, 0)
BANDS, INTERVAL_MS, WARM_S = 200, 100, 3


def grow(path, data, sent, seconds, total_s, readers):
    """Appends `data` to the log at its pace for this long, and reads the streams meanwhile."""
    end, brought, began = time.monotonic() + seconds, 0, time.monotonic()
    with selectors.DefaultSelector() as selector, open(path, "ab", buffering=0) as log:
        for r in readers:
            selector.register(r, selectors.EVENT_READ)
        start = sent
        while time.monotonic() < end:
            due = start + int(len(data) * (time.monotonic() - began) / total_s)
            log.write(data[sent:due])
            sent = max(sent, due)
            if not readers:
                time.sleep(0.02)
                continue
            for key, _ in selector.select(0.02):
                brought += len(key.fileobj.recv(1 << 20))
    return sent, brought


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--seconds", type=float, default=15)
    o = p.parse_args()
    total_s = len(READERS) * (o.seconds + WARM_S) + 10
    with private_directory() as d:
        made, log = d / "made.eventlog", d / "growing.eventlog"
        subprocess.run([BUILD / "bench" / "make_census_log", made, str(BANDS), "0", str(int(total_s * 1000 / INTERVAL_MS)),
                        str(INTERVAL_MS)], check=True, stdout=subprocess.DEVNULL)
        data, sent = made.read_bytes(), 65536
        log.write_bytes(data[:sent])
        with Daemon(d, f"t={log}") as daemon, Web("--connect", daemon.publish) as web:
            daemon.wait_state("t", "RUNNING")
            host = web.url[len("http://"):].rstrip("/")
            for n in READERS:
                with contextlib.ExitStack() as stack:
                    readers = [stack.enter_context(socket.create_connection(host.split(":"))) for _ in range(n)]
                    for r in readers:
                        r.sendall(f"GET /api/stream HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
                    sent, _ = grow(log, data, sent, WARM_S, total_s, readers)
                    pids, others = (daemon.process.pid, web.process.pid), Others()
                    before = [spent(pid) for pid in pids]
                    sent, brought = grow(log, data, sent, o.seconds, total_s, readers)
                    used = [100 * (spent(pid) - b) / o.seconds for pid, b in zip(pids, before)]
                    print(f"| {n:2} streams | daemon {used[0]:.1f} % of a core | heapwatch web {used[1]:.1f} % | "
                          f"{brought / o.seconds / 1e3:.0f} kB/s read | others took {others.share():.0%} of the processors |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
