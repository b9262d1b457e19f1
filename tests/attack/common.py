# SPDX-License-Identifier: BSD-3-Clause
"""What attacks share: the tools of tests/e2e, and the choice of the short or the long form."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

from harness import LONG  # noqa: E402


def scale(short, long):
    return long if LONG else short
