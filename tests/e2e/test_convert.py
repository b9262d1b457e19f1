# SPDX-License-Identifier: BSD-3-Clause
"""`heapwatch convert`, each format read back: by a decoder over the published numbers, by rules of the format's schema,
and against what `pipe` says of the same log."""
import collections
import concurrent.futures
import contextlib
import csv
import gzip
import io
import json
import re
import shutil
import sqlite3
import subprocess
import sys
from datetime import datetime

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.samples import Timestamp

from harness import BUILD, LOGS, LONG, ROOT, client, piped

HEAP = ["leaky-hT-ghc9103", "cc-hc-ghc9103", "leaky-hi-ghc966", "cc-hb-ghc902", "cc-he-ghc9103", "crash-kill9-ghc9103"]
TIME = ["cc-p-ghc902", "cc-p-ghc966", "cc-p-ghc9103"]
BARE = "parallel-full-ghc9103"
DAMAGED = "torn-9103-10"


def log_of(run):
    return LOGS / run / "run.eventlog"


def converted(run, to, *args):
    done = client("convert", log_of(run), "--to", to, *args)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


class Truth:
    """What `pipe` says: censuses by time, names of bands, samples, collections, notes, ticks of stacks."""

    def __init__(self, run):
        self.bands, self.censuses, self.samples, self.collections, self.notes = {}, [], collections.defaultdict(list), [], []
        self.stacks, self.run = {}, {}
        for u in piped(log_of(run)):
            for b in u.get("bands", {}).get("bands", []):
                self.bands[b["id"]] = b
            if "census" in u and not u["census"].get("unfinished"):
                c = u["census"]
                self.censuses.append((int(c["timeNs"]), dict(zip(c.get("band", []), map(int, c.get("bytes", []))))))
            for s in u.get("heap", {}).get("samples", []):
                self.samples[s["series"]] += zip(map(int, s["timesNs"]), map(int, s["values"]))
            self.collections += u.get("gc", {}).get("collections", [])
            self.notes += u.get("notes", {}).get("notes", [])
            for s in u.get("profile", {}).get("stacks", []):
                self.stacks[s["id"]] = s
            self.run = u.get("targetState", {}).get("runInfo", self.run)

    def peak(self):
        return max(self.censuses, key=lambda c: sum(c[1].values()))

    def names(self, band):
        """Names of a band's frames, outermost first."""
        b = self.bands[band]
        return centres(b.get("stack")) if b.get("stack") else [b["label"]]

    def by_name(self, census):
        total = collections.Counter()
        for band, n in census.items():
            total[tuple(self.names(band))] += n
        return +total

    def ticks(self):
        total = collections.Counter()
        for s in self.stacks.values():
            total[tuple(centres(s.get("centres")))] += int(s["ticks"])
        return total


def centres(stack):
    names = [f"{c['module']}.{c['label']}" if c.get("module") else c.get("label", f"cc#{c['id']}") for c in stack or []]
    return names[::-1] or ["MAIN"]


# ---------------------------------------------------------------- protobuf, by numbers

def fields(data):
    """(number, value) of a message: ints and bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    found = collections.defaultdict(list)
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            found[key >> 3].append(varint())
        else:
            assert key & 7 == 2, f"wire type {key & 7}"
            n = varint()
            assert at + n <= len(data)
            found[key >> 3].append(data[at:at + n])
            at += n
    return found


def packed(blobs):
    values = []
    for blob in blobs:
        shift = value = 0
        for byte in blob:
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                values.append(value)
                value = shift = 0
    return values


# ---------------------------------------------------------------- pprof

class Pprof:
    """profile.proto by its published numbers."""

    def __init__(self, data):
        p = fields(gzip.decompress(data))
        self.texts = [t.decode() for t in p[6]]
        assert self.texts[0] == "" and len(set(self.texts)) == len(self.texts)
        functions = {}
        for f in map(fields, p[5]):
            assert f[1][0] not in functions and f[1][0] > 0
            functions[f[1][0]] = (self.texts[f[2][0]], self.texts[f[4][0]] if f[4] else "")
        locations = {}
        for place in map(fields, p[4]):
            assert place[1][0] not in locations and place[1][0] > 0
            locations[place[1][0]] = functions[fields(place[4][0])[1][0]]
        self.types = [(self.texts[fields(t)[1][0]], self.texts[fields(t)[2][0]]) for t in p[1]]
        self.samples = []
        for s in map(fields, p[2]):
            values = packed(s[2])
            assert len(values) == len(self.types)
            labels = {self.texts[fields(x)[1][0]]: fields(x)[3][0] for x in s[3]}
            self.samples.append((tuple(locations[i][0] for i in packed(s[1]))[::-1], values, labels))
        self.files = {file for _, file in locations.values()}
        self.time, self.duration, self.period = (p[n][0] if p[n] else None for n in (9, 10, 12))

    def sums(self):
        total = collections.Counter()
        for names, values, _ in self.samples:
            total[names] += values[0]
        return total


def schema_of_pprof():
    out = BUILD / "python"
    subprocess.run(["protoc", f"-I{ROOT / 'tests/unit/inspect'}", f"--python_out={out}", "pprof.proto"], check=True)
    if str(out) not in sys.path:
        sys.path.insert(0, str(out))
    import pprof_pb2
    return pprof_pb2


@pytest.mark.parametrize("run", HEAP)
def test_pprof_of_the_heap_is_the_census_with_most_bytes(run):
    truth, data = Truth(run), converted(run, "pprof")
    time_ns, census = truth.peak()
    p = Pprof(data)
    assert p.types == [("inuse_space", "bytes")] and p.sums() == truth.by_name(census)
    assert p.time == int(truth.run["startWallNs"]) + time_ns
    assert len(schema_of_pprof().Profile.FromString(gzip.decompress(data)).sample) == len(p.samples)


@pytest.mark.parametrize("run", TIME)
def test_pprof_of_time_has_all_ticks(run):
    truth, p = Truth(run), Pprof(converted(run, "pprof"))
    tick_ns = int(truth.run["tickIntervalNs"])
    assert p.types == [("samples", "count"), ("cpu", "nanoseconds")] and p.period == tick_ns
    assert p.sums() == truth.ticks()
    assert all(ns == ticks * tick_ns for _, (ticks, ns), _ in p.samples)
    assert any(file.endswith(".hs") for file in p.files)


def test_pprof_at_a_time_and_of_all_censuses():
    truth = Truth("cc-hc-ghc9103")
    time_ns, census = truth.censuses[5]
    p = Pprof(converted("cc-hc-ghc9103", "pprof", "--at", f"{time_ns / 1e9 + 1e-4:.6f}"))
    assert p.sums() == truth.by_name(census)
    assert p.time == int(truth.run["startWallNs"]) + time_ns
    found = collections.defaultdict(collections.Counter)
    for names, (n,), labels in Pprof(converted("cc-hc-ghc9103", "pprof", "--at", "all")).samples:
        found[labels["time"]][names] += n
    assert found == {t: truth.by_name(c) for t, c in truth.censuses}


# ---------------------------------------------------------------- speedscope, collapsed

def speedscope(run, *args):
    """Checked as its schema says; [(name, unit, start, end, {outermost first: weight})]."""
    s = json.loads(converted(run, "speedscope", *args))
    assert s["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = s["shared"]["frames"]
    assert set(s) == {"$schema", "exporter", "name", "profiles", "shared", "activeProfileIndex"}
    assert 0 <= s["activeProfileIndex"] < len(s["profiles"])
    for f in frames:
        assert isinstance(f["name"], str) and set(f) <= {"name", "file", "line", "col"}
        assert all(isinstance(f.get(k, 1), int) and f.get(k, 1) > 0 for k in ("line", "col"))
    found = []
    for p in s["profiles"]:
        assert set(p) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
        assert p["type"] == "sampled" and p["unit"] in ("nanoseconds", "bytes", "none")
        assert len(p["samples"]) == len(p["weights"]) and p["endValue"] >= p["startValue"]
        assert all(0 <= i < len(frames) for stack in p["samples"] for i in stack)
        assert sum(p["weights"]) == p["endValue"] - p["startValue"]
        total = collections.Counter()
        for stack, weight in zip(p["samples"], p["weights"]):
            total[tuple(frames[i]["name"] for i in stack)] += weight
        found.append((p["name"], p["unit"], p["startValue"], p["endValue"], +total))
    return found


@pytest.mark.parametrize("run", TIME)
def test_speedscope_of_time(run):
    truth, profiles = Truth(run), speedscope(run)
    tick_ns, total = int(truth.run["tickIntervalNs"]), collections.Counter()
    for name, unit, start, end, weights in profiles:
        assert name.startswith("time, capability") and unit == "nanoseconds"
        weights.pop((), None)                   # where nothing was sampled
        total += weights
    assert total == collections.Counter({names: n * tick_ns for names, n in truth.ticks().items()})
    ends = [float(line.split()[0]) for line in client("events", log_of(run), "--kind", "PROF_SAMPLE_COST_CENTRE")
            .stdout.decode().splitlines()]
    assert profiles[0][2] == round(min(ends) * 1e9)
    assert profiles[0][3] == pytest.approx(max(ends) * 1e9, abs=2 * tick_ns)       # at the times of the run


@pytest.mark.parametrize("run", HEAP)
def test_speedscope_and_collapsed_of_the_heap(run):
    truth = Truth(run)
    time_ns, census = truth.peak()
    (name, unit, start, end, weights), = speedscope(run)
    assert unit == "bytes" and f"heap at {time_ns // 10**6 / 1000:.3f}s" == name and weights == truth.by_name(census)
    assert collapsed(run) == fold(truth.by_name(census))
    assert [p[4] for p in speedscope(run, "--at", "all")] == [truth.by_name(c) for _, c in truth.censuses]


def fold(by_name):
    total = collections.Counter()
    for names, n in by_name.items():
        total[";".join(x.replace(";", ",") for x in names)] += n
    return total


def collapsed(run, *args):
    total = collections.Counter()
    for line in converted(run, "collapsed", *args).decode().splitlines():
        stack, n = line.rsplit(" ", 1)          # as flamegraph.pl does
        assert stack not in total, "stacks of the same names are one line"
        total[stack] = int(n)
    return total


@pytest.mark.parametrize("run", TIME)
def test_collapsed_of_time(run):
    assert collapsed(run) == fold(Truth(run).ticks())


# ---------------------------------------------------------------- csv, json, resid

@pytest.mark.parametrize("run", HEAP)
def test_csv_wide_has_every_census(run):
    truth = Truth(run)
    rows = list(csv.reader(io.StringIO(converted(run, "csv-wide").decode())))
    head, rows = rows[0], rows[1:]
    assert head[:7] == ["time_s", "wall_time", "live", "heap_size", "blocks_size", "rss", "census_total"]
    assert len(set(head)) == len(head) and len(rows) == len(truth.censuses)
    assert len(head) == 8 + len({b for _, c in truth.censuses for b in c})
    for row, (time_ns, census) in zip(rows, truth.censuses):
        assert float(row[0]) == pytest.approx(time_ns / 1e9, abs=1e-9)
        assert sorted(int(n) for n in row[7:] if int(n)) == sorted(n for n in census.values() if n)
        assert int(row[6]) == sum(census.values()) == sum(map(int, row[7:]))
        before = [sample for sample in truth.samples["SERIES_LIVE"] if sample[0] <= time_ns]
        assert row[2] == (str(max(before)[1]) if before else "")
    few = list(csv.reader(io.StringIO(converted(run, "csv-wide", "--bands", "2").decode())))
    assert len(few[0]) == 10 and [row[6] for row in few[1:]] == [row[6] for row in rows]
    assert all(int(row[6]) == sum(map(int, row[7:])) for row in few[1:])


def test_csv_is_what_pipe_writes():
    """Which knows only then, in a log of GHC before 9.2 at its end, when the run began; convert looks for that first."""
    for run in ("cc-hc-ghc9103", "parallel-ghc902"):
        streamed, rows = (list(csv.DictReader(io.StringIO(text.decode()))) for text in
                          (client("pipe", "--format", "csv", log_of(run)).stdout, converted(run, "csv")))
        start = int(Truth(run).run["startWallNs"]) / 1e9
        assert {round(datetime.fromisoformat(r["wall_time"]).timestamp() - float(r["time_s"]) - start, 2) for r in rows} == {0}
        assert [{**r, "wall_time": s["wall_time"] and r["wall_time"]} for r, s in zip(rows, streamed, strict=True)] == streamed


@pytest.mark.parametrize("run", ["cc-hc-ghc9103", "cc-p-ghc9103", "steady-gc-ghc902", "ticky-ghc9103", DAMAGED])
def test_json_has_every_fact_once(run):
    truth, found = Truth(run), collections.defaultdict(list)
    for line in converted(run, "json").splitlines():
        fact = json.loads(line)
        found[fact.pop("kind")].append(fact)
    assert [(c["timeNs"], dict(c["bands"])) for c in found["census"] if not c.get("unfinished")] == truth.censuses
    samples = collections.Counter((s["series"], s["timeNs"], s["value"]) for s in found["sample"])
    assert samples == collections.Counter((name.removeprefix("SERIES_").lower(), t, v)
                                          for name, points in truth.samples.items() for t, v in points)
    assert [c["timeNs"] for c in found["collection"]] == [int(c["endTimeNs"]) for c in truth.collections]
    assert [n.get("text") for n in found["note"]] == [n.get("text") for n in truth.notes]
    assert {b["band"]: b["label"] for b in found["band"]} == {i: b["label"] for i, b in truth.bands.items()}
    assert sum(s["ticks"] for s in found["stack"]) == sum(truth.ticks().values())
    assert len(found["run"]) == 1 and found["run"][0]["endNs"] > 0
    assert bool(found["counter"]) == run.startswith("ticky")


@pytest.mark.parametrize("run", ["cc-hc-ghc9103", "steady-gc-ghc902", "leaky-nonmoving-ghc9103"])
def test_resid_is_each_residency_with_the_heap_at_its_time(run):
    truth = Truth(run)
    lines = converted(run, "resid").decode().splitlines()
    assert lines[0].startswith("#")
    rows = [line.split("\t") for line in lines[1:]]
    assert [(round(float(t) * 1e9), int(live)) for t, live, _ in rows] == truth.samples["SERIES_LIVE"]
    sizes = truth.samples["SERIES_HEAP_SIZE"]
    for t, _, heap in rows:
        before = [v for at, v in sizes if at <= round(float(t) * 1e9)]
        assert heap == (str(before[-1]) if before else "NaN")


# ---------------------------------------------------------------- perfetto

class Perfetto:
    """A trace by the published numbers of its messages."""

    def __init__(self, data):
        self.tracks, self.slices, self.counters, self.instants = {}, collections.defaultdict(list), collections.defaultdict(list), []
        self.process = None
        trace = fields(data)
        assert set(trace) == {1}
        opened = collections.defaultdict(list)
        for packet in map(fields, trace[1]):
            assert packet[10] == [1]
            if packet[60]:
                self.track(fields(packet[60][0]))
            else:
                self.event(packet[8][0], fields(packet[11][0]), opened)
        assert not any(opened.values())         # every slice ends

    def track(self, track):
        if track[3]:
            self.process = (track[1][0], fields(track[3][0]))
        else:
            assert track[5][0] in self.tracks or track[5][0] == self.process[0]
            self.tracks[track[1][0]] = track[2][0].decode(errors="replace")

    def event(self, time_ns, event, opened):
        track = self.tracks[event[11][0]]
        if event[9] == [1]:
            opened[track].append((time_ns, event[23][0].decode()))
        elif event[9] == [2]:
            start, name = opened[track].pop()
            assert start <= time_ns
            self.slices[track].append((start, time_ns, name))
        elif event[9] == [3]:
            self.instants.append((track, time_ns, event[23][0].decode(errors="replace")))
        else:
            assert event[9] == [4]
            self.counters[track].append((time_ns, event[30][0]))


def ran(run):
    """How often each thread ran, by the name that it had then."""
    labels, found = {}, collections.Counter()
    for line in client("events", log_of(run), "--kind", "RUN_THREAD", "--kind", "THREAD_LABEL", "--format", "json").stdout.splitlines():
        event = json.loads(line)
        thread = event["fields"]["thread"]
        if event["name"] == "THREAD_LABEL":
            labels[thread] = event["fields"]["text"]
        else:
            found[f"{labels[thread]} (thread {thread})" if thread in labels else f"thread {thread}"] += 1
    return found


@pytest.mark.parametrize("run", ["cc-hc-ghc9103", "parallel-full-ghc902", "steady-gc-ghc9103", "leaky-hT-ghc902", DAMAGED])
def test_perfetto(run):
    truth, p = Truth(run), Perfetto(converted(run, "perfetto"))
    pauses = [(int(c["endTimeNs"]) - int(c["pauseNs"]), int(c["endTimeNs"])) for c in truth.collections if "pauseNs" in c]
    assert [(a, b) for a, b, _ in p.slices["collections"]] == pauses
    notes = [(int(n["timeNs"]), n.get("text")) for n in truth.notes]
    assert [(t, text) for track, t, text in p.instants if track == "notes"] == [n for n in notes if n[1] is not None]
    for name in ("live", "heap_size", "blocks_size"):
        assert p.counters[name] == truth.samples["SERIES_" + name.upper()]
    if truth.run.get("program"):
        assert p.process[1][6] == [truth.run["program"].encode()]
    if truth.run.get("pid"):
        assert p.process[1][1] == [truth.run["pid"]]
    assert collections.Counter(name for track, s in p.slices.items() if track.startswith("capability")
                               for _, _, name in s) == ran(run)
    for time_ns, census in truth.censuses:
        for band, n in census.items():
            if n >= sum(census.values()) / 100 and n and [b["label"] for b in truth.bands.values()].count(
                    truth.bands[band]["label"]) == 1:
                assert (time_ns, n) in p.counters[truth.bands[band]["label"]]


# ---------------------------------------------------------------- openmetrics

def sheets(text):
    """The text as the parser can take it: it drops a histogram's buckets of all times but the first, so these families
    are taken apart by time."""
    families = re.split(r"^(?=# HELP )", text.removesuffix("# EOF\n"), flags=re.M)
    for family in families:
        times = collections.defaultdict(list)
        for line in family.splitlines(keepends=True):
            times["head" if line.startswith("#") else line.split()[-1]].append(line)
        head = "".join(times.pop("head", []))
        if re.search(r"^# TYPE \S+ (histogram|summary)$", head, re.M):
            yield from (head + "".join(lines) + "# EOF\n" for lines in times.values())
        else:
            yield family + "# EOF\n"


# The library compares seconds and nanoseconds independently of each other.
Timestamp.__gt__ = lambda a, b: (a.sec, a.nsec) > (b.sec, b.nsec)


def openmetrics(run, *args):
    """{name: {labels: [(seconds, value)]}}, by Prometheus' own parser, which insists on order, units and suffixes."""
    text = converted(run, "openmetrics", *args).decode()
    assert text.endswith("# EOF\n") and len(set(re.findall(r"^# HELP (\S+)", text, re.M))) == text.count("# HELP ")
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for family in (f for sheet in sheets(text) for f in open_metrics(sheet)):
        for s in family.samples:
            found[s.name][frozenset(s.labels.items()) - {("target", "run")}].append((float(s.timestamp), s.value))
    return found


@pytest.mark.parametrize("run", ["cc-hc-ghc9103", "leaky-hT-ghc902", "parallel-ghc9103", DAMAGED])
def test_openmetrics_has_values_with_their_times(run):
    truth, found = Truth(run), openmetrics(run, "--step", "100ms")
    start = int(truth.run["startWallNs"]) / 1e9
    times = {t for series in found["heapwatch_target_info"].values() for t, _ in series}
    for name, fact in (("heapwatch_live_bytes", "LIVE"), ("heapwatch_heap_size_bytes", "HEAP_SIZE")):
        points = [(t / 1e9 + start, v) for t, v in sorted(truth.samples["SERIES_" + fact])]
        for at, value in found[name][frozenset()]:
            assert value in [v for t, v in points if at - 0.2 <= t <= at + 1e-6] or value == \
                [v for t, v in points if t <= at + 1e-6][-1], (name, at, value)
        assert bool(points) == bool(found[name]) and len(found[name][frozenset()]) <= len(times)
        assert not points or min(times) < start + 0.2, "from its start, wherever the log says when that was"
    shared = [c for c in truth.collections if c.get("parallelThreads", 0) > 1]
    for name, sums in (("heapwatch_live_sum_bytes_total", [v for _, v in truth.samples["SERIES_LIVE"]]), # carried by their keys
                       ("heapwatch_gc_parallel_copied_bytes_total", [int(c["copiedBytes"]) for c in shared]),
                       ("heapwatch_gc_parallel_max_copied_bytes_total", [int(c["parallelMaxCopiedBytes"]) for c in shared])):
        values = [v for _, v in found[name][frozenset()]]
        assert values == sorted(values) and values[-1:] == [sum(sums)] * bool(sums), name
    pauses = sum(int(c["generation"]) == 0 for c in truth.collections if "pauseNs" in c)
    count = found["heapwatch_gc_pause_duration_seconds_count"][frozenset({("generation", "0")})]
    assert [v for _, v in count] == sorted(v for _, v in count) and count[-1][1] == pauses
    censuses = {round(t / 1e9 + start, 3): census for t, census in truth.censuses}
    total = collections.Counter()
    for series in found["heapwatch_band_bytes"].values():
        for at, value in series:
            total[round(at, 3)] += value
    assert bool(total) == bool(censuses)
    for at, value in total.items():
        assert value == sum(censuses[at].values())


@pytest.mark.skipif(not shutil.which("promtool"), reason="needs the package prometheus: make check-fleet installs it")
def test_prometheus_takes_openmetrics_into_its_storage(directory):
    (directory / "x.om").write_bytes(converted("cc-hc-ghc9103", "openmetrics", "--step", "100ms"))
    subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", "x.om", "data"], cwd=directory, check=True,
                   capture_output=True)
    block = next(p for p in (directory / "data").iterdir() if (p / "meta.json").exists())
    stored = json.loads((block / "meta.json").read_text())["stats"]
    rows = [line for line in (directory / "x.om").read_text().splitlines() if not line.startswith("#")]
    assert stored["numSamples"] == len(rows) and stored["numSeries"] > 100


# ---------------------------------------------------------------- all

FORMATS = ["hp", "csv", "csv-wide", "json", "collapsed", "speedscope", "pprof", "perfetto", "openmetrics", "resid"]


@pytest.mark.parametrize("to", FORMATS)
def test_a_damaged_log_is_converted_as_far_as_it_can_be_read(to, directory):
    done = client("convert", log_of(DAMAGED), "--to", to, "-o", directory / "x")
    assert done.returncode == 0 or re.search(rb"convert: \S+ (has|holds) no", done.stderr), done.stderr
    assert (directory / "x").exists() == (done.returncode == 0)
    assert [p.name for p in directory.iterdir()] in (["x"], [])


@pytest.mark.parametrize("to", ["hp", "csv-wide", "collapsed", "speedscope", "pprof"])
def test_what_a_log_does_not_have_is_said(to, directory):
    done = client("convert", log_of(BARE), "--to", to, "-o", directory / "x")
    assert done.returncode == 2 and not (directory / "x").exists()
    assert len(done.stderr.splitlines()) == 1 and b"profile" in done.stderr and b"-hT" in done.stderr


@pytest.mark.parametrize("to", FORMATS)
def test_nothing_is_written_before_it_is_known_that_there_is_something(to, directory):
    """To standard output, too: of a log without anything, of a run that it does not have, of what is no log."""
    only_header, no_log = directory / "empty.eventlog", directory / "no.eventlog"
    whole = log_of(BARE).read_bytes()
    only_header.write_bytes(whole[:whole.index(b"datb") + 4])
    no_log.write_bytes(b"nothing")
    for args in ([log_of(BARE), "--run", "7"], [no_log], [only_header]):
        done = client("convert", "--to", to, *args)
        assert done.returncode == 2 or args == [only_header], (args, done.stderr)
        assert bool(done.stdout) == (done.returncode == 0), (args, done.stdout[:80], done.stderr)


def test_a_dash_is_standard_output(directory):
    done = client("convert", log_of(BARE), "--to", "csv", "-o", "-", cwd=directory)
    assert done.returncode == 0 and done.stdout == converted(BARE, "csv") and not list(directory.iterdir())


def height_of_first_area(directory):
    """Of the lowest band of a plot at its last census, in bytes."""
    svg = (directory / "x.svg").read_text()
    area = re.search(r'fill:rgb[^"]*" d="M ([-\d. ML]+) Z', svg)[1].split()
    points = [tuple(map(float, p)) for p in zip(*[iter(w for w in area if w not in "ML")] * 2)]
    last = max(points)[0]
    height = max(y for x, y in points if x == last) - min(y for x, y in points if x == last)
    frame = re.search(r'stroke-width:1;[^"]*" d="M [\d.]+ ([\d.]+) L [\d.]+ [\d.]+ L [\d.]+ ([\d.]+)', svg)
    scale = int(re.search(r"Y_RANGE (\d+)", (directory / "x.aux").read_text())[1])
    return height * scale / (float(frame[2]) - float(frame[1]))


def test_a_part_of_one_band_is_the_same_number_everywhere(directory):
    """Of one moment, from every format that has bands, and from what `summary` and `top` say of the end."""
    run = "leaky-hT-ghc9103"
    truth = Truth(run)
    time_ns, census = truth.censuses[-1]
    band = max(census, key=census.get)
    label, n, at = truth.bands[band]["label"], census[band], f"{time_ns / 1e9:.9f}"
    assert Pprof(converted(run, "pprof", "--at", at)).sums()[(label,)] == n
    assert collapsed(run, "--at", at)[label] == n
    assert speedscope(run, "--at", at)[0][4][(label,)] == n
    wide = list(csv.DictReader(io.StringIO(converted(run, "csv-wide").decode())))
    assert int(wide[-1][label]) == n
    long = [r for r in csv.DictReader(io.StringIO(converted(run, "csv").decode())) if r["label"] == label]
    assert int(long[-1]["value"]) == n
    facts = [json.loads(line) for line in converted(run, "json").splitlines()]
    assert dict([f for f in facts if f["kind"] == "census"][-1]["bands"])[band] == n
    assert [v for line, v in re.findall(r"^(\S+)\t(\d+)$", converted(run, "hp").decode(), re.M) if line == label][-1] == str(n)
    assert Perfetto(converted(run, "perfetto")).counters[label][-1] == (time_ns, n)
    exposed = openmetrics(run, "--step", "100ms")["heapwatch_band_bytes"]
    assert [points[-1][1] for labels, points in exposed.items() if ("band", label) in labels] == [n]
    plot = client("report", log_of(run), "-o", directory / "x.svg", "--lines", "none", "--bands", "1", "--save-order",
                  directory / "x.aux")
    assert plot.returncode == 0 and f"ORDER {label}\n" in (directory / "x.aux").read_text()
    assert height_of_first_area(directory) == pytest.approx(n, rel=1e-3)
    summary = json.loads(client("summary", log_of(run), "--format", "json").stdout)
    assert [int(b["bytes"]) for b in summary["heapProfile"]["bands"] if b["label"] == label] == [n]
    report = json.loads(client("report", "--format", "json", "-o", "-", log_of(run)).stdout)["history"]["items"]
    values = next(i["last"] for i in report if i.get("band") == band)
    assert values[-1] == n
    held = [c.get(band, 0) for _, c in truth.censuses]
    archive = directory / "a.db"
    assert client("archive", "--db", archive, "--target", "api", log_of(run)).returncode == 0
    both = json.loads(client("diff", "--db", archive, log_of(run), "api@run:0", "--format", "json").stdout)
    row = next(r for r in both["rows"] if r["name"] == label)
    for side in ("new", "baseline"):        # the archive, the log
        assert row[side] == pytest.approx(sum(held) / len(held)) and row["peak"][side] == max(held)
    with contextlib.closing(sqlite3.connect(archive)) as db:
        kept = db.execute("SELECT sum, max, last FROM bands_1h JOIN bands ON bands.id = band WHERE name = ?", (label,)).fetchall()
    assert kept == [(sum(held), max(held), n)]


def has_data(log):
    """Which formats a log has data for, by what `summary` finds in it."""
    done = client("summary", log, "--format", "json")
    found = json.loads(done.stdout.splitlines()[0])
    censuses, ticks = found.get("heapProfile", {}).get("censuses", 0) > 0, "timeProfile" in found
    needs = {"hp": censuses, "csv-wide": censuses, "resid": "residencySamples" in found.get("memory", {}),
             **dict.fromkeys(("collapsed", "speedscope", "pprof"), censuses or ticks),
             "openmetrics": "startWallNs" in found, "perfetto": "lastTimeNs" in found,
             "plot": censuses or "memory" in found}
    return {to: needs.get(to, True) for to in (*FORMATS, "plot")}


def table(first):
    """The first column of the table of docs/FORMATS.md that begins with this title: what is between backquotes."""
    rows = (ROOT / "docs" / "FORMATS.md").read_text().split(f"| {first} |")[1].split("\n\n")[0].splitlines()[2:]
    return [re.findall(r"`([^`]+)`", row.split("|")[1]) for row in rows]


@pytest.mark.long
@pytest.mark.skipif(not LONG, reason="has a long form alone: HEAPWATCH_LONG=1")
def test_every_row_of_the_formats_with_every_log_that_has_the_data(directory):
    """All formats of the first table, and the picture, of all files of the second."""
    assert {to for row in table("`--to`") for to in row} == set(FORMATS)
    assert [row[0] if row else None for row in table("file")] == [".eventlog", ".hp", "+RTS -pj", ".gz", "recording:NAME~1"]
    logs = sorted(p for kind in ("*.eventlog", "*.hp") for p in LOGS.glob(f"*/{kind}"))
    assert all(sum(p.name.endswith(kind) for p in logs) > 5 for kind in (".eventlog", ".hp"))
    tried = [(log, to, has) for log in logs for to, has in has_data(log).items()]

    def convert(case):
        if case[1] == "plot":
            return client("report", case[0], "-o", directory / f"{logs.index(case[0])}.svg")
        return client("convert", case[0], "--to", case[1])

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (log, to, has), done in zip(tried, pool.map(convert, tried)):
            made = (directory / f"{logs.index(log)}.svg").exists() if to == "plot" else bool(done.stdout)
            if has:
                assert done.returncode == 0 and made, (log, to, done.stderr)
            else:
                said = [line for line in done.stderr.splitlines() if line.startswith(b"heapwatch ")]
                assert done.returncode == 2 and len(said) == 1 and not made, (log, to, done.stderr)
    assert {to for _, to, has in tried if has} == {to for _, to, has in tried if not has} | {"csv", "json"} == {*FORMATS, "plot"}


@pytest.mark.parametrize("args, word", [(["--to", "hp", "--at", "all"], b"--at"), (["--to", "csv-wide", "--at", "1"], b"all of the log"),
                                        (["--to", "perfetto", "--profile", "heap"], b"all of the log"),
                                        (["--to", "collapsed", "--at", "all"], b"one moment"), (["--to", "pprof", "--at", "soon"], b"peak"),
                                        (["--to", "svg"], b"pprof"), ([], b"--to")])
def test_what_convert_refuses(args, word):
    done = client("convert", log_of("cc-hc-ghc9103"), *args)
    assert done.returncode == 2 and word in done.stderr and not done.stdout
