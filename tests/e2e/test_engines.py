# SPDX-License-Identifier: BSD-3-Clause
"""`heapwatch export` into the real engines of Debian: Prometheus, VictoriaMetrics, InfluxDB, carbon, collectd.

Each is stopped and started again while it is fed. Afterwards it has every collection, and the values that the exporter had
(VictoriaMetrics keeps 13 digits).
An engine that is not installed is skipped: make check-fleet installs all of them.
"""
import contextlib
import csv
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

    def expected(self, sheet):
        """The textfile as this engine can have it."""
        return sheet


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
        self.lines = free_ports()
        base = f"http://127.0.0.1:{self.port}"
        self.url = {"remote-write": f"{base}/api/v1/write", "influx": f"{base}/write?db=ghc",
                    "graphite": f"tcp://127.0.0.1:{self.lines}"}[self.kind]

    def command(self):
        return [self.program, f"-storageDataPath={self.directory}/data", f"-httpListenAddr=127.0.0.1:{self.port}",
                f"-graphiteListenAddr=127.0.0.1:{self.lines}", "-influxSkipSingleField", "-retentionPeriod=1d"]

    def found(self, match='{target="api"}'):
        get(f"http://127.0.0.1:{self.port}/internal/force_flush")
        query = urllib.parse.urlencode({"match[]": match})
        found = {}
        for row in map(json.loads, get(f"http://127.0.0.1:{self.port}/api/v1/export?{query}").splitlines()):
            values = {round(t / 1e3): number(v) for t, v in zip(row["timestamps"], row["values"])}
            found.setdefault(key_of(row["metric"]), {}).update(values)      # a series has several rows
        return found


class VictoriaInflux(Victoria):
    kind = "influx"

    def expected(self, sheet):
        return {k: v for k, v in sheet.items() if abs(v) != float("inf")}


class VictoriaGraphite(Victoria):
    kind = "graphite"

    def expected(self, sheet):
        return without_blanks(sheet)


class Influx(Engine):
    program, kind, ready = "influxd", "influx", "/ping"

    def configure(self):
        self.url = f"http://127.0.0.1:{self.port}/write?db=ghc"
        (self.directory / "influxdb.conf").write_text(f"""
reporting-disabled = true
bind-address = "127.0.0.1:{free_ports()}"
[meta]
  dir = "{self.directory}/meta"
[data]
  dir = "{self.directory}/data"
  wal-dir = "{self.directory}/wal"
[http]
  bind-address = "127.0.0.1:{self.port}"
  log-enabled = false
""")

    def command(self):
        return [self.program, "-config", str(self.directory / "influxdb.conf")]

    def start(self):
        super().start()
        self.query("CREATE DATABASE ghc", post=True)
        return self

    def query(self, text, post=False):
        url = f"http://127.0.0.1:{self.port}/query?" + urllib.parse.urlencode({"db": "ghc", "epoch": "ms", "q": text})
        return json.loads(get(url, b"" if post else None))["results"][0]

    def found(self):
        series = self.query("SELECT value FROM /.*/ WHERE target = 'api' GROUP BY *").get("series", [])
        return {key_of({"__name__": s["name"], **{k: v for k, v in s["tags"].items() if v}}):
                {round(t / 1e3): float(v) for t, v in s["values"]} for s in series}

    def expected(self, sheet):
        return {k: v for k, v in sheet.items() if abs(v) != float("inf")}


class Carbon(Engine):
    program, kind = "carbon-cache", "graphite"

    def configure(self):
        self.url = f"tcp://127.0.0.1:{self.port}"
        (self.directory / "storage-schemas.conf").write_text("[all]\npattern = .*\nretentions = 1s:1h\n")
        (self.directory / "carbon.conf").write_text(f"""
[cache]
STORAGE_DIR = {self.directory}
LOCAL_DATA_DIR = {self.directory}/whisper
CONF_DIR = {self.directory}
LOG_DIR = {self.directory}
PID_DIR = {self.directory}
USER =
MAX_CREATES_PER_MINUTE = inf
MAX_UPDATES_PER_SECOND = inf
LINE_RECEIVER_INTERFACE = 127.0.0.1
LINE_RECEIVER_PORT = {self.port}
PICKLE_RECEIVER_PORT = 0
CACHE_QUERY_INTERFACE = 127.0.0.1
CACHE_QUERY_PORT = {free_ports()}
ENABLE_TAGS = False
TAG_HASH_FILENAMES = False
""")

    def command(self):
        return [self.program, f"--config={self.directory}/carbon.conf", f"--pidfile={self.directory}/pid", "--nodaemon", "start"]

    def answers(self):
        import socket
        assert self.process.poll() is None, (self.directory / "log").read_text()
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 5):
            return True
        return False

    def found(self):
        import whisper
        found = {}
        for path in (self.directory / "whisper").rglob("*.wsp"):
            name, *tags = path.stem.replace("_DOT_", ".").split(";")
            labels = dict(tag.split("=", 1) for tag in tags)
            with contextlib.suppress(whisper.CorruptWhisperFile):       # it is just being made
                (start, _, step), values = whisper.fetch(str(path), 0)
                found[key_of({"__name__": name, **labels})] = {start + i * step: v for i, v in enumerate(values) if v is not None}
        return found

    def expected(self, sheet):
        return without_blanks(sheet)


class Collectd(Engine):
    """It writes a gauge's last value once a second."""
    program, kind = "collectd", "statsd"

    def configure(self):
        self.url = f"udp://127.0.0.1:{self.port}"
        (self.directory / "collectd.conf").write_text(f"""
Hostname "here"
FQDNLookup false
BaseDir "{self.directory}"
PIDFile "{self.directory}/pid"
TypesDB "/usr/share/collectd/types.db"
Interval 1
LoadPlugin statsd
LoadPlugin csv
<Plugin statsd>
  Host "127.0.0.1"
  Port "{self.port}"
</Plugin>
<Plugin csv>
  DataDir "{self.directory}/csv"
  StoreRates false
</Plugin>
""")

    def command(self):
        return [self.program, "-f", "-C", str(self.directory / "collectd.conf")]

    def answers(self):
        assert self.process.poll() is None, (self.directory / "log").read_text()
        return True

    def values(self):
        """{name: the newest value}"""
        found = {}
        for path in (self.directory / "csv").rglob("gauge-*"):
            rows = list(csv.reader(path.read_text().splitlines()))
            if len(rows) > 1:
                found[path.name.removeprefix("gauge-").rsplit("-", 3)[0]] = float(rows[-1][1])
        return found


def number(value):
    return float({"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}.get(value, value))


def key_of(metric):
    """Name and labels as the textfile has them."""
    metric = dict(metric)
    name = metric.pop("__name__")
    assert metric.pop("host")
    metric.pop("db", None)
    return name, frozenset(metric.items())


def without_blanks(sheet):
    return {k: v for k, v in sheet.items() if abs(v) != float("inf") and
            not any(c in value for _, value in k[1] for c in " ~;")}


@pytest.mark.parametrize("engine", [Prometheus, Victoria, VictoriaInflux, VictoriaGraphite, Influx, Carbon],
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
            expected = unchanging(server.expected(x.of_target("api")))

            def wrong():
                found = server.found()
                return {k: (v, found.get(k)) for k, v in expected.items()
                        if not found.get(k) or not math.isclose(found[k][max(found[k])], v, rel_tol=1e-12)}
            wait_for(lambda: not wrong(), "the same values")
            seconds = sorted(server.found()[live])
            assert x.stop() == 0
    assert len(expected) > 90
    # What was written to a stream that the server closes at that moment cannot be known to be lost.
    gaps = [b - a for a, b in zip(seconds, seconds[1:])]
    assert max(gaps) <= (2 if server.url.startswith("http") else 4), gaps


def test_statsd(directory):
    if not shutil.which("collectd"):
        pytest.skip("needs collectd: make check-fleet installs it")
    with Daemon(directory, f"api={LOG}") as daemon, Collectd(directory) as server:
        daemon.wait_state("api", "ENDED")
        with Export(directory, daemon, f"{{kind: statsd, url: '{server.url}'}}", common=["labels: {host: h}"]) as x:
            wait_for(lambda: server.values().get("heapwatch_live_bytes.api.h"), "the first gauges")
            server.stop()
            wait_for(lambda: x.own("failures_total", "statsd"), "a datagram that nobody takes")
            server.start()
            expected = {f"{name}.api.h": v for (name, labels), v in unchanging(x.of_target("api")).items()
                        if labels == {("target", "api")}}
            assert len(expected) > 35

            def wrong():        # its file has six digits behind the point
                found = server.values()
                return [k for k, v in expected.items() if not math.isclose(found.get(k, math.nan), v, rel_tol=1e-12, abs_tol=1e-6)]
            wait_for(lambda: not wrong(), "the same values")
            assert x.own("samples_lost_total", "statsd") == 0
