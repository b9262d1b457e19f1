# SPDX-License-Identifier: BSD-3-Clause
"""heapwatch archive: what was seen is there, once, whatever happens to the archiver, the daemon, the disk and the file."""
import contextlib
import datetime
import json
import os
import pathlib
import re
import resource
import signal
import sqlite3
import subprocess
import time

import pytest

from harness import CLIENT, DEADLINE_S, LOGS, ROOT, Daemon, client, pb, printed, require, require_another_user, wait_for, written

LOG = LOGS / "leaky-hT-ghc9103" / "run.eventlog"
PROFILED = LOGS / "cc-hc-ghc9103" / "run.eventlog"
TABLES = {"series_1m", "series_1h", "pauses_10m", "pauses_1d", "bands_10m", "bands_1h", "notes", "alerts", "verdicts"}
NS = 10 ** 9


def query(db, sql, *args):
    with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True, timeout=60)) as connection:
        return connection.execute(sql, args).fetchall()


def has(db, sql, *args):
    """The first value, or None while there is none."""
    try:
        rows = query(db, sql, *args)
    except sqlite3.OperationalError:        # not made yet
        return None
    return rows[0][0] if rows else None


def archive(db, *args):
    done = client("archive", "--db", db, *args)
    assert done.returncode == 0, done.stderr.decode()
    return done


class Archiver:
    def __init__(self, directory, daemon, *args, **kwargs):
        self.db, self.log, self.kwargs = directory / "archive.db", directory / "archive.log", kwargs
        self.command = [CLIENT, "archive", "--db", self.db, "--connect", daemon.publish, "-i", "1s", *args]
        self.process = None

    def start(self):
        before = self.said().count("is followed")
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **self.kwargs)
        wait_for(lambda: self.process.poll() is not None or self.said().count("is followed") > before, "the archiver to follow")
        assert self.process.poll() is None, self.said()
        return self

    def stop(self, sig=signal.SIGTERM):
        self.process.send_signal(sig)
        return self.process.wait(DEADLINE_S)

    def said(self):
        return self.log.read_text() if self.log.exists() else ""

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def compared(db, *runs):
    return json.loads(printed("diff", "--db", db, "--format", "json", *runs))


def assert_same(db, log, run, judged=True):
    """Every number that the log has, the archive has too. A live run is judged by the minute, a log by its length."""
    both = compared(db, log, run)
    known = [q for q in both["quantities"] if q["baseline"] is not None and (judged or q["name"] != "slope(live)")]
    assert len(known) > 5
    for q in known:
        assert q["new"] == pytest.approx(q["baseline"], rel=1e-9), q
    for row in both["rows"]:
        if row["kind"] == "band":
            for what in (row, row["peak"]):
                assert what["new"] == pytest.approx(what["baseline"], rel=1e-12), row
    return both


@pytest.mark.parametrize("name", ["leaky-hT-ghc9103", "cc-hc-ghc9103", "leaky-hi-ghc9103", "parallel-ghc9103",
                                  "steady-hT-thr-ghc902", "crash-kill9-ghc9103"])
def test_an_archived_run_has_the_numbers_of_its_log(directory, name):
    log, db = LOGS / name / "run.eventlog", directory / "a.db"
    archive(db, "--target", "api", log)
    both = assert_same(db, log, "api@run:0")
    assert both["new"][0]["program"] == both["baseline"][0]["program"]
    samples = json.loads(client("query", "SELECT series, count(*) AS n FROM series GROUP BY 1", log, "--format", "json").stdout)
    assert {row["series"]: row["n"] for row in samples if row["series"] not in ("allocated", "cpu")} == dict(
        query(db, "SELECT series, sum(n) FROM minutes GROUP BY 1 HAVING sum(n) > 0"))
    archive(db, "--target", "api", log)     # again: it is there already
    assert_same(db, log, "api@run:0")
    assert query(db, "SELECT count(*) FROM runs") == [(1,)]


def test_without_db_it_is_in_the_users_state_directory(directory, monkeypatch):
    monkeypatch.delenv("HEAPWATCH_ARCHIVE", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(directory / "state"))
    for command in (["archive", "history", "api"], ["diff", "api@now", "--against", LOG]):
        done = client(*command)
        assert done.returncode == 2 and b"archive.db" in done.stderr, done
    assert client("archive", "--target", "api", LOG).returncode == 0
    assert (directory / "state" / "heapwatch" / "archive.db").exists()
    assert client("archive", "history", "api").stdout.count(b"\n") == 2
    assert client("diff", "api@run:0", "--against", LOG).returncode == 0


def live(directory):
    """A daemon, and what feeds its one target."""
    fifo = directory / "api.fifo"
    os.mkfifo(fifo)
    return Daemon(directory, f"api=fifo:{fifo}"), fifo


def test_a_live_run_has_the_numbers_of_its_log(directory):
    daemon, fifo = live(directory)
    with daemon, Archiver(directory, daemon) as a:
        fifo.write_bytes(PROFILED.read_bytes())
        wait_for(lambda: has(a.db, "SELECT state FROM runs WHERE end_ns") == "ended", "the run's end")
        wait_for(lambda: a.stop() == 0, "the archiver's end")
        assert_same(a.db, PROFILED, "api@run:0", judged=False)
        tables = {row[0] for row in query(a.db, "SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert TABLES | {"runs", "labels", "series", "bands"} == tables
        assert query(a.db, "SELECT program, host FROM runs") == [("costcentre-prof", os.uname().nodename)]
        assert query(a.db, "PRAGMA journal_mode") == [("wal",)]


def test_a_daemon_that_reads_its_file_again_adds_nothing(directory):
    daemon = Daemon(directory)
    with daemon as d, Archiver(directory, daemon) as a:
        assert client("add", "--connect", d.publish, f"api={LOG}").returncode == 0
        wait_for(lambda: has(a.db, "SELECT state FROM runs WHERE end_ns") == "ended", "the run's end")
        d.stop()
        d.targets.append(f"api={LOG}")
        d.start()
        d.wait_state("api", "ENDED")
        wait_for(lambda: a.said().count("is followed") > 1 or "silent" in a.said(), "the archiver to meet the new daemon")
        wait_for(lambda: a.stop() == 0, "the archiver's end")
        assert_same(a.db, LOG, "api@run:0", judged=False)
        assert query(a.db, "SELECT count(*) FROM runs") == [(1,)]


def test_what_was_missed_after_sigkill_is_a_gap_and_nothing_is_there_twice(directory):
    daemon, fifo = live(directory)
    log = LOG.read_bytes()
    third = len(log) // 3
    total = "SELECT coalesce(sum(rise), 0) FROM series_1m WHERE series = 100"
    with daemon as d, Archiver(directory, daemon) as a, open(fifo, "wb", buffering=0) as pipe:
        pipe.write(log[:third])
        before = wait_for(lambda: has(a.db, total), "the first third")
        a.stop(signal.SIGKILL)
        pipe.write(log[third:2 * third])
        wait_for(lambda: d.health("api").bytes >= third * 2 - 70000, "the daemon to read on")
        a.start()
        pipe.write(log[2 * third:])
        pipe.close()
        wait_for(lambda: has(a.db, "SELECT state FROM runs WHERE end_ns") == "ended", "the run's end")
        wait_for(lambda: a.stop() == 0, "the archiver's end")
        all_of_it = {q["name"]: q["new"] for q in compared(a.db, LOG, LOG)["quantities"]}["collections"]
        assert query(a.db, "SELECT count(*) FROM runs") == [(1,)]
        assert 0 < before < query(a.db, total)[0][0] < all_of_it
        assert query(a.db, "PRAGMA integrity_check") == [("ok",)]


def test_a_full_disk_is_waited_out(directory):
    daemon = Daemon(directory)

    def small():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    with daemon as d, Archiver(directory, daemon, preexec_fn=small) as a:
        resource.prlimit(a.process.pid, resource.RLIMIT_FSIZE, (4000, resource.RLIM_INFINITY))  # no page has room
        assert client("add", "--connect", d.publish, f"api={PROFILED}").returncode == 0
        wait_for(lambda: "cannot be written" in a.said(), "the archiver to meet the full disk")
        assert query(a.db, "SELECT count(*) FROM series_1m") == [(0,)]
        resource.prlimit(a.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        wait_for(lambda: "is written again" in a.said(), "the archiver to go on")
        wait_for(lambda: a.stop() == 0, "the archiver's end")
        assert_same(a.db, PROFILED, "api@run:0", judged=False)


def as_nobody():
    require_another_user()
    return "setpriv --reuid 65534 --regid 65534 --clear-groups"


def on_read_only_disk():
    require("root and a mount namespace of its own", "unshare", "--mount", "true")
    return """unshare --mount sh -c 'mount -t tmpfs none mnt && cp a* mnt && mount -o remount,ro mnt && cd mnt && exec "$@"' sh"""


@pytest.mark.parametrize("place", [as_nobody, on_read_only_disk])
def test_an_archive_is_read_where_nothing_can_be_written(directory, place):
    """The same as where it can; what may be in a write-ahead log is not left out."""
    prefix, db = place(), directory / "a ?#%41&b=.db"
    directory.chmod(0o755)
    (directory / "mnt").mkdir()
    archive(db, "--target", "api", LOG)
    db.chmod(0o644)

    def ask(*words):
        return subprocess.run(["sh", "-c", f'{prefix} "$@"', "sh", CLIENT, *words, "--db", db.name], cwd=directory,
                              capture_output=True, timeout=DEADLINE_S)

    for words in (["archive", "history", "api"], ["diff", "api@run:0", "api@run:0"]):
        done, expected = ask(*words), client(*words, "--db", db.name, cwd=directory)
        assert expected.returncode == 0 and (done.returncode, done.stdout) == (0, expected.stdout), (expected, done)
        for beside in ("-wal", "-shm"):         # which SQLite leaves behind a reader
            pathlib.Path(f"{db}{beside}").unlink(missing_ok=True)
    pathlib.Path(f"{db}-wal").write_bytes(b"")
    done = ask(*words)
    assert done.returncode == 2 and b"part of it may be in" in done.stderr and b"copy both to a directory" in done.stderr, done


@pytest.mark.parametrize("damage", ["header", "middle", "all"])
def test_a_damaged_file_is_set_aside(directory, damage):
    db = directory / "a.db"
    archive(db, "--target", "api", PROFILED)
    whole = db.read_bytes()
    cut = {"header": (0, 100), "middle": (4096, len(whole)), "all": (0, len(whole))}[damage]
    broken = whole[:cut[0]] + b"\xa5" * (cut[1] - cut[0]) + whole[cut[1]:]
    db.write_bytes(broken)
    done = archive(db, "--target", "api", LOG)
    assert b"is damaged" in done.stderr and b"set aside as" in done.stderr
    aside = list(directory.glob("a.db.damaged-*"))
    assert [p.read_bytes() for p in aside] == [broken]
    assert_same(db, LOG, "api@run:0")


def test_a_file_that_is_damaged_while_it_is_written(directory):
    daemon = Daemon(directory)
    with daemon as d, Archiver(directory, daemon) as a:
        assert client("add", "--connect", d.publish, f"first={LOG}").returncode == 0
        wait_for(lambda: has(a.db, "SELECT state FROM runs WHERE end_ns") == "ended", "the first run's end")
        with contextlib.closing(sqlite3.connect(a.db, timeout=60)) as c:    # so that the archiver reads its pages again
            c.execute("INSERT INTO labels VALUES (1, 'by', 'hand')")
            c.commit()
            wait_for(lambda: c.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0, "all to be in the file")
        with open(a.db, "r+b") as file:
            file.seek(4096)
            file.write(b"\xa5" * (a.db.stat().st_size - 4096))
        assert client("add", "--connect", d.publish, f"second={PROFILED}").returncode == 0
        wait_for(lambda: "set aside as" in a.said(), "the damage to be met")
        wait_for(lambda: has(a.db, "SELECT state FROM runs WHERE target = 'second' AND end_ns") == "ended", "the second run's end")
        wait_for(lambda: a.stop() == 0, "the archiver's end")
        assert "is damaged" in a.said() and len(list(directory.glob("archive.db.damaged-*"))) >= 1
        assert query(a.db, "PRAGMA integrity_check") == [("ok",)]
        assert_same(a.db, PROFILED, "second@run:0", judged=False)       # nothing that waited is lost


def test_it_is_read_while_it_is_written(directory):
    """Readers see whole transactions: what is there only grows, and the two widths of a series agree at all times."""
    daemon, fifo = live(directory)
    agree = """SELECT (SELECT count(*) FROM runs), (SELECT coalesce(sum(n), 0) FROM series_1m WHERE series = 1),
                      (SELECT coalesce(sum(n), 0) FROM series_1h WHERE series = 1)"""
    with daemon, Archiver(directory, daemon) as a, contextlib.closing(
            sqlite3.connect(f"file:{a.db}?mode=ro", uri=True, timeout=0)) as reader:    # it never has to wait
        seen, log = [reader.execute(agree).fetchone()], LOG.read_bytes()
        with open(fifo, "wb", buffering=0) as pipe:
            for at in range(0, len(log), len(log) // 6 + 1):
                pipe.write(log[at:at + len(log) // 6 + 1])
                wait_for(lambda: reader.execute(agree).fetchone() != seen[-1] or at < len(log) // 3, "more to be written")
                seen.append(reader.execute(agree).fetchone())
        wait_for(lambda: a.stop() == 0, "the archiver's end")
    assert all(minutes == hours for _, minutes, hours in seen) and seen == sorted(seen) and len(set(seen)) > 2


def test_the_documented_tables_are_those_of_the_file(directory):
    db = directory / "a.db"
    archive(db, LOG)
    text = (ROOT / "docs" / "ARCHIVE.md").read_text()
    told = {name: columns.split(", ") for name, columns in re.findall(r"^(\w+)\((.*)\)$", text, re.M)}
    there = {}
    for name, kind in query(db, "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY rowid"):
        columns = query(db, f"SELECT name, type, pk FROM pragma_table_xinfo('{name}')")
        there[name] = [" ".join(filter(None, (column, type, "key" * (pk > 0)))) if kind == "table" else column
                       for column, type, pk in columns]
    assert told == there
    rows = dict(re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| .* \| `([\w, ]+)` \|$", text, re.M))
    keys = {name: key for names, key in rows.items() for name in re.findall(r"\w+", names)}
    ordered = {name: ", ".join(column for column, _, pk in sorted(query(
        db, f"SELECT name, type, pk FROM pragma_table_xinfo('{name}')"), key=lambda c: c[2]) if pk) for name in keys}
    assert keys == ordered and set(keys) == {name for name in there if name not in ("minutes", "hours")}


def test_a_file_of_others_is_left_alone(directory):
    text, other, newer = directory / "notes.txt", directory / "other.db", directory / "newer.db"
    text.write_text("not a database, and long enough to be read as one: " * 100)
    with contextlib.closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.commit()
    archive(newer, LOG)
    with contextlib.closing(sqlite3.connect(newer)) as connection:
        connection.execute("PRAGMA user_version = 99")
        connection.commit()
    for path, words in ((text, b"not a database"), (other, b"of another program"), (newer, b"version 99")):
        before = path.read_bytes()
        for args in (["archive", "--db", path, LOG], ["diff", "--db", path, "api@now", "api@run:0"]):
            done = client(*args)
            assert done.returncode == 2 and words in done.stderr and done.stderr.count(b"\n") == 1, done
        assert path.read_bytes() == before


def test_one_writer_at_a_time(directory):
    with Daemon(directory) as d, Archiver(directory, d) as a:
        done = client("archive", "--db", a.db, LOG)
        assert done.returncode == 2 and b"another heapwatch archive writes" in done.stderr


def shift(db, run, to_ns):
    """Moves a run in time: it ends at to_ns."""
    with contextlib.closing(sqlite3.connect(db)) as c:
        by = (to_ns - c.execute("SELECT seen_ns FROM runs WHERE id = ?", (run,)).fetchone()[0]) // (3600 * NS) * 3600 * NS
        c.execute("UPDATE runs SET start_ns = start_ns + ?1, first_ns = first_ns + ?1, seen_ns = seen_ns + ?1, late_s = 0,"
                  " end_ns = end_ns + ?1 WHERE id = ?2", (by, run))
        for table in sorted(TABLES - {"notes", "alerts", "verdicts"}):
            step = 86400 if table == "pauses_1d" else 1
            c.execute(f"UPDATE {table} SET time = time + ?1 WHERE run = ?2", (by // NS // step * step, run))
        c.commit()


def test_runs_are_chosen_by_time_order_and_label(directory):
    db, now = directory / "a.db", time.time_ns()
    logs = [LOGS / f"{name}-ghc9103" / "run.eventlog" for name in ("leaky-hT", "cc-hc", "parallel")]
    for log, version in zip(logs, ("1.4.0", "1.4.1", "1.4.2")):
        archive(db, "--target", "api", "--label", f"version={version}", "--label", "env=test", log)
    for run, days in ((1, 31), (2, 7.5), (3, 0.1)):
        shift(db, run, int(now - days * 86400 * NS))
    for selection, log in (("now", 2), ("run:0", 2), ("run:-1", 1), ("run:1", 0), ("last-week", 1), ("-7d", 1),
                           ("label:version=1.4.1", 1), ("-0s", 2)):
        both = compared(db, f"api@{selection}", "--against", logs[log])
        assert len(both["new"]) == 1, selection
        of = {q["name"]: (q["new"], q["baseline"]) for q in both["quantities"]}
        assert of["collections"][0] == of["collections"][1] and of["allocated"][0] == pytest.approx(of["allocated"][1]), selection
    assert len(compared(db, "api@label:env=test", "--against", logs[0])["new"]) == 3
    assert archive(db, "--of", "api@run:0", "--label", "version=1.4.3").stdout == b"1 run labelled\n"
    assert compared(db, "api@label:version=1.4.3", "--against", "api@run:0")["new"]
    for bad, words in (("api@tomorrow", b"not a time in an archive"), ("api@label:version=9", b"has no run with that label"),
                       ("other@now", b"no target other"), ("api@run:x", b"expected run:0"), ("api@1999-01-01", b"has no run at that time")):
        done = client("diff", "--db", db, bad, "--against", logs[0])
        assert done.returncode == 2 and words in done.stderr and done.stderr.count(b"\n") == 1, done


def test_a_run_has_the_labels_of_its_target(directory):
    daemon = Daemon(directory)
    with daemon as d, Archiver(directory, daemon, "--label", "stage=live") as a:
        add = ("add", "--connect", d.publish, f"api={LOG}")
        refused = client(*add, "--label", "version")
        assert refused.returncode != 0 and b"label 'version': expected NAME=VALUE" in refused.stderr, refused
        assert client(*add, "--label", "version=1.4.2", "--label", "stage=test").returncode == 0
        wait_for(lambda: has(a.db, "SELECT state FROM runs WHERE end_ns") == "ended", "the run's end")
        wait_for(lambda: a.stop() == 0, "the archiver's end")
        assert query(a.db, "SELECT name, value FROM labels ORDER BY name") == [("stage", "live"), ("version", "1.4.2")]
        assert_same(a.db, LOG, "api@label:version=1.4.2", judged=False)


def test_a_run_has_the_labels_that_the_daemons_configuration_gives_its_target(directory):
    (directory / "d.yaml").write_text(f"targets:\n  - name: api\n    uri: {LOG}\n    labels: {{version: 1.4.2, stage: test}}\n")
    daemon = Daemon(directory, args=("--config", directory / "d.yaml"))
    with daemon, Archiver(directory, daemon, "--label", "stage=live") as a:
        wait_for(lambda: has(a.db, "SELECT state FROM runs WHERE end_ns") == "ended", "the run's end")
        wait_for(lambda: a.stop() == 0, "the archiver's end")
        assert query(a.db, "SELECT name, value FROM labels ORDER BY name") == [("stage", "live"), ("version", "1.4.2")]


def test_a_finished_log_is_archived_at_its_own_time_wherever_in_the_log_that_is(directory):
    """GHC 9.0 writes the time of day when a buffer is full: in this log behind all else."""
    log = LOGS / "leaky-hc-ghc902" / "run.eventlog"
    lines = client("pipe", "--format", "json", log).stdout.splitlines()
    states = [json.loads(line)["targetState"] for line in lines if b'"targetState"' in line]
    assert "startWallNs" not in states[0]["runInfo"], "the log has it late"
    archive(directory / "a.db", "--target", "api", log)
    assert query(directory / "a.db", "SELECT start_ns FROM runs") == [(int(states[-1]["runInfo"]["startWallNs"]),)]


def test_so_is_one_that_a_daemon_reads(directory):
    log = LOGS / "leaky-hc-ghc902" / "run.eventlog"
    with Daemon(directory) as d, Archiver(directory, d) as a:
        assert client("add", "--connect", d.publish, f"api={log}").returncode == 0
        wait_for(lambda: has(a.db, "SELECT state FROM runs WHERE end_ns") == "ended", "the run's end")
        assert query(a.db, "SELECT start_ns FROM runs") == [(d.target("api").run_info.start_wall_ns,)]


def test_a_minute_of_an_archive_tells_nothing_about_noise(directory):
    """Runs of seconds are one row of each series: a change is known, its interval is not."""
    db = directory / "a.db"
    archive(db, "--target", "old", LOG)
    archive(db, "--target", "new", PROFILED)
    found = {q["name"]: q for q in compared(db, "old@run:0", "new@run:0")["quantities"]}
    assert {found[name]["interval"] for name in ("peak(live)", "mean(live)", "mean(heap)", "allocated")} == {"none"}
    assert found["mean(live)"]["change"] and found["p50(gc_pause)"]["interval"] == "within-run"


def test_runs_that_have_one_name_in_turn_are_two_runs(directory):
    """As with `heapwatch run`: the target of the run before is set aside, and the next one counts from 1 again."""
    daemon = Daemon(directory)
    with daemon as d, Archiver(directory, daemon, "-i", "10s") as a:
        for version, log in (("1", LOG), ("2", PROFILED)):
            source = written(directory / f"{version}.eventlog", log.read_bytes())
            add = pb.AddTargetRequest(name="api", uri=f"file:{source}", one_run=True, labels=[f"version={version}"])
            assert d.ask(pb.Request(add_target=add))[0].WhichOneof("what") == "done"
            d.wait_state("api", "ENDED")
            source.unlink()
            wait_for(lambda: d.target("api").kept, "the target to stay as it ended")
        d.wait_state("api~1", "ENDED")
        wait_for(lambda: query(a.db, "SELECT count(*) FROM runs WHERE end_ns") == [(2,)], "both runs' ends")
        wait_for(lambda: a.stop() == 0, "the archiver's end")
        assert query(a.db, "SELECT target, value, number FROM runs JOIN labels ON run = id ORDER BY id") == [("api", "1", 1), ("api", "2", 1)]
        for version, log in (("1", LOG), ("2", PROFILED)):
            assert_same(a.db, log, f"api@label:version={version}", judged=False)


def test_old_rows_go_and_the_file_stays_below_its_size(directory):
    db = directory / "a.db"
    archive(db, "--target", "api", "--keep", "series_1m=2h", "--keep", "bands_1h=forever", LOG)
    counted = {t: query(db, f"SELECT count(*) FROM {t}")[0][0] for t in TABLES}
    assert counted["series_1m"] and counted["bands_1h"] and counted["pauses_10m"]
    shift(db, 1, time.time_ns() - 20 * 86400 * NS)
    archive(db, "--target", "other", "--keep", "series_1m=2h", "--keep", "bands_1h=forever", PROFILED)
    left = {t: query(db, f"SELECT count(*) FROM {t} WHERE run = 1")[0][0] for t in TABLES}
    assert left["series_1m"] == 0 and left["bands_10m"] == 0        # 20 days are more than 14
    assert left["series_1h"] == counted["series_1h"] and left["bands_1h"] == counted["bands_1h"]
    shift(db, 1, time.time_ns() - 3000 * 86400 * NS)
    archive(db, "--target", "third", LOG)
    assert query(db, "SELECT count(*) FROM runs WHERE target = 'api'") == [(0,)]
    for bad in ("x=1d", "series_1m=1s", "series_1m"):
        assert client("archive", "--db", db, "--keep", bad, LOG).returncode == 2


def test_beyond_its_size_the_finest_goes_first(directory):
    db = directory / "a.db"
    archive(db, "--target", "api", LOG)
    with contextlib.closing(sqlite3.connect(db)) as c:
        c.executemany("INSERT INTO bands_10m (run, time, band, n, min, max, sum, last, last_ns) VALUES (1, ?, ?, 1, 1, 1, 1, 1, 1)",
                      ((t * 600, b) for t in range(1000) for b in range(100)))
        c.commit()
    before = db.stat().st_size
    hours = query(db, "SELECT count(*) FROM bands_1h WHERE run = 1")
    archive(db, "--target", "other", "--max-size", "1MiB", "--keep", "bands_10m=forever", LOG)
    assert before > 3 << 19 and db.stat().st_size <= 1 << 20
    assert query(db, "SELECT count(*) FROM bands_1h WHERE run = 1") == hours


def made_up(db, target, level, minutes, state="running"):
    """A run that ends now, with the given live data in each of its minutes (None: a gap)."""
    end = time.time_ns() // (60 * NS) * 60
    with contextlib.closing(sqlite3.connect(db)) as c:
        run = c.execute("INSERT INTO runs (target, host, program, start_ns, first_ns, seen_ns, state) VALUES (?, 'h', 'p', ?, ?, ?, ?)",
                        (target, (end - minutes * 60) * NS, (end - minutes * 60) * NS, end * NS, state)).lastrowid
        for minute in range(minutes):
            value, at = level(minute), end - (minutes - minute) * 60
            if value is not None:
                for table, width in (("series_1m", 60), ("series_1h", 3600)):
                    c.execute(f"INSERT INTO {table} (run, series, time, n, min, max, sum, last, last_ns, area, covered_ns, rise)"
                              " VALUES (?, 1, ?, 1, ?3, ?3, ?3, ?3, ?4, ?3 * 6e10, 60000000000, 0) ON CONFLICT DO UPDATE SET n = n + 1,"
                              " min = min(min, ?3), max = max(max, ?3), sum = sum + ?3, last = ?3", (run, at // width * width, value, at * NS))
        c.commit()
    return run


def trend(db, target, *args):
    done = client("trend", "--db", db, target, "--since", "30d", "--format", "json", *args)
    assert done.returncode in (0, 1), done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]


def verdict_of(shown):
    return next(t for t in shown["trends"]["trends"] if t.get("series") == "SERIES_LIVE")["verdict"]


def test_times_of_a_part_of_a_run_are_those_of_the_run(directory):
    """A run of two days, of which the last one is judged: its last event was just now."""
    db = directory / "a.db"
    archive(db, "--target", "api", LOG)
    made_up(db, "steady", lambda m: 1e8 + 1e6 * (m % 7), 2 * 1440, "lost")
    said = client("trend", "--db", db, "steady", "--since", "1d").stdout.decode()
    last = datetime.datetime.fromisoformat(re.search(r"last event was at (\S+)Z", said)[1]).replace(tzinfo=datetime.timezone.utc)
    assert abs(time.time() - last.timestamp()) < 300, said
    assert verdict_of(trend(db, "steady", "--limit", "2GiB")[0]) == verdict_of(trend(db, "steady")[0]) == "VERDICT_STEADY"


def test_bands_of_a_trend_are_by_ten_minutes_where_these_are_kept(directory):
    """The mean of an hour in which a band grew would be shown as a census of its middle, or of the end of a short range."""
    db = directory / "a.db"
    archive(db, "--target", "api", LOG)
    run = made_up(db, "grows", lambda m: 1e8 + 1e6 * m, 180)
    with contextlib.closing(sqlite3.connect(db)) as c:
        newest = c.execute("SELECT max(time) FROM series_1m WHERE run = ?", (run,)).fetchone()[0] // 600 * 600
        c.execute("UPDATE runs SET breakdown = 'closure_type' WHERE id = ?", (run,))
        c.execute("INSERT INTO bands (run, id, name) VALUES (?, 1, 'Big')", (run,))
        for table, width, cells in (("bands_10m", 600, 17), ("bands_1h", 3600, 3)):
            c.executemany(f"INSERT INTO {table} (run, time, band, n, min, max, sum, last, last_ns) VALUES (?1, ?2, 1, 1, ?3, ?3, ?3, ?3, 0)",
                          ((run, (newest - i * width) // width * width, 1e9 - i * width * 1e5) for i in range(cells)))
        c.commit()
    census = trend(db, "grows")[0]["census"]
    assert int(census["totalBytes"]) == 1e9 and int(census["ageNs"]) <= 600 * NS
    with contextlib.closing(sqlite3.connect(db)) as c:
        c.execute("DELETE FROM bands_10m WHERE run = ? AND time > ?", (run, newest - 1200))
        c.commit()
    assert int(trend(db, "grows")[0]["census"]["totalBytes"]) == 1e9 - 1200 * 1e5


@pytest.mark.slow
def test_trend_judges_what_the_archive_has(directory):
    db = directory / "a.db"
    archive(db, "--target", "api", LOG)
    made_up(db, "leaky", lambda m: 1e8 + 2e5 * m + 1e6 * (m % 7), 3 * 1440)
    made_up(db, "steady", lambda m: 1e8 + 1e6 * (m % 7), 3 * 1440)
    made_up(db, "gap", lambda m: None if 1000 < m < 2000 else 1e8 + 2e5 * m, 3 * 1440)
    assert [verdict_of(t) for t in trend(db, "leaky")] == ["VERDICT_LEAK"]
    assert [verdict_of(t) for t in trend(db, "steady")] == ["VERDICT_STEADY"]
    assert [verdict_of(t) for t in trend(db, "gap")] == ["VERDICT_LEAK"]
    live = next(t for t in trend(db, "leaky")[0]["trends"]["trends"] if t.get("series") == "SERIES_LIVE")
    assert live["slope"] == pytest.approx(2e5 / 60, rel=0.02)
    assert client("trend", "--db", db, "leaky", "--since", "30d", "--fail-on", "leak").returncode == 1
    with contextlib.closing(sqlite3.connect(db)) as c:      # minutes are forgotten: hours do
        c.execute("DELETE FROM series_1m")
        c.commit()
    assert [verdict_of(t) for t in trend(db, "leaky")] == ["VERDICT_GROWING"]     # a leak: after 180 steps
    assert [verdict_of(t) for t in trend(db, "steady")] == ["VERDICT_STEADY"]
    made_up(db, "leaky", lambda m: 1e8, 100)        # the next run is judged by itself
    assert len(trend(db, "leaky")) == 2
    for state, said in (("running", "gap, run 1: growing"), ("failed", "It ended with a status other than 0"),
                        ("crashed", "It crashed: the archive has no details"), ("lost", "how the program ended is not known")):
        with contextlib.closing(sqlite3.connect(db)) as c:
            c.execute("UPDATE runs SET state = ? WHERE target = 'gap'", (state,))
            c.commit()
        shown = client("trend", "--db", db, "gap", "--since", "30d").stdout.decode()
        assert said in shown and ("crash" in shown) == (state == "crashed") and "gc-events-missing" not in shown, shown
    for bad in (["--since", "30d"], ["leaky", "--db", db], [LOG, "--since", "30d"], ["none", "--since", "30d", "--db", db]):
        done = client("trend", *bad)
        assert done.returncode == 2 and done.stderr.count(b"\n") == 1, done


def test_history_shows_runs_and_series_with_their_gaps(directory):
    db = directory / "a.db"
    archive(db, "--target", "other", "--label", "version=1.0", LOG)
    run = made_up(db, "api", lambda m: None if 30 <= m < 90 else 1e6 * m, 120)
    lines = client("archive", "history", "--db", db, "api", "live", "--format", "csv").stdout.decode().splitlines()
    assert lines[0] == "time,seconds,run,n,min,mean,max,last,rise" and len(lines) == 61
    assert [float(line.split(",")[6]) for line in lines[1:]] == [1e6 * m for m in [*range(30), *range(90, 120)]]
    hours = [json.loads(line) for line in client("archive", "history", "--db", db, "api", "live", "--step", "2h", "--format", "json").stdout.splitlines()]
    assert sum(h["n"] for h in hours) == 60 and max(h["max"] for h in hours) == 119e6 and all(h["run"] == run for h in hours)
    (shown,) = [json.loads(line) for line in client("archive", "history", "--db", db, "other", "--format", "json").stdout.splitlines()]
    assert shown["labels"] == "version=1.0" and shown["program"] == "leaky" and shown["state"] == "ended"
    with contextlib.closing(sqlite3.connect(db)) as c:      # its clock was wrong by ten years
        c.execute("UPDATE runs SET start_ns = start_ns + ?1, first_ns = first_ns + ?1, seen_ns = seen_ns + ?1 WHERE target = 'other'", (315576000 * 10**9,))
        c.commit()
    assert b"version=1.0" in client("archive", "history", "--db", db, "other").stdout
    for bad in (["api", "rss"], ["none"], ["api", "lives"], ["api", "--since", "1h", "--until", "2h"], ["other", "--until", "0s"]):
        done = client("archive", "history", "--db", db, *bad)
        assert done.returncode == 2 and not done.stdout and done.stderr.count(b"\n") == 1, done


def test_what_reads_an_archive_says_that_there_is_none(directory):
    for args in (["archive", "history", "api"], ["trend", "api", "--since", "1d"], ["diff", "api@now", "api@run:-1"]):
        done = client(*args, "--db", directory / "none.db")
        assert done.returncode == 2 and b"there is no archive at" in done.stderr, done
