# SPDX-License-Identifier: BSD-3-Clause
"""What each command says of a finished log, whole: tests/data/said has a text a log, which alone knows the wording.
`make golden` writes these texts anew; their diff is reviewed."""
import os
import re

import pytest

from harness import LOGS, ROOT, client

COMMANDS = ("summary", "trend", "check", "post-mortem", "top --once")
PLACE = {"COLUMNS": "100", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
SAID = sorted((ROOT / "tests" / "data" / "said").glob("*.txt"))
NOW = re.compile(r"^(heapwatch )?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ", re.M)      # of this test, not of the log


@pytest.mark.parametrize("path", SAID, ids=lambda path: path.stem)
def test_what_is_said_is_as_it_was_reviewed(path):
    said = ""
    for command in COMMANDS:
        done = client(*command.split(), (LOGS / path.stem / "run.eventlog").relative_to(ROOT), cwd=ROOT, env=PLACE)
        text = NOW.sub(r"\1NOW ", (done.stderr + done.stdout).decode())
        said += f"$ heapwatch {command}\n{text}[{done.returncode}]\n\n"
    if os.environ.get("HEAPWATCH_GOLDEN"):
        path.write_text(said)
    assert said == path.read_text(), f"{path.relative_to(ROOT)}: `make golden` writes it anew"
