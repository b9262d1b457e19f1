# SPDX-License-Identifier: BSD-3-Clause
"""What people wait for, in one table with an aim for each row: `make bench BENCH_ARGS=commands` prints it.

CPU is user and system time of the whole process, the median of alternating runs; memory is the largest resident size. With
--beside DIR the programs of another build take turns with this one's, and aims are shares of what they need: an absolute time
says more about the machine. The bare loop (bench_log skip) is the least that reading a log can cost on it.
"""
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build")).resolve()
BENCH = BUILD / "bench"
SHIPPED = ROOT / "tests" / "data" / "logs"
REAL = SHIPPED / "live-9103-fifo-flush" / "run.eventlog"
MIB = 1 << 20
LIBRARIES_MOST = 10
REPORT_MIB = 60
HUNDRED_S = 0.15
EVENTS_LOOPS = 2        # times the bare loop, above start-up
READERS = ("summary", "trend", "check", "to hp")

COMMANDS = {  # {} is the log
    "--version": ["--version"], "help": ["help"], "summary": ["summary", "{}"], "trend": ["trend", "{}"], "check": ["check", "{}"],
    "to hp": ["convert", "--to", "hp", "-o", "/dev/null", "{}"], "events --count": ["events", "--count", "{}"],
    "report": ["report", "-f", "-o", "{report}", "{}"], "diff": ["diff", "{}", "{}"]}

# Log -> the most of before that its reading commands may need, and the least share that the bare loop may be of them.
AIMS = {"real": (1 / 3, 0), "minutes": (0.16, 0), "sched": (0.62, 0.55), "growing": (0.35, 0.35), "bands": (0.25, 0.12),
        "profile": (0.21, 0.25)}


def cost_of(program, *words):
    """CPU s and peak MiB of one run; nan: it failed, or has nothing to give of that log."""
    with tempfile.TemporaryDirectory() as home:     # no daemon, archive or key of this user
        done = subprocess.run([str(w) for w in (BENCH / "bench_command", program, *words)], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "HOME": home, "XDG_RUNTIME_DIR": home})
    if done.returncode not in (0, 1):     # 1: `check` has found something
        return math.nan, math.nan
    found = dict(w.split("=") for w in done.stdout.split())
    return int(found["cpu_ns"]) / 1e9, int(found["peak_kib"]) / 1024


class Table:
    """Rows of what was measured, in both builds if there are two."""

    def __init__(self, beside, rounds):
        self.builds = ([pathlib.Path(beside).resolve()] if beside else []) + [BUILD]
        self.rounds, self.missed = rounds, []
        print("\n| what | before | now | of before | aim | |\n|---|--:|--:|--:|---|---|", flush=True)

    def measure(self, program, *words):
        """(CPU s, MiB) of each build."""
        costs = {b: [] for b in self.builds}
        for _ in range(self.rounds):
            for b in self.builds:
                costs[b].append(cost_of(b / program, *words))
        return [(statistics.median(c for c, _ in costs[b]), max(m for _, m in costs[b])) for b in self.builds]

    def print(self, what, before, now, share, aim, reached):
        print(f"| {what} | {before} | {now} | {'' if share is None else f'{share:.2f}'} | {aim} | "
              f"{'' if reached is None else 'reached' if reached else 'MISSED'} |", flush=True)
        if reached is False:
            self.missed.append(what)

    def add(self, what, now, text, aim, reached):
        """A figure of this build alone."""
        self.print(what, "", text.format(now), None, aim, reached)

    def add_cost(self, what, costs, most=None, most_mib=None):
        """CPU and memory; `most`: of what was needed before."""
        texts = [f"{c * 1e3:.0f} ms, {m:.0f} MiB" for c, m in costs]
        share = costs[1][0] / costs[0][0] if len(costs) > 1 else None
        aims, checks = [], []
        if most is not None and share is not None:
            aims.append(f"<= {most:.2f} of before")
            checks.append(share <= most)
        if most_mib is not None:
            aims.append(f"<= {most_mib} MiB")
            checks.append(costs[-1][1] <= most_mib)
        self.print(what, texts[0] if share is not None else "", texts[-1], share, ", ".join(aims), all(checks) if checks else None)


def figures(*command):
    """The median of each KEY=VALUE that a program prints, of three runs."""
    runs = [subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, text=True, check=True).stdout for _ in range(3)]
    found = [dict(w.split("=") for w in run.split()) for run in runs]
    return {key: statistics.median(int(f[key]) for f in found) for key in found[0]}


def bare_loop(path):
    """CPU s of skipping from event to event."""
    return figures(BENCH / "bench_log", "skip", path)["cpu_ns"] / 1e9


# --------------------------------------------------------------------- finished logs

def start(table):
    """Returns what starting costs, s."""
    most = 12 / 69
    costs = table.measure("heapwatch", "--version")
    table.add_cost("heapwatch --version", costs, most)
    table.add_cost("heapwatch help", table.measure("heapwatch", "help"), most)
    loaded = subprocess.run(["ldd", BUILD / "heapwatch"], stdout=subprocess.PIPE, text=True, check=True).stdout.count(" => ")
    table.add("libraries that it loads", loaded, "{}", f"<= {LIBRARIES_MOST}", loaded <= LIBRARIES_MOST)
    return costs[-1][0]


def of_log(table, key, title, path, start_s, part=None):
    """`part`: a shorter log of the kind, for what is drawn or compared."""
    most, loop_least = AIMS[key]
    loop_s = bare_loop(path) if path.stat().st_size > 64 * MIB else 0      # shorter ones are mostly start
    with tempfile.TemporaryDirectory() as directory:
        for command, words in COMMANDS.items():
            if "{}" not in words:
                continue
            log = part if part and command in ("report", "diff") else path
            costs = table.measure("heapwatch", *(w.format(log, report=f"{directory}/report.html") for w in words))
            if math.isnan(costs[-1][0]):
                continue        # there is no heap profile in it
            what = f"{title}: {command}" + (f" of {log.stat().st_size / 1e6:.0f} MB" if log != path else "")
            table.add_cost(what, costs, 0.5 if command in ("report", "diff") else most if command in READERS else None,
                           REPORT_MIB if command == "report" else None)
            if loop_s and loop_least and command == "summary":
                share = loop_s / costs[-1][0]
                table.add(f"{what}: share of the bare loop ({loop_s * 1e3:.0f} ms)", share, "{:.2f}", f">= {loop_least}",
                          share >= loop_least)
            if loop_s and command == "events --count":
                loops = max(costs[-1][0] - start_s, 0) / loop_s
                table.add(f"{what}: bare loops above start-up", loops, "{:.2f}", f"<= {EVENTS_LOOPS}", loops <= EVENTS_LOOPS)


def hundred(table, logs):
    costs = table.measure("heapwatch", "summary", *logs)
    table.add_cost("100 small logs: summary", costs)
    table.add("100 small logs: summary", costs[-1][0] * 1e3, "{:.0f} ms", f"<= {HUNDRED_S * 1e3:.0f} ms", costs[-1][0] <= HUNDRED_S)


def exponents(table, logs, make_census):
    """How CPU above start-up grows with the length of a log and with its bands, from the smallest to the largest of three."""
    start_s = statistics.median(cost_of(BUILD / "heapwatch", "--version")[0] for _ in range(5))
    for what, sizes in (("length", [(446, n) for n in (400, 1600, 6400)]), ("bands", [(n, 100) for n in (100, 1000, 10000)])):
        paths = []
        for bands, censuses in sizes:
            paths.append(logs / f"scaling-{bands}-{censuses}.eventlog")
            if not paths[-1].exists():
                make_census(paths[-1], bands, 0, censuses, 1000)
        for command in (*READERS, "report", "diff"):
            costs = []
            with tempfile.TemporaryDirectory() as directory:
                for path in paths:
                    words = [w.format(path, report=f"{directory}/report.html") for w in COMMANDS[command]]
                    costs.append(max(statistics.median(cost_of(BUILD / "heapwatch", *words)[0] for _ in range(3)) - start_s, 1e-3))
            grown = paths[-1].stat().st_size / paths[0].stat().st_size
            exponent = math.log(costs[-1] / costs[0]) / math.log(grown)
            table.add(f"{command}: CPU by {what}, {', '.join(f'{c * 1e3:.0f}' for c in costs)} ms", exponent, "exponent {:.2f}", "<= 1.0",
                      exponent <= 1.0)
        for path in paths:
            path.unlink()


# ------------------------------------------------------------------------ inside, live

def inside(table, compile_haskell):
    """`heap` and `why` of a program that holds millions of closures."""
    program = compile_haskell("closures", ROOT / "tests" / "bench" / "Closures.hs", "-threaded")
    with subprocess.Popen([program, "2000000", "+RTS", "-A4m", "-I0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as held:
        assert held.stdout.readline() == "ready\n"
        for command, words, most, most_mib in (("heap", [], 3 / 6.8, 300), ("why", ["--band", "Entry"], 6 / 16.8, 450)):
            costs = table.measure("heapwatch-inspect", command, "--pid", held.pid, *words)
            table.add_cost(f"heapwatch {command} of a heap of 450 MiB", costs, most, most_mib)
        held.stdin.close()


def wakeups_of(pid, seconds):
    """Of all threads, a second."""
    def switches():
        return sum(int(line.split()[1]) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
                   for line in (task / "status").read_text().splitlines() if line.startswith("voluntary_ctxt_switches:"))
    before = switches()
    time.sleep(seconds)
    return (switches() - before) / seconds


def live(table, h, seconds):
    f = figures(BENCH / "bench_trend", 1000)
    share = f["cpu_ns"] / f["event_ns"] * 100
    table.add("verdicts of 1,000 bands, a census a second, steps of a minute", share, "{:.3f} % of a core", "<= 1 %", share <= 1)
    for n, most in ((1, 2), (200, 5)):
        with h.private_directory() as directory:
            with h.Daemon(directory, *(f"t{i}=file:{REAL}" for i in range(n))) as d:
                h.wait_for(lambda: all(getattr(d.health(f"t{i}"), "bytes", 0) == REAL.stat().st_size for i in (0, n - 1)), "all bytes",
                           deadline_s=120)
                time.sleep(8)       # what is done once after the end
                woken = wakeups_of(d.process.pid, seconds)
        table.add(f"the daemon, {n} ended file target{'s' if n > 1 else ''}: wakeups a second", woken, "{:.1f}", f"<= {most}", woken <= most)


def print_table(tools, quick, rounds, beside, goals):
    """`tools`: of scripts/bench: logs, compile_haskell, make_census, small_logs, log_of, CASES, harness."""
    table = Table(beside, rounds)
    start_s = start(table)
    of_log(table, "real", "a shipped log of 0.4 MB, -hT", REAL, start_s)
    tools.LOGS.mkdir(parents=True, exist_ok=True)
    minutes = tools.LOGS / "minutes.eventlog"
    if not minutes.exists():
        tools.make_census(minutes, 446, 0, 400, 1000)
    of_log(table, "minutes", "446 bands, a census a second, 400 s, 10 MB", minutes, start_s)
    for case in ("sched", "growing", "bands", "profile"):
        path = tools.log_of(case, 0.1 if quick else 1)
        of_log(table, case, f"{tools.CASES[case][0]}, {path.stat().st_size / 1e6:.0f} MB", path, start_s, tools.log_of(case, 0.1))
    hundred(table, tools.small_logs())
    exponents(table, tools.LOGS, tools.make_census)
    live(table, tools.harness(), 10 if quick else 30)
    if tools.has_ghc():
        inside(table, tools.compile_haskell)
    else:
        print("no ghc: no heap is read", file=sys.stderr)
    goals.missed += len(table.missed)
