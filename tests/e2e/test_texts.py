# SPDX-License-Identifier: BSD-3-Clause
"""The runtime's own texts wherever a log is taken: heap profiles (.hp) and profiles as JSON (-pj),
whole, compressed, cut off and damaged."""
import collections
import gzip
import json
import re
import subprocess

import pytest

from harness import LOGS, ROOT, client, piped, printed, written

PROFILES = sorted(p.parent.name for p in LOGS.glob("*/run.hp"))


def rows_of(text):
    """[(ns, {label: bytes})] of the samples that are not empty."""
    samples, rows = [], None
    for line in text.splitlines():
        if line.startswith("BEGIN_SAMPLE"):
            rows = {}
        elif line.startswith("END_SAMPLE"):
            if rows:
                samples.append((round(float(line.split()[1]) * 1e9), rows))
        elif rows is not None:
            label, n = line.rsplit("\t", 1)
            rows[label] = rows.get(label, 0) + int(n)
    return samples


def censuses(log):
    bands, found = {}, []
    for u in piped(log):
        for b in u.get("bands", {}).get("bands", []):
            bands[b["id"]] = b["label"]
        if "census" in u and not u["census"].get("unfinished"):
            c, rows = u["census"], {}
            for band, n in zip(c["band"], c["bytes"]):
                rows[bands[band]] = rows.get(bands[band], 0) + int(n)
            found.append((int(c["timeNs"]), rows))
    return found


@pytest.mark.parametrize("run", PROFILES)
def test_every_census_of_a_heap_profile(run):
    path = LOGS / run / "run.hp"
    expected, last = [], 0
    for at, rows in rows_of(path.read_text(errors="replace")):
        last = max(last, at)
        expected.append((last, rows))
    assert censuses(path) == expected


def test_what_a_heap_profile_says_of_the_program(directory):
    path = LOGS / "cc-hc-ghc9103" / "run.hp"
    summary = json.loads(client("summary", path, "--format", "json").stdout)
    assert summary["program"] == "costcentre-prof" and "-hc" in summary["rtsOptions"]
    assert "arguments" not in summary                       # may be secret
    state = [u["targetState"] for u in piped(path) if "targetState" in u][-1]
    assert state["state"] == "STATE_ENDED"
    for command in (["trend"], ["top", "--once"], ["convert", "--to", "csv-wide"], ["report", "-o", directory / "r.html"],
                    ["events", "--count"]):
        done = client(*command, path)
        assert done.returncode == 0, (command, done.stderr)
    done = client("convert", path, "--to", "hp")
    assert rows_of(done.stdout.decode()) == rows_of(path.read_text())


def test_a_heap_profile_that_is_cut_or_compressed(directory):
    text = (LOGS / "leaky-hT-ghc9103" / "run.hp").read_bytes()
    (directory / "run.hp.gz").write_bytes(gzip.compress(text))
    assert censuses(directory / "run.hp.gz") == censuses(LOGS / "leaky-hT-ghc9103" / "run.hp")
    cut = directory / "cut.hp"
    whole = rows_of(text.decode())
    for at in range(3000, len(text), 4999):
        cut.write_bytes(text[:at])
        found = censuses(cut)
        assert found == whole[:len(found)] and len(found) >= text[:at].count(b"END_SAMPLE") - 2
        state = [u["targetState"] for u in piped(cut) if "targetState" in u][-1]
        assert state["state"] == "STATE_LOST"            # without an end it is not known to have ended


def test_damaged_lines_are_said_with_their_number(directory):
    lines = (LOGS / "leaky-hT-ghc9103" / "run.hp").read_text().splitlines()
    lines[11] = "no number here"
    lines[20] = "ARR_WORDS\t12three"
    bad = written(directory / "bad.hp", "\n".join(lines) + "\n")
    done = client("summary", bad)
    assert done.returncode == 0
    assert re.search(r"2 lines of its text could not be read, the first is line 12: expected LABEL, a tab and a number",
                     done.stderr.decode())


PROFILE = ROOT / "tests" / "data" / "prof" / "costcentre-ghc902.prof"


class Profile:
    """What a profile as JSON says: ticks by stack, outermost first; entries and bytes by cost centre."""

    def __init__(self, path):
        self.json = json.loads(path.read_text())
        self.name = {c["id"]: f"{c['module']}.{c['label']}" for c in self.json["cost_centres"]}
        self.ticks, self.entries, self.bytes = collections.Counter(), collections.Counter(), collections.Counter()
        self.walk(self.json["profile"], ())

    def walk(self, node, above):
        stack = (*above, self.name[node["id"]])
        self.ticks[";".join(stack)] += node["ticks"]
        self.entries[stack[-1]] += node["entries"]
        self.bytes[stack[-1]] += node["alloc"]
        for child in node["children"]:
            self.walk(child, stack)


def collapsed(path):
    return {stack: int(n) for stack, n in (line.rsplit(" ", 1) for line in printed("convert", path, "--to", "collapsed").splitlines())}


@pytest.mark.parametrize("form", ["as written", "on one line", "compressed"])
def test_a_profile_as_json(form, directory):
    said, path = Profile(PROFILE), PROFILE
    if form == "on one line":
        path = written(directory / "x.prof", json.dumps(said.json, separators=(",", ":")))
    elif form == "compressed":
        path = written(directory / "x.prof.gz", gzip.compress(PROFILE.read_bytes()))
    assert collapsed(path) == +said.ticks
    assert sum(said.ticks.values()) == said.json["total_ticks"]
    facts = [json.loads(line) for line in client("convert", path, "--to", "json").stdout.splitlines()]
    counters = [f for f in facts if f["kind"] == "counter"]
    assert {c["name"]: (c["entries"], c["allocs"]) for c in counters} == \
        {name: (said.entries[name], said.bytes[name]) for name in said.bytes if said.entries[name] or said.bytes[name]}
    assert not any("allocd" in c for c in counters)         # it is not in a profile
    summary = json.loads(client("summary", path, "--format", "json").stdout)
    assert summary["program"] == "cc" and int(summary["memory"]["allocatedBytes"]) == said.json["total_alloc"]
    assert client("report", "-o", directory / "r.html", path).returncode == 0
    state = [u["targetState"] for u in piped(path) if "targetState" in u][-1]
    assert state["state"] == "STATE_ENDED" and state["runInfo"]["tickIntervalNs"] == "1000000"


def test_two_profiles_are_compared(directory):
    said, more = Profile(PROFILE), json.loads(PROFILE.read_text())

    def double(node):
        node["alloc"] *= 2
        node["ticks"] *= 3
        for child in node["children"]:
            double(child)

    double(more["profile"])
    more["total_alloc"] *= 2
    (directory / "more.prof").write_text(json.dumps(more))
    both = json.loads(printed("diff", PROFILE, directory / "more.prof", "--format", "json"))
    allocated = next(q for q in both["quantities"] if q["name"] == "allocated")
    assert (allocated["baseline"], allocated["new"]) == (said.json["total_alloc"], 2 * said.json["total_alloc"])
    rows = {r["name"]: (r["baseline"], r["new"]) for r in both["rows"] if r["kind"] == "ticky"}
    assert rows == {name: (n, 2 * n) for name, n in said.bytes.items() if n or said.entries[name]}
    ticks = [r for r in both["rows"] if r["kind"] not in ("ticky", "band")]
    assert len(ticks) > 5 and all(r["new"] == 3 * r["baseline"] for r in ticks)


def test_a_profile_that_is_cut_off(directory):
    text, whole = PROFILE.read_bytes(), Profile(PROFILE).ticks
    cut = directory / "cut.prof"
    seen = set()
    for at in range(40, len(text) - 4, 2999):
        cut.write_bytes(text[:at])
        done = client("summary", cut)
        assert done.returncode == 0 and b"cut off" in done.stderr, (at, done.stderr)
        found = client("convert", cut, "--to", "collapsed")
        ticks = {s: int(n) for s, n in (line.rsplit(" ", 1) for line in found.stdout.decode().splitlines())}
        assert all(whole[stack] == n for stack, n in ticks.items())
        seen.add(len(ticks))
    assert max(seen) > 1


@pytest.mark.parametrize("argument", [
    '{"a":"b","c":[1,"x"]}', '["x"],["y"]', '"', '""', '"]', '"],', '{"profile": {"id": "x"}}', '"cost_centres": ['])
def test_arguments_that_ghc_does_not_escape(argument, directory):
    """Its quotation marks stay as they are: of the arguments nothing is known, and all else is."""
    arguments = '"arguments": ["./' + json.loads(PROFILE.read_text())["arguments"][0].removeprefix("./")
    odd = written(directory / "odd.prof", PROFILE.read_text().replace(arguments, arguments + f'", "{argument}', 1))
    done = client("summary", odd)
    assert done.returncode == 0 and b"expected arguments as JSON" in done.stderr, done.stderr
    assert client("convert", odd, "--to", "collapsed").stdout == client("convert", PROFILE, "--to", "collapsed").stdout != b""


@pytest.mark.parametrize("what, expected", [
    ('"profile": {"id": 1, "entries": 1, "alloc": 1, "ticks": %d, "children": []}}' % 10 ** 12, b"20,000,000 ticks"),
    ('"profile": ' + '{"id": 1, "ticks": 0, "children": [' * 3000 + "]}" * 3000 + "}", b"1024"),
    ('"profile": {"id": -1, "ticks": 1, "children": []}}', b"whole number"),
    ('"profile": {"id": 1, "ticks": 1, "children": [}}', b"-pj"), ('"x": [[[{"profile": {}}', b"cut off")])
def test_a_profile_that_is_hostile(what, expected, directory):
    bad = written(directory / "bad.prof", '{"program": "p", "tick_interval": 1, "total_ticks": 1, ' + what)
    done = client("summary", bad, timeout=120)
    assert done.returncode == 0 and expected in done.stderr, done.stderr


def test_what_is_no_text_of_the_runtime(directory):
    bad = written(directory / "x.txt", "JOBS\nnothing\n")
    done = client("summary", bad)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1


def test_hp2ps_reads_what_came_from_a_heap_profile(directory):
    printed("convert", LOGS / "cc-hy-ghc9103" / "run.hp", "--to", "hp", "-o", directory / "x.hp")
    assert subprocess.run(["hp2ps", "x.hp"], cwd=directory).returncode == 0
