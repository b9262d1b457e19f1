#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What heapwatch says resident memory is made of, against the kernel and the program's own statistics.

    account.py --heapwatch PROGRAM [--chroot DIR] [--no-live] PROGRAM [RTSOPTION...]

PROGRAM is Account.hs, linked with -rtsopts. --no-live: its collector counts live data at other moments than it reports
them (--nonmoving-gc). Status 1 when something is wrong.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time

from stress import private_daemon

LIMIT_S = 60
MIB = 1 << 20
CLOSE = MIB
HEAP = range(0x42_0000_0000, 0x142_0000_0000)   # where the runtime reserves address space for it
PARTS = ("liveBytes", "reserveBytes", "keptBytes", "givenBackBytes", "filesBytes", "foreignBytes")
LEAST = {"grown": ("liveBytes", 50), "dropped": ("givenBackBytes", 50), "malloc": ("foreignBytes", 20), "regrown": ("liveBytes", 25)}


def process_of(pid, program):
    """The process below this one that executes the program."""
    for child in open(f"/proc/{pid}/task/{pid}/children", encoding="ascii").read().split():
        if found := process_of(int(child), program):
            return found
    return pid if os.readlink(f"/proc/{pid}/exe").endswith("/" + os.path.basename(program)) else None


def kernel(pid):
    """The same parts, as far as the kernel knows them, by mapping."""
    parts, heap, shared = {"rssBytes": 0, "givenBackBytes": 0, "filesBytes": 0, "heap": 0, "foreignBytes": 0}, False, False
    for line in open(f"/proc/{pid}/smaps", encoding="utf-8"):
        if header := re.match(r"([0-9a-f]+)-[0-9a-f]+ (\S+) \S+ \S+ \S+\s*(.*)", line):
            heap = int(header[1], 16) in HEAP and not header[3]
            shared = header[3].startswith(("/memfd:", "/dev/shm/", "/dev/zero", "/SYSV")) or ("s" in header[2] and not header[3])
            continue
        key, _, value = line.partition(":")
        n = int(value.split()[0]) * 1024 if value.endswith(" kB\n") else 0
        if key == "Rss":
            parts["rssBytes"] += n
            parts["heap" if heap else "foreignBytes" if shared else "filesBytes"] += n
        elif key == "Anonymous" and not heap and not shared:
            parts["filesBytes"] -= n
            parts["foreignBytes"] += n
        elif key == "LazyFree":
            parts["givenBackBytes"] += n
            parts["heap" if heap else "foreignBytes"] -= n
    return parts


def compare(said, found, live):
    """What is wrong with the account."""
    if not said or any(part not in said for part in PARTS):
        return [f"parts are missing: {said}"]
    said = {key: int(value) for key, value in said.items() if key.endswith("Bytes")}
    heap = sum(said[part] for part in PARTS[:3])
    pairs = [(key, said[key], n) for key, n in found.items() if key in said] + [("heap", heap, found["heap"])]
    if live is not None:
        pairs.append(("liveBytes", said["liveBytes"], live))
    wrong = [f"{key} {a / MIB:.1f} MiB, not {b / MIB:.1f}" for key, a, b in pairs if abs(a - b) > CLOSE]
    if sum(said[part] for part in PARTS) != said["rssBytes"]:
        wrong.append("the parts do not add up to RSS")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--heapwatch", required=True)
    parser.add_argument("--chroot")
    parser.add_argument("--no-live", action="store_true")
    parser.add_argument("program")
    parser.add_argument("options", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    command = [*(["chroot", options.chroot] if options.chroot else []), options.program, "+RTS", "-T", *options.options, "-RTS"]
    failed, steps = 0, 0
    with private_daemon(options) as env:
        def account():
            out = subprocess.run([options.heapwatch, "trend", "--format", "json", "account"], env=env, capture_output=True,
                                 text=True, timeout=LIMIT_S).stdout
            return json.loads(out.splitlines()[0]).get("resident") if out else None

        with subprocess.Popen([options.heapwatch, "run", "--no-top", "--name", "account", "--", *command], env=env, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as run:
            for line in run.stdout:
                step, live = line.split()
                pid, end, wrong = process_of(run.pid, options.program), time.monotonic() + LIMIT_S / 3, ["nothing is known"]
                while wrong and time.monotonic() < end:     # the account is of the last second, and the program waits
                    time.sleep(0.2)
                    said = account()
                    wrong = compare(said, kernel(pid), None if options.no_live else int(live))
                part, least = LEAST.get(step, ("rssBytes", 0))
                if not wrong and int(said[part]) < least * MIB and not (options.no_live and part == "liveBytes"):
                    wrong = [f"{part} {int(said[part]) / MIB:.1f} MiB, not {least} and more"]
                steps += 1
                failed += bool(wrong)
                if wrong:
                    print(f"{' '.join(command)}: {step}: {'; '.join(wrong)}", flush=True)
                run.stdin.write("\n")
                run.stdin.flush()
    print(f"{steps} steps of {' '.join(command)}: {failed} with a wrong account")
    return 1 if failed or steps != len(LEAST) + 1 else 0


if __name__ == "__main__":
    sys.exit(main())
