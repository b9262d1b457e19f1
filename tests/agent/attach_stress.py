#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Attaches to a busy program and detaches again, repeatedly, and counts failures.

    attach_stress.py --heapwatch PROGRAM [--runs N] [--no-census] [--chroot DIR] [--own-log FILE] PROGRAM

PROGRAM is tests/programs/Serve.hs in any build: it works until its standard input ends. Failures are: an attach that is
refused, a log without a census, a detach that is refused, a program that ends, and one that does not end when it should.
With --no-census nothing is asked of the log: the collector makes none. With --own-log the program writes its eventlog to
FILE, too, which must be whole and have an end marker. With --chroot PROGRAM is a path inside it, and DIR must lead to itself inside, too (a link to / at DIR/DIR).
Exit status 1 when anything is wrong.
"""
import argparse
import collections
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

LIMIT_S = 60


def census_comes(path):
    """An independent reader: whether the log has a census."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(LIMIT_S)
        s.connect(path)
        log, end = b"", time.monotonic() + LIMIT_S
        while b"ARR_WORDS" not in log:
            part = s.recv(1 << 20)
            if not part or time.monotonic() > end:
                return False
            log += part
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--heapwatch", required=True)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--no-census", action="store_true")
    parser.add_argument("--chroot")
    parser.add_argument("--own-log")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="hw", dir=(options.chroot or "") + "/tmp")
    for name in ("heapwatch", "heapwatch-live", "heapwatchd", "libheapwatch-agent.so"):   # where the program sees them, too
        shutil.copy(os.path.join(os.path.dirname(options.heapwatch), name), folder)
    env = {**os.environ, "HEAPWATCH_DIR": folder, "XDG_STATE_HOME": folder}
    wrong = collections.Counter()
    began = time.monotonic()

    def heapwatch(*arguments):
        try:
            return subprocess.run([folder + "/heapwatch", *map(str, arguments)], env=env, capture_output=True, text=True,
                                  timeout=LIMIT_S)
        except subprocess.TimeoutExpired as e:
            return subprocess.CompletedProcess(e.cmd, "hang", "", "does not end")

    own = ["+RTS", "-l", f"-ol{options.own_log}"] if options.own_log else []
    command = [*(["chroot", options.chroot] if options.chroot else []), *options.program, *own]
    with subprocess.Popen([folder + "/heapwatchd", "--publish", f"ipc://{folder}/publish", "--request", f"ipc://{folder}/request"],
                          env=env, stderr=subprocess.DEVNULL) as daemon, \
            subprocess.Popen(command, stdin=subprocess.PIPE, cwd="/tmp") as program:
        time.sleep(0.5)
        for run in range(options.runs):
            for verb in ("attach", "detach"):
                done = heapwatch(verb, program.pid)
                if done.returncode != 0:
                    wrong[verb] += 1
                    print(f"{run}: {verb}: {done.stderr}", end="", flush=True)
                elif verb == "attach" and run % 10 == 0 and not options.no_census \
                        and not census_comes(f"{folder}/agent-{program.pid}.sock"):
                    wrong["no census"] += 1
            if program.poll() is not None:
                wrong["ended"] += 1
                print(f"{run}: the program ended with {program.returncode}", flush=True)
                break
        program.stdin.close()
        try:
            if program.wait(LIMIT_S) != 0:
                wrong[f"status {program.returncode}"] += 1
        except subprocess.TimeoutExpired:
            wrong["hang at the end"] += 1
            program.kill()
        daemon.terminate()
    if options.own_log:
        log = (options.chroot or "") + options.own_log
        summary = json.loads(heapwatch("summary", "--format", "json", log).stdout or "{}")
        if not summary.get("finished") or summary["stream"]["lostBytes"] > 0 or not summary["heapProfile"]["censuses"]:
            wrong["own log"] += 1
        os.unlink(log)
    shutil.rmtree(folder)
    print(f"{options.runs} attaches and detaches in {time.monotonic() - began:.0f} s ({' '.join(options.program)}): "
          + (", ".join(f"{n} {w}" for w, n in sorted(wrong.items())) or "nothing wrong"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
