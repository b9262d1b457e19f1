# SPDX-License-Identifier: BSD-3-Clause
"""heapwatch report: what is in the file, checked against `heapwatch pipe` and by independent computation."""
import contextlib
import fcntl
import json
import math
import os
import pty
import re
import struct
import subprocess
import termios

import numpy
import pytest

from harness import CLIENT, DEADLINE_S, LOGS, Daemon, client, piped, printed, private_directory, require_page, wait_for

LEAKY = LOGS / "leaky-hT-ghc9103" / "run.eventlog"
HC = LOGS / "cc-hc-ghc9103" / "run.eventlog"


def with_page():
    with private_directory() as d:
        return client("report", LEAKY, "-o", d / "x.html").returncode == 0


page = pytest.mark.skipif(not with_page(), reason="built without the page")


def data(*arguments):
    return json.loads(printed("report", *arguments, "--format", "json", "-o", "-"))


def bodies(report, kind, target=None):
    return [u["update"][kind] for u in report["state"]["updates"]
            if kind in u["update"] and u["update"].get("target") == (target or u["update"].get("target"))]


def columns(report, item):
    """Times and values, zeros where a band on a shared grid had no row."""
    if "grid" not in item:
        return item["times"], item["last"]
    times = report["history"]["grids"][item["grid"]]
    values = [0] * len(times)
    values[item["start"]:item["start"] + len(item["last"])] = item["last"]
    return times, values


def embedded(path):
    """The data inside a page, taken out as a browser would."""
    text = path.read_text()
    assert text.count("</script>") == 4, "the data's element and the program's three"
    start = text.index('<script type="application/json" id="data">')
    inside = text[text.index(">", start) + 1:text.index("</script>", start)]
    assert "<" not in inside
    return json.loads(inside)


@pytest.mark.parametrize("log", [LEAKY, HC])
def test_numbers_are_those_of_pipe(log):
    updates, report = piped(log), data(log)
    last = {k: [u for u in updates if k in u][-1][k] for k in ("heap", "gc", "health", "census", "targetState")}
    heap = bodies(report, "heap")[0]
    assert {k: v for k, v in heap.items() if k != "samples"} == {k: v for k, v in last["heap"].items() if k != "samples"}
    assert bodies(report, "health")[0] == last["health"] and bodies(report, "census")[0] == last["census"]
    assert bodies(report, "gc")[0]["generations"] == last["gc"]["generations"]
    collections = [c for u in updates for c in u.get("gc", {}).get("collections", [])]
    assert bodies(report, "gc")[0].get("collections", []) == collections
    for name, series in (("SERIES_LIVE", "live"), ("SERIES_GC_PAUSE", "gc_pause"), ("SERIES_HEAP_SIZE", "heap_size")):
        samples = sorted((int(t), int(v)) for u in updates for s in u.get("heap", {}).get("samples", [])
                         if s["series"] == name for t, v in zip(s["timesNs"], s["values"]))
        item = next(i for i in report["history"]["items"] if i.get("series") == series)
        assert sorted(zip((round(t * 1e9) for t in item["times"]), item["last"])) == samples
        assert "min" not in item, "a short log is not thinned"
    assert report["meta"]["logs"][0]["thinned"] is False


@pytest.mark.parametrize("log", [LEAKY, HC])
def test_statistics_by_another_hand(log):
    report = data(log)
    censuses = [u["census"] for u in piped(log) if "census" in u and not u["census"].get("unfinished")]
    times = numpy.array([int(c["timeNs"]) / 1e9 for c in censuses])
    rows = [dict(zip(c["band"], map(int, c["bytes"]))) for c in censuses]
    items = {i["band"]: i for i in report["history"]["items"] if i.get("band")}
    assert set(items) == {b for r in rows for b in r}
    for band, item in items.items():
        v = numpy.array([r.get(band, 0) for r in rows], dtype=float)
        own = numpy.array([band in r for r in rows])
        assert columns(report, item) == ([int(c["timeNs"]) / 1e9 for c in censuses], list(map(int, v)))
        s, n = item["stats"], len(v)
        assert (s["samples"], s["censuses"], s["sum"]) == (own.sum(), n, v.sum())
        assert s["mean"] == pytest.approx(v.mean())
        # eventlog2html: sqrt(n * sum of squares - square of sum) / n
        assert s["stddev"] == pytest.approx(math.sqrt(max(0, n * (v * v).sum() - v.sum() ** 2)) / n, abs=1e-3 * (1 + v.max()))
        held = numpy.append(numpy.diff(times), times[-1] - times[-2])
        assert s["integrated"] == pytest.approx((v * held).sum())
        t, w = times[own], v[own]
        if len(w) < 2 or w.min() == w.max():
            assert "slope" not in s and "fit" not in s
            continue
        slope, intercept = numpy.polyfit(t / t.max(), w / w.max(), 1)
        assert s["slope"] == pytest.approx(slope, rel=1e-6, abs=1e-9)
        assert s["intercept"] == pytest.approx(intercept, rel=1e-6, abs=1e-9)
        assert s["fit"] == pytest.approx(numpy.corrcoef(t, w)[0, 1] ** 2, rel=1e-6, abs=1e-9)


@page
def test_one_file_that_needs_nothing(tmp_path):
    done = client("report", LEAKY, "-o", tmp_path / "x.html")
    assert done.returncode == 0 and done.stderr == b"", done.stderr
    text = (tmp_path / "x.html").read_text()
    assert not re.search(r'(src|href)="(?!data:)', text), "nothing is fetched"
    assert "default-src 'none'" in text and "unsafe" not in text.split("<style")[0]
    inside, alone = embedded(tmp_path / "x.html"), data(LEAKY)
    assert inside["history"] == alone["history"]
    assert [p.name for p in tmp_path.iterdir()] == ["x.html"], "no draft is left"


def log_with_notes(path, notes):
    """A log made of a real one's header and notes of our own, one second apart."""
    real = LEAKY.read_bytes()
    start = real.index(b"datb") + 4
    events = b"".join(struct.pack(">HQH", 58, i * 10**9, len(n)) + n for i, n in enumerate(notes))
    path.write_bytes(real[:start] + events + b"\xff\xff")


HOSTILE = [b"</script><script>alert(1)</script>", b"<!-- <script>", b"\xff\xfe not UTF-8", b"\x1b[31m", b"]]>", b'"\\']


@page
def test_hostile_text_stays_text(tmp_path):
    log_with_notes(tmp_path / "bad.eventlog", HOSTILE)
    assert client("report", tmp_path / "bad.eventlog").returncode == 0
    notes = bodies(embedded(tmp_path / "bad.html"), "notes")[0]["notes"]
    assert [n["text"] for n in notes] == [h.decode("utf-8", "replace") for h in HOSTILE]
    raw = (tmp_path / "bad.html").read_bytes()
    assert b"<script>alert" not in raw and b"\x1b" not in raw


def test_all_notes_are_there_beyond_what_clients_keep(tmp_path):
    log_with_notes(tmp_path / "many.eventlog", [b"note %d" % i for i in range(3000)])
    notes = bodies(data(tmp_path / "many.eventlog"), "notes")[0]
    assert [n["text"] for n in notes["notes"]] == [f"note {i}" for i in range(3000)] and "dropped" not in notes
    log_with_notes(tmp_path / "more.eventlog", [b"note %d" % i for i in range(9000)])
    notes = bodies(data(tmp_path / "more.eventlog"), "notes")[0]
    assert len(notes["notes"]) + int(notes["dropped"]) == 9000


def test_nothing_is_lost_when_the_reader_is_slow(tmp_path):
    """The daemon finishes long before its client has read everything."""
    log_with_notes(tmp_path / "many.eventlog", [b"note %d" % i for i in range(9000)])
    pipe = subprocess.Popen([CLIENT, "pipe", "--format", "json", "--kinds", "note", tmp_path / "many.eventlog"],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def unread():
        return struct.unpack("i", fcntl.ioctl(pipe.stdout, termios.FIONREAD, b"\0" * 4))[0]

    wait_for(lambda: unread() >= 60000, "a full pipe")
    lines = pipe.stdout.readlines()
    assert pipe.wait(DEADLINE_S) == 0, pipe.stderr.read()
    assert sum(len(json.loads(line)["notes"]["notes"]) for line in lines) == 9000


def test_several_logs_and_options():
    report = data(LEAKY, HC, "--bands", "3", "--sort", "stddev", "--reverse", "-i", "a", "-i", "b", "--exclude", "c", "--no-notes",
                  "--include-trace-events", "--y-axis", "2MiB")
    assert report["meta"]["options"] == {"bands": 3, "sort": "stddev", "reverse": True, "include": ["a", "b"], "exclude": ["c"],
                                         "traces": False, "traceEvents": True, "yAxis": 2 << 20}
    assert len({i["target"] for i in report["history"]["items"]}) == 2 == len(report["meta"]["logs"])
    assert {log["sizeBytes"] for log in report["meta"]["logs"]} == {str(LEAKY.stat().st_size), str(HC.stat().st_size)}
    assert all("/" not in log["file"] for log in report["meta"]["logs"])


def test_a_large_log_is_thinned_and_says_so(tmp_path):
    """A gauge that jumps once among 50,000 samples: the jump must be seen in the thinned points."""
    real = LEAKY.read_bytes()
    start = real.index(b"datb") + 4
    n, spike = 50000, 31313
    events = bytearray()
    for i in range(n):
        events += struct.pack(">HQIQ", 50, i * 10**7, 0, 10**9 if i == spike else 10**6 + i % 10)
    (tmp_path / "long.eventlog").write_bytes(real[:start] + bytes(events) + b"\xff\xff")
    report = data(tmp_path / "long.eventlog")
    item = next(i for i in report["history"]["items"] if i.get("series") == "heap_size")
    assert len(item["times"]) <= 2000 and max(item["max"]) == 10**9 and min(item["min"]) == 10**6
    at = item["max"].index(10**9)
    assert item["times"][at] <= spike / 100 <= item["times"][at] + item["width"]
    log = report["meta"]["logs"][0]
    assert log["thinned"] and "50,000 samples" in log["thinning"] and "maxima are kept" in log["thinning"]


@pytest.mark.parametrize("log", [LEAKY, HC])
def test_of_a_target_it_has_what_its_daemon_remembers(directory, log):
    """The state is that of the log's report; each point of a band and of live data is a sample of the log."""
    require_page()
    of_log = data(log)
    with Daemon(directory, f"a={log}") as d:
        d.wait_state("a", "ENDED")
        of_target = data("--connect", d.publish, "a")
        done = client("report", "--connect", d.publish, "a", cwd=directory)
        assert done.returncode == 0 and done.stdout.startswith(b"a.html  "), done.stderr
        assert len(embedded(directory / "a.html")["history"]["items"]) == len(of_target["history"]["items"])
        done = client("report", "--connect", d.publish, "b", cwd=directory)
        assert done.returncode == 2 and b"no target 'b'" in done.stderr and not (directory / "b.html").exists()
    assert bodies(of_target, "census") == bodies(of_log, "census")
    heaps = [{**bodies(r, "heap")[0], "samples": None} for r in (of_target, of_log)]
    labels = [{b["id"]: b["label"] for b in bodies(r, "bands")[0]["bands"]} for r in (of_target, of_log)]
    assert heaps[0] == heaps[1] and labels[0] == labels[1]
    items = {(i.get("series"), i.get("band")): i for i in of_target["history"]["items"]}
    for item in of_log["history"]["items"]:
        times, last = columns(of_log, item)
        mine = items[item.get("series"), item.get("band")]
        ends = mine.get("ends", mine["times"])
        assert ends and abs(ends[-1] - times[-1]) < 1e-9 and mine["last"][-1] == last[-1]
        if item.get("series") in (None, "live"):
            assert set(zip(ends, mine["last"])) <= set(zip(times, last))
    assert of_target["state"]["server"]["targets"] == ["a"], "the order of Compare's sides"
    assert of_target["meta"]["logs"][0]["thinned"] and not of_target["state"]["server"]["live"]


def test_what_cannot_be_done(tmp_path):
    for arguments, words in (([], "LOG|TARGET... is missing"), (["/nonexistent.eventlog", "--format", "json"], "nonexistent"),
                             ([LEAKY, "--sort", "szie"], "did you mean 'size'"), ([LEAKY, "--bands", "-1"], "--bands: '-1': expected a whole number"),
                             ([LEAKY, "--y-axis", "high"], "512M"), ([LEAKY, "--format", "json", "-o", "/nonexistent/x"], "No such file")):
        done = client("report", *arguments)
        assert done.returncode == 2 and words in done.stderr.decode(), (arguments, done.stderr)
    for arguments, words in (([LEAKY, "api"], "api is not a file"), (["api", "--limit", "1GiB"], "--limit belongs to files"),
                             ([LEAKY, "--profile", "5s"], "--profile is for targets that run"),
                             ([LEAKY, "--heap"], "--heap is for targets that run")):
        done = client("report", *arguments)
        assert done.returncode == 2 and words in done.stderr.decode(), (arguments, done.stderr)
    (tmp_path / "junk.eventlog").write_bytes(b"this is no eventlog\n" * 50)
    done = client("report", "--format", "json", tmp_path / "junk.eventlog")
    assert done.stderr and [p.name for p in tmp_path.iterdir()] == ["junk.eventlog"]


def test_progress_on_a_terminal():
    """Only shown on a terminal, and erased at the end."""
    main, terminal = pty.openpty()
    done = subprocess.run([CLIENT, "report", LEAKY, "--format", "json", "-o", "/dev/null/x"], stdin=subprocess.DEVNULL, stderr=terminal,
                          stdout=subprocess.DEVNULL, timeout=DEADLINE_S)
    os.close(terminal)
    seen = b""
    with contextlib.suppress(OSError):      # a terminal's end is an error
        while part := os.read(main, 65536):
            seen += part
    os.close(main)
    assert done.returncode == 2 and b"\r\x1b[K" in seen
