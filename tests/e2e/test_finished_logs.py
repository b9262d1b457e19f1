# SPDX-License-Identifier: BSD-3-Clause
"""Logs of real programs that no reader should take for what they are not: how they ended, when they began, who wrote them."""
import gzip
import json
import re
import subprocess

import pytest

from harness import CLIENT, LOGS, ROOT, client, piped, written

DATA = ROOT / "tests" / "data" / "finished"


def as_json(*words):
    done = client(*words, "--format", "json")
    assert done.returncode in (0, 1), done
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("log", sorted(DATA.glob("not-completed-*.eventlog")), ids=lambda path: path.stem)
def test_a_log_that_was_never_completed(log):
    """SIGTERM, SIGHUP and exitImmediately leave no end marker, and most events in buffers: no crash, and no missing flag, is seen."""
    done = client("check", log)
    said = done.stdout.decode()
    assert done.returncode == 1 and [line for line in said.splitlines() if line.startswith("  ") and line[2] != " "] == ["  warning: log-not-completed"], said
    for words in (("summary",), ("trend",), ("post-mortem",), ("top", "--once"), ("report", "--format", "json", "--output", "/dev/stdout")):
        said = client(*words, log).stdout.decode()
        assert "It crashed" not in said and '"crashed"' not in said and "no heap profile, so" not in said and "with +RTS -l:" not in said, (words, said)
    account = as_json("post-mortem", log)
    assert account["end"] == "unknown" and {row["key"]: row.get("said") for row in account["rows"]}["next"] == "not-completed"


@pytest.mark.parametrize("log, known", [("fork-child-ghc902", False), ("fork-child-ghc966", True)])
def test_a_child_of_fork_process(log, known):
    """Its runtime logs times since the machine's boot, hours before; since GHC 9.2 the log has the child's own start, before not."""
    run = as_json("summary", DATA / f"{log}.eventlog")
    assert run["firstTimeNs"] == 0 and run["lastTimeNs"] < 1e9, run
    assert ("startWallNs" in run) == known and run.get("startWallNs", 0) == (1795920036495909427 if known else 0), run
    said = client("trend", DATA / f"{log}.eventlog").stdout.decode()
    assert "into the run" not in said or " ms into the run" in said, said


def test_a_log_that_was_started_late_keeps_its_clock():
    """Which begins with the same events: the runtime has known the program's main thread for long."""
    run = as_json("summary", LOGS / "socket-966-ctl" / "conn2.eventlog")
    assert 2e9 < run["firstTimeNs"] < 3e9 and run["startWallNs"] // 10**9 == 1795197745, run


def blocks_of(log):
    """Where its blocks begin."""
    at, found = log.index(b"hdredatb") + 8, []
    while at + 24 <= len(log) and log[at:at + 2] == b"\0\x12":
        found.append(at)
        at += int.from_bytes(log[at + 10:at + 14], "big")
    return found


def several_processes(log, pids):
    """That its numbers are of several processes is said by every face, and not as damage alone."""
    done = client("check", log)
    assert done.returncode == 1 and b"  warning: several-processes\n" in done.stdout, done
    assert b"Several processes wrote this log" in client("summary", log).stdout
    for words in ("trend", "post-mortem"):
        said = client(words, log).stdout.decode()
        assert re.search(r"^  (but|   ) +Several processes wrote ", said, re.M), said
    detail = as_json("summary", log)["detail"]
    assert all(str(pid) in detail for pid in pids), detail


def test_a_log_that_ghc_events_has_merged():
    """It keeps the numbers of capabilities, so no event says whose it is; sets of capabilities, each with its process, are kept apart."""
    several_processes(DATA / "merged-ghc902.eventlog", (791, 17144))


def test_the_log_of_another_process_behind_an_end(directory):
    """Two programs that open one file, of which the one that truncated it has ended first: the rest is the other's, a run of its own."""
    log, other = ((LOGS / name / "run.eventlog").read_bytes() for name in ("leaky-hT-ghc9103", "parallel-full-ghc9103"))
    (directory / "run.eventlog").write_bytes(log + b"\x2a" * 10 + other[blocks_of(other)[-3]:])
    whole = as_json("summary", LOGS / "leaky-hT-ghc9103" / "run.eventlog")
    runs = [json.loads(line) for line in client("summary", "--format", "json", directory / "run.eventlog").stdout.splitlines()]
    assert [run["run"] for run in runs] == [1, 2] and runs[0]["memory"] == whole["memory"] and runs[0]["pid"] == whole["pid"], runs
    assert "pid" not in runs[1] and runs[1]["collections"]["generations"], runs[1]
    several_processes(directory / "run.eventlog", ())


def test_a_heap_profile_of_two_processes():
    """forkProcess shares file and offset: times go back, and what goes back is not given a time that it never had."""
    path = DATA / "two-processes-ghc902.hp"
    times = [float(line.split()[1]) for line in path.read_text().splitlines() if line.startswith("BEGIN_SAMPLE")]
    later = [t for i, t in enumerate(times) if t >= max(times[:i], default=0)]
    assert len(later) < len(times)
    done = client("summary", "--format", "json", path)
    run = json.loads(done.stdout)
    assert "several processes wrote this file" in done.stderr.decode() and "several processes" in run["stream"]["unread"], done
    assert len(times) - len(later) == int(run["stream"]["unread"].split()[0]), run
    assert client("check", path).returncode == 1


@pytest.mark.parametrize("log, sign, version", [("byte-arrays-ghc902", -1, "9.0.2"), ("byte-arrays-ghc966", 1, "9.6.6"), ("byte-arrays-ghc9103", 1, "9.10.3")])
def test_bands_and_live_data_add_up(log, sign, version):
    """GHC 9.6 and 9.10 leave most of many short ByteStrings out of a census, 9.0 doubles arrays of more than 1 MiB: by how much is a row."""
    path = DATA / f"{log}.eventlog"
    profile = as_json("summary", path)["heapProfile"]
    census, bands = profile["census"], sum(band["bytes"] for band in profile["bands"])
    live = [int(line.split("live_bytes=")[1]) for line in client("events", path).stdout.decode().splitlines() if "HEAP_LIVE" in line]
    assert bands == int(census["totalBytes"]) and bands + census["uncountedBytes"] in live, (bands, census, live)
    assert sign * census["uncountedBytes"] > 1 << 20 and version in census["uncounted"], census
    for words in ("summary", "trend"):
        said = client(words, path).stdout.decode()
        assert "(not in the runtime's census)" in said and f"GHC {version} counts" in said, said
    if sign > 0:
        assert "of live data is in no band" in client("trend", path).stdout.decode()


@pytest.mark.parametrize("run", ["leaky-hc-ghc902", "leaky-hc-ghc9103", "steady-hT-thr-ghc902"])
def test_buffers_that_were_not_flushed_are_read_in_the_order_of_time(run, directory):
    """What two capabilities wrote lies one behind the other: nothing is late, and the newest is what happened last."""
    path = LOGS / run / "run.eventlog"
    packed = written(directory / "run.eventlog", gzip.compress(path.read_bytes()))
    lives = re.findall(r"^ *([\d.]+) .*HEAP_LIVE .*live_bytes=(\d+)", client("events", path).stdout.decode(), re.M)
    summary, trend = as_json("summary", path), as_json("trend", path)
    newest = [u["heap"]["liveBytes"] for u in piped(path) if "liveBytes" in u.get("heap", {})][-1]
    assert newest == max(lives, key=lambda live: float(live[0]))[1]
    assert summary["stream"]["lateSamples"] == 0 and int(trend["trends"].get("lateSamples", 0)) == 0
    assert summary["stream"]["bytes"] == path.stat().st_size
    assert as_json("trend", packed)["trends"] == trend["trends"]


def test_a_census_that_has_all_live_data_has_no_such_row():
    for run in ("leaky-hT-ghc902", "leaky-hT-ghc966", "leaky-hT-ghc9103"):
        assert "uncountedBytes" not in as_json("summary", LOGS / run / "run.eventlog")["heapProfile"]["census"]


def test_waiting_for_capabilities_is_a_number():
    log = LOGS / "steady-hT-thr-ghc9103" / "run.eventlog"
    run = as_json("summary", log)
    waited = run["collections"]["syncTotalNs"]
    assert waited > 0 and f"{waited / run['lastTimeNs']:.1%}"[:-1] in client("trend", log).stdout.decode().split("  waits ")[1].splitlines()[0]
    assert as_json("summary", LOGS / "leaky-hT-ghc9103" / "run.eventlog")["collections"]["syncTotalNs"] == 0      # without threads
    metrics = client("convert", "--to", "openmetrics", log).stdout.decode()
    shares = [float(line.split()[1]) for line in metrics.splitlines() if line.startswith("heapwatch_gc_sync_share")]
    assert not shares or 0 <= max(shares) <= 1


def test_gzip_with_zeros_behind_it(directory):
    """Padding of tapes and disks, which gzip takes, too; anything else behind the end is damage."""
    log = (LOGS / "leaky-hT-ghc9103" / "run.eventlog").read_bytes()
    for i, (tail, status) in enumerate(((bytes(100), 0), (bytes(300000), 0), (bytes(512) + gzip.compress(b"") + bytes(1), 0), (bytes(100) + b"x", 1))):
        path = written(directory / f"{i}.eventlog.gz", gzip.compress(log) + tail)
        done = client("check", path)
        assert done.returncode == status, (tail[:4], len(tail), done)


def test_a_log_from_standard_input():
    log = (LOGS / "leaky-hT-ghc9103" / "run.eventlog").read_bytes()
    for given in (log, gzip.compress(log)):
        done = subprocess.run([CLIENT, "post-mortem", "-"], input=given, capture_output=True, check=True)
        assert done.stdout.startswith(b"stdin, run 1: ended: "), done.stdout


def test_a_finished_log_is_called_by_its_program_too():
    said = client("trend", LOGS / "leaky-hT-ghc9103" / "run.eventlog").stdout.decode()
    assert said.startswith("run, run 1: steady (leaky)\n") and said.count("memory showed no lasting growth") == 1, said
    assert len(re.findall(r"^  live ", said.split("\n\n")[0], re.M)) == 1, said
    short = client("post-mortem", LOGS / "parallel-ghc9103" / "run.eventlog").stdout.decode()
    assert "last 10 s" not in short and " of the run; the longest" in short, short
