# SPDX-License-Identifier: BSD-3-Clause
"""Logs of real programs that no reader should take for what they are not: how they ended, when they began, who wrote them."""
import json
import pytest

from harness import ROOT, client

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
