# SPDX-License-Identifier: BSD-3-Clause
"""What attacks have in common: the tools of tests/e2e, and how far to go."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

FULL = os.environ.get("HEAPWATCH_ATTACK", "short") == "full"     # `make attack`; the short form is part of `make check`


def scale(short, full):
    return full if FULL else short
