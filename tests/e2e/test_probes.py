# SPDX-License-Identifier: BSD-3-Clause
"""The trace points of heapwatchd are in the program, as bpftrace finds them: notes of the section .note.stapsdt."""
import re
import subprocess

from harness import BUILD, DAEMON, ROOT


def test_the_probes_are_in_the_program():
    header = (ROOT / "proto" / "base" / "probes.h").read_text()
    named = set(re.findall(r"HW_PROBE2\((\w+), \w+, \w+\)\n", header)) - {"name"}
    assert len(named) == 5
    program = DAEMON if BUILD.name != "valgrind" else DAEMON.with_suffix(".real")
    notes = subprocess.run(["readelf", "--notes", "--wide", program], stdout=subprocess.PIPE, check=True).stdout.decode()
    assert set(re.findall(r"Provider: heapwatch\s+Name: (\w+)", notes)) == named
    # "4@..." and the like: size and place of each of two arguments; without them a probe says nothing.
    for name in named:
        arguments = re.search(rf"Name: {name}\s+.*\s+Arguments: (.*)", notes).group(1)
        assert len(re.findall(r"-?[1248]@\S+", arguments)) == 2, arguments
