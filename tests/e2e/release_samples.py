# SPDX-License-Identifier: BSD-3-Clause
"""Files of a release, which every later one must read: tests/data/releases/VERSION. Each is made, and read, by the commands
that a user has; what was read when it was made is in expected.json.

What is written by hand (settings, rules, keys) a release takes over from the one before, and adds what it has that is new.
Nothing in them is of the machine that made them but how much memory it has. To make all again before a release is published,
delete what is not written by hand.
"""
import contextlib
import gzip
import json
import os
import shutil
import sqlite3
import subprocess
import urllib.parse

from harness import DAEMON, DEADLINE_S, LOGS, ROOT, Daemon, client, compile_haskell, running, wait_for
from test_resume import SECOND, Hour

RELEASES = ROOT / "tests" / "data" / "releases"
GROWING = LOGS / "leaky-hT-ghc9103" / "run.eventlog"
STOPPED_AT, ENDS_AT = 350, 900     # seconds of the run with the checkpoint: after it began to leak, before that is a verdict


def newest(name):
    """Of a file written by hand, the newest release's."""
    return max(RELEASES.glob(f"*/{name}"), key=lambda path: [int(number) for number in path.parent.name.split(".")])


def rounded(value):
    """Six digits of what was computed: the last ones depend on the compiler."""
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [rounded(inner) for inner in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def lines(*command, statuses=(0,), **kwargs):
    done = client(*command, **kwargs)
    assert done.returncode in statuses, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]


def picked(found, *keys):
    return {key: found.get(key) for key in keys}


def read_recording(sample, directory):
    folder = shutil.copytree(sample / "recording", directory / "copy")     # a command may write beside what it reads
    (run,) = lines("recording", "--dir", folder, "--format", "json")
    log = f"recording:{folder}/api"
    (summary,), (trend,) = (lines(command, "--format", "json", log) for command in ("summary", "trend"))
    return {"recording": picked(run, "target", "bytes", "lostBytes", "beginNs", "endNs", "end"),
            "memory": picked(summary["memory"], "allocatedBytes", "maxResidencyBytes", "residencySamples"),
            "stream": picked(summary["stream"], "bytes", "events", "damages", "lostBytes"),
            "censuses": summary["heapProfile"]["censuses"],
            "trends": sorted(t.get("series") or trend["labels"][str(t["band"])] for t in trend["trends"]["trends"])}


def make_recording(sample, directory):
    record = directory / "recording"
    with Daemon(directory, f"api={GROWING}", args=["--record", record]) as daemon:
        daemon.wait_state("api", "ENDED")
        wait_for(lambda: list(record.glob("api/*/end")), "the recording's end")
    shutil.copytree(record, sample / "recording")


def read_archive(sample, directory):
    db = shutil.copy(sample / "archive.db", directory)
    ever = ("--db", db, "--since", "36500d", "--format", "json")
    runs = lines("archive", "history", *ever, "api")
    points = lines("archive", "history", *ever, "api", "live")
    (trend,) = lines("trend", *ever, "api")
    (compared,) = lines("diff", "--db", db, "--format", "json", "api@run:0", "--against", "api@label:version=1.4.2")
    with contextlib.closing(sqlite3.connect(f"file:{urllib.parse.quote(db)}?mode=ro", uri=True)) as connection:
        tables = [name for name, in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
        rows = {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables if "sqlite" not in table}
    return {"runs": runs, "live": points, "rows": rows, "values": compared["new"][0]["values"],
            "trends": {t.get("series") or str(t["band"]): t["windows"][0]["max"] for t in trend["trends"]["trends"]}}


def make_archive(sample, directory):
    db = directory / "archive.db"
    assert client("archive", "--db", db, "--target", "api", "--label", "version=1.4.2", GROWING).returncode == 0
    with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as connection:
        connection.execute("UPDATE runs SET host = 'prod-1'")
        connection.execute("VACUUM")
    shutil.copy(db, sample)


class Writer:
    """A program that writes to a FIFO, which a daemon finds where the checkpoint has it: in the daemon's own folder."""

    def __init__(self, directory):
        os.mkfifo(directory / "stream")
        self.fifo, self.written = os.open(directory / "stream", os.O_RDWR), 0
        self.daemon = Daemon(directory, "api=fifo:stream", cwd=directory,
                             args=("--resolution", "1s", "--notify", "off", "--limit", "1GiB", "--checkpoint", "state.d"))

    def __enter__(self):
        self.daemon.start()
        return self

    def __exit__(self, *_):
        self.daemon.stop()
        os.close(self.fifo)

    def write(self, data, before=0):
        """Also waits until the daemon has read it, `before` bytes having come before."""
        with open(self.fifo, "wb", closefd=False) as f:
            f.write(data)
        wait_for(lambda: self.daemon.health("api").bytes == before + len(data), "all that was written")


def read_checkpoint(sample, directory):
    (directory / "state.d").mkdir(mode=0o700)
    shutil.copy(sample / "api.checkpoint", directory / "state.d")
    with Writer(directory) as program:
        at = ("--connect", program.daemon.publish, "--format", "json")
        before = program.daemon.health("api").bytes
        assert before > 0, program.daemon.log.read_text()
        program.write(gzip.decompress((sample / "after-checkpoint.gz").read_bytes()), before)
        (summary,), (trend,) = lines("summary", *at, "api"), lines("trend", *at, "api")
        alerts = lines("alerts", *at, statuses=(1,))
    return {"bytes": summary["stream"]["bytes"], "damages": summary["stream"]["damages"], "memory": summary["memory"],
            "growth": picked(summary["growth"], "where", "live", "liveSlope", "onsetNs"),
            "censuses": summary["heapProfile"]["censuses"], "bands": summary["heapProfile"]["bands"],
            "trends": {t.get("series") or trend["labels"][str(t["band"])]:
                       {**picked(t, "verdict", "slope", "onsetNs"),
                        "windows": [picked(w, "fromNs", "toNs", "count", "min", "max", "mean") for w in t["windows"]]}
                       for t in trend["trends"]["trends"]},
            "alerts": sorted([a["alert"]["rule"], a["alert"].get("bandLabel", ""), a["alert"]["state"], a["alert"]["sinceNs"]]
                             for a in alerts)}


def make_checkpoint(sample, directory):
    hour = Hour(1_700_000_000 * SECOND, seconds=ENDS_AT, begins=200)
    pieces, cut = hour.pieces, STOPPED_AT // 2
    with Writer(directory) as program:
        program.write(hour.header + b"".join(pieces[:cut]))
    shutil.copy(directory / "state.d" / "api.checkpoint", sample)
    (sample / "after-checkpoint.gz").write_bytes(gzip.compress(b"".join(pieces[cut:]), 9, mtime=0))


def read_graph(sample, directory):
    graph = sample / "api.heapgraph"
    heap, why = (json.loads(client(*command, "--format", "json").stdout) for command in (("heap", graph), ("why", graph, "Session")))
    bands = {band["name"]: picked(band, "bytes", "closures", "retained_bytes") for band in heap["bands"] if band["name"].startswith("main:")}
    return {"bands": bands, **picked(heap, "program", "pid", "layout", "bytes", "closures", "reached_bytes", "complete"), "roots": heap["roots"][:5],
            "why": picked(why, "band", "bytes", "closures"), "paths": why["paths"][:3], "why roots": why["roots"][:3]}


def make_graph(sample, directory):
    program = compile_haskell("inside", "Inside", "-rtsopts")
    with running(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        assert client("heap", process.pid, "-o", sample / "api.heapgraph").returncode == 0


def read_settings(sample, directory):
    done = subprocess.run([DAEMON, "--config", sample / "heapwatchd.yaml", "--print-config"], capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr
    found, section = {}, ""
    for line in done.stdout.splitlines():
        section = section if line.startswith(" ") else line.split(":")[0]
        lines_of = found.setdefault(section, {})
        lines_of[line.strip()] = lines_of.get(line.strip(), 0) + 1
    return found


def read_rules(sample, directory):
    rules = sample / "rules.yaml"
    listed = client("rules", "list", rules).stdout.decode().splitlines()
    fired = lines("alerts", "--rules", rules, "--format", "json", GROWING, statuses=(1,))
    return {"listed": [line.split(maxsplit=3) for line in listed if line.split()[0] in ("series", "functions", "actions")],
            "fired": sorted([a["alert"]["rule"], a["alert"]["firedNs"], a["alert"]["value"]] for a in fired)}


def read_keys(sample, directory):
    keys = shutil.copytree(sample / "keys", directory / "keys")
    keys.chmod(0o700)      # which git does not keep
    (keys / "authorized.yaml").chmod(0o600)
    done = client("keys", "list", "--dir", keys)
    assert done.returncode == 0, done.stderr.decode()
    return [line.split() for line in done.stdout.decode().splitlines()]


# name: what reads it, and what makes it; or, of what is written by hand, where it is.
SAMPLES = {"recording": (read_recording, make_recording), "archive": (read_archive, make_archive),
           "checkpoint": (read_checkpoint, make_checkpoint), "graph": (read_graph, make_graph), "settings": (read_settings, "heapwatchd.yaml"),
           "rules": (read_rules, "rules.yaml"), "keys": (read_keys, "keys")}


def read_sample(sample, name, directory):
    """What today's programs read of it: numbers."""
    return rounded(SAMPLES[name][0](sample, directory))


def lacks(expected, found, path=""):
    """What is expected and not found. A later release may say more."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return [line for key in expected for line in lacks(expected[key], found.get(key), f"{path}.{key}")]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return [line for i, pair in enumerate(zip(expected, found)) for line in lacks(*pair, f"{path}[{i}]")]
    if isinstance(expected, list) and isinstance(found, list) and all(isinstance(name, str) for name in expected + found):
        return [f"{path}: {name} is missing" for name in expected if name not in found]
    if isinstance(expected, float) and isinstance(found, int):      # a mean may be a whole number
        found = float(f"{found:.6g}")
    return [] if expected == found else [f"{path}: expected {expected}, read {found}"]


def make_samples(version, directory):
    """Of a release that has none. Those that are there stay."""
    sample, expected = directory / "sample", {}
    sample.mkdir()
    for name, (_, made) in SAMPLES.items():
        (directory / name).mkdir(mode=0o700)
        if callable(made):
            made(sample, directory / name)
        elif newest(made).is_dir():
            shutil.copytree(newest(made), sample / made)
        else:
            shutil.copy(newest(made), sample / made)
        (directory / name / "read").mkdir(mode=0o700)
        expected[name] = read_sample(sample, name, directory / name / "read")
    (sample / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
    shutil.copytree(sample, RELEASES / version, dirs_exist_ok=True)
