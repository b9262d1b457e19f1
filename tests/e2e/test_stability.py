# SPDX-License-Identifier: BSD-3-Clause
"""What docs/STABILITY.md promises to stay: each name in tests/data/promised.txt is still there, and means the same.

HEAPWATCH_PROMISE=1 adds what is new to that file, as a release does; what has gone it refuses. It also makes the sample files
of a release that has none: tests/data/releases/VERSION, which every later release must read. Those that are there stay.
"""
import json
import os
import re
import subprocess

import pytest

from harness import CLIENT, DAEMON, LOGS, ROOT, client, pb
from release_samples import GROWING, RELEASES, SAMPLES, lacks, make_samples, newest, read_sample

VERSION = (ROOT / "VERSION").read_text().strip()
PROMISED = ROOT / "tests" / "data" / "promised.txt"
STEADY = LOGS / "steady-gc-ghc9103" / "run.eventlog"
PROVISIONAL = LOGS / "leaky-hT-ghc966" / "run.eventlog"


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


def words_of(document):
    """Of the first columns of its tables."""
    for line in document.splitlines():
        if line.startswith("| `"):
            for quoted in re.findall(r"`([^`]+)`", line.split(" | ")[0]):
                yield from re.findall(r"[a-z_][a-z0-9_]+", re.sub(r"[({].*", "", quoted))


def rules():
    """docs/RULES.md has every word and function: tests/unit/rules/test_parse.c compares them."""
    for line in client("rules", "list").stdout.decode().splitlines():
        yield f"rule {line.split()[1]}"
    yield from (f"rule word {word}" for word in words_of((ROOT / "docs" / "RULES.md").read_text()))


def keys(value, path):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{path}.{key}"
            yield from keys(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner, f"{path}[]")


def with_json():
    """Commands whose JSON is read by scripts, with a log that fills as much of it as one can."""
    return {"summary": [GROWING], "trend": [GROWING, PROVISIONAL], "diff": [GROWING, STEADY], "doctor": [GROWING], "top": ["--once", GROWING],
            "alerts": ["--rules", newest("rules.yaml"), GROWING], "post-mortem": [GROWING]}


def outputs():
    for command, arguments in with_json().items():
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
    for command in with_json():
        assert sum(line.startswith(f"json {command} ") for line in there) > 10, command


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("version", sorted({VERSION, *(p.name for p in RELEASES.glob("*"))}))
def test_files_of_releases_are_read(version, name, directory):
    if not (RELEASES / version / "expected.json").exists() and os.environ.get("HEAPWATCH_PROMISE") == "1":
        (directory / "made").mkdir(mode=0o700)
        make_samples(version, directory / "made")
    expected = json.loads((RELEASES / version / "expected.json").read_text())[name]
    assert expected and not lacks(expected, read_sample(RELEASES / version, name, directory))


def test_samples_have_every_word():
    """What later releases must read is all that this one reads."""
    def without(words, text):
        return {word for word in words if not re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)}

    text = (ROOT / "docs" / "RULES.md").read_text()
    language = text[text.index("\n## A rule\n"):text.index("\n## The built-in rules")]
    actions = (ROOT / "docs" / "ACTIONS.md").read_text().split("\n## ")[0]
    words = {*words_of(language), *words_of(actions), *re.findall(r"\{\{\w+\}\}", language)}
    assert len(words) > 90
    assert not (left := without(words, newest("rules.yaml").read_text())), \
        f"{left}: add each to an `expr` of {newest('rules.yaml')}, and to the same one in expected.json beside it"
    source = (ROOT / "daemon/watch/config/config_file.c").read_text()
    keys_of = {key for table in re.findall(r"keys\[\] = \{([^}]*)\}", source) for key in re.findall(r'"(\w+)"', table)}
    settings = (ROOT / "daemon/watch/config/settings.c").read_text()
    keys_of |= {key for key in re.findall(r'^        \{ (?:"[\w-]+"|NULL), (?:"\w+"|NULL), "(\w+)",', settings, re.M)}
    assert len(keys_of) > 25
    assert not (left := without({f"{key}:" for key in keys_of}, newest("heapwatchd.yaml").read_text())), \
        f"{left}: add each to {newest('heapwatchd.yaml')}, and what it sets to expected.json beside it"


def test_every_version_is_that_of_the_release():
    """What names heapwatch's version and cannot read the file VERSION."""
    found = []
    for path in (p for folder in ("docs", "haskell", "scripts") for p in sorted((ROOT / folder).rglob("*")) if p.is_file()):
        text = path.read_text(errors="replace")
        found += [(path.name, v) for v in re.findall(r"heapwatch(?:-dev|-agent)?[-_:/](\d+\.\d+\.\d+)", text)]
        found += [(path.name, v) for v in re.findall(r'(?:newTag: |^version: +|"version": ")(\d+\.\d+\.\d+)', text, re.MULTILINE)]
    assert {name for name, _ in found} >= {"compose.yaml", "deployment.yaml", "kustomization.yaml", "KUBERNETES.md", "WEB.md", "heapwatch.cabal"}
    assert not (others := {(name, v) for name, v in found if v != VERSION}), others
    assert re.search(r"^## (\S+)", (ROOT / "haskell" / "CHANGELOG.md").read_text(), re.MULTILINE)[1] == VERSION
    assert re.search(r"^## (\S+?),? ", (ROOT / "CHANGELOG.md").read_text().replace("Unreleased\n", f"{VERSION} "), re.MULTILINE)[1] == VERSION
