// SPDX-License-Identifier: BSD-3-Clause
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatFixed, parseFixed, resolve } from "../src/range.ts";
import { bridge, join, moments, peaks, Series, sums, window } from "../src/state/series.ts";

const item = (times: number[], last: number[], more: object = {}) => ({ target: "t", times, last, ...more });
const column = (s: Series, name: "t" | "v" | "from" | "count" | "mean") => [...s[name].subarray(0, s.n)];

test("a series stays within its bound, keeps its extremes, and its newest samples are single", () => {
    const s = new Series(256);
    for (let i = 0; i < 100000; i++) s.push(i, i === 777 ? 1e9 : i === 888 ? -5 : i % 10);
    assert.ok(s.n <= 256);
    assert.equal(Math.max(...s.max.subarray(0, s.n)), 1e9);
    assert.equal(Math.min(...s.min.subarray(0, s.n)), -5);
    assert.equal(column(s, "count").reduce((a, b) => a + b), 100000);
    assert.ok(Math.abs(column(s, "mean").reduce((sum, m, i) => sum + m * s.count[i]!, 0) - (1e9 - 7 - 5 - 8 + 450000)) < 1);
    for (let i = 0; i < s.n; i++) {
        assert.equal(s.from[i], i ? s.t[i - 1]! + 1 : 0); // side by side, nothing is twice
        assert.equal(s.v[i], s.t[i] === 888 ? -5 : s.t[i]! % 10); // the last one where it was
    }
    assert.equal(s.t[s.n - 1], 99999);
    assert.deepEqual(column(s, "count").slice(-8), Array(8).fill(1));
    assert.ok(s.t[0]! < 100000 / 16);
});

test("late samples find their place, those that came twice are one", () => {
    const s = new Series();
    for (const t of [1, 2, 4, 3, 3]) s.push(t, t * 10);
    assert.deepEqual(column(s, "t"), [1, 2, 3, 4]);
    s.push(NaN, 1);
    assert.equal(s.n, 4);
});

test("what is remembered is put before what is here", () => {
    const s = new Series();
    s.push(10, 1);
    s.push(11, 2);
    s.remember(item([1, 5, 10, 12], [7, 8, 9, 9]));
    assert.deepEqual(column(s, "t"), [1, 5, 10, 11]);
    assert.deepEqual(column(s, "v"), [7, 8, 1, 2]);
});

test("the past may come again, finer", () => {
    const s = new Series();
    s.push(10, 1);
    s.remember(item([0, 5], [7, 8]));
    s.push(11, 2);
    s.remember(item([0, 1, 5, 9, 10], [6, 7, 8, 9, 9]));
    assert.deepEqual(column(s, "t"), [0, 1, 5, 9, 10, 11]);
    assert.deepEqual(column(s, "v"), [6, 7, 8, 9, 1, 2]);
    const late = new Series(); // its own samples begin after the past came
    late.remember(item([0, 5], [1, 2]));
    late.push(6, 3);
    late.push(4, 3); // which was in the past
    late.remember(item([0, 1, 5], [1, 4, 2]));
    assert.deepEqual(column(late, "t"), [0, 1, 5, 6]);
});

// As tests/unit/history/test_history.c: a series that only rises is drawn rising, in any order of messages and answers.
test("the seam is not seen", () => {
    let seed = 7;
    const random = (n: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n, value = (t: number) => 1000 + t;
    const remembered = (from: number, to: number, width: number) => {
        const starts: number[] = [];
        for (let t = from - (from % width); t < to; t += width) starts.push(t);
        const first = (t: number) => Math.max(t, from), end = (t: number) => Math.min(t + width, to) - 1;
        return item(starts, starts.map((t) => value(end(t))), { ends: starts.map(end), min: starts.map((t) => value(first(t))),
            max: starts.map((t) => value(end(t))), mean: starts.map((t) => (value(first(t)) + value(end(t))) / 2),
            count: starts.map((t) => end(t) - first(t) + 1) });
    };
    for (let round = 0; round < 200; round++) {
        const s = new Series(512), now = 400 + random(5000), asked = now + random(30), end = asked + random(4000);
        if (round % 2) for (let t = now; t < asked; t++) s.push(t, value(t));
        for (const width of [60, 1]) if (random(4)) s.remember(remembered(100, asked, width));
        for (let t = round % 2 ? asked : now; t < end; t++) s.push(t, value(t));
        for (let i = 0; i < s.n; i++) {
            assert.equal(s.v[i], value(s.t[i]!));
            assert.ok(s.from[i]! <= s.t[i]! && (i === 0 || s.from[i]! > s.t[i - 1]!), `round ${round}: ${s.from[i]} after ${s.t[i - 1]}`);
        }
        const p = window(s, 0, end, 1e6);
        for (let i = 1; i < p.t.length; i++) assert.ok(p.t[i]! > p.t[i - 1]! && p.v[i]! > p.v[i - 1]!);
        if (end > now) assert.equal(s.t[s.n - 1], end - 1);
    }
});

test("pauses: the longest where it was, sums whatever is merged", () => {
    const s = new Series(16), whole = new Series();
    for (let i = 0; i < 1000; i++) {
        s.push(i / 10, i === 500 ? 90 : 1);
        whole.push(i / 10, i === 500 ? 90 : 1);
    }
    assert.equal(Math.max(...peaks(s, 0, 100, 1000).v), 90);
    const total = (x: number[]) => x.reduce((a, b) => a + b);
    assert.ok(Math.abs(total(sums(s, 0, 100, 10)) - 1089) < 1e-6);
    assert.deepEqual(sums(whole, 0, 100, 10).map(Math.round), [100, 100, 100, 100, 100, 189, 100, 100, 100, 100]);
    assert.deepEqual(peaks(whole, 49.95, 50.05, 100), { t: [50], v: [90] });
});

test("pauses of a coarse past and a fine present are drawn as densely", () => {
    const s = new Series(1000), tens = Array.from({ length: 20 }, (_, i) => 10 * i), of = (v: number) => tens.map(() => v);
    s.remember({ daemon: 0, target: "t", run: 1, unit: "ns", times: tens, ends: tens.map((t) => t + 9), last: of(1), mean: of(1), min: of(1), max: of(5), count: of(9) });
    for (let i = 200; i < 400; i++) s.push(i, i % 7);
    const p = peaks(s, 0, 400, 1000), older = p.t.filter((t) => t < 200).length, newer = p.t.length - older;
    assert.ok(older === 19 || older === 20, `${older} points`); // one part has both
    assert.ok(newer >= 20 && newer <= 24, `${newer} points of the same time`);
    assert.equal(Math.max(...p.v), 6);
});

test("a window has one point beyond each end and keeps spikes", () => {
    const s = new Series();
    for (let i = 0; i < 4000; i++) s.push(i, i === 2000 ? 99 : 1);
    const p = window(s, 1000, 3000, 200);
    assert.ok(p.t.length <= 204);
    assert.equal(p.t[0], 999);
    assert.ok(p.v.includes(99));
    assert.deepEqual(window(s, 10.5, 12.5, 200).t, [10, 11, 12, 13]);
});

test("series of different times are joined", () => {
    const { x, ys } = join([{ t: [1, 3], v: [10, 30] }, { t: [2, 3], v: [5, 6] }]);
    assert.deepEqual(x, [1, 2, 3]);
    assert.deepEqual(ys, [[10, null, 30], [null, 5, 6]]);
});

test("ranges slide or are fixed", () => {
    assert.deepEqual(resolve("1m", 100), { from: 40, to: 100 });
    assert.deepEqual(resolve("all", 100), { from: 0, to: 100 });
    assert.deepEqual(resolve("2.5-7", 100), { from: 2.5, to: 7 });
    assert.equal(parseFixed("7-2"), undefined);
    assert.equal(formatFixed({ from: -1, to: 2.12345678 }), "-1-2.123457");
    assert.deepEqual(parseFixed("-3600--60.5"), { from: -3600, to: -60.5 });
    assert.deepEqual(resolve("7d", 100, -1000), { from: -1000, to: 100 });
    assert.deepEqual(resolve("7d", 100), { from: 0, to: 100 });
});

test("marks are as dense where samples are single as where they are ten seconds wide", () => {
    const s = new Series();
    for (let t = 40; t < 60; t++) s.push(t + 0.5, 1);
    assert.deepEqual(moments(s, 40, 43), [40.5, 41.5, 42.5]);
    s.remember(item([0, 10, 20, 30], [1, 1, 1, 1], { ends: [9.5, 19.9, 29.1, 39.5], count: [10, 10, 10, 10] }));
    assert.deepEqual(moments(s, 0, 60), [9.5, 19.9, 29.1, 39.5, 49.5, 59.5]);
    assert.deepEqual(moments(s, 41, 44), [41.5, 42.5, 43.5]);
});

test("what was gained since a moment needs a sample by then and one after it", () => {
    const s = new Series();
    for (const [t, v] of [[1, 10], [2, 30], [4, 25]] as const) s.push(t, v);
    assert.equal(s.gained(0.5), undefined);
    assert.equal(s.gained(1), 15);
    assert.equal(s.gained(3.9), -5);
    assert.equal(s.gained(4), undefined);
    assert.equal(new Series().gained(1), undefined);
});

test("layers have no hole where one series has more points of a bin than another", () => {
    assert.deepEqual(bridge([0, 1, 2, 3, 4], [null, 4, null, 8, null]), [4, 4, 6, 8, 8]);
    assert.deepEqual(bridge([0, 1, 3], [2, null, 8]), [2, 4, 8]); // by time
    assert.deepEqual(bridge([0, 1, 2, 3, 4, 5], [1, null, null, null, null, 1]), [1, null, null, null, null, 1]); // not known for longer
    assert.deepEqual(bridge([0, 1], [null, null]), [null, null]);
    assert.deepEqual(bridge([], []), []);
});
