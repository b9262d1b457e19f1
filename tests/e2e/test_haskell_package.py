# SPDX-License-Identifier: BSD-3-Clause
"""The Haskell package (haskell/) in a program that is watched. Its own test suite is `cabal test` there."""
import os
import re
import shutil
import subprocess

import pytest

from harness import CLIENT, ROOT, Daemon, client, compile_haskell, private_directory, running, wait_for


def test_phases_markers_labels_and_censuses_are_seen():
    program = compile_haskell("phases", "Phases", "-threaded", "-eventlog", "haskell/src/Heapwatch.hs")
    with private_directory() as directory, Daemon(directory) as daemon:
        env = {"HEAPWATCH_DIR": str(directory)}

        def censuses():
            said = client("ctl", "agent", "p", "status", env=env).stdout.decode()
            return {k: int(v) for k, v in re.findall(r"\b(censuses|taken)=(\d+)", said)}

        def request_census(run):
            print("now", file=run.stdin, flush=True)
            assert run.stdout.readline() == "now\n"

        with running(CLIENT, "run", "--no-top", "--name", "p", "--", program, env={**os.environ, **env}, stdin=subprocess.PIPE,
                     stdout=subprocess.PIPE, text=True) as run:
            assert run.stdout.readline() == "ready\n"
            wait_for(lambda: daemon.target("p"), "the target")
            assert client("ctl", "agent", "p", "interval", "3600", env=env).returncode == 0
            before = wait_for(lambda: (seen := censuses()) and seen["taken"] == seen["censuses"] and seen, "no census is on its way")
            # Made with the program's next step: on a busy machine it may be idle again when the agent has the request.
            wait_for(lambda: request_census(run) or censuses()["taken"] > before["taken"], "the census")
            run.stdin.close()
            assert run.wait() == 0
        said = client("top", "--once", "--view", "notes", "p", env=env).stdout.decode()
        for note in ("the orders' thread", "load orders begins", "load orders ends", "cache full"):
            assert note in said, said


def test_cabal_finds_nothing_to_mend():
    if not shutil.which("cabal"):
        pytest.skip("cabal is not installed here (apt install cabal-install)")
    done = subprocess.run(["cabal", "check"], cwd=ROOT / "haskell", capture_output=True, text=True)
    assert done.returncode == 0 and "No errors or warnings" in done.stdout, done.stdout
