# SPDX-License-Identifier: BSD-3-Clause
"""A process alone (a source pid:N): what is known of a program whose log cannot be read, and what is not."""
import json
import os
import re
import signal
import subprocess
import sys

import pytest

from harness import CLIENT, DEADLINE_S, ROOT, SOURCES, Daemon, client, compile_haskell, end_input, heapwatch, pb, running, wait_for, wait_newer_checkpoint

MIB = 1 << 20
WAITS = [sys.executable, "-S", "-c", "import sys; sys.stdin.read()"]
GROWS = [sys.executable, "-S", "-c", """import time
held = []
while True:
    held.append(bytes(range(256)) * 2048)
    time.sleep(0.1)"""]

MAPS = [sys.executable, "-S", "-c", """import mmap, sys, time
path, writes, leaks = sys.argv[1], sys.argv[2] == "write", sys.argv[3] == "leak"
with open(path, "w+b") as f:
    f.truncate(1 << 30)
    pages = mmap.mmap(f.fileno(), 1 << 30)
held = []
for at in range(0, 1 << 30, 4096 * 256):
    for page in range(at, at + 4096 * 256, 4096):
        if writes:
            pages[page] = 1
        else:
            pages[page]
    if leaks:
        held.append(bytes(range(256)) * 2048)
    time.sleep(0.1)
time.sleep(600)"""]


def request(daemon, command, *words):
    return client(command, "--connect", daemon.publish, *words)


def process(daemon, name):
    """The newest Process of a target; None until there is one."""
    heap = daemon.snapshot(name).get("heap")
    return heap[0].heap.process if heap and heap[0].heap.HasField("process") else None


def test_what_is_known_of_a_process_alone(directory):
    with Daemon(directory) as daemon, running(*WAITS, stdin=subprocess.PIPE) as program:
        assert request(daemon, "add", f"x=pid:{program.pid}").returncode == 0
        p = wait_for(lambda: process(daemon, "x"), "a sample of it")
        run = daemon.target("x").run_info
        assert run.process_only and run.pid == program.pid and run.parent_pid == os.getpid() and run.local
        assert run.program == os.path.basename(sys.executable)
        assert p.rss_bytes > MIB and p.minor_faults > 0 and p.HasField("major_faults") and p.threads == 1
        assert p.HasField("cpu_ns") and p.address_space_bytes > p.rss_bytes and not p.HasField("address_space_limit_bytes")
        found = daemon.snapshot("x")
        heap = found["heap"][0].heap
        assert not heap.HasField("live_bytes") and not heap.HasField("heap_size_bytes") and not heap.HasField("allocated_bytes")
        assert "census" not in found
        assert [a.code for a in daemon.health("x").advice] == [17]
        assert "only its process" in daemon.target("x").detail
        program.stdin.close()
        t = daemon.wait_state("x", "ENDED")
        assert f"process {program.pid} is gone" in t.detail and "not known" in t.detail and not t.HasField("exit_status")
        wait_for(lambda: daemon.target("x").kept, "the target to be kept as it ended")


def test_its_memory_is_judged(directory):
    """By the clock, since there is no log: steps close, growth fires, and the limit of its address space nears."""
    rules = directory / "rules.yaml"
    rules.write_text("groups:\n- name: g\n  rules:\n  - {alert: resident-growth, for: 1s}\n")
    grows = ["/bin/sh", "-c", "ulimit -v 8000000; exec \"$@\"", "sh", *GROWS]
    with Daemon(directory, args=("--resolution", "1s", "--leak-after", "20s", "--rules", rules)) as daemon, \
            running(*grows) as program:
        assert request(daemon, "add", f"x=pid:{program.pid}").returncode == 0
        alert = wait_for(lambda: [a for u in daemon.snapshot("x").get("alerts", []) for a in u.alerts.alerts
                                  if a.rule == "resident-growth" and a.state == pb.Alert.STATE_FIRING], "the alert")[0]
        assert "x grows by" in alert.sentence and "only its process" in alert.sentence
        state = daemon.snapshot("x")["trends"][-1].trends
        assert state.growth.rss >= pb.VERDICT_GROWING and not state.growth.HasField("live")
        assert state.growth.where == pb.Growth.WHERE_UNKNOWN and state.growth.sentence.startswith("resident memory grows by")
        assert state.limit_bytes == 8000000 * 1024 and state.limit_source == pb.TimeToLimit.SOURCE_ADDRESS_SPACE
        assert state.time_to_limit.series == pb.SERIES_RSS


def test_pages_of_mapped_files_are_no_growth(directory):
    """Stores such as LMDB's: of three that map 10 MiB/s more, only the one that leaks beside it grows."""
    rules = directory / "rules.yaml"
    rules.write_text("groups:\n- name: g\n  rules:\n  - {alert: resident-growth, for: 1s}\n")
    with Daemon(directory, args=("--resolution", "1s", "--leak-after", "20s", "--rules", rules)) as daemon, \
            running(*MAPS, directory / "read.db", "read", "-") as reads, \
            running(*MAPS, directory / "write.db", "write", "-") as writes, \
            running(*MAPS, directory / "leak.db", "read", "leak") as leaks:
        for name, program in (("reads", reads), ("writes", writes), ("leaks", leaks)):
            assert request(daemon, "add", f"{name}=pid:{program.pid}").returncode == 0

        def trends(name):
            return daemon.snapshot(name)["trends"][-1].trends

        def alerts(name):
            return [a.rule for u in daemon.snapshot(name).get("alerts", []) for a in u.alerts.alerts if a.state == pb.Alert.STATE_FIRING]
        wait_for(lambda: "resident-growth" in alerts("leaks"), "the leak's alert")
        assert trends("leaks").growth.rss >= pb.VERDICT_GROWING
        for name in ("reads", "writes"):
            heap = daemon.snapshot(name)["heap"][-1].heap
            assert heap.resident.files_bytes > 40 * MIB and not alerts(name)
            assert trends(name).growth.rss < pb.VERDICT_GROWING
            assert heap.resident.mapped[0].path == f"{directory}/{name[:-1]}.db"
            assert 40 * MIB < heap.resident.mapped[0].resident_bytes <= heap.resident.files_bytes
        assert heap.resident.mapped[0].dirty_bytes > 0    # the kernel writes them after half a minute


def test_a_program_that_is_not_there_is_refused(directory):
    with Daemon(directory) as daemon, running(*WAITS, stdin=subprocess.PIPE) as program:
        start = open(f"/proc/{program.pid}/stat").read().rsplit(")", 1)[1].split()[19]
        for source, why in ((f"pid:{program.pid}@{int(start) + 1}", "started later"),
                            (f"pid:{program.pid}x", "not the number of a process")):
            done = request(daemon, "add", source)
            assert done.returncode != 0 and why in done.stderr.decode(), done
        assert request(daemon, "add", f"pid:{program.pid}@{start}").returncode == 0
        program.kill()
        program.wait()
        done = request(daemon, "add", f"pid:{program.pid}")
        assert done.returncode != 0 and "there is no process" in done.stderr.decode(), done
        daemon.wait_state(f"pid-{program.pid}", "ENDED", "FAILED")


def test_it_survives_a_restart_of_the_daemon(directory):
    args = ("--checkpoint", f"{directory}/state.d", "--checkpoint-every", "100ms")
    daemon = Daemon(directory, args=args).start()
    with running(*WAITS, stdin=subprocess.PIPE) as program:
        assert request(daemon, "add", f"x=pid:{program.pid}").returncode == 0
        wait_for(lambda: process(daemon, "x"), "a sample of it")
        first_ns = daemon.target("x").run_info.first_time_ns
        wait_newer_checkpoint(directory, "x")
        daemon.stop(signal.SIGKILL)
        daemon.start()
        wait_for(lambda: daemon.health("x").gaps == 1, "the gap to be counted")
        t = daemon.wait_state("x", "RUNNING")
        assert t.runs == 1 and t.run_info.process_only and t.run_info.first_time_ns == first_ns
        daemon.stop(signal.SIGKILL)
        program.stdin.close()
        program.wait()
        daemon.start()
        t = daemon.wait_state("x", "ENDED")
        assert t.runs == 1 and f"process {program.pid} is gone" in t.detail
    daemon.stop()


# ------------------------------------------------------- by attach and run, of real programs


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """Each kind that cannot be watched from inside, and why."""
    out = tmp_path_factory.mktemp("blind")

    def compile_one(name, *flags):
        subprocess.run(["ghc", "-v0", "-outputdir", out / f"{name}.o", "-o", out / name, *flags, "tests/programs/Serve.hs"],
                       check=True, cwd=ROOT)
    compile_one("whole", "-threaded")
    compile_one("shared", "-dynamic")
    subprocess.run(["strip", "-o", out / "stripped", out / "whole"], check=True)
    return {"stripped": (out / "stripped", "it is stripped", "--disable-executable-stripping"),
            "shared": (out / "shared", "its runtime is a shared library", "without -dynamic")}


@pytest.mark.parametrize("kind", ["stripped", "shared"])
def test_every_command_says_the_same_reason(directory, programs, kind):
    path, reason, remedy = programs[kind]
    with Daemon(directory) as daemon, running(path, stdin=subprocess.PIPE) as program:
        listed = wait_for(lambda: [line for line in heapwatch(daemon, "ps").stdout.splitlines()
                                   if line.split()[0] == str(program.pid)], "the program in the list")[0]
        assert "9.0.2" in listed and f"from outside: {reason}" in listed
        told = heapwatch(daemon, "doctor", path).stdout
        assert f"not watched from inside: {reason}" in told and remedy in told.splitlines()[2]
        document = json.loads(heapwatch(daemon, "doctor", "--format", "json", path).stdout)
        assert not document["inside"] and document["obstacle"].startswith(reason) and remedy in document["remedy"]
        done = heapwatch(daemon, "attach", program.pid)
        assert done.returncode == 0 and f"because {reason}" in done.stdout and remedy in done.stdout, done
        assert done.stdout.count(reason) == 1 and "not known" in done.stdout and "from outside" in done.stdout
        t = daemon.wait_state(kind, "RUNNING")
        assert t.uri.startswith("outside:") and not t.run_info.process_only
        wait_for(lambda: process(daemon, kind), "a sample of it")
        wait_for(lambda: f"  watched as {kind}\n" in heapwatch(daemon, "ps").stdout, "the target in the list")
        assert heapwatch(daemon, "detach", program.pid).returncode == 0 and not daemon.status().targets
        end_input(program)


def test_run_watches_from_outside_and_knows_its_end(directory, programs):
    path, reason, remedy = programs["stripped"]
    with Daemon(directory) as daemon:
        env = {**os.environ, "HEAPWATCH_DIR": str(directory)}
        with running(CLIENT, "run", "--no-top", "--name", "x", "--", path, stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                     env=env, text=True) as run:
            t = daemon.wait_state("x", "RUNNING")
            assert t.uri.startswith("outside:") and not t.run_info.process_only
            wait_for(lambda: process(daemon, "x"), "a sample of it")
            os.kill(t.run_info.pid, signal.SIGKILL)
            _, err = run.communicate(timeout=DEADLINE_S)
        assert run.returncode == 128 + signal.SIGKILL
        why, how = err.splitlines()[:2]
        assert "stripped is watched from outside" in why and why.endswith(reason + ", so the variables of its runtime cannot be found"), err
        assert how.startswith("heapwatch run: to see all of it, ") and remedy in how, err
        t = wait_for(lambda: (t := daemon.target("x")).exit_signal and t, "its signal")
        assert t.exit_signal == signal.SIGKILL and "killed by signal 9" in t.detail and t.state == pb.Target.STATE_CRASHED


def test_no_face_shows_what_is_not_known(directory):
    """Neither a 0 nor "ok" for the heap of a process alone: it is said to be not known, with what would help."""
    alone = "only its process is watched"
    with Daemon(directory) as daemon, running(*WAITS, stdin=subprocess.PIPE) as program:
        assert heapwatch(daemon, "attach", "--process-only", program.pid, "--name", "x").returncode == 0
        wait_for(lambda: process(daemon, "x"), "a sample of it")
        screen = heapwatch(daemon, "top", "--once", "x").stdout
        assert screen.count("has no log") >= 2 and "+RTS" not in screen and "no collection seen yet" not in screen, screen
        assert "Only the program's process is watched" in screen
        told = heapwatch(daemon, "summary", "x").stdout
        assert f"Log: none, {alone}" in told and "0 events" not in told
        assert "resident memory (RSS), of which" in told and "not known separately" in told and "maximum residency" not in told
        told = heapwatch(daemon, "post-mortem", "x").stdout
        assert "has no log" in told and "+RTS" not in told, told
        sheet = heapwatch(daemon, "pipe", "x", "--format", "openmetrics", "--for", "2s").stdout
        assert "heapwatch_live_bytes{" not in sheet


def test_a_rise_is_of_resident_memory(directory):
    """What rises is not told apart: neither an early warning nor growth is called foreign, or outside of a heap."""
    with Daemon(directory, args=("--resolution", "1s")) as daemon, running(*GROWS) as program:
        assert heapwatch(daemon, "attach", "--process-only", program.pid, "--name", "x").returncode == 0
        for word in ("rising: ", "growing: "):
            def faces():
                screen = heapwatch(daemon, "top", "--once", "x").stdout
                return (screen, heapwatch(daemon, "trend", "x").stdout, heapwatch(daemon, "alerts").stdout) if word in screen else None
            told = wait_for(faces, word)
            assert re.search(r"^ where  In resident memory; where in it is not known: RSS ", told[0], re.M), told[0]
            assert re.search(r"^ grows  Not known: the program has no log, only its process is watched$", told[0], re.M), told[0]
            for face in told:
                assert "Haskell heap" not in face and "foreign memory" not in face, face
        early = re.search(r"resident memory has risen for ", told[1])
        assert early or "resident memory grows by" in told[1], told[1]


def run_below(directory, *wrapper, name=()):
    env = {**os.environ, "HEAPWATCH_DIR": str(directory)}
    return running(CLIENT, "run", "--no-top", *name, "--", *wrapper, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=env,
                   text=True)


@pytest.mark.parametrize("wrapper", [("timeout", "60"), ("nice",), ("sh", "-c", "exec \"$0\""), ("sh", "-c", "\"$0\"; exit $?")],
                         ids=lambda wrapper: " ".join(wrapper))
@pytest.mark.parametrize("kind", ["whole", "stripped"])
def test_below_a_wrapper_the_target_has_the_programs_name(directory, programs, wrapper, kind):
    """From inside or, of one that cannot be, from outside, as without the wrapper."""
    stripped, reason, remedy = programs["stripped"]
    path = stripped.with_name(kind)
    with Daemon(directory) as daemon, run_below(directory, *wrapper, path) as run:
        t = daemon.wait_state(kind, "RUNNING")
        assert {u.target for u in daemon.status().targets} == {kind}
        assert t.uri.startswith("outside:") == (kind == "stripped") and not t.run_info.process_only
        if kind == "stripped":
            wait_for(lambda: process(daemon, kind), "a sample of it")
        _, err = run.communicate(timeout=DEADLINE_S)
        assert run.returncode == 0 and f"{kind} ended with status 0" in err and "was not watched" not in err, err
        assert ("is watched from outside" in err and reason in err and remedy in err) == (kind == "stripped"), err
        daemon.wait_state(kind, "ENDED")


def test_below_a_wrapper_a_name_that_is_given_is_kept(directory, programs):
    with Daemon(directory) as daemon, run_below(directory, "timeout", "60", programs["stripped"][0], name=("--name", "x")) as run:
        wait_for(lambda: (t := daemon.target("x")) and t.uri.startswith("outside:") and t.runs, "the program")
        run.communicate(timeout=DEADLINE_S)
        daemon.wait_state("x", "ENDED")


def test_below_a_wrapper_with_a_cleared_environment(directory, programs):
    path = programs["stripped"][0].with_name("whole")
    with Daemon(directory) as daemon, run_below(directory, "env", "-i", "sh", "-c", f"{path}; exit 3") as run:
        t = daemon.wait_state("whole", "RUNNING")
        assert t.uri.startswith("outside:")
        _, err = run.communicate(timeout=DEADLINE_S)
        assert run.returncode == 3 and "environment that had been cleared" in err and "heapwatch attach PID" in err, err


@pytest.mark.parametrize("follow", [(), ("--follow",)], ids=["", "--follow"])
def test_what_a_wrapper_starts_besides_is_said_to_be_unwatched(directory, programs, follow):
    """And its status is the wrapper's, not that of the program that is watched. Telling it ends none by a limit of files."""
    path = programs["stripped"][0].with_name("whole")
    script = " && ".join([str(path)] * 5) + " && exit 3"
    with Daemon(directory) as daemon, run_below(directory, "prlimit", "--fsize=40", "sh", "-c", script, name=follow) as run:
        daemon.wait_state("whole", "RUNNING")
        _, err = run.communicate(timeout=DEADLINE_S)
        assert run.returncode == 3 and re.search(r"the command that started whole(~\d)? ended with status 3 ", err), err
        assert ("; whole and 3 more, started as well, were left unwatched: use --follow" in err) == (not follow), err


def test_a_heap_that_begins_late_is_found_from_outside(directory):
    """Its C main does other things first."""
    program = compile_haskell("late", "Serve", "-no-hs-main", f"{SOURCES}/late.c")
    with Daemon(directory) as daemon, run_below(directory, program, name=("--no-agent",)) as run:
        wait_for(lambda: (t := daemon.target("late")) and t.uri.startswith("pid:") and t.runs, "its process")
        run.stdin.write("begin")
        run.stdin.flush()
        wait_for(lambda: (t := daemon.target("late")).uri.startswith("outside:") and t.runs, "its heap")
        _, err = run.communicate(timeout=DEADLINE_S)
        assert "only the process is watched" in err and "is watched from outside" in err, err


def test_ghci_below_a_wrapper_is_no_tool_that_is_skipped(directory):
    with Daemon(directory) as daemon, run_below(directory, "sh", "-c", "ghc --interactive -v0 -ignore-dot-ghci; exit") as run:
        wait_for(lambda: (t := daemon.target("ghc")) and t.uri.startswith("outside:") and t.runs, "GHCi")
        run.communicate(timeout=DEADLINE_S)
