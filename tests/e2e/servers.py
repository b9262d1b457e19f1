# SPDX-License-Identifier: BSD-3-Clause
"""Receivers of alerts: a webhook server that behaves as a test wants, and the real Alertmanager."""
import contextlib
import http.server
import json
import shutil
import socket
import socketserver
import ssl
import subprocess
import threading
import urllib.request

from harness import DEADLINE_S, free_ports, wait_for


class Webhook:
    """An HTTP server on a port of its own. `mode`: "ok", "busy" (503), "silent" (takes, never answers), "garbage"."""

    def __init__(self, mode="ok", certificate=None):
        self.mode, self.bodies, self.headers = mode, [], []
        self.closing = threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.headers.append(dict(self.headers))
                outer.bodies.append(json.loads(body))
                if outer.mode == "silent":
                    outer.closing.wait()
                elif outer.mode == "garbage":
                    self.wfile.write(b"\x16\x03\x01\x00 this is no HTTP\r\n\r\n" + bytes(range(256)))
                    self.close_connection = True
                else:
                    self.send_response(200 if outer.mode == "ok" else 503)
                    self.send_header("Content-Length", "2")
                    self.end_headers()
                    self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True

            def handle_error(self, *_):     # a client that goes away is normal
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            scheme = "https"
        self.url = f"{scheme}://127.0.0.1:{self.server.server_address[1]}/hook"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()

    def told(self):
        """(status, alertname, target) of each alert that came."""
        return [(b["status"], b["alerts"][0]["labels"]["alertname"], b["alerts"][0]["labels"]["target"])
                for b in self.bodies]


@contextlib.contextmanager
def closed_port():
    """A port on which nobody listens or can listen: it is bound here."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        yield s.getsockname()[1]


def certificate(directory):
    """A certificate for 127.0.0.1 that signs itself: (certificate, key)."""
    cert, key = directory / "cert.pem", directory / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
                    "subjectAltName=IP:127.0.0.1"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return cert, key


class Alertmanager:
    """prometheus-alertmanager with its own data directory and loopback port."""

    def __init__(self, directory):
        assert shutil.which("prometheus-alertmanager") and shutil.which("amtool"), "scripts/deps installs them"
        self.directory, self.process = directory, None

    def __enter__(self):
        port = free_ports()
        self.url = f"http://127.0.0.1:{port}"
        self._start(port)
        wait_for(lambda: self.process.poll() is not None or self._answers(), "the Alertmanager's answer")
        assert self.process.poll() is None, (self.directory / "alertmanager.log").read_text()
        return self

    def _start(self, port):
        config = self.directory / "alertmanager.yml"
        config.write_text("route:\n  receiver: none\nreceivers:\n  - name: none\n")
        with open(self.directory / "alertmanager.log", "wb") as log:
            self.process = subprocess.Popen(
                ["prometheus-alertmanager", f"--config.file={config}", f"--storage.path={self.directory}/data",
                 f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address="],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def _answers(self):
        try:
            return urllib.request.urlopen(self.url + "/-/ready", timeout=10).status == 200
        except OSError:
            return False

    def alerts(self):
        """What amtool shows: the active alerts, as dicts."""
        done = subprocess.run(["amtool", f"--alertmanager.url={self.url}", "alert", "query", "-o", "json"],
                              stdout=subprocess.PIPE, check=True, timeout=DEADLINE_S)
        return json.loads(done.stdout)
