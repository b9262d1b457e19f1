# SPDX-License-Identifier: BSD-3-Clause
"""Several machines as network namespaces, over keys:
one page, one console, and one exporter of all of them (into one VictoriaMetrics
where it is installed), with one cut off, one killed, and both back.

HEAPWATCH_FLEET=10x100: ten daemons of 100 targets each; otherwise 3x5.
"""
import contextlib
import http.client
import itertools
import os
import re
import shutil
import signal
import subprocess
import time

from harness import CLIENT, LOGS, Daemon, client, private_directory, require, wait_for
from test_engines import Victoria

DAEMONS, TARGETS = map(int, os.environ.get("HEAPWATCH_FLEET", "3x5").split("x"))
LOG = LOGS / "leaky-hT-ghc9103" / "run.eventlog"
PORT = 7700
TAG = f"hw{os.getpid() % 100000}"
SUBNET = f"10.213.{os.getpid() % 254 + 1}"      # two runs on one machine do not meet


def ip(*args, space=None):
    """In a network namespace by nsenter: `ip -n` and `ip netns exec` mount, too, and not every chroot allows that."""
    enter = ["nsenter", f"--net=/run/netns/{space}"] if space else []
    return subprocess.run([*enter, "ip", *args], capture_output=True, text=True, timeout=60)


def require_namespaces():
    """What network() needs, each tried once."""
    name = TAG + "t"
    try:
        require("network namespaces", "ip", "netns", "add", name)
        require("to enter a network namespace", "nsenter", f"--net=/run/netns/{name}", "true")
        require("a bridge", "ip", "link", "add", name, "type", "bridge")
        require("a pair of interfaces", "ip", "link", "add", f"{name}v", "type", "veth", "peer", "name", "eth0", "netns", name)
    finally:
        if shutil.which("ip"):
            for kind, thing in (("link", f"{name}v"), ("link", name), ("netns", name)):
                ip(kind, "del", thing)


class Machine(Daemon):
    """A daemon in a network namespace of its own, reached by an address of it alone."""

    def __init__(self, directory, number):
        directory.mkdir(mode=0o700)
        super().__init__(directory, *[f"t{number}-{i}={LOG}" for i in range(TARGETS)])
        self.number, self.space, self.link = number, f"{TAG}-{number}", f"{TAG}v{number}"
        self.address = f"{SUBNET}.{number + 10}"
        self.endpoint = f"tcp://{self.address}:{PORT}"
        self.keys = directory / "keys"
        done = client("keys", "new", "server", "--dir", self.keys)
        self.server = done.stdout.decode().split()[1]
        self.args = ["--listen", f"tcp://{self.address}:{PORT}", "--keys", str(self.keys)]

    def make_space(self):
        for space, command in ((None, ["netns", "add", self.space]),
                               (None, ["link", "add", self.link, "type", "veth", "peer", "name", "eth0", "netns", self.space]),
                               (None, ["link", "set", self.link, "master", TAG, "up"]),
                               (self.space, ["addr", "add", f"{self.address}/24", "dev", "eth0"]),
                               (self.space, ["link", "set", "eth0", "up"])):
            done = ip(*command, space=space)
            assert done.returncode == 0, (command, done.stderr)

    def start(self):
        import harness
        program = harness.DAEMON
        wrapper = self.directory / "heapwatchd"
        wrapper.write_text(f'#!/bin/sh\nexec nsenter --net=/run/netns/{self.space} {program} "$@"\n')
        wrapper.chmod(0o755)
        harness.DAEMON = wrapper
        try:
            return super().start()
        finally:
            harness.DAEMON = program


@contextlib.contextmanager
def network(machines):
    try:
        for command in (["link", "add", TAG, "type", "bridge"], ["addr", "add", f"{SUBNET}.1/24", "dev", TAG], ["link", "set", TAG, "up"]):
            done = ip(*command)
            assert done.returncode == 0, (command, done.stderr)
        for machine in machines:
            machine.make_space()
        yield
    finally:
        for machine in machines:
            machine.stop(signal.SIGKILL)
            ip("link", "del", machine.link)
            ip("netns", "del", machine.space)
        ip("link", "del", TAG)


def live_of(machine):
    """Target: live bytes, by the daemon itself; None until it has read all of every log."""
    updates, size = machine.snapshot(), LOG.stat().st_size
    if sum(u.health.bytes == size for u in updates.get("health", [])) < TARGETS:
        return None
    return {u.target: u.heap.live_bytes for u in updates["heap"]}


def metrics(port):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    c.request("GET", "/metrics")
    return c.getresponse().read().decode()


def by_label(text, name, label):
    return {m[1]: float(m[2]) for m in re.finditer(rf'^{name}{{[^}}]*{label}="([^"]*)"[^}}]*}} (\S+)', text, re.M)}


def test_a_fleet():
    require_namespaces()
    with private_directory() as d:
        machines = [Machine(d / f"m{i}", i) for i in range(DAEMONS)]
        config = d / "config" / "heapwatch"
        public = client("keys", "new", "ops", "--dir", config / "keys").stdout.decode().split()
        for machine in machines:
            assert client("keys", "authorize", *public, "--dir", machine.keys).returncode == 0
        (config / "hosts").write_text("".join(
            f"m{m.number}: {{ endpoint: '{m.endpoint}', server_key: \"{m.server}\" }}\n" for m in machines))
        env = {"XDG_CONFIG_HOME": str(d / "config")}
        hosts = list(itertools.chain(*(["--connect", f"m{m.number}"] for m in machines)))
        with network(machines), contextlib.ExitStack() as stack:
            for machine in machines:
                machine.start()
            expected = {}
            for machine in machines:
                expected |= wait_for(lambda: live_of(machine), f"daemon {machine.number} to have read its logs")
            web = subprocess.Popen([CLIENT, "web", "--listen", "127.0.0.1:0", "--no-token", *hosts], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, text=True, env={**os.environ, **env})
            stack.callback(web.wait)
            stack.callback(web.kill)
            port = int(re.search(r":(\d+)/", web.stdout.readline())[1])

            def up():
                return sorted(by_label(metrics(port), "heapwatch_daemon_up", "daemon").values())

            wait_for(lambda: by_label(metrics(port), "heapwatch_live_bytes", "target") == expected, "the page to have all numbers")
            assert up() == [1] * DAEMONS
            sheet, engine = d / "heapwatch.prom", None
            sinks = ["--textfile", sheet, "--journal", d / "journal"]
            if shutil.which(Victoria.program):
                engine = stack.enter_context(Victoria(d))
                sinks += ["--remote-write", engine.url]
            export = subprocess.Popen([CLIENT, "export", *sinks, "--interval", "1s", *hosts], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **env})
            stack.callback(export.wait)
            stack.callback(export.kill)
            wait_for(lambda: sheet.exists() and by_label(sheet.read_text(), "heapwatch_live_bytes", "target") == expected,
                     "the exporter to have all numbers", poll_s=0.5)

            def in_engine(since=0):
                """What one VictoriaMetrics has of all machines, by its newest samples."""
                found = engine.found("heapwatch_live_bytes")
                return {dict(labels)["target"]: values[max(values)] for (_, labels), values in found.items() if max(values) >= since}

            if engine:
                wait_for(lambda: in_engine() == expected, "the engine to have all numbers", poll_s=0.5)
            done = client("top", "--once", "--view", "targets", "--format", "json", *hosts, env=env)
            text = done.stdout.decode()
            assert done.returncode == 0 and all(f'"{name}"' in text for name in expected), (done.stderr, text[:2000])

            ip("link", "set", machines[0].link, "down")                     # cut off
            wait_for(lambda: up() == [0] + [1] * (DAEMONS - 1), "the cut to be noticed")
            ip("link", "set", machines[0].link, "up")
            began = time.monotonic()
            wait_for(lambda: up() == [1] * DAEMONS, "it to be back")
            back_s = time.monotonic() - began
            machines[1].stop(signal.SIGKILL)                                # killed
            wait_for(lambda: up() == [0] + [1] * (DAEMONS - 1), "the death to be noticed")
            machines[1].start()
            wait_for(lambda: up() == [1] * DAEMONS, "the new one")
            wait_for(lambda: by_label(metrics(port), "heapwatch_live_bytes", "target") == expected, "all numbers again")
            if engine:
                back = int(time.time()) + 1
                wait_for(lambda: in_engine(back) == expected, "all numbers in the engine again", poll_s=0.5)
            assert sum(m.status().daemon.handshakes_refused for m in machines) == 0
            print(f"{DAEMONS} daemons, {len(expected)} targets, back {back_s:.1f} s after the cut ended")
