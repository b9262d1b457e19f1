# SPDX-License-Identifier: BSD-3-Clause
"""CPU time by /proc: of this program with all that it started, of one process, and of everything else."""
import os
import time

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
COUNT = os.cpu_count()


def spent(pid):
    """Seconds of CPU time that a process has used."""
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * TICK_S


def machine():
    """Seconds that all processors were busy since the start of the machine."""
    with open("/proc/stat") as f:
        user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, f.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) * TICK_S


def family():
    """Seconds of this process and of its living and dead descendants."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as f:
                fields = f.read().rsplit(")", 1)[1].split()
            parents[int(name)] = (int(fields[1]), sum(map(int, fields[11:15])) * TICK_S)
        except OSError:
            pass

    def ours(pid):
        while pid and pid != os.getpid():
            pid = parents.get(pid, (0, 0))[0]
        return bool(pid)

    return sum(used for pid, (_, used) in parents.items() if ours(pid))


class Others:
    """How busy everything else keeps the machine from now on."""

    def __init__(self):
        self.start = time.monotonic(), machine(), family()

    def share(self):
        at, busy, own = self.start
        return max(0.0, (machine() - busy) - (family() - own)) / (COUNT * (time.monotonic() - at))
