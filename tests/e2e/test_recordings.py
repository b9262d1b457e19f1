# SPDX-License-Identifier: BSD-3-Clause
"""The flight recorder: recordings outlive program and daemon, and any stretch of one is a valid eventlog."""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess

import pytest

from harness import CLIENT, LOGS, LONG, MAY_CLOSE_OUTPUT, ROOT, Daemon, client, compile_haskell, pb, printed, require_page, wait_for
from live_log import LiveLog

SEED = 20261122


def recordings(directory, *more):
    out = client("recording", "--dir", directory, "--format", "json", *more)
    assert out.returncode == 0, out.stderr
    return [json.loads(line) for line in out.stdout.splitlines()]


def dump(directory, which, path, *more):
    printed("recording", "dump", which, "--dir", directory, "-o", path, *more)
    return path


def ended(daemon, names):
    """Until all of the logs has been read: a state tells nothing of that, an end may be in the middle of a log."""
    sizes = {name: os.stat(path).st_size for name, path in (t.split("=", 1) for t in daemon.targets)}
    wait_for(lambda: all((h := daemon.health(n)) and h.bytes == sizes[n] for n in names), "all logs read")


def summary(path):
    """What a log says of its run, without what only the file knows."""
    said = json.loads(printed("summary", "--format", "json", str(path)))
    for run in said if isinstance(said, list) else [said]:
        for key in ("file", "log", "target", "ended", "detail"):
            run.pop(key, None)
    return said


@pytest.fixture
def record(directory):
    return pathlib.Path(directory) / "kept"


def test_a_recording_outlives_daemon_and_file(directory, record):
    require_page()
    log = pathlib.Path(directory) / "api.eventlog"
    shutil.copy(LOGS / "leaky-hi-ghc9103" / "run.eventlog", log)
    daemon = Daemon(directory, f"api={log}", args=["--record", record]).start()
    ended(daemon, ["api"])
    wait_for(lambda: recordings(record) and not recordings(record)[0]["live"], "its end on disk")
    daemon.process.send_signal(signal.SIGKILL)
    daemon.process.wait()
    whole = log.rename(pathlib.Path(directory) / "whole.eventlog")
    assert (record.stat().st_mode & 0o777) == 0o700
    assert all((p.stat().st_mode & 0o077) == 0 for p in record.rglob("*"))

    (run,) = recordings(record)
    assert run["target"] == "api" and run["lostBytes"] == 0 and run["endNs"] > 2_000_000_000
    again = dump(record, "api", pathlib.Path(directory) / "again.eventlog")
    told, first = summary(again), summary(whole)
    assert json.dumps(told).count("maxResidencyBytes") == json.dumps(first).count("maxResidencyBytes") == 1
    for key in ("memory", "collections", "heapProfile"):
        for a, b in zip(told if isinstance(told, list) else [told], first if isinstance(first, list) else [first]):
            assert a.get(key) == b.get(key), key
    # Every command that takes a log takes the recording.
    assert client("trend", f"recording:{record}/api").stdout.startswith(b"api, run 1")
    report = pathlib.Path(directory) / "r.html"
    assert client("report", f"recording:{record}/api?from=-1s", "-o", report).returncode == 0
    out = client("recording", "dump", "api", "--dir", record, "-o", again)
    assert out.returncode == 2 and b"--force" in out.stderr
    # Where it cannot be written, and where nobody reads it any more.
    for redirect, status in ((">/dev/full", 2), *([(">&-", 2)] if MAY_CLOSE_OUTPUT else []), ("| true; exit ${PIPESTATUS[0]}", 0)):
        out = subprocess.run(["bash", "-c", f"'{CLIENT}' recording dump api --dir '{record}' -o - {redirect}"], stderr=subprocess.PIPE)
        assert out.returncode == status and (status == 0 or out.stderr.count(b"\n") == 1), (redirect, out)
        assert status or out.stderr == b"" or b"of events" in out.stderr, out      # the pipe may hold all of it
    out = client("summary", f"recording:{record}/nobody")
    assert out.returncode == 2 and b"nothing of 'nobody'" in out.stderr
    assert client("recording", "delete", "api", "--dir", record).returncode == 0
    assert recordings(record) == []


def test_a_dump_has_what_was_read_a_moment_ago(directory, record):
    """What is not on disk yet is written on request, also of a run that goes on."""
    log = pathlib.Path(directory) / "api.eventlog"
    whole = (LOGS / "leaky-hT-ghc9103" / "run.eventlog").read_bytes()
    log.write_bytes(whole[:200_000])
    daemon = Daemon(directory, f"api={log}", args=["--record", record, "--limit", "1GiB"]).start()
    env = {"HEAPWATCH_DIR": str(directory)}
    wait_for(lambda: (h := daemon.health("api")) and h.bytes == 200_000, "all of it read")
    recording = daemon.health("api").recording
    assert recording.active and not recording.paused and recording.lost_bytes == 0
    path = pathlib.Path(directory) / "now.eventlog"
    printed("recording", "dump", "api", "-o", path, env=env)
    events = daemon.health("api").events
    cut = client("summary", path).stdout.decode()
    assert "nothing lost" in cut and "its recording was read up to here; the run itself goes on" in cut
    asked = [client("query", "SELECT state FROM runs", source, "-f", "csv", env=env).stdout for source in ("api", "recording:api", f"recording:{record}/api")]
    assert asked == [b"state\nrunning\n"] * 3
    assert [json.loads(client("summary", what, "--format", "json", env=env).stdout)["finished"] for what in (path, "recording:api", log)] == [False] * 3

    def judged(what):
        told = json.loads(client("trend", what, "--format", "json", env=env).stdout)["trends"]
        return [told.get(key) for key in ("limitBytes", "limitSource", "early")] + [told["scale"], told["growth"]["sentence"]]
    assert judged("api")[0] == 1 << 30
    wait_for(lambda: judged("recording:api") == judged("api"), "one judgement")
    told = int(cut.split("Log: ")[1].split(" events")[0].replace(",", ""))
    assert abs(told - events) < 64      # block markers of the places where it was cut
    out = client("recording", "delete", "api", env=env)
    assert out.returncode == 1 and b"is being recorded" in out.stderr
    assert client("recording", "dump", "nobody", "-o", "-", env=env).returncode == 2


def test_how_it_ended_is_in_the_recording(directory, record):
    """A log that is cut stays one; a part of it is a whole log."""
    logs = {n: LOGS / log / "run.eventlog" for n, log in (("bad", "crash-kill9-ghc9103"), ("good", "leaky-hT-ghc9103"))}
    daemon = Daemon(directory, *(f"{n}={p}" for n, p in logs.items()), args=["--record", record]).start()
    ended(daemon, logs)
    daemon.process.terminate()
    assert daemon.process.wait() == 0
    for name, status, words in (("bad", 0, b"bad, run 1: how it ended is not known: "), ("good", 0, b"good, run 1: ended: ")):
        for what in (f"recording:{record}/{name}", logs[name]):
            out = client("post-mortem", what)
            assert out.returncode == status, out.stderr
            assert out.stdout.split(b", run 1: ")[1].startswith(words.split(b", run 1: ")[1]), out.stdout
    out = client("post-mortem", f"recording:{record}/bad?to=100ms", "--format", "json")
    assert out.returncode == 0 and json.loads(out.stdout)["end"] == "ended"
    assert json.loads(out.stdout)["detail"].endswith("the run itself goes on"), "that is no end marker of the program"
    assert json.loads(out.stdout)["memory"]["liveBytes"] > 0
    out = client("summary", f"recording:{record}/bad?from=5h")
    assert out.returncode == 2 and b"begins 5h 00m into the run, of which" in out.stderr, out


def test_nothing_is_recorded_unless_asked_for(directory, record):
    config = pathlib.Path(directory) / "c.yaml"
    logs = [LOGS / n / "run.eventlog" for n in ("leaky-hT-ghc902", "parallel-ghc902")]
    config.write_text(f"record: {{directory: {record}, total: 8MiB}}\n"
                      f"targets:\n  - {{name: a, uri: {logs[0]}}}\n  - {{name: b, uri: {logs[1]}, record: false}}\n")
    daemon = Daemon(directory, args=["--config", config]).start()
    env = {"HEAPWATCH_DIR": str(directory)}
    for name in ("a", "b"):
        daemon.wait_state(name, "ENDED")
    assert not daemon.health("b").HasField("recording")
    wait_for(lambda: [r["target"] for r in recordings(record)] == ["a"], "a recorded, b not")
    out = client("recording", "dump", "b", "-o", "-", env=env)
    assert out.returncode == 2 and b"record: false" in out.stderr


def test_the_environment_is_nowhere(directory, record):
    """Event 31 of an old runtime system holds the program's environment."""
    log = LiveLog(pathlib.Path(directory) / "old.eventlog")
    log.program(["/opt/old", "--password=hunter3", "+RTS", "-l", "-RTS"], ["HOME=/root", "SECRET_TOKEN=hunter2"])
    log.live(1 << 20)
    Daemon(directory, f"old={log.path}", args=["--record", record]).start()
    wait_for(lambda: recordings(record) and recordings(record)[0]["endNs"], "it is on disk")
    kept = subprocess.run(f"cat {record}/old/*/*.zst | zstd -dc", shell=True, capture_output=True, check=True).stdout
    assert b"hunter" not in kept and b"hdrb" in kept and b"/opt/old\0+RTS\0-l\0-RTS\0" in kept


@pytest.fixture(scope="session")
def readable():
    """A program that reads eventlogs with the ghc-events library: an independent check of validity."""
    if subprocess.run(["ghc-pkg", "describe", "ghc-events"], capture_output=True, check=False).returncode != 0:
        pytest.skip("needs the Haskell package ghc-events")
    program = compile_haskell("readable", "Readable", "-package", "ghc-events")

    def read(paths):
        lines = subprocess.run([program, *paths], stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
        return dict(line.split("\t", 1) for line in lines)

    return read


@pytest.mark.long
def test_stretches_of_all_logs_are_read_by_ghc_events(directory, record, readable):
    logs = {p.parent.name: p for p in sorted(LOGS.glob("*/run.eventlog"))}
    good = {str(p): n for p, n in readable(logs.values()).items() if not n.startswith("error")}
    logs = {name: p for name, p in logs.items() if str(p) in good}     # not those on which it fails anyway
    assert len(logs) > 40
    daemon = Daemon(directory, *(f"{n}={p}" for n, p in logs.items()), args=["--record", record]).start()
    ended(daemon, logs)
    goes_on = {n for n in logs if daemon.target(n).state == pb.Target.STATE_RUNNING}       # files without an end marker
    wait_for(lambda: len(runs := recordings(record)) == len(logs) and {r["target"] for r in runs if r["live"]} <= goes_on,
             "all recorded to their ends")
    daemon.process.terminate()
    assert daemon.process.wait() == 0
    pick, cuts = random.Random(SEED), []
    for run in recordings(record):
        for i in range(10 if LONG else 2):
            a, b = sorted(pick.uniform(0, run["endNs"]) for _ in range(2))
            cuts.append(pathlib.Path(directory) / f"{run['target']}-{i}.eventlog")
            dump(record, run["target"], cuts[-1], "--from", f"{int(a)}ns", "--to", f"{int(b)}ns")
    bad = {p: n for p, n in readable(cuts).items() if n.startswith("error")}
    assert not bad, f"seed {SEED}: {bad}"
    lost_bytes = {run["target"]: run["lostBytes"] for run in recordings(record)}    # on a busy machine: the disk does not take all in time
    whole = [dump(record, n, pathlib.Path(directory) / f"{n}.eventlog") for n in logs]
    for path, n in readable(whole).items():
        if "torn" in path:
            continue    # where the original is damaged, the recording continues after it
        missing, lost = int(good[str(logs[pathlib.Path(path).stem])]) - int(n), lost_bytes[pathlib.Path(path).stem]
        # Without the environment. Of what is lost the definitions are kept: that may be all of its events.
        assert missing >= -1 if lost else abs(missing) <= 1, (path, missing, lost)


# ------------------------------------------------------------------ bundles

def result_of(daemon, rule, kind="dump"):
    """What became of that action, once it is over."""
    for update in daemon.snapshot("t").get("alerts", []):
        for a in update.alerts.alerts:
            for r in a.actions:
                if a.rule == rule and r.kind == kind and r.HasField("ok"):
                    return r
    return None


@pytest.fixture
def state(directory, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(pathlib.Path(directory) / "state"))


def test_an_alert_keeps_a_bundle_of_what_was_recorded(directory, record, state):
    require_page()
    directory = pathlib.Path(directory)
    rules = directory / "rules.yaml"
    rules.write_text("groups:\n  - name: g\n    rules:\n      - alert: big\n        expr: live > 30MiB\n"
                     "        do: [{dump: {before: 1m, after: 1s}}]\n"
                     "      - alert: bad\n        expr: live > 1TiB\n        do: [dump]\n")
    assert b"good" in client("rules", "check", rules).stdout
    log = LiveLog(directory / "t.eventlog")
    log.live(1 << 20)
    with Daemon(directory, f"t=file:{log.path}", args=["--rules", rules, "--record", record]) as d:
        for _ in range(40):
            log.live(40 << 20)
        done = wait_for(lambda: (log.live(40 << 20), result_of(d, "big"))[1], "the bundle")
        assert done.ok, done.detail
        bundle = pathlib.Path(done.detail)
        assert bundle.parent == directory / "bundles" and bundle.parent.stat().st_mode & 0o777 == 0o700
        assert bundle.name.endswith("-t-big")
        assert {f.name for f in bundle.iterdir()} == {"run.eventlog", "alert.json", "verdict.json", "report.html"}
        alert = json.loads((bundle / "alert.json").read_text())
        assert alert["alert"] == "big" and alert["target"] == "t"
        assert json.loads((bundle / "verdict.json").read_text())["target"] == "t"
        assert summary(bundle / "run.eventlog")
        # The same rule again, within two hours: words instead of a bundle.
        again = client("recording", "bundle", "t", "--connect", d.publish, "--alert", bundle / "alert.json", "--after", "0s")
        assert again.returncode == 0 and b"not done" in again.stdout and b"2h" in again.stdout
        by_hand = printed("recording", "bundle", "t", "--connect", d.publish, "--after", "0s")
        assert (pathlib.Path(by_hand.strip()) / "report.html").stat().st_size > 10000
        # A budget keeps the newest alone.
        assert client("recording", "bundle", "t", "--connect", d.publish, "--after", "0s", "--keep", "1KiB").returncode == 0
        assert len(list(bundle.parent.iterdir())) == 1
        assert not list(record.glob("t/*/pin.*"))


def test_a_crash_keeps_a_bundle_by_itself(directory, record, state):
    require_page()
    log = LiveLog(pathlib.Path(directory) / "t.eventlog")
    for _ in range(50):
        log.live(10 << 20)
    with Daemon(directory, f"t=file:{log.path}", args=["--record", record]) as d:
        wait_for(lambda: d.health("t").events > 100, "its events")
        log.path.unlink()
        LiveLog(log.path).live(1 << 20)     # another run, and no end marker before it
        done = wait_for(lambda: result_of(d, "crashed"), "the bundle of the crash")
        assert done.ok, done.detail
        bundle = pathlib.Path(done.detail)
        assert summary(bundle / "run.eventlog")
        verdict = json.loads((bundle / "verdict.json").read_text())     # of that run, not of the next one
        assert int(verdict["live"]["bytes"]) == 10 << 20 and int(verdict["live"]["ageNs"]) >= 0, verdict


def test_a_damaged_part_is_told_of(directory):
    """By every command that reads the recording as a log; what is whole is shown."""
    kept = pathlib.Path(shutil.copytree(ROOT / "tests" / "data" / "releases" / "0.9.0" / "recording", directory / "kept"))
    whole = client("summary", f"recording:{kept}/api")
    assert "nothing lost" in whole.stdout.decode() and not whole.stderr
    [part] = kept.glob("api/*/000001.zst")
    with open(part, "r+b") as file:
        file.seek(part.stat().st_size // 2)
        file.write(b"abcd")
    done = client("summary", f"recording:{kept}/api")
    assert "1 part of the recording is missing" in done.stderr.decode()
    assert "nothing lost" not in done.stdout.decode() and "not all of the log was read" in done.stdout.decode()


def test_mistakes_of_dump_are_named(directory):
    rules = pathlib.Path(directory) / "rules.yaml"
    for setting, words in (("after: 2h", b"at most 30m"), ("before: soon", b"at most 24h"), ("keep: 0", b"1GiB"),
                           ("directory: here", b"absolute path"), ("per_day: 0", b"from 1"), ("forever: 1", b"forever")):
        rules.write_text("groups:\n  - name: g\n    rules:\n      - alert: big\n        expr: live > 30MiB\n"
                         f"        do:\n          - dump: {{{setting}}}\n")
        out = client("rules", "check", rules)
        assert out.returncode == 2 and words in out.stderr + out.stdout, (setting, out.stdout, out.stderr)
        assert b"rules.yaml:7" in out.stderr + out.stdout


def test_a_recording_keeps_how_its_run_ended(directory, record):
    """Status, signal and cause are known to the parent alone: recordings have the words that the faces had."""
    ends = {"fails": (3, "failed", "ended with status 3"), "well": (0, "ended", "ended with status 0"),
            "full": (251, "crashed", "ended with status 251, heap exhausted at -M512m")}
    logs = {name: LiveLog(directory / f"{name}.eventlog") for name in ends}
    for log in logs.values():
        log.heap_info(512 << 20)
        for i in range(1, 20):
            log.live(i << 20, at_ns=i * 100_000_000)
        log.end()
    with Daemon(directory, *(f"{n}={log.path}" for n, log in logs.items()), args=["--record", record]) as daemon:
        wait_for(lambda: all(daemon.target(n).state == pb.Target.STATE_ENDED for n in ends), "their end markers")
        for name, (status, _, words) in ends.items():
            daemon.ask(pb.Request(end_target=pb.EndTargetRequest(name=name, exit_status=status)))
            wait_for(lambda name=name, words=words: words in daemon.target(name).detail, "its status")
        wait_for(lambda: all("status" in r["end"]["detail"] for r in recordings(record) if r["end"]) and
                 len([r for r in recordings(record) if r["end"]]) == len(ends), "their ends on disk")
        live = {n: json.loads(client("post-mortem", n, "--connect", daemon.publish, "--format", "json").stdout) for n in ends}
    for run in recordings(record):
        assert (run["end"]["state"], run["end"]["detail"]) == (ends[run["target"]][1], live[run["target"]]["detail"])
    for name, (_, state, words) in ends.items():
        for log in (f"recording:{record}/{name}", dump(record, name, directory / f"{name}.dump")):
            then = json.loads(client("post-mortem", log, "--format", "json").stdout)
            assert words in then["detail"] and (then["end"], then["detail"]) == (live[name]["end"], live[name]["detail"])
            assert [r["text"] for r in then["rows"] if r["key"] == "end"] == \
                [r["text"] for r in live[name]["rows"] if r["key"] == "end"]
            assert words in client("summary", log).stdout.decode()
            alerts = client("check", log).stdout.decode()
            assert ("critical: crashed" in alerts) == (name == "full") and ("warning: failed" in alerts) == (name == "fails")
        message = json.loads(client("events", directory / f"{name}.dump", "--kind", "16", "--format", "json").stdout)
        assert message["fields"]["text"].startswith(f"heapwatch end 1\nstate {state}\nstatus ")
        for part in (f"recording:{record}/{name}?to=100ms", dump(record, name, directory / f"{name}.part", "--to", "100ms")):
            told = json.loads(client("post-mortem", part, "--format", "json").stdout)
            assert words not in told["detail"], "a stretch that stops before the end"
    with Daemon(directory, f"again={directory}/full.dump") as daemon:
        wait_for(lambda: daemon.target("again").state == pb.Target.STATE_ENDED, "its end: what a stream says of it is not believed")
        assert not daemon.snapshot("again").get("notes")
    (run,) = recordings(record, "list", "full")
    (record / "full" / run["run"] / "end").write_text("heapwatch end 1\nstate fine\n")
    assert recordings(record, "list", "full")[0]["end"] is None
    (record / "full" / run["run"] / "end.new").write_text("heapwatch e")       # of a daemon that was killed
    assert client("recording", "--dir", record, "delete", "full").returncode == 0 and not (record / "full").exists()


@pytest.mark.parametrize("restarted", [False, True])
def test_an_end_that_is_known_late_is_recorded(directory, record, restarted):
    """Another run of the target has begun meanwhile, and the daemon may have been started again."""
    path = directory / "api.eventlog"
    LiveLog(path).live(5 << 20)
    args = ["--record", record, "--checkpoint", directory / "checkpoint"]

    def end_late(daemon):
        daemon.ask(pb.Request(end_target=pb.EndTargetRequest(name="api~1", exit_signal=9)))
        wait_for(lambda: "killed" in daemon.target("api~1").detail, "how it ended")
        first = wait_for(lambda: [r for r in recordings(record) if r["end"] and r["end"]["state"] == "crashed"], "its end on disk")
        assert len(first) == 1 and "killed by signal 9 (SIGKILL)" in first[0]["end"]["detail"]
        wait_for(lambda: len(recordings(record)) == 2, "the recording of the run after it")
        assert first[0] == min(recordings(record), key=lambda r: r["run"])

    with Daemon(directory, f"api={path}", args=args) as daemon:
        wait_for(lambda: daemon.snapshot("api").get("heap"), "the first run")
        path.unlink()
        LiveLog(path).live(6 << 20)
        wait_for(lambda: daemon.target("api~1"), "the second run")
        if not restarted:
            end_late(daemon)
    if restarted:
        with Daemon(directory, args=args) as daemon:
            wait_for(lambda: daemon.target("api~1"), "the run before")
            end_late(daemon)
