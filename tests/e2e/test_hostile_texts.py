# SPDX-License-Identifier: BSD-3-Clause
"""A program whose every text steers a terminal: no command passes that on, from a file or from a daemon."""
import re

import pytest

from harness import Daemon, client, private_directory
from live_log import LiveLog

pytestmark = pytest.mark.xdist_group("hostile_texts")      # its tests share what runs

EVIL = "\x1b]2;stolen\x07\x1b[2Jred\x7f\x9b31m\u202egnorw\u2066\r"
STEERS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
STEP_NS, STEPS = 60 * 10**9, 400

FROM_FILES = {
    **{f"top-{view}": ["top", "--once", "--view", view, "{log}"] for view in ("overview", "targets", "memory", "bands", "notes", "alerts")},
    "trend": ["trend", "{log}"], "summary": ["summary", "{log}"], "alerts": ["alerts", "{log}"], "check": ["check", "{log}"],
    "diff": ["diff", "{log}", "{log}"], "csv": ["pipe", "--format", "csv", "{log}"],
    "json": ["pipe", "--format", "json", "{log}"], "events": ["events", "{log}"], "post-mortem": ["post-mortem", "{log}"],
    **{f"convert-{to}": ["convert", "--to", to, "-o", "-", "{log}"]
       for to in ("hp", "csv", "csv-wide", "json", "collapsed", "speedscope", "openmetrics", "resid")},
    "doctor": ["doctor", "{log}"], "report": ["report", "--format", "json", "-o", "-", "{log}"],
}
FROM_DAEMONS = {
    "top": ["top", "--once"], "trend": ["trend", "evil"], "summary": ["summary", "evil"], "alerts": ["alerts"], "status": ["status"],
    "history": ["ctl", "history", "evil", "live"], "post-mortem": ["post-mortem", "evil"],
}


@pytest.fixture(scope="module")
def log():
    """A leak of a band, with a note where it begins."""
    with private_directory() as directory:
        log = LiveLog(directory / "evil.eventlog", known_length=False)
        log.program([EVIL, f"--{EVIL}"], [f"A={EVIL}"])
        for step in range(1, STEPS):
            grown = max(0, step - 100)
            log.live((20 << 20) + (grown << 21), step * STEP_NS)
            log.census({EVIL: (10 << 20) + (grown << 21), "FUN": 1 << 20}, step * STEP_NS)
            if step in (100, 200):
                log.marker(f"{EVIL} {step}", step * STEP_NS)
        log.end()
        yield log.path


def is_harmless(done):
    said = (done.stdout + done.stderr).decode()
    assert not STEERS.search(said), [said[max(0, m.start() - 60):m.end() + 20] for m in STEERS.finditer(said)][:3]
    return said


@pytest.mark.parametrize("command", FROM_FILES)
def test_from_files(log, command):
    said = is_harmless(client(*(word.format(log=log) for word in FROM_FILES[command])))
    assert "stolen" in said or command in ("check", "diff", "doctor", "convert-resid", "top-targets", "top-memory"), said


@pytest.fixture(scope="module")
def daemon(log):
    with private_directory() as directory, Daemon(directory, f"evil={log}") as d:
        d.wait_state("evil", "ENDED")
        yield d


@pytest.mark.parametrize("command", FROM_DAEMONS)
def test_from_daemons(daemon, command):
    done = client(*FROM_DAEMONS[command], "--connect", daemon.publish)
    assert done.returncode in (0, 1), done
    assert "stolen" in is_harmless(done) or command in ("status", "history", "alerts"), done      # an ended one fires nothing
