# SPDX-License-Identifier: BSD-3-Clause
"""The browser page in a real browser: against `heapwatch web` of files, of a daemon that reads a growing log, of an invented one."""
import contextlib
import collections
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import time
import urllib.parse
import xml.etree.ElementTree as tree

import pytest

from fake_daemon import MIB, FakeDaemon, leaky
from harness import BUILD, LOGS, LONG, VALGRIND, Daemon, client, long_cases, pb, piped, printed, private_directory, wait_for, without_page
from live_log import LiveLog
from web_browser import Browser, Web

PAGES = ["target", "overview", "heap", "detail", "gc", "profile", "holders", "threads", "notes", "alerts", "stream", "compare"]
SERVED = [*PAGES, "query"]     # a report has no server that could answer
FILES = {"info": "leaky-hi-ghc9103", "cost": "cc-hc-ghc9103", "time": "cc-p-ghc9103", "ticky": "ticky-ghc9103",
         "parallel": "parallel-full-ghc9103", "nonmoving": "nonmoving-census-ghc9103"}


pytestmark = [pytest.mark.skipif(without_page() is not None, reason=str(without_page())),
              pytest.mark.xdist_group("web_page")]      # its tests share a browser


@pytest.fixture(scope="module")
def browser():
    b = Browser()
    yield b
    b.close()


@pytest.fixture(scope="module")
def logs():
    """The recorded logs under names of their own: name -> path."""
    with private_directory() as directory:
        for name, run in FILES.items():
            shutil.copy(LOGS / run / "run.eventlog", directory / f"{name}.eventlog")
        yield {name: directory / f"{name}.eventlog" for name in FILES}


@pytest.fixture(scope="module")
def files(logs):
    """A server of all recorded logs."""
    with Web(*logs.values()) as web:
        yield web


def view(web, page, **values):
    query = urllib.parse.urlencode(values)
    return f"{web.url}#/{page}{'?' + query if query else ''}"


def censuses(log):
    """What the log's heap profile says: [(seconds, {label: bytes})], by the client that prints messages."""
    labels, found = {}, []
    for update in piped(log):
        for band in update.get("bands", {}).get("bands", []):
            labels[band["id"]] = band["label"]
        if "census" in update:
            c = update["census"]
            rows = {}
            for band, size in zip(c.get("band", []), c.get("bytes", [])):
                rows[band] = int(size)
            found.append((int(c["timeNs"]) / 1e9, rows))
    return labels, found


def test_the_modules_of_the_page(tmp_path):
    """Its own unit tests, under node."""
    source = BUILD / "page" / "src"
    subprocess.run(["node", "build.mjs", "--test", tmp_path], cwd=source, check=True, stdin=subprocess.DEVNULL)
    tests = sorted(tmp_path.glob("*.test.mjs"))
    assert len(tests) == len(list((source / "test").glob("*.test.ts"))) > 3
    (tmp_path / "all.mjs").write_text("".join(f"import './{test.name}'\n" for test in tests))     # in one process
    done = subprocess.run(["node", tmp_path / "all.mjs"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stdout


# ------------------------------------------------------------------------ reading


# What of a page stands on something else, or is cut though there is room: controls of the header, names, cells of tables.
BOXES = """(() => {
    const shown = (e) => e.offsetParent && e.getBoundingClientRect().width > 0, bad = [];
    const controls = [...document.querySelectorAll('header button, header select, header nav a')].filter(shown).map((e) => [e, e.getBoundingClientRect()]);
    controls.forEach(([a, p], i) => controls.slice(i + 1).forEach(([b, q]) => {
        if (Math.min(p.right, q.right) - Math.max(p.left, q.left) > 1 && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 1) bad.push(`${a.innerText} is on ${b.innerText}`);
    }));
    for (const name of [...document.querySelectorAll('.name')].filter(shown)) {
        const of = name.querySelector('.package'), head = name.querySelector('.head'), top = name.getBoundingClientRect().top;
        if (of && of.getBoundingClientRect().bottom > top + 2 && head.scrollWidth > head.clientWidth + 1) bad.push(`cut beside its package: ${name.textContent}`);
    }
    for (const cell of [...document.querySelectorAll('.tr > div')].filter(shown))
        if (!cell.querySelector('.label, svg, canvas') && !cell.classList.contains('label') && cell.scrollWidth > cell.clientWidth + 2) bad.push(`cut: ${cell.innerText}`);
    for (const table of [...document.querySelectorAll('.scroller:has(> [role=table], .tbody)')].filter(shown))
        if (table.scrollWidth > table.clientWidth + 2) bad.push(`wider than its place: ${table.innerText.slice(0, 40)}`);
    return bad;
})()"""


@pytest.mark.parametrize("theme, width", [("light", 1440), ("dark", 390)])
def test_every_page_opens_without_complaint(browser, files, theme, width):
    with browser.tab(theme=theme, width=width) as tab:
        for target in FILES:
            for page in SERVED if target == "info" else PAGES[1:6]:
                tab.go(view(files, page, target=target, range="all", sql="SELECT * FROM runs" if page == "query" else ""))
                tab.until(f"document.querySelector('nav [aria-current=page]')?.dataset.page === '{page}' && "
                          "document.querySelector('main').innerText.length > 40")
                if page == "query":
                    tab.until("document.querySelector('table.rows')")
                wide = tab.js("document.scrollingElement.scrollWidth - innerWidth")
                assert wide <= 0, f"{page} is {wide} px too wide for {width}"
                assert tab.js(BOXES) == [], (target, page)
        assert tab.diagnostics() == []
        assert all(r.startswith((files.url, "data:", "blob:")) for r in tab.requests()), "a request went elsewhere"


def test_a_query_in_the_address_is_asked_and_drawn(browser, files, logs):
    sql = "SELECT bucket(time, '1 s') AS time, max(value) AS live FROM series WHERE series = 'live' GROUP BY 1"
    want = json.loads(client("query", "--format", "json", sql, logs["info"]).stdout)
    with browser.tab() as tab:
        tab.go(view(files, "query", target="info", sql=sql))
        tab.until(f"document.querySelectorAll('table.rows tbody tr').length === {len(want)}")
        line, = tab.chart("query")["series"]
        assert line["label"] == "live" and line["values"] == [r["live"] for r in want]
        shown = client("query", sql, logs["info"]).stdout.decode().split("\n")[1].split("  ")
        assert tab.js("[...document.querySelectorAll('table.rows tbody tr:first-child td')].map((e) => e.innerText)") == [s.strip() for s in shown if s], "units as on a terminal"
        tab.js(f"document.querySelector('textarea.sql').value = {json.dumps(named := 'SELECT time, name, bytes FROM bands')}")
        tab.focus(selector="textarea.sql")
        tab.press(key="Control+Enter")
        tab.until("document.querySelector('p[role=status]').innerText.includes('lines with smaller values are not drawn')")
        of_names = collections.defaultdict(dict)
        for row in json.loads(client("query", "--format", "json", named, logs["info"]).stdout):
            of_names[row["name"]][row["time"]] = row["bytes"]
        drawn = {line["label"]: line["values"] for line in tab.chart("query")["series"]}
        assert set(drawn) == set(sorted(of_names, key=lambda name: -max(of_names[name].values()))[:6])
        times = sorted({t for values in of_names.values() for t in values})
        assert all(drawn[name] == [of_names[name].get(t) for t in times] for name in drawn)
        tab.go(view(files, "query", target="info", sql="SELECT time, pause, copied FROM collections"))
        tab.until("document.querySelector('p[role=status]').innerText.includes('of another unit and not drawn: copied')")
        assert [line["label"] for line in tab.chart("query")["series"]] == ["pause"]
        tab.go(view(files, "query", target="info", sql="SELECT 9007199254740993 AS n, 1 AS a, 2 AS a, -5 AS b"))
        tab.until("[...document.querySelectorAll('table.rows td')].map((e) => e.innerText).join(' ') === '9007199254740993 1 2 −5'")
        tab.js("document.querySelector('textarea.sql').value = 'SELECT serie FROM series'")
        tab.js("[...document.querySelectorAll('button')].find((b) => b.innerText === 'Run').click()")
        tab.until("document.querySelector('pre.problem')?.innerText.includes(\"did you mean 'series'?\")")
        assert tab.js("document.querySelector('pre.problem').innerText.split('\\n').length") == 3       # the place is marked
        assert tab.js("decodeURIComponent(location.hash).includes('serie+FROM')")
        assert tab.js("document.querySelectorAll('table.rows').length") == 0


def test_a_query_reaches_the_archived_runs_of_a_target(browser, logs, directory):
    db = directory / "archive.db"
    assert client("archive", "--db", db, "--target", "api", logs["cost"]).returncode == 0
    with Daemon(directory, f"api=file:{logs['info']}") as d, Web("--connect", d.publish, "--db", db) as web, browser.tab() as tab:
        d.wait_state("api", "ENDED")
        tab.go(view(web, "query", target="api", sql="SELECT source, target FROM runs ORDER BY 1"))
        tab.until("document.querySelector('select[aria-label=\"A second source\"] option[value=\"@all\"]')")
        tab.js("(s => { s.value = '@all'; s.dispatchEvent(new Event('change')); })(document.querySelector('select[aria-label=\"A second source\"]'))")
        tab.until("document.querySelectorAll('table.rows tbody tr').length === 2")
        assert tab.js("document.querySelector('table.rows tbody').innerText").split() == ["api", "api", "api_archived", "api"]
        assert tab.js("decodeURIComponent(location.hash).includes('with=@all')")


def test_a_report_has_no_queries(browser, logs, directory):
    report = directory / "report.html"
    assert client("report", logs["info"], "-o", report).returncode == 0
    with browser.tab(offline=True) as tab:
        tab.go(f"file://{report}#/query?target=info&sql=SELECT+1")
        tab.until("document.querySelector('nav [aria-current=page]')")
        assert tab.js("document.querySelectorAll('nav [data-page=query], textarea.sql').length") == 0
        assert all(r.startswith(("file:", "data:", "blob:")) for r in tab.requests())


def test_no_word_of_the_overview_is_cut(browser, files):
    """On the screen of a laptop, with the longest verdict that a running program has."""
    with browser.tab(width=1440) as tab:
        tab.go(view(files, "overview")).table("targets")
        cut = tab.js("""[...document.querySelectorAll('.tbody .pill')].map((pill) => {
            if (pill.closest('.tr > div') === pill.closest('.tr').children[1]) pill.textContent = 'steady so far';
            const cell = pill.closest('.tr > div'), table = cell.closest('.table').parentElement, { right } = pill.getBoundingClientRect();
            return [pill.textContent, right - Math.min(cell.getBoundingClientRect().right - 10, table.getBoundingClientRect().right)];
        }).filter(([, beyond]) => beyond > 0)""")
        assert cut == []


@pytest.mark.parametrize("theme, width", [("light", 1440), ("dark", 390), *long_cases(("light", 390), ("dark", 1440))])
def test_every_page_is_accessible(browser, files, theme, width):
    with browser.tab(theme=theme, width=width) as tab:
        found = {}
        for page in SERVED:
            tab.go(view(files, page, target="info", range="all"))
            tab.until(f"document.querySelector('nav [aria-current=page]')?.dataset.page === '{page}' && heapwatch.settled && "
                      "document.querySelector('main').innerText.length > 40")
            violations = tab.axe()
            if violations:
                found[page] = violations
        assert not found, json.dumps(found, indent=1)


@pytest.mark.parametrize("target", ["info", "cost"])
def test_the_largest_bands_and_their_values(browser, files, logs, target):
    labels, found = censuses(logs[target])
    total = {b: sum(rows.get(b, 0) for _, rows in found) for b in labels}
    top = sorted(labels, key=lambda b: (-total[b], b))[:15]
    with browser.tab() as tab:
        chart = tab.go(view(files, "heap", target=target, range="all")).chart("bands")
        drawn = [s for s in chart["series"] if s["id"] != "other"]
        names = [labels[b] for b in top]
        for series, name in zip(drawn, names):      # those of one name have type and place behind it
            assert series["label"] == name if names.count(name) == 1 else series["label"].startswith(f"{name} ("), series["label"]
        assert len({s["label"] for s in drawn}) == len(drawn) == len(top)
        assert chart["x"] == pytest.approx([t for t, _ in found])
        for series, band in zip(drawn, top):
            assert series["values"] == [rows.get(band, 0) for _, rows in found], series["label"]
        rest = [s for s in chart["series"] if s["id"] == "other"]
        if len(labels) > 15:
            assert rest[0]["values"] == [sum(v for b, v in rows.items() if b not in top) for _, rows in found]
        tab.js("location.hash += '&mode=share'")
        share = tab.until("heapwatch.chart('bands-share')?.series?.[0]")
        assert share["values"] == pytest.approx([rows.get(top[0], 0) / sum(rows.values()) for _, rows in found])


def test_the_heap_pane_has_the_samples_of_the_log(browser, files, logs):
    samples = [(int(t) / 1e9, int(v)) for u in piped(logs["cost"]) for s in u.get("heap", {}).get("samples", [])
               if s["series"] == "SERIES_LIVE" for t, v in zip(s["timesNs"], s["values"])]
    with browser.tab() as tab:
        chart = tab.go(view(files, "heap", target="cost", range="all")).chart("heap")
        live = next(s for s in chart["series"] if s["id"] == "live")["values"]
        drawn = [(t, v) for t, v in zip(chart["x"], live) if v is not None]
        assert [v for _, v in drawn] == [v for _, v in samples]
        assert [t for t, _ in drawn] == pytest.approx([t for t, _ in samples])
        assert "Is it fragmentation?" in tab.text(selector="main")


def test_markers_are_lines_and_can_be_chosen(browser, files, logs):
    texts = [n["text"] for u in piped(logs["info"]) for n in u.get("notes", {}).get("notes", []) if n["what"] == "WHAT_MARKER"]
    assert len(texts) > 2
    with browser.tab() as tab:
        def shown(**more):
            tab.go(view(files, "heap", target="info", range="all", **more))
            return [m["text"] for m in tab.chart("bands")["markers"] if not m.get("faint")]
        assert shown() == texts
        assert shown(inc=texts[1]) == [t for t in texts if texts[1] in t]
        assert shown(exc=texts[1]) == [t for t in texts if texts[1] not in t]
        assert shown(notes="none") == []


def test_the_profile_page_counts_every_tick(browser, files, logs):
    ticks = {}
    for u in piped(logs["time"]):
        for s in u.get("profile", {}).get("stacks", []):
            ticks[s["id"]] = int(s["ticks"])
    with browser.tab() as tab:
        tab.go(view(files, "profile", target="time", range="all"))
        root = tab.until("heapwatch.chart('flame')?.root")
        assert root["value"] == sum(ticks.values())
        rows = tab.table("centres")["rows"]
        assert sum(r["own"] for r in rows) == root["value"]
        assert tab.until("document.querySelectorAll('.flame g.frame').length") > 3
        first = tab.js("document.querySelectorAll('.flame g.frame').length")
        tab.click(selector=".flame g.frame:nth-of-type(2)")
        assert tab.until("heapwatch.chart('flame').zoomed.length") == 1
        assert first > 3
        tab.go(view(files, "profile", target="ticky", range="all"))
        assert any(r["entries"] for r in tab.table("ticky")["rows"])
        assert tab.diagnostics() == []


# ----------------------------------------------------------------------- handling


def test_zoom_by_mouse_and_keyboard_is_one_for_all_charts_and_in_the_link(browser, files):
    with browser.tab() as tab:
        tab.go(view(files, "heap", target="info", range="all"))
        whole = tab.chart("bands")["range"]
        box = tab.box(selector="[data-chart=bands] .u-over")
        y = box["y"] + box["height"] / 2
        tab.drag(**{"from": [box["x"] + box["width"] * 0.25, y], "to": [box["x"] + box["width"] * 0.75, y]})
        part = tab.until("(() => { const r = heapwatch.chart('bands').range; return r.from > 0.1 ? r : null; })()")
        width = whole["to"] - whole["from"]
        assert part["from"] == pytest.approx(whole["from"] + width / 4, abs=width / 50)
        assert part["to"] == pytest.approx(whole["to"] - width / 4, abs=width / 50)
        assert tab.chart("heap")["range"] == part
        link = tab.js("location.href")
        assert "range=" in link
        with browser.tab() as other:
            assert other.go(link).chart("bands")["range"] == pytest.approx(part)
        tab.focus(selector="[data-chart=bands] .chart-canvas")
        tab.press(key="ArrowRight")
        moved = tab.until(f"(() => {{ const r = heapwatch.chart('heap').range; return r.from > {part['from']} ? r : null; }})()")
        assert moved["to"] - moved["from"] == pytest.approx(part["to"] - part["from"], rel=1e-3)
        tab.press(key="0")
        tab.until("!location.hash.includes('range=') || location.hash.includes('range=all')")


def test_a_band_is_isolated_by_its_key_and_by_clicking_it(browser, files):
    with browser.tab() as tab:
        tab.go(view(files, "heap", target="cost", range="all"))
        names = [s["id"] for s in tab.chart("bands")["series"]]
        tab.click(selector=f".legend .key >> text={names[2]}")
        only = tab.until("(() => { const c = heapwatch.chart('bands'); return location.hash.includes('iso=') && c; })()")
        drawn = [s["id"] for s in only["series"] if any(v is not None for v in s["values"])]
        assert drawn == [names[2]]
        assert only["scaleY"]["max"] < 400 * 1024, "an automatic axis fits the band alone"
        tab.click(selector=f".legend .key >> text={names[2]}")
        tab.until("!location.hash.includes('iso=')")
        box = tab.box(selector="[data-chart=bands] .u-over")
        tab.click(selector="[data-chart=bands] .u-over", position={"x": box["width"] / 2, "y": box["height"] - 8})
        tab.until(f"new URLSearchParams(location.hash.split('?')[1]).get('iso') === {json.dumps(names[0])}")


def test_bands_are_hidden_by_their_boxes_and_in_the_link(browser, files):
    with browser.tab() as tab:
        tab.go(view(files, "heap", target="cost", range="all"))
        before = tab.chart("bands")
        names = [s["id"] for s in before["series"]]

        def drawn(at):
            return [s["id"] for s in at.chart("bands")["series"] if any(v is not None for v in s["values"])]
        for name in (names[0], names[2]):
            tab.click(selector=f"[data-chart=bands] .legend input[aria-label={json.dumps('Show ' + name)}]")
        tab.until("(new URLSearchParams(location.hash.split('?')[1]).get('hide') ?? '').split(',').length === 2")
        assert drawn(tab) == [n for n in names if n not in (names[0], names[2])]
        after = tab.chart("bands")
        assert after["series"][-1]["values"] == before["series"][-1]["values"], "what is hidden is not moved elsewhere"
        with browser.tab() as other:
            assert drawn(other.go(tab.js("location.href"))) == drawn(tab)
        tab.click(selector=f"[data-chart=bands] .legend input[aria-label={json.dumps('Show ' + names[2])}]")
        tab.until("!(new URLSearchParams(location.hash.split('?')[1]).get('hide') ?? '').includes(',')")
        assert drawn(tab) == names[1:]
        assert tab.diagnostics() == []


def test_the_axis_can_be_fixed(browser, files):
    with browser.tab() as tab:
        tab.go(view(files, "heap", target="cost", range="all", ytop="64 MiB"))
        assert tab.chart("bands")["scaleY"]["max"] == 64 * MIB


def test_bands_are_compared_with_a_marked_moment(browser, files, logs):
    labels, found = censuses(logs["cost"])
    then = len(found) // 2
    with browser.tab() as tab:
        tab.go(view(files, "detail", target="cost", range="all", mark=f"{found[then][0] + 0.0001:.6f}"))
        rows = tab.until("heapwatch.table('bands')?.rows.some((r) => r.sinceMark !== undefined) && heapwatch.table('bands').rows")
        assert {r["label"]: r["sinceMark"] for r in rows} == {
            labels[b]: found[-1][1].get(b, 0) - found[then][1].get(b, 0) for b in labels}
        assert "Since mark" in tab.text(selector="[data-table=bands]")
        tab.click(selector="button >> text=Remove the mark")
        tab.until("!location.hash.includes('mark=') && !document.querySelector('[data-table=bands]').innerText.includes('Since mark')")
        tab.click(selector="button >> text=Mark now")
        tab.until("location.hash.includes('mark=') && heapwatch.table('bands').rows.every((r) => r.sinceMark === undefined)")
        assert tab.diagnostics() == []


def test_search_sort_and_open_a_band(browser, files, logs):
    labels, found = censuses(logs["cost"])
    with browser.tab() as tab:
        tab.go(view(files, "detail", target="cost", range="all"))
        rows = tab.table("bands")["rows"]
        assert len(rows) == len(labels)
        sums = {labels[b]: sum(r.get(b, 0) for _, r in found) for b in labels}
        assert {r["label"]: r["sum"] for r in rows} == sums
        assert [r["now"] for r in rows] == sorted((r["now"] for r in rows), reverse=True)
        tab.click(selector="[data-table=bands] [role=columnheader] >> text=Band")
        tab.until("(t => t.rows[0].label <= t.rows[1].label)(heapwatch.table('bands'))")
        tab.until("document.querySelector('[data-table=bands] [aria-sort=ascending]').innerText.startsWith('Band')")
        tab.fill(selector="input[name=q]", text="grow")
        assert [r["label"] for r in tab.until("heapwatch.table('bands').rows.length === 2 && heapwatch.table('bands').rows")] == \
            ["Main.grow_linear", "Main.grow_quadratic"]
        tab.fill(selector="input[name=q]", text="/^MAIN$/")
        tab.until("heapwatch.table('bands').rows.length === 1")
        tab.fill(selector="input[name=q]", text="/(/")
        tab.until("document.querySelector('input[name=q]').classList.contains('wrong')")
        tab.fill(selector="input[name=q]", text="grow_linear")
        tab.until("heapwatch.table('bands').rows.length === 1")
        tab.focus(selector="[data-table=bands] [role=row][tabindex='0']")
        tab.press(key="Enter")
        assert "costcentre.hs" in tab.until("document.querySelector('[aria-label=\"The opened band\"]')?.offsetParent && "
                                            "document.querySelector('[aria-label=\"The opened band\"]').innerText")
        assert "band=Main.grow_linear" in tab.js("location.hash")


def test_compare_joins_on_the_label(browser, files, logs):
    means = []
    for name in ("info", "cost"):
        labels, found = censuses(logs[name])
        mean = {}
        for b, label in labels.items():
            mean[label] = mean.get(label, 0) + sum(r.get(b, 0) for _, r in found) / len(found)
        means.append({label: m for label, m in mean.items() if m})
    with browser.tab() as tab:
        tab.go(view(files, "compare", a="info", b="cost", target="info"))
        labels = set(means[0]) | set(means[1])
        rows = tab.until(f"(r => heapwatch.settled && r?.length >= {len(labels)} && r)(heapwatch.table('compare')?.rows)")
        assert {r["label"] for r in rows} == labels
        for r in rows:
            a, b = means[0].get(r["label"]), means[1].get(r["label"])
            assert (r.get("a"), r.get("b")) == (pytest.approx(a), pytest.approx(b))
            assert r["diff"] == pytest.approx((b or 0) - (a or 0))
        diffs = [abs(r["diff"]) for r in rows]
        assert diffs == sorted(diffs, reverse=True)
        tab.go(view(files, "compare", target="info"))
        tab.until("(r => r.some(x => x.a) && r.some(x => x.b))(heapwatch.table('compare').rows)")  # a side that no link names
        tab.go(view(files, "compare", a="info", b="cost", target="info")).table("compare")
        tab.click(selector="text=Keep A as baseline")
        tab.go(view(files, "compare", a="baseline", b="info", target="info"))
        again = tab.table("compare")["rows"]
        assert len(again) == len(means[0]) and all(abs(r["diff"]) < 1e-6 for r in again)


SIDES = "[...document.querySelectorAll('select[aria-label^=Side],select[aria-label^=Range]')].map(s => s.value).join()"


def test_two_logs_open_on_compare_in_their_order(browser, logs, directory):
    """The first one is A, also where it is not the first by name, and in the table of whole runs, which is of these sides only."""
    given = (logs["info"], logs["cost"])
    report = directory / "two.html"
    assert client("report", *given, "-o", report).returncode == 0
    with browser.tab() as tab, Web(*given) as web:
        tab.go(web.url).until(f"heapwatch.settled && {SIDES} === 'info,all,cost,all'")
        tab.until("heapwatch.table('compare').rows.some(r => r.a) && heapwatch.table('compare').rows.some(r => r.b)")
        tab.go(f"file://{report}").until(f"heapwatch.settled && {SIDES} === 'info,all,cost,all'")
        assert tab.until("document.querySelector('[data-table=diff]').offsetParent !== null")
        tab.go(f"file://{report}#/compare?a=cost&b=info").until(f"{SIDES} === 'cost,all,info,all'")
        tab.until("document.querySelector('[data-table=diff]').offsetParent === null")


def test_charts_and_tables_are_saved(browser, files):
    with browser.tab() as tab:
        tab.go(view(files, "heap", target="info", range="all")).chart("bands")
        name, png = tab.save_file("[data-chart=bands] [aria-label$='as PNG']")
        assert name == "heapwatch-bands.png" and png.startswith(b"\x89PNG") and len(png) > 5000
        name, svg = tab.save_file("[data-chart=bands] [aria-label$='as SVG']")
        root = tree.fromstring(svg)
        assert name.endswith(".svg") and root.tag == "{http://www.w3.org/2000/svg}svg"
        words = " ".join(root.itertext())
        assert "Largest bands" in words and tab.chart("bands")["series"][0]["label"] in words
        assert len(root.findall(".//{*}path")) >= 15
        tab.go(view(files, "detail", target="info", range="all"))
        rows = tab.table("bands")["rows"]
        name, csv = tab.save_file("[data-table=bands] [aria-label$='as CSV']")
        lines = csv.decode().strip().split("\r\n")
        assert lines[0].startswith("Rank,Band,Verdict,Type,Module,Source,Now,Sum,Mean,Slope") and len(lines) == len(rows) + 1
        tab.go(view(files, "profile", target="time", range="all")).until("heapwatch.chart('flame')?.root")
        for kind, head in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
            assert tab.save_file(f"[data-chart=flame] [aria-label$='as {kind}']")[1].startswith(head)
        tab.go(view(files, "gc", target="info", range="all")).until("heapwatch.chart('pause-histogram')?.groups.length")
        assert tab.save_file("[data-chart=pause-histogram] [aria-label$='as PNG']")[1].startswith(b"\x89PNG")
        assert tab.diagnostics() == []


def test_the_whole_page_is_saved_as_a_report_that_needs_no_server(browser, files, directory):
    with browser.tab() as tab:
        tab.go(view(files, "heap", target="cost", range="all"))
        before = tab.chart("bands")
        name, page = tab.save_file("text=Save report")
        assert name.endswith(".html")
    report = directory / name
    report.write_bytes(page)
    assert b"default-src 'none'" in page
    with browser.tab(offline=True) as tab:
        tab.go(f"file://{report}#/heap?target=cost&range=all")
        after = tab.chart("bands")
        assert after["x"] == pytest.approx(before["x"])
        assert [(s["label"], s["values"]) for s in after["series"]] == [(s["label"], s["values"]) for s in before["series"]]
        for p in PAGES:
            tab.go(f"file://{report}#/{p}?target=cost")
            tab.until(f"document.querySelector('nav [aria-current=page]')?.dataset.page === '{p}'")
        assert tab.diagnostics() == []
        assert all(r.startswith(("file:", "data:", "blob:")) for r in tab.requests())


def test_a_report_of_finished_logs_from_disk(browser, logs, directory):
    report = directory / "report.html"
    printed("report", logs["cost"], logs["info"], "-o", report, "--bands", "3", "--sort", "name")
    labels, found = censuses(logs["cost"])
    with browser.tab(offline=True) as tab:
        chart = tab.go(f"file://{report}#/heap?target=cost").chart("bands")
        names = [s["label"] for s in chart["series"] if s["id"] != "other"]
        assert names == sorted(labels.values())[:3]
        by_name = {label: b for b, label in labels.items()}
        for s in chart["series"][:3]:
            assert s["values"] == [r.get(by_name[s["label"]], 0) for _, r in found]
        rows = tab.go(f"file://{report}#/detail?target=cost").table("bands")["rows"]
        assert {r["label"]: r["sum"] for r in rows} == {label: sum(r.get(b, 0) for _, r in found) for b, label in labels.items()}
        assert tab.go(f"file://{report}#/compare").table("compare")["rows"]
        said = json.loads(client("diff", "--format", "json", logs["cost"], logs["info"]).stdout)["quantities"]
        assert [(q["title"], q["change"]) for q in tab.table("diff")["rows"]] == [
            (q["title"], pytest.approx(q["change"]) if q["change"] is not None else None) for q in said]
        for p in PAGES:
            tab.go(f"file://{report}#/{p}?target=info")
            tab.until(f"document.querySelector('nav [aria-current=page]')?.dataset.page === '{p}'")
        assert tab.diagnostics() == []
        assert all(r.startswith(("file:", "data:", "blob:")) for r in tab.requests())


def test_a_report_of_a_target_shows_what_the_page_of_its_daemon_shows(browser, logs, directory):
    report = directory / "report.html"
    with Daemon(directory, f"cost={logs['cost']}") as d, Web("--connect", d.publish) as web, browser.tab() as tab:
        d.wait_state("cost", "ENDED")
        before = tab.go(view(web, "heap", target="cost", range="all")).chart("bands")
        printed("report", "--connect", d.publish, "cost", "-o", report)
    with browser.tab(offline=True) as tab:
        after = tab.go(f"file://{report}#/heap?target=cost&range=all").chart("bands")
        assert after["x"] == pytest.approx(before["x"]) and len(after["series"]) > 1
        assert [(s["label"], s["values"]) for s in after["series"]] == [(s["label"], s["values"]) for s in before["series"]]
        for p in PAGES:
            tab.go(f"file://{report}#/{p}?target=cost")
            tab.until(f"document.querySelector('nav [aria-current=page]')?.dataset.page === '{p}'")
        assert tab.diagnostics() == []


def contrast(one, two):
    def light(c):
        parts = [int(c[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        parts = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    high, low = sorted((light(one), light(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_readable_by_eye_and_by_screen_reader(browser, files, theme):
    with browser.tab(theme=theme) as tab:
        tab.go(view(files, "detail", target="info", range="all")).table("bands")
        color = {n: tab.js(f"getComputedStyle(document.documentElement).getPropertyValue('--{n}').trim()") for n in
                 ("text", "muted", "accent", "good", "warn", "bad", "marker", "card", "bg", "raised", "good-bg", "warn-bg", "bad-bg")}
        for n, ground in [(n, g) for n in ("text", "muted", "accent") for g in ("card", "bg", "raised")] + \
                [("good", "good-bg"), ("warn", "warn-bg"), ("bad", "bad-bg"), ("marker", "card")]:
            assert contrast(color[n], color[ground]) >= 4.5, (n, ground)
        table = "document.querySelector('[data-table=bands] [role=table]')"
        assert int(tab.js(f"{table}.getAttribute('aria-rowcount')")) == len(tab.table("bands")["rows"]) + 1
        assert tab.js(f"[...{table}.querySelectorAll('.tbody [role=row]')].every(r => r.getAttribute('aria-rowindex') && "
                      "[...r.children].every(c => c.getAttribute('role') === 'cell'))")
        nameless = tab.js("[...document.querySelectorAll('button, select, input')].filter(e => !(e.innerText?.trim() || "
                          "e.getAttribute('aria-label') || e.title)).length")
        assert nameless == 0
        assert tab.js("document.documentElement.lang") == "en"


# --------------------------------------------------------------------------- live


def grow(path, data, a, b):
    with open(path, "ab") as f:
        f.write(data[int(len(data) * a):int(len(data) * b)])


def test_live_updates_pause_and_the_past_of_a_late_browser(browser, directory):
    log, path = LOGS / "live-966-file-hsflush" / "run.eventlog", directory / "log"
    data, (labels, found) = log.read_bytes(), censuses(log)
    grow(path, data, 0, 0.5)
    newest = "heapwatch.chart('bands')?.x?.at(-1)"
    with Daemon(directory, f"t={path}") as d, Web("--connect", d.publish) as web, browser.tab() as tab:
        wait_for(lambda: (h := d.health("t")) and h.bytes == path.stat().st_size, "the first half's censuses")
        tab.go(view(web, "heap", target="t", range="all", time="run"))
        first = tab.until(newest)
        # the daemon's history: one a second of the first half's two and a half
        past = tab.chart("bands")["x"]
        assert len(past) >= 3, "censuses from before the page was opened"
        assert all(any(abs(x - time) < 1e-6 for time, _ in found) for x in past), "at the times that they had"
        tab.until("heapwatch.live.connected")
        tab.click(selector="text=Pause")
        tab.until("location.hash.includes('paused=1')")
        still = tab.js(newest)
        grow(path, data, 0.5, 1)
        tab.until("heapwatch.view.targets.get('t').state.state === 'STATE_ENDED'")
        tab.until("heapwatch.view.targets.get('t').censuses.times.at(-1) > " + str(first))
        assert tab.js(newest) == still, "a paused page stands still"
        tab.click(selector="text=Resume")
        tab.until(f"Math.abs({newest} - {found[-1][0]}) < 1e-6")
        last = {s["label"]: s["values"][-1] for s in tab.chart("bands")["series"]}
        exact = {labels[b]: v for b, v in found[-1][1].items()}
        assert all(v == exact.get(label, 0) for label, v in last.items() if not label.startswith("other ("))
        assert sum(last.values()) == sum(exact.values())
        assert tab.diagnostics() == []


def test_a_running_program(browser, directory, programs):
    log = directory / "leaky.eventlog"
    with Daemon(directory, f"leaky={log}") as d, Web("--connect", d.publish) as web, browser.tab() as tab:
        program = subprocess.Popen([programs["leaky"], "600", "+RTS", "-l", "-hT", "-i0.1", f"-ol{log}"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=directory)
        try:
            tab.go(view(web, "heap", target="leaky"))
            tab.until("heapwatch.chart('bands')?.x?.length > 5")
            first = tab.js("heapwatch.chart('bands').x.length")
            tab.until(f"heapwatch.chart('bands').x.length > {first} + 3")
            tab.until("['live', 'heap_size', 'rss'].every(id => heapwatch.chart('heap').series.some(s => s.id === id))")
            tab.until("document.querySelector('.top .pill').innerText === 'running'")
            tab.go(view(web, "overview"))
            tab.until("(r => r.target === 'leaky' && r.state === 'running' && r.rss > r.live && r.live > 0)(heapwatch.table('targets').rows[0])")
        finally:
            program.kill()
            program.wait()
        tab.until("heapwatch.table('targets')?.rows[0].state === 'crashed'")


def test_a_daemon_that_dies_and_one_that_comes_back(browser, directory):
    path = LOGS / "leaky-hi-ghc9103" / "run.eventlog"
    with Daemon(directory, f"t={path}") as d, Web("--connect", d.publish) as web, browser.tab() as tab:
        d.wait_state("t", "ENDED")
        tab.go(view(web, "heap", target="t", range="all"))
        before = tab.chart("bands")["series"][0]["values"]
        banner = "document.querySelector('.banner')"
        tab.until(f"{banner}.hidden")
        d.stop(signal.SIGKILL)
        tab.until(f"!{banner}.hidden && {banner}.innerText.includes('silent') && / s old/.test({banner}.innerText)")
        assert tab.chart("bands")["series"][0]["values"] == before, "what was known stays in sight"
        for name in ("publish", "request"):
            if os.path.exists(directory / name):
                os.unlink(directory / name)
        d.start()
        d.wait_state("t", "ENDED")
        tab.until(f"{banner}.hidden")
        tab.until("heapwatch.chart('bands')?.series?.length > 10")
        web.process.kill()
        web.process.wait()
        assert "not reachable" in tab.until(f"!{banner}.hidden && {banner}.innerText.includes('reachable') && {banner}.innerText")


def test_a_server_that_refuses_a_stream_is_quoted(browser, directory):
    """As many streams as it gives are open already; one that is closed makes room."""
    with FakeDaemon(pb, directory, {"t": leaky}) as d, Web("--connect", d.endpoint) as web, browser.tab() as tab, \
            contextlib.ExitStack() as stack:
        host = web.url[len("http://"):].rstrip("/")
        taken = []
        for _ in range(64):
            s = stack.enter_context(socket.create_connection(host.split(":")))
            s.sendall(f"GET /api/stream?detail= HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            assert s.recv(64).startswith(b"HTTP/1.1 200")
            taken.append(s)
        tab.go(view(web, "overview"))
        tab.until("document.querySelector('.banner')?.innerText.includes('too many streams are open')")
        for s in taken:
            s.close()
        tab.until("document.querySelector('.banner').hidden && heapwatch.live.connected && heapwatch.table('targets').rows.length === 1")


# ------------------------------------------------------------------------ hostile

HOSTILE = ["<img src=x onerror=\"alert(1)\">", "</script><script>alert(2)</script>", "x" * 5000, "safe\u202egnp.exe",
           "=HYPERLINK(\"http://x\")", "\x1b[31mred\x00\x07", "{{7*7}}${7*7}", "a\u0300" * 50, "\ufffd\ufffd invalid", ""]


def hostile(schema, tick):
    """A target in which every text is an attack."""
    updates = leaky(schema, tick)
    for u in updates:
        if u.WhichOneof("body") == "target_state":
            u.target_state.run_info.program = HOSTILE[0]
            u.target_state.detail = HOSTILE[1]
    now = tick * 200_000_000 + 61_000_000_000
    if tick == 0:
        bands = schema.Update(run=7, event_time_ns=now)
        for i, text in enumerate(HOSTILE):
            b = bands.bands.bands.add(id=i + 1, label=text)
            b.info_table.name, b.info_table.source, b.info_table.module = text, text, text
            b.stack.add(id=1, label=text, module=text, source=text)
        notes = schema.Update(run=7, event_time_ns=now)
        for i, text in enumerate(HOSTILE):
            notes.notes.notes.add(number=i + 1, time_ns=now, what=schema.Note.WHAT_MARKER, text=text, size_bytes=len(text))
        profile = schema.Update(run=7, event_time_ns=now)
        profile.profile.ticks = len(HOSTILE)
        for i, text in enumerate(HOSTILE):
            s = profile.profile.stacks.add(id=i + 1, ticks=i + 1)
            s.centres.add(id=i + 1, label=text, module=text, source=text)
        updates = [u for u in updates if u.WhichOneof("body") not in ("bands", "notes", "profile", "census")] + [bands, notes, profile]
    else:
        updates = [u for u in updates if u.WhichOneof("body") not in ("bands", "notes", "profile", "census")]
    census = schema.Update(run=7, event_time_ns=now)
    census.census.number, census.census.time_ns = tick + 1, now
    census.census.band.extend(range(1, len(HOSTILE) + 1))
    census.census.bytes.extend(MIB * (i + 1) for i in range(len(HOSTILE)))
    census.census.total_bytes = sum(census.census.bytes)
    for u in updates:
        u.run = 7
    return updates + [census]


def test_text_of_the_program_is_never_markup(browser, directory):
    with FakeDaemon(pb, directory, {"h": hostile}) as d, Web("--connect", d.endpoint) as web, browser.tab() as tab:
        elements = None
        for page in SERVED:
            tab.go(view(web, page, target="h"))
            tab.until(f"document.querySelector('nav [aria-current=page]')?.dataset.page === '{page}' && "
                      f"heapwatch.view.targets.get('h')?.{'state' if page == 'overview' else 'bands.size'}")
            tab.until("heapwatch.frames > 1")
            assert tab.js("document.querySelectorAll('main img, main script, main iframe, main a[href]').length") == 0, page
            elements = elements or tab.js("document.scripts.length")
            assert tab.js("document.scripts.length") == elements
            assert tab.js("document.scrollingElement.scrollWidth <= innerWidth"), page
        tab.go(view(web, "heap", target="h"))
        chart = tab.chart("bands")
        assert {HOSTILE[0], HOSTILE[3]} <= {s["label"] for s in chart["series"]}
        keys = tab.js("[...document.querySelectorAll('[data-chart=bands] .legend bdi')].map(e => e.textContent)")
        assert any("<img" in k for k in keys) and any("⟨202E⟩" in k for k in keys) and not any("\u202e" in k for k in keys)
        assert tab.save_file("[data-chart=bands] [aria-label$='as SVG']")[1].count(b"<img") == 0
        tree.fromstring(tab.save_file("[data-chart=bands] [aria-label$='as SVG']")[1])
        tab.go(view(web, "detail", target="h", band=HOSTILE[0])).table("bands")
        tab.until("document.querySelector('[aria-label=\"The opened band\"]').innerText.includes('<img')")
        assert b"'=HYPERLINK" in tab.save_file("[data-table=bands] [aria-label$='as CSV']")[1]
        report = directory / "report.html"
        report.write_bytes(tab.save_file("text=Save report")[1])
        assert b"<img src=x" not in report.read_bytes()
        assert tab.diagnostics() == []
        with browser.tab(offline=True) as other:
            other.go(f"file://{report}#/detail?target=h").table("bands")
            assert other.diagnostics() == []


N = 10000


def many(schema, tick):
    """Ten thousand bands; the first one grows. A census a second: programs make no more."""
    now = tick * 200_000_000 + 61_000_000_000
    updates = [u for u in leaky(schema, tick) if u.WhichOneof("body") in ("target_state", "heap", "gc")]
    if tick == 0:
        bands = schema.Update(run=1, event_time_ns=now)
        for i in range(N):
            bands.bands.bands.add(id=i + 1, label=f"Module{i % 100}.function{i}")
        updates.append(bands)
    if tick % 5:
        return updates
    census = schema.Update(run=1, event_time_ns=now)
    census.census.number, census.census.time_ns = tick // 5 + 1, now
    census.census.band.extend(range(1, N + 1))
    census.census.bytes.extend([MIB + tick * 1000] + [1000 + i for i in range(1, N)])
    census.census.total_bytes = sum(census.census.bytes)
    return updates + [census]


@pytest.mark.long
@pytest.mark.skipif(not LONG, reason="has a long form alone: HEAPWATCH_LONG=1")
@pytest.mark.skipif(VALGRIND, reason="a flood is too much for it: 10,000 values a second")
def test_ten_thousand_bands(browser, directory):
    with FakeDaemon(pb, directory, {"many": many}) as d, Web("--connect", d.endpoint) as web, browser.tab() as tab:
        tab.go(view(web, "detail", target="many"))
        tab.until(f"heapwatch.table('bands')?.rows.length === {N}")
        table = tab.js("(({rows, drawn}) => ({drawn, first: rows[0].label}))(heapwatch.table('bands'))")
        assert table["first"] == "Module0.function0" and table["drawn"] < 60
        tab.focus(selector="[data-table=bands] [role=row][tabindex='0']")
        tab.press(key="End")
        tab.until(f"[...document.querySelectorAll('[data-table=bands] .tbody [role=row]')].some(r => !r.hidden && r.getAttribute('aria-rowindex') === '{N + 1}')")
        tab.fill(selector="input[name=q]", text="/function999[0-9]$/")
        tab.until("heapwatch.table('bands').rows.length === 10")
        tab.go(view(web, "heap", target="many", bands="20"))
        chart = tab.chart("bands")
        assert chart["series"][0]["label"] == "Module0.function0" and len(chart["series"]) == 21
        tab.until("heapwatch.chart('bands').x.length > 3")
        chart = tab.chart("bands")
        assert chart["series"][-1]["values"][-1] > 30e6, "the rest is one layer"
        assert tab.diagnostics() == []


# ------------------------------------------------------------------------- judged


def judged(schema, tick):
    updates = leaky(schema, tick)
    now = updates[0].event_time_ns
    trends = schema.Update(run=updates[0].run, event_time_ns=now)
    t = trends.trends.trends.add(series=schema.SERIES_LIVE, verdict=schema.VERDICT_LEAK, slope=1.25 * MIB, slope_low=MIB, slope_high=1.5 * MIB)
    trends.trends.growth.where = schema.Growth.WHERE_LIVE
    alerts = schema.Update(run=updates[0].run, event_time_ns=now)
    a = alerts.alerts.alerts.add(rule="Leak", severity="critical", value=1.25, value_text="1.25 MiB/s", threshold_text="1 MiB/min", expr="leak(live)",
                                 since_ns=now - 10**9, sentence="It leaks.")
    a.state = schema.Alert.STATE_FIRING if tick % 40 > 5 else schema.Alert.STATE_PENDING
    if a.state == schema.Alert.STATE_FIRING:
        a.fired_ns = now
    return updates + [trends, alerts]


def test_verdicts_and_alerts(browser, directory):
    with FakeDaemon(pb, directory, {"judged": judged, "plain": leaky}) as d, Web("--connect", d.endpoint) as web, browser.tab() as tab:
        tab.go(view(web, "overview"))
        rows = tab.until("(t => t && t.rows.length === 2 && t.rows.find(r => r.target === 'judged').alerts === 1 && t.rows)(heapwatch.table('targets'))")
        by = {r["target"]: r for r in rows}
        tab.until("(t => t.includes('leak') && t.includes('1 firing') && t.includes('–'))(document.querySelector('[data-table=targets]').innerText)")
        assert "alerts" not in by["plain"] and "trend" not in by["plain"]
        tab.until("document.querySelector('[data-page=alerts] .badge').innerText === '1'")
        tab.until("[...document.querySelectorAll('.sr[role=status]')].some(e => e.textContent === 'Firing: Leak on judged')")
        tab.go(view(web, "alerts", target="judged"))
        row = tab.table("alerts")["rows"][0]
        assert (row["rule"], row["target"], row["threshold"], row["sentence"]) == ("Leak", "judged", "1 MiB/min", "It leaks.")
        assert tab.until("heapwatch.table('alert-history')?.rows.length")
        tab.click(selector="[data-table=alerts] .tbody [role=row]")
        tab.until("document.querySelector('[aria-label=\"The opened alert\"]').innerText.includes('leak(live)')")
        tab.go(view(web, "heap", target="judged"))
        where = "[aria-label='Where memory is'] .answer[data-key=where] dd"
        tab.until(f'document.querySelector("{where}").innerText.toLowerCase().includes("live data")')
        assert tab.diagnostics() == []


# ------------------------------------------------------------------------- changing


def quiet(schema, tick):
    """A target whose alert is silenced by a silence of all targets."""
    updates = judged(schema, tick)
    a = updates[-1].alerts.alerts[0]
    a.silenced, a.silence.rule, a.silence.target, a.silence.why = True, "Le*", "*", "known"
    return updates


def test_alerts_are_silenced_where_the_server_allows_it(browser, directory):
    with FakeDaemon(pb, directory, {"judged": judged, "quiet": quiet}) as d, browser.tab() as tab:
        said = lambda what: [getattr(r, what) for r in d.requests if r.WhichOneof("what") == what]  # noqa: E731
        opened = "document.querySelector('[aria-label=\"Silence this alert\"]')"
        with Web("--connect", d.endpoint) as web:
            tab.go(view(web, "alerts", qa="judged")).table("alerts")
            tab.click(selector="[data-table=alerts] .tbody [role=row]")
            tab.until("document.querySelector('[aria-label=\"The opened alert\"]').offsetParent")
            assert tab.js(f"{opened}.offsetParent === null"), "a server that only reads"
        with Web("--connect", d.endpoint, "--allow-control") as web:
            tab.go(view(web, "alerts", qa="judged"))
            tab.table("alerts")
            tab.click(selector="[data-table=alerts] .tbody [role=row]")
            tab.until(f"{opened}.offsetParent")
            tab.select(selector="[aria-label='For how long']", value="2h")
            tab.fill(selector="input[name=why]", text="being mended")
            tab.click(selector="button >> text=/^Silence$/")
            tab.until(f"{opened}.innerText.includes('is silenced for judged')")
            asked = said("silence")[0]
            assert (asked.rule, asked.target, asked.why, asked.duration_ns) == ("Leak", "judged", "being mended", 7200 * 10**9)
            tab.go(view(web, "alerts", qa="quiet"))
            tab.until("heapwatch.table('alerts').rows.length === 1 && heapwatch.table('alerts').rows[0].target === 'quiet'")
            tab.click(selector="[data-table=alerts] .tbody [role=row]")
            tab.click(selector="text=End the silence")
            tab.until(f"{opened}.innerText.includes('The silence is ended')")
            assert [(u.rule, u.target) for u in said("unsilence")] == [("Le*", "*")]


def test_targets_are_added_and_removed_where_the_server_allows_it(browser, directory):
    card = "document.querySelector('[aria-label=\"Change targets\"]')"
    with Daemon(directory) as d, browser.tab() as tab:
        with Web("--connect", d.publish) as web:
            tab.go(view(web, "overview")).until("heapwatch.view.server.live && heapwatch.frames > 2")
            assert tab.js(f"{card}.hidden"), "a server that only reads"
        with Web("--connect", d.publish, "--allow-control") as web:
            tab.go(view(web, "overview")).until(f"heapwatch.view.server.control && !{card}.hidden && !heapwatch.view.daemons.get(0).stale")
            tab.fill(selector="input[name=uri]", text=str(LOGS / FILES["info"] / "run.eventlog"))
            tab.fill(selector="input[name=name]", text="new")
            tab.click(selector="button >> text=Add target")
            assert tab.until("heapwatch.table('targets')?.rows[0]?.target") == "new"
            d.wait_state("new", "ENDED")
            tab.fill(selector="input[name=uri]", text="nonsense:x")
            tab.click(selector="button >> text=Add target")
            tab.until(f"{card}.querySelector('.outcome').dataset.tone === 'bad'")
            tab.click(selector="button >> text=Remove target")
            tab.until(f"{card}.innerText.includes('Click again')")
            assert d.target("new"), "one click is not meant"
            tab.click(selector="button >> text=Remove target")
            tab.until("heapwatch.view.targets.size === 0")
            wait_for(lambda: d.target("new") is None, "the target's end")


# ------------------------------------------------------------------------ pictures that cannot be false


def write_censuses(log, numbers, step_ns, chance):
    """One band rises, one comes late, others come and go: twenty of them, so that some are "other"."""
    for n in numbers:
        rows = {"rises": 1000 + 700 * n}
        if n > 500:
            rows["late"] = 5000 * (n - 500)
        for band in range(18):
            if chance.random() < 0.7:
                rows[f"band{band}"] = chance.randrange(1, 400_000 >> band % 9)
        log.census(rows, at_ns=(n + 1) * step_ns + chance.randrange(step_ns // 2))


@pytest.mark.parametrize("life_s", [20, 600])
def test_a_stack_of_a_live_target_is_its_censuses(browser, tmp_path, life_s):
    """At every point that is drawn: the bands are those of one census, they add up to its total, no share is above 1."""
    count = 1200
    step_ns = life_s * 10**9 // count
    chance = random.Random(7)
    with private_directory() as directory:
        path = directory / "grows.eventlog"
        log = LiveLog(path, start_wall_ns=time.time_ns() - life_s * 10**9)
        write_censuses(log, range(count - 50), step_ns, chance)
        with Daemon(directory, f"grows={path}") as daemon:
            wait_for(lambda: daemon.snapshot("grows")["census"], "a census")
            with Web("--connect", daemon.publish) as web, browser.tab() as tab:
                tab.go(view(web, "heap", target="grows", range="15m"))
                tab.until("heapwatch.chart('bands')?.x.length > 10")
                write_censuses(log, range(count - 50, count), step_ns, chance)          # as they come
                newest = censuses(path)[1][-1][0]
                tab.until(f"heapwatch.chart('bands').x.at(-1) >= {newest} - 1e-6 && heapwatch.chart('bands').series.length === 16")
                bands = tab.js("heapwatch.chart('bands')")
                tab.js("location.hash += '&mode=share'")
                shares = tab.until("heapwatch.chart('bands-share')?.series?.length && heapwatch.chart('bands-share')")
        labels, found = censuses(path)
    exact = {round(t * 1e9): {labels[b]: v for b, v in rows.items()} for t, rows in found}
    drawn = [round(t * 1e9) for t in bands["x"]]
    assert len(drawn) > 55 and set(drawn) <= set(exact), "a point stands where no census was"
    named = [s for s in bands["series"] if s["id"] != "other"]
    assert len(named) == 15 and len(bands["series"]) == 16
    for i, t in enumerate(drawn):
        for s in named:
            assert s["values"][i] == pytest.approx(exact[t].get(s["label"], 0), rel=1e-6), (s["label"], t)
        assert sum(s["values"][i] for s in bands["series"]) == pytest.approx(sum(exact[t].values()), rel=1e-6)
    for band in ("rises", "late"):
        values = next(s["values"] for s in named if s["label"] == band)
        assert values == sorted(values)
    for i in range(len(shares["x"])):
        assert sum(s["values"][i] for s in shares["series"]) <= 1 + 1e-6
