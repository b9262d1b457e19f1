# SPDX-License-Identifier: BSD-3-Clause
"""A stripped program watched from outside: live data, heap size, allocation, numbers of collections and bands are read from its memory."""
import json
import os
import pathlib
import re
import signal
import shutil
import subprocess
import sys

import pytest

from live_log import NO_CAPABILITY, LiveLog
from test_web_page import browser     # noqa: F401: a fixture
from harness import CLIENT, DEADLINE_S, LONG, Daemon, Programs, client, compile_haskell, heapwatch, long_cases, pb, printed, require_another_user, require_tracing, running, under_yama, wait_for

MIB = 1 << 20
pytestmark = pytest.mark.xdist_group("inside")
programs = Programs({
    "threaded": ("leaky-threaded", "Leaky", "-threaded", "-rtsopts", "-eventlog", "tests/programs/flush.c"),
    "plain": ("leaky-plain", "Leaky", "-rtsopts", "-eventlog", "tests/programs/flush.c"),
    "inside": ("inside-threaded", "Inside", "-threaded", "-rtsopts"),
    "promoted": ("promoted", "Promoted", "-rtsopts"),
})


@pytest.fixture(scope="module")
def stripped(tmp_path_factory):
    """Name of a build -> path of its stripped copy."""
    require_tracing()
    out = tmp_path_factory.mktemp("stripped")

    def of(build):
        path = out / build
        if not path.exists():
            shutil.copy(programs[build], path)
            subprocess.run(["strip", path], check=True)
        return path
    return of


def as_json(daemon, *words):
    done = heapwatch(daemon, *words, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def heap(daemon, name):
    found = daemon.snapshot(name).get("heap")
    return found[0].heap if found else None


def inspector_of(daemon_pid):
    """The process that reads for a daemon."""
    def find():
        for entry in pathlib.Path("/proc").iterdir():
            try:
                stat = (entry / "stat").read_text() if entry.name.isdigit() else ""
            except OSError:
                continue
            if "(heapwatch-insp" in stat and int(stat.rsplit(")", 1)[1].split()[1]) == daemon_pid:
                return int(entry.name)
        return 0
    return wait_for(find, "its inspector")


OFTEN = ("+RTS", "-A64k", "-F1.1")  # major collections; else there are few in so short a time


@pytest.mark.long
@pytest.mark.parametrize("build", ["threaded", "plain"] if LONG else ["threaded"])
def test_a_leak_of_a_stripped_program_is_found(directory, stripped, build):
    with Daemon(directory, args=("--resolution", "1s")) as daemon, \
            running(stripped(build), "1000", *OFTEN, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as program:
        done = heapwatch(daemon, "attach", program.pid, "--name", "x")
        assert done.returncode == 0 and "from outside, because it is stripped" in done.stdout, done
        t = daemon.wait_state("x", "RUNNING")
        assert t.uri.startswith(f"outside:{program.pid}@") and not t.run_info.process_only and t.run_info.pid == program.pid
        h = wait_for(lambda: (h := heap(daemon, "x")) and h.live_bytes and h.heap_size_bytes and h.process.rss_bytes and h,
                     "live data, heap size and resident memory")
        assert h.live_bytes <= h.heap_size_bytes
        wait_for(lambda: "census" in daemon.snapshot("x"), "a census")
        screen = wait_for(lambda: (s := heapwatch(daemon, "top", "--once", "x").stdout) and ("rising: " in s or "growing: " in s) and s,
                          "the rise", poll_s=0.2)
        assert "main:Work.Record" in screen and "no collection seen" not in screen, screen
        program.kill()
        program.wait()
        t = daemon.wait_state("x", "ENDED")
        assert f"process {program.pid} is gone" in t.detail and "not known" in t.detail


HOST = """
import ctypes, sys, time
library = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
library.hs_init(None, None)
while True:
    library.grow(300)
    time.sleep(0.02)
"""


def test_a_program_of_another_language_that_has_loaded_haskell(directory):
    """GHC's runtime is in none of its own files: it is found by what is mapped, and so is the library's code, whatever its name."""
    require_tracing()
    version = subprocess.run(["ghc", "--numeric-version"], capture_output=True, text=True, check=True).stdout.strip()
    library = compile_haskell("hosted.so", "Hosted", "-dynamic", "-fPIC", "-shared", f"-lHSrts-ghc{version}")
    with Daemon(directory) as daemon, running(sys.executable, "-c", HOST, library) as host:
        rows = wait_for(lambda: [r.split() for r in heapwatch(daemon, "ps").stdout.splitlines() if r.split()[0] == str(host.pid)], "it in ps")
        assert rows[0][2] == version
        done = heapwatch(daemon, "attach", host.pid, "--name", "x")
        assert done.returncode == 0 and "from outside, because GHC's runtime is in a library that it has loaded" in done.stdout, done
        daemon.wait_state("x", "RUNNING")
        wait_for(lambda: any("Data.Map.Internal.Bin" in label for label in bands_of(daemon, "x")), "a census with what it keeps")
        roots = as_json(daemon, "why", host.pid, "Data.Map.Internal.Bin")["roots"]
        assert roots[0]["name"] == "CAF Hosted.store" and roots[0]["bytes"] > 0.9 * sum(root["bytes"] for root in roots), roots


def bands_of(daemon, name, column="bytes"):
    """Label -> bytes or closures, in the newest census; {}: not known."""
    found = daemon.snapshot(name)
    labels = {b.id: b.label for u in found.get("bands", []) for b in u.bands.bands}
    return {labels[band]: n for u in found.get("census", []) for band, n in zip(u.census.band, getattr(u.census, column))}


def contents_of(daemon, name):
    """What most of a band is -> its label, and its share of the band, in the newest census."""
    found = daemon.snapshot(name)
    labels = {b.id: b.label for u in found.get("bands", []) for b in u.bands.bands}
    return {c.name: (labels[c.band], c.bytes / dict(zip(u.census.band, u.census.bytes))[c.band]) for u in found.get("census", []) for c in u.census.contents}


@pytest.mark.parametrize("agent", [False, True])
def test_closures_and_contents_of_bands_are_told(directory, agent):
    """In a census from outside: in the message, and in the console's table."""
    require_tracing()
    with Daemon(directory) as daemon, running(programs["inside"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout.readline() == b"ready\n"
        assert heapwatch(daemon, "attach", *([] if agent else ["--outside"]), program.pid, "--name", "x").returncode == 0

        def counted():      # on a busy machine one made with a pause, which tells no contents, may come in between
            return contents_of(daemon, "x") and bands_of(daemon, "x", "closures")

        def more():     # a major collection: without one there is no census from outside for an agent
            program.stdin.write(b"\n")
            program.stdin.flush()
            return program.stdout.readline() == b"more\n" and counted()
        bands = wait_for(more if agent else counted, "a census that counts", poll_s=1 if agent else 0.1)
        assert bands["main:Main.Order"] == 500 and bands["main:Main.Item"] == 2 * bands["main:Main.Session"] > 0 and bands["main:Main.Session"] % 3000 == 0, bands
        held = contents_of(daemon, "x")
        assert held["Map Int Session"][0].endswith("Data.Map.Internal.Bin") and held["Map Int Session"][1] == 1, held
        assert held["[Order]"][0].endswith("GHC.Types.:") or held["[Item]"][0].endswith("GHC.Types.:"), held
        shown = {b["label"]: b for b in as_json(daemon, "top", "--once", "--view", "bands", "x")["targets"][0]["bands"]}
        assert shown["main:Main.Order"]["closures"] == 500 and shown["main:Main.Order"]["holds"] is None, shown
        assert shown[held["Map Int Session"][0]]["holds"] == "Map Int Session" and shown[held["Map Int Session"][0]]["holds_share"] == 1, shown
        table = heapwatch(daemon, "top", "--once", "--view", "bands", "x").stdout
        assert re.search(r" closures  holds .* band\n(.*\n)*.* 500 .*Main\.Order\n", table), table
        assert re.search(r" Map Int Session .*Data\.Map\.Internal\.Bin\n", table), table


def test_threads_that_wait_at_one_place_are_a_band(directory):
    """Of the forty that wait for a reply; the others are in TSO and STACK."""
    require_tracing()
    with Daemon(directory) as daemon, running(programs["inside"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout.readline() == b"ready\n"
        assert heapwatch(daemon, "attach", "--outside", program.pid, "--name", "x").returncode == 0
        bands = wait_for(lambda: (lambda b: any(n.startswith("threads ") for n in b) and b)(bands_of(daemon, "x")), "a band of threads")
        [name] = [n for n in bands if n.startswith("threads ")]
        assert name in ("threads blocked on an MVar in Main.$wwaitForReply", "threads blocked on an MVar in Main.waitForReply")
        wait_for(lambda: daemon.target("x").run_info.local, "its process, which the daemon looks for once a second")
        members = as_json(daemon, "threads", "x")["groups"][0]["members"]
        tso = bands["TSO"] // 7     # the others
        assert len(members) == 40 and bands[name] > 40 * (tso + members[0]["stack_bytes"]) and bands["STACK"] > 300000
        why = heapwatch(daemon, "why", "x", name, "--brief")
        assert why.returncode == 0 and " of STACK (of a thread) (" in why.stdout, why


@pytest.mark.parametrize("agent", [False, *long_cases([True])])
def test_threads_that_nobody_ends_are_what_grows(directory, agent):
    """They are counted, with their rate, in the same words on all faces; a rule may count them, too. With the agent their bytes are in TSO and STACK."""
    require_tracing()
    rules = directory / "rules.yaml"
    rules.write_text("groups:\n- name: test\n  rules:\n  - {alert: many, expr: threads > 60 and haskell_threads > 60}\n"
                     "  - {alert: more, expr: growing(live), annotations: {summary: '{{where}}'}}\n")
    with Daemon(directory, args=("--resolution", "1s", "--rules", rules)) as daemon, \
            running(programs["inside"], "fork", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as program:
        assert heapwatch(daemon, "attach", *([] if agent else ["--outside"]), program.pid, "--name", "x").returncode == 0

        def band():
            return next((b for u in daemon.snapshot("x").get("trends", []) for b in u.trends.growth.bands if b.threads), None)

        def waiting():
            found = as_json(daemon, "threads", "x", "--max-pause", "60s")      # of some ten thousand, on a slow machine
            assert found["complete"] and found["list_complete"], found["sentences"]
            # Of two groups, which differ by who has called: a band is of the place alone.
            return sum(len(g["members"]) for g in found["groups"] if any("aitForReply" in f["name"] for f in g["frames"]))
        wait_for(band, "growth of a band of threads", poll_s=0.2)
        least = waiting()
        b = wait_for(lambda: (b := band()) and b.threads >= least and b, "a later census", poll_s=0.2)
        assert b.threads <= waiting() and b.label.startswith("threads blocked on an MVar in Main."), b
        census = daemon.snapshot("x")["census"][0].census
        assert sum(census.bytes) == census.total_bytes and (b.band in census.band) != agent, (b, census)
        if b.HasField("thread_slope"):
            assert b.thread_slope_low <= b.thread_slope <= b.thread_slope_high, b
        words = re.compile(r"[\d,]+ threads blocked on an MVar in Main\.\S*aitForReply(, \+[\d.]+/(s|min)( \([^)]*\))?)?: leaked threads\? With ")
        for command in (["top", "--once", "x"], ["top", "--once", "--format", "json", "x"], ["trend", "x"], ["post-mortem", "x"]):
            shown = re.sub(r"\s+", " ", heapwatch(daemon, *command).stdout)
            assert words.search(shown), (command, shown)
        growth = as_json(daemon, "trend", "x")["trends"]["growth"]
        most = re.compile(r"what grows most: [\d,]+ threads blocked on an MVar in Main\.\S+ \(")
        assert most.search(growth["sentence"]) and int(growth["bands"][0]["threads"]) >= least, growth
        alerts = wait_for(lambda: (a := heapwatch(daemon, "alerts").stdout) and " more " in a and a, "an alert of growth")
        assert most.search(alerts) and " many " in alerts, alerts


def test_bands_of_a_large_heap_are_estimated(directory):
    """From a part of it, where there is no memory for a copy: with the spread of the bands, and words for it on all faces."""
    require_tracing()
    with Daemon(directory, args=("--census-memory", "400MiB")) as daemon, \
            running(programs["inside"], "busy", "+RTS", "-A256m", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as program:
        assert heapwatch(daemon, "attach", "--outside", program.pid, "--name", "x").returncode == 0

        def newest():
            return next((u.census for u in daemon.snapshot("x").get("census", []) if u.census.spread > 0), None)
        program.stdin.write(b"\n" * 40)
        program.stdin.flush()
        census = wait_for(lambda: (c := newest()) and c.total_bytes > 12 * MIB and c, "an estimated census", poll_s=0.2)
        assert census.spread < 2 and census.outside and sum(census.bytes) == census.total_bytes
        done = wait_for(lambda: (d := heapwatch(daemon, "heap", "x", "--by", "type", "--max-pause", "60s", "--format", "json")).returncode == 0 and d, "all of it")
        whole = json.loads(done.stdout)
        whole = {b["name"]: b["bytes"] for b in whole["bands"]}
        found = bands_of(daemon, "x")
        for name in ("Main.Session", "Main.Item", "Data.Map.Internal.Bin"):
            truth = next(n for label, n in whole.items() if label.endswith(name))
            estimate = sum(n for label, n in found.items() if label.endswith(name))
            margin = census.spread * (truth * (census.total_bytes - truth)) ** 0.5
            assert abs(estimate - truth) < 3 * margin, (name, estimate, truth, margin)
        assert not [n for n in found if n.startswith("threads ")]
        words = re.compile(r"last census, estimated from a sample \(largest band ±[<>\d.]+ %\), ")
        for command in (["top", "--once", "x"], ["trend", "x"], ["trend", "x", "--format", "json"], ["post-mortem", "x"]):
            assert words.search(heapwatch(daemon, *command).stdout), (command, heapwatch(daemon, *command).stdout)
        assert abs(as_json(daemon, "trend", "x")["census"]["spread"] - census.spread) < 0.2
        notes = [n.text for u in daemon.snapshot("x").get("notes", []) for n in u.notes.notes]
        assert any(n.startswith("bands are estimated from ") for n in notes), notes
        program.kill()
        wait_for(lambda: "x does not run now" in heapwatch(daemon, "heap", "x").stderr, "the end")


def test_an_alert_finds_out_why(directory):
    """The holder is named once the alert fires, by all faces in the same words, and by the recording when the program is gone."""
    require_tracing()
    rules = directory / "rules.yaml"
    rules.write_text("groups:\n- name: test\n  rules:\n  - {alert: big, expr: live > 1MiB, do: [why: {max_pause: 10s}]}\n")
    with Daemon(directory, args=("--resolution", "1s", "--rules", rules, "--record", directory / "kept")) as daemon, \
            running(programs["threaded"], "1000", *OFTEN, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as program:
        assert heapwatch(daemon, "attach", "--outside", program.pid, "--name", "x").returncode == 0

        def result():
            return next((r for u in daemon.snapshot("x").get("alerts", []) for a in u.alerts.alerts if a.rule == "big"
                         for r in a.actions if r.HasField("ok")), None)
        found = wait_for(result, "the answer")
        assert found.ok and found.detail.startswith("a thread") and "frame of Main.main" in found.detail, found
        assert " keeps " in found.detail and "by way of" in found.detail and "would go" in found.detail, found
        assert f"why: {found.detail}\n" in heapwatch(daemon, "alerts").stdout
        kept = as_json(daemon, "trend", "x")["why"]
        assert kept["text"] == f"{found.detail}; read at " and int(kept["timeNs"]) > 0
        for shown in (heapwatch(daemon, "trend", "x").stdout, heapwatch(daemon, "post-mortem", "x").stdout,
                      as_json(daemon, "top", "--once", "x")["targets"][0]["why"]):
            assert f"{found.detail}; read at " in shown, shown
        done = heapwatch(daemon, "why", "x", "Record", "--brief")
        assert done.returncode == 0 and "frame of Main.main" in done.stdout and " of Work.Record (" in done.stdout, done
        resident = daemon.snapshot("x")["heap"][0].heap.process.rss_bytes
        program.kill()
        program.wait()

        daemon.wait_state("x", "ENDED")
        end = wait_for(lambda: next((p.read_text() for p in (directory / "kept").glob("x/*/end")), None), "its end on disk")
        assert f"\nwhy {found.detail}\n" in end, end
        live, recorded = (json.loads(heapwatch(daemon, "post-mortem", of, "--format", "json").stdout) for of in ("x", "recording:x"))
        for said in (live, recorded):
            assert [r["text"] for r in said["rows"] if r["key"] == "why"] == [kept["text"]], said
        assert recorded["memory"]["rssBytes"] == live["memory"]["rssBytes"] and int(recorded["memory"]["rssBytes"]) > resident / 2


def test_threads_have_the_labels_of_the_log(directory):
    """GHC 9.0 does not keep them in the program."""
    require_tracing()
    own = directory / "own.eventlog"
    with Daemon(directory) as daemon, \
            running(programs["threaded"], "1000", *OFTEN, "-l", f"-ol{own}", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as program:
        assert client("add", "--connect", daemon.publish, f"own=file:{own}").returncode == 0
        wait_for(lambda: any(n.what == n.WHAT_THREAD_LABEL for u in daemon.snapshot("own").get("notes", []) for n in u.notes.notes) and
                 daemon.target("own").run_info.local, "a label")
        members = [m for g in as_json(daemon, "threads", "own")["groups"] for m in g["members"]]
        labels = [m["label"] for m in members if "label" in m]
        assert "main" in labels and any(label.startswith("IOManager") for label in labels), labels
        assert program.poll() is None


def test_live_data_are_those_of_the_runtimes_own_log(directory, stripped):
    """The same program, watched in both ways at once."""
    own = directory / "own.eventlog"
    with Daemon(directory) as daemon, \
            running(stripped("threaded"), "1000", *OFTEN, "-l", f"-ol{own}", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as program:
        for source in (f"own=file:{own}", f"x=outside:{program.pid}"):
            printed("add", "--connect", daemon.publish, source)
        found = {}

        def agree():
            """In the newest pair whose values are of the same collection."""
            for name in ("own", "x"):
                if (h := heap(daemon, name)) and h.live_bytes:
                    found.setdefault(name, {})[h.live_bytes] = h.live_time_ns if h.HasField("live_time_ns") else 0
            return any(abs(a - b) < 0.01 * a + 64 * 1024 for a in found.get("own", ()) for b in found.get("x", ()) if a > 2 * MIB)
        wait_for(agree, "both to agree")


def test_live_data_are_known_without_major_collections(directory, stripped):
    """A leak is found, and no garbage is taken for one: by what the roots reach."""
    without = ("+RTS", "-A1m", "-F100", "-O500m")
    with Daemon(directory, args=("--resolution", "1s")) as daemon, \
            running(stripped("promoted"), "all", *without) as leak, running(stripped("promoted"), "newest", *without) as garbage:
        for name, program in (("leak", leak), ("garbage", garbage)):
            printed("add", "--connect", daemon.publish, f"{name}=outside:{program.pid}")

        def collections(name):
            """Of the youngest and of the oldest generation."""
            gc = daemon.snapshot(name).get("gc")
            return [{g.generation: g.count for g in gc[0].gc.generations}.get(i, 0) for i in (0, 1)] if gc else [0, 0]
        wait_for(lambda: all(heap(daemon, n) and heap(daemon, n).live_bytes for n in ("leak", "garbage")), "live data of both")
        first = heap(daemon, "leak").live_bytes
        wait_for(lambda: "rising: " in heapwatch(daemon, "top", "--once", "leak").stdout, "the rise", poll_s=0.2)
        assert heap(daemon, "leak").live_bytes > first
        h = wait_for(lambda: (h := heap(daemon, "garbage")) and h.live_samples > 5 and h.heap_size_bytes > 8 * h.live_bytes and h, "garbage")
        assert h.live_bytes < MIB
        screen = heapwatch(daemon, "top", "--once", "garbage").stdout
        where = [u.trends.growth.where for u in daemon.snapshot("garbage").get("trends", []) if u.trends.HasField("growth")]
        assert "rising: " not in screen and pb.Growth.WHERE_LIVE not in where, (where, screen)  # its heap does grow, and may be said to
        for name in ("leak", "garbage"):
            young, old = collections(name)
            assert young > 5 and old <= 1, (name, young, old)      # that one is at its start


def states_of(log):
    """Of the runtime's own log: how often each generation had been collected after each collection; all that was allocated, and live."""
    events = sorted((json.loads(line) for line in client("events", log, "--format", "json", "--kind", "GC_STATS_GHC,HEAP_ALLOCATED,HEAP_LIVE").stdout
                     .splitlines()), key=lambda e: int(e["timeNs"]))
    counts, states, allocated, live = {}, set(), {}, set()
    for e in events:
        fields = e["fields"]
        if e["name"] == "GC_STATS_GHC":
            counts[fields["generation"]] = counts.get(fields["generation"], 0) + 1
            states.add(tuple(sorted(counts.items())))
        elif e["name"] == "HEAP_ALLOCATED":
            allocated[int(fields["allocated_bytes"])] = True
        else:
            live.add(int(fields["live_bytes"]))
    return states, allocated, live


COUNTED = "counted from outside, not timed: pauses are not known"
WAYS = [("threaded", ()), ("plain", ("-xn",)), ("threaded", ("-xn",)), ("plain", ("-c",)), ("plain", ("-G3",)), ("plain", ())]


@pytest.mark.parametrize("build,options", WAYS if LONG else WAYS[:2])
def test_collections_and_allocation_are_those_of_the_runtimes_own_log(directory, stripped, build, options):
    own = directory / "own.eventlog"
    with Daemon(directory) as daemon, \
            running(stripped(build), "0", "more", *OFTEN, *options, "-l", f"-ol{own}", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as program:
        printed("add", "--connect", daemon.publish, f"x=outside:{program.pid}")

        def known():
            found = daemon.snapshot("x")
            gc, h = found.get("gc"), heap(daemon, "x")
            return gc and h and h.allocated_bytes and h.live_bytes and sum(g.count for g in gc[0].gc.generations) > 100 and (gc[0].gc, h)
        gc, h = wait_for(known, "counts")
        assert gc.counted and gc.pause_total_ns and gc.copied_bytes and not gc.HasField("gc_share") and not gc.HasField("sync_total_ns")
        assert not any(g.HasField("pause_total_ns") or g.HasField("pause_p99_ns") for g in gc.generations), gc
        assert COUNTED in heapwatch(daemon, "top", "--once", "x").stdout
        program.stdin.close()
        program.wait(DEADLINE_S)
    states, allocated, live = states_of(own)
    assert tuple((g.generation, g.count) for g in gc.generations if g.count) in states, (gc, sorted(states)[-1])
    assert h.allocated_bytes in allocated and h.live_bytes in live, (h, list(allocated)[-3:])


def test_what_is_counted_is_not_called_timed(directory, browser):     # noqa: F811
    """A finished log of a program that was watched from outside, and whose runtime kept no times."""
    log = LiveLog(directory / "x.eventlog", capability=NO_CAPABILITY)
    for s in range(1, 41):
        log.counted([100 * s, s], 1000000 * s, None, s * 10**9)
    rules = directory / "rules.yaml"
    rules.write_text("groups:\n- name: test\n  rules:\n" + "".join(f"  - {{alert: {name}, expr: '{expr}'}}\n" for name, expr in (
        ("share", "gc_share >= 0"), ("pauses", "count(gc_pause, 10s) >= 0"), ("allocates", "allocation_rate > 900kB/s"))))
    fired = client("alerts", "--rules", rules, log.path).stdout.decode()
    assert " allocates " in fired and " share " not in fired and " pauses " not in fired, fired
    text = client("summary", log.path).stdout.decode()
    assert "4,000 colls" in text and COUNTED in text and "All of them took" not in text, text
    summary = json.loads(client("summary", log.path, "--format", "json").stdout.decode().splitlines()[0])
    assert '"counted":true' in json.dumps(summary, separators=(",", ":")) and "pauseTotalNs" not in json.dumps(summary), summary
    for part, collections in (((), 4040), (("--a-range", "20s..", "--b-range", "20s.."), 2020)):
        both = json.loads(client("diff", log.path, *([] if part else [log.path]), *part, "--format", "json").stdout)
        numbers = {q["name"]: q["new"] for q in both["quantities"]}
        assert numbers["collections"] == pytest.approx(collections) and numbers.get("gc_time") is None, numbers
    metrics = client("convert", log.path, "--to", "openmetrics").stdout.decode()
    assert 'heapwatch_gc_collections_total{target="x",generation="0"} 4000' in metrics and "gc_pause" not in metrics.replace("# ", ""), metrics
    assert f"4,040 times, {COUNTED}" in client("post-mortem", log.path).stdout.decode()
    assert "not known: collections are counted" in client("top", "--once", "--view", "gc", log.path).stdout.decode()
    assert client("report", log.path, "-o", directory / "r.html").returncode == 0
    with browser.tab() as tab:
        tab.go(f"file://{directory}/r.html#/gc?target=x").until("heapwatch.settled && heapwatch.table('generations')?.rows?.length === 2")
        assert tab.js("document.querySelector('main').innerText").count("Not known: collections are counted from outside, not timed.") == 2
        assert [r["count"] for r in tab.table("generations")["rows"]] == [4000, 40] and tab.axe() == [] and tab.diagnostics() == []


def test_an_inspector_that_is_killed_is_started_again(directory, stripped):
    with Daemon(directory) as daemon, \
            running(stripped("threaded"), "1000", *OFTEN, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as program:
        assert heapwatch(daemon, "attach", program.pid, "--name", "x").returncode == 0
        wait_for(lambda: (h := heap(daemon, "x")) and h.live_bytes, "live data")
        first = inspector_of(daemon.process.pid)
        os.kill(first, signal.SIGKILL)
        assert wait_for(lambda: (i := inspector_of(daemon.process.pid)) != first and i, "another")
        t = wait_for(lambda: (t := daemon.target("x")).state == pb.Target.STATE_RUNNING and "goes on" in t.detail and t, "the run to go on")
        assert t.runs == 1
        assert pathlib.Path(f"/proc/{program.pid}/status").read_text().split("State:\t")[1][0] in "RS", "the program runs"
        another = inspector_of(daemon.process.pid)
        daemon.stop(signal.SIGKILL)
        wait_for(lambda: not pathlib.Path(f"/proc/{another}").exists(), "the end of the inspector whose daemon is gone")
        assert program.poll() is None


def test_what_executes_another_program_has_ended(directory):
    """It was lost for ever, with the other program's memory for its own."""
    require_tracing()
    program = compile_haskell("Exits", "Exits", "-threaded")
    with Daemon(directory) as daemon, running(program, "execute-another", "6", stdin=subprocess.DEVNULL) as p:
        wait_for(lambda: heapwatch(daemon, "attach", "--outside", p.pid, "--name", "x").returncode == 0, "its runtime, and the attach")
        resident = wait_for(lambda: (h := heap(daemon, "x")) and h.process.rss_bytes, "its memory")
        assert daemon.wait_state("x", "ENDED").detail == "it executed another program in its place: sh"
        assert p.wait(DEADLINE_S) == 3
        t = daemon.wait_state("x", "ENDED")
        assert t.detail == "it executed another program in its place: sh" and t.runs == 1, t
        assert heap(daemon, "x").process.rss_bytes > resident / 2


def test_nobody_is_left_after_detaching(directory, stripped):
    with Daemon(directory) as daemon, \
            running(stripped("threaded"), "1000", *OFTEN, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as program:
        assert heapwatch(daemon, "attach", program.pid).returncode == 0
        pid = inspector_of(daemon.process.pid)
        assert heapwatch(daemon, "detach", program.pid).returncode == 0
        wait_for(lambda: not pathlib.Path(f"/proc/{pid}").exists(), "its end")
        assert not daemon.status().targets and program.poll() is None


def test_what_is_no_haskell_program_is_watched_as_a_process(directory):
    require_tracing()
    with Daemon(directory) as daemon, running("sleep", "1000") as program:
        done = heapwatch(daemon, "attach", "--outside", program.pid, "--name", "x")
        assert done.returncode == 0 and "cannot be read from outside" in done.stdout, done
        t = daemon.wait_state("x", "RUNNING")
        assert t.run_info.process_only and t.process_only_reason.startswith("from outside: "), t.process_only_reason


@pytest.mark.parametrize("scope", ["1", "2", "3"])
def test_what_yama_forbids_is_said_with_its_setting(directory, scope):
    """A kernel with yama, as far as its file tells; what is refused for another reason here would be by it there."""
    require_another_user()
    prefix = under_yama(directory, scope)
    directory.chmod(0o755)
    undumpable = "import ctypes, time; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); print(flush=True); time.sleep(1000)"  # not to be inspected by its user
    as_nobody = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
    for name in ("heapwatch", "heapwatch-live", "heapwatch-inspect"):     # where it can read them
        shutil.copy(pathlib.Path(CLIENT).with_name(name), directory / name)
    with running(*as_nobody, "/usr/bin/python3", "-c", undumpable, stdout=subprocess.PIPE) as program:
        assert program.stdout.readline()
        for verb in (["threads"], ["heap"], ["why"], ["profile", "--for", "1s"]):
            done = subprocess.run([*prefix, *as_nobody, directory / "heapwatch", verb[0], str(program.pid), *verb[1:]],
                                  env={**os.environ, "HEAPWATCH_DIR": "/nonexistent"}, capture_output=True, text=True, timeout=DEADLINE_S)
            assert done.returncode == 2 and f"kernel.yama.ptrace_scope is {scope}: " in done.stderr, (verb, done)
            assert len(done.stderr.splitlines()) == 1 and ("CAP_SYS_PTRACE" in done.stderr or scope == "3"), done
