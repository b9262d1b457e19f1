#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random faults against one daemon; another one without faults reads the same growing logs.

    tests/attack/soak.py [--seconds S] [--seed N]

After each fault the healthy targets of both must have the same numbers, and the daemon must answer. Randomness comes
from the seed, which is printed: sizes, order and bytes are repeatable, times are not. Ends with 1 at the first
difference, with the fault, the seed and both numbers.
"""
import argparse
import contextlib
import multiprocessing
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import time

import common
import zmq
from clients import attack_for_ever, come_and_go, endless, toggle
from harness import CLIENT, DEADLINE_S, LOGS, Daemon, Programs, pb, private_directory, wait_for
from live_log import LiveLog

HEALTHY = 3
PROGRAMS = Programs({"exits": ("Exits", "Exits", "-threaded")})
RECORDED = sorted(p for p in LOGS.glob("*/run.eventlog") if p.stat().st_size < 300_000)


class Soak:
    def __init__(self, directory, seed):
        self.random, self.directory, self.faults = random.Random(seed), directory, 0
        self.logs = [LiveLog(directory / f"healthy-{i}.eventlog") for i in range(HEALTHY)]
        self.hostile = 0
        (directory / "a").mkdir(mode=0o700)
        (directory / "b").mkdir(mode=0o700)
        targets = [f"h{i}={log.path}" for i, log in enumerate(self.logs)]
        self.tormented, self.quiet = Daemon(directory / "a", *targets), Daemon(directory / "b", *targets)

    # ------------------------------------------------------- what healthy programs do

    def grow(self):
        for log in self.logs:
            for _ in range(self.random.randrange(1, 5)):
                if self.random.random() < 0.5:
                    log.live(self.random.randrange(1 << 20, 1 << 26))
                else:
                    log.census({f"band-{i}": self.random.randrange(1, 1 << 20) for i in range(self.random.randrange(1, 40))})

    def numbers(self, daemon):
        found = {}
        for i in range(HEALTHY):
            said = daemon.snapshot(f"h{i}")
            heap, census = said.get("heap"), said.get("census")
            health = daemon.health(f"h{i}")
            found[f"h{i}"] = (heap and (heap[0].heap.live_bytes, heap[0].heap.max_live_bytes, heap[0].heap.heap_size_bytes),
                              census and (census[0].census.number, census[0].census.total_bytes,
                                          sorted(zip(census[0].census.band, census[0].census.bytes))),
                              health and (health.bytes, health.events, health.lost_bytes))
        return found

    def compare(self, fault):
        """The same numbers in both, as soon as both have read all."""
        last = [None, None]

        def same():
            if self.tormented.process.poll() is not None:
                raise AssertionError(f"the daemon ended with {self.tormented.process.returncode}: "
                                     + self.tormented.log.read_text()[-1500:])
            with contextlib.suppress(TimeoutError):
                last[:] = self.numbers(self.tormented), self.numbers(self.quiet)
                return last[0] == last[1]

        try:
            wait_for(same, "equal numbers", poll_s=0.1)
        except AssertionError as e:
            raise AssertionError(f"fault {self.faults} ({fault}): {e}\ntormented: {last[0]}\nundisturbed: {last[1]}") from None

    # ------------------------------------------------------------------------- faults

    def fault_kill(self):
        self.tormented.stop(signal.SIGKILL)
        self.grow()
        self.tormented.start()

    def fault_stop(self):
        self.tormented.process.send_signal(signal.SIGSTOP)
        self.grow()
        time.sleep(self.random.uniform(0.1, 1.5))
        self.tormented.process.send_signal(signal.SIGCONT)

    def is_answered(self):
        wait_for(self.tormented.answers, "an answer")

    def fault_sockets(self):
        """Removed, one or all, or with the directory, as at logout: the daemon makes them again."""
        names, directory = ["publish", "request"], self.tormented.directory
        gone = self.random.randrange(4)
        if gone == 3:
            directory.rename(self.directory / f"gone-{self.faults}")
        else:
            for name in names[gone % 2:gone + 1]:
                (directory / name).unlink()
        self.grow()
        wait_for(lambda: all((directory / name).exists() for name in names), "the sockets")
        self.is_answered()

    def fault_session(self):
        """A program and the `heapwatch run` that started it are killed at once, at any moment, the daemon being stopped or not:
        the name is free for the next run, which is watched."""
        def run(*words):
            return subprocess.Popen([CLIENT, "run", "--no-top", "--name", "svc", "--", PROGRAMS["exits"], *map(str, words)],
                                    env={**os.environ, "HEAPWATCH_DIR": str(self.tormented.directory)}, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)

        killed, stopped = run("return", 600), self.random.random() < 0.5
        time.sleep(self.random.uniform(0, 1.5))
        if stopped:
            self.tormented.process.send_signal(signal.SIGSTOP)
            time.sleep(self.random.uniform(0, 0.5))
        os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate()
        self.grow()
        self.tormented.process.send_signal(signal.SIGCONT)
        self.is_answered()
        out, err = run("print", 0.5).communicate(timeout=DEADLINE_S)
        assert out == "fine\n" and "unwatched" not in err and "svc ended with status 0" in err, (out, err)
        target = self.tormented.wait_state("svc", "ENDED")
        assert target.run_info.ghc_version, target

    def fault_descriptors(self):
        """So few descriptors that no file can be opened for a while. No connections meanwhile: see test_h1."""
        pid = self.tormented.process.pid
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (len(os.listdir(f"/proc/{pid}/fd")), before[1]))
        self.grow()
        time.sleep(0.3)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)

    def fault_memory(self):
        """A bound on its address space a little above what it has; then hostile targets want more."""
        pid = self.tormented.process.pid
        size = int(open(f"/proc/{pid}/statm").read().split()[0]) * resource.getpagesize()
        before = resource.prlimit(pid, resource.RLIMIT_AS)
        resource.prlimit(pid, resource.RLIMIT_AS, (size + (256 << 20), before[1]))
        self.fault_hostile_target()
        resource.prlimit(pid, resource.RLIMIT_AS, before)

    def mutated(self, data):
        data = bytearray(data)
        for _ in range(self.random.randrange(1, 12)):
            at, n = self.random.randrange(len(data)), self.random.randrange(1, 400)
            what = self.random.randrange(4)
            if what == 0:
                data[at:at + n] = self.random.randbytes(n)
            elif what == 1:
                del data[at:at + n]
            elif what == 2:
                data[at:at] = data[at - n if at > n else 0:at]
            else:
                data[at:at + 1] = b"\xff" * n
            if not data:
                data = bytearray(b"x")
        return bytes(data)

    def fault_hostile_target(self):
        """Damaged logs and noise, a piece at a time; healthy programs write between the pieces."""
        for _ in range(self.random.randrange(1, 4)):
            self.hostile += 1
            path = self.directory / f"hostile-{self.hostile}"
            data = self.mutated(self.random.choice(RECORDED).read_bytes()) if self.random.random() < 0.8 else \
                self.random.randbytes(100_000)
            self.tormented.ask(pb.Request(add_target=pb.AddTargetRequest(name=f"x{self.hostile}", uri=str(path))))
            with open(path, "ab", buffering=0) as f:
                for i in range(0, len(data), len(data) // 4 + 1):
                    f.write(data[i:i + len(data) // 4 + 1])
                    self.grow()
        if self.random.random() < 0.7:
            for i in range(max(1, self.hostile - 5), self.hostile + 1):
                self.tormented.ask(pb.Request(remove_target=pb.RemoveTargetRequest(name=f"x{i}")))

    def requests(self):
        """Requests of all kinds, most of them mutated."""
        good = [pb.Request(id=1, status=pb.StatusRequest()), pb.Request(id=2, snapshot=pb.SnapshotRequest()),
                pb.Request(id=3, history=pb.HistoryRequest(target="h0", series=1)),
                pb.Request(id=4, history=pb.HistoryRequest(target="h1", band=1)),
                pb.Request(id=5, reload=pb.ReloadRequest()), pb.Request(id=6, silences=pb.SilencesRequest())]
        for _ in range(self.random.randrange(50, 400)):
            packed = self.random.choice(good).SerializeToString()
            yield self.mutated(packed)[:5000] if self.random.random() < 0.7 else packed

    def fault_requests(self):
        """A whole session of a hostile client, while programs write."""
        s = zmq.Context.instance().socket(zmq.DEALER)
        s.linger = 0
        s.connect(self.tormented.request_endpoint)
        for i, packed in enumerate(self.requests()):
            with contextlib.suppress(zmq.Again):
                s.send(packed, zmq.DONTWAIT)
            if i % 100 == 0:
                self.grow()
        if self.random.random() < 0.5:
            time.sleep(0.2)     # else it leaves with the answers under way
        s.close()

    def fault_subscribers(self):
        """Some that read nothing, some that leave in the middle, noise on the sockets."""
        held = []
        for _ in range(self.random.randrange(1, 20)):
            s = zmq.Context.instance().socket(zmq.SUB)
            s.linger, s.rcvhwm = 0, 1
            s.connect(self.tormented.publish)
            s.subscribe(self.random.choice([b"", b"hw1/", b"hw1/heap/", self.random.randbytes(900)]))
            held.append(s)
        for name in ("publish", "request"):
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as s:
                s.settimeout(1)
                s.connect(str(self.tormented.directory / name))
                s.sendall(self.random.randbytes(self.random.randrange(1, 5000)))
        self.grow()
        time.sleep(0.2)
        for s in held:
            s.close()

    def fault_subscriptions(self):
        """Subscribing and unsubscribing as fast as it goes, connecting again and again, messages that do not end."""
        for attack, door in ((toggle, "publish"), (come_and_go, "publish"), (endless, "publish"), (endless, "request")):
            child = multiprocessing.Process(target=attack_for_ever, daemon=True, args=(
                attack, str(self.tormented.directory / door), self.faults, time.time() + self.random.uniform(0.2, 1)))
            child.start()
            while child.is_alive():
                self.grow()
                time.sleep(0.05)

    def fault_full_disk(self):
        """No room for the daemon's own state: silences still work. As root; otherwise a small step."""
        state = self.tormented.directory / "state"
        state.mkdir(exist_ok=True)
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k,nr_inodes=2", "none", state],
                                               stderr=subprocess.DEVNULL).returncode != 0:
            return self.grow()
        try:
            for i in range(20):
                self.tormented.ask(pb.Request(silence=pb.SilenceRequest(rule=f"r{i}" * 20, duration_ns=10**9 * 60)))
            self.grow()
        finally:
            subprocess.run(["umount", "-l", state], check=True)

    FAULTS = ["kill", "stop", "sockets", "session", "descriptors", "memory", "hostile_target", "requests", "subscribers", "subscriptions",
              "full_disk"]

    def run(self, seconds):
        with self.tormented, self.quiet:
            self.grow()
            self.compare("the beginning")
            end, order = time.monotonic() + seconds, []
            while time.monotonic() < end:
                order = order or self.random.sample(self.FAULTS, len(self.FAULTS))   # each before any comes again
                fault = order.pop()
                self.faults += 1
                getattr(self, "fault_" + fault)()
                self.grow()
                self.compare(fault)
            return self.faults


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--seconds", type=float, default=float(os.environ.get("ATTACK_S", "480")))
    p.add_argument("--seed", type=int, default=int(os.environ.get("ATTACK_SEED", random.SystemRandom().randrange(1 << 31))))
    o = p.parse_args()
    print(f"soak: seed {o.seed}, {o.seconds:g} s", flush=True)
    with private_directory() as directory:
        try:
            faults = Soak(directory, o.seed).run(o.seconds)
        except AssertionError as e:
            print(f"soak: seed {o.seed}: {e}", file=sys.stderr)
            return 1
    print(f"soak: seed {o.seed}: {faults} faults, all numbers equal to those of an undisturbed daemon")
    return 0


if __name__ == "__main__":
    sys.exit(main())
