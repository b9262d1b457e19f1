# SPDX-License-Identifier: BSD-3-Clause
"""heapwatchd as a service: what it tells the service manager, what the units allow it, and that it needs no more."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading

import pytest

import harness
from harness import DEADLINE_S, LOGS, ROOT, Daemon, client, pb, printed, require, require_another_user, wait_for, written

LOG = LOGS / "leaky-hT-ghc9103" / "run.eventlog"
UNITS = ["heapwatchd", "heapwatch-export", "heapwatch-archive"]
# What systemd-analyze security lists as open, with its weight: sockets and sched_setscheduler for all of them, ...
EXPOSED = {"SystemCallFilter_resources": 0.2, "RootDirectoryOrRootImage": 0.1, "RestrictAddressFamilies_AF_UNIX": 0.1,
           "RestrictAddressFamilies_AF_INET_INET6": 0.3, "ProcSubset": 0.1, "PrivateNetwork": 0.5, "PrivateUsers": 0.2, "DeviceAllow": 0.1,
           "IPAddressDeny": 0.2}
NETLINK = {"RestrictAddressFamilies_AF_NETLINK": 0.1}
# ... and other users' logs and processes, or the programs of actions.
EXPOSED_MORE = {"heapwatchd": NETLINK | {"AmbientCapabilities": 0.1, "CapabilityBoundingSet_CAP_DAC_FOWNER_IPC_OWNER": 0.2,
                                         "CapabilityBoundingSet_CAP_SYS_PTRACE": 0.3, "ProtectHome": 0.1},
                "heapwatch-export": NETLINK, "heapwatch-archive": {}}


class Manager:
    """A service manager's end of the protocol."""

    def __init__(self, socket):
        self.socket = socket

    def hears(self, timeout_s=DEADLINE_S):
        """The lines of the next datagram."""
        self.socket.settimeout(timeout_s)
        return self.socket.recv(4096).decode().splitlines()


@pytest.fixture
def manager(directory, monkeypatch):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.bind(str(directory / "notify"))
        monkeypatch.setenv("NOTIFY_SOCKET", str(directory / "notify"))
        monkeypatch.setenv("WATCHDOG_USEC", "400000")
        yield Manager(s)


def test_the_manager_hears_ready_status_and_the_watchdog(directory, manager):
    with Daemon(directory, f"a={LOG}", f"b={LOG}") as d:
        assert manager.hears() == ["READY=1", "WATCHDOG=1", "STATUS=watching 2 targets"]
        for _ in range(3):
            assert manager.hears() == ["WATCHDOG=1", "STATUS=watching 2 targets"]
        d.ask(pb.Request(remove_target=pb.RemoveTargetRequest(name="a")))
        wait_for(lambda: manager.hears() == ["WATCHDOG=1", "STATUS=watching 1 target"], "the new status")
        d.stop()
        wait_for(lambda: manager.hears() == ["STOPPING=1"], "its end")


def test_ready_means_that_fifos_are_read(directory, manager):
    """A program that is started After= the daemon would otherwise wait in open(2), or be refused."""
    fifos = [directory / f"fifo-{i}" for i in range(200)]
    for fifo in fifos:
        os.mkfifo(fifo)
    daemon = Daemon(directory, *(f"f{i}=fifo:{path}" for i, path in enumerate(fifos)))
    start = threading.Thread(target=daemon.start)
    start.start()
    try:
        wait_for(lambda: "READY=1" in manager.hears(), "READY=1, behind the descriptors for the store")
        for fifo in reversed(fifos):
            os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))    # ENXIO: nobody reads it
    finally:
        start.join()
        daemon.stop()


def test_a_loop_that_hangs_is_silent(directory, manager):
    with Daemon(directory) as d:
        manager.hears()
        d.process.send_signal(signal.SIGSTOP)
        try:
            with pytest.raises(TimeoutError):
                for _ in range(100):        # those that were sent before it stopped
                    manager.hears(timeout_s=2)
        finally:
            d.process.send_signal(signal.SIGCONT)
        assert "WATCHDOG=1" in manager.hears()


def test_a_manager_that_cannot_be_told_is_no_error(directory, monkeypatch):
    for name in ("/nonexistent/notify", "relative", "@", "/" + "x" * 300):
        monkeypatch.setenv("NOTIFY_SOCKET", name)
        with Daemon(directory) as d:
            assert d.status().daemon.targets == [] and "cannot be notified" in d.log.read_text()


def unit(name):
    return (ROOT / "scripts" / "install" / f"{name}.service.in").read_text().replace("@PREFIX@/bin/heapwatchd", "/bin/true") \
        .replace("@PREFIX@/bin/heapwatch", "/bin/true")


def system_calls(name):
    """Names of the system calls that the unit allows: SystemCallFilter=, line by line, with systemd's own groups."""
    listed = subprocess.run(["systemd-analyze", "syscall-filter", "--no-pager"], stdout=subprocess.PIPE, text=True, check=True).stdout
    groups = {g: set(re.findall(r"^ +([@a-z_0-9-]+)$", rest, re.M))
              for g, rest in re.findall(r"^(@[a-z0-9-]+)\n((?: +.*\n)*)", listed, re.M)}

    def names(word):
        return set().union(*map(names, groups[word])) if word.startswith("@") else {word}

    allowed = set()
    for words in re.findall(r"^SystemCallFilter=(.*)$", unit(name), re.M):
        found = set().union(*map(names, words.lstrip("~").split()))
        allowed = allowed - found if words.startswith("~") else allowed | found
    return allowed


def filtered(directory, name, program):
    """A program that starts `program` with the unit's filter of system calls, as systemd does, by libseccomp."""
    script = written(directory / f"filtered-{program.name}", f"""#!/usr/bin/python3
import ctypes, errno, os, sys
seccomp = ctypes.CDLL("libseccomp.so.2")
seccomp.seccomp_init.restype = ctypes.c_void_p
context = ctypes.c_void_p(seccomp.seccomp_init(0x00050000 | errno.EPERM))
for name in {sorted(system_calls(name))!r}:
    number = seccomp.seccomp_syscall_resolve_name(name.encode())
    if number >= 0:
        assert seccomp.seccomp_rule_add(context, 0x7fff0000, number, 0) == 0, name
assert seccomp.seccomp_load(context) == 0
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"     # which needs ptrace(2)
os.execv({str(program)!r}, [{str(program)!r}] + sys.argv[1:])
""")
    script.chmod(0o755)
    return script


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze, of Debian's systemd")
@pytest.mark.parametrize("name", UNITS)
def test_units_allow_little(directory, name):
    """The score of systemd-analyze security: at most 2.0 of 10."""
    path = written(directory / f"{name}.service", unit(name))
    done = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager", path], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=DEADLINE_S)
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)
    assert found, done
    assert float(found[1]) <= 2.0, done.stdout
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=DEADLINE_S)
    assert f"{name}.service" not in done.stdout, done.stdout


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze, of Debian's systemd")
@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize("dynamic, more", [("yes", {}), ("no", {"PrivateTmp": 0.2, "RemoveIPC": 0.1})])
def test_units_are_open_only_where_they_must_be(directory, name, dynamic, more):
    """Setting by setting; also when a drop-in has a user of the machine, who has not what DynamicUser= implies."""
    path = written(directory / f"{name}.service", unit(name).replace("DynamicUser=yes", f"DynamicUser={dynamic}"))
    listed = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager", "--json=short", path], stdout=subprocess.PIPE,
                            text=True, timeout=DEADLINE_S, check=True).stdout
    assert {x["json_field"]: float(x["exposure"]) for x in json.loads(listed) if not x["set"]} == EXPOSED | EXPOSED_MORE[name] | more


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze, of Debian's systemd")
def test_the_daemon_needs_no_other_system_calls(directory, monkeypatch):
    """With the options of its unit: recordings and checkpoints, silences, FIFOs, a restart."""
    os.mkfifo(directory / "fifo")
    monkeypatch.setattr(harness, "DAEMON", filtered(directory, "heapwatchd", harness.DAEMON))
    with Daemon(directory, f"a={LOG}", f"b=fifo:{directory}/fifo", f"c=unix-listen:{directory}/c.sock",
                args=["--record", directory / "recordings", "--checkpoint", directory / "checkpoints"]) as d:
        d.wait_state("a", "ENDED")
        d.wait_state("b", "CONNECTED")
        d.ask(pb.Request(silence=pb.SilenceRequest(rule="leak", duration_ns=10**10)))
        wait_for(lambda: list((directory / "state").rglob("*")), "its silences, kept")
        d.stop()
        d.start()
        assert "resumes from its checkpoint" in d.log.read_text()
        d.wait_state("a", "ENDED")


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze, of Debian's systemd")
@pytest.mark.parametrize("name, options, follows", [
    ("heapwatch-export", ["--listen", "unix:{}/page"], "unix:"),
    ("heapwatch-archive", ["--db", "{}/archive.db"], "is followed")])
def test_the_other_units_need_no_other_system_calls(directory, name, options, follows):
    program = filtered(directory, name, harness.CLIENT)
    with Daemon(directory, f"a={LOG}") as d, open(directory / "log", "wb") as log, \
            subprocess.Popen([program, name.split("-")[1], "--connect", d.publish, *(o.format(directory) for o in options)],
                             stdout=log, stderr=log) as p:
        try:
            wait_for(lambda: p.poll() is not None or follows in (directory / "log").read_text(), "that it follows the daemon")
            assert p.poll() is None, (directory / "log").read_text()
        finally:
            p.terminate()


def test_the_unit_counts_on_the_watchdog():
    text = unit("heapwatchd")
    for line in ("Type=notify", "WatchdogSec=", "LimitNOFILE=", "MemoryMax=256M", "RuntimeDirectory=heapwatch", "HEAPWATCH_DIR=/run/heapwatch",
                 "FileDescriptorStoreMax=", "--checkpoint /var/lib/heapwatch/", "--record /var/lib/heapwatch/"):
        assert line in text, line


def test_the_units_user_and_privileges_are_enough(directory, monkeypatch):
    """As the unit starts it: its own user, three capabilities. It reads other users' logs and /proc; requests may not."""
    words = ",".join(["-all", *re.search(r"^AmbientCapabilities=(.*)$", unit("heapwatchd"), re.M)[1].lower().replace("cap_", "+").split()])
    be = ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups", "--no-new-privs", "--inh-caps", words, "--bounding-set", words,
          "--ambient-caps", words]
    require_another_user()
    require("to become another user with the unit's capabilities", *be, "true")
    harness.copy_program(harness.DAEMON, directory)      # that user may not see where this tree is
    script = written(directory / "as-service", f'#!/bin/sh\nexec {" ".join(be)} {directory / harness.DAEMON.name} "$@"\n')
    script.chmod(0o755)
    public = directory / "public.eventlog"
    shutil.copy(LOG, public)
    public.chmod(0o644)
    private, run = directory / "private", directory / "run"
    private.mkdir(0o700)
    run.mkdir(0o700)
    os.chown(run, 54321, 54321)
    directory.chmod(0o755)
    shutil.copy(LOG, private / "a.eventlog")
    (private / "a.eventlog").chmod(0o600)
    monkeypatch.setattr(harness, "DAEMON", script)
    with Daemon(run, f"a={private}/a.eventlog", args=["--allow-source", f"unix-listen:{run}/*"]) as d:
        d.wait_state("a", "ENDED")
        assert d.health("a").bytes == LOG.stat().st_size
        for uri, refused in ((f"{private}/a.eventlog", True), (f"{private}/none", True), (str(public), False),
                             (f"unix-listen:{run}/program.sock", False)):
            reply = d.ask(pb.Request(add_target=pb.AddTargetRequest(name="x", uri=uri)))[0]
            assert ("sources.allow" in reply.error) == refused, reply
            if not refused:
                d.ask(pb.Request(remove_target=pb.RemoveTargetRequest(name="x")))
        # root's clients find it where the unit puts it
        printed("status", env={"HEAPWATCH_DIR": str(run)})


def test_the_drop_in_puts_the_agent_before_a_service(directory):
    """What `doctor --systemd` prints is a drop-in without mistakes, and a program that is started with it is watched."""
    text = printed("doctor", "--systemd", "api.service")
    source, = re.findall(r'uri: "unix:/run(/\S+)"', text)
    variables = dict(line.split("=", 1)[1].strip('"').split("=", 1) for line in text.splitlines() if line.startswith("Environment="))
    given = {name: value.replace("%t", str(directory)).replace("%N", "api") for name, value in variables.items()}
    (directory / re.search("RuntimeDirectory=(.*)", text)[1].replace("%N", "api")).mkdir(mode=0o755)
    program = harness.compile_haskell("held", "Held", "-threaded")
    with Daemon(directory, f"api=unix:{directory}{source}") as daemon, \
            harness.running(program, "1", env={**os.environ, **given}, stdin=subprocess.PIPE, stdout=subprocess.PIPE):
        wait_for(lambda: daemon.snapshot("api").get("heap") and daemon.target("api").state == pb.Target.STATE_RUNNING, "its memory")
    if shutil.which("systemd-analyze"):
        (directory / "api.service.d").mkdir()
        (directory / "api.service.d" / "heapwatch.conf").write_text(text)
        (directory / "api.service").write_text("[Service]\nExecStart=/bin/true\n")
        said = subprocess.run(["systemd-analyze", "verify", "--man=no", directory / "api.service"], capture_output=True, text=True).stderr
        assert "api.service" not in said, said
    for wrong in ("a b", ".service", "@x", "x/y"):
        done = client("doctor", "--systemd", wrong)
        assert done.returncode == 2 and b"is not the name of a service" in done.stderr, wrong


def user_unit(name, directory):
    """Of the user whose home is that folder."""
    return (ROOT / "scripts" / "install" / f"{name}.user.service.in").read_text().replace("\\\n", "").replace("@PREFIX@/bin", str(harness.BUILD)) \
        .replace("%h", str(directory)).replace("%E", f"{directory}/.config")


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze, of Debian's systemd")
@pytest.mark.parametrize("name", ["heapwatchd", "heapwatch-run@", "heapwatchd.socket"])
def test_units_of_users_have_no_mistakes(directory, name):
    for each in ("heapwatchd", "heapwatch-run@"):
        (directory / f"{each}.service").write_text(user_unit(each, directory))
    shutil.copy(ROOT / "scripts" / "install" / "heapwatchd.user.socket", directory / "heapwatchd.socket")
    path = directory / (f"{name.replace('@', '@api')}.service" if "." not in name else name)
    done = subprocess.run(["systemd-analyze", "--user", "verify", "--man=no", path], capture_output=True, text=True, timeout=DEADLINE_S,
                          env={**os.environ, "XDG_RUNTIME_DIR": str(directory)})
    assert name not in done.stderr, done.stderr


def test_the_daemon_of_a_user_is_the_one_that_run_finds(directory):
    """With its places: heapwatch run starts no other one, and the program of heapwatch-run@ is watched."""
    env = {**os.environ, "HOME": str(directory), "XDG_RUNTIME_DIR": str(directory), "PROGRAM": "/bin/sh", "ARGUMENTS": "-c true"}
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "HEAPWATCH_DIR"):
        env.pop(name, None)

    def lines(name, key):
        return [line.split("=", 1)[1].split() for line in user_unit(name, directory).splitlines() if line.startswith(f"{key}=")]

    for command in lines("heapwatchd", "ExecStartPre"):
        subprocess.run(command, check=True)
    command, = lines("heapwatchd", "ExecStart")
    with harness.running(*command, env=env, stderr=subprocess.DEVNULL):
        wait_for((directory / "heapwatch" / "publish").exists, "its sockets")
        command, = lines("heapwatch-run@", "ExecStart")
        words = [word.replace("%i", "api").replace("${PROGRAM}", env["PROGRAM"]) for word in command[:-1]] + env["ARGUMENTS"].split()
        done = subprocess.run(words, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DEADLINE_S)
        assert done.returncode == 0 and "was started" not in done.stderr, done.stderr
    assert (directory / ".local/state/heapwatch/daemon/checkpoints").is_dir()
