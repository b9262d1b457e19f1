# SPDX-License-Identifier: BSD-3-Clause
"""A daemon, target, safe directory or disk is missing: reported in one line, with what to do."""
import gzip
import json
import os
import shutil
import signal
import subprocess

import pytest

from harness import CLIENT, DAEMON, DEADLINE_S, LOGS, VALGRIND, Daemon, client, running, wait_for

LOG = LOGS / "leaky-hT-ghc9103" / "run.eventlog"


def one_line(done, *words):
    """Status 2, and one line on standard error that has all the words."""
    text = done.stderr.decode()
    assert done.returncode == 2, text
    assert text.count("\n") == 1, text
    for word in words:
        assert word in text
    return text


@pytest.mark.parametrize("args", [["top", "--once"], ["top", "--once", "x"], ["trend"], ["alerts"], ["status"],
                                  ["ctl", "census", "x"], ["ctl", "program", "x", "census"]])
def test_without_a_daemon_both_ways_to_start_one_are_named(directory, args):
    done = client(*args, env={"HEAPWATCH_DIR": str(directory)})
    one_line(done, "no daemon answers at", "heapwatch run", "heapwatch attach", "heapwatchd FILE")
    assert done.stdout == b""


@pytest.mark.parametrize("args", [["top", "--once"], ["top", "--plain"], ["pipe", "--format", "json"], ["trend"], ["alerts"],
                                  ["alerts", "--follow"], ["status"]])
def test_a_directory_that_others_can_enter_is_said_at_once(directory, args):
    (directory / "open").mkdir(mode=0o755)
    (directory / "open").chmod(0o755)
    # Faster than any time-out: a client that waited for a daemon would still be waiting.
    done = client(*args, timeout=10 if DEADLINE_S < 60 else DEADLINE_S, env={"HEAPWATCH_DIR": str(directory / "open")})
    # what others use, too, such as /etc, must stay as it is
    one_line(done, "can be entered by others", "name another directory", "chmod 700 this one if it is for heapwatch alone")


def test_run_says_so_too(directory):
    (directory / "open").mkdir()
    (directory / "open").chmod(0o755)
    done = client("run", "--no-top", "--", "/bin/false", env={"HEAPWATCH_DIR": str(directory / "open")})
    assert done.returncode == 1, "the program's own status: it runs, unwatched"
    assert done.stderr.count(b"\n") == 1 and b"chmod 700" in done.stderr


@pytest.mark.parametrize("args", [["top", "--once"], ["pipe", "--format", "json"], ["summary"], ["trend"], ["check"], ["report"],
                                  ["events"], ["convert", "--to", "hp"], ["alerts"], ["web", "--listen", "127.0.0.1:0"]])
def test_a_file_that_is_not_there_is_one_line(directory, args):
    done = client(*args, directory / "none.eventlog")
    assert one_line(done, "none.eventlog: No such file or directory").startswith(f"heapwatch {args[0]}: ")
    assert done.stdout == b"", "no URL, no dashes"


@pytest.mark.parametrize("args", [["top", "--once"], ["pipe", "--format", "json"], ["summary"], ["trend"], ["check"], ["report"],
                                  ["events"], ["convert", "--to", "hp"], ["alerts"], ["doctor"],
                                  ["web", "--listen", "127.0.0.1:0"]])
@pytest.mark.parametrize("content, words", [
    (b"# Some notes about what the service did at night\n", "not an eventlog: it does not begin with hdrb"), (b"", "not an eventlog: it is empty"),
    (b"\xfd7zXZ\x00" + bytes(50), "xz data"), (gzip.compress(bytes(1000)), "not an eventlog"),
    (gzip.compress(bytes(range(256)))[:15], "its gzip archive breaks off")], ids=["text", "empty", "xz", "gz", "torn"])
def test_a_file_that_is_no_log_is_one_line(directory, args, content, words):
    (directory / "x").write_bytes(content)
    done = client(*args, directory / "x")
    assert one_line(done, "/x: ", words).startswith(f"heapwatch {args[0]}: ")
    assert b"http" not in done.stdout


def test_web_serves_what_can_be_read(directory):
    (directory / "x").write_text("no log")
    command = [CLIENT, "web", "--listen", "127.0.0.1:0", directory / "x", LOG]
    with running(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as web:
        assert b"/x: not an eventlog" in web.stderr.readline()
        assert b"http://127.0.0.1:" in web.stdout.readline()


def pack(method, path):
    packed = subprocess.run([method, "-c", path], stdout=subprocess.PIPE, check=True).stdout
    assert len(packed) < path.stat().st_size
    return packed


@pytest.mark.parametrize("method, ending", [("gzip", "gz"), ("zstd", "zst")])
def test_compressed_logs_are_read_wherever_a_log_is_taken(directory, method, ending):
    shutil.copy(LOG, directory / "run.eventlog")
    (directory / f"run.eventlog.{ending}").write_bytes(pack(method, LOG))

    def both(*args, status=0):
        plain, packed = (client(*args, name, cwd=directory) for name in ("run.eventlog", f"run.eventlog.{ending}"))
        assert packed.returncode == plain.returncode == status, packed.stderr
        return plain.stdout, packed.stdout.replace(f"run.eventlog.{ending}".encode(), b"run.eventlog")

    for args in (["events"], ["events", "--count"], ["trend"], ["summary"], ["check"], ["alerts"], ["convert", "--to", "hp"],
                 ["pipe", "--format", "csv"], ["top", "--once", "--view", "bands", "--format", "json"]):
        plain, packed = ([line for line in out.splitlines() if b'"time":' not in line] for out in both(*args))
        assert plain == packed, args
    both("doctor")
    client("report", f"run.eventlog.{ending}", cwd=directory)
    assert (directory / "run.html").stat().st_size > 10000


def test_a_truncated_archive_shows_what_there_is_and_says_so(directory):
    (directory / "run.eventlog.gz").write_bytes(pack("gzip", LOG)[:-20000])
    done = client("events", "--count", directory / "run.eventlog.gz")
    assert done.returncode == 0 and b"HEAP_LIVE" in done.stdout
    assert b"its gzip archive breaks off" in done.stderr and done.stderr.count(b"\n") == 1
    assert b"its gzip archive breaks off" in client("top", "--once", directory / "run.eventlog.gz").stdout


def test_a_compressed_log_cannot_be_watched_as_it_grows(directory):
    (directory / "run.eventlog.gz").write_bytes(pack("gzip", LOG))
    with Daemon(directory, f"a={directory}/run.eventlog.gz") as d:
        assert "`heapwatch top FILE` reads it" in d.wait_state("a", "UNREADABLE").detail


def test_run_knows_a_source_file(directory):
    (directory / "leaky.hs").write_text("main = print 1\n")
    for mode in (0o644, 0o755):
        (directory / "leaky.hs").chmod(mode)
        one_line(client("run", "--no-top", directory / "leaky.hs", env={"HEAPWATCH_DIR": str(directory / "s")}),
                 "leaky.hs is a source file", "compile it first, e.g. ghc ")


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
        assert done.returncode == 1 and b"heapwatch add" in done.stderr, (done, d.log.read_text())


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
        later = client("ctl", "--connect", d.publish, "history", "a", "allocated", "--from", "9h")
        assert later.returncode == 0 and later.stdout.count(b"\n") == 1 and b"nothing was measured" in later.stderr


def test_status_on_a_full_disk(directory):
    with Daemon(directory, f"a={LOG}") as d, open("/dev/full", "wb") as full:
        done = subprocess.run([CLIENT, "status", "--connect", d.publish], stdout=full, stderr=subprocess.PIPE,
                              timeout=DEADLINE_S)
    assert done.returncode == 2 and b"No space left" in done.stderr


def test_a_reader_that_leaves_is_no_error():
    done = subprocess.run(f"'{CLIENT}' events '{LOG}' | head -n 1; exit ${{PIPESTATUS[0]}}", shell=True,
                          executable="/bin/bash", stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S)
    assert done.returncode == 0 and done.stderr == b"" and done.stdout.count(b"\n") == 1


@pytest.mark.parametrize("run", ["leaky-hT-ghc9103", "cc-p-ghc966", "leaky-nonmoving-ghc9103", "parallel-ghc902"])
def test_the_summary_of_a_target_is_that_of_its_log(directory, run):
    """What is told of a target's whole life is the same; a band's largest census and older notes are not known."""
    log = LOGS / run / "run.eventlog"
    of_log = json.loads(client("summary", "--format", "json", log).stdout.splitlines()[-1])
    with Daemon(directory, f"a={log}") as d:
        d.wait_state("a", "ENDED")
        done = client("summary", "--format", "json", "--connect", d.publish, "a")
        of_target = json.loads(done.stdout)
        text = client("summary", "--connect", d.publish, "a").stdout.decode()
        one_line(client("summary", "--connect", d.publish, "b"), "no target 'b'")
    assert of_target.pop("target") == "a" and of_log.pop("log") == str(log)
    for both in (of_log, of_target):
        both.pop("growth", None)                # judged in steps of another length
        both["stream"].pop("advice", None)
        for band in both.get("heapProfile", {}).get("bands", []):
            band.pop("maxBytes", None)
    mine = of_target.get("heapProfile", {}).pop("bands", [])
    known = of_log.get("heapProfile", {}).pop("bands", [])
    assert [b for b in mine if b["bytes"]] == [b for b in known if b["bytes"]]
    assert of_target == of_log
    assert text.startswith("a\n") and "so far" not in text


def test_of_several_daemons_all_are_told_and_a_silent_one_is_named(directory):
    for name in "abc":
        (directory / name).mkdir(mode=0o700)
    absent = f"ipc://{directory}/c/publish"
    with Daemon(directory / "a", f"one={LOG}") as a, Daemon(directory / "b", f"two={LOG}") as b:
        for d, name in ((a, "one"), (b, "two")):
            d.wait_state(name, "ENDED")
        both = ["--connect", a.publish, "--connect", b.publish]
        for _ in range(1 if VALGRIND else 5):       # whichever answers first; a slow daemon refuses so many requests
            for command in ("trend", "summary", "report"):
                done = client(command, "one", "two", *both, *(["--format", "json", "-o", "-"] if command == "report" else []))
                assert done.returncode == 0 and b"one" in done.stdout and b"two" in done.stdout, (command, done.stderr)
        for command in (["trend"], ["trend", "--fail-on", "growing"], ["summary", "one", "two"], ["post-mortem", "one"],
                        ["top", "--once"]):
            done = client(*command, *both, "--connect", absent)
            assert done.returncode == 2 and b"one" in done.stdout, (command, done.stdout)
            assert b"two" in done.stdout or command[0] == "post-mortem"
            assert f"no daemon answers at {absent}" in done.stderr.decode() and done.stderr.count(b"\n") == 1, (command, done.stderr)


def test_reports_of_a_daemon_that_falls_silent_say_so(directory):
    """A journal has no picture that shows it, and a view of one table has no place for it."""
    with Daemon(directory, f"one={LOG}") as d, open(directory / "said", "wb") as said, \
            running(CLIENT, "top", "--plain", "--view", "bands", "--interval", "0.2", "--connect", d.publish,
                    stdout=subprocess.PIPE, stderr=said) as top:
        d.wait_state("one", "ENDED")
        assert top.stdout.readline()
        os.set_blocking(top.stdout.fileno(), False)

        def say(words):
            top.stdout.read()
            return words in (directory / "said").read_text()

        d.process.send_signal(signal.SIGSTOP)
        try:
            wait_for(lambda: say(f"heapwatch top: {d.publish} is silent; waiting for it\n"), "word of the silence")
        finally:
            d.process.send_signal(signal.SIGCONT)
        wait_for(lambda: say(f"heapwatch top: {d.publish} is back\n"), "word of its end")
        assert say("") and (directory / "said").read_text().count("\n") == 2


@pytest.mark.parametrize("source, words", [("=x", "no name before '='"), ("x=", "no source after '='"), ("", "the source is empty"),
                                           ("=", "no name before '='")])
def test_a_target_without_a_name_or_a_source_is_refused(directory, source, words):
    with Daemon(directory) as d:
        done = client("add", "--connect", d.publish, source)
        assert done.returncode == 2 and words in done.stderr.decode() and not d.status().targets


def test_doctor_of_a_log_that_was_cut_off_blames_no_flags(directory):
    """Wherever it is cut: that a heap profile is missing is said only where it is known."""
    whole, cut = LOG.read_bytes(), directory / "cut.eventlog"
    answers = set()
    for size in [1, 1500, *range(2000, 8000, 300), 20000, 50000, len(whole) - 2]:
        cut.write_bytes(whole[:size])
        done = client("doctor", cut)
        text = (done.stdout + done.stderr).decode()
        assert "There is no heap profile" not in text and "Garbage collections are not in the log" not in text, (size, text)
        bands = [line for line in text.splitlines() if line.startswith("heap bands")]
        assert (done.returncode == 2) == (not bands), (size, text)
        answers |= {line.split(maxsplit=3)[3] if "  NO " in line else "seen" for line in bands}
    assert answers <= {"seen", "not known: the log is cut off before what would show it",
                       "nothing: the heap profile was on; the log is cut off before a census"}, answers
    assert "seen" in answers and len(answers) > 1


def test_files_and_targets_exclude_each_other_in_a_summary():
    done = client("summary", LOG, "api")
    assert done.returncode == 2 and b"files and targets exclude each other" in done.stderr


@pytest.mark.parametrize("command", [("top",), ("top", "--plain"), ("alerts", "-t"), ("alerts", "--follow", "-t"), ("pipe", "--format", "json", "-t"), ("pipe", "--format", "csv", "-t"), ("pipe", "--format", "csv")])
def test_a_report_of_a_target_that_is_not_there_ends(directory, command):
    """Of a misspelled name nothing would ever come: it is said at once, with the name that was meant."""
    with Daemon(directory, f"api={LOGS / 'steady-gc-ghc902' / 'run.eventlog'}"):
        done = client(*command, "apj", env={"HEAPWATCH_DIR": str(directory)}, timeout=30)
    assert done.returncode == 2 and b"has no target 'apj' (did you mean 'api'?)" in done.stderr, done
    assert b"nothing fires" not in done.stdout
    assert b"no such target" not in done.stdout


def test_a_port_of_ones_own(directory):
    """--port is what is typed first; it is --listen on this machine alone."""
    both = client("web", "--port", "1", "--listen", "127.0.0.1:1")
    assert both.returncode == 2 and b"--listen and --port exclude each other" in both.stderr
    with running(CLIENT, "web", "--port", "0", str(LOG), stdout=subprocess.PIPE) as web:
        assert web.stdout.readline().startswith(b"heapwatch web: http://127.0.0.1:")
    assert b"did you mean" not in client("web", "--prqx", "1").stderr
