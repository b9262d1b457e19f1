# SPDX-License-Identifier: BSD-3-Clause
"""`heapwatch export` into the real engines of Debian: Prometheus and VictoriaMetrics.

Each is stopped and started again while it is fed. Afterwards it has every collection, and the values that the exporter had
(VictoriaMetrics keeps 13 digits).
An engine that is not installed is skipped: make check-fleet installs all of them.
"""
import contextlib
import json
import math
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import pytest

from harness import DEADLINE_S, LOGS, Daemon, free_ports, wait_for
from test_export import Export, unchanging

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
        (self.directory / "prometheus.yml").write_text("global: {}\n")
        self.url = f"http://127.0.0.1:{self.port}/api/v1/write"

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
            values = {round(t / 1e3): number(v) for t, v in zip(row["timestamps"], row["values"])}
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
