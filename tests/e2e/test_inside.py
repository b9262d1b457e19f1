# SPDX-License-Identifier: BSD-3-Clause
"""Programs that were not prepared, read from outside: their threads; what is stopped runs again; who may not is told why."""
import contextlib
import gzip
import json
import lzma
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import time

import pytest

from harness import CLIENT, DEADLINE_S, LONG, ROOT, Daemon, Programs, client, long_cases, require, require_page, require_another_user, require_tracing, running, wait_for
from terminal import Terminal, top
from test_web import Web
from test_web_page import browser     # noqa: F401: a fixture
from web_browser import Web as BrowsedWeb

pytestmark = pytest.mark.xdist_group("inside")
MIB = 1 << 20
SHOWN = "heapwatch.settled && document.querySelector('.treemap').offsetParent && heapwatch.chart('held')"      # who holds what
programs = Programs({
    "plain": ("inside", "Inside", "-rtsopts"),
    "threaded": ("inside-threaded", "Inside", "-threaded", "-rtsopts"),
    "equal": ("equal", "Equal"),
    "sliced": ("sliced", "Sliced"),
    "profiled": ("inside-profiled", "Inside", "-threaded", "-prof"),
    "foreign": ("foreign-work", "ForeignWork", "-threaded", "-optc-O2", "tests/programs/foreign_work.c"),
    "foreign-plain": ("foreign-work-plain", "ForeignWork", "-optc-O2", "tests/programs/foreign_work.c"),
    "finalizers": ("finalizers", "Finalizers", "-threaded", "-rtsopts"),
    "held": ("held", "Held", "-package", "containers"),
    "region": ("region", "Region", "-threaded", "-package", "ghc-compact", "-package", "containers"),
    "turns": ("turns", "Turns"),
    "turns-threaded": ("turns-threaded", "Turns", "-threaded"),
    "sources": ("inside-sources", "Inside", "-threaded", "-rtsopts", "tests/programs/inside_sources.c"),
})


@contextlib.contextmanager
def started(path, *args, traced=True, **kwargs):
    """It, once all is there, until it is killed; skips the test where it may not be traced."""
    if traced:
        require_tracing()
    with running(path, *args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **kwargs) as program:
        assert program.stdout.readline() == b"ready\n"
        yield program


@pytest.fixture(scope="module")
def threaded():
    with started(programs["threaded"]) as program:
        yield program


def inspect(command, what, *args):
    done = client(command, what, *args, "--format", "json")
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def check_threads(found):
    assert found["complete"] and found["list_complete"] and found["layout"] == "9.0 to 9.4"
    waiting = [g for g in found["groups"] if g["threads"] == 40]
    assert len(waiting) == 1 and waiting[0] is found["groups"][0], "the largest group is the first"
    assert waiting[0]["state"] == "mvar" and len({m["waits_for"] for m in waiting[0]["members"]}) == 1
    assert all(m["stack_whole"] for g in found["groups"] for m in g["members"])
    deep = max((m for g in found["groups"] for m in g["members"]), key=lambda m: m["stack_frames"])
    assert 20000 < deep["stack_frames"] < 20020 and deep["stack_bytes"] > 20000 * 16
    states = [g["state"] for g in found["groups"]]
    assert states.count("stm") == 1 and states.count("delay") <= 1
    main = [m for g in found["groups"] for m in g["members"] if m.get("main")]
    assert [m["label"] for m in main] == (["main"] if found["symbols"] else []), "and it has no label of its own"
    if found["symbols"]:
        assert states.count("delay") == 1, "in threadDelay, whichever way the runtime waits"
    return waiting[0]


def test_threads_in_groups(threaded):
    found = inspect("threads", threaded.pid)
    waiting = check_threads(found)
    assert found["program"] == pathlib.Path(programs["threaded"]).name and found["pid"] == threaded.pid and found["stopped_s"] > 0
    assert found["symbols"] and not found["profiled"]
    names = [f["name"] for f in waiting["frames"]]
    assert names[0] == "stg_block_takemvar" and any("waitForReply" in n or n == "Main" for n in names), names
    deep = next(g for g in found["groups"] if g["members"][0]["stack_frames"] > 20000)
    assert any("descend" in f["name"] for f in deep["frames"])
    assert waiting["state_text"] == "blocked on an MVar" and waiting["same_cause"] and " in " in found["sentences"][0]
    assert (waiting["least_stack_bytes"], waiting["most_stack_bytes"]) == (min(m["stack_bytes"] for m in waiting["members"]),
                                                                           max(m["stack_bytes"] for m in waiting["members"]))
    assert waiting["allocated_bytes"] == sum(m["allocated_bytes"] for m in waiting["members"])


def test_threads_one_by_one_and_as_text(threaded):
    found = inspect("threads", threaded.pid, "--all", "--frames", "3")
    ids = [g["members"][0]["id"] for g in found["groups"]]
    assert len(ids) == found["threads"] and ids == sorted(ids) and all(len(g["frames"]) <= 3 for g in found["groups"])
    text = client("threads", threaded.pid).stdout.decode()
    assert "40 threads blocked on an MVar, all on the same one" in text and " in 20,00" in text
    heads = re.findall(r"^(?:thread \d+ ?.*?|[\d,]+ threads .*?)(?=[:;])", text, re.M)
    assert re.fullmatch(r"thread \d+ main", heads[0]) and any("threads blocked" in h for h in heads[1:3]), heads
    assert "sleeping (threadDelay)" in text, text
    assert text.startswith(f"{pathlib.Path(programs['threaded']).name} (process {threaded.pid}): ") and "stopped for" in text
    status = pathlib.Path(f"/proc/{threaded.pid}/status")
    wait_for(lambda: status.read_text().split("State:\t")[1][0] == "S", "the program to run again, which waits")


def test_the_largest_groups_of_threads(threaded):
    tool = pathlib.Path(CLIENT).with_name("heapwatch-inspect")
    found = json.loads(subprocess.run([tool, "threads", "--pid", str(threaded.pid), "--format", "json", "--brief", "--top", "3"],
                                      capture_output=True, check=True).stdout)
    assert [g["threads"] for g in found["groups"]] == [40, 1, 1] and len(found["groups"][0]["members"]) == 6
    assert sum(g["threads"] for g in found["groups"]) + found["other_groups"] == found["threads"], "each of the others is of one thread"


def test_threads_without_stopping(threaded):
    found = inspect("threads", threaded.pid, "--no-stop")
    check_threads(found)
    assert found["from"] == "running" and "stopped_s" not in found


@pytest.mark.parametrize("build", ["plain", "profiled"])
def test_threads_of_other_builds(build):
    with started(programs[build]) as program:
        found = inspect("threads", program.pid)
        check_threads(found)
        assert found["profiled"] == (build == "profiled")


def test_threads_of_a_stripped_program(directory):
    path = shutil.copy(programs["threaded"], directory / "stripped")
    subprocess.run(["strip", path], check=True)
    with started(path) as program:
        found = inspect("threads", program.pid)
        check_threads(found)
        assert not found["symbols"]
        assert all(f["name"].startswith("stripped+0x") for g in found["groups"] for f in g["frames"]), "no name is made up"


def in_c(found):
    """The groups of threads that are in foreign_wait, which Haskell calls, and those in C of which nothing is known."""
    groups = [g for g in found["groups"] if "c_frames" in g]
    return [g for g in groups if g["c_stack_frames"] >= 3], [g for g in groups if not g["c_frames"]]


def numbers_in_c(found):
    return [[g["threads"] for g in groups] for groups in in_c(found)]


def check_c_frames(what, program):
    """Seven threads wait in a call, their stacks were moved meanwhile; one waits in a call in a call back, below which C is not known."""
    found = wait_for(lambda: (f := inspect("threads", what)) and numbers_in_c(f) == [[7, 1], [1]] and f, "eight threads to wait in C")
    waiting, [outer] = in_c(found)
    assert len({m["os_thread"] for g in waiting for m in g["members"]}) == 8
    assert all(g["state"] == "foreign" and g["c_stack_whole"] and g["c_stack_frames"] == len(g["c_frames"]) for g in waiting)
    names = [f["name"] for f in waiting[0]["c_frames"]]
    assert names == [f["name"] for f in waiting[1]["c_frames"]] and all(f["function"].startswith("0x") for f in waiting[0]["c_frames"])
    if found["symbols"]:
        assert names[-2:] == ["foreign_pause", "foreign_wait"] and outer["frames"][0]["name"].startswith("Main")
    else:
        assert all(re.fullmatch(program + r"\+0x[0-9a-f]+", name) for name in names[-2:]), "no name is made up"
    assert outer["state"] == "foreign" and outer["c_stack_frames"] == 0 and not outer["c_stack_whole"]
    text = client("threads", what).stdout.decode()
    assert text.count("".join(f"        {name}\n" for name in names)) == 2 and text.count("        (C functions that are not known)\n") == 1
    short = client("threads", what, "--frames", "1").stdout.decode()
    assert short.count(f"        {names[0]}\n        ... {len(names) - 1} more in C\n        ") == 2
    return found


@pytest.mark.parametrize("stripped", [False, True])
def test_c_functions_of_threads(directory, stripped):
    path = shutil.copy(programs["foreign"], directory / "work")
    if stripped:
        subprocess.run(["strip", path], check=True)
    with started(path, "wait") as program:
        check_c_frames(program.pid, "work")
        found = wait_for(lambda: 7 in numbers_in_c(f := inspect("threads", program.pid, "--no-stop"))[1] and f, "seven that are not moved")
        waiting, unknown = in_c(found)
        assert not waiting and not any(g["c_stack_whole"] for g in unknown)


@pytest.mark.parametrize("build", ["foreign", "foreign-plain"])
@pytest.mark.parametrize("call", ["safe", "unsafe"])
def test_c_functions_of_a_thread_that_computes(build, call):
    with started(programs[build], call) as program:
        def in_loop():
            groups = [g for g in inspect("threads", program.pid)["groups"] if g["state"] in ("foreign", "running_c")]
            return [g for g in groups if g["c_frames"] and g["c_frames"][0]["name"] == "foreign_loop"]
        [g] = wait_for(in_loop, "it to be in C")
        assert [f["name"] for f in g["c_frames"]] in (["foreign_loop", "foreign_compress"], ["foreign_loop", "foreign_check"])
        assert g["c_stack_whole"] and g["state"] == ("foreign" if call == "safe" else "running_c")
        assert g["members"][0]["os_thread"] == program.pid and g["members"][0]["stack_whole"]
        if call == "unsafe":
            name = {"foreign_compress": "Main.$wcompress", "foreign_check": "Main.$wcheck"}[g["c_frames"][-1]["name"]]
            assert g["frames"][0]["name"].endswith(name), "which has no frame"


def require_cores():
    pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
    if pattern.startswith("|") or "/" in pattern:
        pytest.skip(f"needs core files where a program crashes; kernel.core_pattern is {pattern}")


def allow_cores():
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)


def core_of(directory, path, *args, ready=lambda program: None):
    """Its core file after a crash, and the process that it was."""
    require_cores()
    with started(path, *args, traced=False, cwd=directory, preexec_fn=allow_cores) as program:
        ready(program)
        program.send_signal(signal.SIGABRT)
        program.wait(timeout=DEADLINE_S)
    [core] = directory.iterdir()
    return core, program.pid


def test_threads_of_a_core_file(directory):
    core, pid = core_of(directory, programs["threaded"])
    found = inspect("threads", core)
    check_threads(found)
    assert found["from"] == "core" and found["pid"] == pid
    core = core.rename(directory / "core")      # as the kernel calls it: a file here, though it is ELF as programs are
    assert client("threads", "core", cwd=directory).returncode == 0
    for name, packed in (("core.gz", gzip.compress(core.read_bytes(), 1)), ("core.zst", subprocess.run(["zstd", "-qc", core], capture_output=True, check=True).stdout)):
        path = directory / name
        path.write_bytes(packed)
        assert inspect("threads", path)["groups"] == found["groups"]
        path.write_bytes(packed[:len(packed) // 2])
        done = client("threads", path)
        assert done.returncode == 2 and b"it is damaged, or cut off" in done.stderr and not done.stdout, done.stderr
    path.write_bytes(lzma.compress(b"core", preset=0))
    assert b"compressed by xz or lz4" in client("threads", path).stderr
    assert b"systemd" in client("threads", "coredump:no-such-program").stderr
    os.truncate(core, core.stat().st_size // 2)
    done = client("threads", core)
    assert done.returncode == 2 or b"incomplete: the core file was cut off" in done.stdout, done.stderr
    os.truncate(core, 8192)     # what it says of the program is missing, too
    done = client("threads", core)
    assert done.returncode == 2 and b": it is cut off; " in done.stderr, done.stderr


def with_damaged_block(core):
    """The second megablock's first block claims a group of 64 GiB."""
    data, found = bytearray(core), 0
    [headers], [n] = struct.unpack_from("<Q", data, 32), struct.unpack_from("<H", data, 56)
    for at in range(headers, headers + 56 * n, 56):
        kind, _, offset, address, _, size = struct.unpack_from("<IIQQQQ", data, at)
        for block in range(-(-address // MIB) * MIB, address + size - MIB + 1, MIB) if kind == 1 else ():
            descriptor = offset + block - address + 4 * 64
            if struct.unpack_from("<Q", data, descriptor)[0] == block + 4 * 4096:
                found += 1
                if found == 2:
                    struct.pack_into("<I", data, descriptor + 48, 1 << 24)
    assert found > 2
    return bytes(data)


def test_a_damaged_core_file_gives_a_whole_answer_or_none(directory):
    """What is missing is said; a file that is written is complete, and where none can be there is none."""
    core, _ = core_of(directory, programs["held"], "4")
    snapshot, whole = directory / "x.heapsnapshot", core.read_bytes()
    assert inspect("heap", core)["complete"]

    def is_answered(file, words):
        core.write_bytes(file)
        snapshot.unlink(missing_ok=True)
        done = client("heap", core, "-o", snapshot)
        if done.returncode != 0:
            assert done.returncode == 2 and not done.stdout and not snapshot.exists() and words in done.stderr.decode(), done
            return False
        assert words in done.stdout.decode(), done.stdout
        written = json.loads(snapshot.read_bytes())
        for what, fields in (("node", 7), ("edge", 3)):
            assert len(written[what + "s"]) == fields * written["snapshot"][what + "_count"]
        return True

    answers = [is_answered(whole[:len(whole) * part // 10], "cut off") for part in range(1, 10)]
    assert not answers[0] and answers[-1], answers
    assert is_answered(with_damaged_block(whole), "incomplete: not all that the runtime says it holds was found")


def test_a_bundle_has_what_a_core_file_says(directory):
    """Of the crash of a recorded program, whose core file systemd keeps; it is asked when that is gone."""
    require_cores()
    as_systemd = "mount -t tmpfs none /var/lib && mkdir /var/lib/systemd && ln -s $0 /var/lib/systemd/coredump && "
    cores = directory / "cores"
    cores.mkdir()
    require("a mount namespace", "unshare", "--mount", "sh", "-ec", as_systemd + "true", cores)
    with Daemon(directory, args=("--record", directory / "recordings")) as daemon:
        env = {**os.environ, "HEAPWATCH_DIR": str(directory)}
        with running(CLIENT, "run", "--name", "x", "--", programs["threaded"], env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                     stderr=subprocess.DEVNULL, cwd=cores, preexec_fn=allow_cores) as started_by:
            wait_for(lambda: "census" in daemon.snapshot("x"), "a census")
            pid = daemon.wait_state("x", "RUNNING").run_info.pid
            os.kill(pid, signal.SIGABRT)
            started_by.wait(DEADLINE_S)
        [core] = cores.iterdir()
        core.rename(cores / f"core.{programs['threaded'].name[:15]}.0.0123abcd.{pid}.{time.time_ns() // 1000}")
        done = subprocess.run(["unshare", "--mount", "sh", "-ec", as_systemd + 'exec "$@"', cores, CLIENT, "recording", "bundle", "x", "--connect",
                               daemon.publish, "--after", "0s", "-o", directory / "out"], env=env, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    bundle = pathlib.Path(done.stdout.strip())
    assert json.loads((bundle / "post-mortem.json").read_text())["end"] == "badly"
    assert "aitForReply" in (bundle / "core-threads.txt").read_text()
    assert "Main.Session" in (bundle / "core-heap.txt").read_text()
    shutil.rmtree(cores)
    why = client("why", bundle / "core.heapgraph", "Main.Session")
    assert why.returncode == 0 and b"CAF Main.sessions" in why.stdout, why


def test_c_functions_in_a_core_file(directory):
    require_tracing()
    core, _ = core_of(directory, programs["foreign"], "wait", ready=lambda program: check_c_frames(program.pid, ""))
    check_c_frames(core, "")


def check_heap(found):
    """What Inside.hs keeps, to the object."""
    bands = {b["name"]: b for b in found["bands"]}
    assert bands["main:Main.Session"]["closures"] == 3000 and bands["main:Main.Session"]["bytes"] == 3000 * 8 * (4 + found["extra"])
    assert bands["main:Main.Item"]["closures"] == 6000 and bands["main:Main.Order"]["closures"] == 500
    [tree] = [b for name, b in bands.items() if name.startswith("containers-") and name.endswith(":Data.Map.Internal.Bin")]
    assert tree["closures"] == 3000
    assert found["unknown_bytes"] == 0 and found["complete"]
    assert found["bytes"] == sum(b["bytes"] for b in found["bands"])
    assert found["closures"] == sum(b["closures"] for b in found["bands"])


def heap(what, *args, extra=0):
    return {**inspect("heap", what, *args), "extra": extra}


def test_heap_to_the_object(threaded):
    check_heap(heap(threaded.pid))
    check_heap(heap(threaded.pid, "--no-stop", "--by", "type"))
    text = client("heap", threaded.pid, "--top", "3").stdout.decode()
    assert "other types)" in text and "Main.Item" in text and "6,000" in text and "stopped for" in text
    done = client("heap", threaded.pid, "--memory", "64MiB")
    assert done.returncode == 2 and b"of memory, more than allowed: --memory " in done.stderr, done.stderr
    check_heap(heap(threaded.pid, "--memory", done.stderr.split()[-1].decode()))
    found = heap(threaded.pid, "--max-pause", "1ms")
    assert found["from"] == "running", "it would be stopped for longer: it is read while it runs"
    check_heap(found)


def test_a_heap_that_takes_longer_than_a_stop_may():
    """50 MB of a program that collects all the time: the answer is whole, of a copy in a stop or of one made while it runs."""
    with started(programs["held"], "48") as program:
        for command in ("heap", "why"):
            found = inspect(command, program.pid, "--max-pause", "20ms")
            assert found.get("stopped_s", 0) < 10 and found["complete"]
            if command == "heap":
                [tips] = [b for b in found["bands"] if b["name"].endswith("IntMap.Internal.Tip")]
                assert tips["closures"] == 48 * 10400 and "sample" not in found
            else:
                assert found["unreached_bytes"] < found["bytes"] / 50 and found["paths"][0]["bytes"] > found["bytes"] * 0.98


def test_a_heap_that_moves_all_the_time():
    """Major collections one after the other: a sample answers `heap`, and each says the command that reads all of it."""
    with started(programs["held"], "48", "1") as program:
        found = inspect("heap", program.pid, "--max-pause", "20ms")
        assert 0 < found["sample"]["pieces"] < found["sample"]["of_pieces"]
        [tips] = [b for b in found["bands"] if b["name"].endswith("IntMap.Internal.Tip")]
        assert tips["closures_low"] <= tips["closures"] <= tips["closures_high"]
        assert found["sample"]["whole_command"].startswith(f"heapwatch heap {program.pid} --max-pause ")
        done = client("why", program.pid, "--max-pause", "1ms", "--format", "json")
        said = re.search(r"heapwatch (why) (\d+) --max-pause (\d+)s", done.stderr.decode())
        if done.returncode == 0:    # a copy that was begun at the right moment
            assert json.loads(done.stdout)["paths"] and not said
        else:
            assert done.returncode == 2 and said, done.stderr
            assert inspect(said[1], said[2], "--max-pause", f"{said[3]}s")["paths"]


def check_contents(found, *rows):
    """Bands by what their closures hold: the rows of each are all of it."""
    bands = {b["name"].partition(":")[2]: b for b in found["bands"]}
    for b in (b for b in bands.values() if "contents" in b):
        assert sum(c["bytes"] for c in b["contents"]) + b.get("other_bytes", 0) == b["bytes"], b
        assert sum(c["closures"] for c in b["contents"]) + b.get("other_closures", 0) == b["closures"], b
    for band, name, closures in rows:
        assert [c["closures"] for c in bands[band]["contents"] if c["name"] == name] == [closures], bands[band]


def test_heap_by_contents(threaded):
    rows = [("Data.Map.Internal.Bin", "Map Int Session", 3000), ("GHC.Types.:", "[Order]", 500), ("Main.Session", "Session Item Item", 3000)]
    check_contents(heap(threaded.pid, "--by", "contents"), *rows)
    check_contents(heap(threaded.pid, "--retained"), *rows)
    text = client("heap", threaded.pid, "--by", "contents", "--top", "100").stdout.decode()
    assert re.search(r"^ +\d.*  Data\.Map\.Internal\.Bin\n.* 3,000    Map Int Session\n", text, re.M), text
    assert re.search(r"^ +\d.*  GHC\.Types\.:, [\d.]+ % \[Order\]$", client("heap", threaded.pid).stdout.decode(), re.M)
    assert not any("contents" in b for b in heap(threaded.pid, "--by", "type")["bands"])
    brief = client("why", threaded.pid, "Data.Map.Internal.Bin", "--brief").stdout.decode()
    assert ", Map Int Session), by way of " in brief, brief
    why = inspect("why", threaded.pid, "Data.Map.Internal.Bin")
    assert why["contents"] == [{"name": "Map Int Session", "bytes": why["bytes"], "closures": 3000}]
    why = inspect("why", threaded.pid, "[Order]")
    assert why["band"] == "[Order]" and why["closures"] == 500 and why["roots"][0]["name"].startswith("thread in "), why
    assert [t["type"] for t in why["paths"][0]["path"]][0] == "GHC.Types.:" and "contents" not in why
    done = client("heap", threaded.pid, "--by", "contents", "--retained")
    assert done.returncode == 2 and b"--by contents is for a census" in done.stderr and not done.stdout, done.stderr


def test_heap_by_a_sample():
    """Where it is wanted, and where there is no memory for all."""
    with started(programs["threaded"], "+RTS", "-A256m", "-RTS") as program:
        whole = heap(program.pid)
        found = inspect("heap", program.pid, "--sample", "128MiB", "--seed", "3")
        for s in (found, inspect("heap", program.pid, "--memory", "470MiB", "--by", "type")):
            assert 0 < s["sample"]["pieces"] < s["sample"]["of_pieces"] and s["complete"] and s["bytes"] == sum(b["bytes"] for b in s["bands"])
            assert all(b["bytes_low"] <= b["bytes"] <= b["bytes_high"] and b["closures_low"] <= b["closures_high"] for b in s["bands"])
            assert 0.3 < s["bytes"] / whole["bytes"] < 3 and "a sample: of " in s["sentences"][1], s["sentences"]
        assert found["sample"]["seed"] == 3 and "all of it is read" in s["sentences"][1] and "all of it" not in found["sentences"][1]
        text = client("heap", program.pid, "--sample", "128MiB", "--seed", "3").stdout.decode()
        assert "(--seed 3)" in text and re.search(r"^ +BYTES +± \(95 %\) +SHARE +CLOSURES  TYPE\n.* ±[\d.]+ .iB ", text, re.M), text
        assert "sample" not in inspect("heap", program.pid, "--sample", "1GiB"), "all of it is less"
    done = client("heap", program.pid, "--sample", "128MiB", "--by", "contents")
    assert done.returncode == 2 and b"--sample is for bytes and closures of types" in done.stderr, done.stderr


def test_equal_arrays(threaded, directory):
    """How many arrays there are of each size, and how many have the contents of another one; never what these are."""
    with started(programs["equal"]) as program:
        found = inspect("heap", program.pid, "--arrays")
        assert found["repeated_arrays"] >= 4990 and found["arrays"] >= 8000 and not found["not_compared_arrays"]
        assert [r for r in found["repeated"] if r["bytes"] == 40] == 10 * [{"bytes": 40, "arrays": 500}]
        assert [s["arrays"] >= n for s, n in zip(found["sizes"], (3000, 5000))] == [True, True]
        assert found["arrays"] == sum(s["arrays"] for s in found["sizes"])
        [band] = [b for b in inspect("heap", program.pid)["bands"] if b["name"].startswith("ARR_WORDS")]
        assert band["closures"] == found["arrays"] and band["bytes"] > found["bytes"]
        text = client("heap", program.pid, "--arrays").stdout.decode()
        assert re.search(r"^ +19\.5 KiB +500 +40 B$", text, re.M) and "less than 128 B" in text, text
        refused = client("heap", program.pid, "--arrays", "--show-values")
        assert refused.returncode == 2 and b"on a terminal alone" in refused.stderr and not refused.stdout
        with Terminal(directory, CLIENT, "heap", program.pid, "--arrays", "--show-values", "--top", 12, width=120) as terminal:
            values = r'500 +40 B +("(.)\2{39}"|(00|0c|18)( \3){15} \.\.\.)$'
            screen = terminal.wait_screen(lambda s: len(re.findall(values, s, re.M)) == 10, "ten values")
        assert "BEGINS WITH" in screen and f'"{40 * "H"}"' in screen and "48 48" not in screen
        why = inspect("why", program.pid, "ARR_WORDS")
        [first] = [r for r in why["roots"] if r["bytes"] > 0.5 * why["bytes"]]
        assert "CAF Main.kept" in (first["name"], first["other_root"]) and first["name"] != first["other_root"], "both hold them"
        assert first["only_bytes"] < 0.1 * first["bytes"] < first["other_root_bytes"] <= first["bytes"]
        brief = client("why", program.pid, "ARR_WORDS", "--brief").stdout.decode()
        assert re.search(r"; (CAF|a thread in) Main\.\S+ holds [\d.]+ %, too", brief), brief
        graph = directory / "equal.heapgraph"
        inspect("heap", program.pid, "-o", graph)
    for args, words in (((graph, "--arrays"), "has no contents to compare"), ((threaded.pid, "--arrays", "--retained"), "--arrays is for arrays alone")):
        done = client("heap", *args)
        assert done.returncode == 2 and words in done.stderr.decode() and not done.stdout, done.stderr


def test_slices_of_arrays(directory):
    """How little of arrays slices use, and what is dead in pinned blocks with what would go; neither of copies."""
    with started(programs["sliced"]) as program, started(programs["sliced"], "copy") as copies:
        found = inspect("why", program.pid, "ARR_WORDS")
        strings, texts = found["slices"]
        [root] = [r for r in found["roots"] if r.get("only_bytes", 0) > 8_000_000]
        assert strings == {"of": "ByteString", "slices": 2000, "arrays": 1000, "array_bytes": 8_000_000, "used_bytes": 1000 * 26}
        assert texts == {"of": "Text", "slices": 500, "arrays": 500, "array_bytes": texts["array_bytes"], "used_bytes": 500 * 14}     # UTF-16
        assert 500 * 8000 <= texts["array_bytes"] <= 500 * 8008, "the package allocates two bytes more"
        dead = 8700 * 120       # with its header, of each that is not kept
        assert dead - 40 * 120 < root["with_dead_bytes"] <= found["unreached_pinned_bytes"] < dead + 4000, found
        brief = client("why", program.pid, "ARR_WORDS", "--brief").stdout.decode()
        assert "; 2,000 ByteStrings use 25.4 KiB of 7.63 MiB in 1,000 arrays: copy what is kept; 500 Texts use 6.84 KiB of 3.82 MiB " in brief, brief
        text = client("why", program.pid, "ARR_WORDS").stdout.decode()
        assert re.search(r" of everything would go, and 10[12]\d KiB of dead data in pinned blocks$", text, re.M), text
        graph = directory / "sliced.heapgraph"
        inspect("heap", program.pid, "-o", graph)
        kept = inspect("why", graph, "ARR_WORDS")

        def same(found):    # a buffer of the runtime may have died between two readings
            return kept["slices"] == found["slices"] and [r.get("with_dead_bytes") for r in kept["roots"]] == [r.get("with_dead_bytes") for r in found["roots"]]
        assert same(found) or same(inspect("why", program.pid, "ARR_WORDS"))
        found = inspect("why", copies.pid, "ARR_WORDS")
        assert sum(s["array_bytes"] for s in found["slices"]) < 50000, found
        assert "copy what is kept" not in client("why", copies.pid, "ARR_WORDS", "--brief").stdout.decode()
        assert max(r.get("with_dead_bytes", 0) for r in found["roots"]) < 50000, found


def test_heap_of_one_generation():
    with started(programs["threaded"], "+RTS", "-G1", "-RTS") as program:
        check_heap(heap(program.pid))
        check_threads(inspect("threads", program.pid))


@pytest.mark.parametrize("build", ["plain", "profiled"])
def test_heap_of_other_builds(build):
    with started(programs[build]) as program:
        found = heap(program.pid, extra=2 if build == "profiled" else 0)
        check_heap(found)
        check_contents(found, ("Data.Map.Internal.Bin", "Map Int Session", 3000))


def test_heap_with_finalizers():
    """The runtime's own closures, which no type of Haskell is behind."""
    with started(programs["finalizers"]) as program:
        for by in "name", "type":
            found = heap(program.pid, "--by", by)
            bands = {b["name"]: b for b in found["bands"]}
            assert bands["DEAD_WEAK"]["closures"] == 400 and bands["DEAD_WEAK"]["bytes"] == 400 * 48, bands
            assert bands["C_FINALIZER_LIST"]["closures"] == 5000 and bands["C_FINALIZER_LIST"]["bytes"] == 5000 * 48, bands
            assert bands["WEAK"]["closures"] >= 5000 and bands["PRIM"]["closures"] >= 300 and found["unknown_bytes"] == 0, bands
        held = inspect("why", program.pid, "C_FINALIZER_LIST")
        assert held["closures"] == 5000 and held["roots"][0]["name"].startswith("thread in Main.main"), held
        assert inspect("why", program.pid, "DEAD_WEAK")["closures"] == 400


def test_a_compact_region():
    """It counts once, with all that is dead in it, and whoever uses something in it holds it."""
    require_tracing()
    with running(programs["region"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        size = int(program.stdout.readline())
        assert program.stdout.readline() == b"ready\n"
        [region] = [b for b in inspect("heap", program.pid)["bands"] if b["name"] == "COMPACT_NFDATA"]
        assert region["bytes"] == size and region["closures"] == 1
        held = inspect("heap", program.pid, "--retained")
        [row] = [b for b in held["bands"] if b["name"] == "COMPACT_NFDATA"]
        assert row["bytes"] == row["retained_bytes"] == size and row["unreached_bytes"] == 0, row
        assert held["bytes"] < 1.5 * size, held["bytes"]
        why = inspect("why", program.pid)
        assert why["band"] == "COMPACT_NFDATA" and why["bytes"] == size and why["roots"][0]["with_bytes"] >= size, why
        assert why["roots"][0]["name"].startswith("thread in Main"), why


def test_a_compact_region_that_grows():
    """It is larger when the program is stopped than it was when the copy was prepared: an answer has it all the same."""
    with started(programs["region"], "grow") as program:
        answers = 0
        for _ in range(4):
            done = client("heap", program.pid, "--max-pause", "50ms", "--format", "json")
            if done.returncode == 0:        # else it says why there is none
                found = json.loads(done.stdout)
                regions = sum(b["bytes"] for b in found["bands"] if b["name"] == "COMPACT_NFDATA")
                assert regions > found["bytes"] / 2 or found["unknown_bytes"] > 0, found
                answers += 1
        assert answers > 0


@pytest.mark.parametrize("flags", ["-A16m", "-c", "-G3", "-xn", "-N2"])
def test_heap_with_other_collectors(flags):
    with started(programs["threaded"], "+RTS", flags, "-RTS") as program:
        found = heap(program.pid)
        check_heap(found)
        check_contents(found, ("Data.Map.Internal.Bin", "Map Int Session", 3000), ("GHC.Types.:", "[Order]", 500))


def test_heap_as_the_runtime_counts_it(directory):
    """Band by band, but for ARR_WORDS: there the runtime counts whole blocks of pinned arrays."""
    with started(programs["plain"], "busy", "+RTS", "-hT", "-i0.02", "-RTS", cwd=directory) as program:
        [log] = directory.glob("*.hp")
        wait_for(lambda: log.read_text().count("END_SAMPLE") > 2, "censuses", 30)
        found = inspect("heap", program.pid, "--by", "type")
        bands = {b["name"]: b["bytes"] for b in found["bands"]}
    census = {}
    for line in log.read_text().rsplit("BEGIN_SAMPLE", 2)[1].splitlines():
        if "\t" in line:
            name, size = line.rsplit("\t", 1)
            census[name] = census.get(name, 0) + int(size)
    assert len(census) > 20
    kept = [name for name in census if name.startswith("main:Main.") or name.endswith(".Bin")]
    assert len(kept) == 4 and all(bands[name] == census[name] for name in kept), (bands, census)
    for name in census:     # one thread computes: some of these come and go
        if name != "ARR_WORDS":
            assert abs(bands.get(name, 0) - census[name]) <= 4096 + census[name] / 100, (name, bands.get(name), census[name])


def test_heap_of_a_core_file(directory):
    found = heap(core_of(directory, programs["threaded"])[0])
    check_heap(found)
    check_contents(found, ("Data.Map.Internal.Bin", "Map Int Session", 3000))


def check_why(what, named=True):
    """The sessions are held by a top-level value, the orders by the thread that waits with them."""
    found = inspect("why", what, "Session")
    assert found["band"] == "main:Main.Session" and found["closures"] == 3000 and found["unreached_bytes"] == 0
    assert found["heap_reached_bytes"] > 0.97 * found["heap_bytes"], found
    [path] = [p for p in found["paths"] if p["closures"] >= 2990]
    types = [t["type"] for t in path["path"]]
    assert types[0] == "Data.Map.Internal.Bin" and path["path"][0]["several"] and any(t.startswith("MUT_VAR") for t in types)
    root = found["roots"][0]
    assert root["bytes"] > 0.99 * found["bytes"] and root["only_bytes"] == root["bytes"] and root["with_bytes"] > found["bytes"] and "other_root" not in root
    assert types[-1] == root["name"] and (root["name"] == "CAF Main.sessions" if named else root["name"].startswith("CAF stripped+0x"))
    found = inspect("why", what, "Main.Order")
    assert found["closures"] == 500 and len(found["roots"]) == 1 and found["roots"][0]["name"].startswith("thread in ")
    assert found["roots"][0]["only_bytes"] == found["bytes"]


def test_why_in_words():
    """All that `why` says of one graph: of others, tests compare JSON."""
    graph = ROOT / "tests/data/releases/0.9.0/api.heapgraph"
    assert client("why", graph).stdout.decode() == """\
inside (process 3368): why Data.Map.Internal.Bin is kept: 3,000 closures, 141 KiB; laid out as by GHC 9.0 to 9.4; stopped for 4.91 ms; taken 2026-11-27T00:16:46.000Z

shortest paths
  100.0 % <- Data.Map.Internal.Bin+ <- MUT_VAR (IORef, STRef) <- GHC.STRef.STRef <- CAF Main.sessions

roots
  100.0 %  CAF Main.sessions; nothing else holds 100.0 %; without it 418 KiB of everything would go

reached from the roots: 99.8 % of the heap
"""
    assert client("why", graph, "--brief").stdout.decode() == (
        "CAF Main.sessions keeps 100.0 % of Data.Map.Internal.Bin (141 KiB), by way of Data.Map.Internal.Bin+ <- "
        "MUT_VAR (IORef, STRef) <- GHC.STRef.STRef; without it 418 KiB would go\n")


def test_why(threaded):
    check_why(threaded.pid)
    largest = inspect("why", threaded.pid)
    assert largest["band"] in [b["name"] for b in inspect("heap", threaded.pid)["bands"] if "STACK" not in b["name"]][:3]
    by_type = next(b for b in inspect("heap", threaded.pid, "--by", "type")["bands"] if b["name"].startswith(("THUNK_", "FUN_")))
    found = inspect("why", threaded.pid, by_type["name"])
    assert found["band"] == by_type["name"] and found["closures"] >= by_type["closures"], (found, by_type)
    brief = client("why", threaded.pid, "Session", "--brief").stdout.decode()
    stacks = client("why", threaded.pid, "STACK").stdout.decode()
    assert re.search(r"^ +[\d.]+ %  [2-9]\d* threads in Main\..*; without them ", stacks, re.M), stacks
    tool = pathlib.Path(CLIENT).with_name("heapwatch-inspect")      # as for a target: its census had more of it
    left = [subprocess.run([tool, "why", "--pid", str(threaded.pid), "--band", "Session", "--brief", "--band-bytes", size],
                           capture_output=True) for size in ("1000", "100G")]
    assert left[0].returncode == 0 and left[0].stdout.decode() == brief, left
    assert left[1].returncode != 0 and b"what grew is gone: " in left[1].stderr and not left[1].stdout, left
    done = client("why", threaded.pid, "NoSuchType")
    assert done.returncode == 2 and b"no type of its heap has NoSuchType in its name" in done.stderr, done.stderr


def check_heapsnapshot(path, held):
    """As its readers walk it: seven numbers a node, three an edge; all of it is reached from the first node."""
    found = json.loads(path.read_text())
    meta, strings = found["snapshot"], found["strings"]
    width = len(meta["meta"]["node_fields"])
    nodes = [found["nodes"][i:i + width] for i in range(0, len(found["nodes"]), width)]
    edges = [found["edges"][i:i + 3] for i in range(0, len(found["edges"]), 3)]
    assert len(nodes) == meta["node_count"] and len(edges) == meta["edge_count"] == sum(n[4] for n in nodes)
    assert sum(n[3] for n in nodes) == held["reached_bytes"]
    for band in held["bands"]:
        of_band = [n[3] for n in nodes if strings[n[1]] == band["name"].split(":", 1)[-1]]
        assert band["name"] != "main:Main.Session" or (len(of_band), sum(of_band)) == (band["closures"], band["bytes"])
    first = [0]
    for n in nodes:
        first.append(first[-1] + n[4])

    def reach(without=None, weak=True):
        reached, todo = {0}, [0]
        while todo:
            at = todo.pop()
            for kind, _, to in edges[first[at]:first[at + 1]]:
                assert to % width == 0
                if to // width not in reached and to // width != without and (weak or kind != 6):
                    reached.add(to // width)
                    todo.append(to // width)
        return reached
    assert len(reach()) == len(nodes) == len(reach(weak=False)), "a weak edge alone leads to nothing"
    for root in held["roots"]:
        [node] = [to // width for _, _, to in edges[:nodes[0][4]] if strings[nodes[to // width][1]] == root["name"]]
        gone = sum(n[3] for n in nodes) - sum(nodes[i][3] for i in reach(without=node, weak=False))
        assert gone == root["retained_bytes"], (root, gone)


def check_tree(held):
    """Of who holds what: sums add up, from the root down to the items; what a type retains in it is what the table says."""
    tree, retained = held["tree"], {}
    assert tree[0]["retained_bytes"] == held["reached_bytes"] and "name" not in tree[0]
    for i, t in enumerate(tree):
        below = [u for u in tree[1:] if u["up"] == i]
        assert t["retained_bytes"] == t["bytes"] + sum(u["retained_bytes"] for u in below) + t.get("other_bytes", 0)
    for t in tree[1:]:
        above = []
        while t is not tree[0]:
            above.append(t)
            t = tree[t["up"]]
        if above[0]["name"] not in [u["name"] for u in above[1:]]:
            retained[above[0]["name"]] = retained.get(above[0]["name"], 0) + above[0]["retained_bytes"]
        if above[0]["name"] == "main:Main.Item":
            assert [u["name"].split(":")[-1] for u in above] == ["Main.Item", "Main.Session", "Data.Map.Internal.Bin", "MUT_VAR (IORef, STRef)",
                                                                "GHC.STRef.STRef", "CAF Main.sessions"] and above[-1]["root"]
            assert (above[0]["closures"], above[1]["closures"]) == (6000, 3000)
    assert not any("other_types" in t for t in tree), "there are few types"
    assert all(retained[b["name"]] == b["retained_bytes"] for b in held["bands"] if b["retained_bytes"])


def test_who_holds_what_in_a_file(directory, threaded):
    """What is retained; kept, read back, asked why, compared; and for another viewer."""
    graph, snapshot = directory / "monday.heapgraph", directory / "heap.heapsnapshot"
    held = inspect("heap", threaded.pid, "-o", graph)
    why = inspect("why", threaded.pid, "Session")
    by_name = {b["name"]: b for b in held["bands"]}
    root = next(r for r in held["roots"] if r["name"] == "CAF Main.sessions")
    assert by_name["main:Main.Session"]["closures"] == 3000
    assert root["retained_bytes"] == why["roots"][0]["with_bytes"] > by_name["main:Main.Session"]["retained_bytes"] > why["bytes"]
    assert held["reached_bytes"] == sum(b["bytes"] - b["unreached_bytes"] for b in held["bands"])
    check_tree(held)
    [told] = [w["paths"] for w in held["why"] if w["name"] == "main:Main.Session"]
    assert told == why["paths"] and re.search(r"; stopped for .*; [\d.]+ MiB copied$", held["sentences"][0]), held["sentences"]

    again = inspect("heap", graph)
    assert {k: again[k] for k in ("bands", "roots", "bytes", "pid", "layout")} == {k: held[k] for k in ("bands", "roots", "bytes", "pid", "layout")}
    from_file = inspect("why", graph, "Session")
    assert {k: from_file[k] for k in ("paths", "roots", "bytes", "band")} == {k: why[k] for k in ("paths", "roots", "bytes", "band")}
    check_heapsnapshot(snapshot, inspect("heap", graph, "-o", snapshot))
    since = client("heap", graph, "--since", graph).stdout.decode()
    assert re.search(r"^since \S+: \+0 B$", since, re.M) and "another run" not in since, since

    with started(programs["threaded"]) as program:
        client("heap", program.pid, "-o", graph)
        program.stdin.write(b"more\n")
        program.stdin.flush()
        assert program.stdout.readline() == b"more\n"
        grown = inspect("heap", program.pid, "--since", graph)
        sessions = next(b for b in grown["bands"] if b["name"] == "main:Main.Session")
        assert (sessions["closures_then"], sessions["closures"] - sessions["unreached_bytes"] // 32) == (3000, 6000)
        why = inspect("why", program.pid, "Main.Session", "--since", graph)
        for found in (why, why["paths"][0], why["roots"][0]):
            assert (found["bytes"], found["bytes_then"]) == (6000 * 32, 3000 * 32), found
        text = client("why", program.pid, "Session", "--since", graph).stdout.decode()
        assert re.search(r"^since \S+: \+93\.8 KiB$", text, re.M) and re.search(r"^  100\.0 %    \+93\.8 KiB  CAF Main\.sessions; nothing else", text, re.M), text
        brief = client("why", program.pid, "Session", "--since", graph, "--brief").stdout.decode()
        assert re.search(r"; \+93\.8 KiB since \S+Z\n$", brief), brief
        refused = client("why", program.pid, "Map Int Session", "--since", graph)
        assert refused.returncode == 2 and b"--since compares types" in refused.stderr, refused
        other = client("heap", threaded.pid, "--since", graph).stdout.decode()
        assert f", of another run: inside-threaded, process {program.pid}" in other, other

    damaged = directory / "damaged.heapgraph"
    damaged.write_bytes(graph.read_bytes()[:-9])
    for args, words in ((("heap", damaged), "it is damaged, or cut off"), (("threads", graph), "is a heap graph"),
                        (("heap", threaded.pid, "-o", directory / "x.json"), "expected a file that ends with .heapgraph or .heapsnapshot")):
        done = client(*args)
        assert done.returncode == 2 and words in done.stderr.decode() and not done.stdout, done.stderr


def test_why_of_a_stack_that_is_most_of_the_heap():
    with started(programs["threaded"], "stack") as program:
        found = inspect("why", program.pid)
        assert found["band"].startswith("STACK") and found["bytes"] > 8000000, found
        assert found["roots"][0]["name"].startswith("thread in ") and found["roots"][0]["bytes"] > 0.9 * found["bytes"], found["roots"][0]


@pytest.mark.parametrize("build", ["plain", "profiled"])
def test_why_of_other_builds(build):
    with started(programs[build]) as program:
        check_why(program.pid)


def test_why_of_a_stripped_program_and_of_its_core_file(directory):
    (directory / "bin").mkdir()
    (directory / "run").mkdir()
    path = shutil.copy(programs["threaded"], directory / "bin" / "stripped")
    subprocess.run(["strip", path], check=True)
    with started(path) as program:
        check_why(program.pid, named=False)
    check_why(core_of(directory / "run", path)[0], named=False)


def set_return_point(path, group):
    """In the program's table of places the function is where its return point must be, which is in front of it and has no symbol."""
    lines = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout.splitlines()
    symbols = {line.split()[2]: int(line.split()[0], 16) for line in lines if line[0] != " "}
    function = symbols["Main_waitForReply1_info"]
    [at] = [at for at in (int(f["at"], 16) for f in group["frames"]) if function - 200 < at < function]
    tables = struct.pack("<QQQ", symbols["Main_sessions_info"], symbols["Main_Session_con_info"], function)
    data = path.read_bytes()
    assert data.count(tables) == 1
    path.write_bytes(data.replace(tables, tables[:16] + struct.pack("<Q", at)))


def check_sources(what, frame_name, by):
    """As a program made with -finfo-table-map has them."""
    [session] = [b for b in inspect("heap", what)["bands"] if b["name"].startswith("main:Main.Session")]
    assert session["name"] == "main:Main.Session (Inside.hs:31:54-81)" and session["closures"] == 3000
    [session] = [b for b in inspect("heap", what, "--by", "type")["bands"] if b["name"].startswith("main:Main.Session")]
    assert session["name"] == "main:Main.Session" and session["closures"] == 3000
    [frame] = [f for f in inspect("threads", what)["groups"][0]["frames"] if "source" in f]
    assert (frame["name"], frame["by"], frame["source"]) == (frame_name, by, "Inside.hs:39:27-36")
    assert f"        {frame_name} (Inside.hs:39:27-36)\n" in client("threads", what).stdout.decode()
    for band in ("Session", "Main.Session", "Inside.hs:31:54-81", "fillSessions Main Inside.hs:31:54-81 Session"):
        found = inspect("why", what, band)
        assert found["band"] == "main:Main.Session (Inside.hs:31:54-81)" and found["closures"] == 3000
        assert found["roots"][0]["name"] == "CAF Main.sessions (Inside.hs:27:1-43)", found["roots"]


def test_places_in_the_source(directory):
    path = directory / "sources"
    with started(programs["sources"]) as program:
        shutil.copy(programs["sources"], path)
        set_return_point(path, inspect("threads", program.pid)["groups"][0])
    with started(path) as program:
        check_sources(program.pid, "Main.$wwaitForReply", "symbol")
    subprocess.run(["strip", path], check=True)
    (directory / "run").mkdir()
    check_sources(core_of(directory / "run", path)[0], "Main.waitForReply", "source")


def begun(child, pid):
    """Whether the inspector that the client has started has a thread of the program open."""
    inspector = pathlib.Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().strip()
    try:
        return inspector and any(f"/proc/{pid}/task" in os.readlink(f) for f in pathlib.Path(f"/proc/{inspector}/fd").iterdir())
    except FileNotFoundError:       # it has just closed one
        return False


def ticks(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def test_kill_leaves_no_program_stopped():
    """At whatever moment the inspection is killed, the program goes on."""
    tool = pathlib.Path(CLIENT).with_name("heapwatch-inspect")
    rng = random.Random(7)
    with started(programs["threaded"], "busy") as program:
        took = []
        for _ in range(3):
            begin = time.monotonic()
            subprocess.run([tool, "threads", "--pid", str(program.pid)], check=True, stdout=subprocess.DEVNULL)
            took.append(time.monotonic() - begin)
        for _ in range(200):
            child = subprocess.Popen([tool, "threads", "--pid", str(program.pid)], stdout=subprocess.DEVNULL)
            time.sleep(rng.uniform(0, min(took)))       # the moment; nothing waits for it
            child.kill()
            child.wait()
            for task in pathlib.Path(f"/proc/{program.pid}/task").iterdir():
                status = (task / "status").read_text()
                wait_for(lambda: (task / "status").read_text().split("State:\t")[1][0] not in "tT", "it to run")
                assert "TracerPid:\t0" in status or "TracerPid:\t0" in (task / "status").read_text()
        for _ in range(20):
            child = subprocess.Popen([tool, "profile", "--pid", str(program.pid), "--hz", "1000"], stdout=subprocess.DEVNULL)
            time.sleep(rng.uniform(0.01, 0.05))
            child.kill()
            child.wait()
            for task in pathlib.Path(f"/proc/{program.pid}/task").iterdir():
                wait_for(lambda: (task / "status").read_text().split("State:\t")[1][0] not in "tT", "it to run")
        before = ticks(program.pid)
        wait_for(lambda: ticks(program.pid) > before + 5, "it to compute")


def test_what_runs_is_running():
    """The stack of a thread that computes is found by its registers."""
    with started(programs["threaded"], "busy") as program:
        def running_thread():
            found = inspect("threads", program.pid)
            return [g for g in found["groups"] if g["state"] in ("running", "running_c") and g["members"][0]["stack_whole"]]
        [g] = wait_for(running_thread, "a moment between collections")
        assert g["members"][0]["os_thread"] > 0


def test_profile(directory):
    """The function that computes is the first, under its callers, and the files have the same."""
    with started(programs["threaded"], "spin") as program:
        found = inspect("profile", program.pid, "--for", "1s", "-o", directory / "spin.collapsed")
        assert found["functions"][0]["name"] in ("Main.spin", "Main.$wspin"), found["functions"][:3]
        assert found["functions"][0]["self_s"] > 0.8 * found["sampled_cpu_s"]
        assert found["samples"] >= 10 and found["samples_by_stack"]["whole"] > 0.6 * found["samples"]     # beside other tests
        assert 0.5 * found["cpu_s"] < found["sampled_cpu_s"] <= found["cpu_s"] + 0.01
        assert 0 < found["stops"]["median_s"] <= found["stops"]["longest_s"]
        callers = {n["name"] for n in found["tree"] if n["total_s"] > 0.8 * found["sampled_cpu_s"]}
        assert any("spinAgain" in c for c in callers), callers
        lines = (directory / "spin.collapsed").read_text().splitlines()
        assert abs(sum(int(line.rsplit(" ", 1)[1]) for line in lines) / 1e6 - found["sampled_cpu_s"]) < 0.001
        largest = max(lines, key=lambda line: int(line.rsplit(" ", 1)[1]))
        assert "spinAgain" in largest and "spin" in largest.rsplit(" ", 1)[0].rsplit(";", 1)[1]


@pytest.mark.parametrize("build", ["turns", "turns-threaded"])
def test_profile_of_allocation(directory, build):
    """By bytes, which are split otherwise than CPU time, as the program itself counts both; and in the files, too."""
    with started(programs[build]) as program:
        found = inspect("profile", program.pid, "--allocation", "--for", "2s", "--hz", "500", "-o", directory / "turns.collapsed")
        text = client("profile", program.pid, "--allocation", "--for", "200ms", "-o", directory / "turns.speedscope.json").stdout.decode()
        refused = client("profile", program.pid, "--allocation", "--waiting")
        assert refused.returncode == 2 and b"make a profile for each" in refused.stderr, refused
        bytes_share, cpu_share = [float(n) for n in program.communicate()[0].split()]
    assert 0.69 < bytes_share < 0.71 and cpu_share < 0.3, (bytes_share, cpu_share)
    lines = (line.rsplit(" ", 1) for line in (directory / "turns.collapsed").read_text().splitlines())
    n = {"allocate": 0, "compute": 0}
    for stack, count in lines:
        for name in n:
            n[name] += int(count) if name in stack else 0
    assert cpu_share + 0.15 < n["allocate"] / sum(n.values()) < bytes_share + 0.15, (n, bytes_share, cpu_share)     # beside other tests
    by_name = {f["name"]: f for f in found["functions"]}
    samples = {name: by_name[f"Main.$w{name}"]["total_samples"] for name in n}
    assert sum(n.values()) > 0.7 * found["sampled_bytes"] and samples["allocate"] < samples["compute"], samples
    assert 0 < found["sampled_bytes_of_these"] < 1.3 * found["allocated_bytes"] and "sampled_cpu_s" not in found
    assert re.search(r"iB allocated by Haskell threads, estimated; of [0-9.]+ [KMG]iB that the runtime counted meanwhile", text), text
    [profile] = json.loads((directory / "turns.speedscope.json").read_text())["profiles"]
    assert profile["unit"] == "bytes" and profile["endValue"] == sum(profile["weights"]) > 0


@pytest.mark.parametrize("call", ["safe", "unsafe"])
@pytest.mark.parametrize("stripped", [False, True])
def test_profile_of_c_functions(directory, call, stripped):
    """Under the code of Haskell that calls them, each with what it calls itself."""
    path = shutil.copy(programs["foreign"], directory / "work")
    if stripped:
        subprocess.run(["strip", path], check=True)
    with started(path, call) as program:
        found = inspect("profile", program.pid, "--for", "2s", "-o", directory / "work.collapsed")
    time_of = {}
    for line in (directory / "work.collapsed").read_text().splitlines():
        stack, us = line.rsplit(" ", 1)
        frames = stack.split(";")
        if len(frames) >= 3:
            time_of[tuple(frames[-3:])] = time_of.get(tuple(frames[-3:]), 0) + int(us)
    (more, more_us), (less, less_us) = sorted(time_of.items(), key=lambda item: -item[1])[:2]
    assert more_us + less_us > 0.8e6 * found["sampled_cpu_s"], time_of
    assert 0.5 < more_us / (more_us + less_us) < 0.9, time_of       # 0.7, of some 200 samples
    assert more[2] == less[2] and more[1] != less[1], time_of
    if stripped:
        assert all(re.fullmatch(r"work\+0x[0-9a-f]+", name) for name in more[1:] + less[1:]), "no name is made up"
    else:
        assert (more[1], less[1], more[2]) == ("foreign_compress", "foreign_check", "foreign_loop")
        assert more[0].startswith("Main") and less[0].startswith("Main")
        assert call == "safe" or (more[0], less[0]) == ("Main.$wcompress", "Main.$wcheck"), "which have no frame"


def test_profile_of_what_threads_wait_for(directory):
    """70 threads wait in one function and 30 in another while garbage is collected: so do their shares, apart from CPU time."""
    with started(programs["threaded"], "wait") as program:
        found = inspect("profile", program.pid, "--waiting", "--by", "thread", "--for", "1s", "-o", directory / "wait.collapsed")
        text = client("profile", program.pid, "--waiting", "--for", "1s").stdout.decode()
        plain = inspect("profile", program.pid, "--for", "100ms")
    waiting = found["waiting"]
    assert waiting["readings"] > 0 and waiting["threads_changed"] <= waiting["threads_read"] == waiting["threads_listed"]
    assert waiting["mean_waiting_threads"] <= waiting["mean_threads"] and waiting["waited_s"] > 50 * waiting["read_s"]

    def total(tree, name):
        return sum(f["total_s"] for f in tree["functions"] if name in f["name"])
    replies, orders = total(waiting, "waitForReply"), total(waiting, "waitForOrder")
    assert 0.68 < replies / (replies + orders) < 0.72, (replies, orders)
    assert found["sampled_cpu_s"] > 0 and total(found, "waitFor") == total(found, "(blocked") == 0, "never mixed"
    assert total(waiting, "(blocked on an MVar)") >= replies + orders and 0 < total(waiting, "(blocked in STM)") <= waiting["read_s"] * 1.01
    assert waiting["samples_by_stack"]["cut"] > 0, "one stack is 20,000 calls deep"
    lines = (directory / "wait.collapsed").read_text().splitlines()
    for kind, tree in ("running;", found["tree"]), ("waiting;", waiting["tree"]):
        us = sum(int(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(kind))
        assert abs(us / 1e6 - sum(n["self_s"] for n in tree)) < 0.001
    assert any(line.startswith("waiting;thread ") and ";(blocked on an MVar);" in line and "waitForReply" in line for line in lines)
    assert re.search(r"^waiting: [\d.]+ Haskell threads on average, of ", text, re.M) and " THREADS  FUNCTION" in text.partition("waiting: ")[2]
    assert "waiting" not in plain


def test_profile_by_page_and_console(directory):
    """What the page gets: on request, one at a time, ended before its time with what it has; the same function is the first.
    The console has it by a key, as a tree that folds, and cost centres by another."""
    form = {"X-Heapwatch": "control", "Content-Type": "application/x-www-form-urlencoded"}
    with started(programs["threaded"], "spin") as program, \
            Daemon(directory, f"spin=pid:{program.pid}") as daemon, Web("--connect", daemon.publish, "--allow-control") as web:
        def request(action):
            return web.ask("/api/control", method="POST", body=f"action={action}&target=spin&for=60s", headers=form)[0]
        wait_for(lambda: request("profile") == 200, "the program, as the daemon has it")
        assert request("profile") == 409 and web.json("/api/profile?target=spin")["state"] == "running"
        early = wait_for(lambda: (lambda p: "rows" in p and p)(web.json("/api/profile?target=spin")), "what there is so far")
        assert early["state"] == "running" and early["elapsedNs"] < early["forNs"] and early["totalNs"] > 0
        assert request("stop-profile") == 200
        found = wait_for(lambda: (lambda p: p["state"] != "running" and p)(web.json("/api/profile?target=spin")), "the profile")
        assert found["state"] == "done" and "then interrupted" in found["sentences"][0], found
        parent, own, total, name = max(found["rows"], key=lambda r: r[1])
        assert name in ("Main.spin", "Main.$wspin") and own > 0.8 * found["totalNs"], found
        assert "spinAgain" in found["rows"][parent - 1][3] and total <= found["rows"][parent - 1][2]
        waiting = found["waiting"]
        assert sum(r[2] for r in waiting["rows"] if r[3] == "(blocked on an MVar)") > 0.8 * waiting["totalNs"] > 0, waiting
        assert waiting["sentences"][0].startswith("waiting: ") and not any(r[3].startswith("(blocked") for r in found["rows"])
        with top(directory, "--connect", daemon.publish) as t:
            t.wait("running")
            t.keys("P").wait_screen(lambda s: re.search(r"taking samples of spin: [1-9][0-9.]* s", s), "a second of samples")
            t.keys("P").wait("then interrupted", "samples stand for", "\u25be all", "spinAgain")
            t.keys("T").wait("\u25be thread ")
            t.keys("w").wait("waiting: ", "(blocked on an MVar)", "waitForReply")
            t.keys("w").wait("samples stand for")
            t.keys("Enter").wait("\u25b8 all")
            t.keys("x").wait("no time profile")
            t.keys("x").wait("\u25b8 all")


def test_profile_of_allocation_by_page_and_console(directory):
    """What the page gets, and the console by another key: bytes, also where what waits was shown before."""
    form = {"X-Heapwatch": "control", "Content-Type": "application/x-www-form-urlencoded"}
    with started(programs["turns"]) as program, Daemon(directory, f"turns=pid:{program.pid}") as daemon, Web("--connect", daemon.publish, "--allow-control") as web:
        def request(action):
            return web.ask("/api/control", method="POST", body=f"action={action}&target=turns", headers=form)[0]

        def found():
            return web.json("/api/profile?target=turns")
        wait_for(lambda: request("profile&for=60s&allocation=1") == 200, "the program, as the daemon has it")
        both = {"Main.$wallocate", "Main.$wcompute"}
        early = wait_for(lambda: (lambda p: both <= {r[3] for r in p.get("rows", ())} and p)(found()), "both functions")
        assert early["state"] == "running" and "totalNs" not in early and early["totalBytes"] > 0 and "waiting" not in early
        assert request("stop-profile") == 200
        done = wait_for(lambda: (lambda p: p["state"] != "running" and p)(found()), "the profile")
        assert done["state"] == "done" and "allocated by Haskell threads" in done["sentences"][1], done
        assert done["totalBytes"] == sum(r[2] for r in done["rows"] if not r[0])
        assert both <= {r[3] for r in done["rows"]}, done
        assert request("profile&for=1s&allocation=0") == 200
        done = wait_for(lambda: (lambda p: p["state"] != "running" and p)(found()), "the profile")
        assert "totalBytes" not in done and done["totalNs"] > 0 and "waiting" in done
        with top(directory, "--connect", daemon.publish) as t:
            t.wait("running")
            t.keys("P")
            t.wait_screen(lambda s: re.search(r"taking samples of turns: [1-9][0-9.]* s of 10.0 s; P ends it", s), "a second of samples")
            t.keys("P").wait("samples stand for", "self time")
            t.keys("w").wait("waiting: ")
            t.keys("A")
            t.wait_screen(lambda s: re.search(r"taking samples of turns, by allocation: [1-9][0-9.]* s of 10.0 s; A ends it", s) and
                          re.search(r"Main\.\$w(allocate|compute)", s), "another, with a function")
            screen = t.keys("A").wait("then interrupted", "allocated by Haskell threads")
            assert re.search(r"inherited +own +allocated", screen) and "self time" not in screen and not re.search(r"own +time", screen), screen
            assert re.search(r"^ *[\d.]+ % +[\d.]+ % +[\d.]+ [KMG]iB +(\u25be )?Main\.\$w(allocate|compute)", screen, re.M), screen


def test_heap_and_threads_by_the_server(directory):
    """What the page gets is what the commands print, to the object; one heap at a time; what cannot be is said."""
    form = {"X-Heapwatch": "control", "Content-Type": "application/x-www-form-urlencoded"}
    with started(programs["threaded"]) as program, Daemon(directory, f"shop=pid:{program.pid}", f"no=pid:{os.getpid()}") as daemon, \
            Web("--connect", daemon.publish, "--allow-control") as web:
        def request(body):
            return web.ask("/api/control", method="POST", body=f"action={body}", headers=form)[0]

        def result(kind, target="shop"):
            return wait_for(lambda: (lambda p: p["state"] != "running" and p)(web.json(f"/api/{kind}?target={target}")), "the answer")
        assert result("heap") == result("threads") == {"state": "none"}
        wait_for(lambda: request("heap&target=shop&retained=1") == 200, "the program, as the daemon has it")
        held = result("heap")
        assert held["state"] == "done" and held["run"] == 1 and int(held["beginWallNs"]) > 0
        own = inspect("heap", program.pid, "--retained")
        for rows, mine in ((held["result"]["why"], own["why"]), (held["result"]["roots"], own["roots"])):     # what C memory holds comes and goes
            assert [r for r in rows if "Main." in r["name"]] == [r for r in mine if "Main." in r["name"]] != []
        check_tree(held["result"])
        assert request("heap&target=shop") == 200 and "tree" not in (census := result("heap")["result"])
        check_heap({**census, "extra": 0})
        assert request("threads&target=shop") == 200
        groups = check_threads(result("threads")["result"])
        assert len(groups["members"]) == 6 and groups["threads"] == 40
        wait_for(lambda: request("heap&target=no") == 200, "the other process, as the daemon has it")
        refused = result("heap", "no")
        assert refused["state"] == "failed" and "no heap of GHC's runtime" in refused["error"] and "result" not in refused
        for bad, status in (("heap", 400), ("threads", 400), ("heap&target=shop&retained=yes", 400), ("heap&target=nobody", 409)):
            assert request(bad) == status, bad


def test_threads_by_the_console(directory):
    """By a key from any view; with what was done to the program. What cannot be read is said."""
    with started(programs["threaded"]) as program, Daemon(directory, f"shop=pid:{program.pid}", f"no=pid:{os.getpid()}") as daemon:
        for name in ("shop", "no"):
            daemon.wait_state(name, "RUNNING")
        with top(directory, "--connect", daemon.publish, "shop") as t:
            t.wait("running")
            t.keys("W").wait("threads in", "; stopped for ", "blocked on an MVar, all", "waitForReply", "threads stopped because")
            screen = t.wait_screen(lambda s: re.search(r"^ *40 +blocked on an MVar", s, re.M), "the largest group")
            assert "reading the threads" not in screen
        (directory / "second").mkdir(mode=0o700)     # the first terminal's server may not have ended yet
        with top(directory / "second", "--connect", daemon.publish, "no") as t:
            t.wait("running")
            t.keys("W").wait("no threads: ", "no heap of GHC's runtime")


def test_profile_of_what_waits_or_ends(directory):
    with started(programs["threaded"]) as program:
        text = client("profile", program.pid, "--for", "300ms").stdout.decode()
        samples = int(re.search(r": (\d+) samples in", text)[1])      # the runtime's clock ticks on for a while
        assert samples < 20 and ("it waits" in text) == (samples == 0), text
        program.send_signal(signal.SIGSTOP)
        text = client("profile", program.pid, "--for", "300ms").stdout.decode()
        assert f"`kill -CONT {program.pid}`" in text and "it waits" not in text, text
        program.send_signal(signal.SIGCONT)
        refused = client("profile", program.pid, "-o", directory / "profile.txt")
        assert refused.returncode == 2 and b"ends with .collapsed" in refused.stderr and not list(directory.iterdir())
        refused = client("profile", program.pid, "-o", directory / "none" / "x.svg")
        assert refused.returncode == 2 and b"No such file" in refused.stderr
        child = subprocess.Popen([CLIENT, "profile", str(program.pid), "--for", "1h"], stdout=subprocess.PIPE)
        wait_for(lambda: begun(child, program.pid), "it to begin")
        child.send_signal(signal.SIGINT)
        out = child.communicate(timeout=DEADLINE_S)[0].decode()
        assert child.returncode == -signal.SIGINT and "then interrupted" in out, "what there is, is shown"
        child = subprocess.Popen([CLIENT, "profile", str(program.pid), "--for", "1h", "-o", directory / "x.speedscope.json"],
                                 stdout=subprocess.PIPE)
        wait_for(lambda: begun(child, program.pid), "it to begin")
        program.kill()
        program.wait()
        out = child.communicate(timeout=DEADLINE_S)[0].decode()
        assert child.returncode == 0 and "after which it ended" in out, out
        assert json.loads((directory / "x.speedscope.json").read_text())["profiles"][0]["unit"] == "nanoseconds"


def test_a_report_has_the_profile_that_is_taken_for_it(directory, browser):     # noqa: F811
    require_page()
    with started(programs["threaded"], "spin") as program, Daemon(directory, f"spin=pid:{program.pid}", f"no=pid:{os.getpid()}") as daemon:
        def report(*words):
            return client("report", "--connect", daemon.publish, *words)
        for t in ("spin", "no"):
            daemon.wait_state(t, "RUNNING")
        done = report("spin", "no", "--profile", "1s", "--heap", "--threads", "-o", directory / "r.html")
        assert done.returncode == 0 and b"no heap of GHC's runtime" in done.stderr, done
        assert all(f"no: no {what}: ".encode() in done.stderr for what in ("profile", "heap", "threads")), done
        refused = report("spin", "--profile", "1s", "-o", directory / "r.svg")
        assert refused.returncode == 2
        plain = json.loads(report("spin", "--format", "json", "-o", "-").stdout)
        assert not {"profiles", "heaps", "threads"} & set(plain)
    text = (directory / "r.html").read_text()
    data = json.loads(text.split('id="data">', 1)[1].split("</script>", 1)[0])
    spin, no = sorted(data["profiles"], key=lambda p: p["state"])
    assert spin["target"] == "spin" and spin["state"] == "done" and no["target"] == "no" and no["state"] == "failed" and "rows" not in no
    assert sum(r[1] for r in spin["rows"] if r[3] in ("Main.spin", "Main.$wspin")) > 0.8 * spin["totalNs"] > 0, spin["rows"]
    heap, = (x["result"] for x in data["heaps"] if x["target"] == "spin")
    check_tree(heap)
    assert [(x["target"], x["state"]) for x in sorted(data["threads"], key=lambda x: x["state"])] == [("spin", "done"), ("no", "failed")]
    with browser.tab() as tab:
        tab.go(f"file://{directory}/r.html#/holders?target=spin").until(SHOWN)
        assert tab.js("heapwatch.chart('held').boxes")[0]["bytes"] == heap["reached_bytes"]
        tab.go(f"file://{directory}/r.html#/threads?target=spin")
        assert 40 in [r["threads"] for r in tab.table("groups")["rows"]]
        tab.go(f"file://{directory}/r.html#/profile?target=spin").until("heapwatch.settled && heapwatch.chart('cpu')?.root?.value")
        assert tab.js("heapwatch.chart('cpu').root.value") == spin["totalNs"]
        assert max(tab.table("functions")["rows"], key=lambda r: r["self"])["name"] in ("Main.spin", "Main.$wspin")
        tab.go(f"file://{directory}/r.html#/profile?target=spin&time=waiting").until("heapwatch.settled && heapwatch.chart('cpu')?.root?.value")
        assert tab.js("heapwatch.chart('cpu').root.value") == spin["waiting"]["totalNs"] > spin["totalNs"]
        assert max(tab.table("functions")["rows"], key=lambda r: r["self"])["name"].startswith("Main.") and tab.axe() == []
        tab.go(f"file://{directory}/r.html#/profile?target=no").until("document.querySelector('main').innerText.includes('No profile: ')")
        assert tab.axe() == [] and tab.diagnostics() == []
        tab.go(f"file://{directory}/r.html#/profile?target=spin").until("heapwatch.settled && heapwatch.chart('cpu')?.root?.value")


def test_a_profile_is_kept_with_the_recording(directory, browser):     # noqa: F811
    """Beside the segments of the run that is recorded: listed, in the report of that time, removed with the run."""
    require_page()
    kept = directory / "kept"

    def recorded():
        return json.loads(client("recording", "--dir", kept, "--format", "json").stdout or "null")

    def report(which):
        done = client("report", f"recording:{kept}/{which}", "-o", directory / "r.html", "--force")
        assert done.returncode == 0, done.stderr
        text = (directory / "r.html").read_text()
        return json.loads(text.split('id="data">', 1)[1].split("</script>", 1)[0]).get("profiles")
    with started(programs["threaded"], "spin") as program, Daemon(directory, f"spin=outside:{program.pid}", args=["--record", kept]) as daemon:
        words = ("profile", "spin", "--connect", daemon.publish, "--for", "1s", "--waiting", "--keep")
        daemon.wait_state("spin", "RUNNING")
        run = wait_for(lambda: (lambda r: r and r["live"] and r["endWallNs"] and r)(recorded()), "a run that is recorded")
        assert run["profiles"] == 0 and report("spin") is None
        done = client(*words, "--format", "json")
        assert done.returncode == 0, done.stderr
        printed = json.loads(done.stdout)
        assert recorded()["profiles"] == 1 and b", 1 profile" in client("recording", "--dir", kept).stdout
        profile, = report("spin")
        assert profile["state"] == "done" and profile["target"] and "forNs" not in profile
        assert profile["totalNs"] == round(1e9 * printed["sampled_cpu_s"]) and profile["waiting"]["totalNs"] > profile["totalNs"]
        with browser.tab() as tab:
            tab.go(f"file://{directory}/r.html#/profile").until("heapwatch.settled && heapwatch.chart('cpu')?.root?.value")
            assert tab.js("heapwatch.chart('cpu').root.value") == profile["totalNs"]
            assert re.search(r"^Begun at [\d:]+", tab.js("document.querySelector('p[role=status].lines').innerText"))
        assert report("spin?to=1ns") is None, "it began later"
        bundle = client("recording", "bundle", "spin", "--connect", daemon.publish, "--after", "0s", "-o", directory / "bundles")
        assert b'"profiles":[{' in (pathlib.Path(bundle.stdout.decode().strip()) / "report.html").read_bytes(), bundle
        refused = client("profile", program.pid, "--keep", "--connect", daemon.publish)
        assert refused.returncode == 2
    wait_for(lambda: not recorded()["live"], "its end on disk")
    other = client("profile", os.getpid(), "--keep")
    assert other.returncode == 2
    assert client("recording", "--dir", kept, "delete", "spin").returncode == 0 and not list(kept.glob("spin"))


def test_a_profile_of_allocation_is_kept(directory, browser):     # noqa: F811
    """In the file, in the report of the recording and of the target: bytes, as the command has printed them; never time."""
    require_page()
    kept = directory / "kept"

    def report(*words):
        done = client("report", *words, "-o", directory / "r.html", "--force")
        assert done.returncode == 0, done.stderr
        profile, = json.loads((directory / "r.html").read_text().split('id="data">', 1)[1].split("</script>", 1)[0])["profiles"]
        assert profile["state"] == "done" and profile["totalBytes"] > 0 and not {"totalNs", "waiting"} & set(profile)
        return profile
    with started(programs["turns"]) as program, Daemon(directory, f"turns=outside:{program.pid}", args=["--record", kept]) as daemon:
        daemon.wait_state("turns", "RUNNING")
        wait_for(lambda: json.loads(client("recording", "--dir", kept, "--format", "json").stdout or "null"), "a run that is recorded")
        done = client("profile", "turns", "--connect", daemon.publish, "--for", "1s", "--allocation", "--keep", "--format", "json")
        assert done.returncode == 0, done.stderr
        printed = json.loads(done.stdout)
        file, = kept.glob("turns/*/profile.*")
        assert re.search(r"B allocated by Haskell threads, estimated.*\n\nbytes\n0 ", file.read_text(), re.S)
        profile = report(f"recording:{kept}/turns")
        assert profile["totalBytes"] == printed["sampled_bytes"]
        with browser.tab() as tab:
            tab.go(f"file://{directory}/r.html#/profile").until("heapwatch.settled && heapwatch.chart('cpu')?.root?.value")
            assert tab.js("heapwatch.chart('cpu').root.value") == profile["totalBytes"]
            rows = tab.js("[...document.querySelectorAll('[data-table=functions] .tbody [role=row]')].map(r => r.innerText)")
            assert rows and all(re.search(r"\d [KMGT]?i?B\b", r) and not re.search(r"\d [num]?s\b", r) for r in rows), rows
            label = tab.js("[...document.querySelectorAll('[data-chart=cpu] title')].map(e => e.textContent).find(t => t.startsWith('all: '))")
            assert re.fullmatch(r"all: [\d.]+.[KMGT]iB, 100.*%", label), label
            assert tab.axe() == [] and tab.diagnostics() == []
        report("turns", "--connect", daemon.publish, "--profile", "1s", "--allocation")
        assert client("report", "turns", "--connect", daemon.publish, "--allocation", "-o", directory / "x.html").returncode == 2


def test_refused_with_the_reason(directory, threaded):
    for what, words in (("no-such-program", "no GHC-compiled program no-such-program runs here"),
                        (2 ** 30, "there is no process"), ("/bin/sh", "it is not a core file"),
                        (os.getpid(), "no heap of GHC's runtime")):
        done = client("threads", what)
        assert done.returncode == 2 and words in done.stderr.decode() and not done.stdout, done.stderr
    done = client("threads", threaded.pid, "--memory", "64MiB", "--max-pause", "1ms")
    assert done.returncode in (0, 2) and (done.returncode == 0 or done.stderr.startswith(b"heapwatch threads: ")), done.stderr


def test_a_program_of_another_user_is_refused_with_the_reason(directory, threaded):
    require_another_user()
    require("a /proc with the processes of others", "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "test", "-d", "/proc/1")
    for name in ("heapwatch", "heapwatch-live", "heapwatch-inspect"):
        shutil.copy(pathlib.Path(CLIENT).with_name(name), directory / name)
    os.chmod(directory, 0o755)
    done = subprocess.run([directory / "heapwatch", "threads", str(threaded.pid)], user=65534, group=65534, extra_groups=[],
                          capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 2 and f"process {threaded.pid} belongs to user 0" in done.stderr, done.stderr


@pytest.mark.long
@pytest.mark.skipif(not LONG, reason="has a long form alone: HEAPWATCH_LONG=1")
def test_profile_on_the_page(directory, browser):     # noqa: F811
    """A click, samples as they come, a flame graph that keys walk and turn round, of one thread; nothing is out of reach."""
    with started(programs["threaded"], "spin") as program, \
            Daemon(directory, f"spin=pid:{program.pid}") as daemon, BrowsedWeb("--connect", daemon.publish, "--allow-control") as web:
        for theme, width in (("light", 1440), ("dark", 390)):
            with browser.tab(theme=theme, width=width) as tab:
                tab.go(web.url).until("heapwatch.settled")
                tab.go(f"{web.url.split('?')[0]}#/time?target=spin")     # the view's name of earlier versions
                tab.until("[...document.querySelectorAll('button')].some(b => b.textContent === 'Profile now' && b.offsetParent)")
                tab.click(selector="text=Profile now")
                tab.until("document.querySelector('main').innerText.includes('Taking samples') && heapwatch.chart('cpu')?.root?.value")
                tab.click(selector="text=Stop")
                tab.until("document.querySelector('main').innerText.includes('then interrupted') && heapwatch.settled")
                rows, root = tab.table("functions")["rows"], tab.js("heapwatch.chart('cpu').root")
                largest = max(rows, key=lambda r: r["self"])
                assert largest["name"] in ("Main.spin", "Main.$wspin") and largest["self"] > 0.8 * root["value"]
                tab.focus(selector="[data-chart=cpu] .flame")
                for key in ("ArrowDown", "ArrowDown", "Enter"):
                    tab.press(key=key)
                assert tab.until("heapwatch.chart('cpu').zoomed.length") == 2
                tab.press(key="Escape")
                tab.click(selector="text=Bottom up")
                tab.until("heapwatch.chart('cpu').root.children.some(f => /spin$/.test(f.name) && f.children.some(g => /spinAgain/.test(g.name)))")
                assert tab.js("document.querySelector('select[aria-label=Thread]').options.length") >= 2
                tab.js("document.querySelector('select[aria-label=\"Of what\"]').value = '1'")
                tab.click(selector="text=Profile now")
                tab.until("document.querySelector('main').innerText.includes('Taking samples')")
                tab.click(selector="text=Stop")
                tab.until("document.querySelector('main').innerText.includes('allocated by Haskell threads') && heapwatch.settled")
                assert "heapwatch profile spin --allocation" in tab.js("document.querySelector('main').innerText")
                assert tab.js("document.scrollingElement.scrollWidth - innerWidth") <= 0
                assert tab.axe() == [] and tab.diagnostics() == []


@pytest.mark.parametrize("theme, width", [("dark", 390), *long_cases(("light", 1440))])
def test_heap_on_the_page(directory, browser, theme, width):     # noqa: F811
    """A click, then who holds what with the command's numbers: keys walk in it, tables say it in words, a type says why it is kept."""
    with started(programs["threaded"]) as program, \
            Daemon(directory, f"shop=pid:{program.pid}") as daemon, BrowsedWeb("--connect", daemon.publish, "--allow-control") as web, \
            browser.tab(theme=theme, width=width) as tab:
        tab.go(web.url).until("heapwatch.settled")
        tab.go(f"{web.url.split('?')[0]}#/holders?target=shop")
        tab.until("[...document.querySelectorAll('button')].some(b => b.textContent === 'Read the heap' && b.offsetParent)")
        tab.click(selector="text=Read the heap")
        tab.until(SHOWN)
        own = inspect("heap", program.pid, "--retained")
        said = {b["name"].split(":", 1)[-1]: b for b in own["bands"] if b["name"].startswith("main:")}
        types = {r["name"]: r for r in tab.table("types")["rows"]}
        assert said and {n: (types[n]["bytes"], types[n]["closures"], types[n]["retained"]) for n in said} == {
            n: (b["bytes"], b["closures"], b["retained_bytes"]) for n, b in said.items()}
        sessions = next(r["retained_bytes"] for r in own["roots"] if r["name"] == "CAF Main.sessions")
        assert next(r["bytes"] for r in tab.table("held")["rows"] if r["name"] == "CAF Main.sessions") == sessions
        assert next(b["bytes"] for b in tab.js("heapwatch.chart('held').boxes") if b["name"] == "CAF Main.sessions") == sessions
        assert "; stopped for " in tab.js("document.querySelector('[role=status].lines').innerText")

        tab.focus(selector=".treemap")
        tab.press(key="ArrowDown")
        for _ in range(20):
            if tab.js("heapwatch.chart('held').near") == "CAF Main.sessions":
                break
            tab.press(key="ArrowRight")
        tab.press(key="ArrowDown")
        assert tab.js("heapwatch.chart('held').near") == "GHC.STRef.STRef"
        tab.press(key="Enter")
        tab.until("heapwatch.chart('held').at.length === 3")
        assert tab.js("heapwatch.chart('held').at") == ["the heap", "CAF Main.sessions", "GHC.STRef.STRef"]
        assert {r["name"]: r["bytes"] for r in tab.table("held")["rows"]} == {"MUT_VAR (IORef, STRef)": sessions - 16, "(itself)": 16}
        tab.press(key="Escape")
        tab.until("heapwatch.chart('held').at.length === 2")
        names = [b["name"] for b in tab.js("heapwatch.chart('held').boxes")]
        assert names[:1] == ["CAF Main.sessions"] and "Data.Map.Internal.Bin" in names and "TSO (thread)" not in names

        tab.fill(selector="input[name=qh]", text="Session")
        tab.click(selector="[data-table=types] .tbody [role=row] >> text=Main.Session")
        tab.until("document.querySelector('.holders')?.innerText.includes('← CAF Main.sessions')")
        assert re.search(r"100\.0 %, 93\.8.KiB ← Data\.Map\.Internal\.Bin\+ ← MUT_VAR .* ← CAF Main\.sessions", tab.js("document.querySelector('.holders').innerText"))
        assert tab.js("document.scrollingElement.scrollWidth - innerWidth") <= 0
        tab.js("document.activeElement.blur()")
        tab.press(key="?")
        names = "[...document.querySelectorAll('main .thead .sort, main figcaption h3')].filter((e) => e.offsetParent !== null).map((e) => e.firstChild.textContent.trim())"
        explained = tab.until("document.querySelector('dialog').open && [...document.querySelectorAll('dialog dt')].map((e) => e.innerText)")
        assert set(tab.js(names)) - set(explained) == set()
        tab.press(key="Escape")
        name, svg = tab.save_file("button[aria-label='Save Who holds what as SVG']")
        assert name == "heapwatch-held.svg" and b"CAF Main.sessions" in svg
        assert tab.axe() == [] and tab.diagnostics() == []
        program.stdin.write(b"more\n")
        program.stdin.flush()
        assert program.stdout.readline() == b"more\n"
        tab.click(selector="text=Read the heap")
        rows = tab.until("heapwatch.settled && document.querySelector('.treemap').offsetParent && "
                         "(heapwatch.table('types')?.rows ?? []).some(r => r.gained > 0) && heapwatch.table('types').rows")
        assert next(r["gained"] for r in rows if r["name"] == "Main.Session") >= 3000 * 32, "3,000 more; those before may be there still"
        name, page = tab.save_file("text=Save report") if width > 1000 else (None, None)
        if name:
            (directory / "saved.html").write_bytes(page)
            tab.go(f"file://{directory}/saved.html#/holders?target=shop").until(SHOWN)
            assert next(r["bytes"] for r in tab.table("held")["rows"] if r["name"] == "CAF Main.sessions") > sessions


@pytest.mark.parametrize("theme, width", [("dark", 390), *long_cases(("light", 1440))])
def test_threads_on_the_page(directory, browser, theme, width):     # noqa: F811
    """A click, then the groups with the command's numbers; a group shows its stack; a saved page keeps them. A second reading has what was gained."""
    with started(programs["threaded"]) as program, started(programs["threaded"], "fork") as forking, \
            Daemon(directory, f"shop=pid:{program.pid}", f"fork=pid:{forking.pid}") as daemon, BrowsedWeb("--connect", daemon.publish, "--allow-control") as web, \
            browser.tab(theme=theme, width=width) as tab:
        tab.go(web.url).until("heapwatch.settled")
        tab.go(f"{web.url.split('?')[0]}#/threads?target=shop")
        tab.until("[...document.querySelectorAll('button')].some(b => b.textContent === 'Read the threads' && b.offsetParent)")
        tab.click(selector="text=Read the threads")
        found = tab.table("groups")
        rows = {r["threads"]: r for r in found["rows"]}
        assert all(r.get("gained") is None for r in found["rows"]), "unknown is not 0"
        waiting = inspect("threads", program.pid)["groups"][0]
        assert waiting["threads"] == 40 and rows[40]["state"] == "blocked on an MVar, all on the same one" and "Main" in rows[40]["place"]
        assert (rows[40]["stack"], rows[40]["allocated"]) == (waiting["most_stack_bytes"], waiting["allocated_bytes"])
        stack = "document.querySelector('section[aria-label=Stack]').innerText"
        said = tab.js(stack)
        assert "40 threads blocked on an MVar" in said and f"stack {waiting['most_stack_bytes']} B" in said and "stg_block_takemvar" in said and ", …" in said
        tab.click(selector="[data-table=groups] .tbody [role=row] >> text=descend")
        tab.until(f"{stack}.includes('descend') && /… 19,9\\d\\d more/.test({stack})")
        polls = next(g for g in inspect("threads", program.pid)["groups"] if g.get("c_frames") and any("EPoll" in f["name"] for f in g["frames"]))
        tab.click(selector="[data-table=groups] .tbody [role=row] >> text=EPoll")
        tab.until(f"new RegExp('{polls['c_frames'][-1]['name']}\\\\s+.*EPoll').test({stack})")
        assert "; stopped for " in tab.js("document.querySelector('[role=status].lines').innerText")
        assert tab.js("document.scrollingElement.scrollWidth - innerWidth") <= 0
        assert tab.axe() == [] and tab.diagnostics() == []
        if width > 1000:
            (directory / "saved.html").write_bytes(tab.save_file("text=Save report")[1])
            tab.go(f"file://{directory}/saved.html#/threads?target=shop")
            assert {r["threads"] for r in tab.table("groups")["rows"]} == set(rows)
            return
        tab.go(f"{web.url.split('?')[0]}#/threads?target=fork")
        for reading in range(2):
            tab.until("[...document.querySelectorAll('button')].some(b => b.textContent === 'Read the threads' && b.offsetParent)")
            tab.click(selector="text=Read the threads")
            gained = f"(heapwatch.table('groups')?.rows ?? []).find(r => r.threads > 40 && /Main/.test(r.place) && {'r.gained > 0' if reading else 'true'})"
            tab.until(f"heapwatch.settled && document.querySelector('[data-table=groups]').offsetParent && {gained}")
        assert re.search(r"\+[\d,]+, [\d.]+/s", tab.js("document.querySelector('[data-table=groups]').innerText"))
        assert tab.js("document.scrollingElement.scrollWidth - innerWidth") <= 0 and tab.axe() == []


@pytest.mark.long
@pytest.mark.skipif(not LONG, reason="takes a minute; HEAPWATCH_LONG=1")
def test_the_demonstration(directory):
    """Debian's pandoc or ghc, a leaking service, and its core file: each question has its answer."""
    require_tracing()
    done = subprocess.run([ROOT / "scripts/demo/inside"], env={**os.environ, "BUILD": str(CLIENT.parent), "TMPDIR": str(directory)},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=2 * DEADLINE_S)
    assert done.returncode == 0, done.stdout + done.stderr
    of_package, _, of_service = done.stdout.partition("demo: a shop's session service")
    assert re.search(r"is watched from outside.*stripped", of_package) and "ended with status 0" in of_package, of_package
    assert re.search(r"^ +[\d.]+ [KM]iB +[\d.]+ % +[\d,]+  \S+", of_package, re.M), of_package
    assert re.search(r"live data has risen for .* by .*/s", of_service) and "attached to Sessions" in of_service, of_service
    assert len(re.findall(r" keeps? [\d.]+ % of .*Main\.Session", of_service)) >= 1 and "blocked" in of_service + of_package, of_service
    samples = re.search(r"^Sessions .*: (\d+) samples in", of_service, re.M)[1]
    frames = re.findall(r"<title>(.+): [\d.]+ %, .*, (\d+) samples?</title>", (CLIENT.parent / "demo/inside/sessions.svg").read_text())
    assert frames[0] == ("(all)", samples) and any(name.startswith("Main (local, before ") for name, _ in frames), frames
    assert "(core file of process " in of_service or "kernel.core_pattern" in of_service, of_service
    assert "run 1: ended with status" in of_service.rpartition("$ heapwatch post-mortem")[2], of_service
    assert not list(directory.iterdir())
