#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Starts and ends programs with the agent in them, again and again, and counts what goes wrong.

    stress.py --agent LIB --heapwatch PROGRAM [--runs N] [--seed N] [--chroot DIR] PROGRAM...

PROGRAM is tests/programs/Exits.hs in any build. Each run takes one of them, a way to end, a length and settings by
chance. Wrong are: a run that does not end in time, an exit status or a standard output that is not that of the same
run without the agent, a log that is damaged or, where the runtime ends in order, not whole; anything left behind.
Exit status 1 when anything is wrong.
"""
import argparse
import collections
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

LIMIT_S = 60

# way: exit status as subprocess has it, and whether the runtime ends in order: then its log has an end.
WAYS = {
    "return": (0, True), "status": (3, True), "exception": (1, True), "thread": (4, True),
    "immediately": (5, False), "c-exit": (6, False), "c-exit-unsafe": (7, False), "abort": (-signal.SIGABRT, False),
    "interrupt": (-signal.SIGINT, True), "terminate": (-signal.SIGTERM, False), "handler": (0, True),
    "blocked": (0, True), "sleeping-call": (0, True), "unsafe-call": (0, True), "collect": (0, True),
    "capabilities": (0, True), "threads": (0, True), "bound-threads": (0, True), "fork": (0, True),
    "fork-status": (0, True), "exec": (0, True), "exec-self": (0, True), "print": (0, True), "idle": (0, True),
}


class Reader(threading.Thread):
    """Connects as soon as the socket is there, reads to the end."""

    def __init__(self, path, process):
        super().__init__()
        self.path, self.process, self.log = path, process, b""

    def run(self):
        parts = []
        while True:
            ended = self.process.poll() is not None
            s = socket.socket(socket.AF_UNIX)
            try:
                s.connect(self.path)
            except OSError:
                if ended:
                    return
                time.sleep(0.002)
                continue
            with s:
                while True:
                    try:
                        part = s.recv(1 << 20)
                    except OSError:
                        break
                    if not part:
                        break
                    parts.append(part)
            self.log = b"".join(parts)
            return


def command(program, way, seconds, capabilities, chroot):
    argv = [program, way, f"{seconds:.3f}"]
    if capabilities > 1:
        argv += ["+RTS", f"-N{capabilities}"]
    return (["chroot", chroot] if chroot else []) + argv


def run_once(options, program, way, seconds, capabilities, settings):
    """What happened: (status or "hang", output, log, what is left of the socket's directory)."""
    root = options.chroot or ""
    folder = tempfile.mkdtemp(prefix="hw", dir=root + "/tmp")
    inside = folder[len(root):]
    env = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "GHCRTS")}
    argv = command(program, way, seconds, capabilities, None)
    env_inside = [f"LD_PRELOAD={options.agent}", f"HEAPWATCH_AGENT=socket={inside}/s;await=5;{settings}"]
    argv = ["env"] + env_inside + argv
    if options.chroot:
        argv = ["chroot", options.chroot] + argv
    process = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               start_new_session=True)
    reader = Reader(folder + "/s", process)
    reader.start()
    try:
        out, _ = process.communicate(timeout=LIMIT_S)
        status = process.returncode
    except subprocess.TimeoutExpired:
        if options.stop_at_hang:
            print(f"hangs: pid {process.pid}: {' '.join(argv)}", flush=True)
            os._exit(3)
        os.killpg(process.pid, signal.SIGKILL)
        out, _ = process.communicate()
        status = "hang"
    reader.join()
    left = os.listdir(folder)
    shutil.rmtree(folder)
    return status, out, reader.log, left


def decoded(heapwatch, log):
    """What our own decoder says of the log, as `heapwatch summary` prints it."""
    with tempfile.NamedTemporaryFile(suffix=".eventlog") as f:
        f.write(log)
        f.flush()
        seen = subprocess.run([heapwatch, "summary", "--format", "json", f.name], capture_output=True, text=True, check=True)
    return json.loads(seen.stdout.splitlines()[0])


def judge(options, result, way):
    """What is wrong with it: a list of words."""
    status, out, log, left = result
    expected, orderly = WAYS[way]
    wrong = []
    if status != expected:
        wrong.append("hang" if status == "hang" else f"status {status}")
    if way == "print" and out != b"fine\n":
        wrong.append("output")
    if orderly and left:
        wrong.append("left behind")
    if orderly and not log:
        wrong.append("no log")
    if log:
        run = decoded(options.heapwatch, log)
        if run["stream"]["lostBytes"] > 0 or run["stream"]["resyncs"] > 0:
            wrong.append("damaged log")
        if orderly and not run["finished"]:
            wrong.append("cut log")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--agent", required=True)
    parser.add_argument("--heapwatch", required=True)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--way", action="append")
    parser.add_argument("--chroot")
    parser.add_argument("--stop-at-hang", action="store_true")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    ways, wrong, count = options.way or list(WAYS), collections.Counter(), collections.Counter()
    began = time.monotonic()
    for _ in range(options.runs):
        program, way = chance.choice(options.program), chance.choice(ways)
        seconds = chance.choice([0.005, 0.02, 0.05, 0.1, 0.2]) * chance.random()
        settings = f"flush={chance.choice([0.01, 0.03, 1])};interval={chance.choice([0.02, 0.1])};budget=0;" \
                   f"classes={chance.choice(['gu', 'gus', 'g', 'gusp'])};heap={chance.choice(['T', 'T', 'none'])}"
        result = run_once(options, program, way, seconds, 1, settings)
        what = judge(options, result, way)
        count[os.path.basename(program)] += 1
        for w in what:
            wrong[w] += 1
            print(f"{os.path.basename(program)} {way} {seconds:.3f} {settings}: {w}", flush=True)
    took = time.monotonic() - began
    print(f"{options.runs} starts and ends in {took:.0f} s ({', '.join(f'{p} {n}' for p, n in sorted(count.items()))}): "
          + (", ".join(f"{n} {w}" for w, n in sorted(wrong.items())) or "nothing wrong"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
