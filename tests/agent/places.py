#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is in the heap and in stacks has its place in the source, read from outside.

    places.py --heapwatch PROGRAM [--chroot DIR] PROGRAM

PROGRAM is Inside.hs compiled with -finfo-table-map -fdistinct-constructor-tables, stripped or not. Status 1 when
something is wrong.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "programs" / "Inside.hs"
LIMIT_S = 60


def line_of(text):
    """Which line of the source begins with it, from 1."""
    [n] = [i for i, line in enumerate(SOURCE.read_text().splitlines(), 1) if line.startswith(text)]
    return n


def judge(options, pid):
    """What is wrong."""
    def heapwatch(*words):
        done = subprocess.run([options.heapwatch, *words, "--format", "json"], capture_output=True, text=True, timeout=LIMIT_S)
        if done.returncode:
            sys.exit(f"{options.program}: heapwatch {' '.join(words)}: {done.stderr}")
        return json.loads(done.stdout)

    wrong = []
    expected = {"Session": f"main:Main.Session (Inside.hs:{line_of('fillSessions n =')}:",
                "root": f"CAF Main.sessions (Inside.hs:{line_of('sessions =')}:",
                "frame": f"Inside.hs:{line_of('waitForReply m =')}:"}
    bands = [b for b in heapwatch("heap", pid)["bands"] if b["name"].startswith(expected["Session"])]
    if sum(b["closures"] for b in bands) != 3000:
        wrong.append(f"3,000 closures are not {expected['Session']}...: {bands}")
    by_type = [b for b in heapwatch("heap", pid, "--by", "type")["bands"] if b["name"] == "main:Main.Session"]
    if [b["closures"] for b in by_type] != [3000]:
        wrong.append(f"by type they are {by_type}")
    for band in ("Session", re.sub(r".*\((.*)\)", r"\1", bands[0]["name"]) if bands else "Session"):
        found = heapwatch("why", pid, band)
        if not found["roots"][0]["name"].startswith(expected["root"]) or found["closures"] < 3000:
            wrong.append(f"{found['closures']} {found['band']} are held by {found['roots'][0]['name']}, not {expected['root']}...")
    waiting = heapwatch("threads", pid)["groups"][0]
    if waiting["threads"] != 40 or not any(f.get("source", "").startswith(expected["frame"]) for f in waiting["frames"]):
        wrong.append(f"40 threads are not in {expected['frame']}...: {waiting['frames']}")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--heapwatch", required=True)
    parser.add_argument("--chroot")
    parser.add_argument("program")
    options = parser.parse_args()
    command = [*(["chroot", options.chroot] if options.chroot else []), options.program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        try:
            if program.stdout.readline() != b"ready\n":
                sys.exit(f"{options.program} does not begin")
            wrong = judge(options, str(program.pid))
        finally:
            program.kill()
    for text in wrong:
        print(f"{options.program}: {text}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
