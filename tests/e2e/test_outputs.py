# SPDX-License-Identifier: BSD-3-Clause
"""Where commands write: a full disk, a closed output, a reader that leaves, a file that is not ours."""
import contextlib
import os
import shutil
import stat
import subprocess
import time

import pytest

from harness import CLIENT, DAEMON, DEADLINE_S, LOGS, LONG, MAY_CLOSE_OUTPUT, client, piped, written

LOG = LOGS / "leaky-hT-ghc9103" / "run.eventlog"
SMALL = sorted(p for p in LOGS.glob("*/run.eventlog") if p.stat().st_size < 100_000)

# Each command with arguments for which it writes to its standard output without a daemon. None: it writes nothing there,
# or runs until it is ended.
COMMANDS = {
    "run": None,            # standard output is the program's
    "ctl": None, "status": None, "add": None, "remove": None,   # requests to daemons: test_status_on_a_full_disk
    "notify": None, "export": None, "archive": None,     # services
    "recording": None,      # a request to a daemon; its dump and bundle write into a file that is named
    "mcp": None,            # answers requests: test_mcp.py
    "keys": None,           # writes files of its own: test_keys.py
    "attach": None, "detach": None, "ps": None, "threads": None, "profile": None, "heap": None, "why": None,     # of programs that run
    "top": ["--once", LOG], "pipe": ["--format", "csv", LOG], "alerts": [LOG], "check": [LOG], "rules": ["list"],
    "doctor": [LOG], "summary": [LOG], "trend": [LOG], "diff": [LOG, LOG], "query": ["SELECT * FROM facts", LOG], "post-mortem": [LOG], "web": ["--listen", "127.0.0.1:0", LOG],
    "report": ["--format", "json", "-o", "-", LOG], "events": [LOG], "convert": [LOG, "--to", "hp"], "completion": ["bash"],
    "help": ["top"], "version": [],
}
WRITING = [name for name, args in COMMANDS.items() if args is not None]


def listed():
    lines = client("--complete", "").stdout.decode().splitlines()
    return {line.split("\t")[0] for line in lines} - {"--help", "--version"}


def test_every_command_is_tried_here():
    assert listed() <= set(COMMANDS), "say in COMMANDS with which arguments the new command writes, or why it does not"


def run(command, args, **kwargs):
    return subprocess.run([CLIENT, command, *map(str, args)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          timeout=DEADLINE_S, **kwargs)


@pytest.mark.parametrize("command", WRITING)
def test_a_full_disk_ends_with_2(command):
    with open("/dev/full", "wb") as full:
        done = run(command, COMMANDS[command], stdout=full)
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1, done
    assert b"No space left" in done.stderr


@pytest.mark.parametrize("charset", ["UTF-8", "ISO-8859-9"])
def test_names_are_the_same_in_turkish(directory, charset):
    """Where the small letter of I is no i."""
    if not shutil.which("localedef") or subprocess.run(["localedef", "-i", "tr_TR", "-f", charset, directory / "tr_TR"]).returncode:
        pytest.skip("needs localedef and its sources: package locales")
    for words in (["convert", "--to", "openmetrics", LOG], ["events", "--kind", "gc_idle", LOG]):
        outputs = [client(*words, env={"LC_ALL": name, "LOCPATH": str(directory)}).stdout for name in ("C", "tr_TR")]
        assert outputs[0] == outputs[1] and outputs[0].count(b"\n") > 10


FILES = ["report --threshold 1 {log} -o a.svg", "report {log} -o a.html", "report --format json {log} -o a.json", "convert {log} --to hp -o a.hp",
         "archive --db a.db {log}"]


@contextlib.contextmanager
def small_disk(directory, pages):
    disk = directory / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={4 * pages}k,nr_inodes=5", "none", disk], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def fails_on(disk, words):
    done = client(*words.format(log=LOG).split(), cwd=disk)
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1, done
    assert b"No space left" in done.stderr or b"disk is full" in done.stderr
    assert not (disk / words.split(" -o ")[1]).exists() if " -o " in words else True


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a full disk needs root")
@pytest.mark.parametrize("words", FILES, ids=lambda words: words.split(" {")[0])
def test_a_full_disk_for_a_file_ends_with_2(directory, words):
    """And no half of a file is left that looks like a whole one."""
    with small_disk(directory, 1) as disk:
        fails_on(disk, words)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a full disk needs root")
@pytest.mark.parametrize("words", [words for words in FILES if " -o " in words], ids=lambda words: words.split(" {")[0])
def test_a_disk_that_is_full_at_the_last_bytes(directory, words):
    """Which are written when the file is closed."""
    assert client(*words.format(log=LOG).split(), cwd=directory).returncode == 0
    pages, rest = divmod((directory / words.split(" -o ")[1]).stat().st_size, 4096)
    assert pages and rest
    with small_disk(directory, pages) as disk:
        fails_on(disk, words)


@pytest.mark.skipif(not MAY_CLOSE_OUTPUT, reason="valgrind opens descriptors that are closed")
@pytest.mark.parametrize("command", WRITING)
def test_a_closed_output_ends_with_2(command):
    done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", CLIENT, command, *map(str, COMMANDS[command])],
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=DEADLINE_S)
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1, done


@pytest.mark.parametrize("command", [c for c in WRITING if c != "web"])
def test_a_reader_that_has_left_is_quiet(command):
    """No message, no signal: the status is what it would have been."""
    usual = run(command, COMMANDS[command], stdout=subprocess.DEVNULL).returncode
    reader, writer = os.pipe()
    os.close(reader)
    done = run(command, COMMANDS[command], stdout=writer)
    os.close(writer)
    assert done.stderr == b"" and done.returncode == usual, done


@pytest.mark.parametrize("option", ["--help", "--version", "--print-config", "--list-rules"])
def test_the_daemon_notices_too(option):
    for redirect in (">/dev/full", ">&-")[:1 + MAY_CLOSE_OUTPUT]:
        done = subprocess.run(f"exec '{DAEMON}' {option} {redirect}", shell=True, stdin=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=DEADLINE_S)
        assert done.returncode == 2 and done.stderr.count(b"\n") == 1, (redirect, done)


def test_a_slow_reader_is_nothing_to_report(directory):
    """The daemon of finished logs waits for its client, and that for a pager: no turn of a loop is too long there."""
    log = written(directory / "many.eventlog", LOG.read_bytes() * (8_000_000 // LOG.stat().st_size))
    with subprocess.Popen([CLIENT, "events", "--format", "json", log], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as reading:
        reading.stdout.read(1)
        time.sleep(0.5)         # meanwhile everything in between fills up
        rest = reading.stdout.read()
        assert reading.stderr.read() == b"" and rest.endswith(b"}\n")
    assert reading.returncode == 0


@pytest.mark.parametrize("ending, option", [(".html", []), (".json", ["--format", "json"])])
def test_a_report_replaces_reports_only(directory, ending, option):
    log, beside = directory / "run.eventlog", directory / f"run{ending}"
    log.write_bytes(LOG.read_bytes())
    beside.write_text("precious")
    done = client("report", *option, log)
    assert done.returncode == 2 and b"--force" in done.stderr and b"-o FILE" in done.stderr
    assert beside.read_text() == "precious"
    assert client("report", *option, log, "-o", directory / "other").returncode == 0
    assert client("report", *option, "--force", log).returncode == 0
    first = beside.read_bytes()
    assert first != b"precious"
    assert client("report", *option, log).returncode == 0 and beside.read_bytes() != first, "its own is written again"


@pytest.mark.parametrize("words", ["report {log} -o {fifo}", "convert {log} --to csv -o {fifo}"])
def test_what_is_no_file_is_written_and_not_replaced(directory, words):
    """Root could otherwise replace a device."""
    fifo = directory / "fifo"
    os.mkfifo(fifo)
    with open(directory / "copy", "wb") as copy, subprocess.Popen(["cat", fifo], stdout=copy) as reader:
        try:
            done = client(*words.format(log=LOG, fifo=fifo).split())
            assert done.returncode == 0 and stat.S_ISFIFO(fifo.lstat().st_mode), done
            reader.wait(DEADLINE_S)
        finally:
            reader.kill()
    assert (directory / "copy").stat().st_size > 1000


@pytest.mark.long
@pytest.mark.parametrize("log", SMALL if LONG else SMALL[::4], ids=lambda p: p.parent.name)
def test_check_fails_a_log_that_lost_bytes(directory, log):
    """However short the run is, and wherever the bytes are lost."""
    whole, damaged = log.read_bytes(), directory / "damaged.eventlog"
    for at in range(len(whole) // 5, len(whole) * 9 // 10, len(whole) // 4):
        damaged.write_bytes(whole[:at] + bytes(120) + whole[at + 120:])
        done = client("check", damaged)
        if done.returncode == 2:        # its header
            continue
        health = [u["health"] for u in piped(damaged) if "health" in u][-1]
        if int(health["lostBytes"]) > 0:
            assert done.returncode == 1 and b"stream-damaged" in done.stdout, (at, health["lostBytes"], done.stdout)


def test_check_fails_a_log_of_nothing_but_damage(directory):
    """Without an event there is no moment at which a rule could judge."""
    whole, damaged = (LOGS / "leaky-hi-ghc966" / "run.eventlog").read_bytes(), directory / "damaged.eventlog"
    damaged.write_bytes(whole[:whole.index(b"datb") + 4] + b"\xff" * 5000)
    done = client("check", damaged)
    assert done.returncode == 1 and b"stream-damaged" in done.stdout, done
    assert client("check", "--fail-on", "critical", damaged).returncode == 0
