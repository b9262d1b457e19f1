# SPDX-License-Identifier: BSD-3-Clause
"""The soak in its short form: each fault once or twice."""
import random

from common import scale
from soak import Soak


def test_faults_leave_healthy_targets_alone(directory):
    seed = random.SystemRandom().randrange(1 << 31)
    print(f"seed {seed}")      # shown when it fails; ATTACK_SEED for soak.py
    assert Soak(directory, seed).run(scale(12, 60)) >= 3
