# SPDX-License-Identifier: BSD-3-Clause
"""A process alone (a source pid:N): what is known of a program whose log cannot be read, and what is not."""
import os
import signal
import subprocess
import sys

from harness import Daemon, client, pb, running, wait_for, wait_newer_checkpoint

MIB = 1 << 20
WAITS = [sys.executable, "-S", "-c", "import sys; sys.stdin.read()"]
GROWS = [sys.executable, "-S", "-c", """import time
held = []
while True:
    held.append(bytes(range(256)) * 2048)
    time.sleep(0.1)"""]


def ctl(daemon, *words):
    return client("ctl", "--connect", daemon.publish, *words)


def process(daemon, name):
    """The newest Process of a target; None until there is one."""
    heap = daemon.snapshot(name).get("heap")
    return heap[0].heap.process if heap and heap[0].heap.HasField("process") else None


def test_what_is_known_of_a_process_alone(directory):
    with Daemon(directory) as daemon, running(*WAITS, stdin=subprocess.PIPE) as program:
        assert ctl(daemon, "add", f"x=pid:{program.pid}").returncode == 0
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
        assert "process alone" in daemon.target("x").detail
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
        assert ctl(daemon, "add", f"x=pid:{program.pid}").returncode == 0
        alert = wait_for(lambda: [a for u in daemon.snapshot("x").get("alerts", []) for a in u.alerts.alerts
                                  if a.rule == "resident-growth" and a.state == pb.Alert.STATE_FIRING], "the alert")[0]
        assert "x grows by" in alert.sentence and "process alone" in alert.sentence
        state = daemon.snapshot("x")["trends"][-1].trends
        assert state.growth.rss >= pb.VERDICT_GROWING and not state.growth.HasField("live")
        assert state.growth.where == pb.Growth.WHERE_UNKNOWN and state.growth.sentence.startswith("resident memory grows by")
        assert state.limit_bytes == 8000000 * 1024 and state.limit_source == pb.TimeToLimit.SOURCE_ADDRESS_SPACE
        assert state.time_to_limit.series == pb.SERIES_RSS


def test_a_program_that_is_not_there_is_refused(directory):
    with Daemon(directory) as daemon, running(*WAITS, stdin=subprocess.PIPE) as program:
        start = open(f"/proc/{program.pid}/stat").read().rsplit(")", 1)[1].split()[19]
        for source, why in ((f"pid:{program.pid}@{int(start) + 1}", "started later"),
                            (f"pid:{program.pid}x", "not the number of a process")):
            done = ctl(daemon, "add", source)
            assert done.returncode != 0 and why in done.stderr.decode(), done
        assert ctl(daemon, "add", f"pid:{program.pid}@{start}").returncode == 0
        program.kill()
        program.wait()
        done = ctl(daemon, "add", f"pid:{program.pid}")
        assert done.returncode != 0 and "there is no process" in done.stderr.decode(), done
        daemon.wait_state(f"pid-{program.pid}", "ENDED", "FAILED")


def test_it_survives_a_restart_of_the_daemon(directory):
    args = ("--checkpoint", f"{directory}/state.d", "--checkpoint-every", "100ms")
    daemon = Daemon(directory, args=args).start()
    with running(*WAITS, stdin=subprocess.PIPE) as program:
        assert ctl(daemon, "add", f"x=pid:{program.pid}").returncode == 0
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
