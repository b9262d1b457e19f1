# SPDX-License-Identifier: BSD-3-Clause
"""`heapwatch mcp`: what an assistant gets is what the commands say; nothing that it sends ends the server or reaches a shell or an option."""
import contextlib
import json
import os
import pathlib
import subprocess
import time

from harness import CLIENT, DEADLINE_S, LOGS, Daemon, Programs, client, private_directory, require_tracing, running, wait_for

LEAKY, OLDER = (str(LOGS / name / "run.eventlog") for name in ("leaky-hT-ghc9103", "leaky-hT-ghc966"))
programs = Programs({"threaded": ("inside-threaded", "Inside", "-threaded", "-rtsopts")})
READ_ONLY = {"targets", "standing", "post_mortem", "alerts", "why", "threads", "diff", "query", "query_tables"}


def request(number, method, **params):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


def call(name, **arguments):
    return ("tools/call", {"name": name, "arguments": arguments})


def talk(*lines, args=(), env=None):
    """The answers to all these lines; the server ends with its input."""
    done = subprocess.run([CLIENT, "mcp", *args], input=b"\n".join(lines) + b"\n", capture_output=True, timeout=DEADLINE_S, env=env)
    assert done.returncode == 0 and done.stderr == b"", done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return sorted(answers, key=lambda a: a["id"] if type(a["id"]) is int else -1)      # calls are answered as they are done


def results(*calls, args=(), **kwargs):
    answers = talk(*(request(i, method, **params) for i, (method, params) in enumerate(calls)), args=args, **kwargs)
    assert [a["id"] for a in answers] == list(range(len(calls)))
    return [a["result"] for a in answers]


def texts(result, is_error=False):
    assert result["isError"] is is_error, result
    return [c["text"] for c in result["content"]]


def test_initialize_negotiates_and_lists():
    first = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    unknown, old, lacking, pong, tools = talk(
        request(1, "initialize", protocolVersion="2024-11-05", **first), request("b", "initialize", protocolVersion="1999-01-01", **first),
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}', b'{"jsonrpc":"2.0","id":9,"result":{}}', b"",
        request(2, "initialize"), request(3, "ping"), request(4, "tools/list"))
    assert old["result"]["protocolVersion"] == "2024-11-05" and old["result"]["serverInfo"]["name"] == "heapwatch"
    assert unknown["id"] == "b" and unknown["result"]["protocolVersion"] == "2025-11-25" and unknown["result"]["capabilities"] == {"tools": {}}
    assert lacking["error"]["code"] == -32602
    assert pong == {"jsonrpc": "2.0", "id": 3, "result": {}}
    assert {t["name"] for t in tools["result"]["tools"]} == READ_ONLY
    for tool in tools["result"]["tools"]:
        schema = tool["inputSchema"]
        assert schema["type"] == "object" and set(schema["required"]) <= set(schema["properties"]) and tool["annotations"]["readOnlyHint"]


def test_tools_of_a_log_say_what_the_commands_say():
    standing, mortem, alerts, diff, query, tables, mistake = results(
        call("standing", source=LEAKY), call("post_mortem", source=LEAKY), call("alerts", source=LEAKY), call("diff", baseline=OLDER, new=LEAKY),
        call("query", sql="-- how many\nSELECT count(*) AS n FROM bands", sources=["x=" + LEAKY]), call("query_tables"),
        call("query", sql="SELECT * FROM bandz", sources=[LEAKY]))
    for result, command in ((standing, ("trend", "--all", LEAKY)), (mortem, ("post-mortem", LEAKY)), (diff, ("diff", OLDER, LEAKY))):
        assert json.loads(texts(result)[0]) == json.loads(client(*command, "--format", "json").stdout)
    assert len(texts(alerts)) == 1
    assert json.loads(texts(query)[0]) == json.loads(client("query", "SELECT count(*) AS n FROM bands", LEAKY, "--format", "json").stdout)[0]
    assert "collections" in texts(tables)[0]
    assert "bandz" in texts(mistake, is_error=True)[0]


def test_answers_are_bounded():
    rows, all_of_it = results(call("query", sql="SELECT time FROM bands", sources=[LEAKY], rows=3),
                              call("query", sql="SELECT b.* FROM bands a, bands b", sources=[LEAKY], rows=2000))
    assert len(texts(rows)[0].splitlines()) == 3 and "by `rows`" in texts(rows)[1], "it says that there is more"
    assert "256 KiB" in texts(all_of_it)[1]
    lines = texts(all_of_it)[0].splitlines()
    assert 100 < len(lines) <= 2000 and len(texts(all_of_it)[0].encode()) <= 256 << 10 and json.loads(lines[-1]) and len(texts(all_of_it)) == 2


def test_a_live_target():
    require_tracing()
    with private_directory() as directory, running(programs["threaded"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout.readline() == b"ready\n"
        with Daemon(directory, f"live=pid:{program.pid}") as daemon:
            wait_for(lambda: daemon.target("live") and "heap" in daemon.snapshot("live"), "its first numbers")
            found = results(call("targets"), call("standing", source="live"), call("standing"), call("alerts"), call("threads", target="live"),
                            call("threads", target=str(program.pid), frames=2), call("why", target="live", top=3),
                            call("query", sql="SELECT DISTINCT target FROM facts", sources=["live"]), call("standing", source="absent"),
                            args=("--connect", daemon.publish))
    targets, standing, everything, alerts, threads, of_pid, why, query, absent = found
    assert "live" in texts(targets)[0] and json.loads(texts(standing)[0])["target"] == json.loads(texts(everything)[0])["target"] == "live"
    assert not alerts["isError"]
    assert max(g["threads"] for g in json.loads(texts(threads)[0])["groups"]) == 40 and json.loads(texts(of_pid)[0])["complete"]
    assert json.loads(texts(why)[0])
    assert json.loads(texts(query)[0])["target"] == "live"
    assert "absent" in texts(absent, is_error=True)[0]


def test_arguments_are_checked_by_the_schema(tmp_path):
    wrong = [call("standing", source="--db=x"), call("standing", source=""), call("standing", source=7), call("standing", sauce=LEAKY),
             call("standing", source=LEAKY, bands=0), call("standing", source=LEAKY, bands="9"), call("why"), call("why", target="x", band="-f"),
             call("query", sql="SELECT 1", sources=[]), call("query", sql="SELECT 1", sources=LEAKY), call("query", sql="SELECT 1", sources=[LEAKY] * 9),
             call("query", sql="SELECT 1", sources=["-o"]), call("query", sql="--output=x", sources=[LEAKY]), call("threads", target="1", frames=2.5),
             call("standing", source=f"$(touch {tmp_path}/made);`touch {tmp_path}/made`"), call("standing", source="x" * 20000), call("standing", source="-" + 60 * "\u20ac"),
             call("query", sql=f"ATTACH '{tmp_path}/made' AS made", sources=[LEAKY])]
    for number, result in enumerate(results(*wrong)):
        assert texts(result, is_error=True)[0], wrong[number]
        assert number != 3 or "'sauce'" in texts(result, is_error=True)[0]
    assert not list(tmp_path.iterdir())


def test_hostile_messages_are_answered():
    def code(line):
        error, pong = talk(line, request(5, "ping"))
        assert pong["result"] == {}, "the server goes on"
        return error["id"], error["error"]["code"]

    assert code(b"{") == (None, -32700)
    assert code(b'{"a":"\xff"}') == (None, -32700)
    assert code(b'{"a":"\0"}') == (None, -32700)
    assert code(b"[" * 500000) == (None, -32700)
    assert code(b"x" * (3 << 20)) == (None, -32600)
    assert code(b"[" + request(1, "ping") + b"]") == (None, -32600)
    assert code(b'{"id":1}') == (1, -32600)
    assert code(b'{"jsonrpc":"2.0","id":{},"method":"ping"}') == (None, -32600)
    assert code(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}') == (1, -32602)
    assert code(request(1, "tools/call", name="rm", arguments={})) == (1, -32602)
    assert code(request(1, "tools/call", name="targets", arguments=[])) == (1, -32602)
    assert code(request(1, "initialize")) == (1, -32602)
    assert code(request(1, "resources/list")) == (1, -32601)
    assert code(request(1, "x" + 60 * "\u00e9")) == (1, -32601)      # quoted as far as is shown
    assert code(request(1, "tools/call", name=60 * "\u20ac")) == (1, -32602)
    assert talk(request(1, "ping") + b"\r", b'{"jsonrpc":"2.0","id":2,"method":"ping"}')[1]["id"] == 2


class Server:
    """One that goes on, to which messages are sent one by one."""
    endless = call("query", sql="WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t) SELECT max(i) FROM t", sources=[LEAKY])

    def __init__(self, process):
        self.process = process

    def send(self, number, called):
        self.tell(request(number, called[0], **called[1]))

    def tell(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def cancel(self, number):
        self.tell(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}).encode())

    def answer(self):
        return json.loads(self.process.stdout.readline())

    def children(self):
        return [c for task in os.listdir(f"/proc/{self.process.pid}/task")
                for c in pathlib.Path(f"/proc/{self.process.pid}/task/{task}/children").read_text().split()]


@contextlib.contextmanager
def server():
    with running(CLIENT, "mcp", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield Server(process)


def test_calls_beside_each_other_and_cancelled():
    with server() as s:
        for number in range(4):      # as many as are answered at a time
            s.send(number, s.endless)
        wait_for(lambda: len(s.children()) == 4, "four queries")
        s.send(4, call("query_tables"))
        s.tell(request(5, "ping"))
        assert s.answer() == {"jsonrpc": "2.0", "id": 5, "result": {}}, "other requests do not wait for calls"
        s.send(6, s.endless)      # waits
        s.cancel(6)
        s.cancel("0")      # another id than 0
        s.cancel(0)
        assert s.answer()["id"] == 4, "the place of the one that is cancelled is taken by the next"
        for number in (1, 2):
            s.cancel(number)
        wait_for(lambda: len(s.children()) == 1, "the end of what is cancelled")
        for number in range(100, 131):
            s.send(number, s.endless)
        s.send(200, call("query_tables"))
        busy = s.answer()
        assert busy["id"] == 200 and busy["error"]["code"] == -32000
        for number in (3, *range(100, 131)):
            s.cancel(number)
        s.process.stdin.close()
        assert s.process.stdout.read() == b"", "what is cancelled has no answer"
        assert s.process.wait(DEADLINE_S) == 0


def test_a_signal_ends_a_call_and_its_command():
    with server() as s:
        s.send(1, s.endless)
        child, = wait_for(s.children, "the query as a child")
        begun = time.monotonic()
        s.process.terminate()
        assert s.process.wait(DEADLINE_S) == -15 and time.monotonic() - begun < 30
        wait_for(lambda: subprocess.run(["kill", "-0", child], capture_output=True).returncode != 0, "the end of the query")


def test_with_only_what_assistants_pass_on():
    """Their SDK starts servers with six variables alone."""
    answer, = results(call("standing", source=LEAKY), env={"HOME": "/", "PATH": "/usr/bin:/bin", "SHELL": "/bin/sh", "TERM": "dumb", "USER": "x", "LOGNAME": "x"})
    assert json.loads(texts(answer)[0])["run"] == 1
