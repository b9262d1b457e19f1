# SPDX-License-Identifier: BSD-3-Clause
"""docs/dashboards in the real Prometheus: it accepts every expression, and has results for those that this log has data for."""
import json
import re
import shutil
import subprocess
import urllib.parse
import urllib.request

import pytest

from harness import CLIENT, LOGS, ROOT, Daemon, free_ports, running, wait_for, written

LOG = LOGS / "leaky-hT-ghc9103" / "run.eventlog"
FOLDER = ROOT / "docs" / "dashboards"

pytestmark = pytest.mark.skipif(not shutil.which("prometheus"),
                                reason="needs the package prometheus: make check-fleet installs it")


def expressions():
    for path in sorted(FOLDER.glob("*.json")):
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel["targets"]:
                yield f"{path.name}: {panel['title']}", re.sub(r"\$(target|host)\b", ".*", target["expr"])


def ask(port, path, **query):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}?{urllib.parse.urlencode(query)}", timeout=60) as answer:
        found = json.load(answer)
    assert found["status"] == "success", found
    return found["data"]


def test_prometheus_answers_every_expression(directory):
    port, scraped = free_ports(), free_ports()
    token = written(directory / "token", "0123456789abcdef0123\n")
    token.chmod(0o600)
    config = written(directory / "prometheus.yml", f"""
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{FOLDER / 'heapwatch.rules.yml'}]
scrape_configs:
- job_name: heapwatch
  authorization: {{credentials_file: {token}}}
  static_configs: [{{targets: ['127.0.0.1:{scraped}'], labels: {{host: h1}}}}]
""")
    log = open(directory / "prometheus.log", "wb")
    with Daemon(directory, f"api={LOG}") as daemon, \
            running(CLIENT, "export", "--connect", daemon.publish, "--listen", f"127.0.0.1:{scraped}", "--token-file", token), \
            running("prometheus", f"--config.file={config}", f"--storage.tsdb.path={directory / 'data'}",
                    f"--web.listen-address=127.0.0.1:{port}", stdout=log, stderr=subprocess.STDOUT):
        daemon.wait_state("api", "ENDED")

        def count():
            try:
                found = ask(port, "/api/v1/query", query="count_over_time(heapwatch_live_bytes[1m])")["result"]
                return found and int(found[0]["value"][1]) > 4
            except OSError:
                return False

        wait_for(count, "what Prometheus has scraped")
        answered, all_of_them = set(), list(expressions())
        for what, expression in all_of_them:
            if ask(port, "/api/v1/query", query=expression)["result"]:
                answered.add(what)
        assert len(all_of_them) > 40
        for needed in ("overview.json: Targets", "overview.json: Live data, largest ten", "target.json: Memory: live",
                       "target.json: Verdict", "bands.json: Heap by band", "pauses.json: Longest of the run",
                       "fleet.json: Targets by version of GHC", "fleet.json: Live data by host", "fleet.json: Daemons",
                       "fleet.json: Export: lost or refused"):
            assert f"heapwatch-{needed}" in answered, sorted({w for w, _ in all_of_them} - answered)
        wait_for(lambda: all(r["health"] == "ok" for g in ask(port, "/api/v1/rules")["groups"] for r in g["rules"]),
                 "every rule evaluated without an error")
        assert sum(len(g["rules"]) for g in ask(port, "/api/v1/rules")["groups"]) == 13
        wait_for(lambda: ask(port, "/api/v1/query", query="host:heapwatch_live_bytes:sum")["result"], "a recorded series")
