# SPDX-License-Identifier: BSD-3-Clause
"""How true what is read from outside is, by build and collector of GHC: `make bench BENCH_ARGS=inside` runs it.

tests/bench/Kinds.hs is built in each way by this machine's GHC, and by that of each chroot (made by scripts/ghc-chroots): its
types against the newest census that the runtime itself has made (-hT), what of its heap a root reaches, its threads; then,
threaded, CPU time and pauses for heaps of three sizes, and whether the intervals of samples have the truth in them.
"""
import contextlib
import json
import math
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build")).resolve()
CLIENT = BUILD / "heapwatch"
UNITS = 12_000          # of Kinds.hs, some 20 MB
SAMPLES = 40            # whose types go together: all are of the same units
LIMIT_S = 120
PROFILING_BYTES = 16    # that each closure of a profiled program has more than its census counts

# Name -> flags of GHC, flags of the runtime; "strip" is not GHC's.
WAYS = {
    "plain": ([], []),
    "threaded": (["-threaded"], []),
    "dynamic": (["-threaded", "-dynamic"], []),
    "prof": (["-threaded", "-prof", "-osuf", "p_o"], []),
    "debug": (["-threaded", "-debug"], []),
    "stripped": (["-threaded", "strip"], []),
    "PIE": (["-threaded", "-dynamic", "-fPIC", "-pie"], []),    # Debian's static libraries are not position-independent
    "-c": (["-threaded"], ["-c"]),
    "-xn": (["-threaded"], ["-xn"]),
    "-G3": (["-threaded"], ["-G3"]),
    "-N4": (["-threaded"], ["-N4"]),
}


class Ghc:
    """This machine's GHC, or that of a chroot; what it builds is below `directory`, which is at /tmp there, too."""

    def __init__(self, root, directory):
        self.enter = ["chroot", root] if root else []
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="heapwatch-inside-", dir=pathlib.Path(f"{root or ''}/tmp")))
        directory.callback(shutil.rmtree, self.directory, ignore_errors=True)
        self.there = pathlib.Path("/tmp") / self.directory.name
        shutil.copy(ROOT / "tests/bench/Kinds.hs", self.directory)
        self.version = subprocess.run([*self.enter, "ghc", "--numeric-version"], capture_output=True, text=True, check=True).stdout.strip()

    def build(self, flags):
        """The path of the program, where it is run; why there is none."""
        name = "-".join(["kinds", *(f.lstrip("-") for f in flags)])
        program = self.directory / name
        if not program.exists():
            done = subprocess.run([*self.enter, "ghc", "-v0", "-O1", "-rtsopts", "-outputdir", self.there / f"{name}.objects", "-o", self.there / name,
                                   *(f for f in flags if f != "strip"), self.there / "Kinds.hs"], capture_output=True, text=True)
            if done.returncode:
                return None, done.stderr.strip().splitlines()[-1][:120]
            if "strip" in flags:
                subprocess.run(["strip", program], check=True)
        return self.there / name, ""

    @contextlib.contextmanager
    def run(self, program, *arguments, rts=()):
        """It, once all is there. It writes into the directory."""
        command = [*self.enter, "sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", self.there, program, *map(str, arguments), "+RTS", *rts, "-RTS"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            try:
                if process.stdout.readline() != b"ready\n":
                    raise RuntimeError(f"{program} does not begin")
                yield process
            finally:
                process.kill()


class Refused(Exception):
    """With the sentence."""


def inspect(*words):
    done = subprocess.run([CLIENT, *map(str, words), "--format", "json"], capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode:
        raise Refused(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout)


def newest_census(path):
    """Type -> bytes."""
    census = {}
    for line in path.read_text().rpartition("END_SAMPLE")[0].rpartition("BEGIN_SAMPLE")[2].splitlines():
        if "\t" in line:
            name, size = line.rsplit("\t", 1)
            census[name] = census.get(name, 0) + int(size)
    return census


def census_of(process, directory):
    """One that the runtime has made after the program was ready."""
    log = next(directory.glob("*.hp"))
    begun, deadline = log.read_text().count("END_SAMPLE"), time.monotonic() + LIMIT_S
    while log.read_text().count("END_SAMPLE") < begun + 3:
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("no census of the runtime's")
        time.sleep(0.05)
    return newest_census(log)


def differences(bands, census):
    """Of the census: the sum of the differences of all types but ARR_WORDS, and that of these, of which the runtime counts whole
    blocks (9.0) or only some (9.6 and later) where they are pinned."""
    of = {name: abs(bands.get(name, 0) - census.get(name, 0)) / sum(census.values()) for name in {*bands, *census}}
    arrays = of.pop("ARR_WORDS")
    return sum(of.values()), arrays


def threads_are_right(found):
    """Forty in waitForReply, one that is 10,000 calls deep, every stack to its bottom."""
    members = [m for g in found["groups"] for m in g["members"]]
    return (found["complete"] and found["list_complete"] and sum(g["threads"] == 40 and g["state"] == "mvar" for g in found["groups"]) == 1 and
            sum(10_000 < m["stack_frames"] < 10_020 for m in members) == 1 and all(m["stack_whole"] for m in members))


def one_way(ghc, program, way):
    """What is true of it, as text; by how much its census differs, infinity where something else is wrong."""
    rts = ["-xt"] if way == "prof" and ghc.version.startswith("9.0.") else WAYS[way][1]     # its census has threads, too
    has_census = way != "-xn"
    for old in ghc.directory.glob("*.hp"):
        old.unlink()
    with ghc.run(program, UNITS, *(["collect"] if has_census else []), rts=[*rts, *(["-hT", "-i0.2"] if has_census else [])]) as process:
        census = census_of(process, ghc.directory) if has_census else {}
        heap = inspect("heap", process.pid, "--by", "type")
        why = inspect("why", process.pid, "Unit")
        threads = threads_are_right(inspect("threads", process.pid))
    extra = PROFILING_BYTES if way == "prof" else 0
    bands = {b["name"]: b["bytes"] - extra * b["closures"] for b in heap["bands"]}
    units = sum(b["closures"] for b in heap["bands"] if b["name"].endswith("Main.Unit"))
    differs, arrays = differences(bands, census) if has_census else (0, 0)
    holder = why["roots"][0]["name"]
    text = (f"{f'{differs:.2%}, ARR_WORDS {arrays:.2%}' if has_census else 'the runtime makes none'}; {units:,} of {UNITS:,} units; "
            f"reached {why['heap_reached_bytes'] / why['heap_bytes']:.1%}, held by {holder}; threads {'right' if threads else 'WRONG'}")
    return text, differs if units == UNITS and threads and holder.startswith("CAF ") else math.inf


def measured(*words):
    """What is found, CPU time of the command with its inspector, its pause; in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = inspect(*words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, found.get("stopped_s", 0)


def sizes(ghc, program, quick, goals):
    for mb in (10, 100) if quick else (10, 100, 1000):
        with ghc.run(program, mb * UNITS // 20) as process:
            for verb in (["heap"], ["why", "Unit"]):
                took = [measured(verb[0], process.pid, *verb[1:]) for _ in range(3)]
                cpu, pause = (statistics.median(t[i] for t in took) for i in (1, 2))
                goals.add(f"GHC {ghc.version}, `{verb[0]}` of {mb:,} MB", cpu, f"{cpu:.2f} s of CPU time, stopped for {pause * 1e3:,.0f} ms")


def samples(ghc, program, goals):
    """Of 100 MB, 16 MiB at a time, whether their intervals have what the whole heap has, of types with a hundredth of it at least."""
    good = of = 0
    with ghc.run(program, 100 * UNITS // 20) as process:
        true = {b["name"]: b["bytes"] for b in inspect("heap", process.pid, "--by", "type")["bands"]}
        for _ in range(SAMPLES):
            found = inspect("heap", process.pid, "--by", "type", "--sample", "16MiB")
            for b in found["bands"]:
                if true.get(b["name"], 0) > 0.01 * sum(true.values()) and "bytes_low" in b:
                    of += 1
                    good += b["bytes_low"] <= true[b["name"]] <= b["bytes_high"]
    goals.add(f"GHC {ghc.version}, samples: intervals of 95 % with the truth in them", good / of, f"{good / of:.1%} of {of:,}", ">= 85 %",
              least=0.85)


def figures(chroots, quick, goals):
    with contextlib.ExitStack() as directory:
        for root in [None, *chroots]:
            ghc = Ghc(root, directory)
            for way, (flags, _) in WAYS.items():
                program, why = ghc.build(flags)
                what = f"GHC {ghc.version}, {way}: census beside the runtime's"
                if not program:
                    goals.add(what, 0, f"not built: {why}")
                    continue
                try:
                    text, differs = one_way(ghc, program, way)
                except (Refused, RuntimeError) as e:
                    text, differs = str(e), math.inf
                goals.add(what, differs, text, "<= 0.1 %", most=0.001)
            program, _ = ghc.build(WAYS["threaded"][0])
            sizes(ghc, program, quick, goals)
            samples(ghc, program, goals)
