# SPDX-License-Identifier: BSD-3-Clause
"""Every shipped log, read as finished, against the runtime system's own figures."""
import collections
import gzip
import json

import pytest

from harness import LOGS, piped

RUNS = sorted(p.parent.name for p in LOGS.glob("*/run.eventlog"))
CONNECTIONS = sorted(f"{p.parent.name}/{p.name}" for p in LOGS.glob("*/conn*.eventlog"))


class Seen:
    """Everything in one log's messages."""

    def __init__(self, path):
        self.bands, self.censuses, self.notes, self.collections = {}, [], [], []
        self.last = {}
        for u in piped(path):
            kind = next((k for k in ("census", "bands", "notes", "heap", "gc", "targetState", "health", "profile",
                                     "ticky", "sched") if k in u), None)
            self.last[kind] = u.get(kind)
            if kind == "bands":
                self.bands.update({b["id"]: b for b in u["bands"]["bands"]})
            elif kind == "census":
                self.censuses.append(u["census"])
            elif kind == "notes":
                self.notes += u["notes"]["notes"]
            elif kind == "gc":
                self.collections += u["gc"].get("collections", [])


def seen(path, cache={}):
    if path not in cache:
        cache[path] = Seen(path)
    return cache[path]


def hp_samples(path):
    """[[(label, bytes)]] of the non-empty samples of a .hp file."""
    samples, rows = [], None
    for line in open(path, encoding="utf-8", errors="replace"):
        if line.startswith("BEGIN_SAMPLE"):
            rows = []
        elif line.startswith("END_SAMPLE"):
            if rows:
                samples.append(rows)
            rows = None
        elif rows is not None and "\t" in line:
            label, value = line.rstrip("\n").rsplit("\t", 1)
            rows.append((label, int(value)))
    return samples


def rows_of(census, bands, by_key):
    """[(label or key, bytes)] of one census."""
    pairs = zip(census.get("band", []), census.get("bytes", []))
    return [(int(bands[i]["key"]) if by_key else bands[i]["label"], int(n)) for i, n in pairs]


def added(rows):
    """Bytes by label: one label may have several rows."""
    total = collections.Counter()
    for label, n in rows:
        total[label] += n
    return total


@pytest.mark.parametrize("run", RUNS)
def test_event_counts(run):
    facts = json.loads((LOGS / run / "run.json").read_text())
    if "event_count" not in facts or run.startswith("torn"):
        pytest.skip("the runtime damaged this log: no count to hold it to")
    health = seen(LOGS / run / "run.eventlog").last["health"]
    assert int(health["events"]) == facts["event_count"]
    assert int(health.get("lostBytes", 0)) == 0


@pytest.mark.parametrize("run", [r for r in RUNS if (LOGS / r / "run.hp").exists()])
def test_censuses_equal_hp(run):
    s = seen(LOGS / run / "run.eventlog")
    expected = hp_samples(LOGS / run / "run.hp")
    found = [c for c in s.censuses if c.get("band")]
    if not json.loads((LOGS / run / "run.json").read_text()).get("end", "") == "DATA_END":
        expected = expected[:len(found)]        # killed: the log may lack the last samples
    assert len(found) == len(expected) > 0
    mode = s.last["targetState"]["runInfo"]["breakdown"]
    by_key = mode == "BREAKDOWN_INFO_TABLE"
    for census, theirs in zip(found, expected):
        if mode == "BREAKDOWN_RETAINER":        # MANY is never written to the log
            theirs = [r for r in theirs if r[0] != "MANY"]
        if by_key:
            theirs = [(int(label, 16), n) for label, n in theirs]
        ours = rows_of(census, s.bands, by_key)
        assert int(census["totalBytes"]) == sum(n for _, n in theirs)
        if mode == "BREAKDOWN_COST_CENTRE_STACK":
            # The .hp file cuts labels, names CAFs otherwise, and has a row for each of the RTS's stacks; in the log
            # some of these have the same cost centres, and are one band.
            assert sum(n for _, n in ours) == sum(n for _, n in theirs)
            assert len(ours) <= len(theirs)
        else:
            assert added(ours) == added(theirs)


def gc_s_lines(run):
    for name, opener in (("gc.S", open), ("gc.S.gz", gzip.open)):
        if (LOGS / run / name).exists():
            return opener(LOGS / run / name, "rt").read().splitlines()
    return []


@pytest.mark.parametrize("run", [r for r in RUNS if (LOGS / r / "oracle.json").exists()])
def test_collections_equal_gc_s(run):
    oracle = json.loads((LOGS / run / "oracle.json").read_text())
    if not oracle.get("log_gc_stats_events"):
        pytest.skip("GC events were switched off")
    s = seen(LOGS / run / "run.eventlog")
    assert len(s.collections) == oracle["log_gc_stats_events"] == oracle["S_colls"]
    assert int(s.last["heap"]["allocatedBytes"]) == oracle["S_allocated"]
    if oracle.get("S_max_residency"):
        assert int(s.last["heap"]["maxLiveBytes"]) == oracle["S_max_residency"]
        assert int(s.last["heap"]["liveSamples"]) == oracle["log_live_events"]
    copied = sum(int(c.get("copiedBytes", 0)) for c in s.collections)
    assert int(s.last["gc"]["copiedBytes"]) == copied
    # gc.S: the second column of each collection's line, in order of time.
    lines = [line.split() for line in gc_s_lines(run)]
    theirs = [int(w[1]) for w in lines if len(w) >= 12 and w[0].isdigit() and w[1].isdigit()]
    if len(theirs) == oracle["S_colls"]:
        ours = sorted(s.collections, key=lambda c: int(c["endTimeNs"]))
        assert [int(c.get("copiedBytes", 0)) for c in ours] == theirs


@pytest.mark.parametrize("log", CONNECTIONS)
def test_a_connection_that_ends_is_an_unfinished_run(log):
    s = seen(LOGS / log)
    assert s.last["targetState"]["state"] in ("STATE_LOST", "STATE_ENDED")
    if "noflush" not in log:            # that one never flushed its identity
        assert s.last["targetState"]["runInfo"]["ghcVersion"] in ("9.6.6", "9.10.3")
    assert int(s.last["health"].get("lostBytes", 0)) == 0


@pytest.mark.parametrize("run", [r for r in RUNS if r.startswith("torn")])
def test_torn_logs_lose_little(run):
    health = seen(LOGS / run / "run.eventlog").last["health"]
    assert int(health["resyncs"]) > 0
    assert int(health["lostBytes"]) <= 1024 * int(health["resyncs"])


def test_a_killed_program_keeps_its_data():
    s = seen(LOGS / "crash-kill9-ghc9103" / "run.eventlog")
    assert s.last["targetState"]["state"] == "STATE_LOST"
    assert "without an end marker" in s.last["targetState"]["detail"]
    assert len(s.censuses) > 0 and len(s.collections) > 0


def test_environment_is_never_shown():
    for run in RUNS:
        text = json.dumps(seen(LOGS / run / "run.eventlog").last["targetState"])
        assert "PATH=" not in text and "HOME=" not in text


def test_messages_depend_on_the_log_alone():
    log = LOGS / "leaky-hT-ghc9103" / "run.eventlog"
    first, second = ([u for u in piped(log) if "daemon" not in u] for _ in range(2))
    assert first == second and len(first) > 50
