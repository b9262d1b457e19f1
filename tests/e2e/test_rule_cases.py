# SPDX-License-Identifier: BSD-3-Clause
"""Rules over made-up logs: which fire, which do not, and in which state they are at which time.

Every built-in rule has cases in which it fires and others in which it does not, near the threshold where that says more.
A silent stream, resident memory and a recording are things of live programs: tests/unit/alerting, test_trends.py.
"""
import datetime
import re

import pytest

from harness import LOGS, ROOT, client, written
from live_log import LiveLog

UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
START_NS = 1_764_000_000 * 10**9
RULES = ROOT / "tests" / "data" / "rules"


def number(text):
    value, unit = re.fullmatch(r"(\d+)([a-zA-Z]*)", text).groups()
    return int(value) * UNITS[unit]


def values(text):
    """"5MiB+1MiBx10 _x3": eleven values that rise by 1 MiB, then none three times; "5MiBx3": four times the same."""
    found = []
    for part in text.split():
        first, step, n = re.fullmatch(r"([^+x]+)(?:\+([^x]+))?(?:x(\d+))?", part).groups()
        if first == "_":
            found += [None] * int(n or 1)
        else:
            found += [number(first) + i * number(step or "0ms") for i in range(int(n or 0) + 1)]
    return found


def write_log(path, interval, bands=None, **series):
    """One sample of each series and band at the end of each interval."""
    log = LiveLog(path, start_wall_ns=START_NS, known_length=False)
    log.heap_info(0, at_ns=1)
    series = {name: values(text) for name, text in series.items()}
    bands = {name: values(text) for name, text in (bands or {}).items()}
    for i in range(max(map(len, (*series.values(), *bands.values())))):
        at = (i + 1) * number(interval)
        now = {name: s[i] for name, s in series.items() if i < len(s)}
        if now.get("pause") is not None:
            log.collection(at, now["pause"], now.get("fragmentation", 0), now.get("heap"), now.get("sync"))
        if now.get("live") is not None:
            log.live(now["live"], at, now.get("heap"))
        rows = {name: b[i] for name, b in bands.items() if i < len(b) and b[i] is not None}
        if rows:
            log.census(rows, at)
    log.end()
    return path


def judge(*args):
    """[(rule, band, fired, resolved)] of all alerts that fired, in ns of event time; None: it fires to the end."""
    done = client("check", *args)
    assert done.returncode in (0, 1), done.stderr
    found = re.findall(r"^  \w+: ([\w-]+)(?: of (.+))? at (?:(\S+)Z \()?\S.* into the run\)?(?:, run \d+)?(?:, for (.+))?$", done.stdout.decode(), re.M)
    alerts = []
    for rule, band, wall, held in found:
        fired = 0 if not wall else (datetime.datetime.fromisoformat(wall) - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1) * 1000 - START_NS
        alerts.append((rule, band, fired, fired + sum(number(part) for part in re.sub(r"\.\d+ | (?=m?s)", "", held).split()) if held else None))
    return alerts


def state(alerts, rule, band, at):
    """Of several episodes the newest that has begun."""
    word = "inactive"
    for name, label, fired, resolved in alerts:
        if name == rule and label == band and fired <= at:
            word = "firing" if resolved is None or at < resolved else "resolved"
    return word


MADE = {
    "a leak": (dict(interval="1m", live="200MiB+1MiBx400", heap="500MiBx400"), [], {"leak"}),
    "no leak, memory that is steady": (dict(interval="1m", live="200MiBx400", heap="500MiBx400"), [], set()),
    "a band that leaks, and one that does not": (
        dict(interval="1m", bands={"Main.cache": "20MiB+1MiBx400", "ARR_WORDS": "50MiBx400"}, live="300MiBx400", heap="700MiBx400"), [],
        {"leaking-band"}),
    "memory runs out": (dict(interval="1m", live="100MiB+4MiBx100", heap="200MiB+8MiBx100"), ["--limit", "1GiB"],
                        {"memory-runs-out", "memory-runs-out-soon", "memory-runs-out-now"}),
    "memory grows far from its limit": (dict(interval="1m", live="100MiB+4MiBx100", heap="200MiB+8MiBx100"), ["--limit", "1TiB"], set()),
    "a fragmented heap": (dict(interval="10s", live="100MiBx200", heap="1GiBx200", pause="1msx200"), [], {"fragmentation"}),
    "fragmentation that comes and goes": (
        dict(interval="10s", live="100MiBx200", heap="1GiBx20 400MiBx20 1GiBx20 400MiBx140", pause="1msx200"), [], set()),
    "the reserve of a copying collector is no fragmentation": (
        dict(interval="10s", live="238MiBx400", heap="610MiBx400", fragmentation="240MiBx400", pause="1msx400"), [], set()),
    "long pauses": (dict(interval="5s", heap="1GiBx300", pause="300msx300"), [], {"gc-pauses"}),
    "short pauses": (dict(interval="5s", heap="1GiBx300", pause="20msx300"), [], set()),
    "much time in collections": (dict(interval="1s", heap="1GiBx1000", pause="150ms 500msx1000"), [], {"gc-pauses", "gc-share"}),
    "an unsafe call that every collection waits for": (dict(interval="1s", heap="1GiBx300", pause="10msx300", sync="150msx200 1msx100"), [], {"gc-sync"}),
    "little time in collections": (dict(interval="1s", heap="1GiBx1000", pause="50msx1000"), [], set()),
}
STATES = {
    "a leak": [("2h", "leak", "", "inactive"), ("6h", "leak", "", "firing")],
    "a band that leaks, and one that does not": [("6h", "leaking-band", "Main.cache", "firing"), ("6h", "leaking-band", "ARR_WORDS", "inactive")],
    "memory runs out": [("1h", "memory-runs-out-soon", "", "firing"), ("95m", "memory-runs-out-now", "", "firing")],
    "much time in collections": [("16m", "gc-share", "", "firing")],
}
LOGGED = {      # runs of real programs, one after the other
    "no collections in the log": (["leaky-useronly-ghc902"], {"gc-events-missing"}),
    "a log with everything": (["leaky-hT-ghc9103"], set()),
    "a killed program": (["crash-kill9-ghc9103"], set()),
    "a damaged log": (["torn-9103-10"], {"stream-damaged"}),
    "a program that is killed three times and begins again at once": (["crash-kill9-ghc9103"] * 4, {"restart-loop"}),
    "a program that is killed, and again, and a good run begins at once": (["crash-kill9-ghc9103"] * 2 + ["leaky-hT-ghc9103"], set()),
}


def check_states(alerts, expected):
    for at, rule, band, word in expected:
        assert state(alerts, rule, band, number(at)) == word, (at, rule, band, [a for a in alerts if a[0] == rule])


@pytest.mark.parametrize("name", MADE)
def test_builtin_rules_of_what_is_made_up(name, directory):
    series, options, fired = MADE[name]
    alerts = judge("--resolution", "1m", *options, write_log(directory / "run.eventlog", **series))
    assert {rule for rule, *_ in alerts} == fired
    check_states(alerts, STATES.get(name, []))


@pytest.mark.parametrize("name", LOGGED)
def test_builtin_rules_of_real_logs(name, directory):
    logs, fired = LOGGED[name]
    path = written(directory / "runs.eventlog", b"".join((LOGS / log / "run.eventlog").read_bytes() for log in logs))
    assert {rule for rule, *_ in judge(path)} == fired


def test_every_builtin_rule_has_a_case():
    rules = {line.split()[1] for line in client("rules", "list").stdout.decode().splitlines()}
    cases = [case[-1] for case in (*MADE.values(), *LOGGED.values())]
    assert len(rules) == 20
    for rule in rules - {"stream-stalled", "recording-paused", "failed", "crashed", "resident-growth", "threads-pile-up", "off-heap-growth", "heap-limit-met"}:
        assert any(rule in fired for fired in cases) and any(rule not in fired for fired in cases), rule


def test_windows_over_a_band_late_in_a_long_run(directory):
    """An hour and a half at 100 MiB instead of 50, where the band's whole history is coarse: 12 hours old at the first change."""
    log = write_log(directory / "run.eventlog", "1m", bands={"Main.cache": "50MiBx719 100MiBx89 50MiBx600"})
    alerts = judge("--resolution", "1m", "--rules", RULES / "bands.yaml", log)
    assert {a[0] for a in alerts} == {"high", "grew", "fast", "median", "ninth", "scattered", "climbs", "much"}
    check_states(alerts, [(f"{at}m", rule, "Main.cache", word) for at, rule, word in (
        (719, "high", "inactive"), (725, "high", "firing"), (725, "grew", "firing"), (725, "fast", "firing"), (728, "scattered", "firing"),
        (725, "median", "inactive"), (745, "grew", "resolved"), (765, "median", "firing"), (770, "climbs", "firing"), (770, "much", "firing"),
        (790, "scattered", "resolved"), (805, "fast", "resolved"), (805, "high", "firing"), (805, "ninth", "firing"),
        (825, "high", "resolved"), (850, "median", "resolved"), (850, "climbs", "resolved"), (890, "much", "resolved"),
        (1230, "ninth", "resolved"))])


def test_windows_over_a_band_that_vanishes(directory):
    log = write_log(directory / "run.eventlog", "1m", bands={"Main.cache": "50MiBx800 _x20 50MiBx800", "Main.other": "50MiBx1620"})
    alerts = judge("--resolution", "1m", "--rules", RULES / "bands.yaml", log)
    assert {a[0] for a in alerts} == {"low", "scattered", "grew", "fast", "climbs"}
    check_states(alerts, [("805m", "low", "Main.cache", "firing")])


def test_rules_go_on_through_three_hours_of_silence(directory):
    """By the time that passes meanwhile; no sample is unknown, and what fires stays."""
    log = write_log(directory / "run.eventlog", "1m", live="100MiBx60 _x180 50MiBx60", bands={"Main.cache": "100MiBx60 _x180 300MiBx60"})
    alerts = judge("--resolution", "1m", "--rules", RULES / "gaps.yaml", log)
    assert {a[0] for a in alerts} == {"silent", "silent-soon", "silent-long", "high", "much-band"}
    check_states(alerts, [(f"{at}m", rule, "Main.cache" if rule == "much-band" else "", word) for at, rule, word in (
        (64, "silent-soon", "inactive"), (68, "silent-soon", "firing"), (68, "silent", "inactive"), (94, "silent", "inactive"),
        (99, "silent", "firing"), (118, "high", "firing"), (149, "high", "firing"), (179, "silent-long", "inactive"),
        (184, "silent-long", "inactive"), (208, "silent-long", "inactive"), (220, "silent-long", "firing"), (239, "much-band", "inactive"),
        (239, "silent", "firing"), (246, "silent-soon", "resolved"), (246, "much-band", "firing"), (252, "silent", "firing"),
        (256, "silent", "resolved"), (270, "high", "resolved"))])
