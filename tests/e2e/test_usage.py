# SPDX-License-Identifier: BSD-3-Clause
"""Wrong usage: a clear message, status 2, nothing started."""
import subprocess

import pytest

from harness import DAEMON, DEADLINE_S, LOGS, client, private_directory


def daemon(*args):
    return subprocess.run([DAEMON, *map(str, args)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=DEADLINE_S)


@pytest.mark.parametrize("args, words", [
    (["--nonsense"], ["--nonsense", "--help"]),
    (["gopher:there"], ["gopher"]),
    (["tcp:nohost"], ["nohost", "HOST:PORT"]),
    (["tcp:127.0.0.1:99999"], ["99999"]),
    (["a=/x", "a=/y"], ["'a'", "NAME=URI"]),
    (["--log-level", "loud", "/x"], ["loud", "debug"]),
    (["--publish", "ipc:///tmp/x/p", "/x"], ["--request"]),
    (["--publish", "tcp://0.0.0.0:5555", "--request", "tcp://127.0.0.1:5556"], ["0.0.0.0", "loopback"]),
    (["--config", "/does/not/exist"], ["/does/not/exist"]),
])
def test_daemon_refuses(args, words):
    done = daemon(*args)
    assert done.returncode in ((1, 2) if "--publish" in args else (2,)), done.stderr
    for word in words:
        assert word in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("text, words", [
    ("targets:\n  - name: a\n    url: /x\n", ["c.yaml:3:5:", "url", "did you mean 'uri'"]),
    ("log_level: loud\n", ["c.yaml:1:12:", "log_level", "debug"]),
    ("show_arguments: 12 monkeys\n", ["c.yaml:1:17:", "12 monkeys", "true or false"]),
    ("targets:\n  - uri: gopher:x\n", ["c.yaml:2:10:", "gopher"]),
    ("targets: [\n", ["c.yaml:2:1:", "not valid YAML"]),
    ("", ["empty"]),
])
def test_config_mistakes_are_located(text, words):
    with private_directory() as d:
        (d / "c.yaml").write_text(text)
        done = daemon("--config", d / "c.yaml")
        assert done.returncode == 2
        assert "c.yaml" in done.stderr
        for word in words:
            assert word in done.stderr


def test_config_and_command_line_together():
    with private_directory() as d:
        (d / "c.yaml").write_text("log_level: debug\nrecord:\n  directory: '%s/a: \"b\"'\ntargets:\n  - name: a\n    uri: /x\n"
                                  "    record: false\n    labels: {version: 1.4.2, 'a/b': 'x: \"y\" # é'}\n  - uri: 'fifo:/y # \\/b.fifo'\n" % d)
        done = daemon("--config", d / "c.yaml", "--print-config", "c=unix:/z", "--publish", f"ipc://{d}/p",
                      "--request", f"ipc://{d}/r")
        assert done.returncode == 0, done.stderr
        for line in (f'publish: "ipc://{d}/p"', 'log_level: "debug"', 'uri: "unix:/z"',
                     'uri: "file:/x"\n    record: false\n    labels:\n      "version": "1.4.2"\n      "a/b": "x: \\"y\\" # é"\n'):
            assert line in done.stdout
        (d / "printed.yaml").write_text(done.stdout)
        again = daemon("--config", d / "printed.yaml", "--print-config")
        assert (again.returncode, again.stdout) == (0, done.stdout), again.stderr


def test_help_and_version():
    for run in (daemon("--help"), daemon("--version")):
        assert run.returncode == 0 and run.stdout and not run.stderr
    assert "Example:\n  heapwatchd " in daemon("--help").stdout


@pytest.mark.parametrize("args", [[], ["frobnicate"], ["top", "--nonsense"], ["pipe", "--format", "xml"],
                                  ["ctl"], ["ctl", "dance"], ["doctor"], ["run"]])
def test_client_refuses(args):
    done = client(*args)
    assert done.returncode == 2
    assert done.stderr and b"help" in done.stderr


@pytest.mark.parametrize("command", ["top", "pipe", "ctl", "run", "doctor", "summary", "events", "convert",
                                     "trend", "alerts", "check", "rules", "web", "report"])
def test_every_command_has_help_with_an_example(command):
    done = client(command, "--help")
    assert done.returncode == 0 and not done.stderr
    assert b"xample" in done.stdout


@pytest.mark.parametrize("content, word", [(b"", b"eventlog"), (b"version https://git-lfs", b"eventlog")])
def test_what_is_no_eventlog(content, word):
    with private_directory() as d:
        (d / "x.eventlog").write_bytes(content)
        done = client("pipe", d / "x.eventlog", "--format", "json")
        assert done.returncode == 2
        assert b"x.eventlog" in done.stderr and word in done.stderr


def test_a_missing_file_does_not_lose_the_others():
    done = client("pipe", "/does/not/exist", LOGS / "leaky-useronly-ghc902" / "run.eventlog", "--format", "json")
    assert done.returncode == 2
    assert b"/does/not/exist" in done.stderr
    assert b"STATE_ENDED" in done.stdout
