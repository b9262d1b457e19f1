# SPDX-License-Identifier: BSD-3-Clause
"""`heapwatch ps`, `attach` and `detach` with programs that were built and started without any flag."""
import concurrent.futures
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from harness import BUILD, CLIENT, DAEMON, DEADLINE_S, LONG, ROOT, SOURCES, Daemon, Programs, client, copy_program, heapwatch, pb, private_directory, require, require_another_user, require_tracing, running, wait_for

BUILDS = {"threaded": ["-threaded"], "plain": [], "threaded-log": ["-threaded", "-eventlog"]}
LOGGING = {"threaded-own": ["-threaded", "-eventlog", "-rtsopts"], "plain-own": ["-eventlog", "-rtsopts"]}


@pytest.fixture(scope="module")
def tracing():
    require_tracing()


@pytest.fixture(scope="module")
def serving():
    recipes = {name: (f"serving-{name}", "Serve", *flags) for name, flags in {**BUILDS, **LOGGING}.items()}
    recipes["linked"] = ("linked", "Serve", "-threaded", "-optl-Wl,-u,heapwatch_agent_attach", f"-optl{BUILD / 'libheapwatch-agent.a'}")
    recipes["late"] = ("late", "Serve", "-no-hs-main", f"{SOURCES}/late.c")
    return Programs(recipes)


def age_s(pid):
    ticks = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


@pytest.mark.usefixtures("tracing")
def test_a_program_in_a_namespace_of_processes(directory, serving):
    """As in a container: it is number 1 there, and the host's number everywhere here."""
    apart = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
    require("a namespace of processes", *apart, "true")
    program = serving["threaded"]
    with Daemon(directory) as daemon, running(*apart, program, stdin=subprocess.PIPE) as wrapper, \
            running(CLIENT, "run", "--no-top", "--name", "r", "--", *apart, program, stdin=subprocess.PIPE,
                    env={**os.environ, "HEAPWATCH_DIR": str(directory)}) as run:
        def below(pid):
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            return int(children[0]) if children else None

        inner = wait_for(lambda: below(wrapper.pid), "the program")
        wait_for(lambda: age_s(inner) > 2 and Path(f"/proc/{inner}/exe").readlink().name == program.name, "its start")
        assert heapwatch(directory, "attach", inner, "--name", "c").returncode == 0
        for name, pid in (("c", inner), ("r", wait_for(lambda: (p := below(run.pid)) and below(p), "the program of run"))):
            info = wait_for(lambda name=name: (t := daemon.target(name)) and t.run_info.local and t.run_info, "the process")
            assert info.pid == pid
        done = heapwatch(directory, "detach", "c")
        assert done.returncode == 0 and daemon.target("c") is None, done
        os.kill(pid, signal.SIGKILL)        # unshare ignores what would end it
        run.wait(DEADLINE_S)


@pytest.mark.usefixtures("tracing")
def test_a_c_library_that_was_replaced(directory, serving):
    """By what would hold up whoever opens it, or end whoever maps it."""
    mapped = Path(subprocess.run(["ldd", serving["plain"]], capture_output=True, text=True).stdout.split("libc.so.6 => ")[1].split()[0])
    for what in ("fifo", "cut", "link"):
        library = directory / what / "libc.so.6"
        library.parent.mkdir()
        shutil.copy(mapped, library)
        with Daemon(directory) as daemon, running(serving["plain"], stdin=subprocess.PIPE,
                                                  env={**os.environ, "LD_LIBRARY_PATH": str(library.parent)}) as program:
            wait_for(lambda: str(library) in Path(f"/proc/{program.pid}/maps").read_text(), "the library")
            library.unlink()
            instead = library.with_name("libc.so.6 (deleted)")
            if what == "fifo":
                os.mkfifo(instead)
            elif what == "link":
                instead.symlink_to("/dev/zero")
            else:
                instead.write_bytes(mapped.read_bytes()[:100000])
            done = heapwatch(directory, "attach", program.pid)
            assert done.returncode == 2 and "C library" in done.stderr, (what, done)
            assert not daemon.status().targets and program.poll() is None


@pytest.mark.long
@pytest.mark.usefixtures("tracing")
@pytest.mark.parametrize("build", BUILDS if LONG else ["plain"])
def test_attach_detach_and_again(directory, serving, build):
    with Daemon(directory) as daemon, running(serving[build], stdin=subprocess.PIPE) as program:
        listed = wait_for(lambda: [line for line in heapwatch(directory, "ps").stdout.splitlines()
                                   if line.split()[0] == str(program.pid)], "the program in the list")
        assert "9.0.2" in listed[0] and listed[0].endswith(" yes")
        wait_for(lambda: age_s(program.pid) > 2, "a program that has run for a while")
        for times in (1, 2):
            done = heapwatch(directory, "attach", program.pid, "--name", "mine")
            assert done.returncode == 0, done.stderr
            wait_for(lambda: "census" in daemon.snapshot("mine"), "bands")
            run = daemon.target("mine").run_info
            assert run.pid == program.pid
            assert abs(time.time() - run.start_wall_ns / 1e9 - age_s(program.pid)) < 1  # known by its start, not ours
            wait_for(lambda: daemon.target("mine").run_info.local, "its process to be watched")
            assert "  watched as mine\n" in heapwatch(directory, "ps").stdout
            done = heapwatch(directory, "detach", program.pid)
            assert done.returncode == 0, done.stderr
            assert not daemon.status().targets, "nor a run before, mine~1"
        assert not list(directory.glob("*.hp"))
        program.stdin.close()
        assert program.wait(DEADLINE_S) == 0


@pytest.mark.long
@pytest.mark.usefixtures("tracing")
@pytest.mark.parametrize("build", BUILDS if LONG else ["threaded"])
def test_requests_do_not_delay_the_judgement_of_growth(directory, serving, build):
    """Their answers come in the log: steps are still closed when all of them has come, not five steps later."""
    step_ns = 1_000_000_000
    with Daemon(directory) as daemon, running(serving[build], stdin=subprocess.PIPE) as program:
        def judged():
            """(event time of the newest message, up to which time live data is judged)"""
            live = [(u.event_time_ns, t.as_of_ns) for u in daemon.snapshot("mine").get("trends", []) for t in u.trends.trends
                    if t.series == pb.SERIES_LIVE]
            return live[0] if live else (0, 0)

        wait_for(lambda: age_s(program.pid) > 1, "a program that has run for a while")
        done = heapwatch(directory, "attach", program.pid, "--name", "mine", "--resolution", "1s")
        assert done.returncode == 0, done.stderr
        wait_for(lambda: judged()[1], "the first step that is judged")
        done = heapwatch(directory, "ctl", "census", "mine")
        assert done.returncode == 0, done.stderr
        asked_ns = judged()[0]
        wait_for(lambda: (now := judged())[1] > asked_ns and now[0] - now[1] < 4 * step_ns, "a later one, without delay")


@pytest.mark.usefixtures("tracing")
@pytest.mark.parametrize("build", ["threaded", "plain"])
def test_several_attach_at_once(directory, serving, build):
    """One after another: each of them ends well, and there is one target."""
    with Daemon(directory) as daemon, running(serving[build], stdin=subprocess.PIPE) as program:
        wait_for(lambda: age_s(program.pid) > 0.5, "the program's runtime to be up")
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            done = list(pool.map(lambda _: heapwatch(directory, "attach", program.pid), range(6)))
        assert [d.returncode for d in done] == [0] * 6, [d.stderr for d in done]
        assert len(daemon.status().daemon.targets) == 1


@pytest.mark.usefixtures("tracing")
def test_a_file_of_any_name_that_is_gone_meanwhile(directory, serving):
    """A wrapper's `.name-wrapped`, and a service whose program was built again since it was started."""
    program = directory / ".Serving (1)-wrapped"
    shutil.copy(serving["threaded"], program)
    with Daemon(directory) as daemon, running(program, stdin=subprocess.PIPE) as process:
        wait_for(lambda: age_s(process.pid) > 1, "a program that has run for a while")
        program.unlink()
        done = heapwatch(directory, "attach", program.name)
        assert done.returncode == 0 and "heapwatch top _Serving--1--wrapped" in done.stdout, done
        wait_for(lambda: "census" in daemon.snapshot("_Serving--1--wrapped"), "bands")


def test_the_agent_is_linked_in(directory, serving):
    """Nothing is loaded into it; a daemon that reads its socket is given it once."""
    program = serving["linked"]
    with Daemon(directory) as daemon:
        with running(program, stdin=subprocess.PIPE, env={**os.environ, "HEAPWATCH_DIR": str(directory)}) as process:
            wait_for(lambda: list(directory.glob("agent-*.sock")), "its socket")
            assert [line for line in heapwatch(directory, "ps").stdout.splitlines()
                    if line.split()[0] == str(process.pid) and line.endswith("the agent is in it")]
            assert heapwatch(directory, "attach", process.pid, "--name", "mine").returncode == 0
            wait_for(lambda: "census" in daemon.snapshot("mine"), "bands")
            assert "libheapwatch-agent" not in Path(f"/proc/{process.pid}/maps").read_text()
            assert heapwatch(directory, "detach", process.pid).returncode == 0
        with running(program, stdin=subprocess.PIPE, env={**os.environ, "HEAPWATCH_AGENT": f"socket={directory}/mine"}) as process:
            wait_for((directory / "mine").exists, "its socket")
            done = heapwatch(directory, "attach", process.pid)
            assert done.returncode == 2 and "linked into it, but its socket is not" in done.stderr, done


@pytest.mark.usefixtures("tracing")
def test_of_two_with_the_same_name_one_is_detached(directory, serving):
    """Each is its own target, found by the socket of its agent, not by its name."""
    program = directory / f"twin-{os.getpid()}"     # others of the same name are looked for on the whole machine
    shutil.copy(serving["threaded"], program)
    with Daemon(directory) as daemon, running(program, stdin=subprocess.PIPE) as one, running(program, stdin=subprocess.PIPE) as other:
        said = [wait_for(lambda: (lambda done: done.returncode == 0 and done)(heapwatch(directory, "attach", p.pid)), "its runtime")
                for p in (one, other)]
        assert f"heapwatch top {program.name}-2" in said[1].stdout
        several = heapwatch(directory, "attach", program.name)
        assert several.returncode == 2 and "2 programs of that name run here" in several.stderr
        for command in (("top", "--once"), ("trend",)):     # where the program is built, its name is still the target's
            shown = subprocess.run([CLIENT, *command, program.name], cwd=program.parent, capture_output=True, text=True,
                                   env={**os.environ, "HEAPWATCH_DIR": str(directory)}, timeout=DEADLINE_S)
            assert shown.returncode == 0 and program.name in shown.stdout, shown
        daemon.wait_state(f"{program.name}-2", "RUNNING")
        again = heapwatch(directory, "attach", other.pid)
        assert again.returncode == 0 and f"heapwatch top {program.name}-2\n" in again.stdout     # no second target
        assert "before is unknown" in said[1].stdout and "it was watched before" in again.stdout, (said, again)
        assert heapwatch(directory, "detach", other.pid).returncode == 0
        taken = heapwatch(directory, "attach", other.pid, "--name", program.name)
        assert taken.returncode == 2 and f"refuses the target {program.name}" in taken.stderr
        assert daemon.target(program.name) and daemon.target(f"{program.name}-2") is None


OTHER_USER = 65534


def bring(place):
    """heapwatch, whole, to where others can start it."""
    for program in (CLIENT, DAEMON):
        copy_program(program, place)
    shutil.copy(BUILD / "libheapwatch-agent.so", place)


@pytest.fixture
def others(directory, serving):
    """others(build): a program of another user, in a place that this user can read, with a directory of its own."""
    require_another_user()
    require_tracing(user=OTHER_USER)
    with private_directory() as place, contextlib.ExitStack() as programs:
        place.chmod(0o755)
        bring(place)
        (place / "own").mkdir(0o700)
        os.chown(place / "own", OTHER_USER, OTHER_USER)

        def start(build):
            shutil.copy(serving[build], place)
            program = programs.enter_context(running(place / f"serving-{build}", stdin=subprocess.PIPE, user=OTHER_USER, group=OTHER_USER,
                                                     extra_groups=[], env={**os.environ, "HEAPWATCH_DIR": str(place / "own")}, cwd=place))
            wait_for(lambda: age_s(program.pid) > 1, "a program that has run for a while")
            return program

        start.heapwatch = lambda *arguments, **more: subprocess.run(
            [place / "heapwatch", *map(str, arguments)], env={**os.environ, "HEAPWATCH_DIR": str(directory)}, capture_output=True,
            text=True, timeout=DEADLINE_S, cwd=place, **more)
        start.place = place
        yield start


@pytest.mark.parametrize("build", ["threaded", "plain"])
def test_root_attaches_to_another_users_program(directory, others, build):
    """Its socket is its user's; root's daemon reads it, and nobody else's does. A daemon that is new finds it, too."""
    program = others(build)
    for restarted in (False, True):
        with Daemon(directory) as daemon:
            for times in (1, 2):
                done = others.heapwatch("attach", program.pid, "--name", "theirs")
                assert done.returncode == 0, done.stderr
                wait_for(lambda: "census" in daemon.snapshot("theirs"), "bands")
                place = others.place / "own" / f"agent-{program.pid}.sock"
                assert place.stat().st_uid == OTHER_USER and place.stat().st_mode & 0o777 == 0o600
                assert daemon.target("theirs").uri == f"unix:/proc/{program.pid}/root{place}"
                asked = others.heapwatch("ctl", "agent", "theirs", "status")
                assert asked.returncode == 0 and " log=" in asked.stdout, asked
                if times == 1:
                    assert others.heapwatch("detach", program.pid).returncode == 0
                    assert not daemon.status().targets
    with Daemon(directory):             # which knows nothing of it
        done = others.heapwatch("detach", program.pid)
        assert done.returncode == 0, done.stderr
    program.stdin.close()
    assert program.wait(DEADLINE_S) == 0


@pytest.mark.parametrize("user", [0, OTHER_USER])
def test_a_program_that_does_not_see_our_directory(directory, serving, user):
    """A container or a chroot: its agent has its socket there, and only root's daemon can read it."""
    require("a mount namespace", "unshare", "--mount", "mount", "-t", "tmpfs", "none", directory)
    with private_directory() as place:
        place.chmod(0o755)
        bring(place)
        shutil.copy(serving["threaded"], place)
        os.chown(directory, user, user)
        env = {**os.environ, "HEAPWATCH_DIR": str(directory)}
        be = ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups"]
        if user != 0:
            require_another_user()
        inside = f'mount -t tmpfs -o mode=0700,uid={user} none {directory} && exec "$@"'
        with running("unshare", "--mount", "sh", "-c", inside, "sh", *be, place / "serving-threaded", stdin=subprocess.PIPE,
                     env=env, cwd=place) as program:
            wait_for(lambda: Path(f"/proc/{program.pid}/comm").read_text() == "serving-threade\n", "the program")

            def attach():
                return subprocess.run([*be, place / "heapwatch", "attach", str(program.pid), "--name", "apart"], env=env,
                                      cwd=place, capture_output=True, text=True, timeout=DEADLINE_S)
            if user != 0:
                done = attach()
                assert done.returncode == 2 and "a file system of its own" in done.stderr and "sudo" in done.stderr, done
                return
            require_tracing()
            with Daemon(directory) as daemon:
                for _ in range(2):
                    wait_for(lambda: attach().returncode == 0, "a runtime that is up, and the attach")
                    wait_for(lambda: "census" in daemon.snapshot("apart"), "bands")
                    assert daemon.target("apart").uri == f"unix:/proc/{program.pid}/root{directory}/agent-{program.pid}.sock"
                    done = heapwatch(directory, "detach", program.pid)
                    assert done.returncode == 0 and not daemon.status().targets, done
            assert not list(directory.glob("agent-*"))


def test_what_is_in_the_place_of_anothers_agent_is_not_read(directory, others):
    """The program's user puts another socket there."""
    program = others("threaded")
    with Daemon(directory) as daemon:
        assert others.heapwatch("attach", program.pid, "--name", "theirs").returncode == 0
        wait_for(lambda: "census" in daemon.snapshot("theirs"), "bands")
        place = others.place / "own" / f"agent-{program.pid}.sock"
        place.unlink()
        with socket.socket(socket.AF_UNIX) as wrong:
            wrong.bind(str(place))
            wrong.listen()
            asked = others.heapwatch("ctl", "agent", "theirs", "status")
            assert asked.returncode == 1 and f"it is not process {program.pid} that listens" in asked.stderr, asked
            daemon.ask(pb.Request(remove_target=pb.RemoveTargetRequest(name="theirs")))
            uri = f"unix:/proc/{program.pid}/root{place}"
            assert not daemon.ask(pb.Request(add_target=pb.AddTargetRequest(name="theirs", uri=uri)))[0].error
            wait_for(lambda: "it is not process" in daemon.target("theirs").detail, "its refusal")
            wrong.settimeout(DEADLINE_S)
            for _ in range(2):          # of the command, of the daemon: both hung up and sent nothing
                came, _ = wrong.accept()
                assert came.recv(99) == b""


def test_a_program_of_another_user_without_root(others):
    """Whoever has the capability to trace it but is neither that user nor root could not read the socket."""
    program = others("threaded")
    place = others.place / "third"
    place.mkdir(0o700)
    os.chown(place, 54321, 54321)
    done = subprocess.run(["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups", "--inh-caps", "+sys_ptrace",
                           "--ambient-caps", "+sys_ptrace", others.place / "heapwatch", "attach", str(program.pid)],
                          env={**os.environ, "HEAPWATCH_DIR": str(place)}, capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 2 and f"a process of user {OTHER_USER}, which that user and root alone can watch" in done.stderr, done
    assert not list(place.iterdir())


def test_heapwatch_is_not_taken_for_a_haskell_program(directory):
    """Nothing that it looks for in others' files is in its own."""
    for program in (CLIENT, CLIENT.with_name("heapwatchd")):
        said = heapwatch(directory, "doctor", program)
        assert "not a GHC-compiled program" in said.stdout + said.stderr


@pytest.mark.usefixtures("tracing")
def test_a_program_that_flushes_itself(directory, programs):
    """It calls the runtime's file writer (flush.c): while it is watched these calls come to us, and no longer after that."""
    with Daemon(directory) as daemon, running(programs["steady"], "1", "more", stdin=subprocess.PIPE,
                                              stdout=subprocess.PIPE) as program:
        for times in (1, 2):
            done = heapwatch(directory, "attach", program.pid, "--name", "mine")
            assert done.returncode == 0, done.stderr
            wait_for(lambda: "census" in daemon.snapshot("mine"), "bands")
            done = heapwatch(directory, "detach", program.pid)
            assert done.returncode == 0, done.stderr
        program.stdin.close()
        assert program.wait(DEADLINE_S) == 0


@pytest.mark.usefixtures("tracing")
@pytest.mark.parametrize("build", LOGGING)
def test_a_program_with_an_eventlog_of_its_own(directory, serving, build):
    """Both get it from then on; the program's own is whole, also where it was detached from."""
    own = directory / "own.eventlog"
    with Daemon(directory) as daemon, running(serving[build], "+RTS", "-l", f"-ol{own}",
                                              stdin=subprocess.PIPE) as program:
        wait_for(lambda: own.exists() and own.stat().st_size > 0, "its own log")
        for times in (1, 2):
            done = heapwatch(directory, "attach", program.pid, "--name", "mine")
            assert done.returncode == 0, done.stderr
            wait_for(lambda: "census" in daemon.snapshot("mine"), "bands")
            target = daemon.target("mine")
            assert target.run_info.pid == program.pid and target.runs == 1 and "late" not in target.detail
            assert heapwatch(directory, "detach", program.pid).returncode == 0
        assert heapwatch(directory, "attach", program.pid).returncode == 0
        program.stdin.close()
        assert program.wait(DEADLINE_S) == 0
    summary = json.loads(heapwatch(directory, "summary", "--format", "json", own).stdout)
    assert summary["finished"] and summary["heapProfile"]["censuses"] >= 1
    assert all(summary["stream"][k] == 0 for k in ("lostBytes", "resyncs", "unknownEvents", "timeAnomalies")), summary


@pytest.mark.usefixtures("tracing")
def test_a_log_that_cannot_be_joined(directory, serving):
    """Its own log goes where it cannot be read again: that is said, and it goes on."""
    fifo = directory / "own.fifo"
    os.mkfifo(fifo)
    with Daemon(directory) as daemon, open(os.open(fifo, os.O_RDWR | os.O_NONBLOCK), "rb", buffering=0) as log, \
            running(serving["threaded-own"], "+RTS", "-l", f"-ol{fifo}", stdin=subprocess.PIPE) as program:
        wait_for(lambda: log.read(8), "its own log")
        done = heapwatch(directory, "attach", program.pid)
        assert done.returncode == 2 and "writes an eventlog itself, not to a file" in done.stderr, done
        assert not daemon.status().targets
        program.stdin.close()
        wait_for(lambda: log.read(1 << 20) is None and program.poll() is not None, "its end")
        assert program.returncode == 0


SLOW_AGENT = r"""
#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>
int heapwatch_agent_attach(const char *settings, char *said, size_t size)
{
        (void)settings, (void)said, (void)size;
        (void)creat(FOLDER "/entered", 0600);
        while (access(FOLDER "/go", F_OK) != 0)
                usleep(1000);
        (void)creat(FOLDER "/left", 0600);
        return 0;
}
"""


@pytest.mark.usefixtures("tracing")
def test_killed_in_the_middle(directory, serving):
    """attach is killed while the program loads the agent: the borrowed thread finishes that and returns by itself."""
    copy_program(CLIENT, directory)
    (directory / "slow.c").write_text(SLOW_AGENT)
    subprocess.run(["gcc", "-shared", "-fPIC", f'-DFOLDER="{directory}"', "-o", directory / "libheapwatch-agent.so",
                    directory / "slow.c"], check=True)
    with Daemon(directory), running(serving["threaded"], stdin=subprocess.PIPE) as program:
        def ticker_call():
            for task in Path(f"/proc/{program.pid}/task").iterdir():
                if (task / "comm").read_text().startswith("ghc_ticker"):
                    return (task / "syscall").read_text().split()[0]
            return None

        usual = wait_for(lambda: (call := ticker_call()) != "running" and call, "a ticker that waits")
        attach = subprocess.Popen([directory / "heapwatch", "attach", str(program.pid)],
                                  env={**os.environ, "HEAPWATCH_DIR": str(directory)}, stderr=subprocess.DEVNULL)
        wait_for((directory / "entered").exists, "the call of the agent's entry")
        attach.kill()
        attach.wait()
        assert not (directory / "left").exists()
        (directory / "go").touch()
        wait_for((directory / "left").exists, "the end of that call")
        wait_for(lambda: ticker_call() == usual, "the ticker in the call that it had been taken from")
        program.stdin.close()
        assert program.wait(DEADLINE_S) == 0


@pytest.mark.usefixtures("tracing")
def test_a_program_that_is_just_starting(directory, serving):
    """Its runtime comes up after the agent was loaded into it, and found none."""
    with Daemon(directory) as daemon, running(serving["late"], stdin=subprocess.PIPE) as process:
        done = heapwatch(directory, "attach", process.pid, "--name", "mine")
        assert done.returncode == 0, done.stderr
        wait_for(lambda: "census" in daemon.snapshot("mine"), "bands")


def test_what_cannot_be_attached_to(directory, serving):
    assert "there is no process 999999999" in heapwatch(directory, "attach", 999999999).stderr
    assert "not a GHC-compiled program" in heapwatch(directory, "attach", os.getpid()).stderr
    assert "no GHC-compiled program nobody" in heapwatch(directory, "attach", "nobody").stderr
    assert f"attach --process-only {os.getpid()}" in heapwatch(directory, "attach", os.getpid()).stderr
    assert "no daemon" in heapwatch(directory, "status").stderr      # none was started for that
    assert "not a GHC-compiled program" in heapwatch(directory, "detach", os.getpid()).stderr


@pytest.mark.usefixtures("tracing")
def test_the_demonstration(directory):
    """A program compiled without any flag but -threaded, attached to while it runs: bands of its own types, to its end."""
    done = subprocess.run([ROOT / "scripts/demo/run", "10"], env={**os.environ, "BUILD": str(CLIENT.parent), "TMPDIR": str(directory)},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "attached to Sessions" in done.stdout and "sessions kept" in done.stdout
    last = done.stdout[done.stdout.index("sessions kept"):]
    assert "ended" in last and "main:Main." in last, last
    assert not list(directory.iterdir())
    view, post_mortem = (line.split()[1:] for line in (done.stdout.splitlines()[-1], done.stdout.splitlines()[-2]))
    assert post_mortem[0] == "post-mortem" and view[0] == "top"
    told = client(*post_mortem).stdout.decode()
    assert "run 1: ended" in told and "stream" in told, told
    assert "main:Main." in client(*view, "--once").stdout.decode()

    def left():
        found = []
        for environment in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if f"HEAPWATCH_DIR={directory}/".encode() in environment.read_bytes():
                    found.append(environment.parent.name)
        return found
    wait_for(lambda: not left(), "the end of the demonstration's daemon")
