# SPDX-License-Identifier: BSD-3-Clause
"""The cookbook of leaks: each program of examples/ is built and watched as it says itself, and each line that
docs/COOKBOOK.md quotes is what heapwatch prints of it; the mended program beside it is not accused."""
import contextlib
import os
import re
import shlex
import shutil
import subprocess

import pytest

from harness import CLIENT, LONG, ROOT, Daemon, client, make_once, rss_bytes, wait_for

PAGE = ROOT / "docs" / "COOKBOOK.md"
SECTIONS = {m[1]: text for text in re.split(r"^## ", PAGE.read_text(), flags=re.M)
            if (m := re.search(r"^\[examples/(\w+)\.hs\]\(\.\./examples/\1\.hs\)", text, re.M))}
IN_SHORT = ("Ffi",)       # the cheapest
MENDED = {"Nursery": ["+RTS", "-N2", "-A4m"]}       # what takes the place of --fixed
NUMBER = r"(?<![\w.])[<+]?\d[\d.,:]*[hmd]?(?: \d+[ms]\b)?(?: (?:[KMGT]iB|B|ns|us|ms|s|%)(?:/s|(?![\w/])))?"


def pattern(quoted):
    """Of a line that is quoted: its numbers are free, each with its unit, but for 0 B, and ... is any text."""
    parts = re.split(rf"(\.\.\.|{NUMBER})", quoted)
    return "".join(".*" if part == "..." else NUMBER if i % 2 and part != "0 B" else re.escape(part) for i, part in enumerate(parts))


def answers_of(text):
    """What a section quotes: (command, lines), in order."""
    for block in re.findall(r"^```\n(\$ .*?)^```$", text, re.M | re.S):
        for command, *lines in (part.splitlines() for part in re.split(r"^\$ ", block, flags=re.M) if part):
            yield shlex.split(command), [line for line in lines if line.strip()]


def missing_from(printed, lines):
    """The first of the quoted lines that was not printed below the ones before it; None: all were."""
    rest = iter(printed.splitlines())
    return next((line for line in lines if not any(re.fullmatch(pattern(line), p) for p in rest)), None)


def build(name):
    """As its first comment says."""
    source = ROOT / "examples" / f"{name}.hs"
    command = re.search(rf"^-- +(ghc .* {name}\.hs) && heapwatch run -- \./{name}$", source.read_text(), re.M)[1]

    def make(folder):
        shutil.copy(source, folder)
        subprocess.run([*shlex.split(command), "-v0", "-Wall", "-Werror"], check=True, cwd=folder)

    return make_once(f"programs/example-{name}", make, source.read_bytes()) / name


@contextlib.contextmanager
def watched(daemon, name, target, *arguments):
    run = subprocess.Popen([CLIENT, "run", "--no-top", "--name", target, "--", build(name), *arguments], cwd=daemon.directory,
                           env={**os.environ, "HEAPWATCH_DIR": str(daemon.directory)},
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield wait_for(lambda: (t := daemon.target(target)) and t.run_info.pid, f"{target} is watched")
    finally:
        run.terminate()     # which it passes on to the program
        run.wait()


def test_each_leak_has_a_section():
    assert sorted(SECTIONS) == sorted(path.stem for path in (ROOT / "examples").glob("*.hs"))
    for name, text in SECTIONS.items():
        source = " ".join((ROOT / "examples" / f"{name}.hs").read_text().split())
        [diff] = re.findall(r"^```diff\n(.*?)^```$", text, re.M | re.S)
        changes = [" ".join(line[1:].split()) for line in diff.splitlines() if line[0] in "+-"]
        assert changes and all(change in source for change in changes), (name, changes)


@pytest.mark.long
@pytest.mark.parametrize("name", [n for n in SECTIONS if LONG or n in IN_SHORT])
def test_what_the_page_quotes_is_printed(directory, name):
    def prints(command):
        pause = ["--max-pause", "60s"] if command[1] in ("why", "heap", "threads") else []     # to be copied on a busy machine, too
        done = client(*command[1:], *pause, env={"HEAPWATCH_DIR": str(directory)})
        return (done.stdout + done.stderr).decode()

    def wait_printed(command, missing, what):
        """Until nothing is missing from what the command prints."""
        printed = ""

        def is_whole():
            nonlocal printed
            printed = prints(command)
            return missing(printed) is None

        try:
            wait_for(is_whole, what, poll_s=0.5)
        except AssertionError as e:
            raise AssertionError(f"{e}: {missing(printed)}\nprinted:\n{printed}") from None

    with Daemon(directory) as daemon, watched(daemon, name, name) as leaky, \
            watched(daemon, name, "mended", *MENDED.get(name, ["--fixed"])) as mended:
        quoted = list(answers_of(SECTIONS[name]))
        assert quoted and all(command[0] == "heapwatch" for command, _ in quoted)
        for command, lines in quoted:
            wait_printed(command, lambda printed, lines=lines: missing_from(printed, lines),
                         f"{name}: what the page quotes of {' '.join(command)}")
        steady = "mended, run 1: steady so far"
        wait_printed(["heapwatch", "trend", "mended"], lambda printed: None if steady in printed else steady, "the mended one is steady")
        wait_for(lambda: rss_bytes(mended) < rss_bytes(leaky) / 2, "the mended one has less than half of the memory")
        assert "mended" not in prints(["heapwatch", "alerts"])
