# SPDX-License-Identifier: BSD-3-Clause
"""Rules: files and their mistakes, reload, tests of rules, heapwatch check, and alerts of real programs."""
import contextlib
import os
import signal
import subprocess
import threading
import xml.etree.ElementTree as tree

import pytest

from harness import DAEMON, DEADLINE_S, LOGS, ROOT, Daemon, client, pb, running, wait_for
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


def test_builtin_rules_fire_and_do_not():
    done = client("rules", "test", ROOT / "tests" / "data" / "rules" / "builtin-test.yaml")
    assert done.returncode == 0, (done.stdout + done.stderr).decode()
    assert b"25 passed, 0 failed" in done.stdout


def test_a_test_that_fails_says_what_was_there(directory):
    rules_file(directory, group("{alert: big, expr: live > 1GiB}"))
    path = rules_file(directory, "rule_files: [rules.yaml]\ntests:\n- name: grows\n  series: {live: 100MiB+1MiBx100}\n"
                                 "  alerts:\n  - {at: 1m, alert: big, state: firing}\n  fired: [leak]\n", "test.yaml")
    done = client("rules", "test", path)
    assert done.returncode == 1
    assert f"FAILED {path}:6: grows: big at 1m is inactive, expected firing" in done.stdout.decode()
    assert "leak did not fire" in done.stdout.decode()
    path.write_text(path.read_text().replace("alert: big", "alert: bgi"))
    done = client("rules", "test", path)
    assert done.returncode == 2
    assert f"{path}:6:21: there is no rule 'bgi'; did you mean 'big'?" in done.stderr.decode()


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
     "already"),
    ("groups:\n- name: a\n  rules: [\n", 4, 1, "no YAML"),
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
    assert "gc-pauses (collections, warning, built in)" in told and "for 1h 00m" in told
    everything = client("rules", "list", "--explain").stdout.decode()
    for rule in ("leak", "leaking-band", "memory-runs-out-soon", "memory-runs-out-now", "off-heap-growth",
                 "fragmentation", "gc-pauses", "gc-share", "gc-events-missing", "crashed", "restart-loop",
                 "stream-stalled", "stream-damaged"):
        assert f"\n{rule} (" in "\n" + everything


# ---------------------------------------------------------------------- check


def test_check_tells_by_its_status(directory):
    quiet, crashed = LOGS / "leaky-hT-ghc9103" / "run.eventlog", LOGS / "crash-kill9-ghc9103" / "run.eventlog"
    junit = directory / "out.xml"
    done = client("check", quiet)
    assert done.returncode == 0 and done.stdout.decode() == f"{quiet}: nothing fired\n"
    done = client("check", "--junit", junit, quiet, crashed)
    said = done.stdout.decode()
    assert done.returncode == 1 and f"{crashed}: 1 alert\n  warning: crashed at " in said
    assert "without an end marker" in said
    suite = tree.parse(junit).getroot().find("testsuite")
    assert suite.get("tests") == "2" and suite.get("failures") == "1"
    cases = {c.get("classname"): c for c in suite.iter("testcase")}
    assert cases[str(quiet)].find("failure") is None
    assert "end marker" in cases[str(crashed)].find("failure").text
    assert client("check", "--fail-on", "critical", crashed).returncode == 0
    assert client("check", ROOT / "Makefile").returncode == 2
    assert client("check", directory / "none").returncode == 2
    assert client("check", "--rules", rules_file(directory, "groups: 5\n"), quiet).returncode == 2
    assert client("check").returncode == 2
    own = rules_file(directory, group("{alert: big, expr: live > 100KiB, labels: {severity: critical, team: x}, "
                                      "annotations: {why: 'it has {{value}}'}}"))
    done = client("check", "--fail-on", "critical", "--rules", own, quiet)
    assert done.returncode == 1 and "critical: big at " in done.stdout.decode()
    assert "why: it has " in done.stdout.decode() and "iB" in done.stdout.decode()


def test_a_program_that_begins_again_and_again(directory):
    log = directory / "loop.eventlog"
    log.write_bytes((LOGS / "crash-kill9-ghc9103" / "run.eventlog").read_bytes() * 4)
    said = client("check", log).stdout.decode()
    assert "critical: restart-loop" in said and "3 times" in said and "warning: crashed" in said


def test_finished_logs_give_the_same_alerts_every_time(directory):
    own = rules_file(directory, group("{alert: big, expr: live > 100KiB, for: 1s}", "{alert: band, expr: band > 100KiB}",
                                      "{alert: pause, expr: 'max(gc_pause, 5s) > 1ms', until: 'max(gc_pause, 1s) < 1us'}"))

    def told():
        # Through check's own way: heapwatchd --once --rules.
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
        wait_for(lambda: "not read again" in d.log.read_text(), "the complaint in the log")
        assert alert(d, "same", "FIRING") and alert(d, "other", "FIRING")

        path.write_text(group("{alert: new, expr: live > 10MiB, for: 1h}", "{alert: other, expr: live > 20MiB, for: 1h}",
                              "{alert: same, expr: 'live  > 10MiB', for: 1s, annotations: {a: other words}}"))
        done = client("ctl", "--connect", d.publish, "reload")
        assert done.returncode == 0 and f"{count + 1} rules are in force" in done.stdout.decode(), done
        wait_for(lambda: alert(d, "new", "PENDING") and alert(d, "other", "PENDING"), "the new rules")
        now = alert(d, "same", "FIRING")
        assert now.fired_ns == same.fired_ns and now.since_ns == same.since_ns
        d.process.send_signal(signal.SIGHUP)
        wait_for(lambda: d.log.read_text().count("read again") == 4, "another reading")
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


def launch(program, log, seconds):
    return running(program, seconds, "+RTS", "-l", "-hT", "-i0.1", f"-ol{log}", "-RTS", cwd=os.path.dirname(log),
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def test_leaky_leaks_and_steady_does_not(directory, programs):
    """A real leak, its verdict scaled from minutes to quarters of a second: pending, firing, resolved with its end."""
    path = rules_file(directory, group("{alert: leak, for: 1s}"))
    seen = {"t": [], "s": []}
    args = ("--rules", path, "--resolution", "250ms", "--leak-after", "5s")
    with Daemon(directory, f"t=file:{directory}/t.eventlog", f"s=file:{directory}/s.eventlog", args=args) as d, \
            launch(programs["leaky"], directory / "t.eventlog", 16) as leaky, \
            launch(programs["steady"], directory / "s.eventlog", 16) as steady:

        def watch():
            for t in seen:
                a = alerts(d, t).get(("leak", ""))
                if a and (not seen[t] or seen[t][-1].state != a.state):
                    seen[t].append(a)
            return leaky.poll() == steady.poll() == 0 and \
                all(d.target(t).state == pb.Target.STATE_ENDED for t in seen)

        wait_for(watch, "the ends of both programs", poll_s=0.05)
        watch()
    # Looking now and then may miss a state; its times tell of all three.
    assert seen["t"] and seen["s"] == []
    last = seen["t"][-1]
    assert Alert.State.Name(last.state) == "STATE_RESOLVED"
    assert last.since_ns + 10**9 <= last.fired_ns <= last.resolved_ns
    words = {label.name: label.value for label in last.annotations}
    assert "leaks" in last.sentence and "iB/s" in last.sentence
    assert words["verdict"] and words["where"] and "ago" in words["onset"], words

    # The same logs afterwards, judged by the same rules.
    done = client("check", "--rules", path, "--resolution", "250ms", "--leak-after", "5s", directory / "t.eventlog",
                  directory / "s.eventlog")
    assert done.returncode == 1
    said = done.stdout.decode()
    assert "warning: leak at " in said.split("s.eventlog: ")[0] and "leak at" not in said.split("s.eventlog: ")[1]


def test_a_killed_program(directory, programs):
    with Daemon(directory, f"t=file:{directory}/t.eventlog") as d:
        with launch(programs["leaky"], directory / "t.eventlog", 600):
            wait_for(lambda: d.target("t").run_info.local, "the process")
        assert wait_for(lambda: alert(d, "crashed", "FIRING"), "the alert").severity == "warning"
        with launch(programs["leaky"], directory / "t.eventlog", 600):
            wait_for(lambda: alert(d, "crashed", "RESOLVED"), "its end when the program runs again")
