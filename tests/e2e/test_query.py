# SPDX-License-Identifier: BSD-3-Clause
"""`heapwatch query`: its answers are those that other commands give, computed by other means from the same logs."""
import collections
import contextlib
import csv
import fcntl
import io
import json
import os
import pty
import re
import shlex
import signal
import sqlite3
import struct
import subprocess
import termios
import xml.etree.ElementTree

import pytest

from harness import BUILD, CLIENT, DEADLINE_S, LOGS, ROOT, Daemon, client, piped, wait_for
from live_log import LiveLog
from terminal import Terminal

AGENT_PERIOD_NS = (1 << 63) - 1
QUERY = [BUILD / "heapwatch", "query"]
LEAKY, OLDER = (LOGS / name / "run.eventlog" for name in ("leaky-hT-ghc9103", "leaky-hT-ghc966"))


def ask(sql, *sources, status=0, form="json"):      # and options
    done = subprocess.run([BUILD / "heapwatch", "query", sql, *map(str, sources), "--format", form], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout) if form == "json" and status == 0 else done.stdout if status == 0 else done.stderr


def updates(log, kind):
    return [u[kind] for u in piped(log) if kind in u]


def test_bands_and_censuses_are_those_of_the_messages():
    sums = collections.Counter()
    for census in updates(LEAKY, "census"):
        sums[int(census["number"])] += sum(map(int, census["bytes"]))
    rows = ask("SELECT census, sum(bytes) AS bytes FROM bands GROUP BY census", LEAKY)
    assert {r["census"]: r["bytes"] for r in rows} == sums and len(sums) > 10
    assert rows == ask("SELECT census, bytes FROM censuses ORDER BY census", LEAKY)
    name = ask("SELECT name FROM bands LIMIT 1", LEAKY)[0]["name"]
    bounded = ask(f"SELECT count(*) AS n FROM bands WHERE name = '{name}' AND time BETWEEN 0.5 AND 1.5", LEAKY)
    assert bounded == ask(f"SELECT count(*) AS n FROM bands WHERE name || '' = '{name}' AND time + 0 BETWEEN 0.5 AND 1.5", LEAKY), \
        "a bound saves work alone"


def test_an_interrupt_ends_a_query_that_its_reader_does_not_read():
    for form in "csv", "table":
        from_it, to = os.pipe()
        room = fcntl.fcntl(to, fcntl.F_SETPIPE_SZ, 4096)
        query = subprocess.Popen([*QUERY, "SELECT * FROM events", LEAKY, "--format", form], stdout=to)
        os.close(to)
        wait_for(lambda: struct.unpack("i", fcntl.ioctl(from_it, termios.FIONREAD, bytes(4)))[0] == room, "a full pipe")
        query.send_signal(signal.SIGINT)
        assert query.wait(DEADLINE_S) == -signal.SIGINT
        os.close(from_it)


def test_a_second_interrupt_ends_what_does_not_see_the_first(tmp_path):
    long = "SELECT instr(replace(hex(zeroblob(9000000)), '0', 'a'), replace(hex(zeroblob(4000000)), '0', 'a') || 'b')"     # one step of SQLite
    with subprocess.Popen([*QUERY, long, LEAKY, "-o", tmp_path / "x.csv"], stderr=subprocess.PIPE) as query:
        try:
            wait_for(lambda: os.listdir(tmp_path), "a file")      # signals are caught before it is made
            wait_for(lambda: query.send_signal(signal.SIGINT) or query.poll() is not None, "its end")
            assert query.returncode == -signal.SIGINT
        finally:
            query.kill()


def test_collections_and_percentiles():
    pauses = sorted(int(c["pauseNs"]) / 1e9 for gc in updates(LEAKY, "gc") for c in gc.get("collections", []) if "pauseNs" in c)
    row, = ask("SELECT count(pause) AS n, sum(pause) AS total, quantile(pause, 0.5) AS median, max(pause) AS longest FROM collections", LEAKY)
    assert row["n"] == len(pauses) and row["total"] == pytest.approx(sum(pauses)) and row["longest"] == pytest.approx(pauses[-1])
    middle = len(pauses) // 2
    assert row["median"] == pytest.approx(pauses[middle] if len(pauses) % 2 else (pauses[middle - 1] + pauses[middle]) / 2)


def test_collections_for_a_census_are_heapwatchs(tmp_path):
    """As the agent has them taken: they are told apart, and percentiles are of the program's own."""
    log = LiveLog(tmp_path / "log", start_wall_ns=1_700_000_000 * 10**9)
    log.census_period_ns = AGENT_PERIOD_NS
    log.collection(10**9, 5 * 10**6)
    log.census({"FUN": 1000}, 2 * 10**9 - 10**6)
    log.collection(2 * 10**9, 40 * 10**6)
    log.end()
    rows = ask("SELECT caused_by, round(pause, 3) AS pause FROM collections ORDER BY time", log.path)
    assert [(r["caused_by"], r["pause"]) for r in rows] == [("program", 0.005), ("heapwatch", 0.04)]
    assert [r["longest"] for r in ask("SELECT longest FROM pauses", log.path)] == [pytest.approx(0.005)]


def test_events_are_all_that_events_counts():
    out = subprocess.run([BUILD / "heapwatch", "events", "--count", "--format", "json", LEAKY], capture_output=True, text=True, check=True).stdout
    counted = {t["name"]: t["count"] for t in json.loads(out)["types"]}
    assert {r["name"]: r["n"] for r in ask("SELECT name, count(*) AS n FROM events GROUP BY name", LEAKY)} == {k: int(v) for k, v in counted.items()}
    fields = json.loads(ask("SELECT fields FROM events WHERE name = 'GC_STATS_GHC' LIMIT 1", LEAKY)[0]["fields"])
    assert "copied_bytes" in fields


def test_functions_on_what_is_known():
    made = "WITH RECURSIVE t(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM t WHERE i < 240) "
    row, = ask(made + "SELECT slope(i, 100 * i) AS slope, slope_low(i, 100 * i) AS low, slope_high(i, 100 * i) AS high,"
               " rate(i, 7 * i) AS rate, bucket(1.7, '500 ms') AS bucket, bytes(1536) AS bytes, duration(0.0025) AS duration,"
               " 'Main.go' REGEXP '^Main' AS yes, quantile(i, 0.25) AS quarter, onset(i, 1e6 + 1e5 * max(i - 120, 0)) AS onset,"
               " length(sparkline(i, i)) AS shape FROM t", LEAKY)
    assert row["slope"] == pytest.approx(100) and row["low"] <= 100 <= row["high"] and row["rate"] == pytest.approx(7)
    assert (row["bucket"], row["bytes"], row["duration"], row["yes"], row["quarter"], row["shape"]) == (1.5, "1.50 KiB", "2.50 ms", 1, 60, 24)
    assert row["onset"] == pytest.approx(120, abs=10)


def test_two_sources_are_compared_by_name():
    rows = ask("SELECT * FROM diff", f"old={OLDER}", f"new={LEAKY}")
    for schema, key in (("old", "old"), ("new", "new")):
        most = {r["name"]: r["m"] for r in ask(f"SELECT name, max(bytes) AS m FROM {schema}.bands GROUP BY name", f"old={OLDER}", f"new={LEAKY}")}
        assert {r["name"]: r[key] for r in rows if r[key] is not None} == most
    assert {r["source"] for r in ask("SELECT DISTINCT source FROM facts", f"old={OLDER}", f"new={LEAKY}")} == {"old", "new"}
    joined, = ask("SELECT count(*) AS n FROM bands a JOIN bands b USING (name, census)", LEAKY)
    alone, = ask("SELECT count(*) AS n FROM bands", LEAKY)
    assert joined == alone, "a table that is read again is kept"


def test_sources_of_one_target_name_keep_their_bands():
    both = ask("SELECT source, name, sum(bytes) AS b FROM bands GROUP BY 1, 2", f"old={OLDER}", f"new={LEAKY}")
    for source in ("old", "new"):
        alone = ask(f"SELECT name, sum(bytes) AS b FROM {source}.bands GROUP BY 1", f"old={OLDER}", f"new={LEAKY}")
        assert [(r["name"], r["b"]) for r in both if r["source"] == source] == [(r["name"], r["b"]) for r in alone]


@pytest.mark.parametrize("log", ["leaky-hT-ghc9103", "leaky-hc-ghc9103", "leaky-hi-ghc966"])
def test_one_band_is_the_same_as_among_all(log):
    log = LOGS / log / "run.eventlog"
    rows = collections.defaultdict(list)
    for row in ask("SELECT * FROM bands", log):
        rows[row["name"]].append(row)
    for name in sorted(rows)[:4]:       # the model leaves out rows of the others
        assert ask("SELECT * FROM bands WHERE name = '%s'" % name.replace("'", "''"), log) == rows[name]
    totals = ask("SELECT time, value AS bytes FROM series WHERE series = 'census_total'", log)      # of a series it makes no bands
    assert totals == ask("SELECT time, bytes FROM censuses WHERE bytes > 0", log) and len(totals) > 10


def test_bounds_are_those_of_sqlite(tmp_path):
    """What is left out before SQLite looks is what SQLite would leave out: by the same table as it keeps it itself."""
    assert subprocess.run([*QUERY, "--tables", "series", "-o", tmp_path / "x.sqlite", LEAKY]).returncode == 0
    kept = sqlite3.connect(tmp_path / "x.sqlite")
    times = [t for t, in kept.execute("SELECT DISTINCT time FROM series ORDER BY time")]
    assert len(times) > 500
    bounds = [f"time = {t!r}" for t in times[::5]] + [f"time BETWEEN {t!r} AND {t!r}" for t in times[1::100]] + [
        f"time = '{times[7]!r}'", "time < NULL", "series = 'LIVE' COLLATE NOCASE", "series = 'LIVE'", "series = 'live ' COLLATE RTRIM",
        "series IN ('live', 'heap_size', 'LIVE') AND time > 1", "NOT series = 'live'", f"series = 'live' OR time <= {times[9]!r}"]
    asked = ".format json\n" + "".join(f"SELECT count(*) AS n FROM series WHERE {b};\n" for b in bounds)
    done = subprocess.run([*QUERY, LEAKY], input=asked, capture_output=True, text=True, check=True)
    found = [int(n) for n in re.findall(r'"n": ?(\d+)', done.stdout)]
    assert found == [kept.execute(f"SELECT count(*) FROM series WHERE {b}").fetchone()[0] for b in bounds]


def test_a_log_without_a_heap_profile_is_said_to_have_none():
    for log, sql, missing in ((LOGS / "steady-gc-ghc9103" / "run.eventlog", "SELECT * FROM top_growing", 1), (LEAKY, "SELECT * FROM bands WHERE name = 'nosuch'", 0)):
        done = subprocess.run([*QUERY, sql, log, "-f", "json"], capture_output=True, text=True, check=True)
        assert done.stdout == "[]\n" and done.stderr.count("no heap census") == missing, done


def test_bands_of_one_name_are_one():
    log = LOGS / "leaky-hi-ghc966" / "run.eventlog"
    names = ask("SELECT name, count(*) AS n FROM band_names GROUP BY name", log)
    assert max(r["n"] for r in names) > 1
    assert ask("SELECT 1 FROM bands GROUP BY name, census HAVING count(*) > 1", log) == []
    assert ask("SELECT census, sum(bytes) AS bytes FROM bands GROUP BY census", log) == ask("SELECT census, bytes FROM censuses ORDER BY census", log)


def test_a_limit_stops_the_reading(tmp_path):
    os.mkfifo(tmp_path / "log")
    done = subprocess.Popen([*QUERY, "SELECT time FROM collections LIMIT 1", tmp_path / "log", "-f", "json"], stdout=subprocess.PIPE, text=True)
    log = LEAKY.read_bytes()
    with open(tmp_path / "log", "wb") as fifo:      # which stays open: its end is never seen
        with contextlib.suppress(BrokenPipeError):
            fifo.write(log[:len(log) // 2])
            fifo.flush()
        assert len(json.loads(done.communicate(timeout=30)[0])) == 1


@pytest.mark.parametrize("name, source", [("a-b.c.eventlog", "a_b"), ("1.eventlog", "_1"), ("after.eventlog", "after")])
def test_a_source_without_a_name_has_one_that_sql_takes(tmp_path, name, source):
    (tmp_path / name).symlink_to(LEAKY)
    assert ask(f"SELECT source FROM {source}.runs", tmp_path / name) == [{"source": source}]
    assert "double quotes" in ask("SELECT 1 FROM order.runs", f"order={LEAKY}", status=2)


def test_a_pipe_is_read_once():
    asked = lambda sql: subprocess.run([*QUERY, sql, "-", "-f", "csv"], input=LEAKY.read_bytes(), capture_output=True)
    assert asked("SELECT count(*) AS n FROM bands").stdout == b"n\n518\n"
    assert b"read once" in asked("SELECT (SELECT count(*) FROM bands), (SELECT count(*) FROM runs)").stderr


def test_a_silent_pipe_ends_with_the_time_of_the_query(tmp_path):
    os.mkfifo(tmp_path / "log")
    assert "--timeout" in ask("SELECT 1 FROM bands", tmp_path / "log", "--timeout", "200ms", status=2), "nobody writes"
    writer = os.open(tmp_path / "log", os.O_RDWR)
    assert "--timeout" in ask("SELECT 1 FROM bands", tmp_path / "log", "--timeout", "200ms", status=2), "somebody is silent"
    os.close(writer)


def test_threads_are_those_of_the_events():
    threads, on = collections.defaultdict(lambda: [0, 0]), {}
    log = LOGS / "parallel-ghc9103" / "run.eventlog"
    lines = subprocess.run([BUILD / "heapwatch", "events", log, "--format", "json"], capture_output=True, text=True, check=True).stdout.splitlines()
    for e in map(json.loads, lines):
        kind, thread = e["name"], e.get("fields", {}).get("thread")
        if kind == "RUN_THREAD":
            on[e["capability"]] = thread, e["timeNs"]
            threads[thread][1] += 1
        elif kind == "STOP_THREAD" and on.get(e["capability"], (None,))[0] == thread:
            threads[thread][0] += e["timeNs"] - on.pop(e["capability"])[1]
    rows = {r["thread"]: [round(r["running"] * 1e9), r["runs"]] for r in ask("SELECT thread, running, runs FROM threads WHERE runs > 0", log)}
    assert rows == threads and len(rows) > 1


def test_cost_centres_own_and_inherited():
    log = LOGS / "cc-p-ghc9103" / "run.eventlog"
    stacks = ask("SELECT path, ticks FROM stacks", log)
    rows = {r["centre"]: r for r in ask("SELECT * FROM cost_centres", log)}
    assert sum(r["ticks"] for r in rows.values()) == sum(s["ticks"] for s in stacks)
    for name, row in rows.items():
        assert row["ticks"] == sum(s["ticks"] for s in stacks if s["path"].split(";")[-1] == name)
        inherited = sum(s["ticks"] for s in stacks if name in s["path"].split(";"))
        assert row["ticks_inherited"] == (None if name == "MAIN" else inherited)
    sampled = ROOT / "tests" / "data" / "logs" / "stacks-ghc9103" / "run.eventlog"
    assert len(ask("SELECT path FROM stacks GROUP BY path, thread HAVING count(*) > 1", sampled)) > 0
    assert ask("SELECT path FROM stacks GROUP BY path, places, thread HAVING count(*) > 1", sampled) == []


def test_phases_add_up():
    phases = ask("SELECT phase, time, until, allocated FROM phases", LEAKY)
    rows = ask("SELECT time, value FROM series WHERE series = 'allocated' ORDER BY time", LEAKY)
    for phase in phases:
        within = [(a["value"], b["value"]) for a, b in zip(rows, rows[1:]) if phase["time"] <= b["time"] < (phase["until"] or 1e300)]
        assert phase["allocated"] == (sum(b - a for a, b in within) if within else None)
    assert len(phases) == 4


def test_examples_all_have_an_answer():
    out = subprocess.run([*QUERY, "--examples"], capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"^heapwatch query .*$", out, re.M)
    assert len(commands) >= 10
    for command in commands:
        words = [{"old=OLD": f"old={OLDER}", "new=NEW": f"new={LEAKY}", "LOG": str(LEAKY)}.get(w, w) for w in shlex.split(command)[2:]]
        assert ask(*words), command


def test_the_document_has_what_is_printed():
    done = subprocess.run([ROOT / "scripts" / "explore", "--check"], env={**os.environ, "BUILD": str(BUILD)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_examples_of_the_manual_can_be_pasted(tmp_path):
    """Each as it stands there, in a shell; a live target is a log here, which does not change."""
    for name, log in {"run": LEAKY, "before": OLDER, "after": LEAKY}.items():
        (tmp_path / f"{name}.eventlog").symlink_to(log)
    blocks = "\n".join(re.findall(r"^```\n(.*?)^```", (ROOT / "docs" / "QUERY.md").read_text(), re.S | re.M))
    commands = re.split(r"^(?=heapwatch query)", blocks, flags=re.M)[1:]
    for command in commands:
        if "archive" in command or "heapgraph" in command:    # their tests make some
            continue
        command = re.sub(r" api( |$)", " after.eventlog ", command, flags=re.M).replace(" --every 2s", "")
        done = subprocess.run(["sh", "-c", command], cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              env={**os.environ, "PATH": f"{BUILD.resolve()}:{os.environ['PATH']}"})
        asks_nothing = re.match(r"heapwatch query run\.eventlog ", command)
        assert done.returncode == (2 if asks_nothing else 0) and (asks_nothing or done.stdout or " -o " in command or "deploy v42" in command), (command, done)
    assert len(commands) >= 14


def test_a_database_has_real_tables(tmp_path):
    assert ask("SELECT name, time, bytes, bytes FROM bands", LEAKY, "-o", tmp_path / "x.sqlite", form="table") == ""
    with sqlite3.connect(tmp_path / "x.sqlite") as db:
        assert [c[1] for c in db.execute("PRAGMA table_info(result)")] == ["name", "time", "bytes", "bytes_2"]
        assert [list(r) for r in db.execute("SELECT name, time, bytes FROM result")] == \
            [[r["name"], r["time"], r["bytes"]] for r in ask("SELECT name, time, bytes FROM bands", LEAKY)]
    ask(f"{LEAKY}", "--tables", "bands", "--tables", "pauses", "-o", tmp_path / "y.db", form="table")
    with sqlite3.connect(tmp_path / "y.db") as db:
        assert [r[0] for r in db.execute("SELECT name FROM sqlite_master ORDER BY name")] == ["bands", "pauses"]
        assert db.execute("SELECT count(*) FROM bands").fetchone()[0] == ask("SELECT count(*) AS n FROM bands", LEAKY)[0]["n"]
        assert db.execute("SELECT typeof(bytes) FROM bands").fetchone()[0] == "integer"
        assert {c[1]: c[2] for c in db.execute("PRAGMA table_info(pauses)")}.items() >= {("pauses", "INTEGER"), ("p50", "REAL"), ("target", "TEXT")}
    odd = "SELECT 1 AS i, 2.5 AS r, NULL AS n, 'x' AS t, x'00' AS b, 1 AS m UNION ALL SELECT NULL, 9007199254740993, NULL, 'y', NULL, 'z'"
    ask(odd, LEAKY, "-o", tmp_path / "z.db", form="table")
    with sqlite3.connect(tmp_path / "z.db") as db:
        assert [c[2] for c in db.execute("PRAGMA table_info(result)")] == ["INTEGER", "NUMERIC", "", "TEXT", "BLOB", ""]
        assert list(db.execute("SELECT * FROM result")) == [(1, 2.5, None, "x", b"\0", 1), (None, 9007199254740993, None, "y", None, "z")]
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    before = (tmp_path / "y.db").read_bytes()
    assert "no such table" in ask(f"{LEAKY}", "--tables", "band", "-o", tmp_path / "y.db", status=2)
    assert (tmp_path / "y.db").read_bytes() == before, "a mistake leaves the old file"
    ask(f"{LEAKY}", "--tables", "runs", "-o", tmp_path / "y.db", form="table")
    assert (tmp_path / "y.db").read_bytes() != before, "one that a query wrote is replaced"
    with contextlib.closing(sqlite3.connect(tmp_path / "mine.db")) as db:
        db.execute("CREATE TABLE precious(x)")
    (tmp_path / "text.db").write_text("precious")
    for name in ("mine.db", "text.db"):
        before = (tmp_path / name).read_bytes()
        assert "no query wrote it" in ask("SELECT 1", LEAKY, "-o", tmp_path / name, form="table", status=2)
        assert "no query wrote it" in ask(f"{LEAKY}", "--tables", "runs", "-o", tmp_path / name, form="table", status=2)
        assert (tmp_path / name).read_bytes() == before


@pytest.mark.parametrize("suffix, form", [("csv", "csv"), ("tsv", "tsv"), ("json", "json"), ("ndjson", "ndjson"), ("md", "markdown")])
def test_the_suffix_of_a_file_is_its_format(tmp_path, suffix, form):
    sql = "SELECT name, bytes FROM bands LIMIT 3"
    subprocess.run([*QUERY, sql, LEAKY, "-o", tmp_path / f"x.{suffix}"], check=True)
    text = (tmp_path / f"x.{suffix}").read_text()
    assert text == (json.dumps(ask(sql, LEAKY)) if form == "json" else ask(sql, LEAKY, form=form)) or json.loads(text) == ask(sql, LEAKY)


@pytest.mark.parametrize("name, more, good", [("x.parquet", [], False), ("x.svg", [], False), ("x.png", ["--chart", "bar"], False), ("x", [], True),
                                              ("x.txt", [], True), ("a.b/x", [], True), ("x.parquet", ["-f", "csv"], True)])
def test_no_file_has_another_format_than_its_name_says(tmp_path, name, more, good):
    (tmp_path / "a.b").mkdir()
    done = subprocess.run([*QUERY, "SELECT name, max(bytes) FROM bands GROUP BY 1", LEAKY, "-o", tmp_path / name, *more], capture_output=True)
    assert (done.returncode == 0) == (tmp_path / name).exists() == good, done.stderr


def test_a_full_disk_and_a_reader_that_left():
    with open("/dev/full", "wb") as full:
        for form in ("table", "csv", "json", "ndjson", "tsv", "markdown"):
            done = subprocess.run([*QUERY, "SELECT * FROM events", LEAKY, "-f", form], stdout=full, stderr=subprocess.PIPE)
            assert done.returncode == 2 and b"cannot write: No space left" in done.stderr, done.stderr
    piped_into = subprocess.run(f"{QUERY[0]} query 'SELECT * FROM events' {LEAKY} -f csv | head -n 1", shell=True, capture_output=True)
    assert piped_into.stdout.count(b"\n") == 1 and piped_into.stderr == b""


def on_terminal(columns, *words):
    """What a command prints on a terminal of that width."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    with subprocess.Popen([*QUERY, *map(str, words)], stdin=subprocess.DEVNULL, stdout=its, stderr=its, env={**os.environ, "LC_ALL": "C.UTF-8"}):
        os.close(its)
        out = b""
        with contextlib.suppress(OSError):      # its end
            while more := os.read(ours, 65536):
                out += more
    os.close(ours)
    return [line.rstrip() for line in out.decode().splitlines()]


def test_a_table_is_fitted_to_the_terminal():
    """First what is the same in all rows goes above, then shapes become shorter; names lose their package before they are cut."""
    known = ask("SELECT * FROM top_growing", LEAKY)
    wide, narrow = (on_terminal(columns, "SELECT * FROM top_growing", LEAKY) for columns in (200, 80))
    assert [line.split()[0] for line in wide[:2]] == ["source", "run"] and len(wide) == len(known) + 1
    assert [line.split()[0] for line in narrow[:3]] == ["source", "target", "run"] and max(map(len, narrow)) <= 80
    for row, whole, fitted in zip(known, wide[1:], narrow[5:]):
        assert re.split("  +", whole)[3] == row["name"] and whole.endswith(row["shape"])
        name, *_, shape = re.split("  +", fitted)
        assert row["name"].endswith(name.lstrip("…")) and len(name) >= 16 or row["name"] == name or row["name"].split(":", 1)[1] == name
        assert len(shape) == 8 and max(shape) == max(row["shape"])


def test_a_row_that_does_not_fit_has_a_line_for_each_column():
    known, = ask("SELECT * FROM runs", LEAKY)
    lines = on_terminal(80, "SELECT * FROM runs", LEAKY)
    assert [line.split()[0] for line in lines] == list(known) and lines[3].split() == ["program", known["program"]]
    several = on_terminal(60, "SELECT * FROM standing LIMIT 2", LEAKY)
    assert sum(line.startswith("sentence ") for line in several) == 2


@pytest.mark.parametrize("sql, shown", [
    ("SELECT time FROM bands LIMIT 1", "0.091 s"), ("SELECT count(*) AS pause FROM collections", "559"), ("SELECT 3 AS bytes", "3"),
    ("SELECT 2048 AS bytes FROM bands LIMIT 1", "2.00 KiB"), ("SELECT max(max) AS max FROM series WHERE series = 'live'", "496 KiB"),
    ("SELECT max(max) FROM series WHERE series IN ('live', 'gc_pause')", "508008"), ("SELECT bytes / 1024 AS bytes FROM bands LIMIT 1", "0"), ("SELECT b FROM (SELECT bytes AS b FROM bands) LIMIT 1", "16 B"),
    ("WITH a AS (SELECT max(bytes) AS m FROM bands) SELECT m / 1024 AS m FROM a", "153"), ("SELECT max(a.m) - min(a.m) AS d FROM (SELECT max(bytes) AS m FROM bands GROUP BY name) AS a", "154 KiB"),
    ("SELECT round(slope(time, value)) AS x FROM series WHERE series = 'live'", "42.5 KiB/s"), ("SELECT bucket(time, '1 h') AS t FROM bands LIMIT 1", "0.000 s"),
    ("SELECT 0.25 AS pause FROM collections LIMIT 1", "250.000 ms"), ("SELECT 1e12 + 1 AS x", "1000000000001"), ("SELECT 1.0 / 3 AS x", "0.333333"), ("SELECT 123456789.25 AS x", "123456789"), ("SELECT max(bytes) FROM bands", "154 KiB"),
    ("WITH m AS (SELECT max(bytes) AS top FROM bands) SELECT m.top AS most FROM m", "154 KiB"), ("SELECT count(*) AS size FROM bands", "518"),
    ("SELECT max(value) FILTER (WHERE series = 'live') AS x FROM series", "496 KiB"), ("SELECT slope(time, bytes) AS x FROM bands WHERE name = 'THUNK_1_0'", "8.69 KiB/s"),
    ("SELECT max(bytes) m FROM bands", "154 KiB"), ('SELECT max(bytes) AS "the most" FROM bands', "154 KiB"), ("SELECT count(*) bytes FROM bands", "518"),
    ("SELECT DISTINCT m FROM (SELECT max(bytes) m, count(*) n FROM bands)", "154 KiB"),
    ("SELECT 2.0 * max(bytes) AS x FROM bands", "314784"), ("SELECT min(longest) FROM pauses", "526.390 us"), ("SELECT max(allocated) AS a FROM phases LIMIT 1", "735 MiB")])
def test_units_are_those_of_what_the_query_names(sql, shown):
    assert [line.strip() for line in ask(sql, LEAKY, form="table").splitlines()][1] == shown


def test_charts(tmp_path):
    live = "SELECT time, value AS live FROM series WHERE series = 'live'"
    draw = lambda sql, kind, *more, status=0: ask(sql, LEAKY, "--chart", kind, *more, form="table", status=status)
    assert "live" in draw(live, "line") and "KiB" in draw(live, "line"), "the unit is that of the name"
    largest = ask("SELECT name, max(bytes) AS bytes FROM bands GROUP BY 1 ORDER BY 2 DESC LIMIT 5", LEAKY)
    bars = draw("SELECT name, max(bytes) AS bytes FROM bands GROUP BY 1 ORDER BY 2 DESC LIMIT 5", "bar").splitlines()
    assert [line.split()[0] for line in bars] == [r["name"] for r in largest]
    assert len(bars[0]) >= len(bars[1]) >= len(bars[4]) and "lines more" in draw("SELECT time, name, bytes FROM bands", "area")
    bottom = lambda sql, kind: next(line for line in draw(sql, kind).splitlines() if line.lstrip().startswith("0 B"))
    names = "SELECT time, name, bytes FROM bands WHERE name IN ('ARR_WORDS', 'STACK', 'THUNK_1_0')"
    assert len(re.findall("[⡇⢸]", bottom(names, "bar"))) == len(re.findall("[⡇⢸]", bottom("SELECT time, bytes FROM censuses", "bar"))) == 16, \
        "names are stacked: a bar for each time"
    assert {line.split()[-1] for line in draw("SELECT time, name, bytes FROM bands", "bar").splitlines()[-7:-1]} == {
        r["name"] for r in ask("SELECT name FROM bands GROUP BY 1 ORDER BY max(bytes) DESC LIMIT 6", LEAKY)}, "the legend is below"
    unnamed = draw("SELECT created AS time, label, runs FROM threads ORDER BY label IS NOT NULL", "line").splitlines()[0]
    assert "worker-1" in unnamed and "runs" not in unnamed, "a name may be NULL in the first row"
    signed = [line.split() for line in draw("SELECT 'up' AS name, 8 AS bytes UNION ALL SELECT 'down', -8", "bar").splitlines()]
    assert [len(line[-1]) for line in signed] == [len(signed[0][-1])] * 2 and signed[0][-1] != signed[1][-1], "below 0 is another bar"
    once = "SELECT time, bytes FROM censuses LIMIT 1"
    for kind in ("line", "area", "bar"):
        assert len(re.findall("[⡇⢸]", bottom(once, kind))) == 1, "a time alone is a bar"
        draw(once, kind, "-o", tmp_path / "x.svg")
        assert (tmp_path / "x.svg").read_text().count("fill:rgb(0%,44.7%,69.8%)") == 2, "in the legend and in the plot"
    assert "needs a time" in draw("SELECT name, bytes FROM bands", "line", status=2)
    assert "no row" in draw("SELECT time, 9e999 FROM bands", "line", status=2), "infinity is not drawn"
    assert "pause is in s, copied in B" in draw("SELECT time, pause, copied FROM collections", "line", status=2)
    assert "two columns" in draw("SELECT 1", "line", status=2) and "no row" in draw(live + " AND 0", "line", status=2)
    for kind, sql in (("line", live), ("bar", "SELECT time, pause FROM collections"), ("area", "SELECT time, name, bytes FROM bands")):
        draw(sql, kind, "-o", tmp_path / "x.svg")
        assert xml.etree.ElementTree.parse(tmp_path / "x.svg").getroot().tag.endswith("svg")
    draw("SELECT 0 AS time, 1 AS n UNION ALL SELECT 1, 2 UNION ALL SELECT 2, 3", "bar", "-o", tmp_path / "x.svg")
    paths = xml.etree.ElementTree.parse(tmp_path / "x.svg").getroot().iter("{http://www.w3.org/2000/svg}path")
    spans = [[float(x) for x in re.findall(r"[ML] (\S+) ", path.get("d"))] for path in paths if "44.7%" in path.get("style", "") or "stroke:rgb(10%" in path.get("style", "")]
    widths = {round(spans[0][i + 1] - spans[0][i], 1) for i in range(0, 12, 4)}
    assert len(widths) == 1 and min(spans[1]) < min(spans[0]) and max(spans[0]) < max(spans[1]), "whole bars, the first and the last, too"
    draw("SELECT 'a<\x01' AS \"n&\", 8 AS bytes, 2 AS few UNION ALL SELECT 'down', -4, NULL", "bar", "-o", tmp_path / "x.svg")
    bars = [(e.get("width"), e.get("fill-opacity")) for e in xml.etree.ElementTree.parse(tmp_path / "x.svg").getroot() if e.get("fill") == "#0072b2"]
    assert bars == [("510.0", None), ("127.5", None), ("255.0", "0.4")], "names, as in the terminal"
    below = "SELECT time, -value AS live FROM series WHERE series = 'live'"
    assert "below 0" in draw(below, "line", "-o", tmp_path / "x.svg", status=2)
    assert "below 0" in draw(below, "area", status=2) and "below 0" in draw(below, "bar", status=2)
    axis = [float(n) for n in re.findall(r"^ *(-?\d+) KiB ", draw(below, "line"), re.M)]
    assert len(axis) > 2 and max(axis) <= 0 and axis == sorted(axis, reverse=True), axis
    assert "excludes" in draw(live, "line", "--every", "1", status=2) or "live targets" in draw(live, "line", "--every", "1", status=2)


def test_formats_agree():
    sql = "SELECT name, bytes FROM bands LIMIT 7"
    rows = ask(sql, LEAKY)
    assert [{"name": r["name"], "bytes": int(r["bytes"])} for r in csv.DictReader(io.StringIO(ask(sql, LEAKY, form="csv")))] == rows
    assert [json.loads(line) for line in ask(sql, LEAKY, form="ndjson").splitlines()] == rows
    assert ask(sql, LEAKY, form="tsv").splitlines()[1].split("\t") == [rows[0]["name"], str(rows[0]["bytes"])]
    assert ask(sql, LEAKY, form="markdown").splitlines()[2].startswith(f"| {rows[0]['name']} | ")
    assert ask("SELECT max(pause) AS p, 1 AS n FROM collections WHERE 0", LEAKY, "--units") == [{"p": "s", "n": ""}, {"p": None, "n": 1}]
    assert ask(sql, LEAKY, "--units", form="ndjson").splitlines()[:2] == ['{"name":"","bytes":"B"}', json.dumps(rows[0], separators=(",", ":"))]
    assert "--units" in ask(sql, LEAKY, "--units", form="csv", status=2)
    assert ask("SELECT 1 AS a, 2 AS a_2, 3 AS A", LEAKY) == [{"a": 1, "a_2": 2, "A_3": 3}], "no column is lost"
    assert ask("SELECT 1 AS a, 2 AS a", LEAKY, form="csv") == "a,a_2\n1,2\n"
    odd = "SELECT x'00ff0a41' AS blob, 9e999 AS most, -9e999 AS least, NULL AS none, 'a*b_c`d<e>&_\\' || char(10) || '|' AS markup"
    assert ask(odd, LEAKY) == [{"blob": "X'00FF0A41'", "most": None, "least": None, "none": None, "markup": "a*b_c`d<e>&_\\\n|"}]
    for form in ("csv", "tsv"):
        assert re.split("[,\t]", ask(odd, LEAKY, form=form).splitlines()[1]) == ["X'00FF0A41'", "inf", "-inf", "", "a*b_c`d<e>&_\\\\n|"]
    assert ask(odd, LEAKY, form="markdown").splitlines()[2] == r"| X'00FF0A41' | inf | -inf |  | a\*b_c\`d\<e>\&\_\\\\n\| |"
    assert "X'00FF0A41'   inf   -inf" in ask(odd, LEAKY, form="table")
    assert ask("SELECT '=1+1' AS a, -1 AS n", LEAKY, form="csv").splitlines()[1] == "'=1+1,-1"
    assert ask("SELECT '=1+1' AS a, -1 AS n", LEAKY, form="tsv").splitlines()[1] == "'=1+1\t-1"
    assert "\x1b" not in ask("SELECT char(27) || '[31m' AS a", LEAKY, form="table")
    values = {"great": (1 << 63) - 1, "small": -(1 << 63), "none": None, "tenth": 0.1, "text": 'a,"b"', "empty": "", "lines": "a\nb"}
    sql = "SELECT %s" % ", ".join(f"{'NULL' if v is None else v if not isinstance(v, str) else chr(39) + v + chr(39)} AS {k}" for k, v in values.items())
    sql = sql.replace(str(-(1 << 63)), "(-9223372036854775807 - 1)")
    assert ask(sql, LEAKY) == [values] == [json.loads(ask(sql, LEAKY, form="ndjson"))] and isinstance(ask(sql, LEAKY)[0]["great"], int)
    row, = csv.DictReader(io.StringIO(ask(sql, LEAKY, form="csv")))
    assert row == {k: "" if v is None else str(v).replace("\n", "\\n") for k, v in values.items()}, "a line end is written as in C"
    odd = 'SELECT 1 AS "a""b\n"'
    assert ask(odd, LEAKY) == [{'a"b\n': 1}] == json.loads(f"[{ask(odd, LEAKY, form='ndjson')}]")
    assert ask(odd, LEAKY, form="csv").splitlines() == ['"a""b\\n"', "1"]
    long = ask("SELECT printf('%.*c', 20000, 'x') || '.' AS a", LEAKY, form="csv").splitlines()
    assert long[1] == "x" * 20000 + ".", "a text of any length is whole"


@pytest.mark.parametrize("sql", ["DELETE FROM bands", "ATTACH '/tmp/x' AS y", "CREATE TABLE x(a)", "PRAGMA journal_mode=OFF",
                                 "SELECT load_extension('x')", "DROP VIEW pauses", "SELECT 1; SELECT 2"])
def test_a_query_can_only_read(sql):
    assert ask(sql, LEAKY, status=2).startswith("heapwatch query: ")


def test_a_log_without_events_has_no_length(tmp_path):
    header = LEAKY.read_bytes()
    (tmp_path / "x.eventlog").write_bytes(header[:header.index(b"datb") + 4])
    assert ask("SELECT elapsed, started FROM runs", tmp_path / "x.eventlog") == [{"elapsed": None, "started": None}]


def test_memory_is_bounded():
    assert "memory" in ask("SELECT length(a || b) FROM (SELECT hex(zeroblob(3e8)) AS a, hex(zeroblob(3e8)) AS b)", LEAKY, status=2)
    for form in ("table", "json"):
        assert "memory" in ask("SELECT randomblob(1e9)", LEAKY, form=form, status=2), "no room for the text of a cell"


def test_what_is_sorted_is_in_no_file():
    sql = "WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t LIMIT 200000) SELECT printf('%099d', i * 7919 % 200000) AS n FROM t ORDER BY 1 DESC"
    done = subprocess.run(["sh", "-c", "ulimit -f 0; exec \"$@\" | cat", "sh", *QUERY, sql, LEAKY, "-f", "csv"], capture_output=True, text=True, check=True)
    assert list(map(int, done.stdout.split()[1:])) == list(range(199999, -1, -1)) and not done.stderr


def test_mistakes_are_shown_at_their_place():
    def mark(sql, *sources):
        said = ask(sql, *sources or [LEAKY], status=2).splitlines()
        return said[0], said[1][said[2].index("^"):]

    assert mark("SELECT name,\n\t'ü', slop(time, bytes)\nFROM bands")[1].startswith("slop(")
    assert "'slope'" in mark("SELECT slop(time, bytes) FROM bands")[0]
    assert "'bytes'" in mark("SELECT b.byte FROM bands AS b")[0] and mark("SELECT b.byte FROM bands AS b")[1].startswith("b.byte")
    assert mark("SELECT 1 FROM bandss")[1] == "bandss" and "two sources" in mark("SELECT * FROM diff")[0]
    assert mark("SELECT 1,\n  FROM bands")[1].startswith("FROM")
    said = ask("SELECT nme FROM bands", LEAKY, status=2).splitlines()
    assert "'name'" in said[0] and said[2].index("^") == said[1].index("nme")
    assert "'bands'" in ask("SELECT 1 FROM band", LEAKY, status=2)
    assert "'main'" in ask("SELECT 1", f"main={LEAKY}", status=2) and "--tables bands --tables pauses" in ask("pauses", LEAKY, "--tables", "bands", "-o", "x.db", status=2)
    for sql, advice in (("SELECT 1 FROM ol.bands", "'old.bands'"), ("SELECT 1 FROM old.pauses", "a view"), ("SELECT pause FROM bands", "a column of collections"),
                        ("SELECT z.bytes FROM bands AS b", "no table or alias 'z'"), ("SELECT p.longst FROM pauses p", "'longest'"), ("SELECT slope(1) FROM bands", "slope(time, value)"),
                        ("SELECT * FORM bands", "'FROM'"), ("SELECT", "too early"), ("DROP TABLE bands", "only read"), ("SELECT name FROM bands a JOIN bands b", "dot"),
                        ("SELECT 1 FROM bands WHERE max(bytes) > 1", "HAVING"), ("SELECT 1 FROM next.bands", "no source is called next"),
                        ("SELECT 1 FROM bands WHERE name = main:Work.Request", "single quotes"), ("SELECT duration FROM collections", "collections has source, target, run, time, pause,"),
                        ("SELECT c.duration FROM collections c", "collections has source"), ("SELECT 1 FROM gc", "there are runs, facts,"), ("SELECT stddev(pause) FROM collections", "--list"),
                        ("SELECT 1 LIMIT 1e30", "whole numbers"), ("SELECT 1 FROM collections WHERE pause > '10 ms'", "pause is a number in s"), ("SELECT quantile(pause, NULL) FROM collections", "q from 0 to 1"), ("SELECT median(pause) FROM collections", "quantile(value, 0.5)")):
        assert advice in ask(sql, f"old={LEAKY}", status=2).splitlines()[0], sql
    assert "timeout" in ask("WITH RECURSIVE t(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM t) SELECT count(*) FROM t", LEAKY,
                            "--timeout", "0.2", status=2)


def test_a_live_target_is_a_source(tmp_path):
    daemon = Daemon(tmp_path, f"leaky=file:{LEAKY}").start()
    said = lambda sql, **kwargs: ask(sql, "leaky", "--connect", daemon.publish, **kwargs)
    wait_for(lambda: [r["state"] for r in said("SELECT state FROM runs")] == ["ended"], "its end")
    for sql in ("SELECT value FROM facts WHERE fact = 'live_bytes'", "SELECT max(max) AS m FROM series WHERE series = 'live'"):
        assert said(sql) == ask(sql, LEAKY)
    for sql in ("SELECT name, max(max) AS m, min(bytes) > 0 AS some FROM bands GROUP BY 1 ORDER BY 1", "SELECT max(bytes) AS b, max(census) AS c FROM censuses",
                "SELECT name, bytes, time FROM bands WHERE name = 'FUN' AND census = 16"):
        assert said(sql) == ask(sql, LEAKY), sql
    assert said("SELECT 1 FROM bands GROUP BY time, name HAVING count(*) > 1") == []
    assert "finished log" in said("SELECT * FROM events", status=2)
    assert "live targets" in ask("SELECT 1", LEAKY, "--every", "1", status=2)
    assert "no target of that name" in ask("SELECT * FROM ticky", "absent", "--connect", daemon.publish, status=2)
    assert said("SELECT * FROM ticky") == []
    beside = ask("SELECT source, max(bytes) AS m FROM bands GROUP BY 1 ORDER BY 1", f"a={OLDER}", "b=leaky", "--connect", daemon.publish)
    assert beside[0] == ask("SELECT 'a' AS source, max(bytes) AS m FROM bands", OLDER)[0] and beside[1]["m"] > 0
    assert "live targets" in ask("SELECT 1", LEAKY, "--connect", daemon.publish, status=2)
    again = subprocess.Popen([*QUERY, "SELECT state FROM runs", "leaky", "--connect", daemon.publish, "--every", "0.1", "-f", "ndjson"],
                             stdout=subprocess.PIPE, text=True)
    assert [json.loads(again.stdout.readline()) for _ in range(3)] == 3 * [{"state": "ended"}]
    again.send_signal(signal.SIGINT)
    again.wait(timeout=10)


@pytest.mark.parametrize("sql", ["SELECT 1", "SELECT count(*) FROM a.runs", "SELECT state FROM runs LIMIT 1"])
@pytest.mark.parametrize("other", ["missing.eventlog", "text.eventlog", "missing.heapgraph", "api@now", "recording:{}/nobody", "nobody", "{}"])
def test_a_source_that_is_not_read_is_there_all_the_same(tmp_path, sql, other):
    (tmp_path / "text.eventlog").write_text("no log")
    env = {"HEAPWATCH_DIR": str(tmp_path), "HEAPWATCH_ARCHIVE": str(tmp_path / "none.db")}
    for beside in ([f"a={LEAKY}"], []):
        done = subprocess.run([*QUERY, sql, *beside, f"b={other.format(tmp_path)}", "-o", "x.csv"], cwd=tmp_path, env={**os.environ, **env}, capture_output=True)
        assert done.returncode == 2 and done.stderr and not (tmp_path / "x.csv").exists(), done


def test_what_a_daemon_remembers_and_what_it_has_forgotten(tmp_path):
    log = LiveLog(tmp_path / "log", start_wall_ns=1_700_000_000 * 10**9)
    for i in range(100):
        log.census({"steady": 1000, "grows": 10**6 + 100 * i}, (i + 1) * 10**9)
    for i in range(520):
        log.marker(f"m{i}", at_ns=(i + 101) * 10**9)
    log.end()
    with Daemon(tmp_path, f"t={log.path}", "--record", tmp_path / "recorded") as d:
        d.wait_state("t", "ENDED")
        grown = {r["name"]: r["slope"] for r in ask("SELECT name, slope FROM top_growing", "t", "--connect", d.publish)}
        rows = ask("SELECT time, census, bytes FROM bands WHERE name = 'grows' ORDER BY time", "t", "--connect", d.publish)
        done = client("query", "SELECT count(*) AS n FROM notes", "t", "-f", "csv", env={"HEAPWATCH_DIR": str(tmp_path)})
        absent = client("query", "SELECT 1", "recording:nobody", env={"HEAPWATCH_DIR": str(tmp_path)})
    assert grown == {"steady": pytest.approx(0, abs=0.1), "grows": pytest.approx(100, rel=0.05)}
    assert len(rows) > 30 and all(r["bytes"] == 10**6 + 100 * (r["time"] // 1 - 1) for r in rows) and rows[-1]["census"] == 100
    assert absent.returncode == 2 and absent.stderr.count(b"recording:") == 1, absent
    assert done.stdout == b"n\n512\n" and b"the first 8 notes are missing" in done.stderr, done


def test_an_archive_is_a_source(tmp_path):
    """Its rows are those of the logs that it was made of, as far as it keeps them."""
    db, log = tmp_path / "a.db", LiveLog(tmp_path / "log", start_wall_ns=1_700_000_000 * 10**9)
    for i in range(200):
        log.live(1000 + i, at_ns=i * 60 * 10**9 + 1)
        log.allocated(5000 * i, at_ns=i * 60 * 10**9 + 1)
        log.census({"FUN": 100 + i, **{f"band{k}": 10 for k in range(55)}}, i * 60 * 10**9 + 2)
    log.end()
    for path, label in ((OLDER, "version=1"), (LEAKY, "version=2"), (log.path, "long=1")):
        subprocess.run([CLIENT, "archive", "--db", db, "--target", "api", "--label", label, path], check=True, stderr=subprocess.DEVNULL)
    runs = {r["labels"]: r["run"] for r in ask("SELECT * FROM runs", db)}
    assert ask("SELECT program, ghc, pid, state, started, breakdown FROM runs", "api@run:0", "--db", db) == ask(
        "SELECT program, ghc, pid, state, started, breakdown FROM runs", LEAKY)
    for sql in ("SELECT series, max(max) AS m, sum(samples) AS n FROM series WHERE series <> 'allocated' GROUP BY 1 ORDER BY 1",
                "SELECT text, round(time, 6) AS t, what FROM notes ORDER BY t", "SELECT name, max(max) AS m FROM bands GROUP BY 1 ORDER BY 1",
                "SELECT * FROM facts WHERE fact = 'live_bytes'", "SELECT \"of\", verdict FROM standing WHERE verdict <> 'unknown' AND NOT is_band ORDER BY 1"):
        of = lambda rows: [{k: v for k, v in r.items() if k not in ("run", "target", "source")} for r in rows]
        assert of(ask(sql, "api@label:version=2", "--db", db)) == of(ask(sql, LEAKY)) != [], sql
    long = f" FROM a.bands WHERE run = {runs['long=1']}"
    kept = ask(f"SELECT time, max, bytes{long} AND name = 'FUN' ORDER BY time", f"a={db}")
    assert len(kept) == 20 + (kept[0]["max"] < 109) and [kept[-1]["max"], kept[-1]["bytes"]] == [299, 299]
    assert ask(f"SELECT count(DISTINCT name) AS n{long}", f"a={db}") == [{"n": 56}], "those that are not among the largest of ten minutes, too"
    with contextlib.closing(sqlite3.connect(db)) as c:
        c.execute("DELETE FROM series_1m WHERE time < (SELECT min(time) FROM series_1m WHERE run = ?) + 4000 AND run = ?", [runs["long=1"]] * 2)
        c.commit()
    live, = ask("SELECT count(*) AS rows, sum(samples) AS n, max(max) AS m FROM series WHERE series = 'live'", "api@label:long=1", "--db", db)
    assert live["n"] == 200 and live["m"] == 1199 and 50 < live["rows"] < 150, "hours stand in for what is gone"
    assert ask("SELECT max(value) AS v FROM series WHERE series = 'allocated'", "api@label:long=1", "--db", db)[0]["v"] == pytest.approx(5000 * 199)
    assert "does not keep events" in ask("SELECT * FROM events", db, status=2)
    assert "no target" in ask("SELECT 1 FROM runs", "nobody@run:0", "--db", db, status=2)
    assert "--db belongs to TARGET@WHEN" in ask("SELECT 1", LEAKY, "--db", db, status=2)
    beside = subprocess.run([*QUERY, "SELECT DISTINCT source FROM events", LEAKY, f"kept={db}", "-f", "csv"], capture_output=True, text=True, check=True)
    assert beside.stdout == "source\nrun\n" and "is left out: an archive does not keep events" in beside.stderr


def test_queries_come_from_a_pipe_one_after_another():
    """Each to its ';'; dots are commands; the first mistake is the end."""
    typed = b"SELECT 1 AS a;\n.format csv\nSELECT 'x;y' AS text,\n 2 AS b;\nSELECT nme FROM bands;\nSELECT 'never' AS c;\n"
    done = subprocess.run([CLIENT, "query", LEAKY], input=typed, capture_output=True, timeout=DEADLINE_S)
    assert done.returncode == 2 and done.stdout.decode().split() == ["a", "1", "text,b", "x;y,2"]
    assert b"did you mean 'name'?" in done.stderr
    last = subprocess.run([CLIENT, "query", LEAKY], input=b"SELECT 3 AS c", capture_output=True, timeout=DEADLINE_S)
    assert last.returncode == 0 and last.stdout.split() == [b"c", b"3"], "the end of the input is one, too"
    long = subprocess.run([CLIENT, "query", LEAKY], input=b"SELECT 1 -- " + b"x" * (1 << 20), capture_output=True, timeout=DEADLINE_S)
    assert long.returncode == 2 and b"longer than 1 MiB" in long.stderr and long.stderr.count(b"\n") == 1
    none = subprocess.run([CLIENT, "query", LEAKY], input=b"\n;\n", capture_output=True, timeout=DEADLINE_S)
    assert none.returncode == 2 and b"expected a query" in none.stderr


@pytest.mark.parametrize("typed, status, said", [
    (".schema bands", 0, ""), (".schema band", 2, "did you mean 'bands'?"), (".foo", 2, "no such command: .foo; .help lists them"), (".formt csv", 2, "did you mean '.format'?"),
    (".format xml\nSELECT 1;", 2, "expected table, csv, tsv, json, ndjson or markdown; not xml"), (".format json", 0, ""), ("SELECT 1;\n.quit\nSELECT x;", 0, "")])
def test_commands_of_the_prompt(typed, status, said):
    done = subprocess.run([CLIENT, "query", f"old={LEAKY}"], input=typed, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == status and said in done.stderr and bool(said) == bool(done.stderr), done
    if typed.startswith(".schema bands"):
        assert [line.split()[0] for line in done.stdout.splitlines()] == ["bands", *ask("SELECT * FROM bands LIMIT 1", LEAKY)[0]]


def test_examples_of_the_prompt_can_be_pasted():
    printed = subprocess.run([CLIENT, "query", LEAKY], input=".examples", capture_output=True, text=True, check=True).stdout
    done = subprocess.run([CLIENT, "query", LEAKY], input=printed, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 0 and not done.stderr, done


def test_a_session_in_a_terminal(tmp_path):
    """Names are completed, mistakes end nothing, SIGINT ends a line, and the next session knows the last one's queries."""
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    history = tmp_path / "state" / "heapwatch" / "query-history"
    history.parent.mkdir(parents=True)
    history.touch(0o644)
    for session in ("first", "second"):
        (tmp_path / session).mkdir()
        with Terminal(tmp_path / session, CLIENT, "query", f"old={LEAKY}", env=env) as t:
            t.wait("heapwatch>")
            if session == "second":
                t.keys("Up", "Up", "Up", "Up", "Up", "Enter").wait("count(*)", "16")
                t.keys("C-d")
                assert t.exit_status() == 0
                return
            t.text("SELECT count(*) FROM CENSUSE")
            t.keys("Tab").wait("FROM censuses")
            t.text(";")
            t.keys("Enter").wait_screen(lambda s: "16" in s and s.rstrip().endswith("heapwatch>"), "the answer")
            t.text("SELECT max(bytes) FROM bands WHERE name = 'ARR_")
            t.keys("Tab").wait("'ARR_WORDS'")
            t.text(";")
            t.keys("Enter").wait("max(bytes)")
            t.text("SELECT nme FROM bands;")
            t.keys("Enter").wait("did you mean 'name'?")
            t.text("SELECT what is wrong")
            t.keys("Enter").wait("...>")
            t.keys("C-c").wait_screen(lambda s: s.rstrip().endswith("heapwatch>"), "a new query")
            for typed, completed in (("SELECT ol", "SELECT old."), ("SELECT 1 FROM old.cens", "old.censuses"), ("SELECT 2 FROM pauses AS p WHERE p.long", "p.longest"),
                                     ("SELECT 3 FROM series WHERE series = 'heap_s", "'heap_size'"), ("SELECT name,by", "name,bytes")):
                t.text(typed)
                t.keys("Tab").wait(completed)
                t.keys("C-c").wait_screen(lambda s: s.rstrip().endswith("heapwatch>"), "a new query")
            t.text(".chart pie")
            t.keys("Enter").wait("expected no, line, bar or area; not pie")
            t.text(".quit")
            t.keys("Enter")
            assert t.exit_status() == 0
        assert history.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("command", [("query", "SELECT 1"), ("convert", "--to", "csv")])
def test_what_is_read_is_not_written(directory, command):
    """Also under another name: a log that is replaced by a table of it is lost."""
    log, other = directory / "run.eventlog", directory / "other.csv"
    log.write_bytes(LEAKY.read_bytes())
    other.symlink_to(log)
    done = client(*command, log, "-o", other)
    assert done.returncode == 2 and b"other.csv: it is " in done.stderr and log.read_bytes() == LEAKY.read_bytes(), done


def test_several_queries_on_one_line():
    text = b"SELECT ';' AS a; SELECT 2 AS b; -- the end\nSELECT 3 AS c; SELECT x;SELECT 4;"
    done = subprocess.run([CLIENT, "query", LEAKY, "-f", "csv"], input=text, capture_output=True, timeout=DEADLINE_S, check=False)
    assert done.stdout == b"a\n;\nb\n2\nc\n3\n" and done.returncode == 2, done


@pytest.mark.parametrize("table", ["collections", "pauses", "events", "threads"])
def test_what_a_daemon_does_not_keep_is_not_nothing(directory, table):
    with Daemon(directory, f"t={LEAKY}") as d:
        d.wait_state("t", "ENDED")
        done = client("query", f"SELECT * FROM {table}", "t", env={"HEAPWATCH_DIR": str(directory)})
    assert done.returncode == 2 and b"recording:t" in done.stderr and not done.stdout, done
