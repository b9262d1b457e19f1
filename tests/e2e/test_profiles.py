# SPDX-License-Identifier: BSD-3-Clause
"""`heapwatch export --pyroscope`: a server that reads what comes as Pyroscope's /ingest does, by the published formats."""
import collections
import email
import http.server
import json
import os
import shutil
import socketserver
import threading
import urllib.parse

import pytest

from harness import LOGS, Daemon, client, wait_for
from test_convert import Pprof, Truth
from test_export import Export


class Pyroscope:
    """Profiles as they came: (application, labels, from, until, Pprof, configuration). `mode`: "ok", "busy", "wrong"."""

    def __init__(self):
        self.profiles, self.mode, self.refusals, outer = [], "ok", 0, self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if outer.mode == "ok":
                    outer.profiles.append(read(self.path, self.headers["Content-Type"], body))
                else:
                    outer.refusals += 1
                self.send_response({"ok": 200, "busy": 503, "wrong": 422}[outer.mode])
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/ingest"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def of(self, kind):
        return [p for p in list(self.profiles) if p[4].types[0][0] == kind]


def read(path, content_type, body):
    url = urllib.parse.urlsplit(path)
    assert url.path == "/ingest" and content_type.startswith("multipart/form-data; boundary=")
    query = {k: v for k, (v,) in urllib.parse.parse_qs(url.query, strict_parsing=True).items()}
    assert query["format"] == "pprof" and query["spyName"] == "heapwatch"
    name, _, labels = query["name"].partition("{")
    assert labels.endswith("}")
    labels = dict(label.split("=") for label in labels[:-1].split(","))
    form = {}
    for part in email.message_from_bytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body).get_payload():
        form[part.get_param("name", header="Content-Disposition")] = part.get_payload(decode=True)
    assert set(form) == {"profile", "sample_type_config"}
    return name, labels, int(query["from"]), int(query["until"]), Pprof(form["profile"]), json.loads(form["sample_type_config"])


def test_heap_bands(directory):
    """Each census once, bands and stacks as they are in the log."""
    truth = Truth("cc-hc-ghc9103")
    time_ns, census = truth.censuses[-1]
    with Pyroscope() as r, Daemon(directory, f"api={LOGS / 'cc-hc-ghc9103' / 'run.eventlog'}") as daemon:
        daemon.wait_state("api", "ENDED")
        with Export(directory, daemon, f"{{kind: pyroscope, url: '{r.url}'}}", common=["labels: {zone: 'a{b,c=d}'}"]) as x:
            wait_for(lambda: r.of("inuse_space"), "a profile")
            written = x.textfile.stat().st_mtime_ns if x.textfile.exists() else 0
            for _ in range(2):      # two more walks
                wait_for(lambda: x.textfile.exists() and x.textfile.stat().st_mtime_ns > written, "the next walk")
                written = x.textfile.stat().st_mtime_ns
            (name, labels, begin, end, profile, config), = r.of("inuse_space")
            assert x.own("samples_sent_total", "pyroscope") == len(profile.samples)
    assert name == "api" and labels == {"zone": "a_b_c_d_", "host": os.uname().nodename}
    assert profile.sums() == truth.by_name(census) and sum(profile.sums().values()) > 0
    wall_ns = int(truth.run["startWallNs"]) + time_ns
    assert profile.time == wall_ns and end == wall_ns // 10**9 and begin == end - 1
    assert config == {"inuse_space": {"units": "bytes", "display-name": "inuse_space", "aggregation": "average", "sampled": False}}


@pytest.mark.parametrize("fault", [None, "busy"])
def test_time_profile(directory, fault):
    """Ticks since the walk before: together all of them, each once, also when the server was busy."""
    run = "cc-p-ghc9103"
    truth, whole = Truth(run), (LOGS / run / "run.eventlog").read_bytes()
    log = directory / "api.eventlog"
    cuts = [len(whole) * tenths // 10 for tenths in (8, 9, 10)]      # the ticks are in the last quarter
    log.write_bytes(whole[:cuts[0]])
    before = collections.Counter()
    for line in client("convert", log, "--to", "collapsed").stdout.decode().splitlines():
        stack, _, n = line.rpartition(" ")
        before[tuple(stack.split(";"))] += int(n)

    def received():
        total = collections.Counter()
        for p in r.of("samples"):
            total.update(p[4].sums())
        return total

    expected = truth.ticks() - before
    with Pyroscope() as r, Daemon(directory, f"api={log}") as daemon:
        wait_for(lambda: daemon.target("api") and daemon.target("api").run_info.start_wall_ns, "the log to be read")
        with Export(directory, daemon, f"{{kind: pyroscope, url: '{r.url}'}}") as x:
            wait_for(lambda: x.own("queued_samples", "pyroscope") is not None and x.of_target("api"), "the first walk")
            for a, b in zip(cuts, cuts[1:]):
                r.mode = fault or "ok"
                with open(log, "ab") as f:
                    f.write(whole[a:b])
                if fault:
                    seen = r.refusals
                    wait_for(lambda: r.refusals > seen, "a refusal")
                    r.mode = "ok"
                wait_for(lambda: sum(received().values()) > 0 if b < len(whole) else received() == expected, "its ticks")
            assert x.own("samples_lost_total", "pyroscope") == x.own("samples_refused_total", "pyroscope") == 0
    assert sum(expected.values()) > 20 and received() == expected
    profiles = r.of("samples")
    assert len(profiles) >= 2 and all(p[4].types == [("samples", "count"), ("cpu", "nanoseconds")] for p in profiles)
    assert all(a[3] <= b[2] + 1 and a[2] <= a[3] for a, b in zip(profiles, profiles[1:]))
    assert all(p[5] == {"samples": {"units": "samples", "display-name": "cpu", "aggregation": "sum", "sampled": True}} for p in profiles)


def test_what_a_journal_holds_is_sent_by_the_next_exporter(directory):
    shutil.copy(LOGS / "cc-hc-ghc9103" / "run.eventlog", directory / "api.eventlog")
    with Pyroscope() as r, Daemon(directory, f"api={directory}/api.eventlog") as daemon:
        daemon.wait_state("api", "ENDED")
        r.mode = "busy"
        x = Export(directory, daemon, f"{{kind: pyroscope, url: '{r.url}'}}")
        with x:
            wait_for(lambda: r.refusals, "a refusal")
        r.mode = "ok"
        with x:
            wait_for(lambda: len(r.of("inuse_space")) >= 2, "the one that waited, and its own")
            assert r.profiles[0][4].sums() == r.profiles[1][4].sums()


def test_what_is_refused_is_left_out(directory):
    with Pyroscope() as r, Daemon(directory, f"api={LOGS / 'cc-hc-ghc9103' / 'run.eventlog'}") as daemon:
        daemon.wait_state("api", "ENDED")
        r.mode = "wrong"
        with Export(directory, daemon, f"{{kind: pyroscope, url: '{r.url}'}}") as x:
            assert wait_for(lambda: x.own("samples_refused_total", "pyroscope"), "its count") >= 10
            assert "refused for good" in x.said() and "HTTP 422" in x.said()
