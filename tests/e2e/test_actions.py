# SPDX-License-Identifier: BSD-3-Clause
"""Alerts of a real rule file, acted on by a real daemon: exec, webhooks good and bad, the real Alertmanager."""
import contextlib
import json
import os
import pathlib
import signal
import stat
import struct
import threading

import pytest

from harness import LOGS, Daemon, client, pb, private_directory, wait_for, wait_newer_checkpoint, written
from live_log import BLOCK_MARKER, LiveLog
from servers import Alertmanager, Webhook, certificate, closed_port

MIB = 1 << 20


class Feeder:
    """A program made up: every 50 ms a collection leaves `mib` MiB."""

    def __init__(self, path):
        self.log, self.mib = LiveLog(path), 10
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        while not self.stop.wait(0.05):
            self.log.live(self.mib * MIB)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


def rule(todo, name="big", expr="live > 30MiB", more=""):
    return (f"      - alert: {name}\n        expr: {expr}\n        labels: {{severity: critical, team: search}}\n"
            f"        annotations: {{summary: '{{{{target}}}} is big'}}\n{more}        do: {json.dumps(todo)}\n")


@contextlib.contextmanager
def watched(directory, *rules, start=True):
    """A daemon with these rules and a program t: (daemon, feeder)."""
    path = written(directory / "rules.yaml", "groups:\n  - name: test\n    rules:\n" + "".join(rules))
    with Feeder(directory / "t.eventlog") as feeder:
        d = Daemon(directory, f"t=file:{directory}/t.eventlog", args=("--rules", path))
        with d:
            yield d, feeder


@pytest.fixture(autouse=True)
def state(directory, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(directory / "state"))


def alert_of(d, name="big", state=None):
    """The alert of that name, in that state, or None."""
    for update in d.snapshot("t").get("alerts", []):
        for a in update.alerts.alerts:
            if a.rule == name and (state is None or a.state == state):
                return a
    return None


def fires(d, name="big"):
    return wait_for(lambda: alert_of(d, name, pb.Alert.STATE_FIRING), f"{name} to fire")


def results(d, n, name="big"):
    """The results of its n actions, when all are over."""
    def over():
        a = alert_of(d, name)
        return a if a and len(a.actions) == n and all(r.HasField("ok") for r in a.actions) else None
    return list(wait_for(over, f"results of {n} actions").actions)


def script(directory, name, text):
    path = directory / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


def test_fires_and_resolves(directory):
    said = directory / "said"
    tell = script(directory, "tell", f'{{ cat; env; }} >> "{said}.new"; mv "{said}.new" "{said}.$HEAPWATCH_STATE"\n'
                                     "echo told somebody\n")
    token = written(directory / "token", "s3cret\n")
    token.chmod(0o600)
    with Webhook() as hook, watched(directory, rule(["publish", "log", {"exec": [tell]}, {"webhook": {
            "url": hook.url, "bearer_file": str(token)}}])) as (d, feeder):
        feeder.mib = 40
        a = fires(d)
        log, run, post = results(d, 3)
        assert (log.kind, log.ok, run.kind, run.ok, post.kind, post.ok) == ("log", True, "exec", True, "webhook", True)
        assert run.detail == "exit status 0; it said: told somebody" and post.detail == "HTTP 200"
        assert run.attempts == 1 and run.wall_ns > a.fired_wall_ns

        text = (directory / "said.firing").read_text()
        document = json.loads(text.splitlines()[0])
        assert document["alert"] == "big" and document["target"] == "t" and document["status"] == "firing"
        assert document["labels"]["team"] == "search" and document["annotations"]["summary"] == "t is big"
        assert document["value"] == 40 * MIB
        assert "HEAPWATCH_ALERT=big\n" in text and "HEAPWATCH_SEVERITY=critical\n" in text

        listed = client("alerts", "--connect", d.publish)
        assert listed.returncode == 1 and b"exec: exit status 0; it said: told somebody" in listed.stdout
        feeder.mib = 10
        wait_for((directory / "said.resolved").exists, "the exec of its end")
        wait_for(lambda: len(hook.bodies) == 2, "the webhook of its end")
        wait_for(lambda: client("alerts", "--connect", d.publish).returncode == 0, "nothing to fire")
        # The server is notified before the daemon has its answer.
        wait_for(lambda: b"actions done 6  failed 0  dropped 0" in client("status", "--connect", d.publish).stdout,
                 "all actions to be counted")
        daemon_log = d.log.read_text()
    assert hook.told() == [("firing", "big", "t"), ("resolved", "big", "t")]
    assert hook.bodies[0]["version"] == "4" and hook.bodies[0]["commonLabels"]["team"] == "search"
    assert hook.headers[0]["Authorization"] == "Bearer s3cret"
    assert "alert=big state=firing severity=critical target=t" in daemon_log
    assert "s3cret" not in daemon_log and "/hook" not in daemon_log


def test_alerts_of_a_finished_log(directory):
    rules = directory / "rules.yaml"
    rules.write_text("builtin: false\ngroups:\n  - name: test\n    rules:\n" +
                     rule([{"exec": ["/bin/false"]}]) + rule([], "never", "live > 90MiB"))
    log = LiveLog(directory / "old.eventlog", start_wall_ns=1_700_000_000 * 10**9)
    for second in range(60):
        log.live((40 if 20 <= second < 40 else 10) * MIB, at_ns=(second + 1) * 10**9)
    log.end()
    done = client("alerts", "--rules", rules, log.path)
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 1 and done.stderr == b""
    assert len(lines) == 2 and lines[0].startswith("critical  resolved  old               big  ")
    assert " into its run" in lines[0] and lines[0].endswith(" for 20.0 s") and lines[1] == " " * 10 + "old is big"
    changes = client("alerts", "--follow", "--rules", rules, log.path).stdout.decode().splitlines()
    assert [c.split()[1] for c in changes[:2]] == ["firing", "resolved"]
    quiet = client("alerts", "--fail-on", "critical", "--rules", rules, LOGS / "leaky-useronly-ghc9103/run.eventlog")
    assert (quiet.returncode, quiet.stdout) == (0, b"nothing fired\n")
    assert client("alerts", "--rules", directory / "none.yaml", log.path).returncode == 2
    assert client("alerts", "--rules", rules).returncode == 2


def test_bad_actions_harm_nobody(directory):
    hang = script(directory, "hang", "trap '' TERM; setsid sleep 600 & sleep 600\n")
    flood = script(directory, "flood", "yes no end\n")
    with Webhook("silent") as silent, Webhook("garbage") as garbage, Webhook("busy") as busy, closed_port() as port, \
            watched(
            directory,
            rule([{"exec": {"command": [hang], "timeout": "1s"}}, {"exec": [flood]}, {"exec": ["/nonexistent"]}],
                 "execs"),
            rule([{"webhook": {"url": silent.url, "timeout": "1s", "attempts": 1}},
                  {"webhook": {"url": garbage.url, "attempts": 1}}, {"webhook": {"url": busy.url, "attempts": 2}},
                  {"webhook": {"url": f"http://127.0.0.1:{port}/", "attempts": 2}}], "hooks")) as (d, feeder):
        feeder.mib = 40
        fires(d, "hooks")
        wait_for(lambda: silent.bodies, "the silent server to be asked")
        before = d.health("t").bytes
        wait_for(lambda: d.health("t").bytes > before, "bytes to be read while actions hang")
        hung, flooded, missing = results(d, 3, "execs")
        assert not (hung.ok or flooded.ok or missing.ok)
        assert hung.detail == "killed: no end within 1.00 s"
        assert flooded.detail.startswith("killed: it printed more than 1.00 MiB")
        assert missing.detail == "cannot start: No such file or directory"
        slow, nonsense, again, gone = results(d, 4, "hooks")
        assert not (slow.ok or nonsense.ok or again.ok or gone.ok)
        assert "timed out" in slow.detail.lower() and again.detail == "HTTP 503: {}" and again.attempts == 2
        assert gone.attempts == 2 and len(busy.bodies) == 2
        assert d.process.poll() is None and d.health("t").lost_bytes == 0


def test_the_real_alertmanager(directory):
    with Alertmanager(directory) as am, watched(
            directory, rule([{"alertmanager": {"url": am.url + "/", "resend": "1s"}}])) as (d, feeder):
        feeder.mib = 40
        first = wait_for(am.alerts, "the alert in the Alertmanager")[0]
        assert first["labels"] == {"alertname": "big", "group": "test", "severity": "critical", "target": "t",
                                   "team": "search"}
        assert first["annotations"]["summary"] == "t is big" and first["status"]["state"] == "active"
        wait_for(lambda: [a for a in am.alerts() if a["endsAt"] > first["endsAt"]], "the alert to be sent again")
        assert [r.ok for r in results(d, 1)] == [True]

        # Silenced: resolved there, so that nobody is notified any more; sent again when the silence ends.
        assert client("ctl", "--connect", d.publish, "silence", "big", "t", "2h", "--why", "known").returncode == 0
        wait_for(lambda: not am.alerts(), "the alert to be withdrawn")
        wait_for(lambda: results(d, 1)[0].detail == "resolved on silence: HTTP 200", "the result that says so")
        assert alert_of(d).silenced and alert_of(d).state == pb.Alert.STATE_FIRING
        assert client("ctl", "--connect", d.publish, "unsilence", "big", "t").returncode == 0
        again = wait_for(am.alerts, "the alert after the silence")[0]
        assert again["labels"] == first["labels"] and again["startsAt"] == first["startsAt"]
        assert "silenced" not in again["annotations"]
        wait_for(lambda: results(d, 1)[0].detail == "HTTP 200", "its result")
        feeder.mib = 10
        wait_for(lambda: not am.alerts(), "the alert to end")
        assert results(d, 1)[0].detail == "HTTP 200"

        feeder.mib = 40
        wait_for(am.alerts, "the alert again")
        d.ask(pb.Request(remove_target=pb.RemoveTargetRequest(name="t")))
        wait_for(lambda: not am.alerts(), "the alert of a removed target to end")


def test_bands_of_one_label_stay_apart(directory):
    """Info tables of one function share a label: an Alertmanager merges alerts of equal labels."""
    log = (LOGS / "leaky-hi-ghc9103" / "run.eventlog").read_bytes()
    assert log[-2:] == b"\xff\xff"
    later = 5 * 10**9                                       # it keeps running: an empty block, seconds later
    marker = struct.pack(">HQ", BLOCK_MARKER, later) + struct.pack(">IQH", 24, later, 0)
    (directory / "t.eventlog").write_bytes(log[:-2] + marker)
    rules = directory / "rules.yaml"
    with Alertmanager(directory) as am:
        rules.write_text("builtin: false\ngroups:\n  - name: test\n    rules:\n" +
                         rule([{"alertmanager": am.url}], expr="band > 1KiB"))
        with Daemon(directory, f"t=file:{directory}/t.eventlog", args=("--rules", rules)) as d:
            fires(d)

            def firing():
                return [a for u in d.snapshot("t")["alerts"] for a in u.alerts.alerts
                        if a.state == pb.Alert.STATE_FIRING]

            wait_for(lambda: firing() and len(am.alerts()) == len(firing()), "all of them in the Alertmanager")
            told, there = firing(), am.alerts()
    assert len({a.band_label for a in told}) < len(told), "the log has bands that share a label"
    assert sorted((a.band_label, a.band_name, a.band_source) for a in told) == sorted(
        tuple(a["labels"].get(name, "") for name in ("band", "band_name", "band_source")) for a in there)


def test_reload_while_alerts_fire(directory):
    with Webhook() as hook, Webhook() as other:
        kept, gone = (rule([{"webhook": hook.url}], name) for name in ("kept", "gone"))
        with watched(directory, kept, gone) as (d, feeder):
            def reload(*rules):
                (directory / "rules.yaml").write_text("groups:\n  - name: test\n    rules:\n" + "".join(rules))
                return client("ctl", "--connect", d.publish, "reload")

            feeder.mib = 40
            wait_for(lambda: len(hook.bodies) == 2, "both to be told")
            assert reload("      - alert: broken\n").returncode == 1        # all refused: the old rules stay in force
            assert {a.rule for u in d.snapshot("t")["alerts"] for a in u.alerts.alerts
                    if a.state == pb.Alert.STATE_FIRING} == {"kept", "gone"}
            changed = rule([{"webhook": other.url}], "kept").replace("search", "else")
            assert reload(changed).returncode == 0
            wait_for(lambda: len(hook.bodies) == 3, "the end of the rule that is gone")
            feeder.mib = 10
            wait_for(lambda: len(hook.bodies) == 4, "the end of the rule that was kept")
    assert hook.told()[2:] == [("resolved", "gone", "t"), ("resolved", "kept", "t")]
    assert hook.bodies[3]["commonLabels"]["team"] == "search"   # to the receiver, and with the labels, of its beginning
    assert not other.bodies


def test_actions_that_a_reload_brings(directory):
    """An alert that fires and has had no actions gets those that its rule has now; with none left, its end is notified."""
    with Webhook() as hook, watched(directory, rule([], "first"), rule([{"webhook": hook.url}], "second")) as (d, feeder):
        feeder.mib = 40
        fires(d, "first")
        wait_for(lambda: len(hook.bodies) == 1, "the second rule's webhook")
        (directory / "rules.yaml").write_text("groups:\n  - name: test\n    rules:\n" +
                                              rule([{"webhook": hook.url}], "first") + rule([], "second"))
        assert client("ctl", "--connect", d.publish, "reload").returncode == 0
        wait_for(lambda: len(hook.bodies) == 2, "the action that is new")
        assert results(d, 1, "first")[0].ok
        feeder.mib = 10
        wait_for(lambda: len(hook.bodies) == 4, "both ends")
    assert hook.told()[:2] == [("firing", "second", "t"), ("firing", "first", "t")]
    assert sorted(hook.told()[2:]) == [("resolved", "first", "t"), ("resolved", "second", "t")]


def test_silences(directory):
    said = directory / "said"
    tell = script(directory, "tell", f'echo "$HEAPWATCH_ALERT $HEAPWATCH_STATE" >> "{said}"\n')
    ctl = lambda d, *args: client("ctl", "--connect", d.publish, *args)     # noqa: E731

    def told():
        return said.read_text().splitlines() if said.exists() else []

    with watched(directory, rule([{"exec": [tell]}]), rule([{"exec": [tell]}], "other")) as (d, feeder):
        made = ctl(d, "silence", "b*", "t", "2h", "--why", "known")
        assert made.returncode == 0 and b"b*" in made.stdout and b"known" in made.stdout
        feeder.mib = 40
        a = fires(d)
        assert a.silenced and a.silence.why == "known" and a.silence.until_wall_ns > a.fired_wall_ns
        assert not fires(d, "other").silenced
        wait_for(lambda: told() == ["other firing"], "the other one's exec")
        assert [(r.ok, r.detail) for r in results(d, 1)] == [(False, "not done: silenced")]
        shown = client("alerts", "--connect", d.publish)
        assert shown.returncode == 1 and shown.stdout.count(b"silenced until") == 1
        assert b"          exec: not done: silenced\n" in shown.stdout
        kept = directory / "state" / "heapwatch"
        files = wait_for(lambda: list(kept.glob("state-*.json")), "the state file")
        assert stat.S_IMODE(os.stat(files[0]).st_mode) == 0o600

        # A restart reads the same log again: the silence holds, and what was done is not done again.
        done = wait_for(lambda: list(kept.glob("notify-*.json")), "the notifier's record")[0]
        wait_for(lambda: json.loads(done.read_text())["done"], "what was done to be kept")
        d.stop()
        d.start()
        assert b"known" in ctl(d, "silences").stdout
        assert fires(d).silenced
        fires(d, "other")
        ended = ctl(d, "unsilence", "b*", "t")
        assert ended.returncode == 0
        wait_for(lambda: told() == ["other firing", "big firing"], "the exec when the silence ends")
        assert not alert_of(d).silenced
        assert ctl(d, "unsilence", "b*", "t").returncode == 1
        assert ctl(d, "silences").stdout == b"no silences\n"
        feeder.mib = 10
        wait_for(lambda: sorted(told()[2:]) == ["big resolved", "other resolved"], "their ends")


def test_a_broken_state_file_is_set_aside(directory):
    with private_directory() as sockets:
        with Daemon(sockets) as d:
            assert client("ctl", "--connect", d.publish, "silence", "x*", "1h").returncode == 0
        path = next((directory / "state" / "heapwatch").glob("state-*.json"))
        path.write_text(path.read_text()[:20])
        with Daemon(sockets) as d:
            assert client("ctl", "--connect", d.publish, "silences").stdout == b"no silences\n"
            assert "is not usable" in d.log.read_text() and f"{path}.broken" in d.log.read_text()
        assert path.with_name(path.name + ".broken").exists()


def notifier(d):
    """The notifier's state as the daemon reports it."""
    return d.status().daemon.notifier


def running_notifier(d, other_than=0):
    def there():
        n = notifier(d)
        return n if n.state == pb.Notifier.STATE_RUNNING and n.pid != other_than else None
    return wait_for(there, "a notifier to run")


def kept(directory):
    """The notifier's record: alerts whose actions are over."""
    return [done for path in (directory / "state" / "heapwatch").glob("notify-*.json")
            for done in json.loads(path.read_text())["done"]]


def is_gone(pid):
    """Ended, or a zombie that nobody has waited for yet."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_killed_notifier_is_started_again(directory):
    """Nothing that was done is done again; what was under way is; what fires or ends meanwhile is not lost."""
    said, hang = directory / "said", directory / "hang"
    tell = script(directory, "tell", f'echo "$HEAPWATCH_ALERT $HEAPWATCH_STATE" >> "{said}"\n')
    slow = script(directory, "slow", f'echo "$HEAPWATCH_ALERT begun" >> "{said}"\n'
                                     f'while [ -e "{hang}" ]; do sleep 0.05; done\n')
    hang.touch()

    def told():
        return sorted(said.read_text().splitlines()) if said.exists() else []

    with watched(directory, rule([{"exec": [tell]}], "done"), rule([{"exec": {"command": [slow], "timeout": "5m"}}], "slow"),
                 rule([{"exec": [tell]}], "later", "live > 60MiB")) as (d, feeder):
        feeder.mib = 40
        first = running_notifier(d)
        wait_for(lambda: told() == ["done firing", "slow begun"], "both to begin")
        wait_for(lambda: len(kept(directory)) == 1, "what is over to be kept")
        os.kill(first.pid, signal.SIGKILL)
        feeder.mib = 70                                                     # fires while no notifier is there, or soon after
        second = running_notifier(d, other_than=first.pid)
        assert second.restarts >= 1 and b"notifier running  pid" in client("status", "--connect", d.publish).stdout
        wait_for(lambda: told() == ["done firing", "later firing", "slow begun", "slow begun"], "the rest to be done")
        assert [r.ok for r in results(d, 1, "done")] == [True]              # the daemon did not forget
        hang.unlink()
        assert [r.ok for r in results(d, 1, "slow")] == [True]
        wait_for(lambda: len(kept(directory)) == 3, "all of it to be kept")
        os.kill(second.pid, signal.SIGKILL)
        feeder.mib = 10                                                     # and so are the ends
        wait_for(lambda: "done resolved" in told() and "later resolved" in told(), "their ends")
        third = running_notifier(d, other_than=second.pid)
        d.stop()
        wait_for(lambda: is_gone(third.pid), "the notifier to end with its daemon")
    assert told().count("done firing") == told().count("later firing") == 1


def test_a_killed_daemon_takes_its_notifier_along(directory):
    """SIGKILL of the daemon while an alert fires: programs are killed, the next daemon repeats nothing that was done."""
    said, pid = directory / "said", directory / "pid"
    tell = script(directory, "tell", f'echo "$HEAPWATCH_ALERT $HEAPWATCH_STATE" >> "{said}"\n')
    hang = script(directory, "hang", f'echo "$$" > "{pid}.new"; mv "{pid}.new" "{pid}"; exec sleep 600\n')
    with watched(directory, rule([{"exec": [tell]}]),
                 rule([{"exec": {"command": [hang], "timeout": "5m"}}], "hangs")) as (d, feeder):
        feeder.mib = 40
        child = running_notifier(d)
        wait_for(lambda: said.exists() and pid.exists(), "both to begin")
        wait_for(lambda: len(kept(directory)) == 1, "what is over to be kept")
        d.stop(signal.SIGKILL)
        wait_for(lambda: is_gone(child.pid), "the notifier to end")
        wait_for(lambda: is_gone(int(pid.read_text())), "the program to end")
        pid.unlink()
        d.start()
        fires(d)
        wait_for(pid.exists, "what was under way to be done again")
        feeder.mib = 10
        wait_for(lambda: "big resolved" in said.read_text(), "the end to be told")
    assert said.read_text().splitlines() == ["big firing", "big resolved"]


def test_results_outlive_the_daemon(directory):
    """What was done about an alert is told by the daemon after, too; the notifier, which reports once, is another one."""
    rules = directory / "rules.yaml"
    rules.write_text("groups:\n  - name: test\n    rules:\n" +
                     rule([{"exec": [script(directory, "tell", "echo told somebody\n")]}]))
    with Feeder(directory / "t.eventlog") as feeder, \
            Daemon(directory, f"t=file:{directory}/t.eventlog",
                   args=("--rules", rules, "--checkpoint", directory / "state.d", "--checkpoint-every", "100ms")) as d:
        feeder.mib = 40
        fires(d)
        results(d, 1)
        wait_newer_checkpoint(directory, "t")
        d.stop(signal.SIGKILL)
        d.start()
        fires(d)
        (told,) = results(d, 1)
        assert told.kind == "exec" and told.ok and told.detail == "exit status 0; it said: told somebody"


def test_nothing_acts_with_notify_off(directory):
    rules = directory / "rules.yaml"
    rules.write_text("groups:\n  - name: test\n    rules:\n" + rule([{"exec": ["/bin/false"]}]))
    with Feeder(directory / "t.eventlog") as feeder, \
            Daemon(directory, f"t=file:{directory}/t.eventlog", args=("--rules", rules, "--notify=off")) as d:
        feeder.mib = 40
        assert not fires(d).actions
        assert notifier(d).state == pb.Notifier.STATE_OFF and notifier(d).pid == 0
        assert b"notifier off" in client("status", "--connect", d.publish).stdout
        assert not children(d.process.pid)


def children(pid):
    return {int(child) for tasks in pathlib.Path(f"/proc/{pid}/task").glob("*/children")
            for child in tasks.read_text().split()}


def test_what_a_notifier_is_started_with(directory):
    """No secret is in its arguments or its environment: the path of a URL may be one. Without actions there is none."""
    with watched(directory, rule([{"webhook": "https://example.org/s3cret"}])) as (d, _):
        pid = running_notifier(d).pid
        assert pid in children(d.process.pid)
        for what in ("cmdline", "environ"):
            assert b"s3cret" not in pathlib.Path(f"/proc/{pid}/{what}").read_bytes()
        assert "s3cret" not in d.log.read_text()
    with private_directory() as quiet, Daemon(quiet) as d:
        assert notifier(d).state == pb.Notifier.STATE_IDLE and not children(d.process.pid)
    alone = client("notify")
    assert alone.returncode == 2 and alone.stdout == b"" and b"heapwatchd starts this program" in alone.stderr


def test_a_notifier_that_hangs_holds_up_nobody(directory):
    with Webhook() as hook, watched(directory, rule([{"webhook": hook.url}])) as (d, feeder):
        pid = running_notifier(d).pid
        os.kill(pid, signal.SIGSTOP)
        try:
            feeder.mib = 40
            fires(d)
            wait_for(lambda: "it has not reported for" in notifier(d).detail, "its silence to be told")
            before = d.health("t").bytes
            wait_for(lambda: d.health("t").bytes > before, "bytes to be read meanwhile")
            assert not hook.bodies
        finally:
            os.kill(pid, signal.SIGCONT)
        wait_for(lambda: hook.told() == [("firing", "big", "t")], "the alert to be acted on")
        assert running_notifier(d).pid == pid and not notifier(d).detail


def test_https(directory):
    pair = certificate(directory)
    with Webhook(certificate=pair) as hook, watched(
            directory, rule([{"webhook": {"url": hook.url, "attempts": 1}},
                             {"webhook": {"url": hook.url, "ca_file": str(pair[0])}}])) as (d, feeder):
        feeder.mib = 40
        stranger, friend = results(d, 2)
        assert not stranger.ok and "certificate" in stranger.detail.lower()
        assert friend.ok and friend.detail == "HTTP 200"
        assert len(hook.bodies) == 1


def test_requests_are_checked(directory):
    with Daemon(directory) as d:
        def refusal(**what):
            return d.ask(pb.Request(**what))[0].error
        assert "needs a rule and a duration_ns" in refusal(silence=pb.SilenceRequest(rule="x"))
        assert "not in the future" in refusal(silence=pb.SilenceRequest(rule="x*", duration_ns=0))
        assert "366 days" in refusal(silence=pb.SilenceRequest(rule="x*", duration_ns=2**64 - 1))
        assert "no rule 'leek'; did you mean 'leak'?" in refusal(silence=pb.SilenceRequest(rule="leek",
                                                                                           duration_ns=10**9))
        assert "at most 256 bytes" in refusal(silence=pb.SilenceRequest(rule="x" * 300, duration_ns=1))
        assert "name of a target" in refusal(silence=pb.SilenceRequest(rule="x*", target="\x1b", duration_ns=10**9))
        assert "no such silence" in refusal(unsilence=pb.UnsilenceRequest(id=5))
        assert "needs an id or a rule" in refusal(unsilence=pb.UnsilenceRequest())
        made = d.ask(pb.Request(silence=pb.SilenceRequest(rule="x*", duration_ns=60 * 10**9, why="w" * 5000)))[0]
        assert len(made.silences.silences[0].why) == 512
