# SPDX-License-Identifier: BSD-3-Clause
"""Questions of somebody who has seen `heapwatch query --schema` alone, each beside an answer computed from events and messages of the same log."""
import collections
import functools
import itertools
import json
import math
import subprocess

import pytest

from harness import BUILD, LOGS, ROOT, piped
from test_query import LEAKY, ask

RELEASES = ROOT / "tests" / "data" / "releases"
PARALLEL = LOGS / "parallel-ghc9103" / "run.eventlog"


@functools.cache
def decoded(log):
    lines = subprocess.run([BUILD / "heapwatch", "events", log, "--format", "json"], capture_output=True, text=True, check=True).stdout.splitlines()
    return list(map(json.loads, lines))


@pytest.fixture(scope="module")
def known():
    updates = piped(LEAKY)
    of = lambda kind: [u[kind] for u in updates if kind in u]
    known = collections.namedtuple("known", "events names censuses collections allocated markers")
    events = decoded(LEAKY)
    return known(
        events,
        {int(b["id"]): b["label"] for m in of("bands") for b in m["bands"]},
        [(int(c["timeNs"]), dict(zip(map(int, c["band"]), map(int, c["bytes"])))) for c in of("census")],
        [c for m in of("gc") for c in m.get("collections", [])],
        [(int(t), int(v)) for h in of("heap") for s in h.get("samples", []) if s["series"].lower().endswith("allocated")
         for t, v in zip(s["timesNs"], s["values"])],
        sorted(e["timeNs"] for e in events if e["name"] == "USER_MARKER"))


def test_bands_between_two_markers(known):
    begin, end = known.markers[1:3]
    first = {}
    for time, bands in known.censuses:
        for band in bands:
            first.setdefault(band, time)
    rows = ask(f"SELECT label FROM band_names WHERE first_seen >= {begin / 1e9} AND first_seen < {end / 1e9}", LEAKY)
    assert sorted(r["label"] for r in rows) == sorted(known.names[b] for b, t in first.items() if begin <= t < end)

    def grew(band, low, high):
        seen = [bands[band] for time, bands in known.censuses if low <= time < high and band in bands]
        return bool(seen) and seen[-1] > seen[0]

    rows = ask(f"""WITH w AS (SELECT band, time < {begin / 1e9} AS early, time, bytes FROM bands WHERE time < {end / 1e9}),
                   e AS (SELECT DISTINCT band, early, first_value(bytes) OVER (PARTITION BY band, early ORDER BY time) AS first,
                                first_value(bytes) OVER (PARTITION BY band, early ORDER BY time DESC) AS last FROM w)
                   SELECT n.band FROM e n LEFT JOIN e o ON o.band = n.band AND o.early
                   WHERE NOT n.early AND n.last > n.first AND NOT ifnull(o.last > o.first, 0) ORDER BY 1""", LEAKY)
    assert [r["band"] for r in rows] == sorted(b for b in known.names if grew(b, begin, end) and not grew(b, 0, begin))


def test_bands_at_the_peak_and_at_the_end(known):
    _, peak = max(known.censuses, key=lambda c: sum(c[1].values()))
    of_peak = "census = (SELECT census FROM censuses ORDER BY bytes DESC LIMIT 1)"
    row, = ask(f"SELECT b.band, 1.0 * max(b.bytes) / c.bytes AS share FROM bands b JOIN censuses c USING (census) WHERE {of_peak}", LEAKY)
    assert row["band"] == max(peak, key=peak.get) and row["share"] == pytest.approx(max(peak.values()) / sum(peak.values()))
    gone = set().union(*(c for _, c in known.censuses)) - set(known.censuses[-1][1])
    rows = ask("SELECT band FROM bands EXCEPT SELECT band FROM bands WHERE census = (SELECT max(census) FROM censuses)", LEAKY)
    assert {r["band"] for r in rows} == gone


def test_collections(known):
    assert ask("SELECT sum(major) AS n FROM collections", LEAKY)[0]["n"] == sum(bool(c.get("major")) for c in known.collections)
    copied = collections.Counter()
    for c in known.collections:
        copied[c.get("generation", 0)] += int(c.get("copiedBytes", 0))
    assert {r["generation"]: r["n"] for r in ask("SELECT generation, sum(copied) AS n FROM collections GROUP BY 1", LEAKY)} == copied
    ends = sorted(int(c["endTimeNs"]) for c in known.collections)
    row, = ask("SELECT max(d) AS d FROM (SELECT time - lag(time) OVER (ORDER BY time) AS d FROM collections)", LEAKY)
    assert row["d"] == pytest.approx(max(b - a for a, b in zip(ends, ends[1:])) / 1e9, abs=1e-8)


def test_what_was_allocated_in_the_second_before_the_longest_pauses(known):
    rows = ask("""WITH a AS MATERIALIZED (SELECT time, value FROM series WHERE series = 'allocated'),
                  p AS MATERIALIZED (SELECT time FROM collections ORDER BY pause DESC LIMIT 3)
                  SELECT max(a.value) - min(a.value) AS n FROM p JOIN a ON a.time BETWEEN p.time - 1 AND p.time GROUP BY p.time""", LEAKY)
    expected = []
    for end in sorted(int(c["endTimeNs"]) for c in sorted(known.collections, key=lambda c: -int(c.get("pauseNs", 0)))[:3]):
        values = [v for t, v in known.allocated if end / 1e9 - 1 <= t / 1e9 <= end / 1e9]
        expected.append(max(values) - min(values))
    assert [r["n"] for r in rows] == expected


def test_threads_and_events(known):
    bytes_of = collections.Counter()
    for e in known.events:
        bytes_of[e["name"]] += e["sizeBytes"]
    assert {r["name"]: r["n"] for r in ask("SELECT name, sum(size) AS n FROM events GROUP BY 1", LEAKY)} == bytes_of
    for log, events in ((LEAKY, known.events), (PARALLEL, decoded(PARALLEL))):
        runs = collections.Counter(e["fields"]["thread"] for e in events if e["name"] == "RUN_THREAD")
        labels = {e["fields"]["thread"]: e["fields"]["text"] for e in events if e["name"] == "THREAD_LABEL"}
        created = {e["fields"]["thread"] for e in events if e["name"] == "CREATE_THREAD"}
        rows = ask("SELECT thread, label, runs, created FROM threads", log)
        assert {r["thread"]: r["runs"] for r in rows if r["runs"]} == runs
        assert {r["thread"]: r["label"] for r in rows if r["label"] is not None} == labels
        assert {r["thread"] for r in rows if r["created"] is not None} == created


def of(run):
    return LOGS / run / "run.eventlog"


def test_time_profile_is_that_of_the_runtime():
    """Shares as GHC's own .prof has them, to within the one tick by which the two may differ."""
    log, shares = of("cc-p-ghc9103"), {}
    for line in (LOGS / "cc-p-ghc9103" / "run.prof").read_text().splitlines()[8:]:
        words = line.split()
        if len(words) > 8 and words[1] in ("Main", "MAIN"):
            shares[words[0]] = float(words[-4])
    rows = ask("""SELECT label, 100.0 * ticks / (SELECT sum(ticks) FROM cost_centres WHERE label NOT IN ('IDLE', 'GC', 'SYSTEM')) AS share
                  FROM cost_centres WHERE module IN ('Main', 'MAIN') AND ticks > 0""", log)
    assert {r["label"]: r["share"] for r in rows} == {r["label"]: pytest.approx(shares[r["label"]], abs=0.3) for r in rows}
    assert {"MAIN", "churn_only"} <= {r["label"] for r in rows}
    assert ask("SELECT (SELECT sum(ticks) FROM cost_centres) - (SELECT sum(ticks) FROM stacks) AS n", log) == [{"n": 0}]
    held = "SELECT (SELECT sum(bytes) FROM cost_centres) - bytes AS n FROM censuses ORDER BY census DESC LIMIT 1"
    assert ask(held, of("cc-hc-ghc902")) == [{"n": 0}]


def test_which_labels_own_the_most_time():
    events, since, total, labels = decoded(PARALLEL), {}, collections.Counter(), {}
    for e in sorted(events, key=lambda e: e["timeNs"]):
        if e["name"] == "THREAD_LABEL":
            labels[e["fields"]["thread"]] = e["fields"]["text"]
        elif e["name"] == "RUN_THREAD":
            since[e["capability"]] = e["fields"]["thread"], e["timeNs"]
        elif e["name"] == "STOP_THREAD" and e["capability"] in since:
            thread, begin = since.pop(e["capability"])
            total[thread] += e["timeNs"] - begin
    (row, *_) = ask("SELECT thread, label, running FROM threads ORDER BY running DESC LIMIT 1", PARALLEL)
    thread, ns = total.most_common(1)[0]
    assert row == {"thread": thread, "label": labels.get(thread), "running": pytest.approx(ns / 1e9)}


def test_who_waited_longest_to_be_run():
    created, first = {}, {}
    for e in sorted(decoded(PARALLEL), key=lambda e: e["timeNs"]):
        if e["name"] == "CREATE_THREAD":
            created[e["fields"]["thread"]] = e["timeNs"]
        elif e["name"] == "RUN_THREAD":
            first.setdefault(e["fields"]["thread"], e["timeNs"])
    wait, thread = max((first[t] - created[t], t) for t in created if t in first)
    rows = ask("SELECT thread, first_run - created AS wait FROM threads WHERE created IS NOT NULL ORDER BY 2 DESC LIMIT 1", PARALLEL)
    assert rows == [{"thread": thread, "wait": pytest.approx(wait / 1e9, abs=1e-8)}]


def test_counters_and_sparks():
    allocated, names, fizzled = collections.Counter(), {}, {}
    for e in decoded(of("ticky-ghc9103")):
        if e["name"] == "TICKY_COUNTER_SAMPLE":
            allocated[e["fields"]["counter"]] += e["fields"]["allocs"]
        elif e["name"] == "TICKY_COUNTER_DEF":
            names[e["fields"]["counter"]] = e["fields"]["name"]
    most = sorted(allocated.items(), key=lambda x: (-x[1], x[0]))[:3]
    rows = ask("SELECT name, allocated_by AS n FROM ticky ORDER BY 2 DESC, counter LIMIT 3", of("ticky-ghc9103"))
    assert [(r["name"], r["n"]) for r in rows] == [(names[c], n) for c, n in most]
    for e in sorted(decoded(PARALLEL), key=lambda e: e["timeNs"]):
        if e["name"] == "SPARK_COUNTERS":
            fizzled[e["capability"]] = e["fields"]["fizzled"]
    assert ask("SELECT value FROM facts WHERE fact = 'sparks_fizzled'", PARALLEL) == [{"value": sum(fizzled.values())}]


def test_collections_and_silence_by_events():
    log = of("steady-gc-ghc9103")
    begin, pauses = None, []
    for e in sorted(decoded(log), key=lambda e: e["timeNs"]):
        if e["name"] == "GC_START":
            begin = e["timeNs"]
        elif e["name"] == "GC_END" and begin is not None:
            pauses.append(e["timeNs"] - begin)
            begin = None
    row, = ask("SELECT count(*) AS n, sum(pause) AS s, count(*) FILTER (WHERE pause > 0.0002) AS long FROM collections", log)
    assert row == {"n": len(pauses), "s": pytest.approx(sum(pauses) / 1e9), "long": sum(p > 200000 for p in pauses)}
    times = sorted(e["timeNs"] for e in decoded(log))
    row, = ask("SELECT max(d) AS d FROM (SELECT time - lag(time) OVER (ORDER BY time) AS d FROM events)", log)
    assert row["d"] == pytest.approx(max(b - a for a, b in zip(times, times[1:])) / 1e9, abs=1e-8)


def test_fields_of_events_as_rows(known):
    rows = ask("SELECT key, sum(value) AS n FROM events, json_each(fields) WHERE name = 'GC_STATS_GHC' GROUP BY key", LEAKY)
    total = collections.Counter()
    for e in known.events:
        total.update(e["fields"] if e["name"] == "GC_STATS_GHC" else {})
    assert {r["key"]: r["n"] for r in rows} == total


def test_schema_says_what_diff_has():
    said = subprocess.run([BUILD / "heapwatch", "query", "--schema"], capture_output=True, text=True, check=True).stdout
    assert "name, old, new" in next(line for line in said.splitlines() if line.startswith("diff ")) and '"old".bands' in said


def test_what_holds_a_type_in_a_heap_graph():
    """By `heapwatch heap` and `heapwatch why` of the same file."""
    graph = RELEASES / "0.9.0" / "api.heapgraph"
    said = lambda *words: json.loads(subprocess.run([BUILD / "heapwatch", *words, "--format", "json"], capture_output=True, check=True).stdout)
    bands = {b["name"]: b for b in said("heap", graph, "--top", "10000")["bands"]}
    rows = ask("SELECT name, label, bytes, closures, retained, unreached FROM heap", graph)
    assert {r["label"]: (r["bytes"], r["closures"], r["retained"], r["unreached"]) for r in rows} == {
        n: (b["bytes"], b["closures"], b["retained_bytes"], b["unreached_bytes"]) for n, b in bands.items()}
    name = "main:Main.Session"
    (way,) = said("why", graph, name)["paths"]
    (row,) = ask(f"SELECT * FROM retainers WHERE name = '{name}'", graph)
    assert row["path"] == ";".join(p["type"] for p in way["path"]) and row["root"] == "CAF Main.sessions"
    assert (row["bytes"], row["closures"]) == (way["bytes"], way["closures"])
    assert ask("SELECT source, round(100.0 * retained / (SELECT sum(bytes) FROM heap)) AS share FROM heap WHERE name = "
               f"'{name}'", graph) == [{"source": "api", "share": round(100 * bands[name]["retained_bytes"] / sum(b["bytes"] for b in bands.values()))}]
    assert "WHERE name" in ask("SELECT * FROM retainers", graph, status=2)
    assert "no heap graph" in ask("SELECT * FROM heap", LEAKY, status=2)
    # names are those of bands, so that tables of a log and of a graph join; a name that the graph does not have has no rows
    bins = {r["label"]: r["name"] for r in rows}
    assert (bins["containers-0.6.4.1:Data.Map.Internal.Bin"], bins["ARR_WORDS (ByteArray#)"]) == ("containers:Data.Map.Internal.Bin", "ARR_WORDS")
    joined = ask("SELECT DISTINCT b.name, h.bytes, r.root FROM bands b JOIN heap h USING (name) JOIN retainers r USING (name) WHERE r.bytes > 10000"
                 " ORDER BY h.bytes DESC", LEAKY, graph)
    assert joined[-1] == {"name": "ghc-prim:GHC.Types.:", "bytes": 13032, "root": "thread in Main.$wholdOrders"} and len(joined) > 5
    assert ask("SELECT root FROM retainers WHERE name IN (SELECT name FROM heap WHERE name LIKE '%Session' UNION SELECT 'nosuch')", graph) == [
        {"root": "CAF Main.sessions"}]
    assert ask("SELECT count(DISTINCT name) AS n FROM retainers WHERE name = 'MVAR' AND bytes < 1000 OR name = 'main:Main.Session' AND bytes > 1", graph) == [{"n": 2}]


def times(log, name):
    return [e["timeNs"] / 1e9 for e in decoded(log) if e["name"] == name]


def fields(log, name, *of):
    return [tuple(e["fields"][f] for f in of) for e in sorted(decoded(log), key=lambda e: e["timeNs"]) if e["name"] == name]


STEADY, PAUSES = of("steady-hT-thr-ghc9103"), of("steady-gc-ghc9103")


@pytest.mark.parametrize("sql, log, expected", [
    ("SELECT sum(copied) OVER (ORDER BY time ROWS UNBOUNDED PRECEDING) FROM collections ORDER BY time DESC LIMIT 1", LEAKY,
     lambda: [(sum(c for c, in fields(LEAKY, "GC_STATS_GHC", "copied_bytes")),)]),
    ("""WITH RECURSIVE s(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM s WHERE k < 30), c AS (SELECT CAST(time / 0.1 AS INTEGER) AS k, count(*) AS n FROM collections
        GROUP BY 1) SELECT k, ifnull(n, 0) FROM s LEFT JOIN c USING (k)""", LEAKY,
     lambda: [(k, sum(int(t / 0.1) == k for t in times(LEAKY, "GC_END"))) for k in range(31)]),
    ("SELECT max(d) FROM (SELECT time - lag(time) OVER (ORDER BY time) AS d FROM notes WHERE what = 'marker')", PARALLEL,
     lambda: [(pytest.approx(max(b - a for a, b in itertools.pairwise(sorted(times(PARALLEL, "USER_MARKER"))))),)]),
    ("SELECT CAST(floor(log2(pause * 1e6)) AS INTEGER) AS b, count(*) FROM collections GROUP BY 1 ORDER BY 1", PAUSES, lambda: sorted(collections.Counter(
        math.floor(math.log2((b - a) * 1e6)) for a, b in zip(times(PAUSES, "GC_START"), times(PAUSES, "GC_END"))).items())),
    ("SELECT capability, count(*) FROM events WHERE name = 'RUN_THREAD' GROUP BY 1 ORDER BY 1", STEADY,
     lambda: sorted(collections.Counter(e["capability"] for e in decoded(STEADY) if e["name"] == "RUN_THREAD").items())),
    ("SELECT stops FROM thread_states WHERE reason = 'blocked on MVar'", STEADY, lambda: [(sum(s == 7 for s, in fields(STEADY, "STOP_THREAD", "status")),)]),
    ("SELECT count(*) FROM threads WHERE created <= 1 AND (finished IS NULL OR finished > 1)", STEADY,
     lambda: [(len({e["fields"]["thread"] for e in decoded(STEADY) if e["name"] == "CREATE_THREAD" and e["timeNs"] <= 10**9} -
                   {e["fields"]["thread"] for e in decoded(STEADY) if e["name"] == "STOP_THREAD" and e["fields"]["status"] == 5 and e["timeNs"] <= 10**9}),)]),
    ("SELECT max(slop), max(fragmentation) FROM collections", LEAKY,
     lambda: [tuple(map(max, zip(*fields(LEAKY, "GC_STATS_GHC", "slop_bytes", "fragmentation_bytes"))))]),
    ("SELECT DISTINCT first_value(value) OVER w, last_value(value) OVER w FROM series WHERE series = 'heap_size' WINDOW w AS (ORDER BY time ROWS BETWEEN "
     "UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)", LEAKY, lambda: [tuple(fields(LEAKY, "HEAP_SIZE", "heap_bytes")[i][0] for i in (0, -1))]),
], ids=range(9))
def test_questions_of_one_line(sql, log, expected):
    assert [tuple(row.values()) for row in ask(sql, log)] == expected()
