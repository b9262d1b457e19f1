#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Real programs that nobody here wrote, alone and by `heapwatch run`: the same output and status, byte for byte.

    real_programs.py --heapwatch PROGRAM [--chroot DIR] [NAME...]

pandoc, shellcheck, git-annex and hledger-web, each at work; one that is not installed is skipped. With --chroot those of
DIR, which must lead to itself inside, too. What heapwatch said about each is printed; what can be watched is watched,
and the rest runs with one sentence that says why not. Ends with "N passed, M failed, K skipped"; status 1 when any failed.
"""
import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

from stress import private_daemon

LIMIT_S = 120
SCRIPT = '#!/bin/sh\nfor i in $(ls *.txt); do\n  [ $i = "$x" ] && echo `date` $i\ndone\n'
TEXT = "# Title\n\nSome *text* with [a link](http://example.org) and `code`.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
JOURNAL = "2026-01-{day:02} lunch {n}\n    expenses:food:{kind}  ${n}\n    assets:cash\n\n"


def prepare(folder, inside):
    """What they work on."""
    with open(f"{folder}/text.md", "w", encoding="ascii") as f:
        f.write(TEXT * 400)
    with open(f"{folder}/script", "w", encoding="ascii") as f:
        f.write(SCRIPT * 100)
    with open(f"{folder}/journal", "w", encoding="ascii") as f:
        f.writelines(JOURNAL.format(day=n % 28 + 1, n=n, kind=n % 17) for n in range(1, 3000))
    if inside("git-annex"):
        run = {"cwd": folder, "check": True, "capture_output": True}
        subprocess.run(inside.command("git", "init", "-q", "annex"), **run)
        for name in ("user.name", "user.email"):
            subprocess.run(inside.command("git", "-C", "annex", "config", name, "tester"), **run)
        subprocess.run(inside.command("git", "-C", "annex", "annex", "init", "here"), **run)
        for n in range(30):
            with open(f"{folder}/annex/file{n}", "w", encoding="ascii") as f:
                f.write(f"{n}\n" * 10000)


class Inside:
    """Commands, in a chroot or not; in a folder that has the same name on both sides."""

    def __init__(self, chroot, folder):
        self.chroot, self.folder = chroot, folder

    def command(self, *words):
        if not self.chroot:
            return list(words)
        return ["chroot", self.chroot, "sh", "-c", 'cd "$0" && exec "$@"', self.folder, *words]

    def __call__(self, name):
        return subprocess.run(self.command("sh", "-c", f"command -v {name}"), capture_output=True).returncode == 0


def work(name, start, folder):
    """Has the program work once: a list of (status, output, what the program itself said on standard error)."""
    def once(*words):
        with start(*words) as p:
            out, err = p.communicate(timeout=LIMIT_S)
            return p.returncode, out, err

    if name == "pandoc":
        return [once("pandoc", "-t", to, "text.md") for to in ("html", "latex", "json")]
    if name == "shellcheck":
        return [once("shellcheck", "script"), once("shellcheck", "-f", "json", "script")]
    if name == "git-annex":
        shutil.rmtree(f"{folder}/copy", ignore_errors=True)
        shutil.copytree(f"{folder}/annex", f"{folder}/copy", symlinks=True)
        return [once("sh", "-c", f"cd copy && exec git-annex {words}") for words in
                ("add --json .", "find", "whereis --json file3", "fsck --fast file1 file2")]
    with start("hledger-web", "--serve-api", "--port", "18917", "-f", "journal") as p:
        end, pages = time.monotonic() + LIMIT_S, []
        for page in ("accountnames", "transactions", "accounttransactions/assets:cash"):
            while len(pages) < 3:
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:18917/{page}", timeout=LIMIT_S) as reply:
                        pages.append(reply.read())
                    break
                except OSError:
                    if time.monotonic() > end or p.poll() is not None:
                        raise
                    time.sleep(0.05)
        time.sleep(1.5)         # a service that is at rest is watched, too: a census
        p.send_signal(signal.SIGTERM)
        _, err = p.communicate(timeout=LIMIT_S)
        return [(page[:0], page, b"") for page in pages] + [(b"", b"", err)]


def compare(name, inside, folder, env, heapwatch):
    """(what is wrong, what heapwatch said)"""
    def alone(*words):
        return subprocess.Popen(inside.command(*words), cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def watched(*words):
        return subprocess.Popen([heapwatch, "run", "--no-top", "--name", name, "--", *inside.command(*words)], cwd=folder,
                                env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    wrong, said = [], []
    for (status, out, err), (status_2, out_2, err_2) in zip(work(name, alone, folder), work(name, watched, folder)):
        ours = [line for line in err_2.splitlines(True) if line.startswith((b"heapwatch run: ", b"heapwatch-agent: "))]
        said += [line.decode().strip() for line in ours]
        if status != status_2:
            wrong.append(f"status {status_2}, alone {status}")
        if out != out_2:
            wrong.append(f"output: {len(out_2)} bytes, alone {len(out)}")
        if b"".join(line for line in err_2.splitlines(True) if line not in ours) != err:
            wrong.append(f"standard error: {err_2.decode(errors='replace')}")
    if not any(" runs unwatched: " in line or " after " in line for line in said):
        wrong.append("neither watched nor a reason why not")
    return wrong, said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--heapwatch", required=True)
    parser.add_argument("--chroot")
    parser.add_argument("name", nargs="*", default=["pandoc", "shellcheck", "git-annex", "hledger-web"])
    options = parser.parse_args()
    count = {"passed": 0, "failed": 0, "skipped": 0}
    with tempfile.TemporaryDirectory(prefix="hw", dir=(options.chroot or "") + "/tmp") as folder, private_daemon(options) as env:
        inside = Inside(options.chroot, folder)
        prepare(folder, inside)
        for name in options.name:
            if not inside(name):
                count["skipped"] += 1
                print(f"{name}: skipped: not installed (apt install {name})")
                continue
            wrong, said = compare(name, inside, folder, env, options.heapwatch)
            count["failed" if wrong else "passed"] += 1
            print(f"{name}: {'; '.join(wrong) or 'equal'}", *sorted(set(said)), sep="\n    ", flush=True)
    print(", ".join(f"{n} {what}" for what, n in count.items()))
    return 1 if count["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
