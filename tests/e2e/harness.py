# SPDX-License-Identifier: BSD-3-Clause
"""Starts and stops real daemons, clients and Haskell programs for the tests.

Nothing here sleeps and hopes: `wait_for` polls a condition and fails with what
it was waiting for. Limits are for hangs, not for slowness: a busy machine must
never reach one.
"""
import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import zmq

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("HEAPWATCH_BUILD", ROOT / "build")).resolve()
# Under a sanitizer or valgrind a program keeps freed memory and shadows the rest: its size means nothing.
WATCHED = BUILD.name in ("asan", "ubsan", "valgrind")
# And so slow that a server is never done with what a fake daemon sends as fast as it can.
VALGRIND = BUILD.name == "valgrind"
MAY_CLOSE_OUTPUT = not VALGRIND     # which opens the first three descriptors itself
DAEMON = BUILD / "heapwatchd"
CLIENT = BUILD / "heapwatch"
LOGS = ROOT / "tests" / "data" / "logs"
SOURCES = "tests/programs"     # of Haskell programs, below ROOT
# The most CPU time of one turn of a daemon's loop; its wall time may be longer, on a busy machine.
LONGEST_TURN_S = 0.25
# The long forms of tests marked `long`: scripts/ci-more long.
LONG = os.environ.get("HEAPWATCH_LONG") == "1"
DEADLINE_S = float(os.environ.get("HEAPWATCH_DEADLINE", "180"))


def long_cases(*cases):
    """Cases of pytest.mark.parametrize that the long form has in addition."""
    import pytest       # which measurements, that use the rest, do without
    return [pytest.param(*case, marks=pytest.mark.long) for case in cases] if LONG else []


def without_page():
    """Why there is no page to test, or None."""
    page = BUILD / "page" / "out" / "page.html"
    return None if page.exists() and page.stat().st_size else "heapwatch was built without its page"


def require_page():
    """Skips the test where npm was not to be had when heapwatch was built."""
    import pytest       # which measurements, that use the rest, do without
    if without_page():
        pytest.skip(without_page())


def require(what, *command):
    """Skips the test, with the reason, where this command fails: only trying it shows what an environment forbids."""
    import pytest       # which measurements, that use the rest, do without
    try:
        done = subprocess.run([*map(str, command)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DEADLINE_S)
    except FileNotFoundError as e:
        pytest.skip(f"needs {what}: {e.filename} is not installed")
    if done.returncode != 0:
        pytest.skip(f"needs {what}: {' '.join(done.stderr.split()) or f'{command[0]} exits with {done.returncode}'}")


TRACE = """import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes, libc.ptrace.restype = [ctypes.c_long] * 4, ctypes.c_long
PTRACE_SEIZE = 0x4206
if libc.ptrace(PTRACE_SEIZE, int(sys.argv[1]), 0, 0):
    sys.exit("ptrace: " + os.strerror(ctypes.get_errno()))"""


def require_tracing(**whose):
    """Skips the test where a process may not trace one that is not its child; `whose` is how that one is started."""
    with running("sleep", DEADLINE_S, stdin=subprocess.DEVNULL, **whose) as other:
        require("to trace another process", sys.executable, "-c", TRACE, other.pid)


def require_another_user():
    """Skips the test where there is no becoming another user, or nothing can be started as one: as where `/` is closed to others."""
    require("to become another user", "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "/usr/bin/python3", "-S", "-c", "")


def under_yama(directory, scope):
    """What to put before a command so that it sees that kernel.yama.ptrace_scope; skips the test where that cannot be."""
    (directory / "kernel/yama").mkdir(parents=True)
    (directory / "kernel/yama/ptrace_scope").write_text(f"{scope}\n")
    prefix = ["unshare", "--mount", "sh", "-c", f'mount --bind {directory}/kernel /proc/sys/kernel && exec "$@"', "sh"]
    require("root and a mount namespace of its own", *prefix, "true")
    return prefix


def make_once(name, make, inputs):
    """The folder NAME of the build folder, which make(folder) fills: once for all processes that test at a time, and once more
    when `inputs`, bytes that say what it is made of, are others."""
    folder, key = BUILD / name, hashlib.sha256(inputs).hexdigest()
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = folder / ".made"
    with open(folder.with_name(f"{folder.name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists() or made.read_text() != key:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            made.write_text(key)
    return folder


def load_schema():
    """The messages, generated from the project's own schema."""
    folder = ROOT / "proto" / "wire"
    out = make_once("python", lambda out: subprocess.run(["protoc", f"-I{folder}", f"--python_out={out}", "heapwatch.proto"], check=True),
                    (folder / "heapwatch.proto").read_bytes())
    if str(out) not in sys.path:
        sys.path.insert(0, str(out))
    import heapwatch_pb2
    return heapwatch_pb2


pb = load_schema()


def compile_haskell(name, source, *flags):
    """The program NAME from a file of SOURCES, compiled once by the system's GHC. Flags may name files, relative to ROOT."""
    assert shutil.which("ghc"), "scripts/deps installs ghc"
    parts = [*sorted((ROOT / SOURCES).glob("*.[ch]*")), *(ROOT / f.removeprefix("-optl") for f in flags)]
    inputs = repr((source, flags, os.stat(shutil.which("ghc")).st_mtime_ns)).encode()
    inputs += b"".join(part.read_bytes() for part in parts if part.is_file())

    def make(folder):
        # Relative names: GHC puts the object of a C file with an absolute name beside it, into the tree.
        subprocess.run(["ghc", "-v0", "-O1", f"-i{SOURCES}", "-outputdir", folder / "objects", "-o", folder / name, *flags,
                        f"{SOURCES}/{source}.hs"], check=True, cwd=ROOT)

    return make_once(f"programs/{name}-{hashlib.sha256(repr((source, flags)).encode()).hexdigest()[:8]}", make, inputs) / name


class Programs:
    """Haskell programs, each compiled when a test wants it: key -> path. A recipe is what compile_haskell() wants."""

    def __init__(self, recipes):
        self.recipes, self.paths = recipes, {}

    def __getitem__(self, key):
        if key not in self.paths:
            self.paths[key] = compile_haskell(*self.recipes[key])
        return self.paths[key]


reserved = []       # sockets whose names are the ports that were given to this process


def free_ports(n=1):
    """The first of `n` ports of 127.0.0.1 in a row for servers that cannot choose one by themselves. No other process that
    tests is given them while this one lives, and the kernel gives those to nobody, for they are below its range."""
    below = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    below = below if below > 12000 else 60000
    for _ in range(1000):
        first = random.randrange(10000, below - n)
        with contextlib.ExitStack() as given_back:
            try:
                marks = []
                for port in range(first, first + n):
                    marks.append(given_back.enter_context(socket.socket(socket.AF_UNIX)))
                    marks[-1].bind(f"\0heapwatch-tests-port-{port}")
                    with socket.socket() as s:
                        s.bind(("127.0.0.1", port))
            except OSError:
                continue
            given_back.pop_all()
            reserved.extend(marks)
            return first
    raise AssertionError(f"no {n} free ports")


def copy_program(program, directory):
    """To be run there: under valgrind the program itself, not the script that starts it under valgrind. What heapwatch
    continues in is brought with it."""
    if program == CLIENT:
        copy_program(CLIENT.with_name("heapwatch-live"), directory)
    shutil.copy(program.with_name(f"{program.name}.real") if VALGRIND else program, directory / program.name)
    (directory / program.name).chmod(0o755)


def cpu_s(pid):
    """Processor time that it has used, in seconds."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def stolen_s():
    """Seconds that the hypervisor has taken from this machine: the kernel charges them to whoever was running."""
    return int(pathlib.Path("/proc/stat").read_text().split()[8]) / os.sysconf("SC_CLK_TCK")


def wait_for(condition, what, deadline_s=DEADLINE_S, poll_s=0.02):
    """Returns the first true value of condition(), which is tried ever more rarely: most conditions start a process."""
    began = time.monotonic()
    while (waited := time.monotonic() - began) < deadline_s:
        value = condition()
        if value:
            return value
        time.sleep(poll_s and max(poll_s, min(waited / 20, 0.1)))     # 0: a condition that soon passes
    raise AssertionError(f"waited {deadline_s:.0f} s in vain for: {what}")


def wait_newer_checkpoint(directory, name):
    """Waits for a checkpoint, below state.d, of a state that is not older than this call."""
    path = directory / "state.d" / f"{name}.checkpoint"
    for _ in range(3):      # of an older state, one may be being written and one may wait
        now = time.time_ns()
        wait_for(lambda: path.exists() and path.stat().st_mtime_ns > now, "a newer checkpoint")


def rss_bytes(pid):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"no VmRSS of {pid}")


PEAK = """import os, sys
child = os.fork()
if not child:
    os.execv(sys.argv[2], sys.argv[2:])
_, status, used = os.wait4(child, 0)
open(sys.argv[1], "w").write(str(used.ru_maxrss * 1024))
sys.exit(os.waitstatus_to_exitcode(status))"""


def noting_peak(path, command):
    """The command whose peak memory, in bytes, is in the file `path` once it has ended. Started by a small process: to the
    kernel the peak of a child begins with that of its parent, which has megabytes of tests."""
    return [sys.executable, "-S", "-c", PEAK, *map(str, (path, *command))]


class Daemon:
    """One heapwatchd with private sockets in its own directory. It does not outlive the test that started it (conftest.py)."""
    started = []

    def __init__(self, directory, *targets, args=(), cwd=None):
        self.directory = pathlib.Path(directory)
        self.publish = f"ipc://{self.directory}/publish"
        self.request_endpoint = f"ipc://{self.directory}/request"
        self.targets, self.args, self.cwd = list(targets), list(args), cwd
        self.process = None
        self.stolen_s = stolen_s()
        self.log = self.directory / "daemon.log"
        self.context = zmq.Context.instance()

    def start(self):
        assert self.process is None or self.process.poll() is not None, "the daemon is running already"
        env = dict(os.environ)
        if env.get("XDG_STATE_HOME") == surroundings.get("XDG_STATE_HOME"):     # else a test has chosen it
            env["XDG_STATE_HOME"] = str(self.directory / "state")
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [DAEMON, "--publish", self.publish, "--request", self.request_endpoint, *self.args, *self.targets],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env, cwd=self.cwd)
        self.started.append(self.process)
        wait_for(lambda: self.process.poll() is not None or self.answers(), "the daemon's first answer")
        assert self.process.poll() is None, self.log.read_text()
        return self

    def answers(self):
        try:
            return bool(self.ask(pb.Request(status=pb.StatusRequest()), timeout_ms=2000))
        except TimeoutError:
            return False

    def ask(self, request, timeout_ms=DEADLINE_S * 1000):
        """All replies to one request."""
        request.id = request.id or 7
        socket = self.context.socket(zmq.DEALER)
        socket.linger = 0
        socket.connect(self.request_endpoint)
        try:
            socket.send(request.SerializeToString())
            replies = []
            while True:
                if not socket.poll(timeout_ms):
                    raise TimeoutError(f"no reply within {timeout_ms} ms")
                reply = pb.Reply.FromString(socket.recv())
                assert reply.id == request.id
                replies.append(reply)
                if not reply.more:
                    return replies
        finally:
            socket.close()

    def status(self):
        return self.ask(pb.Request(status=pb.StatusRequest()))[0].status

    def target(self, name):
        """The target_state of one target, None when there is none."""
        for update in self.status().targets:
            if update.target == name and update.WhichOneof("body") == "target_state":
                return update.target_state
        return None

    def health(self, name):
        for update in self.status().targets:
            if update.target == name and update.WhichOneof("body") == "health":
                return update.health
        return None

    def snapshot(self, target=None):
        """The newest update of each kind of a target, lists joined: {kind: [update, ...]}."""
        request = pb.Request(snapshot=pb.SnapshotRequest(targets=[target] if target else []))
        found = {}
        for reply in self.ask(request):
            assert not reply.HasField("error"), reply.error
            if reply.WhichOneof("what") == "update" and reply.update.target == (target or reply.update.target):
                found.setdefault(reply.update.WhichOneof("body"), []).append(reply.update)
        return found

    def wait_state(self, name, *states, run=None, deadline_s=DEADLINE_S):
        wanted = [getattr(pb.Target, "STATE_" + s) for s in states]

        def reached():
            t = self.target(name)
            return t if t and t.state in wanted and (run is None or t.runs >= run) else None

        try:
            return wait_for(reached, f"{name} in {states}", deadline_s)
        except AssertionError as e:
            raise AssertionError(f"{e}; it is {self.target(name)}") from None

    def end(self, sig):
        if self.process and self.process.poll() is None:
            self.process.send_signal(sig)
            self.process.wait(DEADLINE_S)
        return self.process.returncode if self.process else None

    def stop(self, sig=signal.SIGTERM):
        status = self.end(sig)
        if status == 0 and self.log.exists():
            self.check_turns()
        return status

    def __enter__(self):
        return self.start()

    def check_turns(self):
        """No turn of its loop was long, in CPU time: a busy machine makes the wall time of any turn long."""
        most_s = LONGEST_TURN_S + stolen_s() - self.stolen_s
        ends = re.findall(r"longest_turn_us=(\d+) cpu_us=(\d+) kind=(\S+) target=(\S+)", self.log.read_text(errors="replace"))
        assert ends, "the daemon does not say its longest turn"
        for wall_us, cpu_us, kind, target in ends:
            assert WATCHED or int(cpu_us) < most_s * 1e6, (
                f"a turn of heapwatchd's loop took {int(cpu_us) / 1e3:.0f} ms of processor time "
                f"({int(wall_us) / 1e3:.0f} ms by the clock): {kind}, target {target}")

    def __exit__(self, kind, *exc):
        if kind is None:
            self.stop()
        else:
            self.end(signal.SIGTERM)


@contextlib.contextmanager
def running(*command, **kwargs):
    """A program that does not outlive the test."""
    process = subprocess.Popen([*map(str, command)], **kwargs)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def end_input(program):
    """The end of its input, and with it its own, which is a good one."""
    program.stdin.close()
    assert program.wait(DEADLINE_S) == 0, program.stderr and program.stderr.read()


def written(path, content):
    """The path, with a file of that content."""
    (path.write_bytes if isinstance(content, bytes) else path.write_text)(content)
    return path


@contextlib.contextmanager
def private_directory():
    """A short 0700 directory: socket paths have at most 107 bytes."""
    path = tempfile.mkdtemp(prefix="hw-")
    try:
        yield pathlib.Path(path)
    finally:
        shutil.rmtree(path, ignore_errors=True)


surroundings = {}       # what private_surroundings() has set


@contextlib.contextmanager
def private_surroundings():
    """No test meets the user's own daemons, recordings and hosts, nor those of the tests beside it."""
    names = [f"XDG_{name}" for name in ("RUNTIME_DIR", "STATE_HOME", "CONFIG_HOME", "CACHE_HOME")]
    before = {name: os.environ.pop(name, None) for name in names}
    with private_directory() as path:
        for name in names:
            (path / name).mkdir(mode=0o700)
            surroundings[name] = os.environ[name] = str(path / name)
        yield
    surroundings.clear()
    for name, value in before.items():
        os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def client(*args, timeout=DEADLINE_S, **kwargs):
    """Runs `heapwatch ARGS` to its end."""
    env = {**os.environ, **kwargs.pop("env", {})}
    return subprocess.run([CLIENT, *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=timeout, env=env, **kwargs)


def heapwatch(place, *words):
    """`heapwatch WORDS` beside a daemon or the one of a directory, as text; again where a busy machine left the daemon no time to
    answer within the five seconds that a command gives it."""
    directory = getattr(place, "directory", place)
    for _ in range(12):
        done = subprocess.run([CLIENT, *map(str, words)], env={**os.environ, "HEAPWATCH_DIR": str(directory)}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=DEADLINE_S, cwd=directory)
        if "no daemon answers" not in done.stderr:
            break
    return done


def printed(*args, **kwargs):
    """What it prints when it succeeds."""
    done = client(*args, **kwargs)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def piped(*args):
    """Updates of `heapwatch pipe ARGS --format json`, as dicts."""
    return [json.loads(line) for line in printed("pipe", *args, "--format", "json").splitlines()]
