# SPDX-License-Identifier: BSD-3-Clause
"""Nothing on any face contradicts anything on another: verdict words, counts and numbers of one moment, of a program that
leaks and of the same one when it has ended, read from the daemon's messages, pipe, trend, alerts, top (JSON, text, a real
terminal), the page in a browser, /metrics and ctl history, and of its log from trend, alerts, check, summary and report."""
import contextlib
import itertools
import json
import os
import re
import subprocess
import time
import urllib.parse
import urllib.request

import pytest

import facts
import web_browser
from facts import contradictions
from harness import CLIENT, LOGS, Daemon, client, pb, private_directory, running, wait_for
from live_log import LiveLog
from terminal import top
from test_ended import one_run

pytestmark = pytest.mark.xdist_group("consistent")      # its tests share what runs

MIB, S = 1 << 20, 10**9
LIFE, ONSET, PER_S, NOTE = 600, 240, 100 << 10, "cache on"
JUDGED = ("--resolution", "1s", "--leak-after", "60s", "--limit", "1GiB")
SERIES = {"heap": "heap_size", "blocks": "blocks_size", "census total": "census_total", "RSS": "rss", "PSS": "pss"}   # the console's names
WORDS = ("unknown", "steady", "growing", "leak")
SHORT, WHOLE = 0.006, 0.02     # numbers with three digits, and seconds of minutes


def write(path, ended):
    """Ten minutes that end now: 20 MiB, and from 4:00 on 100 KiB a second more, all in one band."""
    log = LiveLog(path, start_wall_ns=time.time_ns() - LIFE * S)
    for s in range(1, LIFE + 1):
        if s == ONSET:
            log.marker(NOTE, at_ns=s * S - 1000)
        leak = max(0, s - ONSET) * PER_S
        log.live(20 * MIB + leak + s % 7 * 8192, at_ns=s * S)
        log.census({"Main.steady": 20 * MIB, "Main.cache": 65536 + leak, "THUNK": s % 7 * 8192 + 1}, at_ns=s * S + 1000)
    if ended:
        log.end()


# ------------------------------------------------------------------ what a face says

class Facts(facts.Facts):
    def trend(self, name, t):
        """A Trend as JSON has it."""
        self.say("verdict", name, t.get("verdict", "").replace("VERDICT_", "").lower() or None)
        for key, what in (("slope", "slope"), ("slopeLow", "low"), ("slopeHigh", "high"), ("onsetNs", "onset")):
            self.say(what, name, float(t[key]) if key in t else None)
        if name == "live" and "onsetNs" in t:
            self.say("note", name, (t.get("noteBefore") or t.get("noteAfter") or {"text": "none"})["text"])

    def trends(self, m, labels):
        for t in m.get("trends", []):
            self.trend(labels[t["band"]] if "band" in t else t["series"].replace("SERIES_", "").lower(), t)
        self.say("limit", "", float(m["limitBytes"]) if "limitBytes" in m else None)
        growing = m.get("growth", {}).get("bands", [])
        if "growth" in m:
            self.say("where", "", m["growth"].get("where", "WHERE_UNKNOWN").replace("WHERE_", "").lower())
            self.say("culprit", "", growing[0]["label"] if growing else "none")
        until = m.get("timeToLimit", {})
        for key in ("lowNs", "midNs", "highNs"):
            self.say("until", key[:-2], float(until[key]) if key in until else None)

    def alerts(self, all_):
        """One leak is one alert: what is a part of another is not counted beside it."""
        firing = [a for a in all_ if a["state"] in ("STATE_FIRING", "firing") and not (a.get("partOf") or a.get("part_of"))]
        self.say("alerts", "firing", len(firing))
        self.say("alerts", "which", sorted((a["rule"], a.get("bandLabel") or a.get("band") or "") for a in firing))
        self.say("alerts", "severity", sorted((a["rule"], a["severity"]) for a in firing))


UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
PERIODS = {"s": 1, "min": 60, "h": 3600}


def amount(text):
    """"-1.23 KiB/min" in bytes (per second); None for a dash."""
    m = re.fullmatch(r"([+−-]?)~?([0-9.]+) ([KMGT]?i?B)(?:/(s|min|h))?", text.strip())
    return m and float(m[2]) * (-1 if m[1] in ("-", "−") else 1) * UNITS[m[3]] / PERIODS[m[4] or "s"]


def read(text):
    """The amount, and how far off it may be: three digits, or half of its last one."""
    value = amount(text)
    if not value:
        return value, SHORT
    digits = re.search(r"[0-9]+(?:\.([0-9]+))?", text)
    return value, max(SHORT, abs(0.51 * 10 ** -len(digits[1] or "") * value / (float(digits[0]) or 1)))


def seconds(text):
    """"46m 01s", "3m 57s", "1h 02m" in ns."""
    return sum(float(n) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[u] for n, u in re.findall(r"([0-9.]+) ?([smhd])", text)) * S


def one_unit(texts):
    """Rates beside each other have one unit."""
    units = {t.split()[-1] for t in texts if "/" in t}
    assert len(units) <= 1, texts


def of_trend(env, *args):
    """The sentences and the table of `heapwatch trend`."""
    f, text = Facts(), client("trend", *args, env=env).stdout.decode()
    columns = []
    for line in text.splitlines():
        m = re.match(r"  (\S.{27})  (LEAK|growing|steady|unknown|–) ", line)
        if not m:
            continue
        cells = re.findall(r"[+−-]?~?[0-9.]+ [KMGT]?i?B(?:/(?:s|min|h))?|(?:[0-9]+[dhms] ?)+|–|[0-9.]+ s", line[38:])
        name = m[1].strip()
        columns += cells[1:4]
        f.say("verdict", name, m[2].lower())
        f.say("now", name, *read(cells[0]))
        for what, cell in zip(("slope", "low", "high"), cells[1:4]):
            f.say(what, name, *read(cell))
        f.say("onset", name, seconds(cells[6]) if cells[6] != "–" else None, WHOLE)
    notes = re.findall(r"^  since  .* the marker “(.*)”", text, re.M)
    if ("onset", "live") in f:
        f.say("note", "live", notes[0] if notes else "none")
    where = re.search(r"^  where  (?:had it continued: )?(the program (?:retains|retained) more and more data)?", text, re.M)
    f.say("where", "", "live" if where and where[1] else None)
    one_unit(columns)
    assert ("verdict", "live") in f, text
    m = re.search(r"in ([0-9][^a-z]*[smh](?: [0-9]+[smh])?) to ([0-9]+[smh](?: [0-9]+[smh])?) live data reaches the given limit \(([^)]*)\)", text)
    if m:
        f.say("until", "low", seconds(m[1]), WHOLE)
        f.say("until", "high", seconds(m[2]), WHOLE)
        f.say("limit", "", amount(m[3]), SHORT)
    sentence = re.search(r"live  .*?(a leak|grows|grew|no lasting growth)[^,]*, by (.*?) \((.*?) to (.*?)\)", text)
    assert bool(sentence) == (f["verdict", "live"][0] in ("growing", "leak"))
    rates = sentence.groups()[1:] if sentence else ()
    one_unit(rates)
    for what, part in zip(("slope", "low", "high"), rates):
        assert amount(part) == pytest.approx(f[what, "live"][0], rel=0.02), text
    return f


def of_trend_json(env, *args):
    f, said = Facts(), json.loads(client("trend", "--format", "json", *args, env=env).stdout)
    f.trends(said["trends"], {int(k): v for k, v in said["labels"].items()})
    return f


def of_snapshot(daemon, target):
    f, said = Facts(), daemon.snapshot(target)
    bodies = [json_of(u) for updates in said.values() for u in updates]
    return from_updates(f, bodies)


def json_of(update):
    from google.protobuf.json_format import MessageToDict
    return MessageToDict(update)


def from_updates(f, updates):
    labels, newest = {}, {}
    for u in updates:
        for b in u.get("bands", {}).get("bands", []):
            labels[b["id"]] = b["label"]
        newest.update({k: u[k] for k in ("heap", "census", "trends", "alerts") if k in u})
    parts = [t for u in updates if "trends" in u for t in u["trends"].get("trends", [])]
    f.trends({**newest.get("trends", {}), "trends": parts}, labels)
    f.alerts(newest.get("alerts", {}).get("alerts", []))
    for key, name in (("liveBytes", "live"), ("heapSizeBytes", "heap_size")):
        f.say("now", name, float(newest["heap"][key]) if key in newest.get("heap", {}) else None)
    census = newest.get("census", {})
    for band, size in zip(census.get("band", []), census.get("bytes", [])):
        f.say("now", labels[band], float(size))
    return f


def of_pipe(env, target):
    """What a subscriber has that comes now: the snapshot, then what is repeated."""
    got = []
    with running(CLIENT, "pipe", "--target", target, "--format", "json", env={**os.environ, **env}, stdout=subprocess.PIPE) as pipe:
        for line in itertools.islice(pipe.stdout, 2000):
            got.append(json.loads(line))
            # A run that was left has no alerts any more, and says nothing of them.
            if all(any(k in u for u in got) for k in ("heap", "census", "trends", "bands", *(() if "~" in target else ("alerts",)))):
                break
    return from_updates(Facts(), got)


def of_alerts(env, target):
    text, f, g = client("alerts", "--target", target, env=env), Facts(), Facts()
    lines = [json.loads(x) for x in client("alerts", "--target", target, "--format", "json", env=env).stdout.splitlines()]
    f.alerts([x["alert"] for x in lines])
    rows = re.findall(r"^(info|warning|critical) +(firing|pending) +\S+ +(\S+)(?: of (\S+))?  ", text.stdout.decode(), re.M)
    g.alerts([{"state": state, "rule": rule, "band": band, "severity": severity} for severity, state, rule, band in rows])
    assert text.returncode == (1 if g["alerts", "firing"][0] else 0)
    for name, parts in re.findall(r"^ +(\S+)(?: in \S+)? leaks (.* to [^)]*)\)", text.stdout.decode(), re.M):
        name = "live" if name == target else name
        g.say("verdict", name, "leak")
        interval(g, name, parts)
    return f, g


def interval(f, name, text):
    """"100 KiB/s (94.6 KiB/s to 105 KiB/s)", in one unit."""
    parts = re.split(r" \(| to ", text)
    one_unit(parts)
    for what, part in zip(("slope", "low", "high"), parts):
        f.say(what, name, *read(part))


def of_top_json(env, target, log=None):
    def view(name, *args):
        return json.loads(client("top", "--once", "--format", "json", "--view", name, *([log] if log else args), env=env).stdout)

    def row(f, name, r):
        f.say("verdict", name, r["verdict"])
        for key, what in (("slope_bps", "slope"), ("slope_low_bps", "low"), ("slope_high_bps", "high")):
            f.say(what, name, r[key])

    f = Facts()
    t = next(t for t in view("targets")["targets"] if t["target"] == target)
    f.say("verdict", "live", t["verdict"])
    f.say("slope", "live", t["slope_bps"])
    f.say("alerts", "firing", t["alerts_firing"])
    f.say("now", "live", t["live_bytes"])
    f.say("limit", "", t["limit_bytes"])
    f.say("culprit", "", t["culprit"])
    f.say("onset", "live", t["onset_ns"])
    f.say("until", "mid", t["limit_in_ns"])
    g = Facts()
    for r in view("memory", target)["targets"][0]["series"]:
        if r["verdict"] is None:
            continue
        row(g, SERIES.get(r["series"], r["series"]), r)
        g.say("now", SERIES.get(r["series"], r["series"]), r["bytes"])
    for r in view("bands", target)["targets"][0]["bands"]:
        if r["verdict"] is None:
            continue
        row(g, r["label"], r)
        g.say("now", r["label"], r["bytes"])
        g.say("change", r["label"], r["change_bytes"])
        g.say("onset", r["label"], r["onset_ns"])
    h = Facts()
    alerts = view("alerts", target)["alerts"]
    h.alerts([a for a in alerts if a["target"] == target])
    return {"top targets": f, "top memory and bands": g, "top alerts": h}


def of_overview(text, change="change"):
    """The lines of the console's first picture, whoever printed it."""
    f = Facts()
    m = re.search(r"^ *(leak|growing|steady|unknown)\b.*?([+-][0-9.]+ [KMG]?i?B/(?:s|min|h))", text, re.M)
    if m:
        f.say("verdict", "live", m[1])
        f.say("slope", "live", *read(m[2]))
    m = re.search(r"^ *[a-z, ]*leak: .* since \S+ ?(?:\((.*?)\))?, (\S+?)(?:,|$)", text, re.M)
    if m:
        f.say("note", "live", m[1] or "none")
        f.say("culprit", "", m[2])
    f.say("where", "", "live" if re.search(r"^ where +In live data", text, re.M) else None)
    for row, name in (("live", "live"), ("heap", "heap_size")):
        now = re.search(rf"^ {row} +([0-9.]+ [KMG]?i?B)", text, re.M)
        f.say("now", name, now and amount(now[1]), SHORT)
    for now, by, band in re.findall(r"^ +([0-9.]+ [KMG]?i?B) +[0-9.]+ % +([+-]?[0-9.]+(?: [KMG]?i?B)?) +\S+ +(Main\.\w+)", text, re.M):
        f.say("now", band, amount(now), SHORT)
        f.say(change, band, amount(by) or 0, SHORT)
    return f


def of_terminal(env, directory, target):
    def shows(window):
        return lambda s: window in s and re.search(r"\+[0-9.]+ MiB +\S+ +Main\.cache", s)

    with top(directory, target, env=env, width=120, height=40) as t:
        whole = t.keys(*"++++++").wait_whole(shows("window all"), "the band that leaks, over the whole run")
        part = t.keys(*"-------").wait_whole(shows("window 5 min"), "the same over five minutes")
    return {"top in a terminal": of_overview(whole), "top in a terminal, 5 min": of_overview(part, "change in 5 min")}


def of_answers(state, target):
    """What the server says of a target, and the page and the console show: numbers, and the same in words."""
    a = next(a for a in state["answers"] if a["target"] == target)
    f, g, text = Facts(), Facts(), {x["key"]: x for x in a["answers"]}
    f.say("verdict", "live", a["word"])
    f.say("slope", "live", a["slope"])
    f.say("onset", "live", float(a["onsetNs"]))
    if "limitInNs" in a:     # absent for a run that is over
        f.say("until", "mid", float(a["limitInNs"]))
    assert "eak" in text["wrong"]["text"]
    f.say("culprit", "", a["culprit"])
    g.say("culprit", "", text["grows"]["text"].split(" with ")[0])
    g.say("note", "live", re.search(r"the marker “(.*)”", text["since"].get("after", "") or text["since"]["text"])[1])
    g.say("where", "", "live" if text["where"]["text"].startswith("In live data") else "elsewhere")
    interval(g, "live", re.search(r"(?:grows|grew) by (.*)\)", text["wrong"]["text"])[1])
    g.say("onset", "live", float(text["since"]["timeNs"]))
    now, slope = re.fullmatch(r"Main\.cache with (.*), (.*)", text["grows"]["text"]).groups()
    g.say("now", "Main.cache", *read(now))
    g.say("slope", "Main.cache", *read(slope))
    until = re.search(r"n ([0-9dhms ]+) \(([0-9dhms ]+) to ([0-9dhms ]+)\): .*\((.*)\)", text["until"]["text"]).groups()
    for what, part in zip(("mid", "low", "high"), until):
        g.say("until", what, seconds(part), WHOLE)
    g.say("limit", "", *read(until[3]))
    for what, part in zip(("live", "heap_size"), re.search(r"live (.*), heap (.*)", text["where"]["text"]).groups()):
        g.say("now", what, *read(part))
    # "Being determined" is over before another face is looked at.
    return {"answers": f, "answers in words": g}, [x["text"] for x in a["answers"] if x.get("said") != "awaited"]


def of_page(tab, web, target):
    def go(page, table, name):
        query = urllib.parse.urlencode({"target": target, "range": "all"})
        return tab.go(f"{web.url}#/{page}?{query}").table(table)["rows"] if name else None

    f = Facts()
    row = next(r for r in go("overview", "targets", target) if r["target"] == target)
    f.say("verdict", "live", row["verdict"])
    f.say("slope", "live", row["trend"])
    f.say("alerts", "firing", row.get("alerts"))
    f.say("now", "live", row["live"])
    f.say("now", "heap_size", row["heap"])
    f.say("limit", "", row["limit"])
    f.say("culprit", "", row.get("culprit"))
    g = Facts()
    go("detail", "bands", target)
    rows = tab.until("(r => r?.some(x => x.verdict === 'leak') && r)(heapwatch.table('bands')?.rows)")    # trends come when first wanted
    for r in rows:
        if r["verdict"] not in WORDS:
            continue
        g.say("verdict", r["label"], r["verdict"])
        g.say("slope", r["label"], r["slope"])
        g.say("now", r["label"], r["now"])
    series = next(s for s in tab.go(f"{web.url}#/heap?{urllib.parse.urlencode({'target': target, 'range': 'all'})}").chart("bands")["series"]
                  if s["label"] == "Main.cache")
    g.say("change", "Main.cache", series["values"][-1] - series["values"][0])
    words = tab.js("document.body.innerText")
    one_unit(re.findall(r"[+±−][0-9.]+ [KMG]?i?B/(?:s|min|h)", words))
    return {"page overview": f, "page detail": g}


def of_metrics(web, target):
    def sheet():
        text = urllib.request.urlopen(web.url.split("#")[0].rstrip("/") + "/metrics").read().decode()
        return text if f'target="{target}"' in text and "heapwatch_slope" in text else None

    f, alerts = Facts(), []
    for name, labels, value in re.findall(r"^(\w+)\{(.*)\} (\S+)$", wait_for(sheet, "the metrics"), re.M):
        of = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        if of.get("target") != target:
            continue
        if name == "heapwatch_verdict" and float(value) == 1:
            f.say("verdict", of["series"], of["verdict"])
        elif name == "heapwatch_slope_bytes_per_second":
            f.say({"low": "low", "high": "high"}.get(of.get("bound"), "slope"), of["series"], float(value))
        elif name == "heapwatch_live_bytes":
            f.say("now", "live", float(value))
        elif name == "heapwatch_heap_size_bytes":
            f.say("now", "heap_size", float(value))
        elif name == "heapwatch_band_bytes":
            f.say("now", of["band"], float(value))
        elif name == "heapwatch_limit_bytes":
            f.say("limit", "", float(value))
        elif name == "heapwatch_alert":
            alerts.append({"state": of["state"], "rule": of["alertname"], "band": of.get("band"), "partOf": of.get("part_of"),
                           "severity": of["severity"]})
    f.alerts(alerts)
    return f


def of_history(env, daemon, target):
    """The newest of each, and what bands have changed by: since the first point, and since the last that was over then."""
    def points(*what):
        lines = client("ctl", "history", target, *what, env=env).stdout.decode().splitlines()[1:]
        return [[float(x) for x in line.split()] for line in lines]

    f = Facts()
    f.say("now", "live", points("live")[-1][-1])
    f.say("now", "heap_size", points("heap_size")[-1][-1])
    for b in [b for u in daemon.snapshot(target)["bands"] for b in u.bands.bands]:
        p = points(f"band:{b.id}")
        f.say("now", b.label, p[-1][-1])
        f.say("change", b.label, p[-1][-1] - p[0][-1])
        f.say("change in 5 min", b.label, p[-1][-1] - [x for x in p if x[0] + x[1] <= LIFE - 300][-1][-1])
    return f


@pytest.mark.parametrize("name", ["steady-hT-thr-ghc902", "live-902-hidden-fifo"])
def test_collections_have_their_past(name):
    """Charts of collections that are opened late begin with the run, in one drawing: the longest pause is the longest
    that was, and the shares of time add up to all pauses."""
    if not web_browser.installed():
        pytest.skip("no browser")
    with private_directory() as d, Daemon(d, f"late={LOGS}/{name}/run.eventlog") as daemon:
        daemon.wait_state("late", "ENDED", "LOST", "CRASHED", "RUNNING")
        wait_for(lambda: (gc := daemon.snapshot("late").get("gc")) and gc[-1].gc.pause_total_ns, "collections")
        wait_for(lambda: len({json.dumps(json_of(daemon.snapshot("late")["gc"][-1])["gc"]) for _ in range(3)}) == 1, "all of them")
        gc = daemon.snapshot("late")["gc"][-1].gc
        longest = max(g.pause_max_ns for g in gc.generations)
        with web_browser.Web("--connect", f"ipc://{daemon.directory}/publish") as web:
            with web_browser.opened() as tab:
                tab.go(f"{web.url}#/gc?target=late&range=all").chart("pauses")
                wanted = "(c => c?.series?.[0] && Math.max(...c.series[0].values.map(v => v ?? 0)) === %d && c)(heapwatch.chart('pauses'))"
                pauses = tab.until(wanted % longest)
                share = tab.chart("gc-share")
        assert len(pauses["series"]) == 1
        width = share["x"][1] - share["x"][0]
        assert share["x"][0] < 1 and sum(share["series"][0]["values"]) * width == pytest.approx(gc.pause_total_ns / 1e9, rel=0.01)
        drawn = client("top", "--once", "--view", "gc", "late", env={"HEAPWATCH_DIR": str(daemon.directory)}).stdout.decode()
        columns = {m.start() for line in drawn.splitlines()[2:12] for m in re.finditer("[\u2801-\u28ff]", line)}
        assert min(columns) < 50 and max(columns) > 70, drawn


@pytest.fixture(scope="module")
def watched():
    with private_directory() as d:
        for name, ended in (("leaking", False), ("over", True), ("again", True)):
            write(d / f"{name}.eventlog", ended)
        with Daemon(d, *(f"{n}={d}/{n}.eventlog" for n in ("leaking", "over", "again")), args=JUDGED) as daemon:
            daemon.wait_state("over", "ENDED")
            daemon.wait_state("again", "ENDED")
            (d / "again.eventlog").unlink()     # the program is started again, into a new file of that name
            LiveLog(d / "again.eventlog").live(MIB)
            wait_for(lambda: daemon.target("again~1"), "the run before, beside the next one")

            def judged(name):
                f = of_snapshot(daemon, name) if daemon.snapshot(name).get("trends") and ("~" in name or daemon.snapshot(name).get("alerts")) else {}
                return f.get(("verdict", "live"), ("",))[0] == "leak" and f["now", "live"][0] > 55 * MIB and f

            # Of the program that has not ended, the last second is not over: the state is the one that stays.
            wait_for(lambda: judged("over") and judged("again~1") and (a := judged("leaking")) and (time.sleep(1.5) or a == judged("leaking")), "a state that stays")
            yield daemon


@pytest.mark.parametrize("target", ["leaking", "over", "again~1"])
def test_all_faces_agree(watched, target, tmp_path):
    env = {"HEAPWATCH_DIR": str(watched.directory)}
    faces = {"messages": of_snapshot(watched, target), "pipe": of_pipe(env, target), "trend": of_trend(env, target),
             "trend json": of_trend_json(env, target), "ctl history": of_history(env, watched, target)}
    faces["alerts json"], faces["alerts"] = of_alerts(env, target)
    faces.update(of_top_json(env, target))
    faces["top overview"] = of_overview(client("top", "--once", target, env=env).stdout.decode())
    faces.update(of_terminal(env, tmp_path, target))
    with web_browser.Web("--connect", f"ipc://{watched.directory}/publish") as web:
        faces["metrics"] = of_metrics(web, target)
        with urllib.request.urlopen(f"{web.url.split('#')[0].rstrip('/')}/api/state") as state:
            answers, words = of_answers(json.load(state), target)
        faces.update(answers)
        if web_browser.installed():
            with web_browser.opened() as tab:
                faces.update(of_page(tab, web, target))
                tab.go(f"{web.url}#/target?target={target}")
                for text in words:
                    tab.until(f"document.body.innerText.replace(/\\s+/g, ' ').includes({json.dumps(text.strip())})")
    wrong, said = contradictions(faces)
    assert not wrong, "\n".join(wrong)

    # And that is what there was.
    assert said["verdict", "live"][0][2] == "leak" and said["verdict", "Main.steady"][0][2] == "steady"
    assert said["slope", "Main.cache"][0][2] == pytest.approx(PER_S, rel=0.05)
    assert said["onset", "live"][0][2] == pytest.approx(ONSET * S, abs=15 * S)
    assert len(said["verdict", "live"]) >= 9 and len(said["change", "Main.cache"]) >= 4
    assert len(said["culprit", ""]) >= 7 and said["culprit", ""][0][2] == "Main.cache"
    assert len(said["note", "live"]) >= 6 and said["note", "live"][0][2] == NOTE
    assert len(said["where", ""]) >= 5 and len(said["limit", ""]) >= 6 and len(said["until", "mid"]) >= 2
    if target != "again~1":     # the alerts of a run before have ended with it
        assert bool(said["alerts", "firing"][0][2]) == (target == "leaking") and len(said["alerts", "severity"]) >= 6


def test_all_faces_of_a_log_agree(watched):
    """Judged alike, a finished log says what its live target said; without options all commands judge alike."""
    log, env = watched.directory / "over.eventlog", {"HEAPWATCH_DIR": str(watched.directory)}
    wrong, _ = contradictions({"live": of_trend_json(env, "over"), "trend": of_trend({}, log, *JUDGED),
                               "trend json": of_trend_json({}, log, *JUDGED)})
    assert not wrong, "\n".join(wrong)

    def alerts(*args):
        lines = client("alerts", "--format", "json", *args, env=env).stdout.splitlines()
        return {(a["rule"], a.get("bandLabel", "")) for a in (json.loads(x)["alert"] for x in lines)}

    fired = alerts(log, *JUDGED)
    assert fired == alerts("--target", "leaking") - {("stream-stalled", "")}     # its file grows no more
    checked = client("check", log, *JUDGED).stdout.decode()
    assert all(rule in checked for rule, _ in fired)
    whole = [x for x in client("alerts", log, *JUDGED).stdout.decode().splitlines() if x[0] != " "]
    assert re.search(rf": {len(whole)} alerts?(, with \d+ parts?)?$", checked.splitlines()[0]), (whole, checked)

    data = json.loads(client("report", "--format", "json", "-o", "-", log).stdout)
    report = from_updates(Facts(), [u["update"] for u in data["state"]["updates"] if "update" in u])
    report = Facts({k: v for k, v in report.items() if k[0] != "alerts"})
    wrong, said = contradictions({"report": report, "trend": of_trend({}, log), "trend json": of_trend_json({}, log),
                                  "top memory and bands": of_top_json({}, "over", log)["top memory and bands"]})
    assert not wrong, "\n".join(wrong)
    assert said["verdict", "live"][0][2] in ("growing", "leak")
    sentence = client("trend", log).stdout.decode().split("where  ")[1].splitlines()[0]
    assert sentence in " ".join(client("summary", log).stdout.decode().split())


def test_a_fleet_is_the_same_list_everywhere(watched):
    """Which targets there are, in which order, in what word, since when, what grows: console, its JSON, the page and its server."""
    env = {"HEAPWATCH_DIR": str(watched.directory)}
    text = client("top", "--once", env=env).stdout.decode()
    rows = [line.split() for line in text.splitlines() if re.match(r" (leaking|over|again)", line)]
    listed = json.loads(client("top", "--once", "--format", "json", "--view", "targets", env=env).stdout)["targets"]
    assert [r[0] for r in rows] == [t["target"] for t in listed] and sorted(r[0] for r in rows) == ["again", "again~1", "leaking", "over"]
    assert rows[0][0] == "leaking", "what leaks now comes before what has leaked"
    words = {r[0]: r[1] for r in rows}
    assert (words["leaking"], words["over"], words["again~1"]) == ("leak",) * 3 and words["again"] not in WORDS[1:]
    assert {r[0]: "Main.cache" in r for r in rows} == {"leaking": True, "over": True, "again~1": True, "again": False}
    drawn = {line.split()[0]: set(line) & set("▁▂▃▄▅▆▇█") for line in text.splitlines() if re.match(r" (leaking|over|again~1)", line)}
    assert all(len(bars) > 3 for bars in drawn.values()), text     # the history of live data, also when it is printed once
    with web_browser.Web("--connect", f"ipc://{watched.directory}/publish") as web:
        def answered():
            with urllib.request.urlopen(f"{web.url.split('#')[0].rstrip('/')}/api/state") as state:
                all_ = {a["target"]: a for a in json.load(state)["answers"]}
            return len(all_) == len(listed) and all_["leaking"]["word"] == "leak" and all_

        answers = wait_for(answered, "all targets at the server")
        assert {t["target"]: answers[t["target"]]["word"] for t in listed} == {t["target"]: t["word"] for t in listed}
        assert sorted(answers, key=lambda t: -answers[t]["rank"])[0] == "leaking"
        lines = [re.split(r"  +", line, maxsplit=2) for line in client("trend", env={"HEAPWATCH_DIR": str(watched.directory)}).stdout.decode().splitlines()]
        assert lines[0][0] == "leaking" and {name: word for name, word, _ in lines} == {t["target"]: t["word"] for t in listed}
        assert lines[0][2].startswith("+") and " since " in lines[0][2], lines[0]
        if web_browser.installed():
            with web_browser.opened() as tab:
                page = tab.go(f"{web.url}#/overview?range=all").table("targets")["rows"]
            assert [r["target"] for r in page][0] == "leaking" and {r["target"]: r["verdict"] for r in page} == {t["target"]: t["word"] for t in listed}


def collections(f, generations, count, pauses):
    for g in generations:
        f.say("collections of generation", str(g["generation"]), int(g[count]))
        for key, what in pauses.items():
            f.say(what, str(g["generation"]), float(g[key]))


@pytest.mark.parametrize("name", ["leaky-hT-ghc902", "live-902-hidden-fifo", "crash-kill9-ghc9103", "parallel-ghc902"])
def test_all_faces_of_a_real_log_agree(name):
    log = LOGS / name / "run.eventlog"
    updates = [u["update"] for u in json.loads(client("report", "--format", "json", "-o", "-", log).stdout)["state"]["updates"]]
    target = next(u["target"] for u in updates if "target" in u)
    faces = {"report": from_updates(Facts(), updates), "trend": of_trend({}, log), "trend json": of_trend_json({}, log),
             "top overview": of_overview(client("top", "--once", log).stdout.decode()), **of_top_json({}, target, log)}
    # Bands may share their label, which only people read: their numbers are compared where it is their own.
    bands = [b["label"] for u in updates for b in u.get("bands", {}).get("bands", [])]
    faces = {face: Facts({k: v for k, v in facts.items() if k[0] != "alerts" and bands.count(k[1]) < 2 and (len(k[1]) < 20 or "json" in face)})
             for face, facts in faces.items()}

    summary, s = json.loads(client("summary", "--format", "json", log).stdout), Facts()
    heap = next(u["heap"] for u in updates if "heap" in u)
    gc = next((u["gc"] for u in updates if "gc" in u), {})
    view = json.loads(client("top", "--once", "--format", "json", "--view", "gc", log).stdout)["targets"][0]
    row = json.loads(client("top", "--once", "--format", "json", "--view", "targets", log).stdout)["targets"][0]
    s.say("verdict", "live", summary["growth"]["live"].replace("VERDICT_", "").lower())
    for facts, live_max, generations, count, pauses in (
            (faces["report"], heap.get("maxLiveBytes"), gc.get("generations", []), "count", ("pauseMaxNs", "pauseTotalNs", "pauseP99Ns")),
            (s, summary["memory"].get("maxResidencyBytes"), summary.get("collections", {}).get("generations", []), "collections",
             ("pauseMaxNs", "pauseTotalNs", "pauseP99Ns")),
            (faces["top targets"], row["live_max_bytes"], view["generations"], "count", ("pause_max_ns", "pause_total_ns", "pause_p99_ns"))):
        facts.say("maximum residency", "", live_max and float(live_max))
        collections(facts, generations, count, dict(zip(pauses, ("longest pause", "total pause", "p99 of pauses"))))
    wrong, said = contradictions({**faces, "summary": s})
    assert not wrong, "\n".join(wrong)
    assert len(said["verdict", "live"]) >= 5 and len(said["maximum residency", ""]) == 3
    assert name != "parallel-ghc902" or len(said["longest pause", "1"]) == 3
    where = client("trend", log).stdout.decode().split("where  ")       # of a steady run that is over "wrong" has said it
    assert len(where) == 1 or where[1].splitlines()[0] in client("summary", log).stdout.decode()


# ---------------------------------------------------------------- after an exhausted heap

def words_of(name, env, web, shown):
    """What each face says of one target in words, one space between them, once the page has `shown`."""
    def on_page():
        with urllib.request.urlopen(f"{web.url.split('#')[0].rstrip('/')}/api/state") as state:
            a = next((a for a in json.load(state)["answers"] if a["target"] == name), None)
        return a and any(shown in x["text"] for x in a["answers"]) and a

    a = wait_for(on_page, f"the page shows '{shown}'")
    said = {"page": "  ".join(f"{x['text']}{x.get('after', '')}" for x in a["answers"])}
    for face in (("top", "--once"), ("post-mortem",), ("trend",), ("summary",)):
        said[face[0]] = client(*face, name, env=env).stdout.decode()
    return {face: " ".join(text.split()) for face, text in said.items()}


@pytest.mark.parametrize("profiled", [True, False])
def test_all_faces_agree_after_an_exhausted_heap(directory, profiled):
    """Ten seconds flat, a deploy, 10 MiB/s into -M: too short for a verdict, and all that is said must be true nevertheless."""
    env, path = {"HEAPWATCH_DIR": str(directory)}, directory / "orders.eventlog"
    log = LiveLog(path, start_wall_ns=time.time_ns() - 30 * S)
    log.heap_info(600 * MIB, at_ns=2)
    for s in range(1, 30):
        if s == 10:
            log.marker("deploy: feature big enabled", at_ns=s * S + 1000)
        rise = max(0, s - 10) * 10 * MIB
        log.live(2 * MIB + rise, at_ns=s * S)
        if profiled and s < 15:     # the budget of censuses is used up early
            log.census({"ARR_WORDS": MIB, "Data.Map.Internal.Bin": 938 << 10}, at_ns=s * S + 10)
    with Daemon(directory, f"orders={path}", args=("--resolution", "1m", "--record", directory / "recordings")) as daemon, \
            web_browser.Web("--connect", f"ipc://{directory}/publish") as web:
        wait_for(lambda: daemon.snapshot("orders").get("heap") and daemon.snapshot("orders")["heap"][0].heap.live_bytes > 180 * MIB, "the log")
        before = words_of("orders", env, web, "96.0 %")
        assert "96.0 %" in before["top"] and "wait for the verdict" not in before["top"].lower()
        log.live(64 << 10, at_ns=29 * S + 500)      # of the runtime's shutdown
        log.end()
        daemon.ask(pb.Request(end_target=pb.EndTargetRequest(name="orders", exit_status=251)))
        wait_for(lambda: (t := daemon.target("orders")) and t.exit_status == 251, "the end")
        said = words_of("orders", env, web, "Its limit was reached")
        if profiled:
            with web_browser.opened() as tab:
                tab.go(f"{web.url}#/heap?target=orders&range=all").chart("heap")
                tab.until("/live data\\s+192.MiB/.test(document.querySelector('[data-chart=heap] .legend').innerText)")
                tab.until("/changed by \\+190.MiB/.test(document.querySelector('main').innerText)", timeout=20000)
        kept = []       # what a recording says is what was said while it lived, not what a step of its own would give
        for what in ("orders", "recording:orders"):
            found = json.loads(client("trend", what, "--format", "json", env=env).stdout)["trends"]
            rows = json.loads(client("post-mortem", what, "--format", "json", env=env).stdout)["rows"]
            kept.append([found["early"], [(t.get("series", t.get("band")), t["verdict"], t.get("slope"), t["sentence"]) for t in found["trends"]],
                         [row for row in rows if row["key"] in ("end", "limit", "wrong", "grows", "until", "bands")],
                         [row["text"].partition(";")[0] for row in rows if row["key"] == "since"]])
        assert kept[0] == kept[1]
    for face, text in said.items():
        assert re.search(r"live data had risen for 1[89]\.\d s, from 2\.\d\d MiB to 192 MiB, by (9\.\d+|10\.\d) MiB/s", text), (face, text)
        for false in ("No limit was reached", "raise -M", "Had it continued", "had it continued", "spread over", "without lasting growth", "Wait for"):
            assert false not in text, (face, text)
    for face in ("page", "top", "post-mortem"):
        assert "Its limit was reached: the heap limit -M (600 MiB)" in said[face], said[face]
        assert "the marker “deploy: feature big enabled”" in said[face] and "The rise began at" in said[face], said[face]
        assert "its censuses ended too early" in said[face] if profiled else "there is no heap profile" in said[face], said[face]


# ------------------------------------------------------------------ during a loop of crashes

END = "ended with status 251, heap exhausted at -M600m"


def looping_log(path, ended):
    """Ten seconds flat, then 10 MiB a second up to -M, or not yet."""
    log = LiveLog(path, start_wall_ns=time.time_ns() - 30 * S)
    log.heap_info(600 * MIB, at_ns=2)
    for s in range(1, 30 if ended else 10):
        log.live(2 * MIB + max(0, s - 10) * 10 * MIB, at_ns=s * S)
        log.census({"ARR_WORDS": MIB + max(0, s - 10) * 10 * MIB}, at_ns=s * S + 1000)
    if ended:
        log.end()
    return log


def test_all_faces_agree_during_a_loop_of_crashes(directory, tmp_path):
    """Seven runs died of -M and the eighth has begun: what each face says of the crash, its time, the restarts and each run is the same."""
    env = {"HEAPWATCH_DIR": str(directory)}
    with contextlib.ExitStack() as stack:
        d = stack.enter_context(Daemon(directory))
        began = time.time()
        for n in range(1, 8):
            with one_run(d, "loop", directory / f"{n}", looping_log(directory / f"{n}.eventlog", ended=True)):
                d.wait_state("loop", "ENDED")
            d.ask(pb.Request(end_target=pb.EndTargetRequest(name="loop", exit_status=251)))
            d.wait_state("loop", "CRASHED")
        stack.enter_context(one_run(d, "loop", directory / "8", looping_log(directory / "8.eventlog", ended=False)))
        web = stack.enter_context(web_browser.Web("--connect", f"ipc://{directory}/publish"))
        wait_for(lambda: (h := d.snapshot("loop").get("heap")) and h[0].heap.live_bytes == 2 * MIB, "the eighth run")

        def firing():
            all_ = {a.rule: a for u in d.snapshot("loop").get("alerts", []) for a in u.alerts.alerts if a.state == pb.Alert.STATE_FIRING}
            return set(all_) >= {"crashed", "restart-loop"} and "7 times" in all_["restart-loop"].annotations[0].value and all_

        alerts = wait_for(firing, "the alerts")
        words = {f"loop crashed: {END}", "loop has restarted 7 times in 15 minutes"}
        assert {a.annotations[0].value for a in alerts.values()} == words
        times = {rule: time.strftime("%H:%M:%S", time.gmtime(a.fired_wall_ns // S)) for rule, a in alerts.items()}
        assert all(began - 1 < a.fired_wall_ns / S < time.time() for a in alerts.values()), alerts
        said = {" ".join(face): client(*face, env=env).stdout.decode() for face in (
            ("alerts",), ("trend",), ("trend", "loop"), ("post-mortem", "loop"), ("summary", "loop"), ("status",),
            ("top", "--once", "loop"), ("top", "--once", "--view", "alerts"))}
        ends = {f"{face[0]} {n}": client(*face, f"loop~{n}", env=env).stdout.decode() for n in range(1, 5) for face in (
            ("trend",), ("post-mortem",), ("top", "--once"))}
        if web_browser.installed():
            tab = stack.enter_context(web_browser.opened())
            rows = tab.go(f"{web.url}#/overview?range=all").table("targets")["rows"]
            assert {r["target"]: r["verdict"] for r in rows} == {"loop": rows[0]["verdict"], **{f"loop~{n}": "crashed" for n in range(1, 5)}}
            # What the fleet holds is what its running programs hold.
            tab.until("/live data(, up to .* old)?\\s+2.00.MiB/.test(document.querySelector('main').innerText)")
            tab.go(f"{web.url}#/alerts").until("document.querySelector('main').innerText.includes('7 times')")
            said["page alerts"] = tab.js("document.querySelector('main').innerText")
            ends["page"] = tab.go(f"{web.url}#/target?target=loop~4").until("(t => /heap exhausted/.test(t) && t)(document.body.innerText)")

    flat = {face: " ".join(text.split()) for face, text in said.items()}
    for face in ("alerts", "page alerts", "top --once --view alerts"):
        assert all(t in said[face] for t in times.values()), (face, times, said[face])
    assert all(w in flat[face] for face in ("alerts", "page alerts") for w in words), said
    for face in ("trend", "trend loop", "post-mortem loop", "top --once loop", "top --once --view alerts"):
        assert f"loop crashed: {END}" in flat[face], said[face]
    assert not any("crashed: unknown" in text for text in flat.values())
    assert said["status"].count(f"({END})") == 4
    lines = [line.split()[:2] for line in said["trend"].splitlines()]
    assert sorted(name for name, word in lines if word == "crashed") == [f"loop~{n}" for n in range(1, 5)]
    for line in said["trend"].splitlines():
        assert ("; the rise began at " in line) == (line.split()[1] == "crashed"), line
    for face, text in ends.items():
        assert END in " ".join(text.split()), (face, text)
        assert " ago" not in " ".join(line for line in text.splitlines() if "RSS " in line), (face, text)


def test_all_faces_say_that_no_note_is_near(tmp_path):
    log = LiveLog(tmp_path / "m.eventlog")
    log.marker("ready", at_ns=2 * S)
    for s in range(3, 200):
        log.live(2 * MIB + max(0, s - 100) * 3 * MIB, at_ns=s * S)
    log.end()
    since = [[x.split(maxsplit=1)[1] for x in client(face, log.path, "--resolution", "1s").stdout.decode().splitlines()
              if x.split()[:1] == ["since"]] for face in ("trend", "post-mortem")]
    assert since[0] == since[1] and "no marker or message of the program is near" in since[0][0], since


# ------------------------------------------------------------------ with old censuses

@pytest.mark.parametrize("stale", [True, False])
def test_all_faces_agree_on_the_age_of_old_censuses(directory, stale):
    """The last census is half a minute old: each face that shows its bands says so, and that live data is other now, if it is."""
    env, path = {"HEAPWATCH_DIR": str(directory)}, directory / "api.eventlog"
    log = LiveLog(path, start_wall_ns=time.time_ns() - 40 * S)
    for s in range(1, 41):
        log.live((20 + (3 * max(0, s - 10) if stale else 0)) * MIB, at_ns=s * S)
        if s <= 10:
            log.census({"Main.cache": 15 * MIB, "THUNK": 5 * MIB}, at_ns=s * S + 1000)
    with Daemon(directory, f"api={path}") as d, web_browser.Web("--connect", f"ipc://{directory}/publish") as web:
        wait_for(lambda: (h := d.snapshot("api").get("heap")) and h[0].heap.live_time_ns >= 40 * S and d.snapshot("api").get("census"), "the log")
        said = {" ".join(face): " ".join(client(*face, "api", env=env).stdout.decode().split()) for face in (
            ("trend",), ("summary",), ("post-mortem",), ("top", "--once"), ("top", "--once", "--view", "bands"))}
        for face in ("trend", "summary"):
            answer = json.loads(client(face, "--format", "json", "api", env=env).stdout)
            census = answer["census"] if face == "trend" else answer["heapProfile"]["census"]
            assert census["stale"] is stale and census["timeNs"] == str(10 * S + 1000), census
            said[f"{face} json"] = census["sentence"]
        if web_browser.installed():
            with web_browser.opened() as tab:
                for page in ("target", "heap", "detail"):
                    text = tab.go(f"{web.url}#/{page}?target=api&range=all").until(
                        "(e => e && !e.hidden && /last census/.test(e.innerText) && e.innerText)(document.querySelector('.census-age'))"
                        if page != "target" else "(t => /last census/.test(t) && t)(document.body.innerText)")
                    said[f"page {page}"] = " ".join(text.split())
    for face, text in said.items():
        found = re.search(r"last census ([0-9.]+).s ago at 20\.0.MiB(; live data (?:is 110.MiB now|was 110.MiB [0-9.]+.s ago))?", text)
        assert found and 29 <= float(found[1]) < 60 and bool(found[2]) is stale, (face, found, text)


def test_all_faces_agree_on_the_age_of_old_live_data(directory):
    """No major collection for 40 s, while others of the fleet have them: table, page and answers say how old the number is."""
    env = {"HEAPWATCH_DIR": str(directory)}
    for name, until in (("old", 60), ("new", 100)):
        log = LiveLog(directory / f"{name}.eventlog", start_wall_ns=time.time_ns() - 100 * S)
        for s in range(1, until + 1):
            log.live((20 + (s if name == "old" else 0)) * MIB, at_ns=s * S)
        log.allocated(MIB, at_ns=100 * S)
    with Daemon(directory, *(f"{n}={directory}/{n}.eventlog" for n in ("old", "new"))) as d, web_browser.Web("--connect", d.publish) as web:
        wait_for(lambda: (h := d.snapshot("old").get("heap")) and h[0].event_time_ns >= 100 * S, "the log")

        def answered():
            with urllib.request.urlopen(f"{web.url.split('#')[0].rstrip('/')}/api/state") as state:
                all_ = {a["target"]: a for a in json.load(state)["answers"]}
            return all_.get("old", {}).get("liveAgeNs") and all_

        page = wait_for(answered, "the age on the page")
        table = {t["target"]: t for t in json.loads(client("top", "--once", "--format", "json", "--view", "targets", env=env).stdout)["targets"]}
        text = client("top", "--once", env=env).stdout.decode()
        trend = json.loads(client("trend", "--format", "json", "old", env=env).stdout)["live"]
    ages = [int(page["old"]["liveAgeNs"]), table["old"]["live_age_ns"], int(trend["ageNs"])]
    assert all(40 * S <= age < 60 * S for age in ages), ages
    assert "liveAgeNs" not in page["new"] and table["new"]["live_age_ns"] is None
    [row] = [line for line in text.splitlines() if line.startswith(" old ")]
    assert re.search(r" 80\.0 MiB +[45][0-9]\.[0-9] s ", row), text


# ------------------------------------------------------------------ resident memory

PARTS = {"live data": ("liveBytes", "live_resident"), "slop and copy reserve": ("reserveBytes", "reserve"),
         "kept by the runtime": ("keptBytes", "kept"), "given back": ("givenBackBytes", "given_back"),
         "files": ("filesBytes", "files"), "foreign": ("foreignBytes", "foreign")}
ASKED = ("kept by the runtime", "given back", "foreign")    # beside the page's picture of them
RESIDENT_RULES = {"groups": [{"name": "g", "rules": [{"alert": name, "expr": expr} for name, expr in (
    ("much-given-back", "given_back > 40MiB"), ("much-foreign", "foreign > 40MiB"), ("much-counts", "need > 40MiB"),
    ("much-resident", "rss > 40MiB"))]}]}


def parts_in(text):
    """"live data 28.0 KiB, slop and copy reserve 3.97 MiB, ...", in the order of the account."""
    found = re.search(r"\b" + r"\W+".join(rf"{name} ([0-9.]+ [KMG]?i?B)(?:, [0-9.]+ m?s (?:ago|before the end))?" for name in PARTS), " ".join(text.split()))
    assert found, text
    return dict(zip(PARTS, found.groups()))


def of_resident(env, daemon, web, tab, target):
    """What each face says of the parts of resident memory."""
    def of_wire(r):
        return {name: float(r[field]) for name, (field, _) in PARTS.items()}

    def printed(*args):
        return client(*args, env=env).stdout.decode()

    def exact(face, parts):
        for name, value in parts.items():
            faces.setdefault(face, Facts()).say("part", name, value)

    faces, wire = {}, json_of(daemon.snapshot(target)["heap"][-1])["heap"]["resident"]
    exact("messages", of_wire(wire))
    exact("trend json", of_wire(json.loads(printed("trend", "--format", "json", target))["resident"]))
    summary = json.loads(printed("summary", "--format", "json", target))
    exact("summary json", of_wire(summary["memory"]["resident"]))
    exact("post-mortem json", of_wire(json.loads(printed("post-mortem", "--format", "json", target))["memory"]["resident"]))
    rows = json.loads(printed("top", "--once", "--format", "json", "--view", "memory", target))["targets"][0]["series"]
    exact("top memory", {r["series"]: r["bytes"] for r in rows if r["series"] in PARTS})
    exact("ctl history", {name: float(printed("ctl", "history", target, series).splitlines()[-1].split()[-1])
                          for name, (_, series) in PARTS.items()})
    sheet = urllib.request.urlopen(web.url.split("#")[0].rstrip("/") + "/metrics").read().decode()
    samples = re.findall(r'^heapwatch_resident_part_bytes\{(.*)\} (\S+)$', sheet, re.M)
    exact("metrics", {part: float(value) for labels, value in samples for part in re.findall('part="([^"]*)"', labels)})
    if tab:
        chart = tab.go(f"{web.url}#/heap?target={target}&range=all").chart("resident")
        exact("page", {s["label"]: float(s["values"][-1]) for s in chart["series"]})
        for question, value in tab.js("[...document.querySelectorAll('.question h4')].map(h => [h.firstChild.data, h.lastChild.innerText])"):
            name = question.removeprefix("Is it ").removesuffix("?")
            if name in ASKED:
                assert value != "–", question
                faces.setdefault("page questions", Facts()).say("part", name, *read(" ".join(value.split())))
    for face, text in (("trend", printed("trend", target)), ("top overview", printed("top", "--once", target)),
                       ("post-mortem", printed("post-mortem", target))):
        for name, value in parts_in(text).items():
            faces.setdefault(face, Facts()).say("part", name, *read(value))
    return faces, wire


def test_all_faces_agree_on_resident_memory(programs, tmp_path):
    """A peak that was dropped: the kernel still counts it as resident. It is given back, not foreign, and in no way."""
    with private_directory() as d, contextlib.ExitStack() as stack:
        (d / "rules.yaml").write_text(json.dumps(RESIDENT_RULES))
        daemon = stack.enter_context(Daemon(d, f"t={d}/log", args=("--resolution", "1s", "--limit", "100MiB", "--rules", d / "rules.yaml")))
        program = stack.enter_context(running(programs["spike"], "600", "+RTS", "-l", f"-ol{d}/log", "-RTS", cwd=d,
                                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
        env = {"HEAPWATCH_DIR": str(daemon.directory)}
        web = stack.enter_context(web_browser.Web("--connect", f"ipc://{daemon.directory}/publish"))
        tab = stack.enter_context(web_browser.opened()) if web_browser.installed() else None

        def resident():
            heaps = daemon.snapshot("t").get("heap")
            return heaps and heaps[-1].heap.resident

        wait_for(lambda: (r := resident()) and r.given_back_bytes > 40 * MIB, "memory that was given back")

        def agreed():
            """The program idles: what the faces say of different seconds is soon the same."""
            faces, wire = of_resident(env, daemon, web, tab, "t")
            return not contradictions(faces)[0] and (faces, wire)

        with contextlib.suppress(AssertionError):
            wait_for(agreed, "faces that agree", deadline_s=30)
        faces, wire = of_resident(env, daemon, web, tab, "t")
        wrong, said = contradictions(faces)
        assert not wrong, "\n".join(wrong)
        assert all(len(said["part", name]) + ("page questions" in faces and name not in ASKED) == len(faces) for name in PARTS)
        assert len(faces) >= 10
        assert sum(int(wire[field]) for field, _ in PARTS.values()) == int(wire["rssBytes"]) and "unknownBytes" not in wire

        # And so says the kernel.
        rollup = dict(re.findall(r"^(\w+): +([0-9]+) kB", open(f"/proc/{program.pid}/smaps_rollup").read(), re.M))
        for field, key in (("rssBytes", "Rss"), ("givenBackBytes", "LazyFree")):
            assert int(wire[field]) == pytest.approx(int(rollup[key]) * 1024, abs=2 * MIB)
        assert int(wire["filesBytes"]) == pytest.approx((int(rollup["Rss"]) - int(rollup["Anonymous"])) * 1024, abs=MIB)
        assert int(wire["foreignBytes"]) < 8 * MIB

        # What was given back counts as available, and grows nowhere.
        def firing():
            lines = client("alerts", "--format", "json", "--target", "t", env=env).stdout.splitlines()
            return {json.loads(line)["alert"]["rule"] for line in lines}

        wait_for(lambda: firing() == {"much-given-back", "much-resident"}, "the alerts of this moment")
        row = json.loads(client("top", "--once", "--format", "json", "--view", "targets", env=env).stdout)["targets"][0]
        counts = int(wire["rssBytes"]) - int(wire["givenBackBytes"]) - int(wire["filesBytes"])
        assert row["limit_share"] == pytest.approx(counts / (100 * MIB), abs=0.02)
