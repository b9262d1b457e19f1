# SPDX-License-Identifier: BSD-3-Clause
"""What is said of a program while it lives stands when it is dead: lives are made logs, and each is asked on all faces before
its end, after the last collection of its shutdown, and afterwards. Words, keys, onset, cause and limit are the same, on
messages, trend, pipe, post-mortem and summary; the numbers at its end are the program's, not its shutdown's."""
import json
import time

import pytest

from harness import Daemon, client, pb, private_directory, wait_for
from live_log import LiveLog

pytestmark = pytest.mark.xdist_group("lives")      # they share a daemon

MIB, S = 1 << 20, 10**9
LIMIT, ONSET, NOTE = 1024 * MIB, 120, "deploy v42"


def leak(s, met):
    """Live data from ONSET on, up to almost all of -M at `met`."""
    return 20 * MIB + max(0, min(s, met) - ONSET) * 995 * MIB // (met - ONSET) + s % 7 * 8192


# name: live data at each second, seconds until its last moments, whether it is near its limit then, its word
LIVES = {
    "dies": (lambda s: leak(s, 600), 600, True, "LEAK"),                # at -M at once
    "stuck": (lambda s: leak(s, 480), 600, True, "LEAK"),               # after two minutes of collections at -M
    "young": (lambda s: leak(s, 132), 134, True, "RISING"),             # before any verdict
    "leaks": (lambda s: leak(s, 1800), 600, False, "LEAK"),             # far from its limit, and is stopped
    "cache": (lambda s: 20 * MIB + min(s, 100) * MIB, 600, False, "STEADY"),
    "batch": (lambda s: 20 * MIB + s % 60 * MIB, 600, False, "STEADY"),
}
MARKED = ("dies", "stuck", "young", "leaks")


def write(path, live, seconds):
    log = LiveLog(path, start_wall_ns=time.time_ns() - seconds * S)
    log.heap_info(LIMIT, at_ns=2)
    for s in range(1, seconds + 1):
        if s == ONSET:
            log.marker(NOTE, at_ns=s * S - 1000)
        log.live(live(s), at_ns=s * S)
        if s % 10 == 0:
            log.census({"Main.steady": 20 * MIB, "Main.cache": max(65536, live(s) - 20 * MIB)}, at_ns=s * S + 1000)
    return log


class Lives:
    def __init__(self, directory):
        self.logs = {name: write(directory / f"{name}.eventlog", live, seconds) for name, (live, seconds, _, _) in LIVES.items()}
        self.moments = {}
        with Daemon(directory, *(f"{n}={directory}/{n}.eventlog" for n in LIVES), args=("--resolution", "1s", "--leak-after", "60s")) as daemon:
            self.env = {"HEAPWATCH_DIR": str(directory)}
            for name, (live, seconds, _, _) in LIVES.items():
                wait_for(lambda: self.live_bytes(daemon, name) == live(seconds) and self.as_of(daemon, name) >= (seconds - 2) * S, f"all of {name}")
            self.ask("alive")
            for name, (live, seconds, _, _) in LIVES.items():       # the shutdown: nothing is held any more
                if name != "cache" and name != "batch":
                    self.logs[name].live(83_000, at_ns=(seconds + 1) * S)
            for name, (_, seconds, _, _) in LIVES.items():
                self.logs[name].end()
                daemon.ask(pb.Request(end_target=pb.EndTargetRequest(name=name, exit_status=251 if LIVES[name][2] else 1)))
            for name in LIVES:
                daemon.wait_state(name, "CRASHED", "FAILED")
            self.ask("dead")

    @staticmethod
    def live_bytes(daemon, name):
        heap = daemon.snapshot(name).get("heap")
        return heap and heap[-1].heap.live_bytes

    @staticmethod
    def as_of(daemon, name):
        trends = daemon.snapshot(name).get("trends")
        return max((t.as_of_ns for u in trends or [] for t in u.trends.trends), default=0)

    def ask(self, moment):
        for name in LIVES:
            trend = json.loads(client("trend", "--format", "json", name, env=self.env).stdout)
            mortem = json.loads(client("post-mortem", "--format", "json", name, env=self.env).stdout)
            text = client("trend", name, env=self.env).stdout.decode()
            self.moments[moment, name] = trend, mortem, text


@pytest.fixture(scope="module")
def lives():
    with private_directory() as d:
        yield Lives(d)


def said(trend):
    """What is judged: by keys and numbers, of what does not change when a run ends."""
    trends, early = trend["trends"], trend["trends"].get("early", {})
    live = next(t for t in trends["trends"] if t.get("series") == "SERIES_LIVE")
    facts = {"word": live["word"], "verdict": live["verdict"], "key": live["key"], "where": trends["growth"].get("where"),
             "growth": trends["growth"]["key"], "limit": early.get("limitSource"), "rising": early.get("rising", False)}
    if live["verdict"] in ("VERDICT_GROWING", "VERDICT_LEAK"):
        facts["onset"] = live["onsetNs"]
        facts["cause"] = live.get("noteBefore", live.get("noteAfter", {})).get("text")
        facts["culprit"] = [b["label"] for b in trends["growth"].get("bands", [])][:1]
    if early.get("rising"):
        facts["rise"] = early["onsetFromNs"], early["onsetToNs"]
    return facts


@pytest.mark.parametrize("name", LIVES)
def test_dead_as_alive(lives, name):
    alive, dead = lives.moments["alive", name][0], lives.moments["dead", name][0]
    assert said(alive)["word"] == "WORD_" + LIVES[name][3], said(alive)
    assert said(dead) == said(alive)
    if name in MARKED and "onset" in said(dead):
        assert said(dead)["cause"] == NOTE
        assert abs(int(said(dead)["onset"]) - ONSET * S) < 10 * S


@pytest.mark.parametrize("name", [n for n in LIVES if LIVES[n][2]])
def test_growth_that_met_its_limit(lives, name):
    for moment in ("alive", "dead"):
        trend, mortem, text = lives.moments[moment, name]
        early = trend["trends"]["early"]
        assert early["runsOut"] and early["key"].startswith("rise-"), early
        assert int(early["onsetFromNs"]) <= ONSET * S <= int(early["onsetToNs"]), early
        if LIVES[name][3] == "LEAK":
            assert "no lasting growth" not in text and "too short for a verdict" not in text, (moment, text)
    dead = lives.moments["dead", name][0]["trends"]["early"]
    assert dead["atLimit"] and dead["key"] == "rise-met-limit", dead


@pytest.mark.parametrize("name", MARKED)
def test_last_values_are_the_programs(lives, name):
    live, seconds, _, _ = LIVES[name]
    _, mortem, text = lives.moments["dead", name]
    assert int(mortem["memory"]["liveBytes"]) == live(seconds)
    assert int(mortem["memory"]["heapBytes"]) == 3 * live(seconds)
    assert "81.1 KiB" not in text, text
