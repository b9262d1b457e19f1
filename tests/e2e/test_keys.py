# SPDX-License-Identifier: BSD-3-Clause
"""Keys: who gets in over TCP and who does not, what each role may do, revoking and changing keys under way."""
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading
import time

import pytest
import zmq

from harness import CLIENT, Daemon, client, free_ports, pb, printed, require_another_user, running, wait_for, without_page
from live_log import LiveLog

pytestmark = pytest.mark.skipif(not zmq.has("curve"), reason="this libzmq has no CURVE")


class Door(Daemon):
    """A daemon that listens with keys, and the files of those who know it."""

    def __init__(self, directory, *targets, args=()):
        super().__init__(directory, *targets, args=args)
        self.port = free_ports(2)
        self.tcp = f"tcp://127.0.0.1:{self.port}"
        self.keys = self.directory / "keys"
        self.config = self.directory / "config"
        self.env = {"XDG_CONFIG_HOME": str(self.config)}
        self.server = self.new("server")
        self.args += ["--listen", self.tcp, "--keys", str(self.keys)]
        self.write_hosts([self.server])

    def new(self, name, *more):
        """The public half of a new key of the daemon's directory."""
        return printed("keys", "new", name, "--dir", self.keys, *more).split()[1]

    def guest(self, name, role=None):
        """A key of somebody else; with a role it is let in. Its file."""
        directory = self.directory / f"of-{name}"
        done = printed("keys", "new", name, "--dir", directory)
        if role:
            self.keys_("authorize", *done.split(), "--role", role)
        return directory / f"{name}.key"

    def keys_(self, *args):
        return printed("keys", *args, "--dir", self.keys)

    def write_hosts(self, keys):
        (self.config / "heapwatch").mkdir(parents=True, exist_ok=True, mode=0o700)
        (self.config / "heapwatch" / "hosts").write_text(
            f"prod-1: {{ endpoint: '{self.tcp}', server_key: [{', '.join(keys)}] }}\n")

    def by(self, key, *args, timeout=60):
        return client(*args, "--connect", "prod-1", "--key", key, env=self.env, timeout=timeout)

    def reload(self):
        assert client("ctl", "reload", "--connect", self.publish).returncode == 0

    def state(self):
        return self.status().daemon


@pytest.fixture
def keyed(directory):
    d = Door(directory, f"a={directory}/a.eventlog")
    d.files = {name: d.guest(name, name) for name in ("read", "silence", "control")}
    with d:
        yield d


def raw(key_file):
    text = key_file.read_text()
    return [bytes.fromhex(re.search(rf"^{what}: (\w+)$", text, re.M).group(1)) for what in ("public", "secret")]


@contextlib.contextmanager
def dealer(keyed, key_file, server=None, port=None):
    s = zmq.Context.instance().socket(zmq.DEALER)
    s.linger, s.immediate = 0, 1
    if key_file:
        s.curve_publickey, s.curve_secretkey = raw(key_file)
        s.curve_serverkey = bytes.fromhex(server or keyed.server)
    s.connect(f"tcp://127.0.0.1:{port or keyed.port + 1}")
    try:
        yield s
    finally:
        s.close()


def ask(s, request, timeout_ms=60000):
    request.id = 5
    s.send(request.SerializeToString())
    assert s.poll(timeout_ms), "no reply"
    return pb.Reply.FromString(s.recv())


def connected(s, timeout_ms=60000):
    return bool(s.poll(timeout_ms, zmq.POLLOUT))


def one_of_each():
    """Each request of the schema, with the least role that it needs."""
    needs = {"snapshot": "read", "history": "read", "status": "read", "silences": "read", "recording": "read",
             "silence": "silence", "unsilence": "silence"}
    for field in pb.Request.DESCRIPTOR.oneofs_by_name["what"].fields:
        request = pb.Request()
        getattr(request, field.name).SetInParent()
        if field.name == "silence":
            request.silence.rule, request.silence.target, request.silence.duration_ns = "leak", "*", 10**12
        yield field.name, request, needs.get(field.name, "control")


def test_each_role_may_what_it_says(keyed):
    roles = ["read", "silence", "control"]
    for role in roles:
        with dealer(keyed, keyed.files[role]) as s:
            for what, request, needs in one_of_each():
                reply = ask(s, request)
                while reply.more:
                    assert s.poll(60000)
                    reply = pb.Reply.FromString(s.recv())
                refused = f"the key '{role}' has the role {role}; this needs {needs}" in reply.error
                assert refused == (roles.index(role) < roles.index(needs)), (role, what, reply.error)
    log = keyed.log.read_text()
    assert re.search(r"audit request=reload of='' by=read@127\.0\.0\.1 outcome=forbidden", log), log
    assert re.search(r"audit request=reload of='' by=control@127\.0\.0\.1 outcome=done", log), log
    state = keyed.state()
    assert state.forbidden_requests == sum(n != "read" for _, _, n in one_of_each()) + sum(
        n == "control" for _, _, n in one_of_each())
    assert state.control_requests > state.forbidden_requests
    recording = pb.Request(recording=pb.RecordingRequest(seal=True))
    with dealer(keyed, keyed.files["read"]) as s:
        assert "this needs control" in ask(s, recording).error


def test_commands_take_a_host(keyed):
    read = keyed.files["read"]
    assert b"a " in keyed.by(read, "ctl", "targets").stdout
    assert json.loads(keyed.by(read, "top", "--once", "--format", "json").stdout)
    assert keyed.by(read, "alerts").returncode == 0
    done = keyed.by(read, "add", "b=/nowhere")
    assert done.returncode == 1 and b"this needs control" in done.stderr
    assert keyed.by(keyed.files["control"], "add", f"b={keyed.directory}/b").returncode == 0
    done = client("status", "--connect", "prod-2", env=keyed.env)
    assert done.returncode == 2 and b"did you mean 'prod-1'?" in done.stderr
    done = client("status", "--connect", "tcp://198.51.100.1:7700", env=keyed.env)
    assert done.returncode == 2 and b"--server-key" in done.stderr
    printed("status", "--connect", keyed.tcp, "--server-key", keyed.server, "--key", read, env=keyed.env)
    hosts = keyed.config / "heapwatch" / "hosts"
    hosts.chmod(0o666)
    done = keyed.by(read, "status")
    assert done.returncode == 2 and b"others may change it" in done.stderr
    hosts.chmod(0o600)
    hosts.write_text("prod-1: { endpoint: here }\n")
    done = keyed.by(read, "status")
    assert done.returncode == 2 and re.search(rb"hosts:1:9: the host's server_key is missing", done.stderr), done.stderr


def test_wrong_key_no_key_wrong_server(keyed):
    stranger = keyed.guest("stranger")
    for key, server, words in ((stranger, None, b"does not accept your key"),
                               (keyed.files["read"], "ab" * 32, b"has another key than the one")):
        if server:
            keyed.write_hosts([server])
        done = keyed.by(key, "status")
        assert done.returncode == 2 and words in done.stderr, done.stderr
    keyed.write_hosts([keyed.server])
    with dealer(keyed, None) as s:                   # plain ZMTP
        assert not connected(s, 500)
    with socket.create_connection(("127.0.0.1", keyed.port)) as s:       # no ZeroMQ at all
        s.sendall(b"GET / HTTP/1.1\r\n\r\n" * 20)
        s.settimeout(60)
        with contextlib.suppress(OSError):
            while s.recv(4096):
                pass
    wait_for(lambda: keyed.state().handshakes_refused >= 1 and keyed.state().handshakes_failed >= 3, "refusals counted")
    log = keyed.log.read_text()
    public = raw(stranger)[0].hex()
    assert re.search(rf"refused=\d+ handshake from=127\.0\.0\.1: not authorised: key {public}", log), log
    assert re.search(r"failed=\d+ handshake from=127\.0\.0\.1:\d+: it is not by CURVE", log), log
    secrets = [raw(f)[1].hex() for f in (stranger, keyed.keys / "server.key", *keyed.files.values())]
    assert not any(secret in log for secret in secrets)
    status = client("status", "--connect", keyed.publish).stdout.decode()
    assert re.search(rf"listens at {keyed.tcp}  keys 3  handshakes refused \d+  failed \d+", status), status


class Wire:
    """Between a client and the daemon: keeps what the client sends."""

    def __init__(self, to):
        self.to, self.sent = to, b""
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        here, _ = self.listener.accept()
        there = socket.create_connection(("127.0.0.1", self.to))
        threading.Thread(target=self.pump, args=(there, here, False), daemon=True).start()
        self.pump(here, there, True)

    def pump(self, a, b, keep):
        with contextlib.suppress(OSError):
            while data := a.recv(65536):
                self.sent += data if keep else b""
                b.sendall(data)
            b.shutdown(socket.SHUT_WR)


def test_a_replayed_handshake_is_worth_nothing(keyed):
    wire = Wire(keyed.port + 1)
    with dealer(keyed, keyed.files["control"], port=wire.port) as s:
        request = pb.Request(add_target=pb.AddTargetRequest(name="once", uri=f"file:{keyed.directory}/x"))
        assert ask(s, request).WhichOneof("what") == "done"
    assert client("remove", "once", "--connect", keyed.publish).returncode == 0
    failed = keyed.state().handshakes_failed
    with socket.create_connection(("127.0.0.1", keyed.port + 1)) as s:
        s.sendall(wire.sent)
        s.settimeout(60)
        with contextlib.suppress(OSError):
            while s.recv(4096):
                pass
    wait_for(lambda: keyed.state().handshakes_failed > failed, "the replay to be refused")
    assert not keyed.target("once")


def test_revoked(keyed):
    """What a revoked key still asks is refused, its connections end; others go on."""
    with dealer(keyed, keyed.files["read"]) as other, dealer(keyed, keyed.files["control"]) as s:
        assert ask(s, pb.Request(status=pb.StatusRequest())).status
        assert ask(other, pb.Request(status=pb.StatusRequest())).status
        sub = zmq.Context.instance().socket(zmq.SUB)
        sub.linger = 0
        sub.curve_publickey, sub.curve_secretkey = raw(keyed.files["control"])
        sub.curve_serverkey = bytes.fromhex(keyed.server)
        sub.subscribe(b"hw1/")
        sub.connect(keyed.tcp)
        assert sub.poll(30000)
        kept = zmq.Context.instance().socket(zmq.SUB)
        kept.linger = 0
        kept.curve_publickey, kept.curve_secretkey = raw(keyed.files["read"])
        kept.curve_serverkey = bytes.fromhex(keyed.server)
        kept.subscribe(b"hw1/daemon/")
        kept.connect(keyed.tcp)
        assert kept.poll(30000)
        before = keyed.state()
        keyed.keys_("revoke", "control")
        keyed.reload()
        wait_for(lambda: not s.poll(0, zmq.POLLOUT), "the connection to end")
        state = wait_for(lambda: keyed.state().handshakes_refused > before.handshakes_refused and keyed.state(),
                         "its next handshake to be refused")
        assert state.connections_shut == before.connections_shut + 2 and state.authorized_keys == 2
        while sub.poll(0):
            sub.recv_multipart()
        assert not sub.poll(2500), "it is still published to"        # the heartbeat comes once a second
        sub.close()
        admitted = keyed.state().handshakes_admitted
        assert ask(other, pb.Request(status=pb.StatusRequest())).status
        while kept.poll(0):
            kept.recv_multipart()
        assert kept.poll(30000)
        assert keyed.state().handshakes_admitted == admitted == before.handshakes_admitted, "the other had to connect again"
        kept.close()
    assert "revoked key=control" in keyed.log.read_text()
    done = keyed.by(keyed.files["control"], "status")
    assert done.returncode == 2 and b"does not accept your key" in done.stderr


def test_let_in_later(keyed):
    """Who waits outside, refused, is in as soon as the key is authorised."""
    late = keyed.guest("late")
    with running(CLIENT, "pipe", "--format", "json", "--connect", "prod-1", "--key", late,
                 env={**os.environ, **keyed.env}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as pipe:
        wait_for(lambda: keyed.state().handshakes_refused >= 1, "it to be refused")
        keyed.keys_("authorize", "late", raw(late)[0].hex())
        keyed.reload()
        assert json.loads(pipe.stdout.readline())


def test_a_role_changes_at_once(keyed):
    with dealer(keyed, keyed.files["read"]) as s:
        add = pb.Request(add_target=pb.AddTargetRequest(name="late", uri=f"file:{keyed.directory}/x"))
        assert "this needs control" in ask(s, add).error
        keyed.keys_("authorize", "read", raw(keyed.files["read"])[0].hex(), "--role", "control")
        keyed.reload()
        assert ask(s, add).WhichOneof("what") == "done"


def test_a_mistake_leaves_the_old_keys(keyed):
    file = keyed.keys / "authorized.yaml"
    good = file.read_text()
    file.write_text(good + "- { name: eve, role: root, public: " + "0" * 64 + " }\n")
    done = client("ctl", "reload", "--connect", keyed.publish)
    assert done.returncode == 1 and re.search(rb"authorized.yaml:4:\d+: unknown role 'root'", done.stderr), done.stderr
    assert keyed.by(keyed.files["read"], "status").returncode == 0
    file.write_text(good)
    file.chmod(0o622)
    done = client("ctl", "reload", "--connect", keyed.publish)
    assert done.returncode == 1 and b"others may change it" in done.stderr
    file.chmod(0o600)
    file.write_text("")     # a write that was cut short shuts nobody out
    done = client("ctl", "reload", "--connect", keyed.publish)
    assert done.returncode == 1 and b"authorized.yaml is empty, which would shut out all" in done.stderr, done.stderr
    assert keyed.by(keyed.files["read"], "status").returncode == 0
    file.unlink()
    keyed.reload()
    assert keyed.state().authorized_keys == 0


def test_the_servers_key_changes_under_load(keyed):
    """Who is connected goes on; who knows old and new key gets in all the while; the old key alone ends."""
    def wanted():
        return keyed.state().handshakes_admitted

    with running(CLIENT, "pipe", "--format", "json", "--connect", "prod-1", "--key", keyed.files["read"],
                 env={**os.environ, **keyed.env}, stdout=subprocess.PIPE) as pipe:
        lines = iter(pipe.stdout.readline, b"")
        assert json.loads(next(lines))
        old, failures, asked = keyed.server, [], 0
        wait_for(lambda: wanted() >= 2, "pipe's two connections", 30)
        for _ in range(2):
            new = keyed.new("server", "--replace")
            keyed.write_hosts([keyed.server, new])
            stop = threading.Event()

            def load():
                nonlocal asked
                while not stop.is_set():
                    done = keyed.by(keyed.files["silence"], "ctl", "targets")
                    asked += 1
                    if done.returncode:     # a loaded machine may need longer for two handshakes than ctl waits
                        done = keyed.by(keyed.files["silence"], "ctl", "targets")
                    if done.returncode:
                        failures.append(done.stderr)

            thread = threading.Thread(target=load)
            thread.start()
            begun = asked
            wait_for(lambda: asked > begun + 2, "some requests before")
            keyed.process.send_signal(signal.SIGHUP)
            wait_for(lambda: asked > begun + 4, "some requests after")
            stop.set()
            thread.join()
            keyed.server = new
        assert not failures, failures
        shut = keyed.state().connections_shut
        for _ in range(3):
            assert json.loads(next(lines))
        assert shut == 0
    keyed.write_hosts([old])
    done = keyed.by(keyed.files["read"], "status")
    assert done.returncode == 2 and b"has another key" in done.stderr


def test_ten_thousand_refused_a_minute(keyed):
    """A flood of strangers: those who are let in are answered. How fast is asked only when HEAPWATCH_REFUSED says how many."""
    wanted = os.environ.get("HEAPWATCH_REFUSED")
    count, over = int(wanted or 2500), threading.Event()  # more than the log writes of them
    stranger, context = keyed.guest("stranger"), zmq.Context()
    public, secret = raw(stranger)
    began, waits = time.monotonic(), []
    with dealer(keyed, keyed.files["read"]) as good:
        assert ask(good, pb.Request(status=pb.StatusRequest())).status

        def knock():
            """libzmq gives up when it was refused: each time another socket."""
            while not over.is_set():
                s = context.socket(zmq.DEALER)
                s.linger, s.immediate = 0, 1
                s.curve_publickey, s.curve_secretkey, s.curve_serverkey = public, secret, bytes.fromhex(keyed.server)
                monitor = s.get_monitor_socket(zmq.EVENT_HANDSHAKE_FAILED_AUTH)
                s.connect(f"tcp://127.0.0.1:{keyed.port + 1}")
                monitor.poll(5000)
                s.disable_monitor()
                s.close()

        threads = [threading.Thread(target=knock) for _ in range(8)]
        for thread in threads:
            thread.start()
        try:
            while keyed.state().handshakes_refused < count:
                at = time.monotonic()
                assert ask(good, pb.Request(status=pb.StatusRequest())).status
                waits.append(time.monotonic() - at)
                assert at - began < 300, f"{keyed.state().handshakes_refused} refusals so far"
                time.sleep(0.02)
            took = time.monotonic() - began
        finally:
            over.set()
            for thread in threads:
                thread.join()
            context.term()
    if wanted:
        assert count / took > 10000 / 60, f"only {count / took * 60:.0f} a minute"
        assert sorted(waits)[len(waits) * 99 // 100] < 0.25, sorted(waits)[-5:]
    lines = [line for line in keyed.log.read_text().splitlines() if "refused=" in line]
    assert len(lines) < 1200 + 20 * (took + 5), "the log is not rate-limited"
    wait_for(lambda: "more like the previous one were left out" in keyed.log.read_text(), "the log to say what it left out")


def test_refused_at_the_start(directory):
    from harness import DAEMON

    def start(*args):
        return subprocess.run([DAEMON, "--publish", f"ipc://{directory}/publish", "--request", f"ipc://{directory}/request", *args],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60)

    keys, port = directory / "keys", free_ports(2)
    for args, code, words in (
            (["--listen", f"tcp://0.0.0.0:{port}", "--keys", str(keys)], 1, b"`heapwatch keys new server"),
            (["--listen", "tcp://example.org:7700", "--keys", str(keys)], 1, b"keys new server"),
            (["--keys", str(keys)], 2, b"--keys belongs to --listen"),
    ):
        done = start(*args)
        assert done.returncode == code and words in done.stderr, (args, done.stderr)
    assert client("keys", "new", "server", "--dir", keys).returncode == 0
    for args, words in ((["--listen", "tcp://example.org:7700"], b"is not an address"), (["--listen", "0.0.0.0"], b"expected tcp://"),
                        (["--listen", "tcp://0.0.0.0:65535"], b"1 to 65534")):
        done = start(*args, "--keys", str(keys))
        assert done.returncode == 1 and words in done.stderr, (args, done.stderr)
    (keys / "server.key").chmod(0o644)
    done = start("--listen", f"tcp://0.0.0.0:{port}", "--keys", str(keys))
    assert done.returncode == 1 and b"chmod 600" in done.stderr
    (keys / "server.key").chmod(0o600)
    keys.chmod(0o755)
    done = start("--listen", f"tcp://0.0.0.0:{port}", "--keys", str(keys))
    assert done.returncode == 1 and b"chmod 700" in done.stderr
    keys.chmod(0o700)
    done = subprocess.run([DAEMON, "--publish", f"tcp://127.0.0.1:{port}", "--request", f"tcp://127.0.0.1:{port + 1}",
                           "--listen", f"tcp://127.0.0.1:{port}", "--keys", str(keys)], capture_output=True, timeout=60)
    assert done.returncode == 2 and b"without keys" in done.stderr


def test_another_user_is_not_let_in(directory):
    """Also where somebody has opened the directory to all."""
    require_another_user()
    with Daemon(directory) as daemon:
        directory.chmod(0o711)
        for name in ("publish", "request"):
            (directory / name).chmod(0o777)
        code = f"import socket; s = socket.socket(socket.AF_UNIX); s.connect({str(directory / 'request')!r}); s.settimeout(60); print(len(s.recv(99)))"
        done = subprocess.run(["/usr/bin/python3", "-c", code], capture_output=True, timeout=90,
                              preexec_fn=lambda: (os.setgid(65534), os.setuid(65534)))
        assert done.stdout.strip() == b"0", done
        wait_for(lambda: daemon.status().daemon.strangers_refused == 1, "the stranger counted")
        assert "from=uid 65534" in daemon.log.read_text()


def test_the_command(directory):
    keys = directory / "k"
    made = client("keys", "new", "alice@laptop", "--dir", keys)
    assert made.returncode == 0 and re.fullmatch(rb"alice@laptop [0-9a-f]{64}\n", made.stdout)
    assert keys.stat().st_mode & 0o777 == 0o700 and (keys / "alice@laptop.key").stat().st_mode & 0o777 == 0o600
    assert client("keys", "show", "--dir", keys).stdout == made.stdout == client("keys", "show", "alice@laptop", "--dir", keys).stdout
    done = client("keys", "new", "alice@laptop", "--dir", keys)
    assert done.returncode == 2 and b"already exists" in done.stderr
    name, public = made.stdout.decode().split()
    (keys / "authorized.yaml").write_text("# those on call\n- name: bob\n  role: read\n  public: " + "1" * 64 + "\n# the rest\n")
    assert client("keys", "authorize", name, public, "--role", "silence", "--dir", keys).returncode == 0
    assert client("keys", "list", "--dir", keys).stdout.decode().split() == ["bob", "read", "1" * 64, name, "silence", public]
    assert client("keys", "authorize", name, public, "--dir", keys).returncode == 0                 # another role
    done = client("keys", "authorize", name, "2" * 64, "--dir", keys)
    assert done.returncode == 2 and b"--replace" in done.stderr
    assert client("keys", "authorize", name, "2" * 64, "--replace", "--dir", keys).returncode == 0
    assert client("keys", "list", "--dir", keys).stdout.decode().split() == ["bob", "read", "1" * 64, name, "read", "2" * 64]
    assert client("keys", "revoke", "bob", "--dir", keys).returncode == 0
    text = (keys / "authorized.yaml").read_text()
    assert "# those on call" in text and "bob" not in text and name in text
    done = client("keys", "revoke", "alice@lapto", "--dir", keys)
    assert done.returncode == 2 and b"did you mean 'alice@laptop'?" in done.stderr
    for args, words in ((["new", "a/b"], b"cannot be a key's name"), (["authorize", "a", "b"], b"expected: heapwatch keys"),
                        (["authorise", "a", "b"], b"did you mean 'authorize'?"), ([], b"expected a verb")):
        done = client("keys", *args, "--dir", keys)
        assert done.returncode == 2 and words in done.stderr, done.stderr


def test_what_was_recorded_is_for_those_with_a_key(directory):
    """dump, bundle and recordings reach such a daemon; bundle's verdict comes from it, too."""
    log = LiveLog(directory / "t.eventlog")
    for second in range(1, 30):
        log.live(1 << 20, second * 10**9)
    d = Door(directory, f"t={log.path}", args=["--record", directory / "kept"])
    key, reader = d.guest("control", "control"), d.guest("read", "read")
    with d:
        wait_for(lambda: (h := d.health("t")) and h.recording.bytes > 0, "a recording")
        done = d.by(key, "recording", "bundle", "t", "--after", "0s", "-o", directory / "bundles")
        assert done.returncode == 0, done.stderr
        bundle = pathlib.Path(done.stdout.decode().strip())
        assert {f.name for f in bundle.iterdir()} == {"run.eventlog", "verdict.json", *([] if without_page() else ["report.html"])}
        done = d.by(key, "recording", "dump", "t", "-o", directory / "dumped.eventlog")
        assert done.returncode == 0, done.stderr
        assert (directory / "dumped.eventlog").stat().st_size > 500
        assert b'"target":"t"' in d.by(reader, "recording", "--format", "json").stdout
        assert d.by(reader, "post-mortem", "t").returncode == 0
        refused = d.by(reader, "recording", "bundle", "t", "--after", "0s")
        assert refused.returncode == 2 and b"control" in refused.stderr, refused.stderr
