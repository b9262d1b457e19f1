# SPDX-License-Identifier: BSD-3-Clause
"""heapwatch export: every receiver gets the same numbers, and gets them all, whatever it does meanwhile."""
import contextlib
import shutil
import signal
import socket
import ssl
import subprocess
import urllib.error
import urllib.request

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families

from harness import CLIENT, DEADLINE_S, LOGS, Daemon, client, free_ports, wait_for
from live_log import LiveLog
from receivers import RW2, HTTP, of_otlp, of_remote_write, of_remote_write_2
from servers import certificate

LOG = LOGS / "leaky-hT-ghc9103" / "run.eventlog"
TOKEN = "0123456789abcdef0123"


class Export:
    """One exporter with its own configuration; `sinks` are lines of YAML."""

    def __init__(self, directory, daemon, *sinks, interval="1s", common=()):
        self.directory, self.config, self.log = directory, directory / "export.yaml", directory / "export.log"
        self.textfile = directory / "heapwatch.prom"
        sinks = [*sinks, f"{{kind: textfile, path: {self.textfile}}}"]
        self.config.write_text("\n".join([
            f"daemons: ['{daemon.publish}']", f"interval: {interval}", f"journal: {directory / 'journal'}", *common,
            "sinks:", *(f"- {s}" for s in sinks), ""]))
        self.process = None

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([CLIENT, "export", "--config", self.config], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)
        return self

    def stop(self, sig=signal.SIGTERM):
        self.process.send_signal(sig)
        return self.process.wait(DEADLINE_S)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def sheet(self):
        """The textfile: {(name, labels): value}."""
        with contextlib.suppress(FileNotFoundError):
            return {(s.name, frozenset(s.labels.items())): s.value
                    for f in text_string_to_metric_families(self.textfile.read_text()) for s in f.samples}
        return {}

    def of_target(self, target):
        return {k: v for k, v in self.sheet().items() if ("target", target) in k[1]}

    def own(self, metric, sink):
        return self.sheet().get((f"heapwatch_export_{metric}", frozenset({("sink", sink)})))

    def settled(self, sink):
        """Only the last collection is waiting."""
        queued = self.own("queued_samples", sink)
        return queued is not None and queued < 300

    def check_moments(self, receiver):
        """It has every collection: between two there is one of the textfile, whose batches each of them counts."""
        written = [next(v for (name, labels), v in receiver.moments[at].items()
                        if name == "heapwatch_export_batches_sent_total" and ("sink", "textfile") in labels) for at in sorted(receiver.moments)]
        assert len(written) > 3 and all(b - a <= 2 for a, b in zip(written, written[1:])), written

    def said(self):
        return self.log.read_text()


@pytest.fixture
def daemon(directory):
    with Daemon(directory, f"api={LOG}") as d:
        d.wait_state("api", "ENDED")
        yield d


def token_file(directory):
    path = directory / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o600)
    return path


def scrape(url, **headers):
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=DEADLINE_S) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def test_all_receivers_have_the_same_numbers(directory, daemon):
    with contextlib.ExitStack() as stack:
        prometheus = stack.enter_context(HTTP(of_remote_write))
        protobuf = stack.enter_context(HTTP(of_otlp, "/v1/metrics"))
        json = stack.enter_context(HTTP(of_otlp, "/v1/metrics"))
        port = free_ports()
        x = stack.enter_context(Export(
            directory, daemon,
            f"{{kind: scrape, listen: '127.0.0.1:{port}', token_file: {token_file(directory)}}}",
            f"{{kind: remote-write, url: '{prometheus.url}', bearer_file: {directory / 'token'}}}",
            f"{{kind: otlp, url: '{protobuf.url}'}}", f"{{kind: otlp, url: '{json.url}', format: json}}"))
        expected = wait_for(lambda: x.of_target("api"), "the textfile")
        expected = unchanging(expected)
        assert len(expected) > 120
        for name, receiver in dict(prometheus=prometheus, protobuf=protobuf, json=json).items():
            found = wait_for(lambda: receiver.of_target("api"), name)
            wrong = {k: (v, found.get(k)) for k, v in expected.items() if found.get(k) != v}
            assert not wrong, name
        assert prometheus.headers["Authorization"] == f"Bearer {TOKEN}"
        assert TOKEN not in x.said()

        kind, text = scrape(f"http://127.0.0.1:{port}/metrics", Authorization=f"Bearer {TOKEN}",
                            Accept="application/openmetrics-text;version=1.0.0")
        assert kind.startswith("application/openmetrics-text")
        scraped = {(s.name, frozenset(s.labels.items())): s.value for f in open_metrics(text) for s in f.samples}
        assert {k: v for k, v in scraped.items() if k in expected} == \
            {k: v for k, v in expected.items() if not {"le", "quantile"} & set(dict(k[1])) or k in scraped}
        for headers in ({}, {"Authorization": "Bearer " + "x" * 20}):
            with pytest.raises(urllib.error.HTTPError) as refused:
                scrape(f"http://127.0.0.1:{port}/metrics", **headers)
            assert refused.value.code == 401
        assert x.stop() == 0


def test_more_connections_than_descriptors(directory, daemon):
    """On each of two addresses: who asks is answered, and nothing is logged."""
    ports = [free_ports(), free_ports()]
    listen = [word for port in ports for word in ("--listen", f"127.0.0.1:{port}")]
    with open(directory / "log", "wb") as log, contextlib.ExitStack() as stack:
        x = stack.enter_context(subprocess.Popen(
            ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", CLIENT, "export", "--connect", daemon.publish, "--no-token", *listen],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log))
        stack.callback(x.kill)
        assert x.stdout.readline() and x.stdout.readline()      # both listen
        for port in ports:
            for _ in range(150):
                stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_S))
            for again in ports:
                assert "heapwatch_" in scrape(f"http://127.0.0.1:{again}/metrics")[1]
        x.terminate()
        assert x.wait(DEADLINE_S) == 0
    assert "open files" not in (directory / "log").read_text()


CHANGING = ("heapwatch_stream_quiet_seconds", "heapwatch_state_bytes")


def unchanging(sheet):
    return {k: v for k, v in sheet.items() if k[0] not in CHANGING}


@pytest.mark.parametrize("protocol", ["1.0", "415", "2.0", "classic", "partial"])
def test_remote_write_as_the_receiver_takes_it(directory, daemon, protocol):
    """2.0 with types, times of creation and native histograms, or as much of it as the receiver knows: no value is lost."""
    decode = of_remote_write if protocol in ("1.0", "415") else of_remote_write_2
    with HTTP(decode, protocol=protocol) as r, Export(
            directory, daemon, f"{{kind: remote-write, url: '{r.url}'}}") as x:
        wait_for(lambda: r.asked.get("ok", 0) > 4 and (x.own("batches_sent_total", "remote-write") or 0) > 2, "some batches")
        expected, found = unchanging(x.of_target("api")), r.of_target("api")
        assert len(expected) > 120 and not {k: v for k, v in expected.items() if found.get(k) != v}
        histograms = {dict(k[1])["generation"]: v for k, v in found.items() if isinstance(v, dict)}
        refused, failed = (x.own(f"{what}_total", "remote-write") for what in ("samples_refused", "failures"))
        sent, batches = (x.own(f"{what}_sent_total", "remote-write") for what in ("samples", "batches"))
        assert x.own("samples_lost_total", "remote-write") == 0 and failed == 0
        kinds = r.types
    if protocol in ("1.0", "415"):      # one attempt, then what it takes
        assert kinds[0] == RW2 and set(kinds[1:]) == {"application/x-protobuf"} and not histograms
    else:
        assert set(kinds) == {RW2}
    if protocol in ("2.0", "partial"):
        for generation, h in histograms.items():
            labels = {("generation", generation), ("target", "api")}
            assert h["count"] == expected["heapwatch_gc_pause_duration_seconds_count", frozenset(labels)]
            assert h["sum"] == expected["heapwatch_gc_pause_duration_seconds_sum", frozenset(labels)]
            for (name, of), n in expected.items():  # 2^-9 s and such are bounds of both
                le = dict(of).get("le")
                if name == "heapwatch_gc_pause_duration_seconds_bucket" and labels < set(of) and le in ("0.5", "1", "2"):
                    assert n == h["zero"] + sum(c for at, c in h["buckets"].items() if at <= float(le))
    assert len(histograms) == (2 if protocol in ("2.0", "partial") else 0)
    assert (refused == 10 * batches) if protocol == "partial" else refused == 0
    assert sent >= 150 * batches - refused
    assert x.said().count("takes no richer form") == (protocol in ("1.0", "415", "classic")), x.said()


def test_the_form_of_remote_writes_can_be_chosen(directory, daemon):
    with HTTP(of_remote_write_2, protocol="2.0") as r, HTTP(of_remote_write_2, protocol="2.0") as plain, \
            HTTP(of_remote_write, protocol="415") as old, Export(
                directory, daemon, f"{{kind: remote-write, name: one, url: '{r.url}', format: '1.0'}}",
                f"{{kind: remote-write, name: two, url: '{plain.url}', native_histograms: false}}",
                f"{{kind: remote-write, name: old, url: '{old.url}', format: '2.0'}}") as x:
        wait_for(lambda: r.asked.get("ok", 0) > 1 and plain.asked.get("ok", 0) > 1 and old.asked.get("ok", 0) > 1, "all three")
        assert set(r.types) == {"application/x-protobuf"} and set(plain.types) == set(old.types) == {RW2}
        assert not any(isinstance(v, dict) for v in plain.of_target("api").values()) and not old.moments
        wait_for(lambda: (x.own("samples_refused_total", "old") or 0) > 150, "what only takes 1.0 refuses 2.0 for good")


def test_what_waits_in_2_0_reaches_a_receiver_of_1_0(directory, daemon):
    """While nobody answers it is not known which one it will be."""
    port = free_ports()
    with Export(directory, daemon, f"{{kind: remote-write, url: 'http://127.0.0.1:{port}/write'}}") as x:
        wait_for(lambda: (x.own("queued_samples", "remote-write") or 0) > 600, "some that wait")
        with HTTP(of_remote_write, port=port, protocol="415") as r:
            wait_for(lambda: x.settled("remote-write") and r.asked.get("ok", 0) > 4, "all sent")
            assert x.own("samples_lost_total", "remote-write") == x.own("samples_refused_total", "remote-write") == 0
            x.check_moments(r)


@pytest.mark.parametrize("form", ["protobuf", "json"])
def test_native_histograms_for_opentelemetry(directory, daemon, form):
    with HTTP(of_otlp, "/v1/metrics") as r, HTTP(of_remote_write_2, protocol="2.0") as prometheus, Export(
            directory, daemon, f"{{kind: otlp, url: '{r.url}', format: {form}, native_histograms: true}}",
            f"{{kind: remote-write, url: '{prometheus.url}'}}"):
        def found(receiver):
            return {k[1]: v for k, v in receiver.of_target("api").items() if isinstance(v, dict)}
        ours = wait_for(lambda: found(r), "exponential histograms")
        assert len(ours) == 2 and ours == wait_for(lambda: found(prometheus), "the same as native ones")
        assert not any(k[0].endswith("_bucket") for k in r.of_target("api"))


@pytest.mark.parametrize("form", ["protobuf", "json"])
def test_what_opentelemetry_leaves_out_is_counted(directory, daemon, form):
    """Of a batch that it accepts, as its answer says; and a batch is small enough for what web servers take (1 MiB)."""
    with HTTP(of_otlp, "/v1/metrics", protocol="partial") as r, Export(
            directory, daemon, f"{{kind: otlp, url: '{r.url}', format: {form}}}") as x:
        wait_for(lambda: (x.own("batches_sent_total", "otlp") or 0) > 2, "some batches")
        batches, refused, sent, failed = (x.own(f"{what}_total", "otlp") for what in (
            "batches_sent", "samples_refused", "samples_sent", "failures"))
        assert refused == 7 * batches and sent > 100 * batches and failed == 0
        assert x.said().count('refused in part detail="too old "') == 1, x.said()


RULES = "groups: [{name: own, rules: [{alert: large, expr: live > 1MiB, for: 0s}]}]\n"


def test_each_end_is_sent_once(directory):
    """Of a band, an alert, a target, and of the exporter itself; also to a receiver that is not there meanwhile."""
    log, port = LiveLog(directory / "live.eventlog"), free_ports()
    (directory / "rules.yaml").write_text(RULES)

    def bands(receiver):
        return {dict(k[1])["band"] for k in receiver.of_target("live") if k[0] == "heapwatch_band_bytes"}

    def alerts(receiver):
        return {dict(k[1])["state"] for k in receiver.of_target("live") if k[0] == "heapwatch_alert"}

    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(Daemon(directory, f"live=file:{log.path}", f"api={LOG}",
                                            args=["--rules", directory / "rules.yaml"]))
        receivers = [stack.enter_context(HTTP(*of, protocol=protocol)) for *of, protocol in (
            (of_remote_write, "/write", "1.0"), (of_remote_write_2, "/write", "2.0"),
            (of_otlp, "/v1/metrics", None), (of_otlp, "/v1/metrics", None))]
        old, new, protobuf, json = (r.url for r in receivers)
        late = f"{{kind: remote-write, name: late, url: 'http://127.0.0.1:{port}/write', bands: 2}}"
        x = stack.enter_context(Export(
            directory, daemon, f"{{kind: remote-write, name: old, url: '{old}', bands: 2}}",
            f"{{kind: remote-write, name: new, url: '{new}', bands: 2}}", f"{{kind: otlp, url: '{protobuf}', bands: 2}}",
            f"{{kind: otlp, url: '{json}', format: json, native_histograms: true, bands: 2}}", late))

        def has(live, census, shown, alert):
            log.live(live)
            log.census(census)
            return all(bands(r) == {*shown, "other"} and bool(alerts(r)) == alert for r in receivers)
        wait_for(lambda: has(20 << 20, {"A": 3000, "B": 2000, "C": 1000}, "AB", True), "a census and an alert", poll_s=0.2)
        wait_for(lambda: has(1 << 10, {"D": 30000, "E": 20000, "C": 1000}, "DE", False), "the next, and no alert", poll_s=0.2)
        assert client("remove", "live", "--connect", daemon.publish).returncode == 0
        wait_for(lambda: not any(r.of_target("live") for r in receivers), "the end of the target")
        assert x.stop() == 0
        ends = [r.check_ends() for r in receivers]
        assert min(ends) > 250 and not any(r.of_target("api") for r in receivers)
        late = stack.enter_context(HTTP(of_remote_write, port=port))
        with x:             # its journal has the ends, and those of the second life follow
            wait_for(lambda: x.settled("late") and late.of_target("api"), "an empty queue")
            assert x.stop() == 0
        wait_for(lambda: not late.of_target("api"), "the last ends")
        assert late.check_ends() > ends[0]
        late_bands = {dict(k[1])["band"] for rows in late.moments.values() for k in rows if k[0] == "heapwatch_band_bytes"}
        assert {"A", "B", "D", "E", "other"} <= late_bands


def test_faults_cost_nothing(directory, daemon):
    """Whatever it answers: in the end it has every collection, and the other receivers are not affected."""
    with HTTP(of_remote_write) as r, Export(
            directory, daemon, f"{{kind: remote-write, url: '{r.url}', timeout: 1s}}") as x:
        wait_for(lambda: r.asked.get("ok") and x.sheet(), "a good start")
        for mode in ("busy", "garbage", "half", "silent", "later", "page"):
            failures, written = x.own("failures_total", "remote-write"), x.textfile.stat().st_mtime_ns
            r.mode = mode
            wait_for(lambda: r.asked.get(mode) and x.own("failures_total", "remote-write") > failures, mode)
            wait_for(lambda: x.textfile.stat().st_mtime_ns > written, "the textfile, all the while")
            r.closing.set()
            r.mode, again = "ok", x.said().count("works again")
            wait_for(lambda: x.said().count("works again") > again, f"success after {mode}")
            r.closing.clear()
        wait_for(lambda: x.settled("remote-write"), "a queue of what is new")
        assert x.own("samples_lost_total", "remote-write") == x.own("samples_refused_total", "remote-write") == 0
        x.check_moments(r)


def test_a_certificate_that_is_renewed_late_costs_nothing(directory, daemon):
    for name in ("old", "new"):
        (directory / name).mkdir()
    old, new = certificate(directory / "old"), certificate(directory / "new")
    with HTTP(of_remote_write) as r:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*old)
        r.server.socket = context.wrap_socket(r.server.socket, server_side=True)
        with Export(directory, daemon, f"{{kind: remote-write, url: '{r.url.replace('http:', 'https:')}', ca_file: {new[0]}}}") as x:
            wait_for(lambda: x.own("failures_total", "remote-write"), "a failure")
            assert "certificate" in x.said() and not r.asked
            context.load_cert_chain(*new)
            wait_for(lambda: x.settled("remote-write"), "all that waited")
            assert x.own("samples_lost_total", "remote-write") == x.own("samples_refused_total", "remote-write") == 0


@pytest.mark.parametrize("content, ours", [("# HELP node_load1 1m load average.\nnode_load1 2\n", False), ("", True),
                                            ("# HELP heapwatch_daemon_up 1 while\n", True)], ids=["another's", "empty", "ours"])
def test_a_file_of_another_is_not_replaced(directory, content, ours):
    file = directory / "some.prom"
    file.write_text(content)
    done = client("export", "--check", "--connect", f"ipc://{directory}/publish", "--textfile", file)
    assert done.returncode == (0 if ours else 2), done
    assert ours or (b"some.prom exists" in done.stderr and file.read_text() == content)


def test_what_is_refused_is_left_out(directory, daemon):
    with HTTP(of_remote_write) as r, Export(directory, daemon, f"{{kind: remote-write, format: '1.0', url: '{r.url}'}}") as x:
        wait_for(lambda: r.asked.get("ok"), "a good start")
        r.mode = "busy"
        wait_for(lambda: "tried again" in x.said(), "a failure of another kind shortly before")
        r.mode = "wrong"
        wait_for(lambda: r.asked.get("wrong", 0) >= 2, "two that are refused: no pause, and no repetition")
        r.mode, good = "ok", r.asked["ok"]
        wait_for(lambda: r.asked["ok"] > good + 1, "the next ones")
        refused = wait_for(lambda: x.own("samples_refused_total", "remote-write"), "their count")
        assert x.own("samples_lost_total", "remote-write") == 0 and refused >= 2 * 150
        assert "refused for good" in x.said() and "HTTP 400" in x.said()


def test_a_restart_keeps_what_is_not_sent(directory, daemon):
    port = free_ports()
    x = Export(directory, daemon, f"{{kind: remote-write, url: 'http://127.0.0.1:{port}/write'}}")
    with x:
        wait_for(lambda: (x.own("queued_samples", "remote-write") or 0) > 400, "some that wait")
        queued = x.own("queued_samples", "remote-write")
        x.stop(signal.SIGKILL)
    x.textfile.unlink()
    with HTTP(of_remote_write, port=port) as r, x:
        wait_for(lambda: x.settled("remote-write"), "a queue of what is new")
        assert "continues with queued_samples=" in x.said()
        assert r.samples >= queued
        moments = sorted(r.moments)
        gaps = [(b - a) / 1e9 for a, b in zip(moments, moments[1:])]
        assert sum(g > 1.9 for g in gaps) <= 1, "one gap: while it was not running"
        assert x.stop() == 0
        assert (directory / "journal" / "export-remote-write.queue").stat().st_size == 16


def test_a_queue_is_bounded_and_says_so(directory, daemon):
    sink = f"{{kind: remote-write, url: 'http://127.0.0.1:{free_ports()}/write', queue_bytes: 64KiB}}"
    with Export(directory, daemon, sink) as x:
        lost = wait_for(lambda: x.own("samples_lost_total", "remote-write"), "a full queue")
        assert lost > 0 and x.own("queued_bytes", "remote-write") <= 65536 + 65536
        assert x.own("journal_bytes", "remote-write") <= 65536 * 3


def test_a_full_disk_is_counted(directory, daemon):
    """Without journal and textfile sending still works."""
    full = directory / "full"
    full.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", full], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("needs the right to mount a file system")
    try:
        (full / "rest").write_bytes(b"x" * 3000)
        port = free_ports()
        x = Export(directory, daemon, f"{{kind: remote-write, url: 'http://127.0.0.1:{port}/write'}}")
        x.config.write_text(x.config.read_text().replace(str(directory / "journal"), str(full)))
        with x:
            wait_for(lambda: x.own("journal_failures_total", "remote-write"), "its count")
            with HTTP(of_remote_write, port=port) as r:
                wait_for(lambda: r.samples > 300, "what was in memory")
                assert x.own("samples_lost_total", "remote-write") == 0
    finally:
        subprocess.run(["umount", full], check=True)


def test_a_daemon_that_is_gone_is_said(directory, daemon):
    up = ("heapwatch_daemon_up", frozenset({("daemon", daemon.publish)}))
    with Export(directory, daemon) as x:
        wait_for(lambda: x.sheet().get(up) == 1 and x.of_target("api"), "a daemon that is there")
        daemon.stop()
        wait_for(lambda: x.sheet().get(up) == 0 and not x.of_target("api"), "its end")
    with Export(directory, daemon) as x:    # and of one that never was
        x.textfile.unlink()
        wait_for(lambda: x.sheet().get(up) == 0, "that it is not there")


def test_bad_usage_is_said():
    for args, words in (
            ([], "nothing to export to"),
            (["--listen", "127.0.0.1:0"], "every user of this machine"),
            (["--listen", "0.0.0.0:0", "--no-token"], "others can reach"),
            (["--remote-write", "http://me:secret@host/"], "no user or password in a URL"),
            (["--otlp", "host:4318"], "expected http://"),
            (["--label", "a", "--otlp", "http://h:1/"], "expected NAME=VALUE"),
            (["--textfile", "/tmp/x.txt"], "ends with .prom"),
            (["--otlp", "http://h:1/", "--connect", "nonsense://"], "nonsense://"),
            (["--listen", "127.0.0.1:0", "--token-file", "/nowhere/token"], "/nowhere/token"),
            (["--config", "/nowhere/export.yaml"], "/nowhere/export.yaml")):
        done = client("export", *args)
        assert done.returncode == 2 and words in done.stderr.decode(), (args, done)
        assert b"secret" not in done.stderr
        checked = client("export", "--check", *args)
        assert (checked.returncode, checked.stderr) == (2, done.stderr), "what it refuses, --check refuses"
    good = client("export", "--check", "--otlp", "http://h:4318/")
    assert good.returncode == 0 and good.stdout == b"1 sink: good\n", good
    several = client("export", "--check", "--listen", "unix:/nowhere/a", "--listen", "unix:/nowhere/b")
    assert several.returncode == 0 and several.stdout == b"2 sinks: good\n", several


def test_prometheus_checks_the_names(directory, daemon):
    if not shutil.which("promtool"):
        pytest.skip("needs promtool, of the package prometheus: make check-fleet installs it")
    with Export(directory, daemon) as x:
        wait_for(lambda: x.of_target("api"), "the textfile")
        checked = subprocess.run(["promtool", "check", "metrics"], input=x.textfile.read_bytes(),
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert checked.returncode == 0 and checked.stdout == b"", checked.stdout.decode()


def test_a_receivers_option_may_be_repeated():
    checked = client("export", "--check", "--journal", "off", "--remote-write", "http://127.0.0.1:1/a", "--remote-write",
                     "http://127.0.0.1:1/b", "--otlp", "http://127.0.0.1:1/v1/metrics")
    assert checked.returncode == 0 and b"3 sinks: good" in checked.stdout, checked
