# SPDX-License-Identifier: BSD-3-Clause
"""`heapwatch top` in a real terminal, and its views as text and JSON."""
import json
import random
import re
import signal
import time
import urllib.request

import pytest

from fake_daemon import FakeDaemon, leaky
from harness import LOGS, VALGRIND, Daemon, client, cpu_s, pb, piped, private_directory, wait_for, written
from live_log import LiveLog
from terminal import top
from web_browser import Web

LEAKY = LOGS / "leaky-hT-ghc9103" / "run.eventlog"
VIEWS = ["overview", "targets", "memory", "bands", "gc", "profile", "threads", "notes", "alerts"]


@pytest.fixture
def directory():
    with private_directory() as d:
        yield d


# ------------------------------------------------------------------- as text

def view_json(log, view):
    done = client("top", "--once", "--format", "json", "--view", view, log)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.count(b"\n") == 1
    report = json.loads(done.stdout)
    assert report["view"] == view
    return report


@pytest.mark.many
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("log, locale, width", [("leaky-hT-ghc9103", "C.UTF-8", 100), ("cc-p-ghc902", "C", 60),
                                                ("parallel-full-ghc9103", "C.UTF-8", 100), ("torn-966-10", "C", 60)])
def test_every_view_prints(log, locale, width, view):
    path = LOGS / log / "run.eventlog"
    view_json(path, view)
    done = client("top", "--once", "--view", view, path, env={"LC_ALL": locale, "COLUMNS": str(width)})
    assert done.returncode == 0, done.stderr.decode()
    assert all(len(line) <= width for line in done.stdout.decode().splitlines())
    assert locale != "C" or done.stdout.isascii()
    assert b"\x1b" not in done.stdout


@pytest.mark.parametrize("log, shown", [("leaky-hT-ghc9103", 0), ("leaky-nonmoving-ghc9103", 5)])
def test_the_nonmoving_collector_is_shown_where_it_runs(log, shown):
    text = client("top", "--once", "--view", "gc", LOGS / log / "run.eventlog").stdout.decode()
    assert len(re.findall(r"nonmoving (?:cycles|mark|sync|sweep)|longest sync", text)) == shown
    assert "free blocks" in text and "megablocks returned" in text


@pytest.mark.parametrize("log", ["leaky-hT-ghc9103", "cc-hc-ghc902", "leaky-hi-ghc9103", "cc-hr-ghc9103"])
def test_bands_are_those_of_the_newest_census(log):
    path = LOGS / log / "run.eventlog"
    labels, census = {}, None
    for update in piped(path):
        for band in update.get("bands", {}).get("bands", []):
            labels[band["id"]] = band["label"]
        census = update.get("census", census)
    rows = sorted(zip(map(int, census["bytes"]), (labels[b] for b in census["band"])), key=lambda r: -r[0])
    shown = view_json(path, "bands")["targets"][0]["bands"]
    assert [r["bytes"] for r in shown][:len(rows)] == [b for b, _ in rows]
    assert shown[0]["label"] == rows[0][1]
    total = int(census["totalBytes"])
    assert shown[0]["share"] == pytest.approx(rows[0][0] / total, rel=1e-6)
    text = client("top", "--once", "--view", "bands", path).stdout.decode().splitlines()
    assert "last census" in text[1] and rows[0][1][:20] in text[3]


def test_bands_of_info_tables_are_told_apart():
    rows = [b for b in view_json(LOGS / "leaky-hi-ghc9103" / "run.eventlog", "bands")["targets"][0]["bands"]
            if b["label"] == "Main.main"]
    assert len({(b["type"], b["source"], b["info_table"]) for b in rows}) == len(rows) > 2
    assert {b["module"] for b in rows} == {"Main"}
    assert {"THUNK_1_1", "CONSTR_2_0", "FUN"} <= {b["closure_type"] for b in rows}
    text = client("top", "--once", "--view", "bands", LOGS / "leaky-hi-ghc9103" / "run.eventlog", env={"COLUMNS": "120"})
    assert re.search(r"Integer +leaky.hs:35:43-69 +Main.main", text.stdout.decode())


def test_memory_has_least_mean_and_greatest():
    samples = []
    for update in piped(LEAKY):
        for s in update.get("heap", {}).get("samples", []):
            if s["series"] == "SERIES_LIVE":
                samples += map(int, s["values"])
    live = next(r for r in view_json(LEAKY, "memory")["targets"][0]["series"] if r["series"] == "live")
    assert (live["min_bytes"], live["max_bytes"]) == (min(samples), max(samples))
    assert live["bytes"] == samples[-1]
    assert min(samples) <= live["mean_bytes"] <= max(samples)


def test_profile_is_a_tree_of_all_ticks():
    target = view_json(LOGS / "cc-p-ghc9103" / "run.eventlog", "profile")["targets"][0]
    stacks = target["stacks"]
    assert stacks[0]["label"] == "MAIN" and stacks[0]["inherited_share"] == 1
    assert sum(s["own_share"] for s in stacks) == pytest.approx(1)
    assert max(stacks[1:], key=lambda s: s["own_ticks"])["label"] == "churn_only"


def test_what_is_not_known_is_null():
    target = view_json(LEAKY, "threads")["targets"][0]
    assert target["sparks_created"] is None and target["capabilities"] == [] or target["threads_created"] is not None
    assert view_json(LEAKY, "targets")["targets"][0]["rss_bytes"] is None


@pytest.mark.parametrize("log", ["leaky-hT-ghc9103", "steady-gc-ghc9103", "crash-kill9-ghc9103"])
def test_the_overview_answers_in_files_too(log):
    path = LOGS / log / "run.eventlog"
    overview, listed = view_json(path, "overview")["targets"][0], view_json(path, "targets")["targets"][0]
    assert all(overview[question] for question in ("wrong", "since", "grows", "where", "until", "next"))
    shared = set(overview) & set(listed)
    assert len(shared) == len(listed) and all(overview[name] == listed[name] for name in shared)
    for columns in (60, 80, 200):
        text = client("top", "--once", path, env={"COLUMNS": str(columns), "LC_ALL": "C.UTF-8"}).stdout.decode()
        flat = " ".join(text.split())
        assert "Is anything wrong? " + overview["wrong"][:100] in flat        # three lines at most
        assert all(f"{question} " in flat for question in ("since", "grows", "where", "until", "next"))


def test_unknown_view_is_refused():
    done = client("top", "--view", "memroy", LEAKY)
    assert done.returncode == 2
    assert b"did you mean 'memory'" in done.stderr


# ------------------------------------------------------------- in a terminal

def test_views_by_key(directory):
    with top(directory, LEAKY) as t:
        t.wait("end of file", "Bands by closure type", "STACK")
        t.keys("2").wait("live 43.3 KiB", "6.00 MiB", "▲", "census total")
        t.keys("b").wait("verdict", "STACK", "96.9 KiB", "23.0 %")
        t.keys("F4").wait("pauses from 1 us to 10 s", "541")
        t.keys("l").wait("worker 3 served 350", "phase: shutdown")
        t.keys("p").wait("no time profile")
        t.keys("h").wait("threads created")
        t.keys("a").wait("no alert", "What is known of run")
        t.keys("1").wait("1 target", "ended")
        t.keys("q")
        assert t.exit_status() == 0


def test_sort_search_filter(directory):
    with top(directory, "--view", "bands", LEAKY) as t:
        t.wait_row(3, "STACK")
        t.keys("r").wait_screen(lambda s: "STACK" not in s.splitlines()[3], "the other order")
        t.keys("r", ">", ">", ">")          # sorted by change, then slope: all orders are steps of one key
        t.keys("/")
        t.text("ThUnk_1_1")
        t.wait("search: ThUnk_1_1")
        t.keys("Enter", "Enter").wait("THUNK_1_1", "verdict", "now 13.2 KiB")
        t.keys("Escape").wait("share", "ARR_WORDS")
        t.keys("f")
        t.text("/^(TSO|ARR_.*)$/")
        t.wait("2 of")
        t.keys("Enter").wait_screen(lambda s: "TSO" in s and "ARR_WORDS" in s and "STACK" not in s, "what the filter leaves")
        t.keys("f", "Escape").wait("STACK")


def test_window_cursor_and_help(directory):
    with top(directory, "--view", "memory", LEAKY) as t:
        t.wait("window 10 min", "end of file")
        t.keys("-", "-").wait("window 1 min")
        t.keys("+").wait("window 5 min")
        t.keys("Left", "Left").wait("at 2.49 s", "phase: shutdown")
        t.keys("?").wait("Numbers", "Theil-Sen")
        t.keys("?").wait("census total")


NOT_EXPLAINED = set("""kib mib gib kib/s mib/s ns us ms min rts all end of file ended run lasted end at window to in by no yet need census profiles
                       heap stack foreign call""".split())      # units, the frame, and what is said where there are no numbers


def words_of(text):
    return {w.lower() for w in re.findall("[A-Za-z][A-Za-z_/-]+", text)}


def whole_help(t):
    """Opens the help, reads it to its end, closes it; until it said the same twice, as a page may be half drawn."""
    said, last = "", None
    while said != last:
        last = said
        t.keys("?")
        said = page = t.wait("Numbers", "? q back")
        while "more \u2193" in page:
            seen = page
            page = t.keys("NPage").wait_screen(lambda s: s != seen and "? q back" in s, "more of the help")
            said += page
        t.keys("?")
    return said


@pytest.mark.parametrize("log", ["parallel-full-ghc9103", "leaky-hT-ghc9103"])
def test_every_word_beside_a_number_is_explained(directory, log):
    """View by view: what the tables and figures call their numbers is in the help of `?`, and no term is cut there."""
    notes = client("pipe", "--format", "csv", "--kinds", "note", LOGS / log / "run.eventlog").stdout.decode()  # on charts
    with top(directory, LOGS / log / "run.eventlog", width=120, height=44) as t:
        t.wait("end of file")
        for key, view in enumerate(VIEWS):
            if view in ("overview", "profile", "notes", "alerts"):
                continue        # sentences and the program's own texts; their words are in tests/unit/console
            t.keys(str(key))
            said = whole_help(t)
            assert "\u2026" not in said, said
            screen = t.wait_whole(lambda s: "Numbers" not in s and "end of file" in s and "q quit" in s, view)
            rows = screen.splitlines()[1:-2]
            shown = words_of("\n".join(rows[1:2] if view == "bands" else rows))    # below its heading are labels
            assert shown and shown - words_of(said) - words_of(notes) - NOT_EXPLAINED == set(), view


@pytest.mark.parametrize("keys", [[], ["Space"]], ids=["ended", "frozen"])
def test_a_picture_that_stands_still_costs_nothing(directory, keys):
    """Once a log has ended nothing is drawn again, and nothing computed: it was waited for with no wait at all."""
    with top(directory, LEAKY) as t:
        t.wait("end of file")
        t.keys(*keys).wait("FROZEN" if keys else "end of file")
        pid = int(t.tmux("display", "-p", "-t", "t", "#{pane_pid}"))
        began, used = time.monotonic(), cpu_s(pid)
        wait_for(lambda: time.monotonic() - began > 4, "4 s")       # the first frame after a second without any
        assert cpu_s(pid) - used < 1


def test_resize(directory):
    with top(directory, LEAKY) as t:
        t.wait("end of file")
        for key, text in (("b", "STACK"), ("m", "live 43.3"), ("g", "541"), ("o", "live")):
            t.resize(60, 16)
            t.keys(key).wait(text, "? q")
            t.resize(200, 60)
            t.wait(text, "? help  q quit")
            t.resize(10, 3)
            t.resize(120, 36)
            t.wait(text)


def test_saves_what_it_shows(directory):
    with top(directory, "--view", "bands", LEAKY) as t:
        t.wait("STACK", "end of file")
        t.keys("s")
        name = re.search(r"saved (heapwatch-run-bands-\S+\.csv)", t.wait("saved ")).group(1)
        lines = (directory / name).read_text().splitlines()
        assert lines[0].startswith("max_bytes,bytes,share,")
        assert lines[1].endswith(",STACK")


@pytest.mark.skipif(VALGRIND, reason="at its speed a click is lost now and then; tests/unit/console/test_console clicks too")
def test_mouse(directory):
    def click(row, column):
        for end in "Mm":
            t.tmux("send-keys", "-t", "t", "-l", f"\x1b[<0;{column + 1};{row + 1}{end}")

    with top(directory, LEAKY, term="xterm") as t:
        tabs = t.wait_screen(lambda s: "end of file" in s and "3Bands" in s.splitlines()[-1], "tabs").splitlines()[-1]
        click(35, tabs.index("3Bands") + 2)
        # The overview has such a row too, elsewhere, without a verdict.
        row_of = lambda s: next((i for i, line in enumerate(s.splitlines()) if "THUNK_1_0" in line and "–" in line), 0)
        click(row_of(t.wait_whole(row_of, "the row among the bands")), 40)
        t.keys("Enter").wait("THUNK_1_0", "now 19.8 KiB")


def live_daemon(directory, **targets):
    return FakeDaemon(pb, directory, targets)


def requests(text):
    """The greatest number of requests that a note in the text speaks of."""
    return max(map(int, re.findall(r"handled (\d+) requests", text)), default=0)


def test_freeze(directory):
    with live_daemon(directory, leaky=leaky) as d, top(directory, "--connect", d.endpoint, "--view", "notes") as t:
        t.wait("running", "handled")
        t.keys("Space").wait("FROZEN")

        def stands_still():     # the first screen seen may be half drawn
            frozen, ticks = t.screen(), d.newest["hw1/note/leaky/"].sequence
            wait_for(lambda: d.newest["hw1/note/leaky/"].sequence > ticks + 8, "more notes")
            return t.screen() == frozen

        wait_for(stands_still, "a picture that stands still")
        newest = requests(d.newest["hw1/note/leaky/"].notes.notes[-1].text)
        t.keys("Space").wait_screen(lambda s: "FROZEN" not in s and requests(s) >= newest, "what came meanwhile")


def many_bands(n):
    def updates(pb, tick):
        state, heap, *_ = leaky(pb, tick)
        bands = pb.Update(run=1, event_time_ns=state.event_time_ns)
        if tick == 0:
            for i in range(n):
                bands.bands.bands.add(id=i + 1, label=f"Module{i % 100}.function{i:05}")
        census = pb.Update(run=1, event_time_ns=state.event_time_ns)
        census.census.number, census.census.time_ns = tick + 1, state.event_time_ns
        census.census.band.extend(range(1, n + 1))
        census.census.bytes.extend((i + 1) * 1000 for i in range(n))
        census.census.total_bytes = sum(census.census.bytes)
        return [state, heap, bands, census] if tick == 0 else [state, heap, census]
    return updates


def test_ten_thousand_bands(directory):
    with live_daemon(directory, big=many_bands(10000)) as d, \
            top(directory, "--connect", d.endpoint, "--view", "bands") as t:
        t.wait("function09999")
        t.keys("End").wait("function00000")
        t.keys("Home", "NPage").wait_screen(lambda s: "function09940" in s and "function09968" in s.splitlines()[3], "the second page")
        t.keys("f")
        t.text("function0012")
        t.wait("10 of 10,000")
        t.keys("Enter").wait("Module20.function00120")


def hostile(pb, tick):
    state, heap, gc, bands, census, notes, health = leaky(pb, tick)
    labels = ["\x1b]2;stolen\x07\x1b[2J\x1b[31mred", "字" * 3000, "e" + "\u0301" * 200, "\u202egnorw\u2066",
              "tab\there\nline", "\x9b31m\x85", "\U0001f469\u200d\U0001f469\u200d\U0001f467", ""]
    for band, label in zip(bands.bands.bands, labels):
        band.label = label
    notes.notes.notes[0].text = labels[tick % len(labels)]
    return [state, heap, gc, bands, census, notes, health]


def test_hostile_labels(directory):
    with live_daemon(directory, evil=hostile) as d, top(directory, "--connect", d.endpoint) as t:
        t.wait("running", "x1B")
        title = t.tmux("display", "-p", "-t", "t", "#{pane_title}")
        for key, *texts in (("o", "x1B[2J", "Is anything wrong?"), ("3", "x1B[2…", "bytes↓"), ("l", "text")):
            screen = t.keys(key).wait_screen(lambda s: all(x in s for x in texts) and "0Overview" in s.splitlines()[-1], texts)
            assert "\u202e" not in screen and "\x9b" not in screen
            assert len(screen.splitlines()) == 36
        t.keys("3", "Enter").wait("now ")
        assert t.tmux("display", "-p", "-t", "t", "#{pane_title}") == title
        t.keys("q")
        assert t.exit_status() == 0


def stale_s(screen):
    """The age of what is shown, in seconds; 0: it is not stale."""
    found = re.search(r"STALE (?:(\d+)m )?(\d+)", screen)
    return int(found[1] or 0) * 60 + int(found[2]) if found else 0


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_daemon_goes_and_comes_back(directory, end):
    log = written(directory / "a.eventlog", LEAKY.read_bytes())
    d = Daemon(directory, f"api={log}").start()
    try:
        with top(directory, "--connect", d.publish, "--view", "bands") as t:
            t.wait("STACK", "ended")
            d.stop(end)
            gone = t.wait("STALE", "STACK", "heapwatchd gone for ", "data as of ", "reconnecting")
            assert "+RTS -h" not in gone        # nothing is missing in the program
            t.wait_screen(lambda s: stale_s(s) > stale_s(gone), "its age to grow")
            d.start()
            t.wait_gone("STALE")
            assert "heapwatchd gone" not in t.wait("STACK")
            d.stop(end)
            d.targets = [f"other={log}"]
            d.start()
            t.wait("api", "STACK", "heapwatchd was restarted without api; data as of ")
            t.keys("t").wait("other")
            t.keys("l").wait("the daemon is silent")
    finally:
        d.stop()


def test_no_daemon_yet(directory):
    with top(directory, "--connect", f"ipc://{directory}/publish") as t:
        t.wait("Waiting for a daemon at ipc://", "heapwatch ps and heapwatch attach PID")
        with live_daemon(directory, leaky=leaky):
            t.wait("leaky", "running")


# ------------------------------------------------------------ kinds of terminal

COLOUR = re.compile(r"\x1b\[[0-9;]*(3[0-7]|4[0-7]|38;5;\d+|48;5;\d+|9[0-7])[;m]")


@pytest.mark.parametrize("term,env,coloured", [
    ("tmux-256color", {}, "38;5"), ("xterm", {}, "3"), ("vt100", {}, None), ("tmux-256color", {"NO_COLOR": "1"}, None)])
def test_colours(directory, term, env, coloured):
    with top(directory, LEAKY, term=term, env=env) as t:
        t.wait("end of file")
        t.keys("3").wait("STACK", "96.9 KiB")
        colours = COLOUR.findall(t.screen("-e"))
        assert bool(colours) == bool(coloured), colours[:5]
        assert coloured != "3" or not any(c.startswith(("38", "48")) for c in colours)


def test_ascii_terminal(directory):
    with top(directory, LEAKY, env={"LC_ALL": "C"}) as t:
        t.wait("end of file")
        for key, text in (("o", "Memory ---"), ("2", "live 43.3 KiB"), ("3", "STACK"), ("4", "541")):
            t.keys(key)
            assert t.wait(text).isascii()


def test_dumb_terminal_gets_text(directory):
    with top(directory, LEAKY, term="dumb") as t:
        assert t.exit_status() == 0
        screen = t.screen("-S", "-")
        assert "heapwatch 20" in screen and "Bands by closure type" in screen


# ------------------------------------------------------------------------ one number on every face

WINDOW_S = 600      # what the console shows at first


def base_of(total, held):
    """Index of the newest point that ends a window before now, of those that are complete; else the first."""
    ends = [i for i, (start, width) in enumerate(total[:-1]) if start + width <= held - WINDOW_S]
    return ends[-1] if ends else 0


def test_the_change_of_a_band_is_the_same_on_every_face():
    """Of a live target of 20 minutes, attached to late: console as text and JSON in any width, in a terminal, the web
    server's history, the daemon's; and it is the truth, by the censuses of the log."""
    chance, count, step = random.Random(3), 2400, 5 * 10**8
    with private_directory() as directory:
        path = directory / "grows.eventlog"
        log = LiveLog(path, start_wall_ns=time.time_ns() - count * step)
        sizes = []
        for n in range(count):
            sizes.append({"rises": 10_000_000 + 4096 * n, "falls": 9_000_000 - 2048 * n,
                          **{f"b{i}": 4096 * chance.randrange(1, 50) for i in range(6)}})
            log.census(sizes[-1], at_ns=(n + 1) * step)
        newest_s = count * step / 1e9
        with Daemon(directory, f"grows={path}") as daemon:
            wait_for(lambda: (lambda c: c and c[0].census.number == count)(daemon.snapshot("grows")["census"]), "all censuses")
            ids = {b.label: b.id for u in daemon.snapshot("grows")["bands"] for b in u.bands.bands}

            def points(series):
                done = client("ctl", "--connect", daemon.publish, "--format", "json", "history", "grows", series)
                return json.loads(done.stdout)["history"]["points"]

            total = points("band:0")
            base = base_of([(int(p["timeNs"]) / 1e9, int(p["widthNs"]) / 1e9) for p in total], newest_s)
            at_ns = int(total[base]["lastTimeNs"])
            exact = {label: sizes[-1][label] - sizes[at_ns // step - 1][label] for label in ids}
            by_ctl = {label: sizes[-1][label] - [p["last"] for p in points(f"band:{i}") if int(p["timeNs"]) <= at_ns][-1]
                      for label, i in ids.items()}
            assert by_ctl == exact
            assert WINDOW_S <= newest_s - at_ns / 1e9 <= 1.1 * WINDOW_S

            arguments = ["--connect", daemon.publish, "--once", "--view", "bands"]
            shown = json.loads(client("top", *arguments, "--format", "json", "grows").stdout)["targets"][0]["bands"]
            assert {b["label"]: b["change_bytes"] for b in shown} == exact

            for columns in (60, 80, 120, 200):
                text = client("top", *arguments, "grows", env={"COLUMNS": str(columns), "LC_ALL": "C.UTF-8"}).stdout.decode()
                overview = client("top", "--connect", daemon.publish, "--once", "--view", "overview", "grows",
                                  env={"COLUMNS": str(columns), "LC_ALL": "C.UTF-8"}).stdout.decode()
                for picture in (text, overview):
                    row = next(r for r in picture.splitlines() if r.rstrip().endswith("rises"))
                    assert f"+{exact['rises'] / 2**20:.2f} MiB" in row, (columns, row)

            with Web("--connect", daemon.publish) as web:
                query = "&".join(["target=grows", "band=0", *(f"band={i}" for i in ids.values())])

                def answered():     # the server itself may not have its first state yet
                    with urllib.request.urlopen(f"{web.url}api/history?{query}") as answer:
                        items = json.load(answer)["items"]
                    return all(i.get("times") and i.get("label") for i in items) and {i["label"]: i for i in items}

                items = wait_for(answered, "history")
                ends = items["total"].get("ends", items["total"]["times"])
                place = ends.index(at_ns / 1e9)
                assert {label: sizes[-1][label] - items[label]["last"][place] for label in ids} == exact

            with top(directory, "--connect", daemon.publish, "--view", "bands", "grows", width=80, height=24) as terminal:
                terminal.wait(f"+{exact['rises'] / 2**20:.2f} MiB")
                terminal.keys("+")          # 30 min: as far back as is known
                first = sizes[int(total[0]["lastTimeNs"]) // step - 1]["rises"]
                terminal.wait(f"+{(sizes[-1]['rises'] - first) / 2**20:.2f} MiB")


def test_notes_of_a_large_fleet_are_those_of_the_daemon(directory):
    """Of more than 16 targets the console keeps the notes of the one that is shown; of another one it asks for them."""
    alone = [n for n in view_json(LEAKY, "notes")["targets"][0]["notes"] if n["kind"] != "stream"]
    assert alone
    with Daemon(directory, *(f"t{i:02}={LEAKY}" for i in range(18))) as daemon:
        wait_for(lambda: all(daemon.snapshot(f"t{i:02}").get("notes") for i in range(18)), "all logs read")
        done = client("top", "--connect", daemon.publish, "--once", "--format", "json", "--view", "notes")
        shown = json.loads(done.stdout)["targets"]
        assert len(shown) == 18 and all(t["notes"] == alone for t in shown)
        newest = alone[-1]["text"]
        with top(directory, "--connect", daemon.publish, "--view", "notes", width=120, height=30) as terminal:
            terminal.wait(newest)
            terminal.keys(".").wait("t01", newest)


@pytest.mark.parametrize("ghc", ["966", "9103"])
def test_how_much_of_a_profile_by_info_table_has_no_name(ghc):
    """The program was compiled with -finfo-table-map, its libraries were not: their bands are addresses."""
    log = LOGS / f"leaky-hi-ghc{ghc}" / "run.eventlog"
    bands = json.loads(client("top", "--once", "--view", "bands", "--format", "json", log).stdout)["targets"][0]["bands"]
    unnamed = [b for b in bands if b["info_table"] is None]
    assert unnamed and len(unnamed) < len(bands) and all(re.fullmatch("0x[0-9a-f]+", b["label"]) for b in unnamed)
    assert all(b["label"].strip() for b in bands)
    [title] = re.findall(r"Bands by info table.*", client("top", "--once", log).stdout.decode())
    assert f" {sum(b['bytes'] for b in unnamed) / 1024:.3g} KiB not named in the log" in title
