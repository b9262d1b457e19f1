# SPDX-License-Identifier: BSD-3-Clause
"""Commands to a program that serves its log by eventlog-socket: what the daemon sends, and what is said of its effect.

The program here is a server that does as the library's sources do: one connection, no answers, commands in one write each."""
import contextlib
import json
import re
import socket
import threading

import pytest

import terminal
import web_browser
from harness import Daemon, client, wait_for
from live_log import LiveLog
from test_web import Web

MAGIC = b"\xf0\x9e\x97\x8c\0"


class Program:
    """Serves a log; takes a census when it is asked for one, and while its heap profile is on, if it knows these commands."""

    def __init__(self, directory, knows=(3, 4, 5)):
        self.log, self.path, self.knows = LiveLog(directory / "served.eventlog"), directory / "es.sock", knows
        self.received, self.profiling, self.over, self.n = [], False, threading.Event(), 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen(1)

    def census(self):
        self.n += 1
        self.log.census({"FUN": 1000 + self.n})

    def serve(self):
        with contextlib.suppress(OSError):
            connection, _ = self.listener.accept()
            connection.settimeout(0.05)
            with connection, open(self.log.path, "rb") as written:
                while not self.over.is_set():
                    connection.sendall(written.read())
                    try:
                        data = connection.recv(256)
                    except TimeoutError:
                        data = None
                        self.log.live(1 << 20)
                    if data == b"":
                        return
                    if data:
                        self.obey(data)
                    if self.profiling:
                        self.census()

    def obey(self, data):
        assert data.startswith(MAGIC) and len(data) == 7 + data[5]
        space, code = data[6:-1].decode(), data[-1]
        self.received.append((space, code))
        if space == "eventlog-socket" and code in self.knows:
            self.profiling = {3: True, 4: False}.get(code, self.profiling)
            if code == 5:
                self.census()

    def __enter__(self):
        self.log.live(1 << 20)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)      # wakes accept()
        self.listener.close()
        self.thread.join()


@pytest.fixture
def program(directory):
    with Program(directory) as p:
        yield p


def ctl(daemon, *words):
    return client("ctl", *words, "--connect", daemon.publish)


def test_commands_and_their_effect(directory, program):
    with Daemon(directory, f"p=unix:{program.path}") as daemon:
        wait_for(lambda: daemon.snapshot("p").get("heap"), "its log")
        for i in range(2):
            done = ctl(daemon, "census", "p")
            assert done.returncode == 0, done.stderr
            assert re.fullmatch(rb"census: a census of p was seen .*s later\n", done.stdout)
        assert program.received == 2 * [("eventlog-socket", 5)]
        done = ctl(daemon, "program", "p", "heap-profile", "on")
        assert done.returncode == 0 and b"heap-profile on: a census of p was seen" in done.stdout
        done = ctl(daemon, "program", "p", "heap-profile", "off")
        assert done.returncode == 0 and b"heap-profile off: sent to p, and no census was seen for" in done.stdout, done.stdout
        done = ctl(daemon, "program", "p", "capabilities", "off")
        assert done.returncode == 1 and b"does not show whether" in done.stdout
        wait_for(lambda: program.received[2:] == [("eventlog-socket", n) for n in (3, 4, 0x13)], "the commands")
        with Web("--connect", daemon.publish, "--allow-control") as web:
            form = {"Content-Type": "application/x-www-form-urlencoded", "X-Heapwatch": "control"}
            ask = lambda action: web.ask("/api/control", method="POST", body=f"{action}&target=p", headers=form)
            status, _, body = wait_for(lambda: (a := ask("action=census"))[0] == 200 and a, "a census by the page")
            assert b"a census of p was seen" in body
            status, _, body = ask("action=program&command=heap-profile+on")
            assert status == 200 and "heap-profile on: a census of p was seen" in json.loads(body)["program"]
            assert ask("action=program&command=sing")[0] == 400
            state = json.loads(web.ask("/api/state?target=p")[2])
            commands = state["server"]["commands"]
            assert commands[0] == "census" and state["answers"][0]["commands"] == len(commands)
            listed = client("ctl", "--help").stdout.decode().split()
            assert {c.split()[0] for c in commands} <= {word.rstrip(";") for word in listed}, "the help has all"


def test_the_console_offers_all_commands(directory, program):
    with Daemon(directory, f"p=unix:{program.path}") as daemon, terminal.top(directory, "--connect", daemon.publish, "p") as t:
        t.wait("live")
        t.keys("C").wait("command, by up and down or typed: census")
        t.keys("Down").wait("typed: heap-profile on")
        t.keys("Down", "BSpace").wait("typed: heap-profile of")
        t.keys("Enter").wait("no such command")
        t.keys("Up", "Up", "Enter")      # the first that begins so, then the one before it
        t.wait("heap-profile on: a census of p was seen")
        assert program.received == [("eventlog-socket", 3)]


@pytest.mark.skipif(not web_browser.installed(), reason="needs chromium")
def test_the_page_offers_all_commands(directory, program):
    with Daemon(directory, f"p=unix:{program.path}") as daemon, web_browser.Web("--connect", daemon.publish, "--allow-control") as web, \
            web_browser.opened() as tab:
        tab.go(f"{web.url}#/detail?target=p")
        which = "document.querySelector('select[aria-label=\"Command to the program\"]')"
        tab.until(f"{which}?.checkVisibility() && {which}.options.length > 0")
        offered = tab.js(f"[...{which}.options].map((o) => o.value)")
        assert (offered[0], offered[-1]) == ("heap-profile on", "capabilities off") and "gc off" in offered
        tab.js(f"{which}.value = 'heap-profile on'")
        tab.click(selector="button >> text=Send")
        tab.until("/heap-profile on: a census of p was seen/.test(document.querySelector('main').innerText)")
        assert program.received == [("eventlog-socket", 3)] and tab.diagnostics() == []


def test_no_effect_is_said(directory):
    with Program(directory, knows=()) as program, Daemon(directory, f"p=unix:{program.path}") as daemon:
        wait_for(lambda: daemon.snapshot("p").get("heap"), "its log")
        done = ctl(daemon, "census", "p")
        assert done.returncode == 1 and b"no census was seen within 10" in done.stderr
        assert program.received == [("eventlog-socket", 5)]


def test_mistakes(directory, tmp_path):
    log = LiveLog(tmp_path / "a.eventlog")
    with Daemon(directory, f"f=file:{log.path}", f"gone=unix:{directory}/nobody.sock", f"a=unix:{directory}/agent") as daemon:
        for words, status, text in ((("f", "census"), 1, b"takes no commands"), (("gone", "census"), 1, b"is not connected"),
                                    (("a", "census"), 1, b"heapwatch ctl agent"), (("nobody", "census"), 1, b"there is no target"),
                                    (("f", "sing"), 2, b"unknown command 'sing'"), (("f", "gc"), 2, b"on or off")):
            done = ctl(daemon, "program", *words)
            assert (done.returncode, text in done.stderr) == (status, True), (words, done.stderr)


def test_an_alert_commands_the_program(directory, program):
    rules = directory / "rules.yaml"
    rules.write_text("groups:\n- name: g\n  rules:\n  - alert: big\n    expr: live > 1KiB\n    do: [census, program: heap-profile on]\n")
    with Daemon(directory, f"p=unix:{program.path}", args=("--rules", str(rules))) as daemon:
        wait_for(lambda: program.received == [("eventlog-socket", 5), ("eventlog-socket", 3)], "the census, then the profile")
        wait_for(lambda: b"heap-profile on: a census of p was seen" in client("alerts", "--connect", daemon.publish).stdout, "its result")
