# SPDX-License-Identifier: BSD-3-Clause
"""`heapwatch alerts` against a made-up daemon: what is shown, in which order, and the exit status."""
import contextlib
import json
import os
import re
import signal
import struct
import subprocess
import time

import pytest

import live_log
from fake_daemon import FakeDaemon
from harness import CLIENT, DEADLINE_S, client, pb, private_directory, wait_for

ALERT = pb.Alert
ESCAPE = "\x1b[31mred"


def alert(rule, state, severity, **fields):
    a = ALERT(rule=rule, group="memory", state=state, severity=severity, **fields)
    if state in (ALERT.STATE_FIRING, ALERT.STATE_RESOLVED):
        a.fired_ns = 60 * 10**9
        a.fired_wall_ns = time.time_ns() - 90 * 10**9
    return a


def says(*alerts):
    """A target of a fake daemon that has these alerts; a list may be changed while it runs."""
    def target(pb, tick):
        state = pb.Update(run=1, event_time_ns=tick + 1)
        state.target_state.state = pb.Target.STATE_RUNNING
        update = pb.Update(run=1, event_time_ns=tick + 1)
        update.alerts.alerts.extend(alerts[0] if alerts and isinstance(alerts[0], list) else alerts)
        if not update.alerts.alerts:
            update.alerts.SetInParent()
        return [state, update]
    return target


@contextlib.contextmanager
def daemon(**targets):
    with private_directory() as directory, FakeDaemon(pb, directory, targets) as fake:
        yield fake


def alerts(fake, *args):
    return client("alerts", "--connect", fake.endpoint, *args)


def test_nothing_fires():
    with daemon(api=says(alert("leak", ALERT.STATE_RESOLVED, "critical")), quiet=says()) as fake:
        done = alerts(fake)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"nothing fires\n", b"")


def test_what_fires_is_listed_worst_first():
    silence = pb.Silence(until_wall_ns=1_800_000_000 * 10**9, why="known " + ESCAPE)
    with daemon(
            b=says(alert("gc_pause", ALERT.STATE_FIRING, "warning", value_text="61.2 ms", silenced=True,
                         silence=silence)),
            a=says(alert("stalled", ALERT.STATE_PENDING, "critical", since_ns=5 * 10**9, since_wall_ns=1_700_000_000 * 10**9),
                   alert("leak", ALERT.STATE_FIRING, "critical", band=3, band_label=ESCAPE, value_text="1 MiB/min",
                         sentence="It grows " + ESCAPE, annotations=[
                             pb.Label(name="summary", value="not twice"),
                             pb.Label(name="onset", value="growth began 14m ago; nearest note: " + ESCAPE)], actions=[
                             pb.ActionResult(kind="webhook", ok=False, attempts=3, detail="HTTP 503"),
                             pb.ActionResult(kind="exec")]))) as fake:
        done = alerts(fake)
        assert done.returncode == 1
        lines = done.stdout.decode().splitlines()
        assert "\x1b" not in done.stdout.decode()
        assert lines[0].startswith("critical  firing    a                 leak of \\x1B[31mred  1 MiB/min  fired 20")
        assert re.search(r", for \d+m \d\ds$", lines[0])      # a minute and a half, when the machine is quick
        assert lines[1:5] == ["          It grows \\x1B[31mred",
                              "          growth began 14m ago; nearest note: \\x1B[31mred",
                              "          webhook: failed after 3 attempts, HTTP 503",
                              "          exec: under way"]
        assert lines[5].startswith("warning   firing    b                 gc_pause  61.2 ms  fired 20")
        assert lines[6] == "          silenced until 2027-01-15T08:00:00.000Z: known \\x1B[31mred"
        assert lines[7] == "critical  pending   a                 stalled  holds since 2023-11-14T22:13:20.000Z"
        by_run = alerts(fake, "--clock", "run").stdout.decode().splitlines()
        assert by_run[7].endswith("stalled  holds since 5.00 s into its run") and not any("Z" in x for x in (by_run[0], by_run[5]))
        assert len(lines) == 8

        only = alerts(fake, "--target", "b", "--format", "json")
        found = [json.loads(line) for line in only.stdout.splitlines()]
        assert [(f["target"], f["alert"]["rule"], f["alert"]["silenced"]) for f in found] == [("b", "gc_pause", True)]
        assert only.returncode == 1


def test_one_leak_is_one_alert():
    """Its bands and the limit that nears are its parts: named below it, counted with it, on each face that counts, as severe as the worst."""
    parts = [alert("leaking-band", ALERT.STATE_FIRING, "info", band=i, band_label=f"main:Main.Item{i}", band_source=f"Main.hs:{i}",
                   value_text=f"{i} KiB/s", part_of="leak", labels=[pb.Label(name="part_of", value="leak")]) for i in range(1, 8)]
    parts.append(alert("memory-runs-out-now", ALERT.STATE_FIRING, "critical", value_text="12m", part_of="leak"))
    with daemon(api=says(*parts, alert("leak", ALERT.STATE_FIRING, "warning", sentence="api leaks.", whole_severity="critical"),
                         alert("odd", ALERT.STATE_FIRING, "warning"))) as fake:
        done = alerts(fake)
        lines = done.stdout.decode().splitlines()
        assert [line.split()[0] for line in lines if line[0] != " "] == ["critical", "warning"]
        at = lines.index("          api leaks.")
        assert lines[0].startswith("critical  firing    api               leak") and lines[1] == "          api leaks."
        assert lines[at + 1].startswith("          firing  memory-runs-out-now (critical)  12m  fired 20")
        assert lines[at + 2].startswith("          firing  main:Main.Item1 (Main.hs:1)  1 KiB/s  fired 20") and lines[at + 6] == "          and 3 more"
        assert len([json.loads(line) for line in alerts(fake, "--format", "json").stdout.splitlines()]) == 10, "scripts get all"
        shown = json.loads(client("top", "--once", "--view", "targets", "--format", "json", "--connect", fake.endpoint).stdout)
        assert [t["alerts_firing"] for t in shown["targets"]] == [2]
        rows = json.loads(client("top", "--once", "--view", "alerts", "--format", "json", "--connect", fake.endpoint).stdout)
        assert [rows["alerts"][i]["rule"] for i in (0, -1)] == ["leak", "odd"], "the most severe first, its parts below it"


@pytest.mark.parametrize("severity, fail_on, status", [
    ("warning", "info", 1), ("warning", "warning", 1), ("warning", "critical", 0),
    ("critical", "critical", 1), ("info", "warning", 0), ("odd", "warning", 1)])
def test_exit_status(severity, fail_on, status):
    with daemon(api=says(alert("leak", ALERT.STATE_FIRING, severity),
                         alert("slow", ALERT.STATE_PENDING, "critical"))) as fake:
        assert alerts(fake, "--fail-on", fail_on).returncode == status


def test_follow_prints_each_change_once():
    now = [alert("leak", ALERT.STATE_PENDING, "critical", since_ns=1)]
    with daemon(api=says(now)) as fake:
        follower = subprocess.Popen([CLIENT, "alerts", "--follow", "--clock", "run", "--connect", fake.endpoint],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.set_blocking(follower.stdout.fileno(), False)
        seen = b""

        def lines(n):
            nonlocal seen
            seen += follower.stdout.read() or b""
            return seen.count(b"\n") >= n

        wait_for(lambda: lines(1), "the pending alert")
        now[:] = [alert("leak", ALERT.STATE_FIRING, "critical", sentence="It grows.")]
        wait_for(lambda: lines(2), "the firing alert")
        fake.epoch += 2     # the daemon is started again, with the alert in its checkpoint
        ticks = fake.sequences["hw1/alert/api/"] + 3
        wait_for(lambda: fake.sequences["hw1/alert/api/"] >= ticks, "messages of the next daemon")
        # In one step: the daemon publishes meanwhile.
        now[:] = [alert("leak", ALERT.STATE_RESOLVED, "critical", sentence="It grows.", resolved_ns=200 * 10**9)]
        wait_for(lambda: lines(3), "the resolved alert")
        del now[:]
        ticks = len(fake.sequences) and fake.sequences["hw1/alert/api/"] + 3
        wait_for(lambda: fake.sequences["hw1/alert/api/"] >= ticks, "more messages")
        lines(3)
        follower.send_signal(signal.SIGINT)
        out, err = follower.communicate(timeout=DEADLINE_S)
    text = (seen + (out or b"")).decode().splitlines()
    assert len(text) == 3
    assert text[0].startswith("critical  pending   api ")
    assert text[1].startswith("critical  firing    api               at 1m 00s    leak: It grows.")
    assert text[2].startswith("critical  resolved  api               at 3m 20s    leak")
    assert follower.returncode == -signal.SIGINT and err == b""


def test_daemons_that_do_not_answer_are_no_good_news():
    with private_directory() as directory, daemon(api=says()) as fake:
        nobody = f"ipc://{directory}/publish"
        done = client("alerts", "--connect", nobody)
        assert done.returncode == 2 and b"no daemon answers at" in done.stderr and done.stdout == b""
        done = alerts(fake, "--connect", nobody)
        assert done.returncode == 2 and done.stdout == b""


def test_several_daemons():
    with daemon(a=says()) as quiet, daemon(b=says(alert("leak", ALERT.STATE_FIRING, "critical"))) as loud:
        done = alerts(quiet, "--connect", loud.endpoint)
        assert done.returncode == 1 and done.stdout.startswith(b"critical  firing    b ")


@pytest.mark.parametrize("args, message", [
    (["--fail-on", "criticle"], "--fail-on: unknown 'criticle'; did you mean 'critical'?"),
    (["--format", "xml"], "--format: unknown 'xml'; expected text or json"),
    (["--connect", "ipc:///x/publish", "x.eventlog"], "files and --connect exclude each other")])
def test_mistakes(args, message):
    done = client("alerts", *args)
    assert done.returncode == 2 and message in done.stderr.decode()


def test_a_file_that_is_no_log_is_bad_input():
    done = client("alerts", __file__)
    assert done.returncode == 2 and done.stderr


GC_START, GC_END, GC_STATS = 9, 10, 53
live_log.SIZES.update({GC_START: 0, GC_END: 0, GC_STATS: 58})
SHARES = """groups:
  - name: shares
    rules:
      - {alert: censuses, expr: census_share > 0.8, for: 5s}
      - {alert: program, expr: gc_share > 0.2, for: 5s}
"""


def collection(log, at_ms, takes_ms, with_census=False):
    begin, end = at_ms * 10**6, (at_ms + takes_ms) * 10**6
    log._append(log._block(log._event(GC_START, b"", begin), begin))
    if with_census:
        log.census({"FUN": 20 << 20}, at_ns=(at_ms + takes_ms // 2) * 10**6)
    log.live(20 << 20, at_ns=end - 1000)
    stats = struct.pack(">IHQQQIQQQ", 0, 1, 20 << 20, 0, 0, 1, 0, 20 << 20, 0)
    log._append(log._block(log._event(GC_STATS, stats, end) + log._event(GC_END, b"", end), end))


@pytest.mark.parametrize("with_census", [True, False])
def test_rare_long_censuses_are_not_the_programs_pauses(directory, with_census):
    """Two short collections a second, and every 25 s one of 800 ms: more than one in a hundred."""
    log = live_log.LiveLog(directory / "run.eventlog", start_wall_ns=1_700_000_000 * 10**9)
    for s in range(1, 900):
        collection(log, 1000 * s, 800 if s % 25 == 0 else 1, with_census and s % 25 == 0)
        collection(log, 1000 * s + 900, 1)
    log.end()
    done = client("check", directory / "run.eventlog").stdout.decode()
    assert ("gc-pauses" in done) == (not with_census), done


@pytest.mark.parametrize("census_ms, own_ms, fires", [(450, 50, "censuses"), (50, 450, "program"), (50, 50, None)])
def test_time_for_censuses_is_the_profiles_and_not_the_programs(directory, census_ms, own_ms, fires):
    """Two collections a second, one of them with a census in it: whose time it is decides which rule fires, and the built-in ones."""
    log = live_log.LiveLog(directory / "run.eventlog", start_wall_ns=1_700_000_000 * 10**9)
    for s in range(1, 700):
        collection(log, 1000 * s, census_ms, with_census=True)
        collection(log, 1000 * s + 500, own_ms)
    log.end()
    (directory / "shares.yaml").write_text(SHARES)
    done = client("check", directory / "run.eventlog", "--rules", directory / "shares.yaml")
    fired = {rule for rule in ("censuses", "program") if f": {rule} at " in done.stdout.decode()}
    assert fired == ({fires} if fires else set()), done.stdout.decode()
    built_in = client("check", directory / "run.eventlog").stdout.decode()
    assert ("gc-share" in built_in) == (fires == "program"), built_in
    said = client("top", "--once", directory / "run.eventlog").stdout.decode()
    assert ("90.0 % of it heap censuses at -i0.1 (use -i1)" in " ".join(said.split())) == (fires == "censuses"), said
