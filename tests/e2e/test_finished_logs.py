# SPDX-License-Identifier: BSD-3-Clause
"""Logs of real programs that no reader should take for what they are not: how they ended, when they began, who wrote them."""
import json
import pytest

from harness import LOGS, ROOT, client

DATA = ROOT / "tests" / "data" / "finished"


def as_json(*words):
    done = client(*words, "--format", "json")
    assert done.returncode in (0, 1), done
    return json.loads(done.stdout)


@pytest.mark.parametrize("log", sorted(DATA.glob("not-completed-*.eventlog")), ids=lambda path: path.stem)
def test_a_log_that_was_never_completed(log):
    """SIGTERM, SIGHUP and exitImmediately leave no end marker, and most events in buffers: no crash, and no missing flag, is seen."""
    done = client("check", log)
    said = done.stdout.decode()
    assert done.returncode == 1 and [line for line in said.splitlines() if line.startswith("  ") and line[2] != " "] == ["  warning: log-not-completed"], said
    for words in (("summary",), ("trend",), ("post-mortem",), ("top", "--once"), ("report", "--format", "json", "--output", "/dev/stdout")):
        said = client(*words, log).stdout.decode()
        assert "It crashed" not in said and '"crashed"' not in said and "no heap profile, so" not in said and "with +RTS -l:" not in said, (words, said)
    account = as_json("post-mortem", log)
    assert account["end"] == "unknown" and {row["key"]: row.get("said") for row in account["rows"]}["next"] == "not-completed"


@pytest.mark.parametrize("log, known", [("fork-child-ghc902", False), ("fork-child-ghc966", True)])
def test_a_child_of_fork_process(log, known):
    """Its runtime logs times since the machine's boot, hours before; since GHC 9.2 the log has the child's own start, before not."""
    run = as_json("summary", DATA / f"{log}.eventlog")
    assert run["firstTimeNs"] == 0 and run["lastTimeNs"] < 1e9, run
    assert ("startWallNs" in run) == known and run.get("startWallNs", 0) == (1795920036495909427 if known else 0), run
    said = client("trend", DATA / f"{log}.eventlog").stdout.decode()
    assert "into the run" not in said or " ms into the run" in said, said


def test_a_log_that_was_started_late_keeps_its_clock():
    """Which begins with the same events: the runtime has known the program's main thread for long."""
    run = as_json("summary", LOGS / "socket-966-ctl" / "conn2.eventlog")
    assert 2e9 < run["firstTimeNs"] < 3e9 and run["startWallNs"] // 10**9 == 1795197745, run
