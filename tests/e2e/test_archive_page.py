# SPDX-License-Identifier: BSD-3-Clause
"""The page's time range reaches back into the archive: earlier runs, the part of this run that its daemon did not see, deploys, gaps."""
import contextlib
import json
import socket
import sqlite3
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest

from harness import Daemon, client
from live_log import LiveLog
from test_web_page import browser, pytestmark, view  # noqa: F401: fixtures
from web_browser import Web

pytestmark = pytest.mark.xdist_group("archive_page")      # its tests share what runs

NS, HOUR, DAY, MIB = 10**9, 3600, 86400, 1 << 20
LIVE, CENSUS_TOTAL = 1, 14


def put(c, table, run, series, at, width, value):
    c.execute(f"INSERT INTO {table} (run, series, time, n, min, max, sum, last, last_ns, area, covered_ns, rise) VALUES"
              " (?1, ?2, ?3, 1, ?4, ?4, ?4, ?4, ?5, 0, 6e10, 0) ON CONFLICT DO UPDATE SET n = n + 1, min = min(min, ?4), max = max(max, ?4),"
              " sum = sum + ?4, last = ?4, last_ns = ?5", (run, series, at // width * width, value, (at + 30) * NS))


def put_band(c, table, run, band, at, width, value):
    c.execute(f"INSERT INTO {table} (run, time, band, n, min, max, sum, last, last_ns) VALUES (?1, ?2, ?3, 1, ?4, ?4, ?4, ?4, ?5)"
              " ON CONFLICT DO UPDATE SET n = n + 1, sum = sum + ?4", (run, at // width * width, band, value, (at + 30) * NS))


def archived(db, start, end, level, labels=(), build=None, bands=None, away=(0, 0), born=None):
    """A run of api with a sample and a census a minute; the archiver was away from `away[0]` to `away[1]`."""
    with contextlib.closing(sqlite3.connect(db)) as c:
        run = c.execute("INSERT INTO runs (target, host, program, build_id, start_ns, first_ns, seen_ns, state) VALUES"
                        " ('api', ?, 'api', ?, ?, ?, ?, 'ended')", (socket.gethostname(), build, born or start * NS, start * NS, end * NS)).lastrowid
        c.executemany("INSERT INTO labels VALUES (?, ?, ?)", [(run, *label.split("=")) for label in labels])
        for band, label in enumerate(bands or {}, 1):
            c.execute("INSERT INTO bands VALUES (?, ?, ?, ?)", (run, band, label, label))
        for at in range(start, end - 59, 60):
            if not away[0] <= at < away[1]:
                for table, width in (("series_1m", 60), ("series_1h", HOUR)):
                    put(c, table, run, LIVE, at, width, level)
                    put(c, table, run, CENSUS_TOTAL, at, width, sum((bands or {}).values()))
                for band, size in enumerate((bands or {}).values(), 1):
                    put_band(c, "bands_10m", run, band, at, 600, size)
                    put_band(c, "bands_1h", run, band, at, HOUR, size)
        c.commit()
    return run


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Three runs, two of which are over; of the third its daemon has only the second hour."""
    directory = tmp_path_factory.mktemp("archived")
    db, start = directory / "a.db", (time.time_ns() // NS - 2 * HOUR) // HOUR * HOUR
    assert client("archive", "--db", db, "--of", "x@now", "--label", "a=b").returncode == 2         # there is none yet
    other = LiveLog(directory / "other.eventlog", start_wall_ns=start * NS)
    other.live(MIB, at_ns=NS)
    other.end()
    assert client("archive", "--db", db, other.path).returncode == 0       # makes the file
    archived(db, start - 3 * DAY, start - 2 * DAY, 100 * MIB, ["version=1.4.1"], "aaaaaaaaaaaa", {"OLD": 60 * MIB, "FUN": 30 * MIB},
             (start - 3 * DAY + 9 * HOUR, start - 3 * DAY + 15 * HOUR))
    archived(db, start - 2 * DAY, start - 600, 200 * MIB, ["version=1.4.2"], "aaaaaaaaaaaa", {"FUN": 150 * MIB, "OLD": 20 * MIB})
    archived(db, start, start + HOUR + 300, 50 * MIB, ["version=1.4.2"], "bbbbbbbbbbbb", {"FUN": 40 * MIB, "NEW": 5 * MIB})
    log = LiveLog(directory / "api.eventlog", start_wall_ns=start * NS)
    for second in range(HOUR, HOUR + 1200, 10):
        log.live(60 * MIB, at_ns=second * NS)
        log.census({"FUN": 50 * MIB, "NEW": 6 * MIB}, at_ns=second * NS)
    with Daemon(directory, f"api={log.path}") as daemon, Web("--connect", daemon.publish, "--db", db) as web:
        yield web, start


def ask(web, **values):
    with urllib.request.urlopen(f"{web.url}api/archive?{urllib.parse.urlencode(values)}") as answer:
        return json.load(answer)


def test_the_api_has_runs_series_and_bands_with_their_gaps(world):
    web, start = world
    runs = ask(web, target="api")["runs"]
    assert [(r["labels"], r["build"]) for r in runs] == [("version=1.4.1", "a" * 12), ("version=1.4.2", "a" * 12), ("version=1.4.2", "b" * 12)]
    got = ask(web, target="0:api", series="live,rss", bands="top2", **{"from": start - 3 * DAY, "to": start + HOUR, "points": 400})
    assert [(i["run"], i["series"]) for i in got["items"]] == [(r["run"], "live") for r in runs]
    assert [set(i["max"]) for i in got["items"]] == [{100 * MIB}, {200 * MIB}, {50 * MIB}]
    first, away = got["items"][0], [start - 3 * DAY + 9 * HOUR, start - 3 * DAY + 15 * HOUR]
    assert first["gaps"] == [away] and got["items"][1]["gaps"] == []
    assert not any(away[0] < t < away[1] for t in first["times"]) and sum(first["count"]) == 18 * 60
    assert sum(len(i["times"]) for i in got["items"]) < 500
    censuses = got["censuses"][0]
    assert censuses["gaps"] == [away] and set(censuses["total"]) == {90 * MIB}
    assert {b["label"]: set(b["mean"]) for b in censuses["bands"]} == {"FUN": {30 * MIB}, "OLD": {60 * MIB}}
    part = ask(web, target="api", bands="top3", **{"from": start - DAY + 1234, "to": start - DAY + 4321})["censuses"][0]
    assert set(part["total"]) == {170 * MIB} and {b["label"]: set(b["mean"]) for b in part["bands"]} == {"FUN": {150 * MIB}, "OLD": {20 * MIB}}
    fine = ask(web, target="api", bands="top3", **{"from": start, "to": start + HOUR})["censuses"][0]
    assert len(fine["times"]) == 6 and {b["label"]: set(b["mean"]) for b in fine["bands"]}["NEW"] == {5 * MIB}


def test_the_api_refuses_what_it_does_not_know(world):
    web, start = world
    for bad, word in (({}, "a target"), ({"target": "api", "series": "x"}, "series"), ({"target": "api", "series": "live"}, "'from' and 'to'"),
                      ({"target": "api", "from": -1}, "Unix time"), ({"target": "api", "x": 1}, "unknown parameter"), ({"target": "9:api"}, "daemon"),
                      ({"target": "api", "bands": "top0", "from": 1, "to": 2}, "top100"), ({"target": "api", "from": 5, "to": 5}, "not after")):
        with pytest.raises(urllib.error.HTTPError) as error:
            ask(web, **bad)
        assert error.value.code == 400 and word in json.load(error.value)["error"], bad
    assert ask(web, target="none")["runs"] == []
    assert start


def at(chart, name, moment):
    """A line's value at its point nearest to a moment."""
    values = next(s["values"] for s in chart["series"] if s["id"] == name)
    return min((abs(x - moment), v) for x, v in zip(chart["x"], values) if v is not None)[1]


def test_a_long_range_shows_runs_deploys_and_gaps_on_one_grid(world, browser):
    web, start = world
    with browser.tab() as tab:
        tab.go(view(web, "heap", target="api", range="7d"))
        tab.until("heapwatch.settled && heapwatch.chart('heap')?.x[0] < -200000 && heapwatch.chart('bands')?.x[0] < -200000")
        heap, bands = tab.chart("heap"), tab.chart("bands")
        assert [at(heap, "live", t) for t in (-60 * HOUR, -DAY, HOUR // 2, HOUR + 600)] == [100 * MIB, 200 * MIB, 50 * MIB, 60 * MIB]
        assert heap["x"] == sorted(set(heap["x"])) and heap["range"]["from"] == -3 * DAY
        assert [at(bands, "FUN", t) for t in (-60 * HOUR, -DAY, HOUR // 2, HOUR + 600)] == [s * MIB for s in (30, 150, 40, 50)]
        assert [at(bands, "OLD", t) for t in (-60 * HOUR, -DAY, HOUR // 2, HOUR + 600)] == [s * MIB for s in (60, 20, 0, 0)]
        marks = {m["text"]: round(m["t"]) for m in heap["markers"] if m.get("solid")}
        assert marks == {"version=1.4.2": -2 * DAY, "build bbbbbbbb": 0}
        gaps = next(s["gaps"] for s in heap["series"] if s["id"] == "live")
        covered = [(a, b) for a, b in gaps if b - a > 600]      # wider than a point: not the step from one run to the next
        assert covered[0] == (-3 * DAY + 9 * HOUR, -3 * DAY + 15 * HOUR)
        assert len(covered) == 2 and covered[1] == pytest.approx((-630, 0), abs=600)
        assert not any(a < HOUR < b for a, b in gaps), "the run goes on where its daemon's own data begin"
        assert tab.js("[...document.querySelectorAll('[data-range]')].filter((b) => !b.hidden).map((b) => b.dataset.range).join()") == "1m,5m,15m,1h,6h,1d,7d,30d,1y,all"
        assert not tab.diagnostics()


def test_a_range_within_the_runs_own_data_asks_the_archive_for_nothing(world, browser):
    web, _ = world
    with browser.tab() as tab:
        tab.go(view(web, "heap", target="api", range="5m"))
        heap = tab.chart("heap")
        assert heap["range"]["from"] > HOUR and set(at(heap, "live", t) for t in heap["x"]) == {60 * MIB}
        assert not any("series=" in r for r in tab.requests() if "api/archive" in r)


def test_without_an_archive_the_page_is_as_before(directory, browser, monkeypatch):
    monkeypatch.setenv("HEAPWATCH_ARCHIVE", str(directory / "none.db"))
    log = LiveLog(directory / "api.eventlog")
    log.live(MIB)
    with Daemon(directory, f"api={log.path}") as daemon, Web("--connect", daemon.publish) as web, browser.tab() as tab:
        tab.go(view(web, "heap", target="api", range="7d"))
        assert tab.chart("heap")["range"]["from"] == 0
        assert tab.js("[...document.querySelectorAll('[data-range]')].filter((b) => !b.hidden).map((b) => b.dataset.range).join()") == "1m,5m,15m,1h,6h,1d,7d,all"
        assert ask(web, target="api") == {"archive": False, "runs": [], "older": 0} and not tab.diagnostics()
    done = client("web", "--db", directory / "none.db", "--connect", daemon.publish)
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1, done
