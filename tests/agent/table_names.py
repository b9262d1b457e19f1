#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Bands by info table that the program does not describe have the names of its symbols, in what is recorded, too.

    table_names.py --heapwatch PROGRAM [--chroot DIR] PROGRAM

PROGRAM is Serve.hs compiled with -finfo-table-map, as it is or with -prof. All is compared with what nm(1) says of it.
Status 1 when something is wrong.
"""
import argparse
import collections
import json
import subprocess
import sys
import tempfile
import time

from stress import private_daemon

LIMIT_S = 60
CENSUSES = 3
CODE_AFTER_TABLE = (16, 32)     # bytes; the second in the profiled runtime
PLACE = "<symbol table>"
WANTED = {"Data.Map.Internal.Bin": "CONSTR", "ARR_WORDS": "", "STACK": ""}  # in a census, with part of its closure type


def symbols(path):
    """{address: names} of info tables, in a program that is loaded where its file says."""
    found = collections.defaultdict(set)
    for line in subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout.splitlines():
        words = line.split()
        if len(words) == 3 and words[2].endswith("_info"):
            found[int(words[0], 16)].add(words[2])
    return found


def record(options, folder):
    """Definitions and bands of a run's recording: the objects of `events` and of `convert`."""
    command = [*(["chroot", options.chroot] if options.chroot else []), options.program]
    with private_daemon(options, "--record", folder) as env:
        def heapwatch(*words):
            return subprocess.run([options.heapwatch, *words], env=env, capture_output=True, text=True, timeout=LIMIT_S)

        def objects(*words):
            return [json.loads(line) for line in heapwatch(*words).stdout.splitlines()]

        with subprocess.Popen([options.heapwatch, "run", "--no-top", "--name", "served", "--heap-profile", "i", "--", *command],
                              env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            taken, end = 0, time.monotonic() + LIMIT_S
            while taken < CENSUSES and time.monotonic() < end:
                taken += heapwatch("ctl", "census", "served").returncode == 0
                time.sleep(0.1)
            run.stdin.close()
            run.wait(LIMIT_S)
        log = folder + "/served.eventlog"
        heapwatch("recording", "dump", "served", "-o", log)
        definitions = [e["fields"] for e in objects("events", log, "--kind", "IPE", "--format", "json")]
        return definitions, objects("convert", "--to", "json", log)


def judge(program, definitions, rest):
    """What is wrong."""
    names, wrong = symbols(program), []
    given = [d for d in definitions if d["source"] == PLACE]
    for d in given:
        at = [d["info_table"] + n for n in CODE_AFTER_TABLE]
        if not any({d["table_name"]} == names[a] for a in at):
            wrong.append(f"{d['table_name']} is not what nm says of 0x{d['info_table']:x}")
    described = [d["info_table"] for d in definitions]
    wrong += [f"0x{k:x} is described {n} times" for k, n in collections.Counter(described).items() if n > 1]
    bands = {b["band"]: b for b in rest if b["kind"] == "band"}
    bare = [int(b["label"], 16) for b in bands.values() if b["label"].startswith("0x")]
    wrong += [f"0x{a:x} has a symbol" for a in bare if len(names[a + CODE_AFTER_TABLE["profiled" in program]]) == 1]
    censuses = [c for c in rest if c["kind"] == "census"]
    if len(censuses) < CENSUSES:
        return wrong + [f"{len(censuses)} censuses"]
    for label, closure in WANTED.items():
        if not any(b["label"].endswith(label) and closure in b.get("closureType", "") and b["source"] == PLACE
                   for b in bands.values() if "source" in b):
            wrong.append(f"no band is {label}")
    last = censuses[-1]
    unnamed = sum(n for band, n in last["bands"] if bands[band]["label"].startswith("0x"))
    print(f"{len(given)} tables named by their symbols, {len(definitions) - len(given)} described by the program; "
          f"{unnamed} of {last['totalBytes']} bytes without a name")
    if unnamed > last["totalBytes"] / 10:
        wrong.append(f"{unnamed} of {last['totalBytes']} bytes have no name")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--heapwatch", required=True)
    parser.add_argument("--chroot")
    parser.add_argument("program")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hw") as folder:
        wrong = judge((options.chroot or "") + options.program, *record(options, folder))
    for text in wrong[:20]:
        print(f"{options.program}: {text}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
