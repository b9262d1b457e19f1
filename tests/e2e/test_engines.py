# SPDX-License-Identifier: BSD-3-Clause
"""`heapwatch export` into the real engines of Debian: Prometheus, VictoriaMetrics and node_exporter.

Each is stopped and started again while it is fed. Afterwards it has every collection, and the values that the exporter had
(VictoriaMetrics keeps 13 digits).
An engine that is not installed is skipped: make check-fleet installs all of them.
"""
import contextlib
import json
import math
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families

from harness import DEADLINE_S, LOGS, Daemon, client, free_ports, wait_for
from live_log import LiveLog
from test_export import RULES, Export, unchanging

LOG = LOGS / "leaky-hT-ghc9103" / "run.eventlog"


def get(url, data=None):
    with urllib.request.urlopen(url, data, timeout=DEADLINE_S) as answer:
        return answer.read().decode()


class Engine:
    """A server with its own directory and ports. `found()`: {(name, labels): {second: value}} of the target `api`."""
    program, kind, options = None, None, ""

    def __init__(self, directory):
        self.directory, self.process, self.port = directory / "engine", None, free_ports()
        self.directory.mkdir()
        self.configure()

    def configure(self):
        pass

    def __enter__(self):
        return self.start()

    def start(self):
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                            cwd=self.directory)
        wait_for(self.answers, f"{self.program} to answer")
        return self

    def stop(self):
        self.process.terminate()
        self.process.wait(DEADLINE_S)

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def answers(self):
        assert self.process.poll() is None, (self.directory / "log").read_text()
        with contextlib.suppress(OSError):
            return get(f"http://127.0.0.1:{self.port}{self.ready}") is not None
        return False


class Prometheus(Engine):
    program, kind, ready = "prometheus", "remote-write", "/-/ready"

    def configure(self):
        self.scraped = free_ports()     # by whatever listens there
        (self.directory / "prometheus.yml").write_text(
            "scrape_configs: [{job_name: scraped, scrape_interval: 1s, static_configs: "
            f"[{{targets: ['127.0.0.1:{self.scraped}']}}]}}]\n")
        self.url = f"http://127.0.0.1:{self.port}/api/v1/write"

    def values(self, query, since):
        """The values of a query at each half second since then: {labels: [value, ...]}."""
        query = urllib.parse.urlencode({"query": query, "start": since, "end": time.time() - 1, "step": 0.5})
        answer = json.loads(get(f"http://127.0.0.1:{self.port}/api/v1/query_range?{query}"))
        return {frozenset(r["metric"].items()): [float(v) for _, v in r["values"]] for r in answer["data"]["result"]}

    def command(self):
        return [self.program, f"--config.file={self.directory}/prometheus.yml", f"--storage.tsdb.path={self.directory}/data",
                f"--web.listen-address=127.0.0.1:{self.port}", "--web.enable-remote-write-receiver"]

    def found(self):
        query = urllib.parse.urlencode({"query": '{target="api"}[10m]'})
        answer = json.loads(get(f"http://127.0.0.1:{self.port}/api/v1/query?{query}"))
        return {key_of(r["metric"]): {round(t): float(v) for t, v in r["values"]} for r in answer["data"]["result"]}


class Victoria(Engine):
    program, kind, ready = "victoria-metrics", "remote-write", "/health"

    def configure(self):
        self.url = f"http://127.0.0.1:{self.port}/api/v1/write"

    def command(self):
        return [self.program, f"-storageDataPath={self.directory}/data", f"-httpListenAddr=127.0.0.1:{self.port}",
                "-retentionPeriod=1d"]

    def found(self, match='{target="api"}'):
        get(f"http://127.0.0.1:{self.port}/internal/force_flush")
        query = urllib.parse.urlencode({"match[]": match})
        found = {}
        for row in map(json.loads, get(f"http://127.0.0.1:{self.port}/api/v1/export?{query}").splitlines()):
            values = {round(t / 1e3): number(v) for t, v in zip(row["timestamps"], row["values"])
                      if v is not None}         # null: a mark that the series has ended
            if values:
                found.setdefault(key_of(row["metric"]), {}).update(values)      # a series has several rows
        return found


def number(value):
    return float({"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}.get(value, value))


def key_of(metric):
    """Name and labels as the textfile has them."""
    metric = dict(metric)
    name = metric.pop("__name__")
    assert metric.pop("host")
    return name, frozenset(metric.items())


@pytest.mark.parametrize("engine", [Prometheus, Victoria],
                         ids=lambda e: e.__name__)
def test_every_collection_arrives(directory, engine):
    if not shutil.which(engine.program):
        pytest.skip(f"needs {engine.program}: make check-fleet installs it")
    with Daemon(directory, f"api={LOG}") as daemon, engine(directory) as server:
        daemon.wait_state("api", "ENDED")
        with Export(directory, daemon, f"{{kind: {server.kind}, url: '{server.url}', timeout: 5s}}") as x:
            live = ("heapwatch_live_bytes", frozenset({("target", "api")}))
            first = wait_for(lambda: server.found().get(live), "the first collections")
            server.stop()
            wait_for(lambda: (x.own("failures_total", server.kind) or 0) > 0 and
                     (x.own("queued_samples", server.kind) or 0) > 500, "some that wait")
            server.start()
            wait_for(lambda: x.settled(server.kind), "an empty queue")
            newest = max(first)
            wait_for(lambda: max(server.found().get(live, {0: 0})) > newest + 3, "collections from behind the stop")
            assert x.own("samples_refused_total", server.kind) == x.own("samples_lost_total", server.kind) == 0
            expected = unchanging(x.of_target("api"))

            def wrong():
                found = server.found()
                return {k: (v, found.get(k)) for k, v in expected.items()
                        if not found.get(k) or not math.isclose(found[k][max(found[k])], v, rel_tol=1e-12)}
            wait_for(lambda: not wrong(), "the same values")
            seconds = sorted(server.found()[live])
            assert x.stop() == 0
    assert len(expected) > 90
    gaps = [b - a for a, b in zip(seconds, seconds[1:])]
    assert max(gaps) <= 2, gaps


class NodeExporter(Engine):
    program, ready = "prometheus-node-exporter", "/metrics"

    def command(self):
        return [self.program, "--collector.disable-defaults", "--collector.textfile",
                f"--collector.textfile.directory={self.directory}", f"--web.listen-address=127.0.0.1:{self.port}"]


def test_a_textfile_is_what_node_exporter_serves(directory):
    if not shutil.which(NodeExporter.program):
        pytest.skip(f"needs {NodeExporter.program}: make check-fleet installs it")
    with Daemon(directory, f"api={LOG}") as daemon, NodeExporter(directory) as server, Export(directory, daemon) as x:
        wait_for(lambda: x.of_target("api"), "the textfile")
        served = directory / "engine" / "heapwatch.prom"
        served.write_bytes(x.textfile.read_bytes())     # as it is now, so that both are of one collection
        samples = {(s.name, frozenset(s.labels.items())): s.value for f in text_string_to_metric_families(
            get(f"http://127.0.0.1:{server.port}/metrics")) for s in f.samples}
        assert samples["node_textfile_scrape_error", frozenset()] == 0
        x.textfile = served
        expected = x.sheet()
        assert len(expected) > 150 and not {k: (v, samples.get(k)) for k, v in expected.items() if samples.get(k) != v}


def test_remote_writes_are_what_is_scraped(directory):
    """At each point in time: the bands add up to the census, no alert or target outlives its end, nor anything the exporter."""
    if not shutil.which("prometheus"):
        pytest.skip("needs prometheus: make check-fleet installs it")
    log = LiveLog(directory / "live.eventlog")
    (directory / "rules.yaml").write_text(RULES)
    with Daemon(directory, f"live=file:{log.path}", f"api={LOG}", args=["--rules", directory / "rules.yaml"]) as daemon, \
            Prometheus(directory) as server, Export(
                directory, daemon, f"{{kind: remote-write, url: '{server.url}', bands: 3}}",
                f"{{kind: scrape, listen: '127.0.0.1:{server.scraped}', no_token: true, bands: 3}}") as x:
        began = time.time()

        def now(query):
            """{sent by (remote write: a host): value}"""
            found = server.values(f"sum by (host) ({query})", time.time() - 1.2)
            return {("sent" if labels else "scraped"): values[-1] for labels, values in found.items()}

        def run(turn, live):
            log.live(live)
            log.census({f"band {(turn * 3 + i) % 40}": 1000 * (i + 1) for i in range(9)})

        turn = 0

        def until(condition, what, live):
            def reached():
                nonlocal turn
                turn += 1
                run(turn, live)
                return condition()
            wait_for(reached, what, poll_s=0.5)
        until(lambda: now("heapwatch_alert") == {"sent": 1, "scraped": 1}, "an alert, by both ways", 20 << 20)
        until(lambda: turn >= 14 and now("heapwatch_census_bytes{target='live'}").keys() == {"sent", "scraped"} and
              not now("heapwatch_alert"), "its end", 1 << 10)
        kept = server.values("sum by (host) (heapwatch_band_bytes{target='live'}) - "
                             "on (host) heapwatch_census_bytes{target='live'}", began)
        assert len(kept) == 2 and all(len(values) > 4 and set(values) == {0} for values in kept.values()), kept
        assert client("remove", "live", "--connect", daemon.publish).returncode == 0
        wait_for(lambda: not now("{target='live'}"), "the end of a target")
        assert now("count by (host) ({target='api'})").keys() == {"sent", "scraped"}
        assert x.stop() == 0
        wait_for(lambda: not now("{target='api'}"), "the end of the exporter")
