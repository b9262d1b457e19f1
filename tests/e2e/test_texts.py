# SPDX-License-Identifier: BSD-3-Clause
"""The runtime's own texts wherever a log is taken: heap profiles (.hp) and the lines of +RTS -S, whole, compressed, cut
off and damaged."""
import gzip
import json
import re
import subprocess

import pytest

from harness import LOGS, client, piped

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
        assert state["state"] == "STATE_CRASHED"            # without an end it is not known to have ended


def test_damaged_lines_are_said_with_their_number(directory):
    lines = (LOGS / "leaky-hT-ghc9103" / "run.hp").read_text().splitlines()
    lines[11] = "no number here"
    lines[20] = "ARR_WORDS\t12three"
    bad = directory / "bad.hp"
    bad.write_text("\n".join(lines) + "\n")
    done = client("summary", bad)
    assert done.returncode == 0
    assert re.search(r"2 lines of its text could not be read, the first is line 12: expected LABEL, a tab and a number",
                     done.stderr.decode())


S_ROW = re.compile(r"^ *(\d+) +(\d+) +(\d+) +\S+ +([\d.]+) +\S+ +([\d.]+) +\d+ +\d+ +\(Gen: +(\d+)\)", re.M)


@pytest.mark.parametrize("run", ["parallel-ghc902", "cc-hc-ghc9103", "leaky-hc-ghc902", "steady-hT-thr-ghc9103"])
def test_the_lines_of_S(run):
    path = LOGS / run / "gc.S"
    rows = [(int(m[0]), int(m[1]), int(m[2]), float(m[3]), float(m[4]), int(m[5])) for m in S_ROW.findall(path.read_text())]
    found = [c for u in piped(path) for c in u.get("gc", {}).get("collections", [])]
    assert [(c["generation"], int(c["copiedBytes"])) for c in found] == [(r[5], r[1]) for r in rows]
    assert all("slopBytes" not in c and "fragmentationBytes" not in c for c in found)       # -S does not have them
    live = [line.split("\t") for line in client("convert", path, "--to", "resid").stdout.decode().splitlines()[1:]]
    assert [(float(t), int(n)) for t, n, _ in live] == [(r[4], r[2]) for r in rows if r[5] >= 1]
    assert {heap for _, _, heap in live} == {"NaN"}
    summary = json.loads(client("summary", path, "--format", "json").stdout)
    said = int(re.search(r"([\d,]+) bytes allocated in the heap", path.read_text())[1].replace(",", ""))
    assert int(summary["memory"]["allocatedBytes"]) == said
    assert "slopBytes" not in json.dumps(summary)


def test_what_is_no_text_of_the_runtime(directory):
    bad = directory / "x.txt"
    bad.write_text("JOBS\nnothing\n")
    done = client("summary", bad)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1


def test_hp2ps_reads_what_came_from_a_heap_profile(directory):
    done = client("convert", LOGS / "cc-hy-ghc9103" / "run.hp", "--to", "hp", "-o", directory / "x.hp")
    assert done.returncode == 0
    assert subprocess.run(["hp2ps", "x.hp"], cwd=directory).returncode == 0
