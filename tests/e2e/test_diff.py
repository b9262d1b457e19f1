# SPDX-License-Identifier: BSD-3-Clause
"""`heapwatch diff`: the numbers are those of summary, decisions follow the intervals, mistakes are named."""
import json
import random
import urllib.error
import urllib.parse
import urllib.request

import pytest

import web_browser
from harness import LOGS, Daemon, client, wait_for
from live_log import LiveLog

SECOND = 10**9


def log(name):
    return LOGS / name / "run.eventlog"


def diff(*args, status=0):
    out = client("diff", *map(str, args))
    assert out.returncode == status, (out.returncode, out.stdout, out.stderr)
    return out.stdout.decode() if isinstance(out.stdout, bytes) else out.stdout


def numbers(*args, status=0):
    said = json.loads(diff("--format", "json", *args, status=status))
    return said, {q["name"]: q for q in said["quantities"]}


def made(path, live, bands=(), start_s=0):
    """A run: live data each second, a heap profile with it."""
    run = LiveLog(path, start_wall_ns=1_700_000_000 * SECOND)
    for n, size in enumerate(live):
        at = (start_s + n + 1) * SECOND
        run.live(size, at_ns=at)
        if bands:
            run.census({name: size * share // 100 for name, share in bands}, at_ns=at + 1000)
    run.end()
    return path


def about(level, chance, n=40, noise=0.01):
    return [int(level * (1 + noise * chance.gauss(0, 1))) for _ in range(n)]


@pytest.mark.parametrize("name", ["leaky-hT-ghc9103", "leaky-hi-ghc966", "parallel-full-ghc9103", "steady-gc-ghc902",
                                  "leaky-nonmoving-ghc902", "crash-kill9-ghc9103"])
def test_the_numbers_are_those_of_summary(name):
    summary = json.loads(client("summary", "--format", "json", str(log(name))).stdout)
    said, q = numbers(log(name), log(name))
    memory, generations = summary["memory"], summary["collections"]["generations"]
    assert q["peak(live)"]["new"] == memory["maxResidencyBytes"]
    assert q["allocated"]["new"] == memory["allocatedBytes"]
    assert q["copied"]["new"] == memory["copiedBytes"]
    assert q["collections"]["new"] == sum(g["collections"] for g in generations)
    assert q["gc_time"]["new"] == sum(g["pauseTotalNs"] for g in generations)
    assert q["max(gc_pause)"]["new"] == max(g["pauseMaxNs"] for g in generations)
    assert q["duration"]["new"] == summary["time"]["totalNs"]
    if "heapProfile" in summary:
        largest = max(b["maxBytes"] for b in summary["heapProfile"]["bands"])
        assert max(r["peak"]["new"] for r in said["rows"] if r["kind"] == "band") >= largest


def test_a_log_against_itself_differs_in_nothing():
    said, q = numbers(log("leaky-hT-ghc9103"), log("leaky-hT-ghc9103"), "-n", "peak(live) 100%, allocated 20%")
    assert all(x["change"] == 0 for x in q.values())
    assert all(r["change"] == 0 for r in said["rows"])
    assert [b["decision"] for b in said["bounds"]] == ["kept", "kept"]


def test_means_of_bands_are_over_time(tmp_path):
    """The same growth, seen at equal distances and at such that grow with the heap, as the agent takes censuses."""
    rare = [1.0]
    while rare[-1] < 500:
        rare.append(rare[-1] * 1.2)
    logs = []
    for name, times in (("even", range(1, 602, 20)), ("rare", [*rare, 601])):
        run = LiveLog(tmp_path / name, start_wall_ns=1_700_000_000 * SECOND)
        for t in times:
            size = int((10 + t) * (1 << 20))
            run.live(size, at_ns=int(t * SECOND))
            run.census({"A": size * 6 // 10, "B": size * 4 // 10}, at_ns=int(t * SECOND) + 1000)
        run.end()
        logs.append(tmp_path / name)
    said, _ = numbers(logs[1], "--against", logs[0])
    for row, share in zip(sorted(said["rows"], key=lambda r: r["name"]), (0.6, 0.4), strict=True):
        assert row["baseline"] == pytest.approx(share * (311 << 20), rel=0.005) and abs(row["change"] / row["baseline"]) < 0.01, row


def test_several_runs_against_several(tmp_path):
    chance = random.Random(5)
    bands = [("ARR_WORDS", 60), ("THUNK", 40)]
    old = [made(tmp_path / f"old{i}", about(10 << 20, chance), bands) for i in range(5)]
    new = [made(tmp_path / f"new{i}", about(11 << 20, chance), [("ARR_WORDS", 70), ("FUN", 30)]) for i in range(5)]
    bounds = "mean(live) 5%, mean(live) 2MiB, mean(band:ARR_WORDS) 5%, peak(census_total) 1B, p99(gc_pause) 1ms"
    said, q = numbers(*new, "--against", *old, "-n", bounds, status=1)
    mean = q["mean(live)"]
    assert mean["interval"] == "rank-sum" and mean["level"] >= 0.95
    assert mean["low"] < mean["change"] < mean["high"] and abs(mean["changeShare"] - 0.1) < 0.01
    assert [b["decision"] for b in said["bounds"]] == ["broken", "kept", "broken", "broken", "undecided"]
    rows = {r["name"]: r for r in said["rows"]}
    assert rows["FUN"]["baseline"] == 0 and rows["THUNK"]["new"] == 0       # a full outer join
    assert rows["FUN"]["low"] > 0 and rows["THUNK"]["high"] < 0
    # the other way round nothing is worse
    assert "broken" not in diff(*old, "--against", *new, "-n", "mean(live) 0%, mean(band:ARR_WORDS) 0%")


def test_a_report_of_two_logs_says_the_same():
    said, _ = numbers(log("leaky-hT-ghc902"), log("leaky-hT-ghc9103"))
    report = json.loads(client("report", "--format", "json", "-o", "-", str(log("leaky-hT-ghc902")), str(log("leaky-hT-ghc9103"))).stdout)
    assert report["diff"] == said
    assert "diff" not in json.loads(client("report", "--format", "json", "-o", "-", str(log("leaky-hT-ghc902"))).stdout)


def test_what_cannot_be_told_is_a_finding_when_strict(tmp_path):
    chance = random.Random(6)
    old, new = (made(tmp_path / n, about(10 << 20, chance, noise=0.2)) for n in ("old", "new"))
    said = diff(old, new, "-n", "mean(live) 1%")
    assert "mean(live) 1%: cannot tell" in said and "one run of each" in said
    diff(old, new, "-n", "mean(live) 1%", "--strict", status=1)


def test_parts_of_a_run(tmp_path):
    steps = made(tmp_path / "steps", [1 << 20] * 20 + [3 << 20] * 20)
    _, q = numbers(steps, "--b-range", "..20500ms", "--a-range", "52%..")
    assert q["peak(live)"]["baseline"] == 1 << 20 and q["mean(live)"]["new"] == 3 << 20
    _, q = numbers(steps, "--b-range", "..20500ms", "--a-range", "20500ms..")
    assert q["peak(live)"]["baseline"] == 1 << 20 and q["mean(live)"]["new"] == 3 << 20
    notes = log("leaky-hi-ghc9103")
    listed = [json.loads(line) for line in client("pipe", "--format", "json", "--kinds", "note", "--numbers", str(notes)).stdout.splitlines()]
    marker = next(n for u in listed for n in u["notes"]["notes"] if n["what"] == "WHAT_MARKER")
    said, q = numbers(notes, "--a-range", f"note:{marker['text']}..", "--b-range", f"..note:{marker['text']}")
    whole, _ = numbers(notes, notes)
    total = whole["new"][0]["values"]
    assert abs(q["duration"]["new"] + q["duration"]["baseline"] - total["duration"]) < 1
    assert q["collections"]["new"] + q["collections"]["baseline"] == total["collections"]
    assert abs(q["allocated"]["new"] + q["allocated"]["baseline"] - total["allocated"]) < 2
    assert "slope(live)" not in q          # the verdict is about whole runs


def test_a_dump_has_the_rate_of_its_own_minutes(directory):
    """20 MiB/s for half an hour: the last five minutes of it are five minutes, and what was allocated before them is not theirs."""
    path, cut, mib = directory / "fast.eventlog", directory / "cut.eventlog", 1 << 20
    run = LiveLog(path, start_wall_ns=1_700_000_000 * SECOND)
    for s in range(1, 1801):
        run.allocated(s * 20 * mib, at_ns=s * SECOND)
        run.live(8 * mib + s % 5 * mib, at_ns=s * SECOND + 1000)
    run.end()
    with Daemon(directory, f"fast={path}", args=("--record", directory / "record")) as d:
        d.wait_state("fast", "ENDED")
    done = client("recording", "dump", "fast", "--dir", directory / "record", "--from", "-5m", "-o", cut)
    assert done.returncode == 0 and b", 5m 00s of events" in done.stderr, done.stderr
    said, q = numbers(path, cut)
    assert q["allocation_rate"]["baseline"] == pytest.approx(20 * mib, rel=0.01)
    assert q["allocation_rate"]["new"] == pytest.approx(20 * mib, rel=0.02), q["allocation_rate"]
    assert q["allocated"]["new"] == pytest.approx(20 * mib * q["duration"]["new"] / SECOND, rel=0.02)


def test_intervals_do_not_claim_what_cannot_be(tmp_path):
    """A positive amount cannot lose more than all of it, and one run's longest pause says nothing of its noise."""
    chance = random.Random(7)
    few = made(tmp_path / "few.eventlog", [max(1, x) for x in about(1 << 20, chance, noise=0.8)], (("a", 60), ("b", 40)))
    more = made(tmp_path / "more.eventlog", [max(1, x) for x in about(1 << 20, chance, noise=0.8)], (("a", 50), ("b", 50)))
    said, q = numbers(few, more)
    intervals = [(x["baseline"], x["low"]) for x in said["quantities"] if x.get("low") is not None and x["name"] != "slope(live)"]
    assert intervals and all(low >= -old for old, low in intervals), intervals
    _, q = numbers(log("leaky-hT-ghc9103"), log("leaky-hT-ghc9103"))
    assert q["max(gc_pause)"].get("low") is None and q["max(gc_pause)"]["new"] > 0


def test_info_tables_without_a_name_are_not_matched():
    said, _ = numbers(log("leaky-hi-ghc966"), log("leaky-hi-ghc9103"))
    unnamed = [r for r in said["rows"] if not r["matched"]]
    assert len(unnamed) == 1 and unnamed[0]["new"] > 0 and unnamed[0]["baseline"] > 0
    assert any("cannot be matched" in n for n in said["notes"])
    assert any("GHC's version" in n for n in said["notes"])
    names = {r["name"] for r in said["rows"] if r["matched"] and r["new"] > 0 and r["baseline"] > 0}
    assert "serve Work ./Work.hs:27:19-54 Integer" in names and not any("sat_" in n for n in names)


@pytest.mark.parametrize("args, words", [
    (["a", "b", "c"], "which of 3 logs are the baseline? put --against before them"),
    (["a"], "one log: compared with what?"),
    (["a", "--against"], "expected the baseline's logs after it"),
    (["--against", "a"], "expected the new logs before it"),
    (["a", "b", "--range", "soon"], "'soon' is not a part of a run; expected FROM..TO"),
    (["a", "b", "--range", "5m..1m"], "the part 5m..1m is empty"),
    (["a", "b", "-n", "peak(life) 5%"], "'peak(life)' is not a quantity"),
    (["a", "b", "-n", "peak(live) much"], "'much' is not a bound"),
    (["a", "b", "-n", "gc_share 20MiB"], "'20MiB' is not a bound"),
    ([log("leaky-hT-ghc902"), log("leaky-hT-ghc902"), "--range", "note:no such note.."], "no note contains 'no such note'"),
    ([log("leaky-hT-ghc902"), "/dev/null"], "/dev/null"),
])
def test_mistakes_are_named(args, words):
    out = client("diff", *map(str, args))
    assert out.returncode == 2 and words in out.stderr.decode() and not out.stdout, out.stderr


# Of a live target: what its daemon counts, and what it keeps in points.
EXACT = {"duration", "peak(live)", "peak(heap)", "peak(census_total)", "allocated", "allocation_rate", "collections", "copied",
         "gc_time", "gc_share", "max(gc_pause)"}
NEAR = {"p50(gc_pause)": 0.02, "p99(gc_pause)": 0.02, "mean(live)": 0.15, "mean(heap)": 0.15, "mean(census_total)": 0.15}


def asked(web, path, **query):
    with urllib.request.urlopen(f"{web.url.split('#')[0].rstrip('/')}/api/{path}?{urllib.parse.urlencode(query)}") as answer:
        return json.load(answer)


def test_the_page_compares_whole_runs_with_the_same_code(directory):
    """Live targets in the page and its API, and finished logs, which have exactly what the command prints."""
    old, new = log("leaky-hT-ghc9103"), log("leaky-hT-ghc902")
    said = numbers(old, new)[0]["quantities"]
    with Daemon(directory, f"old={old}", f"new={new}") as d:
        d.wait_state("old", "ENDED")
        d.wait_state("new", "ENDED")
        with web_browser.Web("--connect", f"ipc://{directory}/publish") as web:
            wait_for(lambda: len(asked(web, "targets")) == 2, "both targets")
            live = asked(web, "diff", a="0:old", b="0:new")
            for query in ({"a": "0:old"}, {"a": "0:old", "b": "0:none"}, {}):
                with pytest.raises(urllib.error.HTTPError) as refused:
                    asked(web, "diff", **query)
                assert refused.value.code == 400
            if web_browser.installed():
                with web_browser.opened() as tab:
                    rows = tab.go(f"{web.url}#/compare?a=old&b=new&ra=all&rb=all").table("diff")["rows"]
                assert [(r["title"], r["change"]) for r in rows] == [(q["title"], q["change"]) for q in live["quantities"]]
    found = {q["name"]: q for q in live["quantities"]}
    assert EXACT | NEAR.keys() <= found.keys() and any("daemon's history" in note for note in live["notes"])
    for q in said:
        for side in ("new", "baseline"):
            if q["name"] in EXACT:
                assert found[q["name"]][side] == pytest.approx(q[side], rel=1e-9), q
            elif q["name"] in NEAR:
                assert found[q["name"]][side] == pytest.approx(q[side], rel=NEAR[q["name"]]), q
    with web_browser.Web(new, old) as web:      # whatever order the names have
        wait_for(lambda: len(asked(web, "targets")) == 2, "both logs")
        assert asked(web, "diff", a=f"0:{old.parent.name}", b=f"0:{new.parent.name}")["quantities"] == said
