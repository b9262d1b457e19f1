#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""One daemon with a fleet of live programs, and all that looks at it: `make bench BENCH_ARGS=scale` runs it.

    tests/bench/fleet.py [--targets N] [--bands N] [--seconds N]

bench_fleet plays the programs (collections, notes, a census of all bands every 10 s) and measures how late their notes are. For
N seconds after the last one was connected, `heapwatch export`, `heapwatch web` and `heapwatch top` in a terminal follow the daemon;
then, while all goes on, the page's Overview is opened in a headless chromium, a target is searched there and in the console, and
the metrics are scraped.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("HEAPWATCH_BUILD", os.environ.get("BUILD", str(ROOT / "build")))
sys.path[:0] = [str(ROOT / "tests" / "e2e"), str(ROOT / "tests" / "bench")]

from chromium import Chromium  # noqa: E402
from harness import BUILD, CLIENT, Daemon, cpu_s, private_directory, rss_bytes, wait_for  # noqa: E402
from terminal import Terminal  # noqa: E402
from web_browser import Web  # noqa: E402

MIB = 1 << 20
LOOK_S = 40     # how long looking takes at most; the programs go on
ROUNDS = 7      # of opening the page
ROW = "[data-table=targets] .tbody [role=row]"

# Marks when the Overview's table has been painted with a row.
WATCH = """(() => {
    const seen = new MutationObserver(() => {
        if (!document.querySelector("%s")) return;
        seen.disconnect();
        requestAnimationFrame(() => setTimeout(() => performance.mark("picture:overview")));
    });
    seen.observe(document, { childList: true, subtree: true });
})()""" % ROW

# Types into the search; notes how long it is until the table has one row, painted.
SEARCH = """(() => {
    const field = document.querySelector("input[name=qt]"), began = performance.now();
    window.searched = 0;
    field.value = "%s";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    const look = () => {
        const rows = [...document.querySelectorAll("%s")].filter((row) => row.offsetParent && row.offsetHeight);
        if (rows.length === 1 && rows[0].textContent.includes("%s")) setTimeout(() => { window.searched = performance.now() - began; });
        else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
})()"""


class Watched:
    """A process' memory, and its share of a processor since this began."""

    def __init__(self, pid):
        self.pid, self.began, self.cpu = pid, time.monotonic(), cpu_s(pid)

    def share(self):
        return (cpu_s(self.pid) - self.cpu) / (time.monotonic() - self.began) * 100

    def mib(self):
        return rss_bytes(self.pid) / MIB


def page(web, name):
    """The Overview's first picture and a search there, medians in ms."""
    browser, pictures, searches = Chromium(), [], []
    try:
        for _ in range(ROUNDS + 1):
            with browser.tab() as tab:
                browser("Page.enable", tab.session)
                browser("Page.addScriptToEvaluateOnNewDocument", tab.session, source=WATCH)
                tab.go(f"{web.url}#/")
                time.sleep(1)
                wait_for(lambda: tab.js("performance.getEntriesByName('picture:overview').length"), "the Overview", poll_s=0.3)
                pictures.append(tab.js("performance.getEntriesByName('picture:overview')[0].startTime"))
                tab.js(SEARCH % (name, ROW, name))
                searches.append(wait_for(lambda: tab.js("window.searched"), "the target that was searched", poll_s=0.3))
    finally:
        browser.close()
    return statistics.median(pictures[1:]), statistics.median(searches[1:])     # the first one warms up


def console(terminal, name):
    """From the last key of a filter to the screen, in ms."""
    terminal.keys("f")
    terminal.text(name)
    began = time.monotonic()
    terminal.keys("Enter")
    terminal.wait_screen(lambda s: name in s and s.count("service-") <= 3, "the target that was searched")
    return (time.monotonic() - began) * 1000


def scrape(path):
    began = time.monotonic()
    done = subprocess.run(["curl", "-s", "--unix-socket", path, "http://localhost/metrics"], stdout=subprocess.PIPE, check=True)
    return (time.monotonic() - began) * 1000, sum(not line.startswith(b"#") for line in done.stdout.splitlines())


def figures(targets=1000, bands=200, seconds=600):
    """{name: number}, of one run."""
    with private_directory() as d:
        daemon = Daemon(d, *(f"service-{i}=unix:{d}/{i}.sock" for i in range(targets)), args=("--log-level", "error,daemon=info"))
        fleet = subprocess.Popen([BUILD / "bench" / "bench_fleet", d, str(targets), str(bands), str(seconds + LOOK_S), daemon.publish],
                                 stdout=subprocess.PIPE, text=True)
        try:
            assert fleet.stdout.readline() == "ready\n"
            with daemon:
                assert fleet.stdout.readline() == "connected\n"
                return looked_at(d, daemon, fleet, targets, seconds)
        finally:
            fleet.kill()
            fleet.wait()


def looked_at(d, daemon, fleet, targets, seconds):
    name = f"service-{targets * 7 // 10}"
    export = subprocess.Popen([CLIENT, "export", "--connect", daemon.publish, "--listen", f"unix:{d}/metrics", "--journal", "off",
                               "--log-level", "error"])
    try:
        with Web("--connect", daemon.publish) as web, Terminal(d, CLIENT, "top", "--connect", daemon.publish, width=160, height=50) as terminal:
            began = time.monotonic()
            top = int(terminal.tmux("display-message", "-p", "-t", "t", "#{pane_pid}"))
            watched = {"daemon": Watched(daemon.process.pid), "export": Watched(export.pid), "web": Watched(web.process.pid),
                       "top": Watched(top)}
            time.sleep(max(0, seconds - (time.monotonic() - began)))
            f = {f"{who}_{what}": getattr(w, what)() for who, w in watched.items() for what in ("share", "mib")}
            f["scrape_ms"], f["samples"] = scrape(f"{d}/metrics")
            f["picture_ms"], f["search_ms"] = page(web, name)
            f["console_ms"] = console(terminal, name)
    finally:
        export.terminate()
        export.wait()
    line = fleet.stdout.readline()
    assert line, "bench_fleet ended early"
    return f | {k: int(v) for k, v in (w.split("=") for w in line.split())}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--targets", type=int, default=1000)
    p.add_argument("--bands", type=int, default=200)
    p.add_argument("--seconds", type=int, default=60)
    o = p.parse_args()
    for key, value in figures(o.targets, o.bands, o.seconds).items():
        print(f"{key:<20} {value:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
