# SPDX-License-Identifier: BSD-3-Clause
"""What the disk does to the flight recorder: recording pauses, says so on every face, and resumes; monitoring goes on."""
import os
import pathlib
import random
import subprocess

import pytest

from harness import Daemon, client, pb, printed, wait_for, written
from live_log import LiveLog

SECOND = 10**9
RULES = "groups: [{name: stream, rules: [{alert: recording-paused, for: 1s}]}]\n"
NOISE = random.Random(15)       # what does not compress


class Program:
    """A log that grows by `write`, and the daemon that watches and records it."""

    def __init__(self, directory, record, free="1MiB", others=()):
        self.directory, self.second = pathlib.Path(directory), 0
        rules, config = self.directory / "rules.yaml", self.directory / "c.yaml"
        rules.write_text(RULES)
        config.write_text(f"record: {{directory: {record}, free: {free}}}\n")
        sources = [f"{name}={self.directory}/{name}.eventlog" for name in ("t", *others)]
        self.daemon = Daemon(directory, *sources, args=["--config", config, "--rules", rules])
        self.daemon.start()
        self.log = LiveLog(self.directory / "t.eventlog")

    def write(self, noise=100):
        self.second += 1
        self.log.live(1 << 20, self.second * SECOND)
        for i in range(noise):
            self.log.marker(NOISE.randbytes(400).hex(), self.second * SECOND + i + 1)

    def recording(self):
        health = self.daemon.health("t")
        return health.recording if health else pb.Recording()

    def paused(self):
        """Writes on, and waits until it is."""
        def now():
            self.write()
            return self.recording().paused
        wait_for(now, "a pause", poll_s=0.2)
        return self.recording().detail

    def alert(self, target="t"):
        for update in self.daemon.snapshot(target).get("alerts", []):
            for a in update.alerts.alerts:
                if a.rule == "recording-paused":
                    return a
        return None

    def is_watched(self):
        """All that is written is read, whatever the disk does."""
        self.write()
        size = os.path.getsize(self.log.path)
        wait_for(lambda: self.daemon.health("t").bytes == size, "all of it read")

    def says_so(self, why):
        fired = wait_for(lambda: (a := self.alert()) and a.state == pb.Alert.STATE_FIRING and a, "the alert")
        assert why in fired.sentence, fired
        env = {"HEAPWATCH_DIR": str(self.directory)}
        for face in (("status",), ("alerts",)):
            assert why in client(*face, env=env).stdout.decode(), face
        assert why in client("top", "--once", "--view", "overview", "t", env={**env, "COLUMNS": "160"}).stdout.decode()

    def resumes(self):
        def now():
            self.write()
            return not self.recording().paused
        wait_for(now, "recording again", poll_s=0.2)
        wait_for(lambda: self.alert().state == pb.Alert.STATE_RESOLVED, "the alert's end")
        log = self.daemon.log.read_text()
        assert log.count("paused:") == 1 and log.count("resumed") == 1, log
        self.write()
        self.is_watched()
        path = self.directory / "dumped.eventlog"
        printed("recording", "dump", "t", "-o", path, env={"HEAPWATCH_DIR": str(self.directory)})
        summary = client("summary", path).stdout.decode()
        assert "nothing lost" in summary


@pytest.fixture
def disk(directory):
    path = pathlib.Path(directory) / "disk"
    path.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m,nr_inodes=20,mode=700", "none", path],
                                           stderr=subprocess.DEVNULL).returncode:
        pytest.skip("no disk can be mounted here: that needs root")
    yield path
    Daemon.started[-1].kill()
    Daemon.started[-1].wait()
    subprocess.run(["umount", path], check=True)


def test_full(directory, disk):
    """A disk without a free inode is full, whatever its size."""
    program = Program(directory, disk / "kept")
    fillers = []
    with pytest.raises(OSError):
        while True:
            fillers.append(disk / str(len(fillers)))
            fillers[-1].touch()
    assert "No space left" in program.paused()
    program.is_watched()
    program.says_so("No space left")
    lost = program.recording().lost_bytes
    assert lost > 0
    for filler in fillers[:-1]:
        filler.unlink()
    program.resumes()


def test_read_only(directory, disk):
    program = Program(directory, disk)
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    assert "Read-only" in program.paused()
    program.is_watched()
    program.says_so("Read-only")
    subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
    program.resumes()


def test_floor_of_free_space(directory, disk):
    """Less than what is to be left free: nothing is written, until there is more."""
    filler = written(disk / "filler", bytes(4 << 20))
    program = Program(directory, disk / "kept", "5MiB")
    assert program.paused() == "less than 5.00 MiB is free on its disk"
    program.says_so("less than 5.00 MiB")
    filler.unlink()
    program.resumes()


def test_one_alert_for_all_targets(directory, disk):
    """Three targets, one disk: one of them says so and how many others there are; each says it of itself in its state."""
    (disk / "filler").write_bytes(bytes(4 << 20))
    names = ("t", "u", "v")
    program = Program(directory, disk / "kept", "5MiB", others=names[1:])
    for name in names[1:]:
        LiveLog(program.directory / f"{name}.eventlog").live(1 << 20, SECOND)
    program.paused()
    wait_for(lambda: all((h := program.daemon.health(n)) and h.recording.paused for n in names), "all of them paused")

    def told():
        firing = [a for n in names if (a := program.alert(n)) and a.state == pb.Alert.STATE_FIRING]
        return len(firing) == 1 and "the same holds for 2 other targets" in firing[0].sentence

    wait_for(told, "one alert")
    listed = client("alerts", env={"HEAPWATCH_DIR": str(directory)}).stdout.decode()
    assert listed.count("recording-paused") == 1, listed


def test_a_disk_that_others_fill_costs_no_recording(directory, disk):
    program = Program(directory, disk / "kept", "2MiB")
    program.write()
    kept = wait_for(lambda: {path: path.stat().st_size for path in (disk / "kept").rglob("0*.zst")}, "a segment on disk")
    filler = written(disk / "filler", bytes(7 << 20))
    reason = program.paused()       # a write that fails may come before the next look at the free space
    assert reason in ("less than 2.00 MiB is free on its disk", "No space left on device")
    program.says_so(reason)
    listed = client("recording", env={"HEAPWATCH_DIR": str(directory)})
    assert b"recording is paused: " in listed.stderr and b"; it resumes by itself" in listed.stderr
    assert b"being recorded" not in listed.stdout and b"  unknown  paused" in listed.stdout, listed.stdout  # what is lost meanwhile
    assert all(path.exists() and path.stat().st_size >= size for path, size in kept.items()), "nothing was removed"
    filler.unlink()
    program.resumes()


def test_full_from_the_start_of_a_run(directory, disk, programs):
    """Nothing of it is on disk, and nobody says that it was; neither while it runs nor once it has ended, on any face."""
    (disk / "filler").write_bytes(bytes(7 << 20))
    (pathlib.Path(directory) / "c.yaml").write_text(f"record: {{directory: {disk}/kept, free: 5MiB}}\n")
    env = {"HEAPWATCH_DIR": str(directory)}
    with Daemon(directory, args=["--config", pathlib.Path(directory) / "c.yaml"]) as daemon:
        ran = client("run", "--no-top", "--name", "mine", "--", programs["leaky"], "2", env=env)
        said = ran.stderr.decode()
        assert ran.returncode == 0 and "post-mortem" not in said, said
        assert "not recorded: " in said and "eventlog: less than 5.00 MiB is free on its disk" in said, said
        status = wait_for(lambda: "not recorded" in (s := client("status", env=env).stdout.decode()) and s, "the loss")
        assert "recorded 0 B  not recorded " in status, status
        after = client("post-mortem", "mine", env=env).stdout.decode()
        assert "not recorded: all " in after and "; recorded" not in after, after
        health = daemon.health("mine").recording
        assert health.lost_bytes == health.bytes > 0 and not health.paused


def test_checkpoints_that_cannot_be_written(directory, disk):
    """The status says so, since when and why, until one is written again."""
    env, fillers = {"HEAPWATCH_DIR": str(directory)}, []
    log = LiveLog(pathlib.Path(directory) / "t.eventlog")
    log.live(1 << 20, SECOND)
    with Daemon(directory, f"t={log.path}", args=["--checkpoint", disk / "state", "--checkpoint-every", "100ms"]):
        status = lambda: client("status", env=env).stdout.decode()
        wait_for(lambda: list((disk / "state").glob("t.checkpoint")), "a checkpoint")
        assert "checkpoints cannot" not in status()
        with pytest.raises(OSError):
            while True:
                fillers.append(disk / str(len(fillers)))
                fillers[-1].touch()

        def is_said():
            log.live(1 << 20, (len(fillers) + is_said.times) * SECOND)
            is_said.times += 1
            return [line for line in status().splitlines() if line.startswith("checkpoints cannot be written since 20")]
        is_said.times = 0
        [line] = wait_for(is_said, "the failure", poll_s=0.1)
        assert ": No space left on device; " in line
        for filler in fillers[:-1]:
            filler.unlink()
        wait_for(lambda: not is_said(), "its end", poll_s=0.1)


SLOW = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
        ssize_t (*real)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");

        while (access(HANGS, F_OK) == 0)
                usleep(10000);
        return real(fd, bytes, n, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
        return pwrite(fd, bytes, n, at);
}
"""


@pytest.fixture
def hangs(directory, monkeypatch):
    """While this file is there, the recorder's disk hangs."""
    flag, library = pathlib.Path(directory) / "hangs", pathlib.Path(directory) / "slow.so"
    subprocess.run(["gcc", "-x", "c", "-shared", "-fPIC", "-O1", f'-DHANGS="{flag}"', "-o", library, "-", "-ldl"],
                   input=SLOW.encode(), check=True)
    monkeypatch.setenv("LD_PRELOAD", str(library))
    monkeypatch.setenv("ASAN_OPTIONS", os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0")
    return flag


def test_stopped(directory, hangs, monkeypatch):
    program = Program(directory, pathlib.Path(directory) / "kept")
    monkeypatch.delenv("LD_PRELOAD")
    program.write()
    wait_for(lambda: program.recording().bytes > 0, "recording")
    hangs.touch()

    def slow():
        program.write(1000)
        return program.recording().paused
    wait_for(slow, "a pause", poll_s=0.1)
    assert "in time" in program.recording().detail
    program.is_watched()
    program.says_so("the disk ")
    hangs.unlink()
    program.resumes()


def test_many_targets_end_in_time_whatever_the_disk_does(directory, hangs, monkeypatch):
    """What could not be written is said; the next daemon reads it again from the files."""
    logs = [LiveLog(pathlib.Path(directory) / f"t{i}.eventlog") for i in range(500)]
    for second in range(1, 4):
        for log in logs:
            log.live(second << 20, second * SECOND)
    args = ["--record", f"{directory}/kept", "--checkpoint", f"{directory}/state.d", "--checkpoint-every", "1s"]
    daemon = Daemon(directory, *(f"{log.path.stem}={log.path}" for log in logs), args=args)
    daemon.start()
    monkeypatch.delenv("LD_PRELOAD")

    def all_are_read(second):
        targets = [u for u in daemon.status().targets if u.WhichOneof("body") == "target_state"]
        return len(targets) == len(logs) and all(u.event_time_ns >= second * SECOND for u in targets)

    wait_for(lambda: all_are_read(3), "all targets")
    hangs.touch()
    for log in logs:
        log.live(4 << 20, 4 * SECOND)
    wait_for(lambda: all_are_read(4), "what the disk does not take")
    assert daemon.stop() == 0
    assert "could not be written in time" in daemon.log.read_text()
    hangs.unlink()
    daemon.start()
    wait_for(lambda: all_are_read(4), "all targets again")
    assert all(u.target_state.runs == 1 for u in daemon.status().targets if u.WhichOneof("body") == "target_state")
    daemon.stop()
