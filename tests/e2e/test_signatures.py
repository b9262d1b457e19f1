# SPDX-License-Identifier: BSD-3-Clause
"""Names of functions in a stripped program, by signatures of the libraries that it was linked from."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from harness import BUILD, CLIENT, LONG, ROOT, Daemon, Programs, client, copy_program, require_tracing, running, wait_for, written

pytestmark = pytest.mark.xdist_group("inside")
PROBABLY = " (probably)"
INSPECT = BUILD / "heapwatch-inspect"
programs = Programs({"plain": ("inside", "Inside", "-rtsopts")})
RUNTIMES = {"plain": (), "threaded": ("-threaded",), "plain-log": ("-eventlog",), "threaded-log": ("-threaded", "-eventlog"),
            "debug": ("-debug",)}
servers = Programs({way: (f"served-{way}", "Serve", *flags) for way, flags in RUNTIMES.items()})


def make_signatures(path, *libraries):
    return subprocess.run([INSPECT, "signatures", "--output", path, *libraries], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def library(name):
    libraries = pathlib.Path(subprocess.run(["ghc", "--print-libdir"], check=True, stdout=subprocess.PIPE).stdout.decode().strip())
    return next(libraries.rglob(name))


@pytest.fixture(scope="module")
def signatures(tmp_path_factory):
    path = tmp_path_factory.mktemp("signatures") / "ghc.hwsig"
    done = make_signatures(path, *map(library, ("libHSbase-[0-9.]*[0-9].a", "libHSghc-prim-[0-9.]*[0-9].a", "libHSrts.a")))
    assert done.returncode == 0, done.stderr.decode()
    assert b" object files" in done.stdout and path.stat().st_size > 100000
    return path


def strip(program, directory):
    copy_program(program, directory)
    subprocess.run(["strip", directory / program.name], check=True)
    return directory / program.name


def frames_of(program, signatures):
    """Thread -> names of its frames; and what is said."""
    started = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert started.stdout.readline() == b"ready\n"
        env = {"HEAPWATCH_SIGNATURES": str(signatures)} if signatures else {}
        done = client("threads", started.pid, "--all", "--frames", "40", "--format", "json", env=env)
    finally:
        started.kill()
        started.wait()
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(done.stdout)
    assert all(f["probably"] == f["name"].endswith(PROBABLY) for g in found["groups"] for f in g["frames"])
    return {g["members"][0]["id"]: [f["name"] for f in g["frames"]] for g in found["groups"]}, found


def is_place(name):
    return "+0x" in name


def test_a_stripped_program_shows_the_names_of_libraries(tmp_path, signatures):
    require_tracing()
    plain = programs["plain"]
    stripped = strip(plain, tmp_path)
    named, _ = frames_of(plain, None)
    found, told = frames_of(stripped, signatures)
    assert not told["symbols"]
    pairs = [pair for t in named if t in found and len(named[t]) == len(found[t]) for pair in zip(named[t], found[t])]
    assert not [pair for pair in pairs if pair[0] != pair[1].removesuffix(PROBABLY) and not is_place(pair[1])], "a wrong name is worse than none"
    of_libraries = [pair for pair in pairs if pair[0].startswith(("base:", "stg_"))]
    assert len(of_libraries) > 20 and sum(not is_place(b) for _, b in of_libraries) > 0.7 * len(of_libraries), of_libraries
    assert any(b.startswith("base:") for _, b in of_libraries), of_libraries
    without, _ = frames_of(stripped, None)
    assert all(is_place(name) for names in without.values() for name in names)


def test_a_name_that_only_context_decides_is_marked(tmp_path, signatures):
    require_tracing()
    (tmp_path / "Main.hs").write_text("import System.IO\nmain :: IO ()\n"
                                      "main = putStrLn \"ready\" >> hFlush stdout >> getContents >>= print . (== replicate 1000 'a')\n")
    subprocess.run(["ghc", "-v0", "-O1", "-outputdir", tmp_path, "-o", tmp_path / "plain", tmp_path / "Main.hs"], check=True)
    subprocess.run(["strip", "-o", tmp_path / "stripped", tmp_path / "plain"], check=True)
    named, found = (frames_of(tmp_path / name, signatures)[0] for name in ("plain", "stripped"))
    pairs = [pair for t in named for pair in zip(named[t], found[t], strict=True)]
    marked = [(a, b.removesuffix(PROBABLY)) for a, b in pairs if b.endswith(PROBABLY)]
    assert ("base:GHC.Base.eqString",) * 2 in marked, "its code is that of another function too"
    assert not [pair for pair in marked if pair[0] != pair[1]]


def test_signatures_that_cannot_be_used_are_told(tmp_path):
    require_tracing()
    stripped = strip(programs["plain"], tmp_path)
    damaged = written(tmp_path / "damaged.hwsig", b"HWSIG02\nno zstd")
    _, told = frames_of(stripped, damaged)
    assert [s for s in told["sentences"] if s.startswith(f"without names by signatures, {damaged}: it is damaged")]


def test_of_several_files_that_of_the_program_is_used(tmp_path, signatures):
    require_tracing()
    stripped = strip(programs["plain"], tmp_path)
    folder = tmp_path / "signatures"
    folder.mkdir()
    assert make_signatures(folder / "a.hwsig", library("libHSparsec-[0-9.]*[0-9].a")).returncode == 0
    (folder / "b.hwsig").write_bytes(signatures.read_bytes())
    assert make_signatures(folder / "c.hwsig", library("libHShaskeline-[0-9.]*[0-9].a")).returncode == 0
    (folder / "notes").write_text("no signatures")
    found, told = frames_of(stripped, folder)
    assert told["sentences"][0].endswith("; names of libraries by b.hwsig") and len(told["sentences"]) == 1
    assert any(name.startswith("base:") for names in found.values() for name in names)
    (folder / "b.hwsig").unlink()
    found, told = frames_of(stripped, folder)
    assert told["sentences"][1:] == [f"without names by signatures, {folder}: none of its files is of the libraries in this program"]
    assert all(is_place(name) for names in found.values() for name in names)


def test_libraries_that_cannot_be_read_are_told(tmp_path):
    text = written(tmp_path / "text.a", "no archive")
    for libraries, why in (([tmp_path / "none.a"], "No such file"), ([text], "no archive"), ([], "expected libraries")):
        done = make_signatures(tmp_path / "out.hwsig", *libraries)
        assert done.returncode == 2 and why in done.stderr.decode() and not (tmp_path / "out.hwsig").exists()


@pytest.fixture(scope="module")
def of_runtime(tmp_path_factory):
    """Signatures of the runtime in each way that the agent knows."""
    path = tmp_path_factory.mktemp("signatures") / "ghc.hwsig"
    ways = [library(f"libHSrts{way}.a") for way in ("", "_thr", "_l", "_thr_l")]
    done = make_signatures(path, *map(library, ("libHSbase-[0-9.]*[0-9].a", "libHSghc-prim-[0-9.]*[0-9].a")), *ways)
    assert done.returncode == 0, done.stderr.decode()
    return path


AGENT_NAMES = re.findall(r"X\((\w+)\)", (ROOT / "agent/symbols.h").read_text().split("#define SYMBOLS_OWN_FILE")[0])[1:]


@pytest.mark.parametrize("way", RUNTIMES)
def test_the_runtime_of_a_stripped_program_is_found(tmp_path, of_runtime, way):
    done = subprocess.run(["nm", "-S", servers[way]], check=True, capture_output=True, text=True)
    symbols = {}
    for fields in filter(lambda f: len(f) > 2, map(str.split, done.stdout.splitlines())):
        symbols.setdefault(fields[-1], set()).add((int(fields[0], 16), int(fields[1], 16) if len(fields) == 4 else 0))
    found = subprocess.run([INSPECT, "symbols", "--file", strip(servers[way], tmp_path), *AGENT_NAMES], capture_output=True, text=True,
                           env={**os.environ, "HEAPWATCH_SIGNATURES": str(of_runtime)})
    if way == "debug":      # these libraries are not known
        assert not found.stdout, found
        return
    assert found.returncode == 0, found.stderr
    told = {name: (int(address, 16), int(size)) for name, address, size, _ in map(str.split, found.stdout.splitlines())}
    wrong = {name: (place, symbols.get(name)) for name, place in told.items()
             if not any(place[0] == at and place[1] in (0, size) for at, size in symbols.get(name, ()))}
    assert not wrong
    # code of three to six bytes may be anything
    assert set(AGENT_NAMES) & set(symbols) - set(told) <= {"rtsSupportsBoundThreads", "rts_isProfiled", "rts_isThreaded"}


@pytest.mark.parametrize("way", [way for way in RUNTIMES if LONG or way == "threaded"])
def test_the_agent_serves_a_stripped_program(directory, of_runtime, way):
    program = strip(servers[way], directory)
    env = {"HEAPWATCH_DIR": str(directory), "HEAPWATCH_SIGNATURES": str(of_runtime)}
    with Daemon(directory) as daemon, running(program, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        done = client("attach", process.pid, "--name", "x", env=env)
        if way == "debug":
            assert done.returncode == 0 and b"from outside, because it is stripped" in done.stdout, done
            return
        assert done.returncode == 0 and b"attached to" in done.stdout, done
        daemon.wait_state("x", "RUNNING")
        assert client("ctl", "census", "x", env=env).returncode == 0
        wait_for(lambda: "census" in daemon.snapshot("x"), "a census")
        status = client("ctl", "agent", "x", "status", env=env).stdout.decode()
        assert f"threaded={int('threaded' in way)}" in status and f"log={'runtime' if 'log' in way else 'synthetic'}" in status, status
        assert client("detach", process.pid, env=env).returncode == 0
        process.stdin.close()
        assert process.wait(60) == 0


def test_run_has_the_agent_in_a_stripped_program_alone(directory, of_runtime):
    """A program of which nothing is known, started by the one that is, is not taken for it."""
    program = strip(servers["threaded"], directory)
    other = directory / "other"
    shutil.copy(program, other)
    env = {"HEAPWATCH_DIR": str(directory), "HEAPWATCH_SIGNATURES": str(of_runtime)}
    with Daemon(directory) as daemon:
        for name, command, source in (("x", [program], "unix:"), ("y", ["/bin/sh", "-c", f"{other}; true"], "outside:")):
            with running(CLIENT, "run", "--name", name, "--", *command, env={**os.environ, **env}, stdin=subprocess.PIPE,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as started:
                wait_for(lambda: "census" in daemon.snapshot(name), "a census")
                assert daemon.wait_state(name, "RUNNING").uri.startswith(source)
                started.stdin.close()
                assert started.wait(60) == 0


def test_what_was_found_is_kept_for_the_next_start(directory, of_runtime):
    """Each search is counted, by what is in the place of heapwatch-inspect."""
    programs, folder, searches = directory / "bin", directory / "signatures", directory / "searches"
    programs.mkdir()
    folder.mkdir()
    for path in (CLIENT, CLIENT.with_name("heapwatch-live"), *BUILD.glob("libheapwatch*.so*")):
        shutil.copy(path, programs)
    inspect = written(programs / "heapwatch-inspect", f'#!/bin/sh\n[ "$1" != symbols ] || echo "$3" >> {searches}\nexec {INSPECT} "$@"\n')
    inspect.chmod(0o755)
    known = folder / "ghc.hwsig"
    shutil.copy(of_runtime, known)
    env = {**os.environ, "HEAPWATCH_DIR": str(directory), "HEAPWATCH_SIGNATURES": str(folder), "XDG_CACHE_HOME": str(directory / "cache")}

    def examine(program, n, inside=True, **more):
        done = subprocess.run([programs / "heapwatch", "doctor", program], env={**env, **more}, capture_output=True, text=True)
        assert (": watched from inside" in done.stdout) == inside, done
        own = [s for s in searches.read_text().splitlines() if not s.startswith("/proc/")]      # else of what `ps` found besides
        assert len(own) == n, searches.read_text()

    def listed(program, attach):
        """What `ps` says of it, by the same search."""
        with running(program, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as started:
            def row():
                rows = subprocess.run([programs / "heapwatch", "ps"], env=env, capture_output=True, text=True).stdout.splitlines()
                return next((r for r in rows if r.split()[0] == str(started.pid) and program.name in r), None)
            assert wait_for(row, "the program in the list").endswith(attach), row()
            assert f"/proc/{started.pid}/exe" not in searches.read_text(), "it is known"

    program = strip(servers["threaded"], directory)
    examine(program, 1)
    listed(program, " yes")
    examine(program, 1)
    with Daemon(directory) as daemon, running(programs / "heapwatch", "run", "--name", "x", "--", program, env=env, stdin=subprocess.PIPE,
                                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as started:
        assert daemon.wait_state("x", "RUNNING").uri.startswith("unix:")
        started.stdin.close()
        assert started.wait(60) == 0
    assert searches.read_text().splitlines().count(str(program)) == 1
    os.utime(known)
    examine(program, 2)
    examine(program, 2)
    shutil.copy(strip(servers["threaded-log"], directory), program)
    examine(program, 3)
    examine(program, 3)
    known.unlink()
    make_signatures(known, library("libHSparsec-[0-9.]*[0-9].a"))
    examine(program, 4, inside=False)
    listed(program, "from outside: it is stripped")
    examine(program, 4, inside=False)
    inspect.write_text(inspect.read_text() + "# another\n")
    examine(program, 5, inside=False)
    examine(program, 6, inside=False, XDG_CACHE_HOME="/proc")
    examine(program, 7, inside=False, XDG_CACHE_HOME="/proc")
