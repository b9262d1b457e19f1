# SPDX-License-Identifier: BSD-3-Clause
"""`heapwatch run` and `doctor` with real programs of the system's GHC."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading

import pytest

from harness import (CLIENT, DEADLINE_S, LOGS, ROOT, VALGRIND, Daemon, Programs, client, pb, require, require_tracing, running, wait_for,
                     wait_newer_checkpoint, written)

@pytest.fixture
def daemon(tmp_path):
    """A daemon at the default place of a private directory."""
    directory = tmp_path / "hw"
    directory.mkdir(mode=0o700)
    d = Daemon(directory).start()
    yield d
    d.process.kill()
    d.process.wait()


def start(daemon, *arguments, stderr=subprocess.PIPE, **more):
    env = {**os.environ, "HEAPWATCH_DIR": str(daemon.directory), **more}
    return subprocess.Popen([CLIENT, "run", "--no-top", *map(str, arguments)], env=env, text=True,
                            cwd=daemon.directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr)


def fill(fd):
    """The pipe with this end, to its last byte."""
    with open(f"/proc/self/fd/{fd}", "wb", buffering=0, opener=lambda p, f: os.open(p, f | os.O_NONBLOCK)) as full:
        for size in (4096, 1):
            while full.write(b"x" * size) is not None:
                pass


def finish(process):
    """To its end; its standard input ends now."""
    out, err = process.communicate(timeout=DEADLINE_S)
    return process.returncode, out, err


def pid_of(daemon, name):
    """Of the program that the daemon sees; it may be adding the target just now."""
    target = daemon.target(name)
    return target is not None and target.run_info.pid


def wait_told(process, text):
    """Reads its output until this has come."""
    limit = threading.Timer(DEADLINE_S, process.kill)
    limit.start()
    try:
        assert any(text in line for line in process.stderr), f"never said: {text}"
    finally:
        limit.cancel()


def test_watches_to_the_end(daemon, programs):
    run = start(daemon, "--name", "mine", "--rts", "-i0.1", "--", programs["leaky"], 2, "more")
    wait_for(lambda: daemon.target("mine") is not None and daemon.target("mine").run_info.ghc_version,
             "the target's identity while the program runs")
    status, out, err = finish(run)
    assert status == 0 and int(out) >= 20000
    assert "mine ended with status 0" in err and "heap census" in err
    assert daemon.target("mine").exit_status == 0 and "heapwatch top mine" in err
    assert not list(daemon.directory.glob("run-*"))


@pytest.mark.parametrize("own", [False, True], ids=["ours", "the program's own"])
@pytest.mark.parametrize("writable", [True, False])
def test_bands_do_not_depend_on_the_file_of_the_heap_profile(daemon, programs, writable, own):
    """Where the runtime makes a profile, it opens PROGRAM.hp, and makes none when it cannot: nothing is written but a file
    of the program's own."""
    file = daemon.directory / f"{programs['leaky'].name}.hp"
    if not writable:
        file.mkdir()                        # refused to root, too
    options = ("+RTS", "-hT", "-i0.1", "-RTS") if own else ()
    status, _, err = finish(start(daemon, "--rts", "-i0.1", "--", programs["leaky"], 2, *options))
    assert status == 0 and "heap census" in err and "Can't open" not in err, err
    assert file.is_file() == (writable and own) and file.is_dir() == (not writable)


def test_labels_reach_the_daemon_and_every_face(daemon, programs):
    run = start(daemon, "--name", "mine", "--label", "version=1.4.2", "-l", "stage=test", "--", programs["leaky"], 20)
    wait_for(lambda: pid_of(daemon, "mine"), "the program")
    assert list(daemon.target("mine").labels) == ["version=1.4.2", "stage=test"]
    connect = ("--connect", daemon.publish)
    for face in (("status", *connect), ("status", *connect, "--format", "json"), ("top", "--once", *connect, "mine")):
        said = client(*face)
        assert said.returncode == 0 and b"version=1.4.2" in said.stdout, (face, said)
    run.send_signal(signal.SIGTERM)
    finish(run)
    assert list(daemon.target("mine").labels) == ["version=1.4.2", "stage=test"]


@pytest.mark.parametrize("label", ["version", "=1", "a b=1", "a=x\ny"])
def test_a_label_that_cannot_be(daemon, programs, label):
    status, out, err = finish(start(daemon, "--label", label, "--", programs["leaky"], 2))
    assert status == 2 and not out and "label" in err


def test_what_run_started_is_detached_by_its_name(daemon, programs):
    """Its log comes from no agent of attach: the target goes, the program runs on."""
    run = start(daemon, "--name", "mine", "--", programs["leaky"], 20)
    pid = wait_for(lambda: pid_of(daemon, "mine"), "the program")
    done = client("detach", "mine", env={"HEAPWATCH_DIR": str(daemon.directory)})
    assert done.returncode == 0, done.stderr
    assert daemon.target("mine") is None and run.poll() is None
    os.kill(pid, signal.SIGTERM)
    run.communicate(timeout=DEADLINE_S)


def test_growth_is_judged_in_the_step_that_is_asked_for(daemon, programs):
    """A leak of seconds, which the daemon's own step of a minute could not see."""
    run = start(daemon, "--name", "mine", "--resolution", "100ms", "--budget", "0", "--rts", "-i0.1", "--", programs["leaky"], 120)

    def live():
        trends = [u.trends for u in daemon.snapshot("mine").get("trends", [])]
        assert all(t.scale.resolution_ns == 10**8 for t in trends if t.HasField("scale"))
        return next((t for u in trends for t in u.trends if t.series == pb.SERIES_LIVE), None)

    wait_for(lambda: daemon.target("mine") is not None and live() and live().verdict >= pb.VERDICT_GROWING,
             "growth of live data")
    run.send_signal(signal.SIGTERM)
    _, _, err = finish(run)
    told = [line for line in err.splitlines() if line.startswith("heapwatch run: live data of mine: ")]
    # A program that gets little CPU time may have been judged again meanwhile: it has a verdict.
    assert len(told) == 1 and ("growth began" in told[0] and "into the run" in told[0] or
                               "not called growing" in told[0]), err


@pytest.mark.parametrize("resolution", ["1ms", "2h", "soon"])
def test_a_step_that_cannot_be(daemon, programs, resolution):
    status, out, err = finish(start(daemon, "--resolution", resolution, "--", programs["leaky"], 1))
    assert (status, out) == (2, "") and ("expected a duration in" if resolution == "soon" else "expected 100ms to 1h") in err


@pytest.mark.parametrize("limit, number, reason", [("true", signal.SIGKILL, False), ("ulimit -t 1", signal.SIGKILL, True),
                                                   ("ulimit -S -t 1", signal.SIGXCPU, True)])
def test_status_of_a_killed_program(daemon, programs, limit, number, reason):
    """By itself, or by the kernel at its limit of processor time: that is said."""
    program = [programs["stress"], "1000000000"] if reason else [programs["crash"], "1"]
    status, _, err = finish(start(daemon, "--name", "mine", "--", "sh", "-c", f'{limit}; exec "$@"', "sh", *program))
    assert status == 128 + number and f"ended by signal {number}" in err
    assert ("out of processor time" in err) == reason == wait_for(lambda: (t := daemon.target("mine")) and t.kept and t, "its end").out_of_cpu, err


def test_a_hanging_program_is_told_and_ended(daemon, programs):
    status, _, err = finish(start(daemon, "--no-agent", "--end-hung", 1, "--", programs["hang"], "+RTS", "-V0"))
    assert status == 128 + signal.SIGTERM
    assert "each of its threads waits for another" in err and "because it hung" in err


def test_signals_are_forwarded(daemon, programs):
    run = start(daemon, "--name", "sig", "--", programs["leaky"], 600)
    wait_for(lambda: daemon.target("sig") is not None and daemon.target("sig").run_info.pid, "the running program")
    run.send_signal(signal.SIGTERM)
    status, _, _ = finish(run)
    assert status != 0


def test_stopped_daemon_does_not_stop_the_program(daemon, programs):
    run = start(daemon, "--name", "mine", "--", programs["leaky"], 1)
    assert finish(run)[0] == 0
    run = start(daemon, "--name", "flood", "--heap-profile", "none", "--", programs["stress"], 600000, "wait")
    wait_for(lambda: daemon.target("flood") is not None, "the target")
    daemon.process.send_signal(signal.SIGSTOP)
    run.stdin.close()
    run.stdin = None
    try:
        # The program ends by itself while its daemon stands still; only then may the daemon go on.
        wait_for(lambda: run.poll() is not None, "the end of the program")
    finally:
        daemon.process.send_signal(signal.SIGCONT)
    status, out, _ = finish(run)
    assert status == 0 and out == "600000\n"


def test_a_full_pipe_does_not_stop_the_program(daemon, programs):
    """Nobody reads standard error, the daemon is gone: the message waits, the program's log does not."""
    run = start(daemon, "--name", "flood", "--heap-profile", "none", "--", programs["stress"], 600000, "wait")
    wait_for(lambda: daemon.target("flood") is not None, "the target")

    def children():     # proc(5): may leave some out while processes come and go
        with open(f"/proc/{run.pid}/task/{run.pid}/children") as listed:
            return [int(pid) for pid in listed.read().split()]
    [program] = wait_for(children, "the program below heapwatch run")
    os.set_blocking(run.stderr.fileno(), False)
    with open(f"/proc/{run.pid}/fd/2", "wb") as written:
        fill(written.fileno())
    daemon.process.kill()
    daemon.process.wait()

    def turns():
        return int(open(f"/proc/{run.pid}/status").read().split("voluntary_ctxt_switches:")[1].split()[0])
    before = turns()
    wait_for(lambda: turns() >= before + 4, "turns in which it sees that the daemon is gone: the program waits, too")
    run.stdin.close()
    run.stdin = None

    def is_over():
        try:
            return "State:\tZ" in open(f"/proc/{program}/status").read()
        except (FileNotFoundError, ProcessLookupError):
            return True
    try:
        wait_for(is_over, "the end of the program")
    finally:
        os.set_blocking(run.stderr.fileno(), True)
        out, err = run.communicate(timeout=DEADLINE_S)
    assert run.returncode == 0 and out == "600000\n"
    assert "the daemon is gone" in err


@pytest.mark.parametrize("way", ["from inside", "from outside", "unwatched, says the agent"])
def test_a_full_pipe_does_not_hold_up_the_start_nor_the_end(daemon, programs, tmp_path, way):
    """Nobody ever reads standard error: the sentences before the start and after the end are left out."""
    program = [programs["stress"]]
    if way == "unwatched, says the agent":      # which is in it before its runtime begins
        stripped = tmp_path / "stripped"
        subprocess.run(["strip", "-o", stripped, *program], check=True)
        program = ["sh", "-c", '"$@"', "sh", stripped]
    unread, full = os.pipe()
    try:
        fill(full)
        run = start(daemon, *(["--no-agent"] if way == "from outside" else []), "--", *program, 3, stderr=full)
        try:
            assert run.communicate(timeout=DEADLINE_S)[0] == "3\n"
        finally:
            run.kill()
    finally:
        os.close(unread)        # ends whoever still waits to write
        os.close(full)
    assert run.returncode == 0


def test_sockets_of_a_service_manager_are_the_programs(daemon):
    said = subprocess.run(["sh", "-c", 'export LISTEN_PID=$$ LISTEN_FDS=1; exec "$@"', "sh", CLIENT, "run", "--no-top", "--",
                           "sh", "-c", 'test "$LISTEN_PID" = $$ && echo taken $LISTEN_FDS'], capture_output=True, text=True,
                          env={**os.environ, "HEAPWATCH_DIR": str(daemon.directory)}, timeout=DEADLINE_S)
    assert said.stdout == "taken 1\n", said


def test_killed_with_its_runner_before_its_log(daemon):
    """By an out-of-memory kill of a group, say: the start is a crash, and its name is free for the next one."""
    seen = {None}
    for _ in range(2):
        run = subprocess.Popen([CLIENT, "run", "--no-top", "--name", "svc", "--", "sh", "-c", "sleep 600; exit"],
                               env={**os.environ, "HEAPWATCH_DIR": str(daemon.directory)}, start_new_session=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        target = wait_for(lambda: (t := daemon.target("svc")) is not None and t.uri not in seen and t, "the target")
        seen.add(target.uri)
        life = daemon.directory / target.uri.split("/")[-2] / "life"
        wait_for(lambda: life.exists() and "program" in life.read_text(), "the program")
        os.killpg(run.pid, signal.SIGKILL)
        run.wait(DEADLINE_S)
    wait_for(lambda: daemon.target("svc").state == pb.Target.STATE_CRASHED, "the crash")
    assert daemon.target("svc~1").state == pb.Target.STATE_CRASHED
    wait_for(lambda: not list(daemon.directory.glob("run-*")), "the directories of dead runs to be removed")


def test_end_that_a_stopped_daemon_does_not_take(daemon):
    """The daemon learns of it when it goes on."""
    run = start(daemon, "--name", "late", "--", "sh", "-c", "read line; exit 3")
    wait_for(lambda: daemon.target("late") is not None, "the target")
    daemon.process.send_signal(signal.SIGSTOP)
    try:
        status, _, err = finish(run)
    finally:
        daemon.process.send_signal(signal.SIGCONT)
    assert status == 3, err
    wait_for(lambda: daemon.target("late").state == pb.Target.STATE_FAILED, "the end")
    assert daemon.target("late").exit_status == 3
    wait_for(lambda: not list(daemon.directory.glob("run-*")), "the directory of the run to be removed")


# How a program without a log is watched: by the second way when it ends before its memory can be read.
OTHERWISE = re.compile("is watched from outside, .*: |of .* only the process is watched, not its heap: ")


def test_without_the_agent_it_is_watched_from_outside(daemon, programs):
    """Or, when it ends too soon for that, by its process alone, after one sentence that says why."""
    status, out, err = finish(start(daemon, "--no-agent", "--", programs["none"], 3))
    assert (status, out) == (0, "3\n") and "--no-agent" in err
    assert OTHERWISE.search(err.splitlines()[0]) and " ended with status 0" in err.splitlines()[1]
    assert not list(daemon.directory.glob("run-*"))


@pytest.mark.parametrize("option", ["--rts=-A2m", "--heap-profile=y"])
def test_what_only_the_agent_does_is_a_mistake_without_it(daemon, programs, option):
    status, out, err = finish(start(daemon, "--no-agent", option, "--", programs["stress"], 3))
    assert (status, out) == (2, "") and err.startswith(f"heapwatch run: {option.split('=')[0]} needs the agent"), err


def test_users_flags_win(daemon, programs):
    status, out, err = finish(start(daemon, "--", programs["stress"], 3, "+RTS", "-xn"))
    assert (status, out) == (0, "3\n") and " ended with status 0" in err
    status, out, _ = finish(start(daemon, "--", programs["stress"], 3, GHCRTS="-A2m"))
    assert (status, out) == (0, "3\n")


def test_scripts_are_started_once(daemon, tmp_path):
    """Never to ask them anything."""
    script = written(tmp_path / "script", "#!/bin/sh\necho started >>started\nexit 5\n")
    script.chmod(0o755)
    status, _, err = finish(start(daemon, "--no-agent", "--", script))
    assert status == 5 and "not a GHC-compiled program" in err
    assert (daemon.directory / "started").read_text() == "started\n"


def test_without_a_terminal_input_and_output_are_the_programs_own(daemon, programs):
    """There is nothing that a screen could be on; --plain asks for one, as text."""
    def run(*options):
        return subprocess.run([CLIENT, "run", *options, "--", "sh", "-c", 'cat; exec "$0" 3', programs["stress"]], input="given\n",
                              env={**os.environ, "HEAPWATCH_DIR": str(daemon.directory)}, capture_output=True, text=True, timeout=DEADLINE_S)

    done = run()
    assert (done.returncode, done.stdout) == (0, "given\n3\n") and " ended with status 0" in done.stderr
    done = run("--plain")
    assert "given" not in done.stdout and "the program's output is in " in done.stderr
    assert re.search(r"the last of its output:\n.*  3\n", done.stderr)


def test_the_last_words_say_why_it_ended(daemon, programs):
    status, _, err = finish(start(daemon, "--name", "mine", "--", programs["leaky"], 600, "+RTS", "-M6m"))
    assert status == 251 and re.search(r"mine ended with status 251 after [^;]*, heap exhausted at -M6m;", err), err


def test_without_a_daemon_it_runs_all_the_same(programs, tmp_path):
    """A directory in which no daemon can be started."""
    (tmp_path / "file").write_text("")
    done = client("run", "--no-top", "--", programs["stress"], "3", env={"HEAPWATCH_DIR": str(tmp_path / "file")})
    assert (done.returncode, done.stdout) == (0, b"3\n") and b"stress runs unwatched: " in done.stderr


@contextlib.contextmanager
def silent(daemon):
    """It lets others connect, and does not answer: as on a machine that is far too busy."""
    daemon.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        daemon.process.send_signal(signal.SIGCONT)


def test_a_daemon_that_answers_late_does_not_hold_up_the_program(daemon, programs):
    """It is watched from then on, as one target."""
    begun = daemon.directory / "begun"
    command = ["sh", "-c", f"echo > {begun}; exec {programs['steady']} 1 more"]
    with silent(daemon):
        run = start(daemon, "--", *command)
        wait_told(run, "starts, and watching begins as soon as the daemon answers")
        wait_for(begun.exists, "the program, while the daemon does not answer")
    wait_told(run, "the daemon answers now: the program is watched as ")
    name = "steady"
    wait_for(lambda: pid_of(daemon, name), "the running program")
    wait_for(lambda: daemon.health(name).events > 0, "its events")
    assert {u.target for u in daemon.status().targets} == {name}
    status, _, err = finish(run)
    assert status == 0 and f"{name} ended with status 0" in err and "collection" in err


def test_a_late_daemon_may_refuse(daemon, bare):
    with silent(daemon):
        first = start(daemon, "--name", "mine", "--", bare["Serve"])
        wait_told(first, "watching begins as soon")
    wait_told(first, "is watched as mine")
    with silent(daemon):
        second = start(daemon, "--name", "mine", "--", bare["Serve"])
        wait_told(second, "watching begins as soon")
    wait_told(second, "the program runs unwatched: the daemon refuses the target mine")
    status, _, err = finish(second)
    assert status == 0 and "mine ended with status 0" in err and "the daemon did not take it" in err
    assert not daemon.target("mine").HasField("exit_status")
    assert finish(first)[0] == 0


DEBIANS_OWN = {
    "shellcheck": (["script"], 1), "hledger": (["-f", "journal", "balance"], 0), "pandoc": (["-t", "html", "text"], 0),
    "hledger-web": (["--version"], 0), "git-annex": (["version", "--raw"], 0),
}


@pytest.mark.parametrize("name", DEBIANS_OWN)
def test_a_stripped_program_of_debian_is_what_it_was(daemon, name):
    """The same output and status, byte for byte, and one sentence that says how it is watched, and why."""
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed here (apt install {name})")
    (daemon.directory / "script").write_text("#!/bin/sh\necho $1 `date`\n")
    (daemon.directory / "journal").write_text("2026-01-01 lunch\n    expenses:food  $5\n    assets:cash\n")
    (daemon.directory / "text").write_text("# Title\n\n* one\n* two\n")
    arguments, expected = DEBIANS_OWN[name]
    alone = subprocess.run([name, *arguments], cwd=daemon.directory, capture_output=True, text=True)
    assert alone.returncode == expected and alone.stdout
    status, out, err = finish(start(daemon, "--", name, *arguments))
    assert (status, out) == (alone.returncode, alone.stdout)
    said = [line for line in err.splitlines() if line.startswith("heapwatch run: ")]
    assert "".join(f"{line}\n" for line in err.splitlines() if line not in said) == alone.stderr
    assert OTHERWISE.search(said[0]) and name in said[0] and ": it is stripped" in said[0]
    assert said[1].startswith("heapwatch run: to see all of it, build it without stripping"), said
    assert f"{name} ended with status {expected}" in said[2], said


@pytest.fixture(scope="module")
def bare():
    """Programs without any flag."""
    return Programs({name: (name, name, "-threaded") for name in ("Serve", "Exits", "Launch")} |
                    {"static": ("static", "Serve", "-threaded", "-optl-static")})


def test_a_static_program_is_watched_from_outside(daemon, bare):
    """LD_PRELOAD does not reach it."""
    run = start(daemon, "--name", "mine", "--", bare["static"])
    assert "is watched from outside, its pauses are not known: " in run.stderr.readline()
    target = daemon.wait_state("mine", "RUNNING")
    assert target.uri.startswith("outside:")
    wait_for(lambda: "census" in daemon.snapshot("mine"), "bands")
    assert finish(run)[0] == 0


def read_only(directory):
    """What to put before a command so that the directory is there and cannot be written to, as in a sandbox."""
    prefix = ("unshare", "--mount", "sh", "-c", f'mount --bind {directory} {directory} && mount -o remount,bind,ro {directory} && exec "$@"',
              "sh")
    require("a mount namespace", *prefix, "true")
    return prefix


def test_in_a_sandbox_without_a_place_for_the_agent_it_is_watched_from_outside(daemon, bare):
    """Its agent cannot make its socket: by run, and by attach."""
    require_tracing()
    run = start(daemon, "--", *read_only(daemon.directory), bare["Exits"], "print", "6")
    wait_told(run, "Exits is watched from outside, its pauses are not known: the agent could not start in it (a sandbox")
    run_info = daemon.wait_state("Exits", "RUNNING").run_info
    wait_for(lambda: "census" in daemon.snapshot("Exits"), "bands")
    assert finish(run)[0] == 0

    with running(*read_only(daemon.directory), bare["Exits"], "rest", stdin=subprocess.DEVNULL, cwd="/") as program:
        wait_for(lambda: pathlib.Path(f"/proc/{program.pid}/comm").read_text() == "Exits\n", "the program")

        def attach():
            return client("attach", program.pid, "--name", "a", env={"HEAPWATCH_DIR": str(daemon.directory)})

        done = wait_for(lambda: (d := attach()).returncode == 0 and d, "the attach, which waits for its runtime")
        assert b"from outside, because the agent cannot be used: cannot listen on" in done.stdout, done
        assert daemon.wait_state("a", "RUNNING").uri.startswith("outside:") and run_info.pid != program.pid
        # what only the agent can do is not left out silently
        assert client("detach", "a", env={"HEAPWATCH_DIR": str(daemon.directory)}).returncode == 0
        done = client("attach", program.pid, "--heap-profile", "i", env={"HEAPWATCH_DIR": str(daemon.directory)})
        assert done.returncode == 2 and b"it can be watched from outside" in done.stderr, done


@pytest.mark.parametrize("script, status, state, detail", [
    ('"$0" rest & while [ ! -e killed ]; do sleep 0.1; done; kill -9 $!; wait; exit 0', 0, "CRASHED", "is gone, and its log has no end marker"),
    ('"$0" return 0.5; exit 7', 7, "FAILED", "the command that started it ended with status 7"),
    ('"$0" status 0.5; exit $?', 3, "FAILED", "the command that started it ended with status 3"),
    ('"$0" return 0.5; exit 0', 0, "ENDED", "the log ended with its end marker")])
def test_how_a_wrapper_ends_is_not_how_its_program_did(daemon, bare, script, status, state, detail):
    """A shell may end well though its program was killed, and badly though that ended well."""
    run = start(daemon, "--name", "mine", "--", "sh", "-c", script, bare["Exits"])
    wait_for(lambda: pid_of(daemon, "mine") and daemon.target("mine").run_info.local, "the program, seen alive")
    (daemon.directory / "killed").touch()
    assert finish(run)[0] == status
    ended = daemon.wait_state("mine", state)
    assert ended.detail.endswith(detail), ended.detail
    assert wait_for(lambda: (t := daemon.target("mine")).kept and t, "the target to be kept").detail == ended.detail


def test_a_program_that_its_wrapper_leaves_behind_is_watched(daemon, bare):
    run = start(daemon, "--", "sh", "-c", '"$0" print 3 & exit 0', bare["Exits"])
    status, _, err = finish(run)
    assert status == 0 and "; Exits goes on, and is watched" in err, err
    assert daemon.wait_state("Exits", "ENDED").detail == "the log ended with its end marker"


def test_what_a_wrapper_leaves_to_itself_is_found(daemon, bare):
    """As podman does with the program of a container: no process of the wrapper is above it."""
    require_tracing()
    run = start(daemon, "--", "sh", "-c", "sh -c 'env -i setsid \"$0\" print 5 &' \"$0\"; exec sleep 8", bare["Exits"])
    assert daemon.wait_state("Exits", "RUNNING").uri.startswith("outside:")
    status, out, err = finish(run)
    assert (status, out) == (0, "fine\n") and "environment that had been cleared" in err, err


def test_the_largest_band_of_an_old_census_is_not_one_of_the_end(daemon, bare):
    run = start(daemon, "--name", "mine", "--rts", "-i60", "--", bare["Serve"])

    def is_old():
        kinds = daemon.snapshot("mine")
        return "census" in kinds and "gc" in kinds and \
            max(u.event_time_ns for u in kinds["gc"]) > max(u.census.time_ns for u in kinds["census"]) + 2 * 10**9
    wait_for(is_old, "a census of some time ago")
    status, _, err = finish(run)
    assert status == 0 and "largest band at the end" not in err, err
    assert re.search(r"largest band at the last census, \d\.\d+ s before the end: (?![a-z][a-z0-9.-]*:)\S", err), err


def test_from_inside_nothing_is_needed_of_the_program(daemon, bare):
    """No flag, no option: bands while it runs, its status, and its children are not affected."""
    run = start(daemon, "--name", "mine", "--rts", "-i0.1", "--", bare["Serve"])
    wait_for(lambda: "census" in daemon.snapshot("mine"), "bands while it runs")
    assert daemon.target("mine").run_info.ghc_version == "9.0.2"
    status, out, err = finish(run)
    assert (status, out) == (0, "") and "mine ended with status 0" in err and "heap census" in err
    for way, expected in (("status", 3), ("exec", 0), ("exec-self", 0), ("terminate", 128 + signal.SIGTERM)):
        status, out, err = finish(start(daemon, "--", bare["Exits"], way))
        assert status == expected, (way, err)
    assert not list(daemon.directory.glob("run-*")) and not list(daemon.directory.glob("*.hp"))


def test_the_program_has_the_signals_that_were_there_before(daemon, bare):
    """SIGPIPE above all, which heapwatch itself ignores: `heapwatch run -- program | head` ends as without."""
    def ignored(*command):
        with start(daemon, *command) as run:
            out, _ = run.communicate(timeout=DEADLINE_S)
        return out

    look = ["sh", "-c", "grep -E 'Sig(Ign|Blk|Cgt)' /proc/self/status"]
    assert ignored("--", *look) == subprocess.run(look, capture_output=True, text=True).stdout
    assert ignored("--no-agent", "--", *look) == subprocess.run(look, capture_output=True, text=True).stdout


def test_from_inside_a_wrapper_is_passed(daemon, bare):
    run = start(daemon, "--name", "mine", "--", "sh", "-c", f"sleep 1.5; exec {bare['Serve']}")
    wait_for(lambda: pid_of(daemon, "mine"),
             "the program below the shell")
    assert finish(run)[0] == 0
    status, out, err = finish(start(daemon, "--", "echo", "hello"))
    assert (status, out) == (0, "hello\n") and "no GHC-compiled program that can be watched was found" in err


@pytest.mark.parametrize("way", ["fork", "exec"])
@pytest.mark.parametrize("tool", ["cabal", "stack", "script", "nix"])
def test_tools_that_start_the_program(daemon, bare, tmp_path, tool, way):
    """The program is the target: below build tools, themselves compiled by GHC, that run a compiler first; below wrappers."""
    shutil.copy(bare["Launch"], tmp_path / "stack")
    shutil.copy(bare["Launch"], tmp_path / "cabal")
    shutil.copy(bare["Exits"], tmp_path / "ghc-9.0.2")
    command = [bare["Exits"], "print", "0.3"]
    words = " ".join(map(str, command))
    build = f"{tmp_path}/ghc-9.0.2 print 0.01 >/dev/null && "
    script = f"#!/bin/sh\nexport SOME=1\n{build}{'exec ' if way == 'exec' else ''}{words}\n"
    (tmp_path / "script").write_text(script)
    (tmp_path / "nix").write_text(f"#!/bin/bash -e\nexport PATH='{tmp_path}:'\"$PATH\"\nexec -a \"$0\" {tmp_path}/script\n")
    for name in ("script", "nix"):
        (tmp_path / name).chmod(0o755)
    whole = [tmp_path / tool, *([way, "/bin/sh", "-c", f"{build}{words}"] if tool in ("cabal", "stack") else [])]
    status, out, err = finish(start(daemon, "--name", "mine", "--", *whole))
    assert (status, out) == (0, "fine\n") and "mine ended with status 0" in err, err
    assert os.path.basename(daemon.target("mine").run_info.program) == "Exits"


CABAL = """cabal-version: 2.4
name: exits
version: 0.1
executable exits
  main-is: Exits.hs
  build-depends: base, containers, process, unix
  default-language: Haskell2010
"""


@pytest.mark.slow
def test_cabal_itself_builds_and_starts_the_program(daemon, tmp_path):
    """`cabal run`, with everything still to be compiled; no package is fetched."""
    if not shutil.which("cabal"):
        pytest.skip("cabal is not installed here (apt install cabal-install)")
    package = tmp_path / "package"
    package.mkdir()
    (package / "exits.cabal").write_text(CABAL)
    (package / "config").write_text("jobs: 1\n")
    shutil.copy(ROOT / "tests/programs/Exits.hs", package)
    command = ["cabal", "v2-run", "-v0", "--offline", "exits", "--"]
    for way, expected, said in (("print", 0, "fine\n"), ("status", 3, "")):
        run = start(daemon, "--name", "mine", "--", "sh", "-c", f"cd {package} && exec {' '.join(command)} {way} 0.3",
                    CABAL_DIR=str(package), HOME=str(package))
        status, out, err = finish(run)
        assert (status, out) == (expected, said) and f"mine ended with status {expected}" in err, err
        assert os.path.basename(daemon.target("mine").run_info.program) == "exits"


def test_children_are_targets_with_follow(daemon, bare):
    """Each GHC-compiled program below, named after its file; without --follow only the first."""
    for options, expected in (([], {"mine"}), (["--follow"], {"mine", "Exits"})):
        status, out, err = finish(start(daemon, "--name", "mine", *options, "--", bare["Launch"], "fork", bare["Exits"], "print",
                                        "0.5"))
        assert (status, out) == (0, "fine\n"), err
        targets = {u.target for r in daemon.ask(pb.Request(status=pb.StatusRequest())) for u in r.status.targets}
        assert targets == expected, err
        for name in targets:
            assert daemon.wait_state(name, "ENDED").run_info.ghc_version == "9.0.2"
        daemon.ask(pb.Request(remove_target=pb.RemoveTargetRequest(name="mine")))
    daemon.ask(pb.Request(remove_target=pb.RemoveTargetRequest(name="Exits")))
    status, _, err = finish(start(daemon, "--follow", "--", bare["Exits"], "execute-itself", "1"))
    assert status == 0 and re.search("run: Exits~1 ended with status 0.* collection", err), err  # the newer one has its name


@pytest.mark.parametrize("to, status", [("itself", 0), ("another", 3)])
def test_a_program_that_executes_another_one(daemon, bare, to, status):
    """In its own place: it goes on unwatched, and that is said while it runs. It has not crashed, and how the other one ends is not its
    end."""
    run = start(daemon, "--name", "mine", "--", bare["Exits"], f"execute-{to}", "2")
    wait_told(run, "the program has executed another one in its place, which is not watched: `heapwatch attach")
    executed = "it executed another program in its place: " + ("Exits" if to == "itself" else "sh")
    assert daemon.wait_state("mine", "ENDED").detail == executed
    assert finish(run)[0] == status
    assert daemon.wait_state("mine", "ENDED").detail == executed
    done = client("alerts", env={"HEAPWATCH_DIR": str(daemon.directory)})
    assert done.returncode == 0, done.stdout


def test_a_program_that_ends_its_log_and_begins_it_again(daemon, programs):
    """It is one run: by its own calls, and by the agent. In between it is not said to have ended."""
    run = start(daemon, "--name", "mine", "--", programs["restart"], 20)
    assert finish(run)[0] == 0
    target = daemon.wait_state("mine", "ENDED")
    assert (target.runs, daemon.health("mine").gaps) == (1, 1), target
    run = start(daemon, "--name", "served", "--", programs["steady"], 1, "more")
    daemon.wait_state("served", "RUNNING")
    env = {"HEAPWATCH_DIR": str(daemon.directory)}
    assert client("ctl", "agent", "served", "stop", env=env).returncode == 0
    assert f"{pid_of(daemon, 'served')} goes on unwatched" in daemon.wait_state("served", "LOST").detail
    assert client("ctl", "agent", "served", "start", env=env).returncode == 0
    daemon.wait_state("served", "RUNNING", run=1)
    assert finish(run)[0] == 0
    assert daemon.wait_state("served", "ENDED").runs == 1


def test_a_program_that_closes_all_descriptors(daemon, bare):
    """As one does that becomes a daemon, the agent's among them: it is watched again, and nothing else is said of it."""
    run = start(daemon, "--name", "mine", "--", bare["Exits"], "close-unknown", 6)
    wait_for(lambda: daemon.health("mine") and daemon.health("mine").gaps == 1, "the gap to be counted")
    sampled_ns = daemon.snapshot("mine")["heap"][0].heap.process.sampled_wall_ns
    wait_for(lambda: daemon.snapshot("mine")["heap"][0].heap.process.sampled_wall_ns > sampled_ns, "its memory once more")
    status, out, err = finish(run)
    assert (status, out) == (0, "fine\n") and "executed" not in err and "mine ended with status 0" in err, err
    assert daemon.wait_state("mine", "ENDED").runs == 1


@pytest.mark.slow
def test_a_program_whose_agent_is_deaf_for_good_is_read_from_outside(daemon, bare):
    """It has closed all descriptors and can open none any more: under the same name, as the next run, whose end is the program's."""
    require_tracing()
    run = start(daemon, "--name", "mine", "--", bare["Exits"], "close-for-good", "30")
    assert "its process" in wait_for(lambda: (t := daemon.target("mine")) and t.state == pb.Target.STATE_LOST and t, "it to be lost").detail
    outside = daemon.wait_state("mine", "RUNNING", run=2)
    assert outside.detail == "read from outside: its agent cannot be reached any more" and outside.uri.startswith("unix:"), outside
    wait_for(lambda: "census" in daemon.snapshot("mine"), "bands")
    rows = client("ps", env={"HEAPWATCH_DIR": str(daemon.directory)}).stdout.decode().splitlines()
    assert [r.split()[-1] for r in rows if "watched as mine" in r] == ["mine"], rows     # not the run before
    status, out, err = finish(run)
    assert (status, out) == (0, "fine\n") and "mine ended with status 0" in err and "executed" not in err, err
    assert daemon.wait_state("mine", "ENDED").runs == 2
    before = daemon.target("mine~1")
    assert before.state == pb.Target.STATE_LOST and "goes on in the next run" in before.detail, before
    done = client("alerts", env={"HEAPWATCH_DIR": str(daemon.directory)})
    assert done.returncode == 0, done.stdout


def test_the_name_of_a_run_that_was_killed_is_free(daemon, bare):
    run = start(daemon, "--name", "mine", "--", bare["Exits"], "idle", 600)
    wait_for(lambda: daemon.target("mine"), "the target")
    wait_for(lambda: pid_of(daemon, "mine"), "the running program")
    children = subprocess.run(["pgrep", "-P", str(run.pid)], capture_output=True, text=True).stdout.split()
    run.kill()
    run.wait()
    for pid in children:
        os.kill(int(pid), signal.SIGKILL)
    status, _, err = wait_for(lambda: (r := finish(start(daemon, "--name", "mine", "--", bare["Exits"], "print")))
                              and "already" not in r[2] and "does not take" not in r[2] and r, "the name to be free")
    assert status == 0 and "mine ended with status 0" in err, err


@pytest.mark.parametrize("removed", (False, True))
def test_from_inside_the_daemon_may_go_and_come_back(daemon, bare, removed):
    """Another one cannot reach the agent if its directory was removed meanwhile, as by a logout."""
    if removed:
        require_tracing()
    run = start(daemon, "--name", "mine", "--", bare["Serve"])
    wait_for(lambda: daemon.target("mine") is not None and daemon.target("mine").run_info.pid, "the running program")
    pid = daemon.target("mine").run_info.pid
    daemon.process.kill()
    daemon.process.wait()
    wait_told(run, "the daemon is gone")
    for path in daemon.directory.glob("run-*") if removed else ():
        shutil.rmtree(path)
    daemon.start()
    wait_told(run, "watched again, as mine, from outside" if removed else "the daemon is back")
    wait_for(lambda: pid_of(daemon, "mine") == pid, "the same program")
    assert finish(run)[0] == 0


def test_from_inside_the_run_goes_on_from_a_checkpoint(directory, bare):
    with Daemon(directory, args=("--checkpoint", directory / "state.d", "--checkpoint-every", "100ms")) as daemon:
        run = start(daemon, "--name", "mine", "--", bare["Serve"])
        wait_for(lambda: daemon.target("mine") and "census" in daemon.snapshot("mine"), "more than definitions")
        first = daemon.target("mine").run_info.first_time_ns
        wait_newer_checkpoint(directory, "mine")
        daemon.process.kill()
        daemon.process.wait()
        wait_told(run, "the daemon is gone")
        daemon.start()
        wait_told(run, "the daemon is back")
        events = daemon.health("mine").events
        wait_for(lambda: daemon.health("mine").events > events, "further events")
        assert daemon.target("mine").run_info.first_time_ns == first
        log = daemon.log.read_text()
        assert "run=1 resumes from its checkpoint" in log and "removed" not in log, log
        assert finish(run)[0] == 0


def test_an_idle_program_goes_on_from_a_checkpoint(directory, bare):
    """No event tells how long nobody listened: the run goes on at once, and the gap is counted when an event has come."""
    with Daemon(directory, args=("--checkpoint", directory / "state.d", "--checkpoint-every", "100ms")) as daemon:
        run = start(daemon, "--name", "mine", "--", bare["Exits"], "line")
        wait_for(lambda: daemon.target("mine") and daemon.health("mine").events > 100, "its work before that")
        wait_newer_checkpoint(directory, "mine")
        daemon.process.kill()
        daemon.process.wait()
        wait_told(run, "the daemon is gone")
        daemon.start()
        wait_told(run, "the daemon is back")
        assert daemon.wait_state("mine", "RUNNING", run=1).detail.startswith("goes on after a broken connection")
        run.stdin.write("fine\n")
        assert finish(run)[0] == 0
        assert (daemon.wait_state("mine", "ENDED").runs, daemon.health("mine").gaps) == (1, 1)
        said, read = (client("summary", "mine", *form, env={"HEAPWATCH_DIR": str(directory)}).stdout
                      for form in ((), ("--format", "json")))
        assert b"nothing lost" not in said and json.loads(read)["stream"]["gaps"] == 1, (said, read)


def test_from_inside_a_name_is_used_again(directory, bare):
    """At once, and each run is what it was: none begins with the checkpoint of the one before."""
    with Daemon(directory, args=("--checkpoint", directory / "state.d", "--checkpoint-every", "100ms",
                                 "--record", directory / "kept")) as daemon:
        for _ in range(3):
            run = start(daemon, "--name", "mine", "--", bare["Serve"])
            wait_for(lambda: pid_of(daemon, "mine"), "the running program")
            wait_newer_checkpoint(directory, "mine")
            status, _, err = finish(run)
            assert status == 0 and "mine-2" not in err, err
        states = {u.target: u.target_state.state for u in daemon.status().targets if u.WhichOneof("body") == "target_state"}
        assert states == dict.fromkeys(("mine", "mine~1", "mine~2"), pb.Target.STATE_ENDED), states
        assert "checkpoint" not in daemon.log.read_text()


def test_from_inside_run_may_be_killed(daemon, bare):
    """The program goes on, and is watched to its end."""
    run = start(daemon, "--name", "mine", "--", bare["Serve"])
    wait_for(lambda: daemon.target("mine") is not None and daemon.target("mine").run_info.pid, "the running program")
    run.kill()
    run.wait()
    events = daemon.health("mine").events
    wait_for(lambda: daemon.health("mine").events > events, "further events")
    run.stdin.close()
    daemon.wait_state("mine", "ENDED", "WAITING")


def test_killed_with_its_runner_as_its_log_begins(daemon, bare):
    """Mostly before the log has named the process: neither of the two is there, so it was killed."""
    for _ in range(3):
        run = subprocess.Popen([CLIENT, "run", "--no-top", "--name", "svc", "--", bare["Serve"]], stdin=subprocess.PIPE,
                               env={**os.environ, "HEAPWATCH_DIR": str(daemon.directory)}, start_new_session=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        daemon.wait_state("svc", "RUNNING")
        os.killpg(run.pid, signal.SIGKILL)
        run.wait(DEADLINE_S)
        run.stdin.close()
        daemon.wait_state("svc", "CRASHED")
        assert "log has no end marker" in daemon.target("svc").detail


def test_from_inside_a_stripped_program_is_said_why(daemon, bare, tmp_path):
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-o", stripped, bare["Exits"]], check=True)
    status, out, err = finish(start(daemon, "--", stripped, "print"))
    assert (status, out) == (0, "fine\n") and OTHERWISE.search(err) and ": it is stripped" in err
    status, out, err = finish(start(daemon, "--", "sh", "-c", f"{stripped} print; exit 3"))
    assert (status, out) == (3, "fine\n") and "without a wrapper around it" in err and "the agent does not watch it" in err
    run = start(daemon, "--name", "outside", "--", "sh", "-c", f"{stripped} return 2; exit 3")
    wait_for(lambda: pid_of(daemon, "outside"), "the program, seen alive")
    assert finish(run)[0] == 3 and daemon.target("outside").state != pb.Target.STATE_RUNNING   # its last line is of the end


def test_doctor_of_programs(programs):
    def doctor(name):
        r = subprocess.run([CLIENT, "doctor", "--format", "json", programs[name]], capture_output=True, text=True,
                           timeout=DEADLINE_S)
        return r.returncode, {f["feature"]: f["seen"] for f in json.loads(r.stdout)["features"]}

    status, seen = doctor("leaky")
    assert status == 0 and seen["eventlog"] and seen["heap by closure type"] and not seen["heap by cost centre"]
    status, seen = doctor("some")
    assert seen["eventlog"] and not seen["heap by closure type"]
    status, seen = doctor("nolog")
    assert status == 0 and not any(seen.values()), "the agent shows all that matters"


def test_doctor_says_what_the_agent_can_do(bare, tmp_path):
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-o", stripped, bare["Exits"]], check=True)
    done = client("doctor", str(bare["Exits"]))
    assert b"watched from inside as it is" in done.stdout and b"NO" not in done.stdout and done.returncode == 0
    assert b"they need -eventlog when it is linked" in done.stdout
    assert b"what to add" in client("doctor", "--flags", str(bare["Exits"])).stdout
    done = client("doctor", str(stripped))
    said = done.stdout.decode().splitlines()
    assert done.returncode == 1 and "not watched from inside: it is stripped" in said[1]
    assert "--disable-executable-stripping" in said[2] and "--no-strip" in said[2], "before any flag"
    inside = [json.loads(client("doctor", "--format", "json", str(p)).stdout)["inside"] for p in (bare["Exits"], stripped)]
    assert inside == [True, False]


def test_doctor_of_a_static_program_is_what_happens(bare):
    """test_a_static_program_is_watched_from_outside"""
    done = client("doctor", bare["static"])
    said = done.stdout.decode()
    assert done.returncode == 1 and "not watched from inside: it does not use glibc as a shared library" in said, said
    assert "from outside where its memory can be read" in said and "link the agent into it" in said, said


def doctor_of(pid):
    done = client("doctor", pid)
    as_json = client("doctor", "--format", "json", pid)
    assert done.returncode == as_json.returncode, (done, as_json)
    return done.returncode, done.stdout.decode(), json.loads(as_json.stdout)


def test_doctor_of_a_program_that_runs(bare):
    """By its number, and without running anything of it; one in a container by its number here."""
    require_tracing()
    apart = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
    with running(bare["Serve"], stdin=subprocess.PIPE) as plain, running(bare["static"], stdin=subprocess.PIPE) as static:
        status, said, found = doctor_of(plain.pid)
        assert status == 0 and f"heapwatch attach {plain.pid}: watched from inside as it is" in said and "container" not in said, said
        assert found["inside"] and not found["container"] and found["program"] == bare["Serve"].name
        status, said, found = doctor_of(static.pid)
        assert status == 1 and f"heapwatch attach {static.pid}: not watched from inside: it does not use glibc" in said, said
        assert not found["inside"] and "glibc" in found["obstacle"] and "link the agent" in found["remedy"]
    done = client("doctor", "999999999")
    assert done.returncode == 2 and b"there is no process 999999999" in done.stderr
    require("a namespace of processes", *apart, "true")
    with running(*apart, bare["Serve"], stdin=subprocess.PIPE) as wrapper:
        def inner():
            children = pathlib.Path(f"/proc/{wrapper.pid}/task/{wrapper.pid}/children").read_text().split()
            return children and os.readlink(f"/proc/{children[0]}/exe") == str(bare["Serve"]) and children[0]

        pid = wait_for(inner, "the program")
        status, said, found = doctor_of(pid)
        assert status == 0 and f"process {pid}, in a container" in said and found["container"] and found["inside"], said
        os.kill(int(pid), signal.SIGKILL)       # unshare ignores what would end it


@pytest.mark.parametrize("flags", [["-rtsopts=ignoreAll"], ["-rtsopts=ignoreAll", "-threaded"],
                                   ["-rtsopts=ignoreAll", "-with-rtsopts=-V0"]])
def test_doctor_never_runs_main(tmp_path, flags):
    (tmp_path / "Main.hs").write_text(f'main :: IO ()\nmain = writeFile "{tmp_path}/ran" "" >> putStrLn " [(\\"GHC RTS\\", \\"YES\\")"\n')
    subprocess.run(["ghc", "-v0", *flags, "-o", tmp_path / "main", tmp_path / "Main.hs"], check=True, cwd=tmp_path)
    done = client("doctor", "--flags", str(tmp_path / "main"))
    assert done.returncode == 0 and b"-rtsopts=ignoreAll" in done.stdout and not (tmp_path / "ran").exists()


def test_doctor_reads_what_was_linked_in(tmp_path):
    (tmp_path / "Main.hs").write_text("main :: IO ()\nmain = return ()\n")
    subprocess.run(["ghc", "-v0", "-eventlog", "-rtsopts=ignore", "-with-rtsopts=-A8m -hT", "-o", tmp_path / "main", tmp_path / "Main.hs"],
                   check=True, cwd=tmp_path)
    done = client("doctor", "--flags", str(tmp_path / "main")).stdout
    assert b"linked with the options -A8m -hT" in done and b"in the variable GHCRTS" in done
    seen = json.loads(client("doctor", "--format", "json", str(tmp_path / "main")).stdout)
    assert seen["withRtsopts"] == "-A8m -hT" and seen["hearsRtsArguments"] is False


@pytest.mark.skipif(VALGRIND, reason="valgrind itself does not survive a failing execve(2)")
def test_doctor_says_why_a_program_does_not_start(tmp_path, bare):
    broken = tmp_path / "broken"
    image = (bare["Exits"]).read_bytes()
    broken.write_bytes(image.replace(b"/lib64/ld-linux-x86-64.so.2", b"/lib64/nothing-x86-64.so.2\0", 1))
    broken.chmod(0o755)
    done = client("doctor", str(broken))
    assert done.returncode == 2 and b"No such file or directory (its dynamic loader)" in done.stderr


def test_doctor_of_logs_and_targets(daemon):
    log = LOGS / "leaky-hT-ghc9103" / "run.eventlog"
    daemon.ask(pb.Request(add_target=pb.AddTargetRequest(name="mine", uri=str(log))))
    daemon.wait_state("mine", "ENDED")
    env = {"HEAPWATCH_DIR": str(daemon.directory)}
    seen = [json.loads(client("doctor", "--format", "json", what, env=env).stdout) for what in (f"file:{log}", "mine")]
    assert [s["program"] for s in seen] == ["leaky", "leaky"] and seen[0]["features"] == seen[1]["features"]
    begun = daemon.directory / "begun.eventlog"     # its options are not advised again while its first buffer is not full
    begun.write_bytes(log.read_bytes().partition(b"hetehdredatb")[0] + b"hetehdredatb")
    daemon.ask(pb.Request(add_target=pb.AddTargetRequest(name="begun", uri=str(begun))))
    daemon.wait_state("begun", "RUNNING")
    features = json.loads(client("doctor", "--format", "json", "begun", env=env).stdout)["features"]
    assert features and all(not f["seen"] and f["add"].startswith("not known") for f in features), features
    done = client("doctor", "fifo:/nowhere", env=env)
    assert done.returncode == 2 and b"heapwatch add fifo:/nowhere" in done.stderr
