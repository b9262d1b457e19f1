# SPDX-License-Identifier: BSD-3-Clause
"""The daemon that `run` and `attach` start: what it keeps, and that it comes back when it has died."""
import contextlib
import glob
import json
import os
import re
import select
import shutil
import signal
import subprocess
import time

import pytest

from harness import BUILD, CLIENT, DEADLINE_S, ROOT, WATCHED, Daemon, running, wait_for, written


class Own:
    """The daemon of a private directory of sockets and a private directory for state, which clients start."""

    def __init__(self, directory):
        self.sockets, self.home = directory / "s", directory / "h"
        self.sockets.mkdir(mode=0o700)
        self.home.mkdir()
        self.env = {**os.environ, "HEAPWATCH_DIR": str(self.sockets), "XDG_STATE_HOME": str(self.home)}
        self.api = Daemon(self.sockets)         # only to ask: it is not the one that starts it

    @property
    def state(self):
        [found] = (self.home / "heapwatch").glob("daemon*")
        return found

    def pid(self):
        return int(re.search(r"^pid (\d+)$", (self.state / "life").read_text(), re.M).group(1))

    def log(self):
        return (self.state / "daemon.log").read_text(errors="replace")

    def heapwatch(self, *arguments):
        return subprocess.run([CLIENT, *map(str, arguments)], env=self.env, capture_output=True, text=True,
                              timeout=DEADLINE_S, cwd=self.sockets, stdin=subprocess.DEVNULL)

    @contextlib.contextmanager
    def run(self, *arguments):
        """`heapwatch run`, and the program with it, which would outlive its keeper's death."""
        with running(CLIENT, "run", "--no-top", *arguments, env=self.env, text=True, cwd=self.sockets,
                     stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            try:
                yield process
            finally:
                process.terminate()
                process.wait(DEADLINE_S)

    def wait_answer(self, but=None):
        """Of a daemon, and of another process than `but`."""
        return wait_for(lambda: self.api.answers() and (pid := self.api.status().daemon.pid) != but and pid,
                        "an answer of a daemon that was started again")

    def end(self, sig):
        """Ends the daemon, and waits until it is gone. Its process."""
        pid = self.pid()
        os.kill(pid, sig)
        wait_for(lambda: not alive(pid), "its end")
        return pid

    def done(self):
        if list((self.home / "heapwatch").glob("daemon*/life")) and alive(self.pid()):
            self.end(signal.SIGKILL)


def alive(pid):
    """Any thread of it: its files are closed when the last one has ended, which may be after the first."""
    for path in glob.glob(f"/proc/{pid}/task/*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(path) as f:
            if f.read().rsplit(")", 1)[1].split()[0] not in "ZX":
                return True
    return False


@pytest.fixture
def own(directory):
    o = Own(directory)
    yield o
    o.done()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    out = tmp_path_factory.mktemp("serving")
    subprocess.run(["ghc", "-v0", "-O1", "-outputdir", out / "o", "-threaded", "-o", out / "serving",
                    "tests/programs/Serve.hs"], check=True, cwd=ROOT)
    return out / "serving"


def events(own, name):
    health = own.api.health(name)
    return health.events if health else 0


def seen_since(own, name):
    """The earliest event time of which it has a sample of live data, in ns."""
    history = own.heapwatch("ctl", "history", name, "live")
    assert history.returncode == 0, history.stderr
    return min(float(line.split()[0]) for line in history.stdout.splitlines()[1:])


def test_a_umask_that_takes_the_owners_own_rights(own, server):
    """It is the program's alone: what the daemon and `run` make can be read by them, and by those of later."""
    command = ("sh", "-c", f"umask; exec {server}")
    with running(CLIENT, "run", "--no-top", "--name", "u", "--", *command, env=own.env, umask=0o777, text=True, cwd=own.sockets,
                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        wait_for(lambda: events(own, "u"), "events")
        out, err = run.communicate(timeout=DEADLINE_S)
    assert out == "0777\n" and "u ended with status 0" in err
    own.end(signal.SIGTERM)
    for path in [own.sockets, own.home, *own.sockets.rglob("*"), *own.home.rglob("*")]:
        mode = path.stat().st_mode & 0o700
        assert mode == (0o700 if path.is_dir() else 0o600), path


def test_killed_three_times_it_comes_back_with_all_that_it_watched(own, programs, server):
    with (own.run("--name", "one", "--", programs["leaky"], 3000) as one,
          own.run("--name", "two", "--", programs["leaky"], 3000) as two,
          running(server, stdin=subprocess.PIPE) as attached):
        own.wait_answer()
        wait_for(lambda: own.heapwatch("attach", attached.pid, "--name", "three").returncode == 0, "the attached program")
        names = ("one", "two", "three")
        for name in names:
            wait_for(lambda: "census" in own.api.snapshot(name), f"bands of {name}")
        first = {name: seen_since(own, name) for name in names}
        pid = own.pid()
        for _ in range(3):
            at = time.time_ns()
            wait_for(lambda: all((c := own.state / "checkpoints" / f"{name}.checkpoint").exists() and
                                 c.stat().st_mtime_ns > at for name in names), "newer checkpoints")
            before = {name: events(own, name) for name in names}
            assert own.end(signal.SIGKILL) == pid
            pid = own.wait_answer(but=pid)      # the keeper of a program that runs has started it
            for name in names:
                wait_for(lambda: events(own, name) > before[name], f"further events of {name}")
                assert own.api.target(name).runs == 1, "its run goes on"
                assert seen_since(own, name) == first[name], "with its history"
            said = own.heapwatch("status").stdout
            assert "the daemon before this one was killed" in said, said
        recorded = own.heapwatch("recording").stdout
        assert all(name in recorded for name in names), recorded
        for program in (one, two):
            program.send_signal(signal.SIGTERM)
            assert "the daemon is back" in program.communicate(timeout=DEADLINE_S)[1]
        after = own.heapwatch("post-mortem", "recording:one")
        assert after.returncode == 0 and "SIGTERM" in after.stdout, after  # as it was asked to


def test_a_daemon_that_took_the_place_of_another_gets_the_target_again(own, programs):
    """Before its `run` has seen that the one before is gone, and before that one has made a checkpoint of it."""
    with own.run("--name", "one", "--", programs["leaky"], 3000) as one:
        pid = own.wait_answer()
        wait_for(lambda: own.api.snapshot("one").get("heap"), "live data")
        one.send_signal(signal.SIGSTOP)
        try:
            own.end(signal.SIGKILL)
            (own.state / "checkpoints" / "one.checkpoint").unlink()
            with own.run("--name", "two", "--", programs["leaky"], 3000):
                own.wait_answer(but=pid)
                wait_for(lambda: own.api.target("two"), "the second target")
                assert not own.api.target("one")
                one.send_signal(signal.SIGCONT)
                wait_for(lambda: (t := own.api.target("one")) and t.state == t.STATE_RUNNING, "the first one again")
                wait_for(lambda: (h := own.api.snapshot("one").get("heap")) and h[-1].heap.live_bytes, "its live data")
        finally:
            one.send_signal(signal.SIGCONT)
        one.send_signal(signal.SIGTERM)
        said = one.communicate(timeout=DEADLINE_S)[1]
        assert "one was ended by signal 15 (SIGTERM)" in said and "most live" in said, said
        wait_for(lambda: (t := own.api.target("one")) and t.state == t.STATE_ENDED, "its end")


@pytest.mark.skipif(WATCHED, reason="a sanitizer reports crashes itself")
def test_a_crash_leaves_its_stack_and_is_told(own, programs):
    with own.run("--name", "one", "--", programs["leaky"], 3000):
        pid = own.wait_answer()
        wait_for(lambda: own.api.target("one"), "the target")
        own.end(signal.SIGSEGV)
        own.wait_answer(but=pid)
        log = own.log()
        crash = re.search(r"^(\S+)Z error heapwatchd \S+ crashed: signal=SIGSEGV address=0x[0-9a-f]+", log, re.M)
        assert crash and crash.group(1)[:13] >= time.strftime("%Y-%m-%dT%H", time.gmtime(time.time() - 3600)), log
        assert len(re.findall(r"heapwatchd\(\S*\+0x[0-9a-f]+\)", log)) > 2, log
        assert re.search(r"the daemon before this one ended by SIGSEGV at \S+; this one was started at \S+",
                         own.heapwatch("status").stdout)


def test_one_that_was_asked_to_end_is_not_started_again(own, programs):
    with own.run("--name", "one", "--", programs["leaky"], 3000) as run:
        own.wait_answer()
        wait_for(lambda: own.api.target("one"), "the target")
        pid = own.end(signal.SIGTERM)
        for line in run.stderr:
            if "the daemon is gone" in line:
                break
        run.send_signal(signal.SIGTERM)
        run.communicate(timeout=DEADLINE_S)
        assert own.pid() == pid, "no other daemon has begun"
    top = own.heapwatch("top", "--once", "--plain")
    assert top.returncode == 2 and "no daemon answers" in top.stderr, top


def test_top_starts_one_again_that_died(own, programs):
    done = own.heapwatch("run", "--no-top", "--name", "one", "--", programs["leaky"], 2)
    assert done.returncode == 0, done.stderr
    wait_for(lambda: (own.state / "checkpoints" / "one.checkpoint").exists(), "its checkpoint")
    pid = own.end(signal.SIGKILL)
    top = own.heapwatch("top", "--once", "--plain")
    assert top.returncode == 0 and "one" in top.stdout, top
    assert "was started again, because the one before it was killed" in top.stderr, top
    assert own.pid() != pid


def test_what_is_kept_is_said_and_can_be_left_out(own, programs):
    done = own.heapwatch("run", "--no-top", "--name", "one", "--no-record", "--", programs["leaky"], 2)
    assert done.returncode == 0 and "it keeps no checkpoints and no recordings" in done.stderr, done.stderr
    assert {p.name for p in own.state.iterdir()} == {"life", "daemon.log"}
    own.end(signal.SIGTERM)
    done = own.heapwatch("run", "--no-top", "--name", "two", "--", programs["leaky"], 2)
    assert f"at most 256 MiB of recordings, in {own.state} (--no-record: none)" in done.stderr, done.stderr
    assert "recorded: heapwatch post-mortem recording:two" in done.stderr, done.stderr
    done = own.heapwatch("run", "--no-top", "--name", "three", "--no-record", "--", programs["leaky"], 2)
    assert "recorded:" not in done.stderr and "started" not in done.stderr, done.stderr
    assert {p.name for p in (own.state / "recordings").iterdir()} == {".lock", "two"}


def test_its_removed_directory_is_made_again(own, programs):
    with own.run("--name", "one", "--", programs["leaky"], 3000):
        pid = own.wait_answer()
        wait_for(lambda: (own.state / "recordings" / "one").exists(), "a recording")
        shutil.rmtree(own.home / "heapwatch")
        wait_for(lambda: list((own.home / "heapwatch").glob("daemon*/life")), "its life")
        wait_for(lambda: (own.state / "recordings" / "one").exists(), "the rest of the recording")
        assert own.end(signal.SIGKILL) == pid
        own.wait_answer(but=pid)        # a client starts it again only where it can read how the one before ended


def test_it_keeps_nothing_open_that_was_given_to_the_program(own, programs):
    """A socket of socket activation, whose port would stay taken when the program has ended."""
    ends, given = os.pipe()
    done = subprocess.run([CLIENT, "run", "--no-top", "--", programs["leaky"], "1"], env=own.env, pass_fds=[given],
                          capture_output=True, timeout=DEADLINE_S)
    os.close(given)
    assert done.returncode == 0 and own.api.answers()
    with open(ends, "rb") as end:
        assert select.select([end], [], [], 0)[0] and end.read() == b""


def test_a_limit_of_file_sizes_ends_neither_the_daemon_nor_run(own, programs):
    """Their log, recordings and checkpoints are over it; the program gets the signal as it was."""
    done = subprocess.run(["sh", "-c", 'ulimit -f 1; exec "$@"', "sh", CLIENT, "run", "--no-top", "--name", "one", "--", "sh", "-c",
                           f"grep SigIgn /proc/self/status; {programs['leaky']} 2; kill -XFSZ $$"],
                          env=own.env, capture_output=True, text=True, timeout=DEADLINE_S, cwd=own.sockets)
    ignored = int(re.match(r"SigIgn:\t([0-9a-f]+)\n", done.stdout)[1], 16)
    assert done.returncode == 128 + signal.SIGXFSZ and not ignored >> (signal.SIGXFSZ - 1) & 1, done.stdout
    assert "not recorded: " in done.stderr and done.stderr.count("File too large") == 1, done.stderr
    assert own.api.status().daemon.pid == own.pid() and (own.state / "daemon.log").stat().st_size == 512


def test_without_a_place_for_it_nothing_is_kept_and_that_is_said(own, programs):
    (own.home / "heapwatch").write_text("a file, where the directory should be")
    for home, why in (str(own.home), "Not a directory"), ("/sys/fs/none", "(not permitted|denied|Read-only)"):
        own.env["XDG_STATE_HOME"] = home
        done = own.heapwatch("run", "--no-top", "--name", "one", "--", programs["leaky"], 2)
        assert done.returncode == 0 and "one ended with status 0" in done.stderr and own.api.answers()
        [said] = re.findall(f"keeps neither checkpoints nor recordings: {home}/heapwatch.*", done.stderr)
        assert re.search(why, said), said
        pid = own.api.status().daemon.pid
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not alive(pid), "its end")


@pytest.mark.parametrize("kept", ["--checkpoint", "--record"])
def test_two_daemons_do_not_share_what_they_keep(directory, kept):
    (directory / "b").mkdir(mode=0o700)
    kept = (kept, str(directory / "state.d"))
    with Daemon(directory, args=kept) as first:
        refused = subprocess.run([BUILD / "heapwatchd", "--publish", f"ipc://{directory}/b/publish", "--request",
                                  f"ipc://{directory}/b/request", *kept], capture_output=True, text=True, timeout=DEADLINE_S)
        assert refused.returncode == 1, refused
        assert f"{directory}/state.d is used by another daemon, process {first.process.pid}\n" in refused.stderr
    with Daemon(directory, args=kept):
        pass


@pytest.mark.skipif(WATCHED, reason="a sanitizer reports crashes itself")
def test_checkpoints_that_end_each_daemon_are_set_aside(directory):
    """A damaged state must not keep the daemon down for good: after three crashes in a row it is not read any more."""
    log = written(directory / "run.eventlog", (ROOT / "tests/data/logs/leaky-hT-ghc9103/run.eventlog").read_bytes())
    daemon = Daemon(directory, f"a={log}", args=("--checkpoint", str(directory / "state.d"), "--checkpoint-every", "100ms"))
    for _ in range(3):
        daemon.start()
        wait_for(lambda: (directory / "state.d" / "a.checkpoint").exists(), "a checkpoint")
        assert not (directory / "state.d" / "a.checkpoint.aside").exists()
        assert daemon.stop(signal.SIGSEGV) == -signal.SIGSEGV
    with daemon:
        assert (directory / "state.d" / "a.checkpoint.aside").exists()
        assert "3 daemons in a row crashed soon after their start" in daemon.log.read_text()
        daemon.wait_state("a", "ENDED")


def test_recordings_of_ended_programs_are_found_after_a_restart(own, programs):
    """By the very command that `run` prints, also when a daemon after the one that recorded them has that target."""
    done = own.heapwatch("run", "--no-top", "--name", "one", "--", programs["leaky"], 2)
    command = re.search(r"recorded: heapwatch (.+)", done.stderr).group(1).split()
    assert command == ["post-mortem", "recording:one"]
    ended_ns = time.time_ns()
    wait_for(lambda: own.api.target("one").kept, "its end")
    wait_for(lambda: (own.state / "checkpoints" / "one.checkpoint").stat().st_mtime_ns > ended_ns, "a checkpoint of that")
    assert own.heapwatch(*command).returncode == 0
    own.end(signal.SIGKILL)
    alone = own.heapwatch(*command)
    assert alone.returncode == 0 and "one" in alone.stdout, "it needs no daemon"
    said = own.heapwatch("diff", "recording:one", "recording:one", "--format", "json")
    names = {q["name"] for q in json.loads(said.stdout)["quantities"]}
    assert "peak(live)" in names and not any("rss" in n for n in names), "it has the last value of RSS alone"
    assert own.heapwatch("top", "--once", "--plain").returncode == 0        # starts the next one
    wait_for(lambda: own.api.target("one").kept, "the ended target")
    after = own.heapwatch(*command)
    assert after.returncode == 0 and "one" in after.stdout, after
    out = own.sockets / "one.eventlog"
    assert own.heapwatch("recording", "dump", "one", "-o", out).returncode == 0 and out.stat().st_size > 0
    assert own.heapwatch("remove", "one").returncode == 0
    assert own.heapwatch(*command).returncode == 0, "it needs no target"
    unknown = own.heapwatch("recording", "dump", "two", "-o", own.sockets / "two.eventlog")
    assert unknown.returncode == 2 and "nothing of 'two' is recorded" in unknown.stderr, unknown
