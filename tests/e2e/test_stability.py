# SPDX-License-Identifier: BSD-3-Clause
"""What docs/STABILITY.md promises to stay: each name in tests/data/promised.txt is still there, and means the same.

HEAPWATCH_PROMISE=1 adds what is new to that file, as a release does; what has gone it refuses. It also makes the sample files
of a release that has none: tests/data/releases/VERSION, which every later release must read. Those that are there stay.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from harness import CLIENT, DAEMON, LOGS, ROOT, Daemon, client, pb, wait_for

PROMISED = ROOT / "tests" / "data" / "promised.txt"
RELEASES = ROOT / "tests" / "data" / "releases"
GROWING, STEADY = LOGS / "leaky-hT-ghc9103" / "run.eventlog", LOGS / "steady-gc-ghc9103" / "run.eventlog"
# Commands whose JSON is read by scripts, with a log that fills as much of it as one can.
WITH_JSON = {"summary": [GROWING], "trend": [GROWING], "check": [GROWING], "diff": [GROWING, STEADY], "doctor": [GROWING],
             "top": ["--once", GROWING], "alerts": [GROWING], "post-mortem": [GROWING]}


def offered(program, *words):
    done = subprocess.run([program, "--complete", *words], capture_output=True, text=True, check=True)
    return [line.split("\t")[0] for line in done.stdout.splitlines()]


def commands():
    for name in offered(CLIENT, ""):
        yield f"command {name}"
        yield from (f"option heapwatch {name} {option}" for option in offered(CLIENT, name, "--"))
    yield from (f"option heapwatchd {option}" for option in offered(DAEMON, "--"))


def wire():
    """Names, numbers and types: two of these make a field what it is in bytes, the third in JSON."""
    for message in pb.DESCRIPTOR.message_types_by_name.values():
        pending = [message]
        while pending:
            m = pending.pop()
            pending += m.nested_types
            for f in m.fields:
                yield f"wire {m.full_name}.{f.name} {f.number} type {f.type} label {f.label}"
            yield from (f"wire {e.full_name}.{v.name} {v.number}" for e in m.enum_types for v in e.values)
    yield from (f"wire {e.full_name}.{v.name} {v.number}" for e in pb.DESCRIPTOR.enum_types_by_name.values() for v in e.values)


def metrics():
    """docs/METRICS.md is made from the tables that the programs have: `make style` checks it."""
    for line in (ROOT / "docs" / "METRICS.md").read_text().splitlines():
        row = re.match(r"\| `(heapwatch_\w+)` \| (\w+) \|", line)
        if row:
            yield f"metric {row[1]} {row[2]}"


def rules():
    """docs/RULES.md has every word and function: tests/unit/rules/test_parse.c compares them."""
    for line in client("rules", "list").stdout.decode().splitlines():
        yield f"rule {line.split()[1]}"
    for line in (ROOT / "docs" / "RULES.md").read_text().splitlines():
        if line.startswith("| `"):
            for quoted in re.findall(r"`([^`]+)`", line.split(" | ")[0]):
                yield from (f"rule word {word}" for word in re.findall(r"[a-z_][a-z0-9_]+", re.sub(r"[({].*", "", quoted)))


def keys(value, path):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{path}.{key}"
            yield from keys(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner, f"{path}[]")


def outputs():
    for command, arguments in WITH_JSON.items():
        for line in client(command, "--format", "json", *arguments).stdout.decode().splitlines():
            yield from keys(json.loads(line), f"json {command} ")


def test_what_is_promised_is_there():
    there = {*commands(), *wire(), *metrics(), *rules(), *outputs()}
    promised = set(PROMISED.read_text().splitlines()) if PROMISED.exists() else set()
    gone = promised - there
    assert not gone, "these are promised by docs/STABILITY.md:\n" + "\n".join(sorted(gone))
    if os.environ.get("HEAPWATCH_PROMISE") == "1":
        PROMISED.write_text("".join(f"{line}\n" for line in sorted(there | promised)))
    for kind in ("command", "option", "wire", "metric", "rule", "json"):
        assert sum(line.startswith(kind + " ") for line in there) > 10, kind


def read_recording(folder):
    """What today's programs read of a recording: numbers of its end, of its log and of the verdict."""
    done = client("recording", "--dir", folder, "--format", "json")
    assert done.returncode == 0, done.stderr.decode()
    (run,) = [json.loads(line) for line in done.stdout.splitlines()]
    log = f"recording:{folder}/api"
    summary, trend = (json.loads(client(command, "--format", "json", log).stdout) for command in ("summary", "trend"))
    return {"recording": {key: run[key] for key in ("target", "bytes", "lostBytes", "beginNs", "endNs", "end")},
            "memory": {key: summary["memory"][key] for key in ("allocatedBytes", "maxResidencyBytes", "residencySamples")},
            "stream": {key: summary["stream"][key] for key in ("bytes", "events", "damages", "lostBytes")},
            "censuses": summary["heapProfile"]["censuses"],
            "trends": sorted(t.get("series") or trend["labels"][str(t["band"])] for t in trend["trends"]["trends"])}


def make_samples(release, directory):
    record = pathlib.Path(directory) / "recording"
    with Daemon(directory, f"api={GROWING}", args=["--record", record]) as daemon:
        daemon.wait_state("api", "ENDED")
        wait_for(lambda: list(record.glob("api/*/end")), "the recording's end")
    expected = read_recording(record)
    shutil.copytree(record, release / "recording")
    (release / "expected.json").write_text(json.dumps(expected, indent=2) + "\n")


@pytest.mark.parametrize("version", sorted({(ROOT / "VERSION").read_text().strip(), *(p.name for p in RELEASES.glob("*"))}))
def test_files_of_releases_are_read(version, directory):
    release = RELEASES / version
    if not release.exists() and os.environ.get("HEAPWATCH_PROMISE") == "1":
        make_samples(release, directory)
    # A copy, for a command may write beside what it reads.
    record = shutil.copytree(release / "recording", pathlib.Path(directory) / "copy")
    assert read_recording(record) == json.loads((release / "expected.json").read_text())


def test_every_version_is_that_of_the_release():
    """What names heapwatch's version and cannot read the file VERSION."""
    version = (ROOT / "VERSION").read_text().strip()
    found = []
    for path in (p for folder in ("docs", "haskell", "scripts") for p in sorted((ROOT / folder).rglob("*")) if p.is_file()):
        text = path.read_text(errors="replace")
        found += [(path.name, v) for v in re.findall(r"heapwatch(?:-dev|-agent)?[-_:/](\d+\.\d+\.\d+)", text)]
        found += [(path.name, v) for v in re.findall(r'(?:newTag: |^version: +|"version": ")(\d+\.\d+\.\d+)', text, re.MULTILINE)]
    assert {name for name, _ in found} >= {"compose.yaml", "deployment.yaml", "kustomization.yaml", "KUBERNETES.md", "WEB.md", "heapwatch.cabal"}
    assert not (others := {(name, v) for name, v in found if v != version}), others
    assert re.search(r"^## (\S+)", (ROOT / "haskell" / "CHANGELOG.md").read_text(), re.MULTILINE)[1] == version
