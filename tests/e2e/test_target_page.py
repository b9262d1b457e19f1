# SPDX-License-Identifier: BSD-3-Clause
"""The page's first tab: what is wrong, since when, what grows, where, until when, what next, on one screen of a phone and of a
desktop, for targets that run, were killed, have no heap profile, no verdict yet, or a damaged log."""
import contextlib
import json
import re
import urllib.request

import pytest

import terminal
from fake_daemon import MIB, FakeDaemon, leaky
from harness import LOGS, long_cases, pb
from test_web_page import PAGES, browser, pytestmark, view  # noqa: F401: fixtures
from web_browser import Web

pytestmark = pytest.mark.xdist_group("target_page")      # its tests share what runs

SIZES = [(390, 844), (1440, 900)]
MINUTE = 60 * 10**9


def parts(updates):
    return {u.WhichOneof("body"): u for u in updates}


def trends_of(updates):
    u = pb.Update(run=1, event_time_ns=updates[0].event_time_ns)
    updates.append(u)
    return u.trends


def leak(schema, tick):
    """A leak since 0:05 of the run, just after a marker, of a band that has its place in the source; the limit is near."""
    updates = leaky(schema, tick)
    parts(updates)["health"].health.ClearField("advice")
    t = trends_of(updates)
    live = t.trends.add(series=pb.SERIES_LIVE, verdict=pb.VERDICT_LEAK, slope=1.25 * MIB, slope_low=MIB, slope_high=1.5 * MIB,
                        onset_ns=5 * 10**9)
    live.note_before.text, live.note_before.time_ns, live.note_before.what = "cache on", 5 * 10**9 - 20_000_000, pb.Note.WHAT_MARKER
    t.growth.where = pb.Growth.WHERE_LIVE
    t.growth.bands.add(band=1, label="Main.CartItem", verdict=pb.VERDICT_LEAK, slope=1.2 * MIB, bytes=8 * MIB)
    limit = t.time_to_limit
    limit.low_ns, limit.mid_ns, limit.high_ns = 35 * MINUTE, 42 * MINUTE, 55 * MINUTE
    limit.as_of_ns = 10 * MINUTE      # of one forecast, whatever comes since
    limit.source, limit.limit_bytes = pb.TimeToLimit.SOURCE_MAX_HEAP, 512 * MIB
    band = parts(updates)["bands"].bands.bands[0]
    band.label = "Main.CartItem"
    band.info_table.type, band.info_table.module, band.info_table.source = "CartItem", "Main", "src/Shop/Cart/Items.hs:112:13-48"
    state = updates[0].target_state
    state.why.CopyFrom(pb.ActionResult(kind="why", ok=True, wall_ns=state.run_info.start_wall_ns + 6 * 10**9,
                      detail="CAF Main.cache keeps 100.0 % of Main.CartItem (8.00 MiB), by way of Data.Map.Internal.Bin+; without it 9.10 MiB would go"))
    return updates


def killed(schema, tick):
    updates = leak(schema, tick)
    state = updates[0].target_state
    state.state, state.exit_signal, state.kept = pb.Target.STATE_CRASHED, 9, True
    state.detail = "killed by signal 9 (SIGKILL)"
    return updates


def unprofiled(schema, tick):
    """No heap profile, and no verdict yet; part of its log is damaged."""
    updates = [u for u in leaky(schema, tick) if u.WhichOneof("body") not in ("bands", "census")]
    parts(updates)["target_state"].target_state.run_info.breakdown = pb.BREAKDOWN_NONE
    health = parts(updates)["health"].health
    health.ClearField("advice")
    health.lost_bytes, health.resyncs = 2048, 3
    live = trends_of(updates).trends.add(series=pb.SERIES_LIVE, verdict=pb.VERDICT_UNKNOWN, verdict_in_ns=6 * MINUTE, provisional_slope=10240,
                                         provisional_low=5120, provisional_high=20480, provisional_span_ns=2 * MINUTE)
    assert live
    return updates


def steady(schema, tick):
    updates = leaky(schema, tick)
    parts(updates)["health"].health.ClearField("advice")
    t = trends_of(updates)
    t.trends.add(series=pb.SERIES_LIVE, verdict=pb.VERDICT_STEADY, slope=0, since_ns=10**9)
    t.growth.where = pb.Growth.WHERE_NOWHERE
    return updates


WORDS = {
    "leak": {"wrong": "A leak: live data grows by 1.25 MiB/s (1.00 MiB/s to 1.50 MiB/s) and does not slow down",
             "since": ", 20.0 ms after the marker “cache on”",
             "grows": "Main.CartItem (type CartItem, module Main, src/Shop/Cart/Items.hs:112:13-48) with ",
             "where": "In live data: live ",
             "why": "CAF Main.cache keeps 100.0 % of Main.CartItem (8.00 MiB), by way of Data.Map.Internal.Bin+",
             "until": "In 42m 00s (35m 00s to 55m 00s): the heap limit -M (512 MiB)",
             "next": "Look at src/Shop/Cart/Items.hs:112:13-48, which makes Main.CartItem"},
    "killed": {"wrong": "It was killed by signal 9 (SIGKILL). Before that, a leak: live data grew by 1.25 MiB/s",
               "since": "Growth began at ", "grows": "Main.CartItem", "where": "In live data: live ", "why": "CAF Main.cache keeps",
               "until": "It ended first. At that rate, in 42m 00s", "next": "Before it runs again: look at src/Shop/Cart/Items.hs"},
    "unprofiled": {"wrong": "Not known yet: live data may grow, by 10.0 KiB/s (5.00 KiB/s to 20.0 KiB/s) over 2m 00s; slow growth can be judged in 6m 00s",
                   "since": "–", "grows": "Not known: there is no heap profile", "where": "live ", "until": "No limit is known",
                   "next": "Part of its log is damaged"},
    "steady": {"wrong": "No: memory shows no lasting growth", "since": "No lasting growth since", "grows": "No band; the largest is ARR_WORDS with ",
               "where": "Nowhere: live ", "until": "No limit is known", "next": "Nothing"},
}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    directory = tmp_path_factory.mktemp("fleet")
    directory.chmod(0o700)
    with FakeDaemon(pb, directory, {"leak": leak, "killed": killed, "unprofiled": unprofiled, "steady": steady}) as d, \
            Web("--connect", d.endpoint) as web:
        yield web


def answered(tab):
    """What stands on the screen: key -> (text, top, bottom)."""
    return tab.until("""(() => {
        const rows = [...document.querySelectorAll('.answer')].filter((r) => !r.hidden);
        if (rows.length < 6 || !heapwatch.settled) return null;
        return Object.fromEntries(rows.map((r) => [r.dataset.key, [r.querySelector('dd').innerText.replace(/\\u00a0/g, ' '),
            r.getBoundingClientRect().top, r.getBoundingClientRect().bottom]]));
    })()""")


# Each state in one of the sizes, in turns; the long form has all.
@pytest.mark.parametrize("name, width, height", [
    *((name, *SIZES[n % len(SIZES)]) for n, name in enumerate(WORDS)),
    *long_cases(*((name, *size) for n, name in enumerate(WORDS) for k, size in enumerate(SIZES) if k != n % len(SIZES)))])
def test_the_answers_stand_on_one_screen(browser, fleet, name, width, height):  # noqa: F811
    with browser.tab(width=width, height=height) as tab:
        tab.go(view(fleet, "target", target=name))
        said = answered(tab)
        for key, words in WORDS[name].items():
            assert words in said[key][0], (key, said[key][0])
        assert all(0 <= top and bottom <= height for _, top, bottom in said.values()), said
        boxes = tab.js("[...document.querySelectorAll('.answer')].filter((r) => !r.hidden).map((r) => r.getBoundingClientRect()).map((b) => [b.left, b.right])")
        assert all(0 <= left < right <= width for left, right in boxes) and tab.js("document.documentElement.scrollWidth") <= width, boxes
        if name == "unprofiled":
            assert "2.00 KiB of its log skipped in 3 places" in tab.text(selector=".caveats").replace("\u00a0", " ")
        if name == "leak":
            now = tab.js("document.querySelector('.answer[data-key=since] time').innerText")
            assert " ago)" in now, now
            tab.go(view(fleet, "target", target=name, time="run"))
            tab.until("document.querySelector('.answer[data-key=since] time').innerText.startsWith('5.00 s (')")
        assert tab.diagnostics() == []


HEADLINES = {"leak": "leak: +1.25 MiB/s since ", "killed": "killed, was a leak: +1.25 MiB/s since ",
             "unprofiled": "Is anything wrong? Not known yet: live data may grow, by 10.0 KiB/s (5.00",
             "steady": "Is anything wrong? No: memory shows no lasting growth"}
KEYS = ["since", "grows", "where", "why", "until", "next"]   # "why" while something grows


@pytest.mark.parametrize("name", WORDS)
def test_the_console_answers_on_its_first_screen(directory, fleet, name):
    """80x24, no key pressed: the same words in the order of the questions, above everything else, and what to do in full."""
    with terminal.top(directory, "--connect", fleet.args[-1], name, width=80, height=24) as t:
        keys = [key for key in KEYS if key in WORDS[name]]
        # All that is wanted of one picture: the first ones may be of a part of the snapshot.
        words = [HEADLINES[name], *(WORDS[name][key].strip(" ,")[:24] for key in keys)]
        screen = t.wait_screen(lambda s: all(w in " ".join(s.split()) for w in words) and "q quit" in s, f"{words}")
    rows = screen.splitlines()
    assert all(len(row) <= 80 for row in rows)
    headline, said, key = "", {}, None
    for row in rows[1:]:
        if not row.startswith("  ") and row[1:6].strip() in keys:
            key = row[1:6].strip()
            said[key] = row[8:]
        elif key and row.startswith(" " * 8) and row.strip():
            said[key] += row[7:]
        elif key == "next":
            break
        else:
            headline += row
    assert headline.startswith(" " + HEADLINES[name]), screen
    assert list(said) == keys and "Memory" not in headline, screen
    for key in keys:
        words = " ".join(said[key].split())
        # What there is no room for is cut at its end.
        assert WORDS[name][key].strip(" ,")[:44] in words or (key != "next" and "\u2026" in words), (key, words)
    assert "\u2026" not in said["next"], screen


def test_the_first_page_is_the_one_that_says_most(browser, fleet):  # noqa: F811
    """Several targets: the fleet. A page of one target without its name: what is worst, and from then on that one."""
    with browser.tab() as tab:
        tab.go(fleet.url).until("document.querySelector('nav [aria-current=page]')?.dataset.page === 'overview'")
        tab.go(view(fleet, "target")).until("location.hash.includes('target=killed')")
        assert "killed" in answered(tab)["wrong"][0]


def test_the_answers_stay_when_the_daemon_goes(browser, directory):  # noqa: F811
    with contextlib.ExitStack() as stack:
        d = stack.enter_context(FakeDaemon(pb, directory, {"leak": leak}))
        web = stack.enter_context(Web("--connect", d.endpoint))
        tab = stack.enter_context(browser.tab(width=390, height=844))
        tab.go(web.url)
        before = answered(tab)
        d.running = False
        banner = "document.querySelector('.banner')"
        tab.until(f"!{banner}.hidden && {banner}.innerText.includes('silent') && / s old/.test({banner}.innerText)")
        after = answered(tab)
        for key in ("wrong", "grows", "until", "next"):     # its last census and tick may have come after the first look
            was, said = (re.split(r" with |\d\d:\d\d:\d\d", answers[key][0])[0] for answers in (before, after))
            assert said == was
        assert all(bottom <= 844 for _, _, bottom in after.values())


def test_a_daemon_that_is_short_of_memory_says_so(browser, directory):  # noqa: F811
    with FakeDaemon(pb, directory, {"leak": leak}) as d, Web("--connect", d.endpoint) as web, browser.tab() as tab:
        tab.go(web.url)
        banner = "document.querySelector('.banner')"
        tab.until(f"{banner}.hidden")
        d.memory_pressure = "38.5 MiB of its 40.0 MiB of memory is in use: no target is added"
        assert "short of memory: 38.5 MiB" in tab.until(f"!{banner}.hidden && {banner}.innerText")
        d.memory_pressure = None
        tab.until(f"{banner}.hidden")


def test_parts_of_memory_are_compared_with_a_marked_moment(browser, directory):  # noqa: F811
    """A quarter of a MiB of foreign memory each tick, files that do not change."""
    def grows(schema, tick):
        updates = leak(schema, tick)
        for series, value in ((pb.SERIES_FOREIGN, 40 * MIB + tick * MIB // 4), (pb.SERIES_FILES, 12 * MIB)):
            parts(updates)["heap"].heap.samples.add(series=series, times_ns=[updates[0].event_time_ns], values=[value])
        return updates

    with FakeDaemon(pb, directory, {"leak": grows}) as d, Web("--connect", d.endpoint) as web, browser.tab() as tab:
        tab.go(view(web, "heap", target="leak"))
        facts = "[...document.querySelectorAll('main .facts > div')].filter((f) => !f.hidden).map((f) => f.innerText.replace(/\\s+/g, ' '))"
        assert not any("since the mark" in f for f in tab.until(facts))
        tab.click(selector="button >> text=Mark now")
        tab.until(facts + ".some((f) => /^foreign .*\\+[0-9.]+ [KM]iB since the mark/.test(f))")
        assert any(f.startswith("files 12.0 MiB, 0 B since the mark") for f in tab.until(facts))
        tab.click(selector="button >> text=Remove the mark")
        tab.until("!" + facts + ".some((f) => f.includes('since the mark'))")


def test_what_grows_off_the_heap_is_drawn_first(browser, directory):  # noqa: F811
    """Its parts of resident memory, then the heap, bands last; and no command that could not find its holder."""
    def grows(schema, tick):
        updates = leak(schema, tick)
        t = trends_of(updates)
        t.growth.where = pb.Growth.WHERE_FOREIGN
        t.growth.ClearField("bands")
        t.trends.add(series=pb.SERIES_FOREIGN, verdict=pb.VERDICT_LEAK, slope=MIB, slope_low=MIB, slope_high=MIB, onset_ns=1)
        updates[0].target_state.why.CopyFrom(pb.ActionResult(kind="why", ok=False, detail="memory outside its heap grows"))
        updates[0].target_state.run_info.local = True
        for series, value in ((pb.SERIES_FOREIGN, 40 * MIB + tick * MIB // 4), (pb.SERIES_RSS, 60 * MIB + tick * MIB // 4)):
            parts(updates)["heap"].heap.samples.add(series=series, times_ns=[updates[0].event_time_ns], values=[value])
        return updates

    titles = """[...document.querySelectorAll('main figure')].filter((f) => f.offsetParent)
        .sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top).map((f) => f.querySelector('figcaption').innerText.split('\\n')[0])"""
    with FakeDaemon(pb, directory, {"leak": grows, "other": leak}) as d, Web("--connect", d.endpoint) as web, browser.tab() as tab:
        tab.go(view(web, "target", target="leak")).until("/foreign/.test(document.querySelector('main').innerText) && heapwatch.settled")
        assert "by hand" not in tab.js("document.querySelector('main').innerText")
        for page in ("target", "heap"):
            for name, first, last in (("leak", "What resident memory", "Largest bands"), ("other", "Largest bands", None)):
                shown = tab.go(view(web, page, target=name)).until(f"(f => f.length > 1 && f[0].startsWith('{first}') && f)({titles})")
                assert last is None or shown[-1].startswith(last), shown


def test_page_and_state_say_the_same_of_a_log(browser):  # noqa: F811
    """`web FILE` opens on the log itself, and what it says is what /api/state says."""
    log = LOGS / "leaky-hT-ghc9103" / "run.eventlog"
    with Web(log) as web, browser.tab() as tab:
        tab.go(web.url).until("document.querySelector('nav [aria-current=page]')?.dataset.page === 'target'")
        said = answered(tab)
        state = json.load(urllib.request.urlopen(web.url + "api/state"))
        answers = {a["key"]: a for a in state["answers"][0]["answers"]}
        assert set(answers) == set(said)
        for key, a in answers.items():
            if "timeNs" not in a:
                assert a["text"] == said[key][0].split("\n")[-1].lstrip("○●▲■ "), key
        assert tab.chart("target-bands")["series"]


@pytest.mark.parametrize("width", [1440, *long_cases((390,))])
def test_every_number_on_the_screen_is_explained(browser, fleet, width):  # noqa: F811
    names = "[...document.querySelectorAll('main .thead .sort, main dt, main figcaption h3, main .question h4')]" \
            ".filter((e) => e.offsetParent !== null).map((e) => (e.firstChild?.textContent ?? '').trim()).filter(Boolean)"
    with browser.tab(width=width, height=844) as tab:
        for page in PAGES:
            tab.go(view(fleet, page, target="leak"))
            shown = tab.until(f"heapwatch.settled && document.querySelector('nav [aria-current=page]')?.dataset.page === '{page}'"
                              f" && !document.querySelector('main .answers:not(:has(.answer:not([hidden])))') && {names}")
            tab.press(key="?")      # explains what is shown at that moment
            said = set(tab.until("document.querySelector('dialog').open && [...document.querySelectorAll('dialog dt')].map((e) => e.innerText)"))
            assert set(shown) - said == set(), page
            tab.press(key="Escape")
            tab.until("!document.querySelector('dialog').open")
        assert tab.diagnostics() == []


def test_figures_of_all_targets_leave_out_the_dead(browser, fleet):  # noqa: F811
    """Four targets, of which three run; the one that was killed had grown, and holds no memory."""
    with browser.tab() as tab:
        tab.go(view(fleet, "overview"))
        said = tab.until("heapwatch.settled && document.querySelector('[aria-label=\"All targets\"]').innerText").replace("\n", " ")
        assert "targets 4 running 3 " in said and "rising or growing 1 " in said, said
