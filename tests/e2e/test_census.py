# SPDX-License-Identifier: BSD-3-Clause
"""What heap censuses cost a program, and of when the bands are that they show: in the agent, on every face."""
import contextlib
import json
import os
import re
import signal
import subprocess
import time

import pytest

import terminal
import web_browser
from harness import CLIENT, VALGRIND, Daemon, Programs, client, heapwatch, long_cases, piped, private_directory, require_tracing, running, wait_for
from test_outside import inspector_of


programs = Programs({"threaded": ("held", "Held", "-threaded"), "threaded-log": ("held-threaded-log", "Held", "-threaded", "-eventlog"),
                     "plain": ("held-plain", "Held"), "plain-log": ("held-plain-log", "Held", "-eventlog")})


@pytest.fixture(scope="module")
def held():
    return programs["threaded"]


@pytest.fixture
def daemon(tmp_path):
    with private_directory() as directory, Daemon(directory) as d:
        yield d


@contextlib.contextmanager
def run(daemon, program, mib, *options, rounds=()):
    """It keeps that much, under the name p, once all of it is there; `rounds`: with major collections of its own."""
    env = {**os.environ, "HEAPWATCH_DIR": str(daemon.directory)}
    with running(CLIENT, "run", "--no-top", "--name", "p", *options, "--", program, str(mib), *rounds, env=env, stdin=subprocess.PIPE,
                 stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        if "--max-pause" not in options:    # however busy the machine is
            ask(daemon, "ctl", "agent", "p", "max-pause", "0")
        yield process


def ask(daemon, *args):
    done = heapwatch(daemon, *args)
    assert done.returncode in (0, 1), done.stderr + daemon.log.read_text()
    return done.stdout


def status(daemon):
    return {k: float(v) for k, v in re.findall(r"\b(?!ghc)(\w+)=([0-9.]+)\b", ask(daemon, "ctl", "agent", "p", "status"))}


def newest(daemon):
    return daemon.snapshot("p")["census"][0].census


def trend(daemon):
    return json.loads(ask(daemon, "trend", "--format", "json", "p"))["census"]


def test_the_console_takes_a_census_and_says_what_it_cost(daemon, held):
    with run(daemon, held, 20), terminal.top(daemon.directory, "--connect", daemon.publish, "--view", "bands", "p") as t:
        t.wait("last census")
        before = newest(daemon).number
        t.keys("C").wait("of p was taken; the program paused for")
        assert newest(daemon).number > before


@pytest.mark.skipif(not web_browser.installed(), reason="needs chromium")
def test_the_page_takes_a_census_and_says_what_it_cost(daemon, held):
    with run(daemon, held, 20), web_browser.Web("--connect", daemon.publish, "--allow-control") as web, \
            web_browser.opened() as tab:
        tab.go(f"{web.url}#/detail?target=p")
        tab.until("heapwatch.table('bands')?.rows.length > 0")
        before = newest(daemon).number
        tab.click(selector="button >> text=Census now")
        tab.until("/a census of p was taken; the program paused for .* ms/.test(document.querySelector('main').innerText)")
        wait_for(lambda: newest(daemon).number > before, "the census")
        assert tab.diagnostics() == []


@pytest.mark.skipif(VALGRIND, reason="censuses of 200 MB take minutes there")
def test_a_large_heap_gets_few_censuses_and_each_face_says_how_old_the_last_one_is(daemon, held):
    with run(daemon, held, 200):
        assert ask(daemon, "ctl", "census", "p").startswith("a census ")
        wait_for(lambda: newest(daemon).total_bytes > 100 << 20, "a census of all of it")
        before = status(daemon)
        assert before["pause_ms"] > 20 and before["budget"] == 0.05
        began, first = time.monotonic(), newest(daemon)
        wait_for(lambda: trend(daemon)["timeNs"] != str(first.time_ns) or int(trend(daemon)["ageNs"]) > 5e9, "a census of some age")
        after = status(daemon)
        assert (after["taken"] - before["taken"]) * before["pause_ms"] <= 10 * (time.monotonic() - began) + before["pause_ms"]
        if not after["rising"]:
            assert after["census_every"] > 30

        # The age is that of the newest census, by the wall clock too.
        census, run_info = newest(daemon), daemon.target("p").run_info
        age = trend(daemon)
        if age["timeNs"] == str(census.time_ns):
            by_clock = time.time() - (run_info.start_wall_ns + census.time_ns) / 1e9
            assert abs(int(age["ageNs"]) / 1e9 - by_clock) < 4, (age, by_clock)
        words = r"last census [0-9.]+ ?m?s?( \d+s)? ago \((without a|[0-9.]+ [mu]?s) pause\) at \d+ MiB"
        assert not age["stale"] and re.fullmatch(words, age["sentence"]), age
        for face in (("trend", "p"), ("summary", "p"), ("top", "--once", "--view", "bands", "p"), ("post-mortem", "p"),
                     ("top", "--once", "--view", "overview", "p")):
            assert re.search(words, ask(daemon, *face)), face
        assert json.loads(ask(daemon, "summary", "--format", "json", "p"))["heapProfile"]["census"]["stale"] is False


def test_max_pause_forbids_longer_censuses_and_each_face_says_so(daemon, held):
    with run(daemon, held, 20, "--max-pause", "100us"):
        refused = client("ctl", "census", "p", env={"HEAPWATCH_DIR": str(daemon.directory)})
        assert refused.returncode == 1 and b"it would pause the program" in refused.stderr, refused.stderr
        words = r"no (census|more with a pause): it would pause the program about [0-9.]+ ms, --max-pause is 0.1 ms"
        wait_for(lambda: re.search(words, ask(daemon, "trend", "p")), "the reason")
        for face in (("summary", "p"), ("top", "--once", "--view", "bands", "p"), ("post-mortem", "p")):
            assert re.search(words, ask(daemon, *face)), face
        assert not any("heapwatch-agent" in note.text for u in daemon.snapshot("p").get("notes", []) for note in u.notes.notes)

        taken = status(daemon)["taken"]
        ask(daemon, "ctl", "agent", "p", "max-pause", "10")
        wait_for(lambda: status(daemon)["taken"] > taken, "a census that is allowed again")
        wait_for(lambda: "none" not in trend(daemon), "nothing is forbidden any more")


def bands(daemon):
    """Of the newest census."""
    found = daemon.snapshot("p")
    labels = {band.id: band.label for update in found["bands"] for band in update.bands.bands}
    census = found["census"][0].census
    return {labels[band]: size for band, size in zip(census.band, census.bytes)}


def test_a_large_heap_with_the_agent_is_estimated(held):
    """Where there is no memory for a copy: without a pause, in the program's own log, beside one that the runtime makes."""
    require_tracing()
    with private_directory() as directory, Daemon(directory, args=("--census-memory", "300MiB")) as daemon, \
            run(daemon, held, 120, rounds=["4000"]):
        wait_for(lambda: daemon.snapshot("p").get("census") and newest(daemon).spread > 0 and newest(daemon).total_bytes > 60 << 20, "an estimate")
        census, estimates = newest(daemon), bands(daemon)
        assert census.outside and census.spread < 0.2 and status(daemon)["given"] > 0
        assert trend(daemon)["sentence"].startswith("last census, estimated from a sample (largest band ±")
        assert ask(daemon, "ctl", "census", "p").startswith("a census ")
        whole = wait_for(lambda: newest(daemon).spread == 0 and bands(daemon), "one that the runtime has made")
        total = sum(whole.values())
        for label, size in whole.items():
            if size > total / 100:
                assert abs(estimates[label] - size) < 3 * census.spread * (size * (total - size)) ** 0.5, (label, size, estimates[label], census.spread)


@pytest.mark.parametrize("build", ["threaded", *long_cases(["threaded-log"], ["plain"], ["plain-log"])])
def test_censuses_are_read_from_outside_without_a_pause(build, tmp_path):
    """After collections that the program makes anyway; the agent makes none meanwhile, and again when they stop."""
    require_tracing()
    with private_directory() as directory, Daemon(directory, args=("--record", tmp_path)) as daemon, \
            run(daemon, programs[build], 4, rounds=["50"]):
        seen = []

        def given_in_a_row():
            """Three from outside, and none of the agent's between the first and the last of them."""
            now = status(daemon)
            if now["given"] and (not seen or seen[-1]["taken"] != now["taken"]):
                seen.append(now)
            return seen and now["taken"] == seen[-1]["taken"] and now["given"] >= seen[-1]["given"] + 2 and now

        now = wait_for(given_in_a_row, "censuses from outside alone")

        assert newest(daemon).outside and " ago (without a pause) at " in trend(daemon)["sentence"]

        # What does not change has the same size, whoever makes the census.
        kept, from_outside = ("Bin", "Tip", "Just", "I#"), bands(daemon)
        assert ask(daemon, "ctl", "census", "p").startswith("a census ")
        own = wait_for(lambda: (b := bands(daemon)) and status(daemon)["taken"] > now["taken"] and b, "one of the agent's")
        large = {label for label in own if label.rsplit(".", 1)[-1] in kept and own[label] > 100000}
        assert len(large) >= 3 and {label: own[label] for label in large} == {label: from_outside[label] for label in large}

        inspector = inspector_of(daemon.process.pid)
        os.kill(inspector, signal.SIGSTOP)
        assert ask(daemon, "ctl", "agent", "p", "budget", "1") == "done\n"      # one is due soon, then
        taken = status(daemon)["taken"]
        wait_for(lambda: status(daemon)["taken"] > taken, "censuses of the agent's own")
        given = status(daemon)["given"]
        os.kill(inspector, signal.SIGKILL)
        wait_for(lambda: status(daemon)["given"] > given, "another one that reads from outside")

        live, log = newest(daemon), tmp_path / "p.eventlog"

        def recorded():
            assert client("recording", "dump", "p", "--dir", tmp_path, "--force", "-o", log).returncode == 0
            found = (u["census"] for u in piped(log) if "census" in u)
            return next((c for c in found if c["timeNs"] == str(live.time_ns) and not c.get("unfinished")), None)

        assert wait_for(recorded, "the same census in the recording")["totalBytes"] == str(live.total_bytes)
        assert re.search(r"\nheapwatch_haskell_threads\S* [1-9]", client("convert", "--to", "openmetrics", log).stdout.decode())
        health = daemon.health("p")
        assert health.lost_bytes == 0 and health.time_anomalies == 0 and health.unknown_events == 0
        inspector = inspector_of(daemon.process.pid)
        daemon.stop(signal.SIGKILL)
        wait_for(lambda: not os.path.exists(f"/proc/{inspector}"), "the end of the inspector whose daemon is gone")


def test_options_of_censuses_are_checked(held):
    for option, why in (("--budget=x", "--budget: expected a percentage"), ("--budget=101", "--budget: expected a percentage"),
                        ("--max-pause=abc", "--max-pause"), ("--max-pause=0", "--max-pause")):
        done = client("run", "--no-top", option, "--", held, 1)
        assert done.returncode == 2 and why in done.stderr.decode(), done.stderr
    done = client("run", "--no-top", "--max-pause=50ms", "--heap-profile=c", "--", held, 1)
    assert done.returncode == 2 and "--heap-profile T, i or none" in done.stderr.decode()
