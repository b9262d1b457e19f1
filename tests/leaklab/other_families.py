#!/usr/bin/python3
"""Families that the lab does not have, scored by the same code; docs/VERDICT.md has the results.

  other_families.py score --detector build/heapwatch-trend [--ok N] [--leak N] [--seed S]     (defaults of leaklab.py)
"""
import sys

import numpy as np

import leaklab
from families import H, Series, ar, clock, const, flat_of, grid, hours, leak_of, logu, noise, size

DAY = 24 * H
TURN = 6.28318


# ---------------------------------------------------------------- a leak
def random_steps(r):
    """Steps of random height at random times, 5 min to an hour apart in the mean."""
    b, d = size(r), hours(r, 12, 24, 48)
    rate, every = b * logu(r, .02, .3) / H, logu(r, 300, H)
    t = clock(r, d)
    at = np.cumsum(r.exponential(every, int(d / every * 3) + 20))
    height = np.concatenate([[0], np.cumsum(rate * every * r.lognormal(-.125, .5, len(at)))])
    return leak_of(r, d, b, rate * H, t=t, extra=height[np.searchsorted(at, t, side="right")] - rate * t, hi=.02)


def daily_wave(r):
    b, d = size(r), 2 * DAY
    t = clock(r, d)
    wave = b * logu(r, .03, .2) * np.sin(TURN * t / DAY + r.uniform(0, 7))
    return leak_of(r, d, b, b * logu(r, .02, .1), t=t, extra=wave, hi=.02)


def below_noise(r):
    """0.3 to 1 % an hour under noise of 3 to 6 % with a memory of 2 to 20 min."""
    b, d = size(r), 2 * DAY
    t = clock(r, d)
    return leak_of(r, d, b, b * logu(r, .003, .01), t=t, nz=False,
                   extra=ar(r, t, logu(r, 120, 1200), b * r.uniform(.03, .06)))


def three_an_hour(r):
    b, d = size(r), 2 * DAY
    return leak_of(r, d, b, b * logu(r, .02, .2), t=clock(r, d, r.uniform(1000, 1500)), hi=.03)


def by_day(r):
    """Samples in 16 of 24 hours; the leak goes on."""
    b, d = size(r), 2 * DAY
    t = clock(r, d)
    return leak_of(r, d, b, b * logu(r, .02, .2), t=t[t % DAY < 16 * H], hi=.02)


def two_collectors(r, d):
    """When the second collector begins, and the times: 50 times fewer from then on."""
    change = d * r.uniform(.4, .6)
    often, rarely = clock(r, d, r.uniform(2, 10)), clock(r, d, r.uniform(100, 400))
    return change, np.concatenate([often[often < change], rarely[rarely >= change]])


def other_collector(r):
    """Midway collections become rare and report a tenth more as live."""
    b, d = size(r), hours(r, 24, 48)
    change, t = two_collectors(r, d)
    return leak_of(r, d, b, b * logu(r, .03, .2), t=t, extra=b * .1 * (t >= change), hi=.02)


def megablocks(r):
    """A heap that is reported in whole megablocks."""
    b, d = logu(r, 50e6, 2e9), hours(r, 24, 48)
    rate, t = b * logu(r, .02, .2), clock(r, d)
    y = b + rate / H * t
    return leak_of(r, d, b, rate, t=t, nz=False, extra=2**20 * np.ceil(y / 2**20) - y)


def each_request(r):
    """A little of each request, under a load with a wave of about an hour."""
    b, d = size(r), hours(r, 12, 24)
    rate, w = b * logu(r, .03, .2) / H, TURN / (logu(r, .3, 2) * H)
    return leak_of(r, d, b, rate * H, g=lambda s: rate * (s + (1 - np.cos(w * s)) / w * .8), hi=.02, slope=rate)


# ---------------------------------------------------------------- not a leak
def cache(r):
    """Fills for one to five hours, which cannot be distinguished from a leak, and stops."""
    b, d = size(r), hours(r, 12, 24, 48)
    full, t = b * logu(r, .5, 10), r.uniform(1, 5) * H
    return flat_of(r, d, b, lambda s: b + full * np.minimum(s / t, 1), hi=.02)


def loads_its_data(r):
    b, d = size(r), hours(r, 4, 8, 24)
    return flat_of(r, d, b, lambda s: 1e6 + b * np.minimum(s / 1200, 1), hi=.02)


def other_collector_flat(r):
    b, d = size(r), hours(r, 12, 24, 48)
    change, t = two_collectors(r, d)
    floor = lambda s: b * (1 + .3 * (s >= change))
    return Series(t, floor(t) + noise(r, t, b), floor(grid(d)), d)


def by_day_flat(r):
    b, d = size(r), 2 * DAY
    t = clock(r, d)
    t = t[t % DAY < 16 * H]
    return Series(t, b + noise(r, t, b), const(b)(grid(d)), d)


def three_an_hour_flat(r):
    b, d = size(r), 2 * DAY
    t = clock(r, d, r.uniform(1000, 1500))
    return Series(t, b + noise(r, t, b, hi=.08), const(b)(grid(d)), d)


def nightly_batch(r):
    """Two to six hours of growth, then all is freed; every day."""
    b, d = size(r), 4 * DAY
    t, height, begins = r.uniform(2, 6) * H, b * logu(r, .1, 2), r.uniform(0, 18) * H
    since = lambda s: (s - begins) % DAY
    return flat_of(r, d, b, lambda s: b + height * np.clip(since(s) / t, 0, 1) * (since(s) < t), hi=.02)


OK = [cache, loads_its_data, other_collector_flat, by_day_flat, three_an_hour_flat, nightly_batch]
LEAK = [random_steps, daily_wave, below_noise, three_an_hour, by_day, other_collector, megablocks, each_request]

if __name__ == "__main__":
    sys.exit(leaklab.main(sys.modules["__main__"]))
