# SPDX-License-Identifier: BSD-3-Clause
"""Stacks that a program samples itself, by ghc-stack-profiler: a real log of 0.4, decoded here by the published layout, and
messages of 0.4 and 0.5 as their sources write them, in finished logs, live, over restarts and in recordings."""
import base64
import collections
import itertools
import json
import struct

import pytest

from harness import LOGS, Daemon, client, printed, wait_for, wait_newer_checkpoint
from live_log import LiveLog
from test_convert import Pprof

REAL = LOGS / "stacks-ghc9103" / "run.eventlog"


def query(sql, *sources):
    return json.loads(printed("query", sql, *sources, "--format", "json"))


def stacks_of(*sources):
    rows = query("SELECT path, sum(ticks) AS n FROM stacks GROUP BY path", *sources)
    return collections.Counter({row["path"]: row["n"] for row in rows})


def threads_of(*sources):
    rows = query("SELECT thread, sum(ticks) AS n FROM stacks GROUP BY thread", *sources)
    return collections.Counter({row["thread"]: row["n"] for row in rows})


def decoded(log):
    """Its samples by path, and by thread, from the bytes of its events."""
    names, samples, threads = {}, [], collections.Counter()
    done = client("events", log, "--format", "json", "--kind", "IPE,USER_BINARY_MSG")
    for event in map(json.loads, done.stdout.splitlines()):
        if event["name"] == "IPE":
            f = event["fields"]
            names[int(f["info_table"])] = f"{f['module']}.{f['label'] or f['table_name']}"
            continue
        message = base64.b64decode(event["fields"]["bytes"])
        tag, _, thread, n = struct.unpack_from(">HIIH", message)
        threads[thread] += 1
        assert tag == 0xFFCA and len(message) == 12 + 9 * n
        samples.append([struct.unpack_from(">BQ", message, 12 + 9 * i)[1] for i in range(n)])
    return collections.Counter(";".join(name for name, _ in itertools.groupby(names[i] for i in s)) or "MAIN" for s in samples), threads


def test_a_real_log_is_a_time_profile(tmp_path):
    truth, threads = decoded(REAL)
    assert truth.total() > 100 and len(truth) > 3 and len(threads) > 1
    assert stacks_of(REAL) == truth and threads_of(REAL) == threads
    collapsed = collections.Counter()
    for line in client("convert", REAL, "--to", "collapsed").stdout.decode().splitlines():
        path, _, n = line.rpartition(" ")
        collapsed[path] += int(n)
    assert collapsed == truth
    pprof = Pprof(client("convert", REAL, "--to", "pprof").stdout)
    assert {";".join(names): n for names, n in pprof.sums().items()} == truth
    scope = json.loads(client("convert", REAL, "--to", "speedscope").stdout)
    (profile,), frames = scope["profiles"], [f["name"] for f in scope["shared"]["frames"]]
    assert profile["unit"] == "none" and profile["endValue"] == truth.total() == sum(profile["weights"])
    drawn = collections.Counter()
    for stack, n in zip(profile["samples"], profile["weights"]):
        drawn[";".join(frames[i] for i in stack)] += n
    assert drawn == truth
    said = client("summary", REAL).stdout.decode()
    assert f"Samples of stacks by ghc-stack-profiler: {truth.total()}" in said
    assert "binary messages" not in said


def chunk(tag, thread, codes, old=False, frames=None):
    entries = frames if frames is not None else b"".join(struct.pack(">BQ", 1, code) for code in codes)
    n = len(codes) if frames is None else codes
    return struct.pack(">HIIH" if old else ">HIQH", tag, 0, thread, n) + entries


def string(n, text, old=False):
    return struct.pack(">HQH", 0xFFCC, n, len(text) if old else len(text.encode())) + text.encode()


def place(n, line, column, file):
    return struct.pack(">HQIIQ", 0xFFCD, n, line, column, file)


VERSION = b"\xff\xc0\0"


@pytest.mark.parametrize("old", [True, False], ids=["0.4", "0.5"])
def test_annotations_and_late_definitions(tmp_path, old):
    log = LiveLog(tmp_path / "a.eventlog")
    annotated = struct.pack(">BQ", 1, 100) + struct.pack(">BQQ", 3, 1, 5) + struct.pack(">BQ", 2, 2)
    log.binary(chunk(0xFFCA, 9, 3, old, annotated), chunk(0xFFCB, 9, [100, 101], old), b"OTel, secret", at_ns=2)
    log.binary(chunk(0xFFCA, 8, [101], old), chunk(0xFFCA, 9, [102], old), at_ns=3)
    log.binary(place(5, 12, 3, 3), string(1, "l\u00e4dt", old), string(2, "x", old), string(3, "Db.hs", old), at_ns=4)
    for code in (100, 101):
        log.info_table(code, f"f{code}", "a.hs:1:2-3", at_ns=5)
    log.end()
    assert stacks_of(log.path) == {"Main.f100;l\u00e4dt;x": 1, "Main.f100;Main.f101;0x66": 1, "Main.f101": 1}
    (centre,) = query("SELECT * FROM cost_centres WHERE label = 'l\u00e4dt'", log.path)
    assert centre["place"] == "Db.hs:12:3" and centre["ticks"] == 0 and centre["ticks_inherited"] == 1
    facts = {r["fact"]: r["value"] for r in query("SELECT fact, value FROM facts", log.path)}
    assert (facts["profile_ticks"], facts["binary_messages"], facts["frames_undefined"]) == (3, 1, 1)
    for command in ("summary", "pipe", "report"):
        assert b"secret" not in client(command, log.path).stdout


def test_threads_are_told_apart_as_far_as_there_is_room(tmp_path):
    log = LiveLog(tmp_path / "a.eventlog")
    log.info_table(100, "f", "a.hs:1:2-3")
    log.binary(*(chunk(0xFFCA, thread, [100]) for thread in [*range(1, 72), 2]))
    log.end()
    assert threads_of(log.path) == {**{n: 1 for n in range(1, 65)}, 2: 2, None: 7}
    assert stacks_of(log.path) == {"Main.f": 72}


def test_live_over_a_restart_and_in_a_recording(tmp_path, directory):
    log = LiveLog(tmp_path / "p.eventlog")
    args = ("--checkpoint", f"{directory}/state.d", "--checkpoint-every", "100ms", "--record", f"{directory}/rec", "--notify", "off")
    log.binary(VERSION, string(1, "kept"), chunk(0xFFCA, 9, [100]), chunk(0xFFCB, 9, [100, 100]))
    log.info_table(100, "f", "a.hs:1")
    daemon = Daemon(directory, f"p=file:{log.path}", args=args).start()
    said = lambda: stacks_of("p", "--connect", daemon.publish)
    wait_for(lambda: said() == {"Main.f": 1}, "the first sample")
    wait_newer_checkpoint(directory, "p")
    daemon.stop()
    log.binary(chunk(0xFFCA, 9, 1, frames=struct.pack(">BQ", 2, 1)))        # the rest of the stack
    log.binary(chunk(0xFFCA, 9, 1, frames=struct.pack(">BQ", 2, 2)))        # with a name that is still to come
    daemon.start()
    wait_for(lambda: said() == {"Main.f": 1, "Main.f;kept": 1, "(string 2)": 1}, "samples after the restart")
    assert threads_of("p", "--connect", daemon.publish) == {9: 3}
    log.binary(string(2, "late"))
    log.live(1 << 20, at_ns=log.now() + 2 * 10**9)
    wait_for(lambda: said() == {"Main.f": 1, "Main.f;kept": 1, "late": 1}, "the name")
    begin = log.now() + 3 * 10**9
    log.binary(chunk(0xFFCA, 9, 1, frames=struct.pack(">BQ", 2, 2)), at_ns=begin)
    log.end()
    wait_for(lambda: query("SELECT state FROM runs", "p", "--connect", daemon.publish) == [{"state": "ended"}], "its end")
    daemon.stop()
    cut = tmp_path / "cut.eventlog"
    printed("recording", "dump", "p", "--dir", f"{directory}/rec", "--from", f"{begin - 10**8}ns", "-o", cut)
    assert stacks_of(cut) == {"late": 1}        # its name is from before
