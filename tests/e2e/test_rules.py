# SPDX-License-Identifier: BSD-3-Clause
"""Rules: files and their mistakes, reload, tests of rules, heapwatch check, and alerts of real programs."""
import contextlib
import json
import os
import re
import signal
import subprocess
import threading
import xml.etree.ElementTree as tree

import pytest

from harness import DAEMON, DEADLINE_S, LOGS, ROOT, Daemon, client, pb, running, wait_for, written
from live_log import LiveLog

Alert = pb.Alert
MIB = 1 << 20


def rules_file(directory, text, name="rules.yaml"):
    path = directory / name
    path.write_text(text)
    return path


def group(*rules):
    return "groups:\n- name: test\n  rules:\n" + "".join(f"  - {r}\n" for r in rules)


def alerts(daemon, target="t"):
    """{(rule, band label): alert} of the newest alerts message."""
    found = daemon.snapshot(target).get("alerts")
    return {(a.rule, a.band_label): a for a in found[0].alerts.alerts} if found else {}


def alert(daemon, rule, *states):
    a = alerts(daemon).get((rule, ""))
    return a if a and (not states or Alert.State.Name(a.state)[6:] in states) else None


# ------------------------------------------------------------------- commands


MISTAKES = [
    ("groups:\n- name: a\n  rules:\n  - alert: x\n    expr: live > 5s\n", 5, 16, "compares bytes with seconds"),
    ("groups:\n- name: a\n  rules:\n  - alert: x\n    expr: \"lvie > 5MiB\"\n", 5, 12, "did you mean 'live'"),
    ("groups:\n- name: a\n  rules:\n  - alert: x\n    exprr: live > 5MiB\n", 5, 5, "did you mean 'expr'"),
    ("groups:\n- name: a\n  rules:\n  - alert: x\n    expr: leak(live)\n    for: 5 minutes\n", 6, 10, "30s, 5m or 2h"),
    ("groups:\n- name: a\n  rules:\n  - alert: x\n    expr: leak(live)\n    annotations: {a: '{{vlaue}}'}\n", 6, 23,
     "did you mean {{value}}"),
    ("groups:\n- name: a\n  rules:\n  - alert: x\n    expr: leak(live)\n    labels: {severity: bad}\n", 6, 24,
     "info, warning or critical"),
    ("groups:\n- name: a\n  rules:\n  - alert: x\n    expr: leak(live)\n    do: [logg]\n", 6, 10, "did you mean 'log'"),
    ("groups:\n- name: a\n  rules:\n  - alert: x\n    expr: leak(live)\n  - alert: x\n    expr: leak(rss)\n", 6, 12,
     "duplicate rule"),
    ("groups:\n- name: a\n  rules: [\n", 4, 1, "not valid YAML"),
    ("gruops: []\n", 1, 1, "did you mean 'groups'"),
]


@pytest.mark.parametrize("text,line,column,part", MISTAKES)
def test_mistakes_have_a_place_and_a_hint(directory, text, line, column, part):
    path = rules_file(directory, text)
    done = client("rules", "check", path)
    said = done.stderr.decode()
    assert done.returncode == 2 and f"{path}:{line}:{column}: " in said and part in said, said
    # Nothing is started.
    done = subprocess.run([DAEMON, "--rules", path, "--publish", f"ipc://{directory}/publish", "--request",
                           f"ipc://{directory}/request"], stderr=subprocess.PIPE, timeout=DEADLINE_S)
    assert done.returncode == 2 and part in done.stderr.decode()
    assert not (directory / "publish").exists()


def test_all_mistakes_are_told_at_once(directory):
    path = rules_file(directory, "".join(text.replace("groups:\n", "") if i else text
                                         for i, (text, *_) in enumerate(MISTAKES[:4])))
    said = client("rules", "check", path).stderr.decode()
    assert all(part in said for *_, part in MISTAKES[:4]), said


def test_list_and_explain(directory):
    path = rules_file(directory, group("{alert: mine, expr: 'slope(live, 10m) > 1MiB/min', for: 5m, targets: [api-*]}",
                                       "{alert: leak, enabled: false}", "{alert: gc-pauses, for: 1h}"))
    listed = client("rules", "list", path).stdout.decode()
    assert "mine" in listed and "gc-share" in listed and "\nmemory      leak " not in "\n" + listed
    told = client("rules", "list", "--explain", path).stdout.decode()
    assert "the slope of live bytes over 10m is above 1MiB/min for 5m 00s" in told and "only for api-*" in told
    assert "gc-pauses (collections, warning, built in, changed)" in told and "for 1h 00m" in told
    everything = client("rules", "list", "--explain").stdout.decode()
    for rule in ("leak", "leaking-band", "memory-runs-out-soon", "memory-runs-out-now", "heap-limit-met", "off-heap-growth",
                 "fragmentation", "gc-pauses", "gc-share", "gc-sync", "gc-events-missing", "crashed", "failed", "restart-loop",
                 "stream-stalled", "stream-damaged", "recording-paused"):
        assert f"\n{rule} (" in "\n" + everything


def test_the_examples_of_the_documents(directory):
    """The examples work as printed."""
    rules, actions = ((ROOT / "docs" / name).read_text() for name in ("RULES.md", "ACTIONS.md"))
    man = (ROOT / "docs" / "man" / "heapwatch-rules.5").read_text()
    yaml = re.findall(r"```yaml\n(.*?)```", rules + actions, re.S) + re.findall(r"\.SH EXAMPLE\n\.nf\n(.*?)\.fi", man, re.S)
    inline = re.search(r"^Examples: (.*?)\n\n", rules, re.S | re.M).group(1)
    yaml.append(group(*(f"{{alert: e{i}, expr: '{e}'}}" for i, e in enumerate(re.findall(r"`(.*?)`", inline, re.S)))))
    assert len(yaml) == 4 and yaml[-1].count("alert:") >= 7
    for text in yaml:
        done = client("rules", "check", rules_file(directory, text))
        assert done.returncode == 0, (text, done.stderr.decode())


# ---------------------------------------------------------------------- check


def junit_cases(path):
    """{(class, name): case}; what readers of JUnit's XML rely on is checked."""
    root = tree.parse(path).getroot()
    cases, totals = {}, dict.fromkeys(("tests", "failures", "errors"), 0)
    assert root.tag == "testsuites" and {s.tag for s in root} == {"testsuite"}
    for suite in root:
        assert suite.get("name") and suite.get("skipped") == "0"
        found = {"tests": len(suite), "failures": len(suite.findall("testcase/failure")),
                 "errors": len(suite.findall("testcase/error"))}
        for name, n in found.items():
            assert suite.get(name) == str(n)
            totals[name] += n
        for case in suite:
            assert case.tag == "testcase" and {e.tag for e in case} <= {"failure", "error", "system-out"} and len(case) <= 1
            assert (case.get("classname"), case.get("name")) not in cases
            cases[case.get("classname"), case.get("name")] = case
            assert all(e.get("type") and e.get("message") for e in case if e.tag != "system-out")
    assert {n: int(root.get(n)) for n in totals} == totals
    return cases


def test_check_tells_by_its_status(directory):
    quiet, killed = LOGS / "leaky-hT-ghc9103" / "run.eventlog", LOGS / "crash-kill9-ghc9103" / "run.eventlog"
    junit = directory / "out.xml"
    done = client("check", quiet)
    assert done.returncode == 0 and done.stdout.decode() == f"{quiet}: nothing fired\n"
    done = client("check", "--junit", junit, quiet, killed)
    said = done.stdout.decode()
    assert done.returncode == 1 and f"{killed}: 1 alert\n  warning: log-not-completed\n" in said
    assert "without an end marker" in said and "is not known" in said
    cases = junit_cases(junit)
    assert cases[str(quiet), "nothing fired"].find("failure") is None
    failure = cases[str(killed), "log-not-completed (heapwatch)"].find("failure")
    assert failure.get("type") == "warning" and "end marker" in failure.get("message")
    assert failure.text.startswith("log-not-completed: ") and "end marker" in failure.text
    assert len(cases) == 2
    assert client("check", "--junit", junit, "--fail-on", "critical", killed).returncode == 0, "it may have been stopped by SIGTERM"
    assert "end marker" in junit_cases(junit)[str(killed), "log-not-completed (heapwatch)"].find("system-out").text
    own = rules_file(directory, group("{alert: big, expr: live > 100KiB, labels: {severity: critical, team: x}, "
                                      "annotations: {why: 'it has {{value}}'}}"))
    done = client("check", "--fail-on", "critical", "--rules", own, quiet)
    assert done.returncode == 1 and "critical: big at " in done.stdout.decode()
    assert "why: it has " in done.stdout.decode() and "iB" in done.stdout.decode()


def test_times_of_day_come_first_where_they_are_known(directory):
    """In check, and in the sentences and the table of trend; of a log without its start times into the run alone."""
    logs = {}
    for name in ("known", "unknown"):
        log = LiveLog(directory / name, start_wall_ns=1_764_000_000 * 10**9)
        if name == "unknown":
            log.path.write_bytes(LiveLog._header())
        for i in range(1, 400):
            log.live((20 << 20) + max(i - 50, 0) * (1 << 19), at_ns=i * 100_000_000)
        log.end()
        logs[name] = log.path
    own = rules_file(directory, group("{alert: big, expr: live > 100MiB}"))
    said = {n: client("check", "--rules", own, log).stdout.decode() for n, log in logs.items()}
    assert re.search(r": big at 2025-11-24T16:00:2[0-9.]+Z \(2[0-9.]+ s into the run\), for ", said["known"])
    assert re.search(r": big at 2[0-9.]+ s into the run, for ", said["unknown"])
    said = {n: client("trend", "--resolution", "100ms", log).stdout.decode() for n, log in logs.items()}
    assert re.search(r"^  live +LEAK .*  2025-11-24T16:00:0[45][0-9.]+Z \([45][0-9.]+ s\)$", said["known"], re.M)
    assert re.search(r"^  where .*, since 2025-11-24T16:00:0[45][0-9.]+Z \([45][0-9.]+ s into the run\)", said["known"], re.M)
    assert re.search(r"^  live +LEAK .*  [45][0-9.]+ s$", said["unknown"], re.M) and "Z (" not in said["unknown"]


@pytest.mark.parametrize("args, what", [
    (("empty",), "not an eventlog"), (("cut",), "not an eventlog"), (("/dev/null",), "not an eventlog"),
    ((ROOT / "Makefile",), "not an eventlog"), ((".",), "it is a directory"), (("none",), "No such file"),
    (("good", "cut"), "not an eventlog"), (("--rules", "bad.yaml", "good"), "bad.yaml:1:9: expected a list"),
    (("--rules", "none.yaml", "good"), "cannot be read: No such file"), (("--resolution", "1ns", "good"), "100ms to 1h"),
    (("--resolution", "1m", "--leak-after", "5m", "good"), "leak_after"), (("--limit", "much", "good"), "amount of memory")])
def test_bad_input_is_an_error_everywhere(directory, args, what):
    """Exit status 2, a reason, and no stale result where CI looks for one."""
    log = (LOGS / "leaky-hT-ghc9103" / "run.eventlog").read_bytes()
    for name, content in (("good", log), ("empty", b""), ("cut", log[:20]), ("bad.yaml", b"groups: 5\n")):
        (directory / name).write_bytes(content)
    assert client("check", "--junit", "out.xml", "good", cwd=directory).returncode == 0
    done = client("check", "--junit", "out.xml", *args, cwd=directory)
    assert done.returncode == 2 and what in done.stderr.decode() and done.stdout == b"", done
    error = junit_cases(directory / "out.xml")["heapwatch check", "input"].find("error")
    assert what in error.get("message")


@pytest.mark.parametrize("args, what", [
    ((), "LOG... is missing"), (("--fail-on", "bad", "x"), "info, warning or critical"), (("--bogus", "x"), "unknown option"),
    (("--rules",), "--rules: the value is missing; expected --rules FILE")])
def test_bad_usage_of_check(args, what):
    done = client("check", *args)
    assert done.returncode == 2 and what in done.stderr.decode()


def test_results_that_cannot_be_written(directory):
    log = LOGS / "leaky-hT-ghc9103" / "run.eventlog"
    for path, what in (("/dev/full", "No space left"), (directory / "none" / "x.xml", "No such file")):
        done = client("check", "--junit", path, log)
        assert done.returncode == 2 and what in done.stderr.decode()


def test_a_rule_is_one_case_however_often_it_fires(directory):
    """CI merges cases of one name: bands of one label, and alerts that come again, must not hide each other."""
    own = rules_file(directory, "builtin: false\n" + group("{alert: band, expr: band > 1KiB}"))
    done = client("check", "--rules", own, "--junit", directory / "out.xml", LOGS / "leaky-hi-ghc9103" / "run.eventlog")
    n = done.stdout.decode().count("warning: band of ")
    assert done.returncode == 1 and n > 10
    (case,) = junit_cases(directory / "out.xml").values()
    failure = case.find("failure")
    assert case.get("name") == "band (test)" and failure.get("message").endswith(f"(and {n - 1} more)")
    assert failure.text.count("band of ") == n and "Main.main (leaky.hs:36:39-74) at " in failure.text


def test_a_program_that_begins_again_and_again(directory):
    log = written(directory / "loop.eventlog", (LOGS / "crash-kill9-ghc9103" / "run.eventlog").read_bytes() * 4)
    said = client("check", log).stdout.decode()
    assert "critical: restart-loop" in said and "3 times" in said and "warning: log-not-completed" in said and "crashed" not in said


def test_finished_logs_give_the_same_alerts_every_time(directory):
    own = rules_file(directory, group("{alert: big, expr: live > 100KiB, for: 1s}", "{alert: band, expr: band > 100KiB}",
                                      "{alert: pause, expr: 'max(gc_pause, 5s) > 1ms', until: 'max(gc_pause, 1s) < 1us'}"))

    def told():
        done = client("check", "--rules", own, LOGS / "live-9103-fifo-flush" / "run.eventlog")
        assert done.returncode == 1
        return done.stdout

    first = told()
    assert b"big" in first and b"band of " in first and b"pause" in first
    assert all(told() == first for _ in range(3))


# --------------------------------------------------------------------- reload


@contextlib.contextmanager
def fed(path, mib):
    """A program made up: every 50 ms a collection leaves so many MiB."""
    log, stop = LiveLog(path), threading.Event()

    def run():
        while not stop.wait(0.05):
            log.live(mib * MIB)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_reload_keeps_state_and_refuses_a_bad_file(directory):
    path = rules_file(directory, group("{alert: same, expr: live > 10MiB, for: 1s}", "{alert: other, expr: live > 10MiB}"))
    with fed(directory / "t.eventlog", 30), \
            Daemon(directory, f"t=file:{directory}/t.eventlog", args=("--rules", path)) as d:
        same = wait_for(lambda: alert(d, "same", "FIRING"), "the alert")
        wait_for(lambda: alert(d, "other", "FIRING"), "the other alert")
        count = len([1 for line in client("rules", "list", path).stdout.splitlines() if line])

        path.write_text("groups: [{name: x, rules: [{alert: bad, expr: lvie > 1}]}]\n")
        replies = d.ask(pb.Request(reload=pb.ReloadRequest()))
        assert "did you mean 'live'" in replies[0].error and f"{path}:1:47" in replies[0].error
        d.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "not reloaded" in d.log.read_text(), "the diagnostic in the log")
        assert alert(d, "same", "FIRING") and alert(d, "other", "FIRING")

        path.write_text(group("{alert: new, expr: live > 10MiB, for: 1h}", "{alert: other, expr: live > 20MiB, for: 1h}",
                              "{alert: same, expr: 'live  > 10MiB', for: 1s, annotations: {a: other words}}"))
        done = client("ctl", "--connect", d.publish, "reload")
        assert done.returncode == 0 and f"{count + 1} rules are in force" in done.stdout.decode(), done
        wait_for(lambda: alert(d, "new", "PENDING") and alert(d, "other", "PENDING"), "the new rules")
        now = alert(d, "same", "FIRING")
        assert now.fired_ns == same.fired_ns and now.since_ns == same.since_ns
        d.process.send_signal(signal.SIGHUP)
        wait_for(lambda: d.log.read_text().count("reloaded") == 4, "another reading")
        assert alert(d, "same", "FIRING").fired_ns == same.fired_ns
    assert d.process.returncode == 0


# ------------------------------------------------------------------------ live


def test_a_silent_stream_and_one_that_ends(directory):
    path = rules_file(directory, group("{alert: stream-stalled, expr: stream_idle > 1s and stream_idle > 5 * stream_gap}",
                                       "{alert: quiet, expr: 'absent(live, 1s)'}"))
    log = LiveLog(directory / "t.eventlog")
    with Daemon(directory, f"t=file:{directory}/t.eventlog", args=("--rules", path)) as d:
        log.live(10 * MIB)
        stalled = wait_for(lambda: alert(d, "stream-stalled", "FIRING"), "the silence")
        assert "nothing has come from t for" in stalled.sentence and "flush interval" in stalled.sentence
        # Bytes again and again: a silence while this test does not get to run would begin another alert.
        wait_for(lambda: log.live(10 * MIB) or alert(d, "stream-stalled", "RESOLVED"), "its end")
        log.end()
        d.wait_state("t", "ENDED")
        assert not alert(d, "crashed")


def launch(program, log, *args):
    return running(program, *args, "+RTS", "-l", "-hT", "-i0.1", f"-ol{log}", "-RTS", cwd=os.path.dirname(log),
                   stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)


def test_leaky_leaks_and_steady_does_not(directory, programs):
    """A real leak, its verdict scaled from minutes to quarters of a second: pending, firing, resolved with its end."""
    path = rules_file(directory, group("{alert: leak, for: 1s}", "{alert: big, expr: live > 1MiB}",
                                       "{alert: busy, expr: allocation_rate > 1kB/s, for: 2s}"))
    seen = {"t": [], "s": []}
    args = ("--rules", path, "--resolution", "250ms", "--leak-after", "5s")
    with Daemon(directory, f"t=file:{directory}/t.eventlog", f"s=file:{directory}/s.eventlog", args=args) as d, \
            launch(programs["leaky"], directory / "t.eventlog", 10, "more") as leaky, \
            launch(programs["steady"], directory / "s.eventlog", 10, "more") as steady:

        def watch():
            for t in seen:
                a = alerts(d, t).get(("leak", ""))
                if a and (not seen[t] or seen[t][-1].state != a.state):
                    seen[t].append(a)
            firing = {rule for (rule, _), a in alerts(d, "t").items() if a.state == Alert.STATE_FIRING}
            if seen["t"] and firing >= {"leak", "big", "busy"}:     # then both may end
                leaky.stdin.close()
                steady.stdin.close()
            return leaky.poll() == steady.poll() == 0 and \
                all(d.target(t).state == pb.Target.STATE_ENDED for t in seen)

        wait_for(watch, "the ends of both programs", poll_s=0.05)
        watch()
        live = alerts(d, "t")
    # Polling may miss a state; its times show all three.
    assert seen["t"] and seen["s"] == []
    last = seen["t"][-1]
    assert Alert.State.Name(last.state) == "STATE_RESOLVED"
    assert last.since_ns + 10**9 <= last.fired_ns <= last.resolved_ns
    words = {label.name: label.value for label in last.annotations}
    assert "leaks" in last.sentence and "iB/s" in last.sentence
    assert words["verdict"] and words["where"] and "ago" in words["onset"], words

    # The same log afterwards, by the same rules: the same alerts at the same times.
    found = client("alerts", "--rules", path, "--resolution", "250ms", "--leak-after", "5s", "--format", "json",
                   directory / "t.eventlog").stdout.decode().splitlines()
    again = {a["rule"]: tuple(int(a[t]) for t in ("sinceNs", "firedNs", "resolvedNs"))
             for a in (json.loads(line)["alert"] for line in found) if a["rule"] in ("leak", "big", "busy")}
    assert again == {rule: (a.since_ns, a.fired_ns, a.resolved_ns) for (rule, _), a in live.items() if rule in again}
    assert len(again) == 3
    done = client("check", "--rules", path, "--resolution", "250ms", "--leak-after", "5s", directory / "t.eventlog",
                  directory / "s.eventlog")
    assert done.returncode == 1
    said = done.stdout.decode()
    assert "warning: leak at " in said.split("s.eventlog: ")[0] and "leak at" not in said.split("s.eventlog: ")[1]


def test_a_killed_program(directory, programs):
    with Daemon(directory, f"t=file:{directory}/t.eventlog") as d:
        with launch(programs["leaky"], directory / "t.eventlog", 600):
            wait_for(lambda: d.target("t").run_info.local, "the process")
        assert wait_for(lambda: alert(d, "crashed", "FIRING"), "the alert").severity == "critical"
        killed = d.target("t").run_info.pid
        with launch(programs["leaky"], directory / "t.eventlog", 600):
            wait_for(lambda: d.target("t").run_info.local and d.target("t").run_info.pid != killed, "the next run")
            assert alert(d, "crashed", "FIRING"), "it stays for a quarter of an hour"
