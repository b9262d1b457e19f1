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


def by_size(r, d, floor, rate, base):
    """Times at distances in proportion to the floor, as of a copying collector's major collections, or of censuses that
    are allowed a share of the time: each is 1.2 to 3 times as late as the one before while memory grows at this rate."""
    share, t, out = (logu(r, 1.2, 3) - 1) / rate, 0.0, []
    while t < d and len(out) < 4000:
        t += max(2.0, share * (floor(t) - base * .9)) * r.lognormal(0, .1)
        out.append(t)
    t = np.array(out)
    return t[t < d]


def fast_by_size(r):
    """20 to 2000 times its size, sampled ever more rarely."""
    b, d = logu(r, 5e6, 50e6), hours(r, 2, 5, 8, 12)
    rate = b * logu(r, 20, 2000) / d
    return leak_of(r, d, b, rate * H, t=by_size(r, d, lambda s: b + rate * s, rate, b), lo=.001, hi=.02)


def fast_with_load(r):
    """The same with a part that comes and goes with the load, a tenth of what was gained."""
    b, d = logu(r, 5e6, 50e6), hours(r, 5, 8, 12)
    rate = b * logu(r, 20, 2000) / d
    t = by_size(r, d, lambda s: b + rate * s, rate, b)
    return leak_of(r, d, b, rate * H, t=t, extra=rate * t * .1 * (r.random(len(t)) - .5), lo=.001, hi=.02)


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


def one_big_job(r):
    """One job that grows for 7 min to 4 h, to 1.5 to 11 times the size, and then frees everything."""
    b, d = size(r), hours(r, 4, 8, 12)
    begins, t, height = r.uniform(.05, .6) * d, logu(r, .03, .35) * d, b * logu(r, .5, 10)
    since = lambda s: np.asarray(s) - begins
    return flat_of(r, d, b, lambda s: b + height * np.clip(since(s) / t, 0, 1) * (since(s) < t))


def batches(r):
    """Jobs of 5 min to 8 h at random times, each grows and then frees everything; sizes vary by half."""
    b, d = size(r), hours(r, 8, 12, 24, 48)
    mean, gap, height = logu(r, 300, d / 6), logu(r, 300, d / 6), b * logu(r, .3, 6)
    jobs, begins = [], r.exponential(gap)
    while begins < d:
        jobs.append((begins, mean * r.lognormal(0, .4), height * r.lognormal(0, .4)))
        begins += jobs[-1][1] + r.exponential(gap)

    def floor(s):
        since = lambda begins: np.asarray(s) - begins
        return b + sum(h * np.clip(since(begins) / t, 0, 1) * (since(begins) < t) for begins, t, h in jobs)
    return flat_of(r, d, b, floor, hi=.04)


def cache_by_size(r):
    """Fills to 5 to 500 times the size in 5 to 100 min, then stops; samples at distances in proportion to the size."""
    b, d = logu(r, 5e6, 50e6), hours(r, 8, 12, 24)
    full, t = b * logu(r, 5, 500), logu(r, 300, 6000)
    floor = lambda s: b + full * np.minimum(s / t, 1)
    at = by_size(r, d, floor, full / t, b)
    return Series(at, floor(at) + noise(r, at, b + full, hi=.02), floor(grid(d)), d)


def warmup_by_size(r):
    """The same, ever more slowly."""
    b, d = logu(r, 5e6, 50e6), hours(r, 8, 12, 24)
    full, t = b * logu(r, 5, 500), logu(r, 300, 3600)
    floor = lambda s: b + full * (1 - np.exp(-np.asarray(s) / t))
    at = by_size(r, d, floor, full / t, b)
    return Series(at, floor(at) + noise(r, at, b + full, lo=.0005, hi=.02), floor(grid(d)), d)


def saw_by_size(r):
    """Batches of 10 to 60 min that grow and free everything."""
    b, d = logu(r, 5e6, 50e6), hours(r, 8, 12, 24)
    full, t = b * logu(r, 5, 500), logu(r, 600, 3600)
    floor = lambda s: b + full * (np.asarray(s) % t) / t
    at = by_size(r, d, floor, full / t, b)
    return Series(at, floor(at) + noise(r, at, b, hi=.02), np.full(len(grid(d)), b), d)


def few_walk(r):
    """A bounded walk, seen every 5 to 20 min."""
    b, d = size(r), hours(r, 8, 12, 24, 48)
    t, a = clock(r, d, r.uniform(300, 1200)), b * logu(r, .03, .2)
    x = ar(r, t, logu(r, .5, 4) * H, a)
    return Series(t, b + x + r.normal(0, .003 * b, len(t)), const(b)(grid(d)), d)


def few_wave(r):
    """A wave of 1 to 12 h, seen every 5 to 20 min."""
    b, d = size(r), hours(r, 24, 48)
    period, a, phase = r.uniform(1, 12) * H, b * logu(r, .02, .4), r.uniform(0, 7)
    floor = lambda s: b + a * np.sin(TURN * s / period + phase)
    return flat_of(r, d, b, floor, t=clock(r, d, r.uniform(300, 1200)))


OK = [cache, loads_its_data, other_collector_flat, by_day_flat, three_an_hour_flat, nightly_batch, one_big_job, batches,
      cache_by_size, warmup_by_size, saw_by_size, few_walk, few_wave]
LEAK = [random_steps, daily_wave, below_noise, three_an_hour, by_day, other_collector, megablocks, each_request,
        fast_by_size, fast_with_load]

if __name__ == "__main__":
    sys.exit(leaklab.main(sys.modules["__main__"]))
