// SPDX-License-Identifier: BSD-3-Clause
import assert from "node:assert/strict";
import { test } from "node:test";
import { Censuses } from "../src/state/census.ts";

const column = (c: Censuses, band: number) => Array.from({ length: c.n }, (_, i) => c.bytes(band, i));

test("a band without a row held nothing", () => {
    const c = new Censuses();
    c.push(1, 1, 10, [1], [10]);
    c.push(2, 2, 25, [1, 2], [20, 5]);
    c.push(3, 3, 7, [2], [7]);
    assert.deepEqual(column(c, 1), [10, 20, 0]);
    assert.deepEqual(column(c, 2), [0, 5, 7]);
});

test("a range that reaches beyond the grid has as many values as times", () => {
    const c = new Censuses();
    c.push(1, 1, 10, [1], [10]);
    c.push(2, 2, 25, [1, 2], [20, 5]);
    assert.deepEqual(c.values(1, 1, 9), [20]);
    assert.deepEqual(c.values(2, 0, 9), [0, 5]);
    assert.deepEqual(c.values(1, 5, 9), []);
});

test("a census told twice counts once", () => {
    const c = new Censuses();
    c.push(1, 1, 10, [1], [10]);
    c.push(1, 1, 10, [1], [10]);
    assert.equal(c.n, 1);
});

test("the past is unknown where it was not told, and comes in parts", () => {
    const c = new Censuses();
    c.push(9, 30, 12, [1, 2], [10, 2]);
    const item = (band: number, last: number[]) => ({ target: "t", band, times: [10, 20, 30], last });
    c.seed([{ target: "t", series: "census_total", times: [10, 20, 30], last: [6, 8, 12] }, item(1, [5, 6, 10])]);
    assert.deepEqual(c.times, [10, 20, 30]);
    assert.deepEqual(c.totals, [6, 8, 12]);
    assert.deepEqual(column(c, 1), [5, 6, 10]);
    assert.deepEqual(column(c, 2), [NaN, NaN, 2]);
    c.seed([item(2, [1, 2, 2])]);
    assert.deepEqual(column(c, 2), [1, 2, 2]);
    c.push(10, 40, 3, [3], [3]);
    assert.deepEqual(column(c, 3), [NaN, NaN, 0, 3]);
    assert.deepEqual(column(c, 1), [5, 6, 10, 0]);
});

test("what was unknown stays unknown when older censuses are thinned and when the past comes again", () => {
    const c = new Censuses(), n = 3000, past = Array.from({ length: 100 }, (_, i) => i);
    const item = (band: number) => ({ target: "t", band, times: past, last: past.map(() => 7) });
    c.seed([item(1)]);
    for (let i = 0; i < 20; i++) c.push(i + 1, 100 + i, 12, [1, 2], [7, 5]);
    c.seed([item(1)], true);
    assert.deepEqual([c.bytes(1, 0), c.bytes(1, 100), c.bytes(1, 119)], [7, 7, 7]);
    assert.deepEqual([c.bytes(2, 99), c.bytes(2, 100), c.bytes(2, 119)], [NaN, 5, 5]);
    for (let i = 20; i < n; i++) c.push(i + 1, 100 + i, 15, [1, 2, 3], [7, 5, 3]);
    assert.ok(c.n <= c.bound());
    for (let i = 0; i < c.n; i++) {
        assert.equal(c.bytes(1, i), 7);
        assert.deepEqual(c.bytes(2, i), c.times[i]! < 100 ? NaN : 5);
        assert.deepEqual(c.bytes(3, i), c.times[i]! < 100 ? NaN : c.times[i]! < 120 ? 0 : 3);
    }
});

test("a total told in buckets never makes a rest that was not there", () => {
    const c = new Censuses();
    c.seed([{ target: "t", series: "census_total", width: 1, times: [0, 1, 2], last: [4, 8, 12] },
        { target: "t", band: 1, times: [0.4, 0.9, 1.4, 1.9, 2.5], last: [2, 4, 6, 8, 12] }]);
    assert.deepEqual(c.times, [0.4, 0.9, 1.4, 1.9, 2.5]);
    assert.deepEqual(c.totals.map((x) => Number(x.toFixed(6))), [NaN, 4, 6, 8, 12]);
});

test("memory is bounded; whole censuses stay, the extremes among them", () => {
    const c = new Censuses();
    for (let i = 1; i <= 20000; i++) {
        const v = i === 5000 ? 1e6 : i === 6001 ? 0 : 100 + (i % 7);
        c.push(i, i, v * 2, [1, 2], [v, v]);
    }
    assert.ok(c.n <= c.bound());
    assert.ok(c.totals.includes(2e6) && c.totals.includes(0));
    for (let i = 0; i < c.n; i++) assert.equal(c.bytes(1, i) + c.bytes(2, i), c.totals[i]);
    assert.equal(c.times[c.n - 1], 20000);
});

test("many bands have fewer censuses", () => {
    const c = new Censuses();
    const ids = Array.from({ length: 10000 }, (_, i) => i + 1), bytes = ids.map(() => 1);
    for (let i = 1; i <= 1300; i++) c.push(i, i, 10000, ids, bytes);
    assert.ok(c.n <= 600);
});
