// SPDX-License-Identifier: BSD-3-Clause
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatStanding, parseStanding, resolve } from "../src/range.ts";
import { join, Series, window } from "../src/state/series.ts";

test("a series stays within its bound and keeps its extremes", () => {
    const s = new Series(256);
    for (let i = 0; i < 100000; i++) s.push(i, i === 777 ? 1e9 : i === 888 ? -5 : i % 10);
    assert.ok(s.n <= 256);
    const v = [...s.v.subarray(0, s.n)];
    assert.ok(v.includes(1e9) && v.includes(-5));
    const t = [...s.t.subarray(0, s.n)];
    assert.deepEqual(t, [...t].sort((a, b) => a - b));
    assert.equal(t[t.length - 1], 99999);
});

test("late points find their place, repeated ones are one", () => {
    const s = new Series();
    for (const t of [1, 2, 4, 3, 3]) s.push(t, t * 10);
    assert.deepEqual([...s.t.subarray(0, s.n)], [1, 2, 3, 4]);
    s.push(NaN, 1);
    assert.equal(s.n, 4);
});

test("history is put before what is here", () => {
    const s = new Series();
    s.push(10, 1);
    s.push(11, 2);
    s.prepend([1, 5, 10, 12], [7, 8, 9, 9]);
    assert.deepEqual([...s.t.subarray(0, s.n)], [1, 5, 10, 11]);
    assert.deepEqual([...s.v.subarray(0, s.n)], [7, 8, 1, 2]);
});

test("the past may come again, finer", () => {
    const s = new Series();
    s.push(10, 1);
    s.prepend([0, 5], [7, 8]);
    s.push(11, 2);
    s.prepend([0, 1, 5, 9, 10], [6, 7, 8, 9, 9]);
    assert.deepEqual([...s.t.subarray(0, s.n)], [0, 1, 5, 9, 10, 11]);
    assert.deepEqual([...s.v.subarray(0, s.n)], [6, 7, 8, 9, 1, 2]);
    const late = new Series(); // its own points begin after the past came
    late.prepend([0, 5], [1, 2]);
    late.push(6, 3);
    late.prepend([0, 1, 5], [1, 4, 2]);
    assert.deepEqual([...late.t.subarray(0, late.n)], [0, 1, 5, 6]);
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

test("ranges slide or stand", () => {
    assert.deepEqual(resolve("1m", 100), { from: 40, to: 100 });
    assert.deepEqual(resolve("all", 100), { from: 0, to: 100 });
    assert.deepEqual(resolve("2.5-7", 100), { from: 2.5, to: 7 });
    assert.equal(parseStanding("7-2"), undefined);
    assert.equal(formatStanding({ from: -1, to: 2.12345678 }), "0-2.123457");
});
