# SPDX-License-Identifier: BSD-3-Clause
"""Clocks that are set while a program is watched: forward and back, by three days."""
import contextlib
import json
import os
import sqlite3
import subprocess
import time

import pytest

from harness import CLIENT, DEADLINE_S, LOGS, Daemon, Programs, client, pb, require_tracing, running, wait_for

SHIM = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long offset_s(void)
{
        static const char *path;
        long s = 0;
        FILE *f;

        if (!path)
                path = getenv("CLOCK_OFFSET_FILE");
        f = path ? fopen(path, "re") : NULL;
        if (f) {
                if (fscanf(f, "%ld", &s) != 1)
                        s = 0;
                fclose(f);
        }
        return s;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
        int r = (int)syscall(SYS_clock_gettime, clock, t);

        if (r == 0 && clock == CLOCK_REALTIME)
                t->tv_sec += offset_s();
        return r;
}

time_t time(time_t *ret)
{
        struct timespec t;

        clock_gettime(CLOCK_REALTIME, &t);
        if (ret)
                *ret = t.tv_sec;
        return t.tv_sec;
}
"""
DAYS_S = 3 * 24 * 3600


@pytest.fixture(scope="module")
def programs():
    return Programs({"serving-threaded": ("serving-threaded", "Serve", "-threaded")})


def with_offset(directory, seconds):
    """The environment of a program whose wall clock is ahead by what is in the file `offset`."""
    (directory / "shim.c").write_text(SHIM)
    (directory / "offset").write_text(str(seconds))
    built = subprocess.run(["gcc", "-shared", "-fPIC", "-o", directory / "shim.so", directory / "shim.c"], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return {"LD_PRELOAD": str(directory / "shim.so"), "CLOCK_OFFSET_FILE": str(directory / "offset")}


@pytest.mark.parametrize(("offset_s", "said"), [(DAYS_S, "fast by 3d 00h"), (-DAYS_S, "slow by 3d 00h")], ids=["fast", "slow"])
def test_a_program_with_a_clock_of_its_own(directory, programs, offset_s, said):
    """Made up, or set since it began: its process is known all the same, and its times are the machine's."""
    env = with_offset(directory, offset_s)
    with Daemon(directory) as daemon, running(
            CLIENT, "run", "--no-top", "--name", "mine", "--", "sh", "-c",
            f"LD_PRELOAD=$LD_PRELOAD:{env['LD_PRELOAD']} CLOCK_OFFSET_FILE={env['CLOCK_OFFSET_FILE']} exec {programs['serving-threaded']}",
            env={**os.environ, "HEAPWATCH_DIR": str(directory)}, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL):
        wait_for(lambda: any(said in n.text for u in daemon.snapshot("mine").get("notes", []) for n in u.notes.notes), "the note")
        assert abs(daemon.target("mine").run_info.start_wall_ns / 1e9 - time.time()) < 3600
        assert wait_for(lambda: daemon.target("mine").run_info.local, "its process")


@pytest.mark.parametrize("step_s", [DAYS_S, -DAYS_S], ids=["forward", "back"])
def test_a_clock_that_is_set(directory, programs, step_s):
    """heapwatchd's wall clock alone, as after a step of the machine's, which no clock that events have takes part in."""
    require_tracing()
    offset = directory / "offset"
    env = with_offset(directory, 0)

    rules = directory / "rules.yaml"
    rules.write_text("groups:\n- name: g\n  rules:\n  - {alert: waits, expr: restarts >= 0, for: 10s}\n")

    def start_daemon():
        with pytest.MonkeyPatch.context() as environment:
            for name, value in env.items():
                environment.setenv(name, value)
            return stack.enter_context(Daemon(directory, args=("--resolution", "1s", "--rules", rules, "--record", directory / "recordings",
                                                               "--checkpoint", directory / "state")))

    with contextlib.ExitStack() as stack:
        d = start_daemon()
        p = stack.enter_context(running(programs["serving-threaded"], stdin=subprocess.PIPE))
        wait_for(lambda: client("attach", p.pid, "--name", "c", env={"HEAPWATCH_DIR": str(directory)}).returncode == 0, "the agent in it")
        before = wait_for(lambda: (t := d.target("c")) and t.run_info.local and t.run_info.start_wall_ns and t, "its process")

        def health():
            return d.snapshot("c")["health"][-1].health

        offset.write_text(str(step_s))
        after = wait_for(lambda: (t := d.target("c")) and abs(t.run_info.start_wall_ns - before.run_info.start_wall_ns - step_s * 10**9) < 10**9 and t,
                         "its start by the new clock")
        assert after.state == pb.Target.STATE_RUNNING and after.runs == before.runs and after.run_info.local
        notes = [n.text for u in d.snapshot("c")["notes"] for n in u.notes.notes]
        assert sum("the clock was set" in text for text in notes) == 1, notes
        seen = health().bytes
        wait_for(lambda: health().bytes > seen, "more of its log")
        assert health().lag_ns < DEADLINE_S * 10**9
        assert abs(health().last_bytes_wall_ns / 1e9 - time.time() - step_s) < DEADLINE_S
        sampled = d.snapshot("c")["heap"][-1].heap.process.sampled_wall_ns
        assert abs(sampled / 1e9 - time.time() - step_s) < DEADLINE_S
        assert d.target("c").state == pb.Target.STATE_RUNNING

        wait_for(lambda: any(a.rule == "waits" and a.state == pb.Alert.STATE_FIRING
                             for u in d.snapshot("c").get("alerts", []) for a in u.alerts.alerts), "an alert that was pending when the clock was set")

        # Set back while no daemon watched: the next one has the same run, by the new clock.
        with open(directory / "state" / "c.checkpoint", "rb") as written:   # while it is open, no other file is its inode
            d.stop()
            assert os.fstat(written.fileno()).st_nlink == 0, d.log.read_text()[-3000:]
        offset.write_text("0")
        d = start_daemon()
        again = wait_for(lambda: (t := d.target("c")) and t.state == pb.Target.STATE_RUNNING and t, "its program again")
        assert again.runs == before.runs and abs(again.run_info.start_wall_ns - before.run_info.start_wall_ns) < 10**9
        assert health().lag_ns < DEADLINE_S * 10**9

        p.kill()
        p.wait()
        ended = wait_for(lambda: (t := d.target("c")) and t.kept and t, "its end")
        recorded = json.loads(client("summary", "--format", "json", f"recording:{directory}/recordings/c").stdout)
        assert abs(recorded["startWallNs"] - ended.run_info.start_wall_ns) < 10**9, "as it was when it was watched"

        # Booted with a clock of ten years later: nothing is old by that alone.
        d.stop()
        offset.write_text(str(3650 * 24 * 3600))
        d = start_daemon()
        d.ask(pb.Request(add_target=pb.AddTargetRequest(name="brief", uri=f"unix:{directory}/never", one_run=True)))
        d.ask(pb.Request(end_target=pb.EndTargetRequest(name="brief", exit_status=0)))
        wait_for(lambda: not d.target("brief"), "what is over to be removed")
        assert d.target("c").kept and client("summary", f"recording:{directory}/recordings/c").returncode == 0
        db = directory / "a.db"
        assert client("archive", "--db", db, "--target", "api", LOGS / "leaky-hT-ghc9103" / "run.eventlog").returncode == 0

        def archived(target):
            with contextlib.closing(sqlite3.connect(db)) as c:
                return c.execute("SELECT count(*) FROM runs WHERE target = ?", (target,)).fetchone()[0]

        with running(CLIENT, "archive", "--db", db, "--interval", "1s", env={**os.environ, **env, "HEAPWATCH_DIR": str(directory)}):
            wait_for(lambda: archived("c"), "the run that the daemon keeps")
        assert archived("api") == 1
