# SPDX-License-Identifier: BSD-3-Clause
"""docs/FLEET.md followed word by word: its commands, its configurations and its hosts file, on two daemons that stand for two machines,
with the real Prometheus and Alertmanager. Only addresses, keys and folders are replaced, each one that the page names."""
import os
import re
import shutil
import subprocess
import urllib.request

import pytest

from harness import CLIENT, LOGS, ROOT, Daemon, client, free_ports, pb, running, wait_for
from servers import Alertmanager
from test_dashboards import ask

PAGE = (ROOT / "docs" / "FLEET.md").read_text()
LOG = LOGS / "leaky-hT-ghc9103" / "run.eventlog"
MACHINES = ("db-1", "db-2")

with_prometheus = pytest.mark.skipif(not shutil.which("prometheus"),
                                     reason="needs the package prometheus: make check-fleet installs it")


def blocks(language="", page=PAGE):
    return [text for of, text in re.findall(r"^```(\w*)\n(.*?)^```$", page, re.M | re.S) if of == language]


def replaced(text, names):
    """Each name has to be in it: a page that changes changes this test."""
    for name, ours in names.items():
        assert name in text, f"{name} is no longer in:\n{text}"
        text = text.replace(name, str(ours))
    return text


def shell(line, etc):
    """A line of the page, as a user of the machine whose /etc/heapwatch is `etc`."""
    line = line.replace("/etc/heapwatch", str(etc)).replace("heapwatch export", f"{CLIENT} export")
    done = subprocess.run(["sh", "-ec", line], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"{line}\n{done.stdout}"


def set_up(directory, name, port):
    """Section 1 on one machine; its configuration of the exporter."""
    etc = directory / name / "etc"
    etc.parent.mkdir(mode=0o700)
    before, after = (b for b in blocks() if "systemctl enable" in b)
    units = []
    for line in before.splitlines():
        units += re.findall(r"systemctl enable --now (\S+)", line)
        if not line.startswith("systemctl"):
            shell(line.replace("install -d", "install -D -d"), etc)
    assert (etc / "scrape.token").stat().st_mode & 0o777 == 0o600
    export, = (b for b in blocks("yaml") if "kind: scrape" in b)
    (etc / "export.yaml").write_text(replaced(export, {
        "0.0.0.0:9464": f"127.0.0.1:{port}", "/run/credentials/heapwatch-export.service/scrape.token": etc / "scrape.token"}))
    for line in after.splitlines():
        units += re.findall(r"systemctl enable --now (\S+)", line)
        if not line.startswith("systemctl"):
            shell(line, etc)
    assert units == ["heapwatchd", "heapwatch-export"]
    return etc


def prometheus_yml(directory, ports, token, alertmanager):
    text, = (b for b in blocks("yaml") if "scrape_configs" in b)
    path = directory / "prometheus.yml"
    shutil.copy(ROOT / "docs" / "dashboards" / "heapwatch.rules.yml", directory)
    path.write_text("global: {scrape_interval: 1s, evaluation_interval: 1s}\n" + replaced(text, {
        "db-1:9464": f"127.0.0.1:{ports['db-1']}", "db-2:9464": f"127.0.0.1:{ports['db-2']}",
        "/etc/prometheus/heapwatch.token": token, "localhost:9093": alertmanager.removeprefix("http://")}))
    return path


@with_prometheus
def test_two_machines_to_an_alert(directory):
    ports = {name: free_ports() for name in MACHINES}
    web = free_ports()
    etc = {name: set_up(directory, name, ports[name]) for name in MACHINES}
    shutil.copy(etc["db-1"] / "scrape.token", etc["db-2"] / "scrape.token")    # as section 2 wants it
    with Alertmanager(directory) as alertmanager, Daemon(directory / "db-1", f"api={LOG}") as one, \
            Daemon(directory / "db-2", f"other={LOG}") as two:
        # A program of `heapwatch run` that is killed on the second machine.
        two.ask(pb.Request(add_target=pb.AddTargetRequest(name="api", uri=f"unix:{directory}/never", one_run=True)))
        two.ask(pb.Request(end_target=pb.EndTargetRequest(name="api", exit_signal=9)))
        config = prometheus_yml(directory, ports, etc["db-1"] / "scrape.token", alertmanager.url)
        for command in re.findall(r"`(promtool [^`]+)`", PAGE):
            done = subprocess.run(command.split(), cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            assert done.returncode == 0, done.stdout
        with running(CLIENT, "export", "--config", etc["db-1"] / "export.yaml", "--connect", one.publish), \
                running(CLIENT, "export", "--config", etc["db-2"] / "export.yaml", "--connect", two.publish), \
                running("prometheus", f"--config.file={config}", f"--storage.tsdb.path={directory / 'data'}",
                        f"--web.listen-address=127.0.0.1:{web}", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
            def answer(query):
                try:
                    return {r["metric"].get("host"): r["value"][1] for r in ask(web, "/api/v1/query", query=query)["result"]}
                except OSError:
                    return {}

            wait_for(lambda: answer("up{job='heapwatch'}") == {"db-1": "1", "db-2": "1"}, "both machines scraped")
            wait_for(lambda: set(answer("host:heapwatch_live_bytes:sum")) >= {"db-1"}, "a recorded series with its machine")
            fired = wait_for(lambda: [a["labels"] for a in alertmanager.alerts()
                                      if a["labels"]["alertname"] == "HeapwatchTargetCrashed"], "the alert in the Alertmanager")
            assert [(a["host"], a["target"]) for a in fired] == [("db-2", "api")]


def command(line, names, env):
    """A line of the page with `heapwatch`, its names replaced; what it printed."""
    done = client(*replaced(line.removeprefix("heapwatch "), names).split(), env=env)
    assert done.returncode == 0, (line, done.stderr)
    return done.stdout.decode()


def test_into_each_machine_with_a_key(directory):
    """Section 4: from an empty directory to one console of both machines."""
    section = PAGE.split("## 4.", 1)[1].split("\n## ", 1)[0]
    mine, theirs, looks = (text.splitlines() for text in blocks(page=section))
    listen, hosts = blocks("yaml", section)
    env = {"XDG_CONFIG_HOME": str(directory / "config")}
    alice, = (command(line, {}, env).split()[1] for line in mine)
    daemons = {}
    for name in MACHINES:
        etc, port = directory / name / "etc", free_ports(2)
        etc.mkdir(parents=True, mode=0o700)
        (directory / name).chmod(0o700)
        (etc / "heapwatchd.yaml").write_text(replaced(listen, {"0.0.0.0:7700": f"127.0.0.1:{port}", "/etc/heapwatch": etc}))
        new, authorize, restart = theirs
        server = command(new, {"/etc/heapwatch": etc}, env).split()[1]
        command(authorize, {"/etc/heapwatch": etc, "3f0a…": alice}, env)
        assert restart == "systemctl restart heapwatchd"
        old = re.search(rf'^{name}: .*server_key: (\w+…)', hosts, re.M)[1]
        hosts = replaced(hosts, {f"{name}:7700": f"127.0.0.1:{port}", old: f'"{server}"'})
        daemons[name] = Daemon(directory / name, f"{name}-api={LOG}", args=["--config", str(etc / "heapwatchd.yaml")])
    (directory / "config" / "heapwatch" / "hosts").write_text(hosts)
    top, web = looks
    with daemons["db-1"], daemons["db-2"]:
        for name, daemon in daemons.items():
            daemon.wait_state(f"{name}-api", "ENDED")
        shown = command(f"{top} --once --view targets --format json", {}, env)
        assert all(f'"{name}-api"' in shown for name in MACHINES), shown
        assert all(d.status().daemon.handshakes_refused == 0 for d in daemons.values())
        with running(CLIENT, *web.removeprefix("heapwatch ").split(), "--listen", "127.0.0.1:0", "--no-token",
                     env={**os.environ, **env}, stdout=subprocess.PIPE) as page:
            address = re.search(rb"http://[\d.]+:\d+", page.stdout.readline())[0].decode()

            def both():
                with urllib.request.urlopen(address + "/metrics", timeout=60) as answer:
                    text = answer.read().decode()
                return all(re.search(rf'^heapwatch_live_bytes{{target="{name}-api"', text, re.M) for name in MACHINES)
            wait_for(both, "the page to have both machines")


def test_what_the_page_names_is_there():
    for name in re.findall(r"docs/dashboards/([\w.-]+\.(?:json|yml))", PAGE):
        assert (ROOT / "docs" / "dashboards" / name).exists(), name
    siblings = {p.stem.removeprefix("heapwatch-") for p in (ROOT / "docs" / "dashboards").glob("*.json")}
    listed = re.search(r"its four siblings \(([^)]+)\)", PAGE).group(1)
    assert siblings == {"overview", *listed.replace(",", "").split()} - {"and"}
    assert all((ROOT / "docs" / link).exists() for link in re.findall(r"\]\(([\w/.-]+\.md)\)", PAGE) if not link.startswith("../"))
