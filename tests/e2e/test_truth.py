# SPDX-License-Identifier: BSD-3-Clause
"""heapwatch's own commands against the runtime system's files of the same run: every number is the runtime's.

What is compared, and where the runtime's own files differ:
- `events` with the counts and times that an independent reader found (events.count);
- `summary` with the tables of +RTS -s and -S (gc.S);
- `convert --to hp` with the runtime's heap profile (run.hp);
- ticks with the runtime's time profile (run.prof).
"""
import collections
import gzip
import json
import re
import shutil
import subprocess

import pytest

from harness import LOGS, client, piped, written

pytestmark = pytest.mark.many

RUNS = sorted(p.parent.name for p in LOGS.glob("*/run.eventlog"))
MASK = (1 << 64) - 1


def log_of(run):
    return LOGS / run / "run.eventlog"


def output(*args):
    done = client(*args)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def events(run, *args):
    return [json.loads(line) for line in output("events", log_of(run), "--format", "json", *args).splitlines()]


def summary(run):
    lines = output("summary", log_of(run), "--format", "json").splitlines()
    assert len(lines) == 1
    return json.loads(lines[0])


def facts(run, name):
    path = LOGS / run / name
    return json.loads(path.read_text()) if path.exists() else {}


def gc_s(run):
    for name, opener in (("gc.S", open), ("gc.S.gz", gzip.open)):
        if (LOGS / run / name).exists():
            return opener(LOGS / run / name, "rt").read()
    return None


def has_collections(run):
    """Whether an independent reader found GC_STATS_GHC (53) in the log: GC events can be switched off."""
    return re.search(r"^53 [1-9]", (LOGS / run / "events.count").read_text(), re.M) is not None


def number(pattern, text, kind=float):
    found = re.search(pattern, text)
    return kind(found.group(1).replace(",", "")) if found else None


# ------------------------------------------------------------------ events

def mix(x):
    x = (x + 0x9e3779b97f4a7c15) & MASK
    x = ((x ^ x >> 30) * 0xbf58476d1ce4e5b9) & MASK
    x = ((x ^ x >> 27) * 0x94d049bb133111eb) & MASK
    return x ^ x >> 31


@pytest.mark.parametrize("run", sorted(p.parent.name for p in LOGS.glob("*/events.count")))
def test_events_are_those_of_the_reference_reader(run):
    """events.count: how many there are of each type, and a hash of the multiset of their times."""
    expected = dict(line.split() for line in (LOGS / run / "events.count").read_text().splitlines())
    total, times = int(expected.pop("total")), expected.pop("times", None)
    assert times or run.startswith(("crash", "live"))   # of these the reader's times were not kept
    found = events(run)
    assert len(found) == total
    if times:
        assert sum(mix(e["timeNs"]) for e in found) & MASK == int(times, 16)
    by_type = collections.Counter(str(e["id"]) for e in found)
    assert by_type == {k: int(n) for k, n in expected.items() if int(n)}
    counts = json.loads(output("events", log_of(run), "--count", "--format", "json"))
    assert counts["events"] == total
    assert {str(t["id"]): t["count"] for t in counts["types"]} == by_type
    assert [e["offset"] for e in found] == sorted({e["offset"] for e in found})


@pytest.mark.parametrize("run", [r for r in RUNS if facts(r, "oracle.json").get("log_gc_stats_events")])
def test_fields_of_events_are_the_runtimes_numbers(run):
    """The same sums as the runtime's, from single events: their fields are decoded correctly."""
    oracle = facts(run, "oracle.json")
    found = events(run, "--kind", "HEAP_ALLOCATED,HEAP_LIVE,GC_STATS_GHC")
    allocated, live, copied = {}, [], []
    for e in found:
        fields = e["fields"]
        if e["name"] == "HEAP_ALLOCATED":   # cumulative, for each capability; the last one counts
            allocated[e["capability"]] = max(allocated.get(e["capability"], 0), fields["allocated_bytes"])
        elif e["name"] == "HEAP_LIVE":
            live.append(fields["live_bytes"])
        else:
            copied.append((e["timeNs"], fields["copied_bytes"]))
            assert fields["par_tot_copied_bytes"] == fields["copied_bytes"]
    assert sum(allocated.values()) == oracle["S_allocated"]
    assert len(copied) == oracle["S_colls"]
    assert len(live) == oracle["log_live_events"]
    if oracle.get("S_max_residency"):
        assert max(live) == oracle["S_max_residency"]
    rows = [int(m.group(2)) for m in S_ROW.finditer(gc_s(run) or "")]
    if len(rows) == len(copied):
        assert [n for _, n in sorted(copied)] == rows


def test_chosen_events_are_a_part_of_all():
    run = "leaky-hT-ghc9103"
    everything = events(run)
    some = events(run, "--kind", "gc_start,10", "--from", "200ms", "--to", "400ms")
    assert some == [e for e in everything if e["id"] in (9, 10) and 200e6 <= e["timeNs"] <= 400e6]
    assert some
    counted = json.loads(output("events", log_of(run), "--count", "--format", "json", "--kind", "GC_START,GC_END",
                                "--from", "200ms", "--to", "400ms"))
    assert counted["events"] == len(some)
    text = output("events", log_of(run), "--kind", "GC_START,GC_END", "--from", "200ms", "--to", "400ms")
    assert len(text.splitlines()) == len(some)
    assert all(("GC_START" in line) or ("GC_END" in line) for line in text.splitlines())


@pytest.mark.parametrize("args, word", [
    ([], b"LOG"), (["x", "y"], b"LOG"), (["x", "--kind", "GC_STRAT"], b"GC_START"), (["x", "--kind", "70000"], b"65536"),
    (["x", "--from", "soon"], b"500ms"), (["x", "--format", "xml"], b"json"), (["/does/not/exist"], b"/does/not/exist"),
])
def test_events_refuses(args, word):
    done = client("events", *args)
    assert done.returncode == 2 and word in done.stderr and not done.stdout


# ---------------------------------------------------------------- what is secret

EVENT_SIZES = {17: 2, 18: 14, 29: 0xffff, 30: 0xffff, 31: 0xffff}


def secret_log():
    """A log as GHC 7.2 - 8.6 wrote it: with the environment in it."""
    header = b"hdrbhetb"
    for event, size in EVENT_SIZES.items():
        header += b"etb\0" + event.to_bytes(2, "big") + size.to_bytes(2, "big") + bytes(8) + b"ete\0"
    header += b"hetehdredatb"

    def event(kind, payload, time_ns=1000):
        length = len(payload).to_bytes(2, "big") if EVENT_SIZES[kind] == 0xffff else b""
        return kind.to_bytes(2, "big") + time_ns.to_bytes(8, "big") + length + payload

    inside = event(29, bytes(4) + b"GHC-8.4.4 rts_thr_l")
    inside += event(30, bytes(4) + b"/opt/api\0--password=hunter2\0+RTS\0-l\0-RTS\0")
    inside += event(31, bytes(4) + b"HOME=/home/alice\0API_KEY=topsecret\0")
    block = (24 + len(inside)).to_bytes(4, "big") + (2000).to_bytes(8, "big") + b"\xff\xff"
    return header + event(18, block) + inside + b"\xff\xff"


def test_the_environment_is_never_shown(directory):
    log = written(directory / "old.eventlog", secret_log())
    commands = [["events", log], ["events", log, "--format", "json"], ["events", log, "--show-arguments"],
                ["events", log, "--format", "json", "--show-arguments"], ["events", log, "--count"],
                ["events", log, "--kind", "PROGRAM_ENV", "--format", "json"], ["summary", log],
                ["summary", log, "--format", "json"], ["pipe", log, "--format", "json"]]
    for command in commands:
        done = client(*command)
        assert done.returncode == 0, done.stderr
        said = done.stdout + done.stderr
        assert b"topsecret" not in said and b"alice" not in said, command
        assert (b"hunter2" in said) == ("--show-arguments" in command), command
    [env] = [json.loads(line) for line in output(*commands[5]).splitlines()]
    assert env["hidden"] is True and env["fields"] == {"capset": 0} and env["sizeBytes"] == 39
    assert "hidden" in output("events", log)


def test_a_header_that_lies_is_refused_with_one_reason(directory):
    """GHC 6.12 declares wrong sizes: everything that would be read after that is nonsense."""
    types = b"".join(b"etb\0" + event.to_bytes(2, "big") + size.to_bytes(2, "big") + bytes(8) + b"ete\0"
                     for event, size in ((0, 8), (18, 14)))
    (directory / "old.eventlog").write_bytes(b"hdrbhetb" + types + b"hetehdredatb" + bytes(200))
    for command in ("summary", "events", "trend"):
        done = client(command, directory / "old.eventlog")
        assert done.returncode == 2 and not done.stdout
        assert done.stderr.count(b"\n") == 1 and b"written by GHC 6.12" in done.stderr, done.stderr


# ----------------------------------------------------------------- summary

S_ROW = re.compile(r"^ +(\d+) +(\d+) +(\d+) +(\d+\.\d+) +(\d+\.\d+) +(\d+\.\d+) +(\d+\.\d+) .*\(Gen: +(\d+)\)$", re.M)
S_GEN = re.compile(r"^  Gen +(\d+) +(\d+) colls, +(\d+) par +[\d.]+s +([\d.]+)s +([\d.]+)s +([\d.]+)s$", re.M)


@pytest.mark.parametrize("run", [r for r in RUNS if gc_s(r)])
def test_summary_equals_rts_s(run):
    text, s = gc_s(run), summary(run)
    memory = s.get("memory", {})
    if not has_collections(run):
        # GC events were off: none of these numbers is in the log, so none is shown, not even as 0.
        assert "collections" not in s and "mutNs" not in s["time"] and not memory
        return
    if "bytes allocated in the heap" not in text:
        assert run.startswith("crash")          # killed: the runtime never printed its table
        return
    assert memory["allocatedBytes"] == number(r"([\d,]+) bytes allocated in the heap", text, int)
    assert memory["copiedBytes"] == number(r"([\d,]+) bytes copied during GC", text, int)
    assert memory["maxResidencyBytes"] == number(r"([\d,]+) bytes maximum residency", text, int)
    assert memory["residencySamples"] == number(r"maximum residency \((\d+) sample", text, int)
    assert memory["maxSlopBytes"] == number(r"([\d,]+) bytes maximum slop", text, int)
    # Exact bytes against whole MiB, rounded down by the runtime.
    assert memory["totalMemoryBytes"] >> 20 == number(r"([\d,]+) MiB total memory in use", text, int)
    generations = {g["generation"]: g for g in s["collections"]["generations"]}
    table = S_GEN.findall(text)
    assert len(table) == len(generations) > 0
    for generation, colls, parallel, elapsed, average, longest in table:
        g = generations[int(generation)]
        assert (g["collections"], g["parallel"]) == (int(colls), int(parallel))
        if int(colls) == 0:
            assert "pauseTotalNs" not in g
            continue
        assert g["pauseTotalNs"] / 1e9 == pytest.approx(float(elapsed), abs=0.0006)     # three decimals
        assert g["pauseAverageNs"] / 1e9 == pytest.approx(float(average), abs=0.00006)  # four
        assert g["pauseMaxNs"] / 1e9 == pytest.approx(float(longest), abs=0.00006)
        assert g["pauseMedianNs"] <= g["pauseP99Ns"] <= g["pauseMaxNs"]
    balance = number(r"work balance: ([\d.]+)%", text)
    if balance is None:
        assert "parallelBalance" not in s["collections"]
    else:
        assert s["collections"]["parallelBalance"] * 100 == pytest.approx(balance, abs=0.0051)
    sparks = re.search(r"SPARKS: ?(\d+) \((\d+) converted, (\d+) overflowed, (\d+) dud, (\d+) GC'd, (\d+) fizzled\)",
                       text)
    if sparks and "threads" in s:
        ours = s["threads"]["sparks"]
        total = ours["created"] + ours["dud"] + ours["overflowed"]
        assert [int(n) for n in sparks.groups()] == [total] + [
            ours[k] for k in ("converted", "overflowed", "dud", "collected", "fizzled")]


@pytest.mark.parametrize("run", [r for r in RUNS if gc_s(r) and has_collections(r)])
def test_times_equal_rts_s(run):
    """Elapsed times; the runtime's end a little after its last event, and count profiling apart from collecting."""
    text, s = gc_s(run), summary(run)
    if "Total   time" not in text:
        assert run.startswith("crash")
        return

    def elapsed(name):
        return number(name + r" +time +[\d.]+s +\( *([\d.]+)s elapsed", text) or 0.0

    time = s["time"]
    assert time["totalNs"] / 1e9 == pytest.approx(elapsed("Total"), abs=0.02)
    # A census is taken inside the pause; the table of generations counts it there too, the line "GC time" does not.
    pauses = elapsed("GC ") + elapsed("RP") + elapsed("PROF")
    assert time["gcNs"] / 1e9 == pytest.approx(pauses, abs=0.012)
    assert time["gcNs"] + time["mutNs"] == time["totalNs"]
    assert time["productivity"] == pytest.approx(time["mutNs"] / time["totalNs"])
    assert time["allocationRateBps"] == pytest.approx(s["memory"]["allocatedBytes"] / (time["mutNs"] / 1e9))


@pytest.mark.parametrize("run", [r for r in RUNS if gc_s(r) and S_ROW.search(gc_s(r))])
def test_every_pause_equals_rts_S(run):
    """Line by line: elapsed time of each collection, and when it ended."""
    rows = [(int(m[1]), float(m[4]), float(m[6]), int(m[7])) for m in S_ROW.findall(gc_s(run))]
    found = []
    for u in piped(log_of(run), "--kinds", "gc"):
        found += u["gc"].get("collections", [])
    found.sort(key=lambda c: int(c["endTimeNs"]))
    if run.startswith("crash"):
        rows = rows[:len(found)]                # killed: -S has collections that never left the log's buffers
    if not found:
        assert not has_collections(run)
        return
    assert len(found) == len(rows)
    for ours, (copied, elapsed, ended, generation) in zip(found, rows):
        assert int(ours["copiedBytes"]) == copied
        assert ours["generation"] == generation
        assert int(ours["pauseNs"]) / 1e9 == pytest.approx(elapsed, abs=PAUSE_SLACK)
        assert int(ours["endTimeNs"]) / 1e9 == pytest.approx(ended, abs=PAUSE_SLACK)


PAUSE_SLACK = 0.0011    # three decimals; both clocks are read twice, a moment apart


def test_summary_text_has_the_shape_of_rts_s():
    text = output("summary", log_of("leaky-hc-ghc9103"))
    theirs = gc_s("leaky-hc-ghc9103")
    for line in ("bytes allocated in the heap", "bytes copied during GC", "bytes maximum residency",
                 "bytes maximum slop"):
        exact = re.search(r"([\d,]+) " + line, theirs).group(1)
        assert re.search(rf"^ +{exact} {line}.* [KMG]iB$", text, re.M), line
    assert "Gen  0" in text and "190 colls" in text and "Parallel GC work balance: 20.06%" in text
    assert "-hc, by cost centre stack" in text and "nothing lost" in text
    assert all(len(line) < 200 for line in text.splitlines())


def test_summary_says_what_was_lost_and_how_it_ended():
    torn = summary("torn-966-10")
    assert torn["finished"] is False and "without an end marker" in torn["detail"]
    stream = torn["stream"]
    assert stream["lostBytes"] == sum(d["lostBytes"] for d in stream["damages"]) > 0
    assert len(stream["damages"]) == stream["resyncs"]
    assert all(d["offset"] and d["lostBytes"] <= 1024 and d["reason"] for d in stream["damages"])
    assert "damaged place" in output("summary", log_of("torn-966-10"))
    assert summary("crash-kill9-ghc9103")["finished"] is False


def test_summary_of_a_log_joined_late_has_no_rate_of_what_it_did_not_see():
    done = client("summary", "--format", "json", LOGS / "socket-966-ctl" / "conn2.eventlog")
    s = json.loads(done.stdout)
    assert s["firstTimeNs"] > 10**9 and s["memory"]["allocatedBytes"] > 0
    assert "allocationRateBps" not in s["time"]
    assert s["time"]["totalNs"] == s["lastTimeNs"] - s["firstTimeNs"]


def test_threads_are_unknown_in_a_log_without_events_of_the_scheduler():
    """Such a log still has capabilities; what they ran, and the threads, must not be 0 on any face."""
    for run, collects in (("leaky-useronly-ghc902", False), ("nonmoving-census-ghc9103", True)):
        log = log_of(run)
        last = json.loads(output("pipe", "--format", "json", "--kinds", "sched", log).splitlines()[-1])["sched"]
        assert set(last) - {"sparks"} == {"capabilities"}, last
        assert set(last["capabilities"][0]) == {"number", "disabled"} | ({"gcNs"} if collects else set())
        shown = output("top", "--once", "--view", "threads", log)
        assert re.search(r"threads created +–", shown) and re.search(r"threads alive +–", shown)
        features = json.loads(client("doctor", "--format", "json", log).stdout)["features"]
        assert [f["seen"] for f in features if f["feature"] == "threads and capabilities"] == [False]
        assert " created, " not in output("summary", log)
    assert summary("parallel-ghc902")["threads"]["created"] > 0


def test_summary_of_many_logs_and_runs(directory):
    twice = directory / "twice.eventlog"
    one = log_of("leaky-useronly-ghc9103").read_bytes()
    twice.write_bytes(one + log_of("parallel-ghc9103").read_bytes())
    logs = [log_of("parallel-ghc9103"), twice, log_of("leaky-useronly-ghc9103")]
    found = [json.loads(line) for line in output("summary", *logs, "--format", "json").splitlines()]
    assert [(s["log"], s["run"]) for s in found] == [
        (str(logs[0]), 1), (str(twice), 1), (str(twice), 2), (str(logs[2]), 1)]
    plain = [summary("parallel-ghc9103"), summary("leaky-useronly-ghc9103")]
    for s, same in ((found[0], plain[0]), (found[2], plain[0]), (found[1], plain[1]), (found[3], plain[1])):
        assert {k: v for k, v in s.items() if k not in ("stream", "run", "log")} == {
            k: v for k, v in same.items() if k not in ("stream", "run", "log")}
    assert "stream" not in found[1]             # the health of the stream belongs to the whole log
    text = output("summary", *logs)
    assert text.count("Productivity") == 2 and ", run 2" in text


def test_summary_goes_on_after_a_bad_log(directory):
    bad = written(directory / "bad.eventlog", b"version https://git-lfs.github.com/spec/v1\n")
    done = client("summary", bad, log_of("parallel-ghc9103"))
    assert done.returncode == 2 and b"bad.eventlog" in done.stderr and b"Productivity" in done.stdout


@pytest.mark.parametrize("args, word", [([], b"LOG"), (["x", "--format", "xml"], b"json"), (["x", "--no"], b"help")])
def test_summary_refuses(args, word):
    done = client("summary", *args)
    assert done.returncode == 2 and word in done.stderr


# ----------------------------------------------------------------- convert

def hp_samples(text):
    """[(seconds, {label: bytes})] of a .hp file; rows of one label are added."""
    samples, rows = [], None
    for line in text.splitlines():
        if line.startswith("BEGIN_SAMPLE"):
            rows = collections.Counter()
        elif line.startswith("END_SAMPLE"):
            samples.append((float(line.split()[1]), rows))
            rows = None
        elif rows is not None:
            label, value = line.split("\t")
            rows[label] += int(value)
    return samples


def cut(label):
    """The start of a cost centre stack's label, which the runtime never cuts off: it keeps 25 with the number."""
    return re.sub(r"^\(\d+\)", "", label)[:17]


@pytest.mark.parametrize("run", [r for r in RUNS if (LOGS / r / "run.hp").exists()])
def test_convert_equals_the_runtimes_hp(run, directory):
    out = directory / "run.hp"
    output("convert", log_of(run), "--to", "hp", "-o", out)
    ours, theirs = out.read_text(), (LOGS / run / "run.hp").read_text(errors="replace")
    # The same four lines first; the program's own arguments are not shown, and options follow +RTS.
    assert [line.split()[0] for line in ours.splitlines()[:4]] == ["JOB", "DATE", "SAMPLE_UNIT", "VALUE_UNIT"]
    assert ours.splitlines()[2:4] == theirs.splitlines()[2:4]
    assert ours.splitlines()[0].split()[1].strip('"') == theirs.splitlines()[0].split()[1].strip('"')
    found, expected = hp_samples(ours), hp_samples(theirs)
    assert found[0] == (0.0, {}) and found[-1][1] == {}         # empty at both ends, as the runtime's
    assert [t for t, _ in found] == sorted(t for t, _ in found)
    found, expected = [rows for _, rows in found if rows], [rows for _, rows in expected if rows]
    if facts(run, "run.json").get("end") != "DATA_END":
        expected = expected[:len(found)]                        # killed: .hp was written a little longer
    assert len(found) == len(expected) > 0
    stacks = facts(run, "run.json").get("rts_flags", []) and "-hc" in facts(run, "run.json")["rts_flags"]
    for mine, other in zip(found, expected):
        other.pop("MANY", None)                                 # -hr: never written to the log
        assert sum(mine.values()) == sum(other.values())
        if stacks:      # the .hp cuts labels and numbers them otherwise; equal stacks have several rows there
            def shortened(rows):
                total = collections.Counter()
                for label, n in rows.items():
                    total[cut(label)] += n
                return total
            assert shortened(mine) == shortened(other)
        else:
            assert mine == other


@pytest.mark.parametrize("run", ["leaky-hT-ghc9103", "leaky-hi-ghc966", "cc-hc-ghc9103", "cc-he-ghc9103",
                                 "cc-hb-ghc902", "cc-hr-ghc902", "crash-kill9-ghc9103"])
def test_hp2ps_draws_it(run, directory):
    assert shutil.which("hp2ps"), "scripts/deps installs ghc, which has it"
    output("convert", log_of(run), "--to", "hp", "--names", "-o", directory / "x.hp")
    done = subprocess.run(["hp2ps", "-c", "x.hp"], cwd=directory, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert (directory / "x.ps").read_text().startswith("%!PS")


HOSTILE = ["a b", "a_b", "\"quoted", "JOB", "END_SAMPLE", "tab\there", "line\nbreak", "\x1b[2J", "", "naïve", "7up",
           "x" * 3000]


def hostile_log():
    """A heap profile by type whose labels contain everything that .hp readers stumble over."""
    sizes = {18: 14, 160: 0xffff, 162: 8, 164: 0xffff, 165: 8}
    log = b"hdrbhetb"
    for event, size in sizes.items():
        log += b"etb\0" + event.to_bytes(2, "big") + size.to_bytes(2, "big") + bytes(8) + b"ete\0"
    log += b"hetehdredatb"

    def event(kind, payload, time_ns):
        length = len(payload).to_bytes(2, "big") if sizes[kind] == 0xffff else b""
        return kind.to_bytes(2, "big") + time_ns.to_bytes(8, "big") + length + payload

    inside = event(160, b"\0" + bytes(8) + (4).to_bytes(4, "big") + bytes(7), 1000)
    for sample in range(3):
        at = 500_000_000 * (sample + 1)
        inside += event(162, bytes(8), at)
        for i, label in enumerate(HOSTILE):
            inside += event(164, b"\0" + (i + 1).to_bytes(8, "big") + label.encode() + b"\0", at)
        if sample < 2:                          # the last one is cut off
            inside += event(165, bytes(8), at)
    block = (24 + len(inside)).to_bytes(4, "big") + (2 * 10**9).to_bytes(8, "big") + b"\xff\xff"
    return log + event(18, block, 0) + inside


def test_convert_makes_any_label_one_word(directory):
    log = written(directory / "hostile.eventlog", hostile_log())
    output("convert", log, "--to", "hp", "-o", directory / "h.hp")
    samples = hp_samples((directory / "h.hp").read_text())
    assert [t for t, _ in samples] == [0, 0.5, 1.0, 2.0]        # the unfinished sample is not in it
    for _, rows in samples[1:3]:
        assert sum(rows.values()) == sum(range(1, len(HOSTILE) + 1))
        assert len(rows) == len(HOSTILE)                        # no two bands became one
        for label in rows:
            assert label and not re.search(r"\s|[\x00-\x1f]", label) and not label.startswith('"')
            assert label not in ("JOB", "END_SAMPLE") and len(label.encode()) <= 1040
    assert {"naïve", "7up"} <= set(samples[1][1])
    done = subprocess.run(["hp2ps", "h.hp"], cwd=directory, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_convert_keeps_the_old_file_when_it_fails(directory):
    out = written(directory / "old.hp", "precious")
    done = client("convert", log_of("parallel-ghc9103"), "--to", "hp", "-o", out)
    assert done.returncode == 2 and b"no heap profile" in done.stderr and b"-hT" in done.stderr
    assert out.read_text() == "precious" and [p.name for p in directory.iterdir()] == ["old.hp"]


def test_convert_chooses_a_run(directory):
    both = written(directory / "both.eventlog", log_of("cc-hm-ghc902").read_bytes() + log_of("cc-he-ghc9103").read_bytes())
    for run, name in ((1, "cc-hm-ghc902"), (2, "cc-he-ghc9103")):
        done = client("convert", both, "--to", "hp", "--run", run)
        assert done.returncode == 0 and b"2 runs" in done.stderr
        assert done.stdout.decode() == output("convert", log_of(name), "--to", "hp")
    done = client("convert", both, "--to", "hp", "--run", 3)
    assert done.returncode == 2 and b"2 runs" in done.stderr and not done.stdout


@pytest.mark.parametrize("args, word", [([], b"LOG"), (["x"], b"--to"), (["x", "--to", "ph"], b"hp"),
                                        (["x", "--to", "hp", "--run", "0"], b"--run")])
def test_convert_refuses(args, word):
    done = client("convert", *args)
    assert done.returncode == 2 and word in done.stderr and not done.stdout


# ------------------------------------------------------------ time profile

TIMED = [r for r in RUNS if r.startswith("cc-p")]
OTHERS = {"IDLE", "GC", "SYSTEM", "OVERHEAD_of"}


@pytest.mark.parametrize("run", TIMED)
def test_ticks_equal_prof(run):
    """Samples that are the program's own are the ticks of run.prof, and so is each centre's share of them."""
    prof = (LOGS / run / "run.prof").read_text()
    ticks = number(r"\((\d+) ticks", prof, int)
    profile = summary(run)["timeProfile"]
    assert abs(profile["ownTicks"] - ticks) <= 1    # the runtime's own two counts differ by one in some runs
    names, own, total = {}, collections.Counter(), 0
    for e in events(run, "--kind", "HEAP_PROF_COST_CENTRE,PROF_SAMPLE_COST_CENTRE"):
        if e["id"] == 161:
            names[e["fields"]["cost_centre"]] = (e["fields"]["label"], e["fields"]["module"])
            continue
        total += 1
        top = names[e["fields"]["stack"][0]] if e["fields"]["stack"] else ("MAIN", "MAIN")
        if top[0] not in OTHERS:
            own[top] += 1
    assert total == profile["ticks"] and sum(own.values()) == profile["ownTicks"]
    table = re.findall(r"^(\w\S*) +(\S+) +\S+ +([\d.]+) +[\d.]+$", prof, re.M)
    assert table
    for label, module, share in table:          # the flat table: one decimal of a percent, of one tick more or less
        assert own[label, module] * 100 / sum(own.values()) == pytest.approx(float(share), abs=0.06 + 100 / ticks)
