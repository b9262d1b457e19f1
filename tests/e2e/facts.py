# SPDX-License-Identifier: BSD-3-Clause
"""What faces say, as facts that can be compared."""
import pytest

EXACT = 1e-8        # the precision of a number as it is


class Facts(dict):
    """(what, of what) -> (value, precision)."""

    def say(self, what, of, value, precision=EXACT):
        if value is not None:
            self[what, of] = (value, precision)


def contradictions(faces):
    """All that two faces say differently."""
    said = {}
    for face, facts in faces.items():
        for key, (value, precision) in facts.items():
            said.setdefault(key, []).append((precision, face, value))
    out = []
    for key, all_ in sorted(said.items()):
        all_.sort(key=lambda x: x[0])
        exact, first, want = all_[0]
        for precision, face, value in all_[1:]:
            same = value == want if isinstance(value, (str, list, int)) and isinstance(want, (str, list, int)) else \
                value == pytest.approx(want, rel=max(exact, precision), abs=1e-9 if precision == EXACT else 1)
            if not same:
                out.append(f"{' of '.join(filter(None, key))}: {first} says {want}, {face} says {value}")
    return out, said
