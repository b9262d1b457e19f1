# SPDX-License-Identifier: BSD-3-Clause
"""The agent in real programs of the system's GHC, built without any flag: what it shows, and what it does not touch."""
import concurrent.futures
import contextlib
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading

import pytest

from harness import (BUILD, CLIENT, DEADLINE_S, LOGS, ROOT, VALGRIND, Daemon, Programs, end_input, pb, require_another_user, running,
                     under_yama, wait_for)

AGENT = BUILD / "libheapwatch-agent.so"
BUILDS = {"threaded": ["-threaded"], "plain": [], "threaded-log": ["-threaded", "-eventlog"], "plain-log": ["-eventlog"]}


@pytest.fixture(scope="module")
def bare():
    """Programs built without regard to heapwatch: only the flags in the name."""
    recipes = {name: (name, "Exits", *flags) for name, flags in BUILDS.items()}
    recipes |= {f"serve-{name}": (f"serve-{name}", "Serve", *flags) for name, flags in BUILDS.items()}
    recipes["linked"] = ("linked", "Serve", "-threaded", "-optl-Wl,-u,heapwatch_agent_attach", f"-optl{BUILD / 'libheapwatch-agent.a'}")
    recipes["stripped"] = ("stripped", "Exits", "-threaded", "-optl-s")
    recipes["own"] = ("own", "Serve", "-threaded", "-eventlog", "-with-rtsopts=-l --nonmoving-gc")
    return Programs(recipes)


@contextlib.contextmanager
def watched(directory, *command, settings="", **kwargs):
    """A program with the agent in it."""
    env = {**os.environ, "LD_PRELOAD": str(AGENT), "HEAPWATCH_AGENT": f"socket={directory}/agent;{settings}"}
    with running(*command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                 cwd=directory, **kwargs) as process:
        yield process


def connect(directory):
    def attempt():
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(DEADLINE_S)
        try:
            s.connect(str(directory / "agent"))
        except OSError:
            s.close()
            return None
        return s

    return wait_for(attempt, "the agent's socket")


class Asker:
    """A connection that reads the log and asks."""

    def __init__(self, directory):
        self.socket, self.log, self.last = connect(directory), b"", 0

    def read_until(self, pattern):
        def found():
            m = re.search(pattern, self.log, re.S)
            if not m:
                part = self.socket.recv(1 << 20)
                assert part, "the log has ended"
                self.log += part
            return m

        return wait_for(found, pattern, poll_s=0)

    def ask(self, request):
        self.last += 1
        self.socket.sendall(f"{self.last} {request}\n".encode())
        m = self.read_until(rb"heapwatch-agent: answer %d (ok|no) ?([ -~]*)" % self.last)
        return m.group(1) == b"ok", m.group(2).decode()


def of_every_build(directory, check):
    """One check of every build, all at the same time, each in its own directory."""
    def one(build):
        (directory / build).mkdir(mode=0o700)
        check(directory / build, build)

    with concurrent.futures.ThreadPoolExecutor(len(BUILDS)) as pool:
        done = {build: pool.submit(one, build) for build in BUILDS}
    for build, future in done.items():
        if future.exception():
            raise AssertionError(f"of the build {build}") from future.exception()


def test_a_program_built_without_any_flag_is_watched_live(directory, bare):
    """Bands by closure type and live data, in the daemon, while the program runs; no file is left."""
    def check(directory, build):
        before = set(os.listdir(directory))
        with Daemon(directory, f"p=unix:{directory}/agent") as daemon, \
                watched(directory, bare[f"serve-{build}"], settings="interval=0.1;flush=0.1;budget=0") as program:
            wait_for(lambda: "census" in daemon.snapshot("p"), "a census")
            run = daemon.target("p").run_info
            assert run.pid == program.pid and run.ghc_version.startswith("9.0.")

            def kept():
                return max((u.census.total_bytes for u in daemon.snapshot("p").get("census", [])), default=0)

            first = wait_for(kept, "bands")
            wait_for(lambda: kept() > first + (1 << 20), "bands that grow")
            end_input(program)
            ended = daemon.wait_state("p", "ENDED", "WAITING")
            assert ended.runs == 1 and daemon.health("p").lost_bytes == 0
            assert program.stderr.read() == ""
        left = set(os.listdir(directory)) - before
        assert not [f for f in left if f.endswith((".hp", ".eventlog", ".pid")) or f == "agent"], left

    of_every_build(directory, check)


def test_requests(directory, bare):
    def check(directory, build):
        with watched(directory, bare[f"serve-{build}"], settings="interval=60;flush=0.1;max-pause=0") as program:
            a = Asker(directory)
            a.read_until(rb"datb")
            wait_for(lambda: "heap=T" in a.ask("status")[1], "the heap profile")
            ok, status = a.ask("status")
            assert ok and f"threaded={int('threaded' in build)}" in status and "ghc=9.0.2" in status
            assert ("log=runtime" if "log" in build else "log=synthetic") in status
            censuses = a.log.count(b"ARR_WORDS")
            assert a.ask("census")[0]
            wait_for(lambda: a.read_until(rb".") and a.ask("status") and a.log.count(b"ARR_WORDS") > censuses, "a census asked for")
            assert a.ask("flush 0.05") == (True, "") and a.ask("budget 5") == (True, "")
            assert a.ask("heap none")[0] and "heap=-" in a.ask("status")[1]
            assert a.ask("census") == (False, "there is no heap profile")
            assert a.ask("heap T")[0] and "heap=T" in a.ask("status")[1]
            assert a.ask("stop")[0]
            late = Asker(directory)
            assert "log=off" in late.ask("status")[1]
            assert late.ask("start")[0]
            late.read_until(rb"datb.*datb")
            assert "log=" in late.ask("status")[1] and "log=off" not in late.ask("status")[1]
            end_input(program)

    of_every_build(directory, check)


@pytest.mark.slow
def test_censuses_are_those_that_were_asked_for(directory, bare):
    """Not by the runtime's own timer, which would take ten a second; by `ctl census`, which says when one was taken."""
    env = {"HEAPWATCH_DIR": str(directory)}

    def asked(*words):
        return subprocess.run([CLIENT, "ctl", *words], env={**os.environ, **env}, capture_output=True, text=True, timeout=DEADLINE_S)

    for build in BUILDS:
        with Daemon(directory, f"p=unix:{directory}/agent"), \
                watched(directory, bare[f"serve-{build}"], settings="interval=3600;flush=0.1;max-pause=0") as program:
            wait_for(lambda: "heap=T" in asked("agent", "p", "status").stdout, "the heap profile")
            before = int(re.search(r" taken=(\d+)", asked("agent", "p", "status").stdout)[1])
            for _ in range(3):
                done = asked("census", "p")
                assert done.returncode == 0 and done.stdout.startswith("a census of p was taken"), done.stderr
            status = asked("agent", "p", "status").stdout
            assert int(re.search(r" taken=(\d+)", status)[1]) <= before + 4, status  # 3, and the first of the profile
            assert asked("agent", "p", "heap", "none").stdout == "done\n"
            refused = asked("census", "p")
            assert refused.returncode == 1 and "there is no heap profile" in refused.stderr
            end_input(program)
            assert "no agent answers" in wait_for(lambda: (d := asked("census", "p")).returncode == 1 and d, "an error").stderr
    with Daemon(directory, f"log={LOGS / 'steady-gc-ghc9103' / 'run.eventlog'}"):
        assert "where there is no agent: start the program" in asked("census", "log").stderr
        assert "there is no target 'nobody'" in asked("census", "nobody").stderr


def test_a_late_reader_gets_all_definitions(directory, bare):
    with watched(directory, bare["serve-threaded-log"], settings="interval=0.1;flush=0.05;budget=0") as program:
        first = Asker(directory)
        first.read_until(rb"ARR_WORDS")
        first.socket.close()
        with Daemon(directory, f"p=unix:{directory}/agent") as daemon:
            wait_for(lambda: "census" in daemon.snapshot("p"), "a census")
            run = daemon.target("p").run_info
            assert run.pid == program.pid and run.ghc_version == "9.0.2"
            end_input(program)


class Cutting(threading.Thread):
    """A proxy in front of the agent's socket that ends each connection after some bytes."""

    def __init__(self, directory):
        super().__init__(daemon=True)
        self.agent, self.listener, self.over = directory / "agent", socket.socket(socket.AF_UNIX), False
        self.listener.bind(str(directory / "cut"))
        self.listener.listen()

    def run(self):
        while not self.over:
            ours, _ = self.listener.accept()
            with ours, socket.socket(socket.AF_UNIX) as theirs, contextlib.suppress(OSError):
                theirs.connect(str(self.agent))
                theirs.settimeout(DEADLINE_S)
                for _ in range(1 << 30 if self.over else 40):
                    ours.sendall(theirs.recv(4096))


def test_a_connection_that_breaks_is_the_same_run(directory, bare):
    """Again and again: the agent says its definitions once more, with their own times, and the run goes on after a gap."""
    def check(directory, build):
        proxy = Cutting(directory)
        with watched(directory, bare[f"serve-{build}"], settings="interval=0.1;flush=0.1;budget=0") as program, \
                Daemon(directory, f"p=unix:{directory}/cut") as daemon:
            connect(directory).close()
            proxy.start()
            wait_for(lambda: daemon.health("p").gaps >= 3, "three gaps")
            run = daemon.target("p")
            assert run.runs == 1 and run.run_info.pid == program.pid
            rules = {a.rule for u in daemon.snapshot("p").get("alerts", []) for a in u.alerts.alerts}
            assert not rules & {"crashed", "restart-loop"}
            proxy.over = True
            end_input(program)

    of_every_build(directory, check)


def test_a_reader_that_does_not_read_harms_nobody(directory, bare):
    with watched(directory, bare["serve-threaded-log"], settings="flush=0.02;queue=0.0625;classes=gusp;linger=0") as program:
        stuck = connect(directory)
        reading = Asker(directory)
        reading.read_until(rb"datb")
        wait_for(lambda: "left_out=0 " not in reading.ask("status")[1], "blocks left out for the one that does not read")
        end_input(program)
        stuck.close()


def test_the_environment_is_clean_and_wrappers_are_passed(directory, bare):
    """The first GHC program below a shell is watched; what it starts itself is not."""
    with watched(directory, "sh", "-c", f"{bare['threaded']} exec 0.01 && exec {bare['threaded']} exec-self 0.05",
                 settings="once=1;await=60") as program:
        log = Asker(directory)
        log.read_until(rb"datb")
        out, err = program.communicate(timeout=DEADLINE_S)
        assert program.returncode == 0, err
        assert err == ""        # the second one is skipped silently
    assert (directory / "agent.pid").exists()


def test_linked_in_it_needs_no_variable(directory, bare):
    own = directory / "own"     # which it makes
    env = {**os.environ, "HEAPWATCH_DIR": str(own)}
    with running(bare["linked"], env=env, stdin=subprocess.PIPE, cwd=directory) as program:
        name = f"agent-{program.pid}.sock"
        wait_for((own / name).exists, "the agent's socket at its default place")
        assert own.stat().st_mode & 0o777 == 0o700
        (own / name).rename(directory / "agent")
        a = Asker(directory)
        a.read_until(rb"datb")
        wait_for(lambda: "heap=T" in a.ask("status")[1], "the heap profile")
        end_input(program)


CABAL = """cabal-version: 2.4
name: server
version: 0.1
executable server
  main-is: Serve.hs
  build-depends: base, bytestring, containers
  default-language: Haskell2010
  ghc-options: -threaded
  ld-options: -Wl,-u,heapwatch_agent_attach -l:libheapwatch-agent.a
"""


def test_one_line_in_a_cabal_file(directory):
    """The last one, as docs/AGENT.md has it; no package is fetched."""
    if not shutil.which("cabal"):
        pytest.skip("cabal is not installed here (apt install cabal-install)")
    (directory / "server.cabal").write_text(CABAL)
    (directory / "config").write_text("jobs: 1\n")
    shutil.copy(ROOT / "tests/programs/Serve.hs", directory)
    subprocess.run(["cabal", "v2-build", "-v0", "--offline", f"--extra-lib-dirs={BUILD}"], check=True, cwd=directory,
                   env={**os.environ, "CABAL_DIR": str(directory), "HOME": str(directory)}, capture_output=True)
    program, = (path for path in (directory / "dist-newstyle").rglob("server") if path.is_file())
    env = {**os.environ, "HEAPWATCH_AGENT": f"socket={directory}/agent"}
    with running(program, env=env, stdin=subprocess.PIPE) as process:
        Asker(directory).read_until(b"ARR_WORDS")
        end_input(process)


@pytest.mark.parametrize("settings", ["", "symbols=9.0.2,1,2,defaultRtsConfig,400000,70,RtsFlags,400000,1b8"], ids=["nothing", "others"])
def test_a_stripped_program_says_why_and_runs(directory, bare, settings):
    """Also with the addresses of another program."""
    with watched(directory, bare["stripped"], "print", "0.01", settings=settings) as program:
        out, err = program.communicate(timeout=DEADLINE_S)
    assert program.returncode == 0 and out == "fine\n"
    assert "the program is stripped" in err and err.count("\n") == 1


def no_sockets():
    """From now on socket(2) is refused, as by a service's filter: EPERM."""
    import ctypes
    import struct
    load, equal, ret = 0x20, 0x15, 0x06
    program = b"".join(struct.pack("HBBI", *i) for i in (
        (load, 0, 0, 0), (equal, 0, 1, 41), (ret, 0, 0, 0x00050001), (ret, 0, 0, 0x7fff0000)))   # x86-64: socket is 41
    code = ctypes.create_string_buffer(program)
    filter_ = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 4, ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, filter_) == 0


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of x86-64")
def test_a_service_that_may_have_no_sockets(directory, bare):
    with watched(directory, bare["threaded"], "print", "0.05", preexec_fn=no_sockets) as program:
        out, err = program.communicate(timeout=DEADLINE_S)
    assert (program.returncode, out) == (0, "fine\n")
    assert "cannot listen" in err and "Operation not permitted" in err and err.count("\n") == 1
    assert os.listdir(directory) == []


class Yama:
    """kernel.yama.ptrace_scope 1, by a stand-in for the kernel's part (tests/programs/yama.c)."""

    def __init__(self, directory):
        self.prefix, self.tracer, self.preload = under_yama(directory, "1"), directory / "tracer", directory / "yama.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", self.preload, ROOT / "tests/programs/yama.c"], check=True)
        self.env = {**os.environ, "YAMA_TRACER": str(self.tracer), "HEAPWATCH_DIR": str(directory)}

    def command(self, *words):
        return [*self.prefix, "env", f"LD_PRELOAD={self.preload}", CLIENT, *map(str, words)]

    def heapwatch(self, *words):
        return subprocess.run(self.command(*words), env=self.env, capture_output=True, text=True, timeout=DEADLINE_S)


def test_who_asks_may_trace_where_yama_forbids_it(directory, bare):
    """Without an agent it is refused."""
    yama = Yama(directory)
    with running(bare["serve-threaded"], "1", stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=directory,
                 env={**yama.env, "LD_PRELOAD": f"{AGENT}:{yama.preload}", "HEAPWATCH_AGENT": f"socket={directory}/agent"}) as program:
        connect(directory).close()
        for verb in (["heap"], ["threads"], ["profile", "--for", "1s"]):
            yama.tracer.unlink(missing_ok=True)
            done = yama.heapwatch(verb[0], program.pid, *verb[1:])
            assert done.returncode == 0 and f"process {program.pid}" in done.stdout, (verb, done)
            assert yama.tracer.read_text().strip() not in ("", "0", str(program.pid))
    yama.tracer.unlink()
    with running(bare["serve-threaded"], "1", stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=directory) as program:
        done = yama.heapwatch("heap", program.pid)
        assert done.returncode == 2 and "does not let us inspect" in done.stderr and not yama.tracer.exists(), done


def test_what_run_starts_without_an_agent_may_be_traced_under_yama(directory, bare):
    yama = Yama(directory)
    with Daemon(directory) as daemon, \
            running(*yama.command("run", "--no-top", "--no-agent", "--name", "x", "--", bare["serve-threaded"], "1"), env=yama.env,
                    stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
        assert "is watched from outside" in run.stderr.readline()
        target = daemon.wait_state("x", "RUNNING")
        assert target.uri.startswith("outside:")
        done = yama.heapwatch("heap", target.run_info.pid)
        assert done.returncode == 0 and f"process {target.run_info.pid}" in done.stdout, done


def in_namespaces(script):
    """A shell that may mount and chroot; what it mounts goes with it."""
    command = ["unshare", "--map-root-user", "--mount", "sh", "-ec", script]
    if subprocess.run([*command[:-1], "mount --rbind /proc /mnt"], capture_output=True).returncode != 0:
        pytest.skip("user namespaces are not allowed here")
    return command


def make_jail(directory, program):
    """A root with this program, its libraries and the agent, at the path that this has outside."""
    jail = directory / "jail"
    used = re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout)
    for path in (*used, AGENT):
        (jail / str(path)[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, jail / str(path)[1:])
    shutil.copy(program, jail / "program")
    for name in ("proc", "dev", str(directory)[1:]):
        (jail / name).mkdir(mode=0o700, parents=True)
    (jail / "dev/null").touch()
    return jail


def test_in_a_chroot(directory, bare):
    """With /proc it is watched as anywhere, also without /dev/null; without, one sentence says what is not possible."""
    jail = make_jail(directory, bare["threaded"])
    inside = jail / str(directory)[1:]

    def run_with(*mounts, way="print"):
        mounts = "".join(f"mount --rbind /{name} {jail}/{name};" for name in mounts)
        return watched(directory, *in_namespaces(f"{mounts} exec chroot {jail} /program {way} 0.3"), settings="await=60;once=1")

    with run_with("proc", "dev/null") as program:
        Asker(inside).read_until(rb"datb.*\xff\xff$")
        assert program.communicate(timeout=DEADLINE_S) == ("fine\n", "") and program.returncode == 0
    assert os.listdir(inside) == ["agent.pid"]
    (inside / "agent.pid").unlink()
    (jail / "dev/null").unlink()
    with run_with("proc", way="collect") as program:
        reader = Asker(inside)
        reader.read_until(rb"ARR_WORDS.*\xff\xff$")
        assert program.communicate(timeout=DEADLINE_S) == ("", "") and program.returncode == 0
    (inside / "agent.pid").unlink()
    with run_with() as program:
        out, err = program.communicate(timeout=DEADLINE_S)
    assert (program.returncode, out) == (0, "fine\n")
    assert "there is no /proc here" in err and err.count("\n") == 1


def test_on_a_full_disk_it_claims_no_socket(directory, bare):
    """So that who started it watches it in another way."""
    full = f"mount -t tmpfs -o size=4k,mode=700 full {directory}; head -c 4096 /dev/zero > {directory}/all;"
    with watched(directory, *in_namespaces(f"{full} {bare['plain']} print 0.1; ls {directory}"), settings="await=60;once=1") as program:
        out, err = program.communicate(timeout=DEADLINE_S)
    assert (program.returncode, out) == (0, "fine\nall\n") and "agent.pid: No space left on device" in err


def test_a_program_that_goes_into_a_chroot(directory, bare):
    """It is watched to its end; of the socket the name stays, which it cannot reach any more."""
    empty = directory / "empty"
    empty.mkdir()
    with watched(directory, *in_namespaces(f"cd {empty}; exec {bare['threaded']} chroot 0.3"), settings="await=60") as program:
        reader = Asker(directory)
        reader.read_until(rb"datb.*\xff\xff$")
        out, err = program.communicate(timeout=DEADLINE_S)
    assert (program.returncode, out, err) == (0, "fine\n", "")
    assert os.listdir(empty) == []


def test_many_at_once_below_one_wrapper(directory, bare):
    """One is watched, the others are silently left alone, also those that fork themselves."""
    each = f"{bare['threaded']} fork 0.2 & {bare['plain']} fork-status 0.1 & {bare['threaded-log']} exec-self 0.1 &"
    with watched(directory, "sh", "-c", each * 10 + " wait", settings="once=1;await=60;flush=0.02") as program:
        log = Asker(directory)
        log.read_until(rb"datb")
        out, err = program.communicate(timeout=DEADLINE_S)
    assert (program.returncode, err) == (0, "")
    assert sorted(os.listdir(directory)) == ["agent.pid"]


def test_readers_are_killed_and_replaced(directory, bare):
    """In the middle of a block, with answers on their way, more at once than there are places."""
    with watched(directory, bare["serve-threaded-log"], settings="flush=0.02;interval=0.05;budget=0;queue=0.0625") as program:
        for turn in range(12):
            many = [connect(directory) for _ in range(6)]
            for i, s in enumerate(many):
                with contextlib.suppress(ConnectionError):      # there are four places
                    s.sendall(b"1 status\n2 census\n" * 3)
                    if i % 2:
                        s.recv(100 * turn + 1)
                s.close()

        def one_of_its_own():
            a = Asker(directory)
            with contextlib.suppress(AssertionError, ConnectionError):
                return a.ask("status")[0]
        wait_for(one_of_its_own, "an answer, once there is a place")
        end_input(program)


def name_of_target(daemon, pid):
    """Of the process that a program has left, once its log has come."""
    def seen():
        for u in daemon.status().targets:
            if u.WhichOneof("body") == "target_state" and u.target_state.state == pb.Target.STATE_RUNNING \
                    and u.target_state.run_info.pid == pid:
                return u.target
        return None

    return wait_for(seen, f"process {pid} to be watched")


@pytest.mark.slow
@pytest.mark.parametrize("way", ["run --follow", "attach, preloaded before", "attach"])
def test_a_program_that_becomes_a_daemon(directory, bare, way):
    """It forks twice by forkProcess: what goes on is watched, with bands, under its own number."""
    def check(directory, build):
        env = {**os.environ, "HEAPWATCH_DIR": str(directory)}
        command = [bare[build], "daemon", f"0.2{os.getpid()}"]    # found by it: other tests have programs of that name

        def heapwatch(*arguments):
            done = subprocess.run([CLIENT, *map(str, arguments)], env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                  timeout=DEADLINE_S)
            return done.returncode, done.stdout + done.stderr

        def left():
            """The last process; the one between it and the first leads a session, and will end."""
            out = subprocess.run(["pgrep", "-f", f"^{command[0]} daemon {command[2]}$"], capture_output=True, text=True).stdout.split()
            with contextlib.suppress(ProcessLookupError):
                return int(out[0]) if len(out) == 1 and os.getsid(int(out[0])) != int(out[0]) else None
            return None

        with Daemon(directory) as daemon:
            pid = None
            try:
                if way == "run --follow":
                    status, said = heapwatch("run", "--no-top", "--follow", "--name", "first", "--", *command)
                    assert status == 0 and "unwatched" not in said, said
                elif way == "attach":
                    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, timeout=DEADLINE_S)
                else:
                    status, said = heapwatch("run", "--no-top", "--name", "first", "--", *command)
                    assert status == 0 and "a process that it has forked goes on, unwatched" in said, said
                pid = wait_for(left, "the program to be a daemon")
                if way != "run --follow":
                    status, said = heapwatch("attach", pid, "--name", "mine")
                    assert status == 0, said
                name = name_of_target(daemon, pid)
                assert name.startswith(build if way == "run --follow" else "mine"), name
                wait_for(lambda: "census" in daemon.snapshot(name), "a census")
                if way != "run --follow":
                    status, said = heapwatch("detach", pid)
                    assert status == 0 and left() == pid, said
            finally:
                if pid or left():
                    os.kill(pid or left(), signal.SIGKILL)

    of_every_build(directory, check)


@pytest.mark.parametrize("stopped", [False, True], ids=["heapwatchd answers", "heapwatchd answers when run has ended"])
def test_a_daemon_whose_agent_begins_late(directory, bare, stopped):
    """A runtime without a log is served from its first collection on: while the daemon runs towards it, `run` waits."""
    with Daemon(directory) as daemon:
        command = ["run", "--no-top", "--follow", "--name", "first", "--", bare["plain"], "daemon-late", f"0.2{os.getpid()}"]
        with open(directory / "errors", "w") as errors, running(
                CLIENT, *command, env={**os.environ, "HEAPWATCH_DIR": str(directory)}, stdin=subprocess.DEVNULL, stderr=errors) as run:
            wait_for(lambda: daemon.target("first"), "the first process")
            if stopped:
                os.kill(daemon.process.pid, signal.SIGSTOP)
            run.wait(DEADLINE_S)
            os.kill(daemon.process.pid, signal.SIGCONT)
        assert run.returncode == 0 and "unwatched" not in (errors := (directory / "errors").read_text()), errors
        (pid,) = map(int, subprocess.run(["pgrep", "-f", f"^{bare['plain']} daemon-late {command[-1]}$"], capture_output=True,
                                         text=True).stdout.split())
        try:
            assert name_of_target(daemon, pid) == "plain"
        finally:
            os.kill(pid, signal.SIGKILL)


FILTER = """import ctypes, os, struct, sys
libc, action = ctypes.CDLL(None, use_errno=True), {"kill": 0x80000000, "errno": 0x50001}[sys.argv[1]]
code = [struct.pack("HBBI", 0x20, 0, 0, 0)]
for number in sys.argv[2].split(","):
    code += [struct.pack("HBBI", 0x15, 0, 1, int(number)), struct.pack("HBBI", 6, 0, 0, action)]
code.append(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
text = ctypes.create_string_buffer(b"".join(code))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code), ctypes.addressof(text)))
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0, os.strerror(ctypes.get_errno())
env = dict(os.environ, **dict(a.split("=", 1) for a in sys.argv[3:5]))
os.execve(sys.argv[5], sys.argv[5:], env)
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="has the numbers of system calls of one machine")
def test_filters_of_system_calls(directory, bare):
    """What ends the program at a call that it does not make itself: it runs unwatched, and says why. An error is none."""
    def run(build, action, number, watch):
        more = [f"LD_PRELOAD={AGENT}", f"HEAPWATCH_AGENT=socket={directory}/{build}/agent"] if watch else ["A=", "B="]
        done = subprocess.run([sys.executable, "-c", FILTER, action, str(number), *more, bare[build], "print", "0.02"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DEADLINE_S, cwd=directory)
        return done.returncode, done.stdout, done.stderr

    calls = {"socket": 41, "bind": 49, "listen": 50, "accept4": 288, "unlink": 87, "chmod": 90, "symlink": 88, "getpid": 39,
             "gettid": 186, "flock": 73, "getdents64": 217}

    def check(_, build):
        for name, number in {**calls, **({} if "threaded" in build else {"fcntl": 72})}.items():
            assert run(build, "kill", number, False) == (0, "fine\n", ""), name
            status, out, err = run(build, "kill", number, True)
            assert (status, out) == (0, "fine\n"), (name, status)
            assert "its system call filter (seccomp) would end it at" in err and name in err
        assert run(build, "errno", calls["unlink"], True) == (0, "fine\n", "")

    of_every_build(directory, check)


@pytest.mark.skipif(VALGRIND, reason="needs the address space itself")
@pytest.mark.parametrize("build", ["threaded", "plain"])
def test_address_space_is_left_to_the_program(directory, bare, build):
    """
    Under RLIMIT_AS, which GHC's heap takes a share of: what fits alone fits watched with 8 MiB more. At some limits the
    program alone fails in one start of twenty, when its threads meet in malloc: so watched, three starts of five must do.
    """
    def fits(limit_mib, settings=None):
        def once():
            env = dict(os.environ)
            if settings is not None:
                env.update(LD_PRELOAD=str(AGENT), HEAPWATCH_AGENT=f"socket={directory}/agent;{settings}")
            done = subprocess.run([bare[build], "print", "0.02"], env=env, cwd=directory, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=DEADLINE_S,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit_mib << 20,) * 2))
            return (done.returncode, done.stdout, done.stderr) == (0, "fine\n", "")

        return all(once() for _ in range(3)) if settings is None else sum(once() for _ in range(5)) >= 3

    too_small, enough = 32, 512
    while enough - too_small > 1:
        middle = (too_small + enough) // 2
        too_small, enough = (too_small, middle) if fits(middle) else (middle, enough)
    for limit in (enough, enough + 64, enough + 150, 684, 976):
        assert not fits(limit) or fits(limit + 8, "interval=0.01;flush=0.01;budget=0"), f"of {enough} MiB at least, with {limit} MiB"


def test_with_few_open_files_the_program_is_left_alone(directory, bare):
    """It may need each of them."""
    for build in BUILDS:
        for limit in (5, 9, 12, 63):
            command = ["prlimit", f"--nofile={limit}", "--", bare[build], "print", "0.02"]
            alone = subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DEADLINE_S)
            with watched(directory, *command) as program:
                out, err = program.communicate(timeout=DEADLINE_S)
            # With too few the runtime itself ends, by an abort or with status 1, as its threads happen to run.
            assert (program.returncode == 0, out) == (alone.returncode == 0, alone.stdout)
            said = [line for line in err.splitlines() if line.startswith("heapwatch-agent")]
            assert alone.returncode or [line for line in err.splitlines() if line not in said] == alone.stderr.splitlines()
            assert not said or f"its limit of open files is {limit}" in said[0]
    assert not os.path.exists(f"{directory}/agent")


def test_options_of_the_build_are_the_programs_own(directory, bare):
    """-with-rtsopts: its log is written, and its collector's refusal of heap profiles is known."""
    with watched(directory, bare["own"], settings="flush=0.05") as process:
        Asker(directory).read_until(b"the program's collector refuses heap profiles")
        end_input(process)
    done = subprocess.run([CLIENT, "summary", f"{directory}/own.eventlog"], capture_output=True, text=True)
    assert "the log ended with its end marker" in done.stdout, done.stderr
    done = subprocess.run([CLIENT, "doctor", "--flags", bare["own"]], capture_output=True, text=True)
    assert "-hT -i1 --copying-gc" in done.stdout, done


@pytest.mark.parametrize("options, said", [(["+RTS", "-xn"], "the program's collector refuses heap profiles")])
def test_nothing_is_added_that_the_runtime_would_refuse(directory, bare, options, said):
    with watched(directory, bare["serve-threaded-log"], *options, settings="interval=0.05;flush=0.05;budget=0") as program:
        a = Asker(directory)
        a.read_until(said.encode())
        assert "heap=-" in a.ask("status")[1]
        assert not a.ask("heap T")[0]
        end_input(program)


def test_the_programs_own_log_is_written_too(directory, bare):
    with watched(directory, bare["serve-threaded-log"], "+RTS", "-l", f"-ol{directory}/own", settings="flush=0.05") as program:
        a = Asker(directory)
        a.read_until(rb"datb.")
        end_input(program)
    done = subprocess.run([CLIENT, "summary", f"{directory}/own"], capture_output=True, text=True)
    assert "the log ended with its end marker" in done.stdout
    with watched(directory, bare["threaded-log"], "fork", "0.02", "+RTS", "-l") as program:
        program.communicate(timeout=DEADLINE_S)
    assert program.returncode == 0
    assert len(list(directory.glob("threaded-log.*.eventlog"))) == 1, "the child's"


@pytest.mark.parametrize("options", [(), ("+RTS", "-l", "-olown")], ids=["no log of its own", "with its own log"])
def test_a_program_that_calls_the_file_writer_itself(directory, programs, options):
    """As tests/programs/flush.c does under GHC 9.0: without a file this would crash, and take the bytes away from us."""
    with watched(directory, programs["steady"], "1", "more", *options, settings="flush=1000") as program:
        a = Asker(directory)
        a.read_until(rb"datb.*\0\x12.*\0\x12.*\0\x12")         # blocks, although we do not flush
        stopped, why = a.ask("stop")
        assert stopped == (not options), why
        end_input(program)
    if options:
        done = subprocess.run([CLIENT, "summary", f"{directory}/own"], capture_output=True, text=True)
        assert "the log ended with its end marker" in done.stdout, done.stdout + done.stderr


def test_the_socket_is_the_users_own(directory, bare):
    with watched(directory, bare["serve-threaded"]) as program:
        connect(directory).close()
        assert (directory / "agent").stat().st_mode & 0o777 == 0o600
    open_to_all = directory / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    with watched(open_to_all, bare["threaded"], "print", "0.01") as program:
        out, err = program.communicate(timeout=DEADLINE_S)
    assert out == "fine\n" and "belongs to you" in err


def test_another_user_is_not_answered(directory, bare):
    """Whatever became of the modes of the socket and its directory."""
    require_another_user()
    script = f"import os, socket; os.setgid(65534); os.setuid(65534); s = socket.socket(socket.AF_UNIX); s.settimeout({DEADLINE_S}); " \
             f"s.connect('{directory}/agent'); print(s.recv(100))"
    with watched(directory, bare["serve-threaded"]):
        connect(directory).close()
        directory.chmod(0o755)
        (directory / "agent").chmod(0o666)
        assert subprocess.run(["/usr/bin/python3", "-c", script], capture_output=True, check=True).stdout == b"b''\n"
        Asker(directory).read_until(rb"datb")


def test_a_reader_of_another_user_is_answered(directory, bare):
    """The one that `reader` names, if the system lets it come to the socket."""
    require_another_user()
    script = f"import os, socket; os.setuid(USER); s = socket.socket(socket.AF_UNIX); s.settimeout({DEADLINE_S}); " \
             f"s.connect('{directory}/agent'); print(s.recv(4))"
    with watched(directory, bare["serve-threaded"], settings="reader=65533"):
        connect(directory).close()
        directory.chmod(0o755)
        (directory / "agent").chmod(0o666)
        for user, said in ((65533, b"b'hdrb'\n"), (65534, b"b''\n")):
            done = subprocess.run(["/usr/bin/python3", "-c", script.replace("USER", str(user))], capture_output=True, check=True)
            assert done.stdout == said, user


def test_many_starts_and_ends(bare):
    """A small part of what `make agent-stress` does."""
    done = subprocess.run([sys.executable, ROOT / "tests/agent/stress.py", "--agent", AGENT, "--heapwatch", CLIENT, "--runs", "40",
                           "--jobs", "8", "--seed", str(os.getpid()), *(bare[b] for b in BUILDS)], capture_output=True, text=True)
    assert done.returncode == 0 and "nothing wrong" in done.stdout, done.stdout + done.stderr


def test_many_starts_and_ends_through_run(bare):
    """The same status, output and standard error as without, and every one is watched."""
    jobs = "1" if VALGRIND else "8"         # a daemon that answers after a second has missed a program of 150 ms
    done = subprocess.run([sys.executable, ROOT / "tests/agent/stress.py", "--through-run", "--heapwatch", CLIENT, "--runs", "40",
                           "--jobs", jobs, "--seed", str(os.getpid()), *(bare[b] for b in BUILDS)], capture_output=True, text=True)
    assert done.returncode == 0 and "nothing wrong" in done.stdout, done.stdout + done.stderr
