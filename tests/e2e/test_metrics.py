# SPDX-License-Identifier: BSD-3-Clause
"""heapwatch web's /metrics, read by Prometheus' own parser."""
import re
import signal

from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families

from fake_daemon import FakeDaemon
from harness import LOGS, ROOT, Daemon, pb, private_directory, wait_for, written
from test_web import Web

LOG = LOGS / "leaky-hT-ghc9103" / "run.eventlog"


def scrape(web, **kwargs):
    """{(name, labels): value}; a series that comes twice is an error."""
    status, headers, body = web.ask("/metrics", **kwargs)
    assert status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4")
    return series(text_string_to_metric_families(body.decode()))


def series(parsed):
    found, families = {}, set()
    for family in parsed:
        assert family.name not in families and family.documentation, family.name
        families.add(family.name)
        for s in family.samples:
            key = (s.name, frozenset(s.labels.items()))
            assert key not in found, key
            found[key] = s.value
    return found


def value(found, name, **labels):
    return found.get((name, frozenset(labels.items())))


def test_a_finished_log():
    with Web(LOG) as web:
        wait_for(lambda: value(scrape(web), "heapwatch_target_state", target="run", state="ended") == 1, "the end")
        found = scrape(web)
    bodies = {"target": "run"}
    assert value(found, "heapwatch_live_max_bytes", **bodies) == 508008       # run's own "maximum residency"
    assert value(found, "heapwatch_allocated_bytes_total", **bodies) == 2298278432
    assert value(found, "heapwatch_gc_pause_seconds_count", generation="1", **bodies) == 18
    assert 0 < value(found, "heapwatch_gc_pause_seconds", generation="0", quantile="0.99", **bodies) < 1
    assert value(found, "heapwatch_verdict", series="live", verdict="leak", **bodies) == 0
    assert sum(v for (name, labels), v in found.items()
               if name == "heapwatch_verdict" and ("series", "live") in labels) == 1
    assert value(found, "heapwatch_resident_bytes", **bodies) is None, "not known is absent, not 0"
    assert not any(name == "heapwatch_daemon_up" for name, _ in found)
    bands = {dict(labels)["id"]: v for (name, labels), v in found.items() if name == "heapwatch_band_bytes"}
    assert len(bands) == 21 and "other" in bands
    assert sum(bands.values()) == value(found, "heapwatch_census_bytes", **bodies), "nothing is missing"
    assert next(labels for (name, labels), v in found.items() if name == "heapwatch_target_info") >= \
        {("ghc_version", "9.10.3"), ("breakdown", "closure_type"), ("program", "leaky")}


def test_openmetrics_is_the_same():
    with Web(LOG) as web:
        wait_for(lambda: value(scrape(web), "heapwatch_target_state", target="run", state="ended") == 1, "the end")
        found = scrape(web)
        accept = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75"
        status, headers, body = web.ask("/metrics", headers={"Accept": accept})
    assert status == 200 and headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    assert body.endswith(b"# EOF\n")
    opened = series(open_metrics(body.decode()))     # the parser insists on units, suffixes, rising buckets

    def points(sheet):
        return {(name, frozenset((k, f"{float(v):g}" if k in ("le", "quantile") else v) for k, v in labels)): value
                for (name, labels), value in sheet.items()}

    assert points(opened) == points(found) and len(found) > 150


def test_pauses_as_a_histogram():
    with Web(LOG) as web:
        wait_for(lambda: value(scrape(web), "heapwatch_target_state", target="run", state="ended") == 1, "the end")
        found = scrape(web)
    for generation in "01":
        key = dict(target="run", generation=generation)
        for part in ("_sum", "_count"):
            assert value(found, "heapwatch_gc_pause_duration_seconds" + part, **key) == \
                value(found, "heapwatch_gc_pause_seconds" + part, **key)
        counts = sorted((float(dict(labels)["le"]), v) for (name, labels), v in found.items()
                        if name == "heapwatch_gc_pause_duration_seconds_bucket" and ("generation", generation) in labels)
        assert counts[-1] == (float("inf"), value(found, "heapwatch_gc_pause_seconds_count", **key))
        assert all(a[1] <= b[1] for a, b in zip(counts, counts[1:]))
        most = value(found, "heapwatch_gc_pause_seconds", quantile="1", **key)
        assert next(v for bound, v in counts if bound > most * 33 / 32) == counts[-1][1]


def test_what_is_shown_is_documented():
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \|", (ROOT / "docs" / "METRICS.md").read_text(), re.M)
    types = {name: "gauge" if kind == "info" else kind for name, kind in rows}
    with private_directory() as d, Daemon(d, f"api={LOG}") as daemon, Web("--connect", daemon.publish) as web:
        wait_for(lambda: value(scrape(web), "heapwatch_target_state", target="api", state="ended") == 1, "the end")
        shown = re.findall(r"^# TYPE (\w+) (\w+)$", web.ask("/metrics")[2].decode(), re.M)
    assert len(shown) > 60
    for name, kind in shown:
        assert types.get(name) == kind, name


def test_two_daemons_have_targets_of_one_name(directory):
    (directory / "a").mkdir(mode=0o700)
    (directory / "b").mkdir(mode=0o700)
    with Daemon(directory / "a", f"api={LOG}") as a, Daemon(directory / "b", f"api={LOG}") as b, \
            Web("--connect", a.publish, "--connect", b.publish) as web:
        key = dict(target="api", state="ended")
        wait_for(lambda: all(value(scrape(web), "heapwatch_target_state", daemon=d.publish, **key) == 1 for d in (a, b)),
                 "both targets")
        b.process.send_signal(signal.SIGSTOP)
        try:
            wait_for(lambda: value(scrape(web), "heapwatch_daemon_up", daemon=b.publish) == 0, "its silence")
            found = scrape(web)
            assert value(found, "heapwatch_daemon_up", daemon=a.publish) == 1
            assert value(found, "heapwatch_target_state", daemon=a.publish, **key) == 1
            assert not any(("daemon", b.publish) in labels for name, labels in found if name != "heapwatch_daemon_up")
        finally:
            b.process.send_signal(signal.SIGCONT)
        wait_for(lambda: value(scrape(web), "heapwatch_daemon_up", daemon=b.publish) == 1, "its return")


def test_labels_hold_anything_and_alerts_are_told():
    labels = ['a"b', "back\\slash", "two\nlines", "twin", "twin", "x" * 3000]

    def made(pb, tick):
        bands, census, alerts = pb.Update(), pb.Update(), pb.Update()
        for u in (bands, census, alerts):
            u.target, u.run = "api", 1
        for i, label in enumerate(labels, 1):
            bands.bands.bands.add(id=i, label=label)
        census.census.number, census.census.total_bytes = 1, 60
        census.census.band.extend(range(1, len(labels) + 1))
        census.census.bytes.extend([10] * len(labels))
        alerts.alerts.alerts.add(rule="LiveLeak", severity="critical", state=pb.Alert.STATE_FIRING)
        alerts.alerts.alerts.add(rule="Over", state=pb.Alert.STATE_RESOLVED)
        return [bands, census, alerts]

    with private_directory() as d, FakeDaemon(pb, d, {"api": made}) as fake, Web("--connect", fake.endpoint) as web:
        wait_for(lambda: value(scrape(web), "heapwatch_band_bytes", target="api", band="twin", id="5"), "the bands")
        found = scrape(web)
    shown = {dict(labels)["band"] for name, labels in found if name == "heapwatch_band_bytes"}
    assert shown == {'a"b', "back\\slash", "two\\nlines", "twin", "x" * 1023, "other"}
    assert [dict(labels) for name, labels in found if name == "heapwatch_alert"] == \
        [dict(target="api", alertname="LiveLeak", severity="critical", state="firing")]


def test_a_token_guards_metrics_too(directory):
    token = written(directory / "token", "0123456789abcdef0123\n")
    token.chmod(0o600)
    with Web("--token-file", token, LOG) as web:
        assert web.ask("/metrics")[0] == 401
        assert wait_for(lambda: scrape(web, headers={"Authorization": "Bearer 0123456789abcdef0123"}), "what it knows")
