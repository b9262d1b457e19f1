# SPDX-License-Identifier: BSD-3-Clause
"""What attacks share: the tools of tests/e2e, and the choice of the short or the full form."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

FULL = os.environ.get("HEAPWATCH_ATTACK", "short") == "full"     # `make attack`; the short form is part of `make check`


def scale(short, full):
    return full if FULL else short
