#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Starts and ends programs with the agent in them, repeatedly, and counts failures.

    stress.py --agent LIB --heapwatch PROGRAM [--runs N] [--seed N] [--chroot DIR] [--unwatched] PROGRAM...
    stress.py --through-run --heapwatch PROGRAM [--runs N] [--jobs N] [--seed N] [--chroot DIR] PROGRAM...

PROGRAM is tests/programs/Exits.hs in any build. Each run chooses one of them, a way to end, a length and settings at
random. Failures are: a run that does not end in time, an exit status or a standard output that is not that of the same
run without the agent, a log that is damaged or, where the runtime ends normally, incomplete; anything left behind.
--way W: these only; --without W: not this one; --unwatched: the program is one that the agent cannot watch.
With --through-run each run is `heapwatch run --no-top`, with a daemon of this script's own; then standard error counts,
too, but for heapwatch's own lines, and the daemon must know the end. With --chroot PROGRAM is a path inside it, and for
--through-run DIR must lead to itself inside, too. Exit status 1 when anything is wrong.
"""
import argparse
import collections
import concurrent.futures
import contextlib
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

# way: exit status as subprocess has it, and whether the runtime ends normally: then its log has an end.
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


def run_once(options, program, way, seconds, settings):
    """What happened: (status or "hang", output, log, what is left of the socket's directory)."""
    root = options.chroot or ""
    folder = tempfile.mkdtemp(prefix="hw", dir=root + "/tmp")
    inside = folder[len(root):]
    env = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "GHCRTS")}
    agent = [f"LD_PRELOAD={options.agent}", f"HEAPWATCH_AGENT=socket={inside}/s;await=5;{settings}"]
    argv = ["env", *agent, program, way, f"{seconds:.3f}"]
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
    """What our own decoder finds in the log, as `heapwatch summary` prints it."""
    with tempfile.NamedTemporaryFile(suffix=".eventlog") as f:
        f.write(log)
        f.flush()
        seen = subprocess.run([heapwatch, "summary", "--format", "json", f.name], capture_output=True, text=True, check=True)
    return json.loads(seen.stdout.splitlines()[0])


@contextlib.contextmanager
def private_daemon(options, *more):
    """Our own daemon at the default endpoint of our own directory, where the programs see it, too: the environment for it.
    `more` options of it."""
    with tempfile.TemporaryDirectory(prefix="hw", dir=(options.chroot or "") + "/tmp") as folder:
        for name in ("heapwatch", "heapwatch-live", "heapwatchd", "heapwatch-inspect", "libheapwatch-agent.so"):
            shutil.copy(os.path.join(os.path.dirname(options.heapwatch), name), folder)
        options.heapwatch = folder + "/heapwatch"
        env = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "GHCRTS", "HEAPWATCH_AGENT")}
        env |= {"HEAPWATCH_DIR": folder, "XDG_STATE_HOME": folder + "/state"}
        with subprocess.Popen([options.heapwatch + "d", "--publish", f"ipc://{folder}/publish", "--request",
                               f"ipc://{folder}/request", *more], env=env, stderr=subprocess.DEVNULL) as daemon:
            try:
                while not os.path.exists(folder + "/request"):
                    time.sleep(0.01)
                yield env
            finally:
                daemon.terminate()


def whole(argv, env):
    """One run to its end: (status or "hang", standard output, standard error)."""
    with subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True) as process:
        try:
            out, err = process.communicate(timeout=LIMIT_S)
            return process.returncode, out, err
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return "hang", *process.communicate()


def through_run(options, env, program, way, seconds, words):
    """Failures of a run by `heapwatch run`, compared with the same program alone."""
    argv = [*(["chroot", options.chroot] if options.chroot else []), program, way, f"{seconds:.3f}", *words]
    alone = whole(argv, env)
    status, out, err = whole([options.heapwatch, "run", "--no-top", "--", *argv], env)
    ours = [line for line in err.splitlines(True) if line.startswith(b"heapwatch run: ")]
    expected = 128 - alone[0] if isinstance(alone[0], int) and alone[0] < 0 else alone[0]
    wrong = []
    if alone[0] != WAYS[way][0]:
        wrong.append(f"alone: status {alone[0]}")
    if status != expected:
        wrong.append("hang" if status == "hang" else f"status {status}")
    if out != alone[1]:
        wrong.append("output")
    if b"".join(line for line in err.splitlines(True) if line not in ours) != alone[2]:
        wrong.append("standard error")
    if status != "hang" and not any(b" after " in line for line in ours):
        wrong.append("no end")
    if any(b"unwatched" in line or b"could not be watched" in line for line in ours):
        wrong.append("not watched")
    return [f"{w}: {err.decode(errors='replace')}" if w in ("standard error", "not watched", "no end") else w for w in wrong]


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
    if options.unwatched and log:
        wrong.append("a log")
    if orderly and not log and not options.unwatched:
        wrong.append("no log")
    if log:
        run = decoded(options.heapwatch, log)
        if run["stream"]["lostBytes"] > 0 or run["stream"]["resyncs"] > 0:
            wrong.append("damaged log")
        if orderly and not run["finished"]:
            wrong.append("cut log")
    return wrong


def one_way(options, env, chance):
    """One start and end by chance: (program, what was done, what is wrong)."""
    program, way = chance.choice(options.program), chance.choice([w for w in options.way or WAYS if w not in options.without])
    seconds = chance.choice([0.005, 0.02, 0.05, 0.1, 0.2]) * chance.random()
    if options.through_run:
        words = ["+RTS", "-N2"] if "threaded" in program and chance.random() < 0.3 else []
        return program, f"{way} {seconds:.3f} {' '.join(words)}", through_run(options, env, program, way, seconds, words)
    settings = f"flush={chance.choice([0.01, 0.03, 1])};interval={chance.choice([0.02, 0.1])};budget=0;" \
               f"classes={chance.choice(['gu', 'gus', 'g', 'gusp'])};heap={chance.choice(['T', 'T', 'none'])}"
    return program, f"{way} {seconds:.3f} {settings}", judge(options, run_once(options, program, way, seconds, settings), way)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--agent")
    parser.add_argument("--through-run", action="store_true")
    parser.add_argument("--heapwatch", required=True)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--way", action="append")
    parser.add_argument("--without", action="append", default=[], choices=WAYS)
    parser.add_argument("--chroot")
    parser.add_argument("--unwatched", action="store_true")
    parser.add_argument("--stop-at-hang", action="store_true")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    if not options.agent and not options.through_run:
        parser.error("--agent or --through-run is needed")
    wrong, count = collections.Counter(), collections.Counter()
    began = time.monotonic()
    with contextlib.ExitStack() as stack, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        env = stack.enter_context(private_daemon(options)) if options.through_run else None
        chances = [random.Random(f"{options.seed} {i}") for i in range(options.runs)]
        for program, done, what in pool.map(lambda chance: one_way(options, env, chance), chances):
            count[os.path.basename(program)] += 1
            for w in what:
                wrong[w.partition(":")[0]] += 1
                print(f"{os.path.basename(program)} {done}: {w}", flush=True)
    took = time.monotonic() - began
    print(f"{options.runs} starts and ends in {took:.0f} s ({', '.join(f'{p} {n}' for p, n in sorted(count.items()))}): "
          + (", ".join(f"{n} {w}" for w, n in sorted(wrong.items())) or "nothing wrong"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
