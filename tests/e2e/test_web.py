# SPDX-License-Identifier: BSD-3-Clause
"""heapwatch web: the API, its guards and its bounds, against real daemons."""
import contextlib
import http.client
import itertools
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.parse

import pytest

from fake_daemon import FakeDaemon
from harness import CLIENT, DEADLINE_S, LOGS, VALGRIND, WATCHED, Daemon, client, pb, piped, private_directory, rss_bytes, wait_for, written
from live_log import LiveLog

pytestmark = pytest.mark.xdist_group("web")      # its tests share what runs

LEAKY = LOGS / "leaky-hT-ghc9103" / "run.eventlog"
HC = LOGS / "cc-hc-ghc9103" / "run.eventlog"


class Web:
    """One `heapwatch web` on a free port; without a token unless it must have one (`token`), which `ask` then sends."""

    def __init__(self, *args, token=False, listen="127.0.0.1:0"):
        token = token or "--allow-control" in args or "--token-file" in args
        self.process = subprocess.Popen(
            [CLIENT, "web", "--listen", listen, *([] if token else ["--no-token"]), *map(str, args)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        found = re.fullmatch(r"heapwatch web: (?:http://127\.0\.0\.1:(\d+)/|unix:\S+)(?: ?/?\?token=([0-9a-f]{48}))?\n", line)
        assert found, (line, self.process.stderr.read())
        self.port, self.token = int(found[1] or 0), found[2]
        self.host = f"127.0.0.1:{self.port}"

    def ask(self, path, method="GET", headers=None, body=None):
        """(status, headers, body) of one request."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE_S)
        known = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        try:
            c.request(method, path, body=body, headers=known if headers is None else {**known, **headers})
            r = c.getresponse()
            return r.status, r.headers, r.read()
        finally:
            c.close()

    def json(self, path, **kwargs):
        status, _, body = self.ask(path, **kwargs)
        assert status == 200, body
        return json.loads(body)

    def bodies(self, target=None, **kwargs):
        """Updates of the state by target and kind."""
        found = {}
        for tagged in self.json("/api/state", **kwargs)["updates"]:
            u = tagged["update"]
            kind = [k for k in u if k not in ("target", "run", "eventTimeNs", "publishedWallNs")][0]
            found[(u.get("target"), kind)] = u[kind]
        return found

    def raw(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE_S)

    def history(self, **parameters):
        return self.json("/api/history?" + urllib.parse.urlencode(parameters, doseq=True))["items"]

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(DEADLINE_S)
        self.process.stdout.close()
        self.process.stderr.close()
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        assert self.stop() == -signal.SIGTERM


class Stream:
    """Server-sent events of one connection, parsed."""

    def __init__(self, web, query="", small=False):
        self.socket = socket.socket()
        self.socket.settimeout(DEADLINE_S)
        if small:  # the kernel holds little for it
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        self.socket.connect(("127.0.0.1", web.port))
        self.socket.sendall(f"GET /api/stream{query} HTTP/1.1\r\nHost: {web.host}\r\n\r\n".encode())
        self.response = http.client.HTTPResponse(self.socket)
        self.response.begin()
        self.held = bytearray()     # was taken, and is in no event yet

    def take(self):
        """What the kernel has of it, 128 KiB at most."""
        data = self.response.read1(1 << 17)
        assert data, "the server has ended the stream"
        self.held += data
        return data

    def line(self):
        while (end := self.held.find(b"\n")) < 0:
            self.take()
        line = self.held[:end].decode()
        del self.held[:end + 1]
        return line

    def event(self):
        """(name, data) of the next event; comments are passed over."""
        name, data = None, []
        while True:
            line = self.line()
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                data.append(line[6:])
            elif not line and name:
                return name, json.loads("\n".join(data))

    def until(self, condition):
        while True:
            name, data = self.event()
            if condition(name, data):
                return name, data

    def close(self):
        self.response.close()
        self.socket.close()


@contextlib.contextmanager
def following(*targets):
    """A daemon that has read its targets to the end, and a web server that knows it."""
    with private_directory() as d, Daemon(d, *targets) as daemon:
        for t in targets:
            daemon.wait_state(t.split("=")[0], "ENDED", "CRASHED")
        with Web("--connect", daemon.publish) as web:
            wait_for(lambda: len(web.json("/api/targets")) == len(targets), "all targets")
            name = targets[0].split("=")[0]
            wait_for(lambda: "times" in web.history(target=name, series="live")[0], "history")
            yield daemon, web


@pytest.fixture(scope="module")
def served():
    with following(f"leaky={LEAKY}", f"hc={HC}") as both:
        yield both


# ---------------------------------------------------------------- the data

def test_state_is_what_the_daemon_says(served):
    daemon, web = served
    snapshot = daemon.snapshot("leaky")
    wait_for(lambda: ("leaky", "census") in web.bodies(), "the census")
    bodies = web.bodies()
    assert bodies[("leaky", "heap")]["liveBytes"] == str(snapshot["heap"][0].heap.live_bytes)
    assert bodies[("leaky", "targetState")]["runInfo"]["program"] == "leaky"
    labels = {b.id: b.label for u in snapshot["bands"] for b in u.bands.bands}
    assert {b["id"]: b["label"] for b in bodies[("leaky", "bands")]["bands"]} == labels
    assert bodies[("leaky", "census")]["totalBytes"] == str(snapshot["census"][0].census.total_bytes)
    assert [n["text"] for n in bodies[("leaky", "notes")]["notes"]] == \
        [n.text for u in snapshot["notes"] for n in u.notes.notes]


def test_numbers_are_worded_and_explained(served):
    """Each that the table of facts has, and as the other faces write it."""
    daemon, web = served
    state = web.json("/api/state?detail=leaky")
    [said] = [a["numbers"] for a in state["answers"] if a["target"] == "leaky"]
    assert len(said) > 30 and set(said) <= set(state["numbers"]) and all(h.endswith(".") for h in state["numbers"].values())
    live = daemon.snapshot("leaky")["heap"][0].heap.live_bytes
    summary = client("summary", "leaky", env={"HEAPWATCH_DIR": str(daemon.directory)}).stdout.decode()
    assert said["live_bytes"][0] == live
    for name, unit in (("live_max_bytes", r"[0-9.]+ [KM]iB"), ("gc_share_run", r"[0-9.]+ %"), ("gc_pauses_ns", r"[0-9.]+ [mu]?s"), ("stream_events", "[0-9,]+")):
        assert re.fullmatch(unit, said[name][1]), said[name]
    assert said["live_max_bytes"][1] in summary


def test_detail_leaves_out_the_large_parts(served):
    _, web = served
    kinds = {(u["update"].get("target"), k) for u in web.json("/api/state?detail=")["updates"] for k in u["update"]}
    assert ("leaky", "targetState") in kinds and not {("leaky", "heap"), ("leaky", "bands")} & kinds
    kinds = {(u["update"].get("target"), k) for u in web.json("/api/state?detail=0:leaky")["updates"]
             for k in u["update"]}
    assert ("leaky", "bands") in kinds and ("hc", "bands") not in kinds and ("hc", "targetState") in kinds
    state = web.json("/api/state?detail=")
    rows = [u["update"] for u in state["updates"] if u["update"].get("target") == "hc"]
    row = {name: body for u in rows for name, body in u.items()}
    [said] = [a for a in state["answers"] if a["target"] == "hc"]
    assert set(row["targetState"]["runInfo"]) == {"program", "startWallNs"}
    assert set(said["numbers"]) <= {"live_bytes", "heap_size_bytes", "resident_bytes", "gc_share", "gc_share_run"}
    assert str(said["numbers"]["live_bytes"][0]) == web.bodies()[("hc", "heap")]["liveBytes"]
    assert sum(len(json.dumps(u)) for u in [*rows, said]) < 2048, "a thousand of them are 1 to 2 MB"
    assert web.ask("/api/state?detail=a/b")[0] == 400


def test_history_equals_ctl_history(served):
    daemon, web = served
    for series, step in (("live", None), ("heap_size", 1), ("gc_pause", 2), ("census_total", None)):
        arguments = ["--step", f"{step}s"] if step else []
        done = client("ctl", "--connect", daemon.publish, "--format", "json", *arguments, "history", "leaky", series)
        points = json.loads(done.stdout)["history"]["points"]
        item = web.history(target="leaky", series=series, **({"step": step} if step else {}))[0]
        assert item["times"] == [int(p["timeNs"]) / 1e9 for p in points], series
        assert item["last"] == [p["last"] for p in points]
        if "min" in item:
            assert item["min"] == [p["min"] for p in points] and item["max"] == [p["max"] for p in points]
            assert item["mean"] == pytest.approx([p["mean"] for p in points], abs=0.51)
        else:
            assert all(p["min"] == p["max"] == p["last"] for p in points)


def test_history_of_bands_is_that_of_censuses(served):
    """Bands and total at the same times, each with what a census had: the client that prints messages says which."""
    _, web = served
    rows = {int(u["census"]["timeNs"]): dict(zip(u["census"]["band"], map(int, u["census"]["bytes"])))
            for u in piped(LEAKY) if "census" in u and not u["census"].get("unfinished")}
    total, *bands = web.history(target="leaky", band="0", bands="top5")
    assert total["label"] == "total" and total["times"] and len(bands) == 5
    ends = [round(t * 1e9) for t in total.get("ends", total["times"])]
    assert total["last"] == [sum(rows[t].values()) for t in ends]
    for item in bands:
        assert (item["times"], item.get("ends")) == (total["times"], total.get("ends"))
        assert item["last"] == pytest.approx([rows[t].get(item["band"], 0) for t in ends], rel=1e-6)


def test_trends_of_bands_can_be_left_out(served):
    _, web = served
    trends = lambda query: [t for u in web.json("/api/state" + query)["updates"]                         # noqa: E731
                            for t in u["update"].get("trends", {}).get("trends", [])]
    assert any("band" in t for t in trends("")) and any("band" in t for t in trends("?detail=leaky"))
    assert not any("band" in t for t in trends("?detail=leaky&trends=series")) and trends("?detail=leaky&trends=series")


def test_top_bands_in_one_request(served):
    daemon, web = served
    census = daemon.snapshot("leaky")["census"][0].census
    largest = sorted(zip(census.bytes, census.band), key=lambda x: (-x[0], x[1]))[:5]
    items = web.history(target="leaky", series="live,census_total", bands="top5", **{"from": -3600})
    assert [i.get("series") for i in items[:2]] == ["live", "census_total"]
    assert [i["band"] for i in items[2:]] == [band for _, band in largest]
    assert [i["last"][-1] for i in items[2:]] == [size for size, _ in largest]
    assert all(i["label"] for i in items[2:])


def test_a_large_fleet_is_answered_of_as_a_small_one(served):
    """Of more than 16 targets the server keeps the past of those that were asked about last: of the others the daemon has it."""
    daemon, small = served
    said = [n.text for u in daemon.snapshot("leaky")["notes"] for n in u.notes.notes]
    alone = [(i["label"], i["last"]) for i in small.history(target="leaky", band="0", bands="top5")]
    names = [f"t{i:02}" for i in range(18)]
    with following(*(f"{name}={LEAKY}" for name in names)) as (_, web):
        wait_for(lambda: all((name, "census") in web.bodies() for name in names), "all censuses")
        for name in names + names[:1]:
            assert [(i["label"], i["last"]) for i in web.history(target=name, band="0", bands="top5")] == alone
        bodies = web.bodies()
        assert said and all([n["text"] for n in bodies[(name, "notes")]["notes"]] == said for name in names)


def test_history_says_what_is_wrong(served):
    _, web = served
    for query in ("", "target=leaky", "target=leaky&series=lve", "target=leaky&band=x", "series=live", "target=%FF&series=live",
                  "target=leaky&series=live&from=x"):
        status, _, body = web.ask("/api/history?" + query)
        assert status == 400 and "expected" in json.loads(body)["error"], query
    item = web.history(target="nobody", series="live")[0]
    assert item["error"] == "there is no target of that name" and "times" not in item
    item = web.history(target="leaky", band=19999)[0]
    assert "no band" in item["error"]


def test_files_need_no_daemon():
    updates = piped(LEAKY)
    with Web(LEAKY) as web:
        stream = Stream(web)
        stream.until(lambda name, data: name == "end")
        stream.close()
        state = web.json("/api/state")
        assert state["server"]["live"] is False and state["daemons"][0]["stale"] is False
        samples = [(int(t), int(v)) for u in updates if "heap" in u for s in u["heap"].get("samples", [])
                   if s["series"] == "SERIES_LIVE" for t, v in zip(s["timesNs"], s["values"])]
        item = web.history(target="run", series="live")[0]
        assert [round(t * 1e9) for t in item["times"]] == [t for t, _ in sorted(samples)]
        assert item["last"] == [v for _, v in sorted(samples)]
        few = web.history(target="run", series="live", points=10)[0]
        assert 1 < len(few["times"]) <= 12 < len(item["times"]), "points bound an answer, extremes stay"
        assert few["last"][-1] == item["last"][-1] and max(few["max"]) == max(item["last"])
        assert web.ask("/api/history?target=run&series=live&points=0")[0] == 400
        censuses = [u["census"] for u in updates if "census" in u]
        band = censuses[-1]["band"][0]
        item = web.history(target="run", band=band)[0]
        assert item["last"] == [dict(zip(c["band"], map(int, c["bytes"]))).get(band, 0) for c in censuses]
        assert item["stats"]["censuses"] == len(censuses)
        assert item["stats"]["sum"] == sum(item["last"])


# ------------------------------------------------------------- what is refused

def ask_query(web, sql, *targets):
    status, _, body = web.ask("/api/query?" + urllib.parse.urlencode([("sql", sql), *(("target", t) for t in targets)]))
    return status, json.loads(body)


def test_queries_are_answered_as_by_the_command(served):
    d, web = served
    sql = "SELECT name, count(*) AS n, max(bytes) AS most FROM bands GROUP BY name ORDER BY name"
    want = json.loads(client("query", "--connect", d.publish, "--format", "json", sql, "hc").stdout)
    assert len(want) > 3 and ask_query(web, sql, "0:hc") == (200, {"cut": False, "units": {"name": "", "n": "", "most": "B"}, "rows": want})
    both = "SELECT DISTINCT source FROM facts ORDER BY 1"
    assert ask_query(web, both, "hc", "leaky")[1]["rows"] == [{"source": "hc"}, {"source": "leaky"}]


def test_sources_of_a_query_have_the_names_of_the_page():
    with Web(LEAKY, LOGS / "leaky-hT-ghc966" / LEAKY.name) as web:
        names = wait_for(lambda: len(t := web.json("/api/targets")) == 2 and [x["target"] for x in t], "both logs")
        sources = [re.sub(r"\W", "_", name) for name in names]
        rows = ask_query(web, "SELECT source, count(*) AS n FROM bands GROUP BY 1", *names)[1]["rows"]
        assert {r["source"] for r in rows} == set(sources)
        assert ask_query(web, f"SELECT count(*) AS n FROM {sources[1]}.bands", *names)[1]["rows"][0]["n"] in {r["n"] for r in rows}
        assert len(ask_query(web, "SELECT DISTINCT source FROM runs", names[0], names[0])[1]["rows"]) == 2


def test_what_a_query_says_beside_its_rows():
    with Web(LOGS / "steady-gc-ghc9103" / LEAKY.name) as web:
        name = wait_for(lambda: web.json("/api/targets"), "the log")[0]["target"]
        answer = ask_query(web, "SELECT * FROM bands", name)[1]
        assert answer["rows"] == [] and "no heap census" in answer["said"], answer


def test_a_query_of_a_target_and_of_its_archived_runs(directory):
    db = directory / "archive.db"
    for log in (LEAKY, LOGS / "leaky-hT-ghc966" / LEAKY.name):
        assert client("archive", "--db", db, "--target", "hc", log).returncode == 0
    sql = "SELECT source, count(DISTINCT run) AS runs, max(max) AS most FROM series WHERE series = 'live' GROUP BY 1 ORDER BY 1"
    want = json.loads(client("query", sql, "--format", "json", "--db", db, f"hc={HC}", "hc_archived=hc@all").stdout)
    assert [(r["source"], r["runs"]) for r in want] == [("hc", 1), ("hc_archived", 2)]
    with Daemon(directory, f"hc=file:{HC}") as d, Web("--connect", d.publish, "--db", db) as web:
        d.wait_state("hc", "ENDED")
        wait_for(lambda: web.json("/api/targets"), "the target")
        assert ask_query(web, sql, "0:hc", "0:hc@all")[1]["rows"] == want
        assert ask_query(web, "SELECT DISTINCT source FROM hc_archived.runs", "hc@run:0")[1]["rows"] == [{"source": "hc_archived"}]
        for target, said in (("hc@never", "is not a time in an archive"), ("other@all", "no target other"), ("hc@" + 80 * "x", "expected TARGET@WHEN")):
            status, answer = ask_query(web, sql, target)
            assert status == 400 and said in answer["error"], answer
    with Web(LEAKY) as web:
        name = wait_for(lambda: web.json("/api/targets"), "the log")[0]["target"]
        assert "no archive" in ask_query(web, sql, f"{name}@all")[1]["error"]


def test_queries_of_files_and_what_they_may_not():
    with Web(LEAKY) as web:
        wait_for(lambda: web.json("/api/targets"), "the log")
        name, = (t["target"] for t in web.json("/api/targets"))
        assert ask_query(web, "SELECT DISTINCT target FROM series", name)[1]["rows"] == [{"target": name}]
        status, answer = ask_query(web, "SELECT serie FROM series", name)
        assert status == 400 and answer["error"].split("\n")[1:] == ["    SELECT serie FROM series", "           ^"]
        for sql, said in (("ATTACH 'x' AS y", "not authorized"), ("DELETE FROM series", ""), ("SELECT load_extension('x')", "not authorized"), ("", "expected sql")):
            status, answer = ask_query(web, sql, name)
            assert status == 400 and said in answer["error"], (sql, answer)
        assert ask_query(web, "SELECT 1", "other") == (400, {"error": "there is no target other"})
        assert ask_query(web, "SELECT 1")[0] == 400
        numbers = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT i FROM c"
        status, answer = ask_query(web, numbers, name)
        assert status == 200 and answer["cut"] and answer["rows"][-1] == {"i": len(answer["rows"])}


def test_headers_of_every_answer(served):
    _, web = served
    for path in ("/", "/api/state", "/nothing", "/api/history", "/api/stream"):
        status, headers, _ = web.ask(path, method="HEAD")
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy, path
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["Cache-Control"] == "no-store"
        assert headers["Access-Control-Allow-Origin"] is None
    get, head = web.ask("/api/targets"), web.ask("/api/targets", method="HEAD")
    assert head[2] == b"" and head[1]["Content-Length"] == get[1]["Content-Length"]


def test_hosts_and_origins(served):
    _, web = served
    for host, status in (("evil.example", 421), (f"evil.example:{web.port}", 421), ("", 421), (f"localhost:{web.port}", 200),
                         (f"[::1]:{web.port}", 200), ("127.0.0.1", 200), ("127.0.0.1.evil.example", 421),
                         ("192.0.2.1", 421), (f"10.0.0.1:{web.port}", 421), ("[2001:db8::1]", 421)):
        assert web.ask("/api/targets", headers={"Host": host})[0] == status, host
    for origin, status in (("http://evil.example", 403), ("null", 403), (f"http://{web.host}", 200)):
        assert web.ask("/api/targets", headers={"Origin": origin})[0] == status, origin
    with web.raw() as s:
        s.sendall(b"GET /api/targets HTTP/1.1\r\n\r\n")
        assert b" 421 " in s.recv(4096).split(b"\r\n")[0]
        s.close()
    with web.raw() as s:
        s.sendall(b"GET http://evil.example/api/targets HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert b" 400 " in s.recv(4096).split(b"\r\n")[0]


AMBIGUOUS = [b"Host: 127.0.0.1\r\nHost: evil.example", b"Host: 127.0.0.1\r\nhost: 127.0.0.1", b"Host: 127.0.0.1\r\nOrigin: http://a\r\nOrigin: http://b",
             b"Host: 127.0.0.1\r\nContent-Length: 0\r\nContent-Length: 0", b"Host: 127.0.0.1\r\nContent-Length: 0\r\nTransfer-Encoding: chunked"]


@pytest.mark.parametrize("headers", AMBIGUOUS)
def test_what_a_proxy_may_read_otherwise_is_refused(served, headers):
    with served[1].raw() as s:
        s.sendall(b"GET /api/targets HTTP/1.1\r\n" + headers + b"\r\n\r\n0\r\n\r\n")
        assert b" 400 " in s.recv(4096).split(b"\r\n")[0]


def half_closed(port, *paths):
    """What a client gets that ends its own half after its requests (nc -N): (headers, body) of each."""
    with socket.create_connection(("127.0.0.1", port), DEADLINE_S) as s:
        s.sendall(b"".join(b"GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" % p.encode() for p in paths))
        s.shutdown(socket.SHUT_WR)
        got = b"".join(iter(lambda: s.recv(1 << 16), b""))
    answers = []
    while got:
        head, got = got.split(b"\r\n\r\n", 1)
        length = int(re.search(rb"\r\nContent-Length: (\d+)", head)[1])
        answers.append((head, got[:length]))
        assert len(got) >= length, f"{len(got)} of {length} bytes"
        got = got[length:]
    return answers


def test_a_client_that_sends_no_more_gets_whole_answers(served):
    paths = "/", "/api/state", "/metrics", "/api/targets"
    for answers in (half_closed(served[1].port, *paths), [half_closed(served[1].port, p)[0] for p in paths]):
        assert len(answers) == len(paths) and all(b" 200 " in head for head, _ in answers)
        assert len(answers[1][1]) > 20000 and json.loads(answers[1][1])


def test_a_stream_goes_on_for_a_client_that_sends_no_more(served):
    with socket.create_connection(("127.0.0.1", served[1].port), DEADLINE_S) as s:
        s.sendall(b"GET /api/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        s.shutdown(socket.SHUT_WR)
        got = b""
        while got.count(b"event: updates") < 2:
            got += (more := s.recv(1 << 16))
            assert more, got[-300:]


def test_methods(served):
    _, web = served
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
        assert web.ask("/api/state", method=method)[0] in (405, 501), method
    assert web.ask("/api/state", method="POST", body="x")[0] == 405
    status, _, body = web.ask("/api/control", method="POST", body="action=remove&target=leaky",
                              headers={"X-Heapwatch": "control"})
    assert status == 403 and "--allow-control" in json.loads(body)["error"]
    assert len(web.json("/api/targets")) == 2


def test_sizes(served):
    _, web = served
    assert web.ask("/" + "x" * 5000)[0] in (400, 414)
    for junk in (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"y" * 100000 + b"\r\n\r\n",
                 b"POST /api/control HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999\r\n\r\n",
                 b"\x00\xff" * 3000, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n" + b"A: b\r\n" * 9000):
        with contextlib.suppress(ConnectionError), web.raw() as s:
            s.sendall(junk)
            s.shutdown(socket.SHUT_WR)
            answer = s.recv(4096)
            assert not answer or b" 4" in answer.split(b"\r\n")[0] or b" 5" in answer.split(b"\r\n")[0]
    assert len(web.json("/api/targets")) == 2


def test_history_is_not_asked_without_end(served):
    _, web = served
    # All at once, and without the daemon: one after the other a slow machine might not exceed the limit.
    with web.raw() as s:
        s.sendall(b"".join(b"GET /api/history?target=nobody&series=live&from=%d HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" % i
                           for i in range(400)))
        statuses, answers = set(), s.makefile("rb")
        while 429 not in statuses:
            statuses.add(int(answers.readline().split()[1]))
            answers.read(int(http.client.parse_headers(answers)["Content-Length"]))
    assert statuses == {200, 429}
    wait_for(lambda: web.ask("/api/history?target=leaky&series=live")[0] == 200, "the server's patience")


def test_many_connections_at_once(served):
    _, web = served
    idle = []
    try:
        for _ in range(300):  # more than it takes: the rest waits in the kernel
            idle.append(web.raw())
        for s in idle[:50]:
            s.close()
        del idle[:50]
        assert len(wait_for(lambda: web.json("/api/targets"), "an answer")) == 2
    finally:
        for s in idle:
            s.close()


# -------------------------------------------------------------------- tokens

def test_tokens():
    token = "correct-horse-battery"
    with private_directory() as d, Daemon(d) as daemon:
        (d / "token").write_text(token + "\n")
        (d / "token").chmod(0o600)
        with Web("--connect", daemon.publish, "--token-file", d / "token") as web:
            for path in ("/", "/api/state", "/api/stream", "/api/history"):
                status, headers, body = web.ask(path)
                assert status == 401 and headers["WWW-Authenticate"] == "Bearer" and token.encode() not in body
            assert web.ask("/api/state", headers={"Authorization": f"Bearer {token}"})[0] == 200
            assert web.ask("/api/state", headers={"Authorization": "Bearer correct-horse-batterz"})[0] == 401
            assert web.ask("/?token=wrong-horse-battery")[0] == 401
            assert web.ask(f"/api/state?token={token}")[0] == 401
            assert web.ask(f"/?token={token}&flag")[0] == web.ask(f"/?flag&token={token}&")[0] == 303
            status, headers, _ = web.ask(f"/?token={token}")
            assert status == 303 and headers["Location"] == "./"
            assert "HttpOnly" in headers["Set-Cookie"] and "SameSite=Strict" in headers["Set-Cookie"]
            cookie = headers["Set-Cookie"].split(";")[0]
            assert web.ask("/api/state", headers={"Cookie": f"a=b; {cookie}"})[0] == 200
            for again, kept in ((token, True), ("wrong-horse-battery", False)):     # a link that is opened again: out of the address all the same
                status, headers, _ = web.ask(f"/?token={again}", headers={"Cookie": cookie})
                assert (status, headers["Location"], "Set-Cookie" in headers) == (303, "./", kept)


def test_the_printed_address_has_the_token_once(served):
    """Another user of the machine gets nothing; the browser that opens the address gets a cookie, scripts a Bearer token."""
    daemon, _ = served
    with Web("--connect", daemon.publish, token=True) as web, Web("--connect", daemon.publish, token=True) as other:
        assert web.token and other.token and web.token != other.token
        for path in ("/", "/api/state", "/api/stream", "/api/history", "/api/targets", "/metrics", "/nothing"):
            status, _, body = web.ask(path, headers={"Authorization": ""})
            assert status == 401 and web.token.encode() not in body, path
        assert web.ask("/api/targets")[0] == 200
        status, headers, _ = web.ask(f"/?token={web.token}", headers={"Authorization": ""})
        name, value = headers["Set-Cookie"].split(";")[0].split("=")
        assert status == 303 and name == f"heapwatch-{web.port}" and value == web.token
        assert "HttpOnly" in headers["Set-Cookie"] and "SameSite=Strict" in headers["Set-Cookie"]
        # Cookies are not bound to ports: the browser sends both servers the same ones.
        both = {"Authorization": "", "Cookie": f"heapwatch-{other.port}={other.token}; {name}={value}"}
        assert web.ask("/api/targets", headers=both)[0] == other.ask("/api/targets", headers=both)[0] == 200
        secure = web.ask(f"/?token={web.token}", headers={"Authorization": "", "X-Forwarded-Proto": "https"})[1]
        assert "Secure" in secure["Set-Cookie"]


def test_token_files_are_private_and_regular(directory):
    token = written(directory / "token", "0123456789abcdef0123\n")
    for mode in (0o644, 0o640, 0o602):
        token.chmod(mode)
        done = client("web", "--token-file", token, LEAKY)
        assert done.returncode == 2 and "chmod 600" in done.stderr.decode(), oct(mode)
    os.mkfifo(directory / "fifo", 0o600)
    for path in ("fifo", "."):
        done = client("web", "--token-file", directory / path, LEAKY)
        assert done.returncode == 2 and "regular file" in done.stderr.decode(), path


def test_a_unix_socket_for_a_proxy(directory):
    path = directory / "web.sock"

    def ask(host, authorization=""):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(DEADLINE_S)
            s.connect(str(path))
            s.sendall(f"GET /api/targets HTTP/1.1\r\nHost: {host}\r\nAuthorization: {authorization}\r\n"
                      "Connection: close\r\n\r\n".encode())
            return int(s.makefile("rb").read().split()[1])

    with socket.socket(socket.AF_UNIX) as left_over:      # of a server that was killed
        left_over.bind(str(path))
    with Web("--host", "watch.example", LEAKY, token=True, listen=f"unix:{path}") as web:
        assert path.stat().st_mode & 0o777 == 0o660
        bearer = f"Bearer {web.token}"
        assert [ask(host, bearer) for host in ("watch.example", "localhost", "127.0.0.1", "evil.example")] == \
            [200, 200, 421, 421]
        assert ask("watch.example") == 401
        done = client("web", "--listen", f"unix:{path}", LEAKY)
        assert done.returncode == 2 and "in use" in done.stderr.decode()
    assert not path.exists()


# ----------------------------------------------------------- what they may cost

def answered_within(web, seconds):
    """
    Whether a new connection gets its answer in that time, at best of some tries: the machine has other work. All of them before slow
    connections meet their own deadline of 10 s, which lets others in, too.
    """
    end = time.monotonic() + 8
    while time.monotonic() < end:
        began = time.monotonic()
        assert web.json("/api/targets")
        if time.monotonic() - began < seconds:
            return True
    return False


def test_slow_connections_give_way(served):
    """400 that send a byte now and then, and 400 that read no answer: the next one has its answer long before their deadline."""
    _, web = served
    answers = 5 if VALGRIND else 100       # of each that reads none
    for request in (b"GET /api/state HT", b"", b"GET /api/state HTTP/1.1\r\nHost: localhost\r\n\r\n" * answers,
                    b"POST /api/control HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\nx"):
        with contextlib.ExitStack() as open_ones:
            slow = [open_ones.enter_context(web.raw()) for _ in range(400)]     # more than there are places
            for s in slow:
                with contextlib.suppress(ConnectionError):      # it has given way
                    s.sendall(request)
            assert answered_within(web, DEADLINE_S if VALGRIND else 4), request[:20]


def test_a_request_has_a_deadline(served):
    """A head or a body that comes byte by byte is closed, although something comes all the time."""
    _, web = served
    starts = (b"GET / HTTP/1.1\r\nX: ", b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n")
    with contextlib.ExitStack() as open_ones:
        began, slow = time.monotonic(), [open_ones.enter_context(web.raw()) for _ in starts]
        for s, start in zip(slow, starts):
            s.sendall(start)
            s.settimeout(0.1)

        def is_closed(s):
            try:
                s.sendall(b"y")
                return s.recv(4096) == b""
            except (TimeoutError, ConnectionError) as e:
                return not isinstance(e, TimeoutError)

        while slow:
            assert time.monotonic() - began < DEADLINE_S, "a request that never ends is waited for"
            slow = [s for s in slow if not is_closed(s)]
    assert time.monotonic() - began > 5


@pytest.mark.skipif(WATCHED, reason="a sanitizer's memory is not the program's")
def test_unread_answers_are_bounded_together():
    """250 that ask for a state of two megabytes and read nothing."""
    batches = iter(range(3))

    def large(pb, tick):
        update = pb.Update(run=1, event_time_ns=10**9 + tick)
        for batch in itertools.islice(batches, 1 if fake.requests else 0):      # once somebody listens
            for i in range(30):
                update.notes.notes.add(number=30 * batch + i + 1, time_ns=10**9, what=pb.Note.WHAT_MARKER, text="x" * 30000)
        return [update]

    with contextlib.ExitStack() as stack:
        fake = FakeDaemon(pb, stack.enter_context(private_directory()), {"api": large})
        stack.enter_context(fake)
        web = stack.enter_context(Web("--connect", fake.endpoint))
        wait_for(lambda: len(web.ask("/api/state")[2]) > 2_000_000, "a large state")
        with contextlib.ExitStack() as open_ones:
            for _ in range(250):
                s = open_ones.enter_context(web.raw())
                with contextlib.suppress(ConnectionError):
                    s.sendall(b"GET /api/state HTTP/1.1\r\nHost: localhost\r\n\r\n")
            wait_for(lambda: web.ask("/api/targets")[0] == 200, "an answer to somebody who reads")
            assert rss_bytes(web.process.pid) < 220 << 20


def test_usage():
    for arguments, words in ((["--no-token", "--allow-control"], "--no-token"), (["--listen", "unix:x"], "unix:PATH"),
                             (["--no-token", "--token-file", "/x"], "exclude"),
                             (["--no-token", "--listen", "0.0.0.0:0"], "--token-file"),
                             (["--listen", "0.0.0.0:0"], "--token-file"), (["--listen", "nonsense"], "ADDRESS:PORT"),
                             (["--listen", "127.0.0.1:99999"], "ADDRESS:PORT"), (["--token-file", "/nonexistent"], "No such"),
                             (["--connect", "ipc:///x", "some.eventlog"], "exclude"), (["--lisen", "x"], "--help"),
                             (["x.eventlog", "--allow-control"], "daemons"), (["--connect", "nonsense"], "ipc://")):
        done = client("web", *arguments)
        assert done.returncode == 2 and words in done.stderr.decode(), (arguments, done.stderr)
    with Web("--connect", "ipc:///nonexistent/publish") as web:
        done = client("web", "--connect", "ipc:///nonexistent/publish", "--listen", web.host)
        assert done.returncode == 2 and "in use" in done.stderr.decode() and "--listen" in done.stderr.decode()


def test_control():
    with private_directory() as d, Daemon(d) as daemon, Web("--connect", daemon.publish, "--allow-control") as web:
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        add = urllib.parse.urlencode({"action": "add", "uri": str(LEAKY), "name": "new"})
        assert web.ask("/api/control", method="POST", body=add, headers=form)[0] == 403
        form["X-Heapwatch"] = "control"
        for kind in ({}, {"Content-Type": "text/plain"}, {"Content-Type": form["Content-Type"] + "x"}, {"Content-Type": "multipart/form-data"}):
            assert web.ask("/api/control", method="POST", body=add, headers={"X-Heapwatch": "control", **kind})[0] == 415
        form["Content-Type"] += "; charset=UTF-8"
        nobody = {"method": "POST", "body": "action=remove&target=nobody", "headers": form}
        wait_for(lambda: web.ask("/api/control", **nobody)[0] == 409, "the daemon's answer")
        assert web.json("/api/control", method="POST", body=add, headers=form)["done"]["target"] == "new"
        wait_for(lambda: [t["target"] for t in web.json("/api/targets")] == ["new"], "the new target")
        status, _, body = web.ask("/api/control", method="POST", body=add, headers=form)
        assert status == 409 and json.loads(body)["error"]
        assert web.json("/api/control", method="POST", body="action=silence&rule=leak&for=30m&why=known",
                        headers=form)["silences"]["silences"][0]["why"] == "known"
        web.json("/api/control", method="POST", body="action=unsilence&rule=leak", headers=form)
        status, _, body = web.ask("/api/control", method="POST", body="action=census&target=new", headers=form)
        assert status >= 400 and "where there is no agent" in json.loads(body)["error"], body
        assert web.ask("/api/control", method="POST", body="action=census&target=nobody", headers=form)[0] == 409
        profile = {"method": "POST", "body": "action=profile&target=new&for=1s", "headers": form}
        status, _, body = web.ask("/api/control", **profile)
        assert status == 409 and json.loads(body)["error"].startswith("new does not run now"), body
        assert web.ask("/api/control", method="POST", body="action=stop-profile&target=new", headers=form)[0] == 409
        assert web.json("/api/profile?target=new") == {"state": "none"} and web.ask("/api/profile")[0] == 400
        for bad in ("action=profile", "action=profile&target=new&for=61s", "action=profile&target=new&for=x", "action=profile&target=new&allocation=yes", "action=explode", "action=census", "action=add", "action=silence&rule=leak", "action=silence&rule=leak&for=long", "daemon=7&action=remove&target=new", "daemon=x", "%", ""):
            assert web.ask("/api/control", method="POST", body=bad, headers=form)[0] == 400, bad
        web.json("/api/control", method="POST", body="action=remove&target=new", headers=form)
        wait_for(lambda: web.json("/api/targets") == [], "the target's end")


def test_tokens_have_names_and_roles():
    roles = {"reader": "read", "oncall": "silence", "admin": "control"}
    tokens = {name: name * 4 for name in roles}
    with private_directory() as d, Daemon(d) as daemon:
        file = written(d / "tokens", "".join(f"{name} {role} {tokens[name]}\n" for name, role in roles.items()))
        file.chmod(0o600)
        with Web("--connect", daemon.publish, "--allow-control", "--token-file", file) as web:
            for name, role in roles.items():
                form = {"Content-Type": "application/x-www-form-urlencoded", "X-Heapwatch": "control",
                        "Authorization": f"Bearer {tokens[name]}"}
                assert web.ask("/api/state", headers={"Authorization": form["Authorization"]})[0] == 200
                for body, needs in (("action=silence&rule=leak&for=30m", "silence"), ("action=add&uri=/nowhere", "control")):
                    status, _, answer = web.ask("/api/control", method="POST", body=body, headers=form)
                    allowed = list(roles.values()).index(role) >= list(roles.values()).index(needs)
                    assert (status == 403) != allowed, (name, body, answer)
                    assert allowed or f"the token '{name}' has the role {role}; this needs {needs}" in answer.decode()
            assert web.ask("/api/state", headers={"Authorization": "Bearer " + "x" * 16})[0] == 401
            web.process.terminate()
            log = web.process.stderr.read()
            assert "audit action=silence of='leak' by=oncall from=127.0.0.1 outcome=done" in log, log
            assert "audit action=add of='/nowhere' by=oncall from=127.0.0.1 outcome=forbidden" in log
            assert not any(token in log for token in tokens.values())


# ------------------------------------------------------------------ the stream

def test_stream_begins_with_the_state_and_goes_on(served):
    _, web = served
    stream = Stream(web, "?detail=")
    name, state = stream.event()
    assert name == "state" and {u["update"].get("target") for u in state["updates"]} == {None, "leaky", "hc"}
    _, updates = stream.until(lambda name, data: name == "updates")
    assert all(set(u) == {"daemon", "update"} for u in updates)
    stream.close()


def test_many_browsers_hear_the_same():
    last = max(int(u["census"]["number"]) for u in piped(LEAKY) if "census" in u)
    with private_directory() as d, Daemon(d) as daemon, Web("--connect", daemon.publish) as web:
        wait_for(lambda: web.json("/api/state")["daemons"][0]["stale"] is False, "the daemon to be heard")
        streams = [Stream(web) for _ in range(20)]
        daemon.ask(pb.Request(add_target=pb.AddTargetRequest(name="late", uri=str(LEAKY))))
        found = [None] * len(streams)

        def follow(i):
            seen = []
            while True:
                name, data = streams[i].event()
                for u in data if name == "updates" else []:
                    if "census" in u["update"]:
                        seen.append(int(u["update"]["census"]["number"]))
                    if seen and seen[-1] == last:
                        found[i] = seen
                        return

        threads = [threading.Thread(target=follow, args=(i,), daemon=True) for i in range(len(streams))]
        for t in threads:
            t.start()
        for t in threads:
            t.join(DEADLINE_S)
        assert found[0] and all(f == found[0] for f in found), found
        for s in streams:
            s.close()
        assert len(web.json("/api/targets")) == 1


def test_a_target_that_came_later_says_that_it_has_no_alerts():
    with private_directory() as d, Daemon(d) as daemon, Web("--connect", daemon.publish) as web:
        wait_for(lambda: web.json("/api/state")["daemons"][0].get("stale") is False, "the daemon's first word")
        log = LiveLog(d / "t.eventlog")
        log.live(1 << 20)
        daemon.ask(pb.Request(add_target=pb.AddTargetRequest(name="t", uri=str(log.path))))
        wait_for(lambda: "alerts" not in web.bodies().get(("t", "alerts"), {"alerts": None}), "an empty list of alerts")


def test_daemon_restarted():
    with private_directory() as d:
        daemon = Daemon(d, f"leaky={LEAKY}").start()
        with Web("--connect", daemon.publish) as web:
            stream = Stream(web)
            wait_for(lambda: web.json("/api/targets"), "the target")
            daemon.stop(signal.SIGKILL)
            _, gone = stream.until(lambda name, data: name == "daemon" and data["stale"])
            assert int(gone["heardWallNs"]) > 0
            # On a busy machine it may have seemed gone too early: then it was back, and now it is gone for good.
            wait_for(lambda: web.json("/api/state")["daemons"][0]["stale"] is True, "the daemon to be given up")
            assert "error" in web.history(target="leaky", series="live")[0]
            assert web.bodies()[("leaky", "heap")], "what was known is still shown"
            daemon.targets = [f"other={HC}"]
            daemon.start()
            try:
                stream.until(lambda name, data: name == "forget" and data == {"daemon": 0})
                stream.until(lambda name, data: name == "updates" and
                             any(u["update"].get("target") == "other" for u in data))
                wait_for(lambda: [t["target"] for t in web.json("/api/targets")] == ["other"], "the new world")
                wait_for(lambda: "times" in web.history(target="other", series="heap_size")[0], "history again")
            finally:
                daemon.stop()
            stream.close()


def numbers(data):
    """Of the notes in a state or in updates; answers, and that nothing was heard of a daemon, have none."""
    return [int(n["number"]) for u in (data.get("updates", []) if isinstance(data, dict) else data)
            for n in u.get("update", {}).get("notes", {}).get("notes", [])]


def test_a_stalled_browser_is_skipped_to_the_newest():
    """It reads next to nothing while tens of megabytes happen; others are served, and then it gets the newest state."""
    flooding = threading.Event()

    def flood(pb, tick):
        update = pb.Update(run=1, event_time_ns=10**9 + tick)
        if not flooding.is_set():
            update.sched.threads_created = tick
            return [update]
        for i in range(30):
            update.notes.notes.add(number=30 * tick + i + 1, time_ns=10**9 + tick, what=pb.Note.WHAT_MARKER, text="x" * 50000)
        return [update]

    with private_directory() as d, FakeDaemon(pb, d, {"api": flood}) as fake, Web("--connect", fake.endpoint) as web:
        wait_for(lambda: web.json("/api/targets"), "the target")
        stalled, reader = Stream(web, small=True), Stream(web)
        assert stalled.event()[0] == reader.event()[0] == "state"
        flooding.set()
        first = newest = numbers(reader.until(lambda name, data: numbers(data))[1])[0]
        taken_s = time.monotonic()
        while newest < first + 600:  # 30 MB
            newest = max([newest, *map(int, re.findall(rb'"number":"(\d+)', reader.take()))])
            reader.held.clear()
            if time.monotonic() > taken_s + 2:      # one that takes nothing for 30 s is let go, and this may last longer
                stalled.take()
                taken_s = time.monotonic()
        flooding.clear()
        if not WATCHED:
            assert rss_bytes(web.process.pid) < 400 << 20
        # It gets the state as often as it has room for it, the newest at last, and not all that happened between.
        states, served, reached = 0, set(), 0
        while reached < newest:
            name, data = stalled.event()
            states += name == "state"
            if name == "updates":
                served.update(numbers(data))
            if name in ("state", "updates"):
                reached = max([reached, *numbers(data)])
        assert states > 0 and len(served) < newest - first, "it was skipped, not served late"
        stalled.close()
        reader.close()


HOSTILE = ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "\u202eevil\u202c", "a\x1b[31mred",
           "\u2028line", "L" * 30000, '"quoted\\', "<!--", "'single'", "&amp;"]


def hostile(pb, tick):
    bands = pb.Update(run=1, event_time_ns=10**9)
    for i, label in enumerate(HOSTILE):
        bands.bands.bands.add(id=i + 1, label=label)
    return [bands]


def test_hostile_labels_come_as_text():
    with private_directory() as d, FakeDaemon(pb, d, {"api": hostile}) as fake, Web("--connect", fake.endpoint) as web:
        bodies = wait_for(lambda: web.bodies().get(("api", "bands")), "the bands")
        assert [b["label"] for b in bodies["bands"]] == HOSTILE
        status, headers, body = web.ask("/api/state")
        assert headers["Content-Type"] == "application/json" and b"\x1b" not in body
        assert "\u202e".encode() not in body
        item = web.history(target="api", band=2, series="live")[1]
        assert item["label"] == HOSTILE[1]
