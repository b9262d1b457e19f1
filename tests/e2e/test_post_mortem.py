# SPDX-License-Identifier: BSD-3-Clause
"""A program is killed: command, page, console, report and recording tell its end alike."""
import json
import os
import re
import signal
import subprocess
import urllib.request

import pytest

from harness import CLIENT, DEADLINE_S, Daemon, client, pb, private_directory, wait_for, without_page
from web_browser import Web, opened

pytestmark = pytest.mark.xdist_group("post_mortem")      # its tests share what runs


@pytest.fixture(scope="module")
def killed(programs):
    """A daemon with a recorder, and `heapwatch run` of a leaking program, api, that was killed: (daemon, what `run` said)."""
    with private_directory() as directory, Daemon(directory, args=["--record", directory / "kept"]) as daemon:
        run = subprocess.Popen([CLIENT, "run", "--no-top", "--name", "api", "--resolution", "100ms", "--rts", "-M800m",
                                "--heap-profile", "none", "--", programs["leaky"], "600", "+RTS", "-hT", "-i0.1"], text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=directory,
                               env={**os.environ, "HEAPWATCH_DIR": str(directory)})
        wait_for(lambda: (t := daemon.target("api")) and t.run_info.pid and
                 any(t.verdict >= pb.VERDICT_GROWING for u in daemon.snapshot("api").get("trends", [])
                     for t in u.trends.trends if t.series == pb.SERIES_LIVE), "growth of its live data")
        os.kill(daemon.target("api").run_info.pid, signal.SIGKILL)
        _, said = run.communicate(timeout=DEADLINE_S)
        assert run.returncode == 128 + signal.SIGKILL
        wait_for(lambda: daemon.target("api").state == pb.Target.STATE_CRASHED, "its end")
        yield daemon, said


def rows_of(what, env=None):
    out = client("post-mortem", what, "--format", "json", env=env or {})
    assert out.returncode == 1 and len(out.stdout.splitlines()) == 1, out.stderr
    return json.loads(out.stdout)["rows"]


def about(rows, *keys):
    return [(r["key"], r.get("text", ""), r.get("timeNs"), r.get("after", "")) for r in rows if r["key"] in keys]


def own(daemon):
    return {"HEAPWATCH_DIR": str(daemon.directory)}


def test_what_is_told(killed):
    daemon, _ = killed
    rows = rows_of("api", own(daemon))
    first = {}
    for r in rows:
        first.setdefault(r["key"], r)
    assert first["end"]["text"].startswith("killed by signal 9 (SIGKILL)") and first["end"]["timeNs"]
    assert re.match(r"live [\d.]+ [KM]iB( \([\d.]+ m?s before the end\))?, heap [\d.]+ [KM]iB, resident [\d.]+ [KM]iB", first["memory"]["text"])
    assert re.fullmatch(r"its heap had [\d.]+ % of the heap limit -M, 800 MiB", first["limit"]["text"])
    assert first["since"]["text"].startswith("Growth began") and first["grows"]["text"]
    assert first["bands"]["text"].startswith("+") and first["said"]["after"] == "  begin"
    pauses = about(rows, "pauses")
    assert "of the run; the longest" in pauses[0][1] and len(pauses) == 6
    times = [int(p[2]) for p in pauses[1:]]
    assert times == sorted(times) and times[-1] <= int(first["end"]["timeNs"])
    assert all(re.fullmatch(r"  [\d.]+ [mu]?s, generation \d+(, major)?", p[3]) for p in pauses[1:])
    assert "nothing lost; recorded" in first["stream"]["text"]


def test_the_last_pauses_are_the_newest_of_the_log(killed):
    """By the collections that the recording has."""
    daemon, _ = killed
    wait_for(lambda: client("recording", "dump", "api", "-o", daemon.directory / "api.eventlog", "--force", env=own(daemon)).returncode == 0,
             "its recording")
    seen = []
    for line in client("pipe", daemon.directory / "api.eventlog", "--format", "json").stdout.splitlines():
        seen += json.loads(line).get("gc", {}).get("collections", [])
    newest = sorted((int(c["endTimeNs"]), int(c["pauseNs"])) for c in seen if "pauseNs" in c)[-5:]
    told = json.loads(client("post-mortem", "api", "--format", "json", env=own(daemon)).stdout)["pauses"]
    assert [(p["endNs"], p["pauseNs"]) for p in told] == newest


def test_the_file_tells_the_same(killed):
    """The recording that `run` names, by the command that it names."""
    daemon, said = killed
    (command,) = re.findall(r"^heapwatch run: recorded: (heapwatch .*)$", said, re.M)
    words = command.split()
    assert words[:2] == ["heapwatch", "post-mortem"] and words[2] == "recording:api"
    alike = ("bands", "grows", "since", "said", "pauses")
    live = about(rows_of("api", own(daemon)), *alike)
    file = about(rows_of(words[2], own(daemon)), *alike)
    assert len(live) > 10 and file == live
    out = client(*words[1:], env=own(daemon))
    assert out.returncode == 1 and b"killed by signal 9 (SIGKILL)" in out.stdout
    # A log that came from elsewhere: the same again.
    path = daemon.directory / "again.eventlog"
    assert client("recording", "dump", "api", "-o", path, env=own(daemon)).returncode == 0
    assert about(rows_of(path), *alike) == live


def test_the_console_tells_the_same(killed):
    daemon, _ = killed
    out = client("top", "--once", "--view", "notes", "--format", "json", "api", env=own(daemon))
    lines = [(n["kind"], n["text"]) for n in json.loads(out.stdout)["targets"][0]["notes"]]
    rows = [r for r in rows_of("api", own(daemon)) if r["key"] != "said"]
    shown = lines[-len(rows):]
    assert [k for k, _ in shown] == [r["key"] for r in rows]
    for (_, text), r in zip(shown, rows):
        assert text.startswith(r.get("text", "")) and text.endswith(r.get("after", "")), (text, r)
    assert ("marker", "begin") in lines         # notes are among the notes


@pytest.mark.skipif(without_page() is not None, reason=str(without_page()))
def test_the_page_tells_the_same(killed):
    daemon, _ = killed
    rows = rows_of("api", own(daemon))
    with Web("--connect", f"ipc://{daemon.directory}/publish") as web:
        (state,) = wait_for(lambda: [a for a in json.load(urllib.request.urlopen(web.url + "api/state"))["answers"]
                                     if a["target"] == "api" and a.get("postMortem") == rows], "the same rows")
        with opened() as tab:
            tab.go(web.url + "#/target")
            tab.until("document.querySelector('.account dd') && heapwatch.settled")
            shown = tab.js("[...document.querySelectorAll('.account > div')].map((e) => [e.dataset.key, e.querySelector('dd').innerText])")
    above = {a["key"] for a in state["answers"]} | {"but"}
    expected = [r for r in rows if r["key"] not in above]

    def plain(text):
        return text.replace("\u00a0", " ").replace("\u2060", "").strip()

    assert [k for k, _ in shown] == [r["key"] for r in expected]
    for (_, text), r in zip(shown, expected):
        assert plain(text).startswith(plain(r.get("text", ""))) and plain(text).endswith(plain(r.get("after", ""))), (text, r)


def test_a_good_end_has_none(killed, programs):
    daemon, _ = killed
    out = subprocess.run([CLIENT, "run", "--no-top", "--name", "good", "--", programs["leaky"], "1"], env={**os.environ, **own(daemon)},
                         stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=DEADLINE_S, cwd=daemon.directory)
    assert out.returncode == 0, out.stderr
    out = client("post-mortem", "good", env=own(daemon))
    assert out.returncode == 0 and out.stdout.startswith(b"good, run 1: ended: ")
    shown = json.loads(client("top", "--once", "--view", "notes", "--format", "json", "good", env=own(daemon)).stdout)
    assert not [n for n in shown["targets"][0]["notes"] if n["kind"] == "memory"]
