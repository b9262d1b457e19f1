# SPDX-License-Identifier: BSD-3-Clause
"""What is not there: a daemon, a target, a safe directory, a disk to write on. Said in one line, with what to do."""
import json
import subprocess

import pytest

from harness import CLIENT, DAEMON, DEADLINE_S, LOGS, Daemon, client

LOG = LOGS / "leaky-hT-ghc9103" / "run.eventlog"


def one_line(done, *words):
    """Status 2, and one line on standard error that has all the words."""
    text = done.stderr.decode()
    assert done.returncode == 2, text
    assert text.count("\n") == 1, text
    for word in words:
        assert word in text
    return text


@pytest.mark.parametrize("args", [["top", "--once"], ["top", "--once", "x"], ["trend"], ["alerts"], ["ctl", "status"]])
def test_without_a_daemon_both_ways_to_start_one_are_named(directory, args):
    done = client(*args, env={"HEAPWATCH_DIR": str(directory)})
    one_line(done, "no daemon answers at", "heapwatch run", "heapwatchd")
    assert done.stdout == b""


@pytest.mark.parametrize("args", [["top", "--once"], ["top", "--plain"], ["pipe", "--format", "json"], ["trend"], ["alerts"],
                                  ["alerts", "--follow"], ["ctl", "status"]])
def test_a_directory_that_others_can_enter_is_said_at_once(directory, args):
    (directory / "open").mkdir(mode=0o755)
    (directory / "open").chmod(0o755)
    # No time-out passes: a client that waited for a daemon would still wait then.
    done = client(*args, timeout=10 if DEADLINE_S < 60 else DEADLINE_S, env={"HEAPWATCH_DIR": str(directory / "open")})
    one_line(done, "can be entered by others", "chmod 700")


def test_run_says_so_too(directory):
    (directory / "open").mkdir()
    (directory / "open").chmod(0o755)
    done = client("run", "--no-top", "--", "/bin/true", env={"HEAPWATCH_DIR": str(directory / "open")})
    assert done.returncode == 2


@pytest.mark.parametrize("args", [["top", "--once"], ["pipe", "--format", "json"], ["summary"], ["trend"], ["check"], ["report"],
                                  ["events"], ["convert", "--to", "hp"], ["alerts"], ["web", "--listen", "127.0.0.1:0"]])
def test_a_file_that_is_not_there_is_one_line(directory, args):
    done = client(*args, directory / "none.eventlog")
    assert one_line(done, "none.eventlog: No such file or directory").startswith(f"heapwatch {args[0]}: ")
    assert done.stdout == b"", "no URL, no dashes"


def test_run_knows_a_source_file(directory):
    (directory / "leaky.hs").write_text("main = print 1\n")
    for mode in (0o644, 0o755):
        (directory / "leaky.hs").chmod(mode)
        one_line(client("run", "--no-top", directory / "leaky.hs", env={"HEAPWATCH_DIR": str(directory / "s")}),
                 "leaky.hs is a source file", "ghc -rtsopts")


@pytest.mark.parametrize("args", [["top", "--once"], ["trend"]])
def test_a_missing_target_is_named_with_the_nearest(directory, args):
    with Daemon(directory, f"api-1={LOG}") as d:
        d.wait_state("api-1", "ENDED")
        one_line(client(*args, "--connect", d.publish, "api-2"), "no target 'api-2'", "did you mean 'api-1'?")
        assert "did you mean" not in one_line(client(*args, "--connect", d.publish, "entirely"), "no target 'entirely'")
        assert client(*args, "--connect", d.publish, "api-1").returncode == 0


def test_a_second_daemon_names_the_way_to_add_a_target(directory):
    with Daemon(directory, f"a={LOG}") as d:
        done = subprocess.run([DAEMON, "--publish", d.publish, "--request", d.request_endpoint, "b=/tmp/b"],
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=DEADLINE_S)
        assert done.returncode == 1 and b"heapwatch ctl add" in done.stderr


def test_history_is_exact(directory):
    with Daemon(directory, f"a={LOG}") as d:
        d.wait_state("a", "ENDED")
        text = client("ctl", "--connect", d.publish, "history", "a", "allocated").stdout.decode()
        points = [json.loads(line)["history"]["points"] for line in
                  client("ctl", "--connect", d.publish, "--format", "json", "history", "a", "allocated").stdout.splitlines()
                  if "history" in json.loads(line)]
        lasts = [str(int(float(p["last"]))) for some in points for p in some]
        assert [line.split()[-1] for line in text.splitlines()[1:]] == lasts
        assert any(int(last) > 10 ** 7 for last in lasts), "numbers that six digits could not tell apart"


@pytest.mark.parametrize("command", [
    [CLIENT, "--help"], [CLIENT, "help", "top"], [CLIENT, "version"], [CLIENT, "completion", "bash"], [DAEMON, "--help"],
    [DAEMON, "--print-config"], [DAEMON, "--list-rules"], [CLIENT, "rules", "list"], [CLIENT, "pipe", "--format", "csv", LOG],
    [CLIENT, "pipe", "--format", "json", LOG], [CLIENT, "summary", LOG], [CLIENT, "trend", LOG], [CLIENT, "check", LOG],
    [CLIENT, "events", LOG], [CLIENT, "convert", LOG, "--to", "hp"], [CLIENT, "top", "--once", LOG], [CLIENT, "alerts", LOG],
    [CLIENT, "doctor", LOG]])
def test_a_full_disk_is_an_error(command):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
                              timeout=DEADLINE_S)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count(b"\n") == 1 and (b"No space left" in done.stderr or b"cannot write" in done.stderr)


def test_ctl_on_a_full_disk(directory):
    with Daemon(directory, f"a={LOG}") as d, open("/dev/full", "wb") as full:
        done = subprocess.run([CLIENT, "ctl", "--connect", d.publish, "status"], stdout=full, stderr=subprocess.PIPE,
                              timeout=DEADLINE_S)
    assert done.returncode == 2 and b"No space left" in done.stderr


def test_a_reader_that_leaves_is_no_error():
    done = subprocess.run(f"'{CLIENT}' events '{LOG}' | head -n 1; exit ${{PIPESTATUS[0]}}", shell=True,
                          executable="/bin/bash", stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S)
    assert done.returncode == 0 and done.stderr == b"" and done.stdout.count(b"\n") == 1
