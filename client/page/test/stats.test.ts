// SPDX-License-Identifier: BSD-3-Clause
import assert from "node:assert/strict";
import { test } from "node:test";
import { sketchBounds, stats } from "../src/stats.ts";
import cells from "./sketch_cells.json";

const near = (a: number | undefined, b: number) => assert.ok(a !== undefined && Math.abs(a - b) < 1e-9 * Math.max(1, Math.abs(b)), `${a} is not ${b}`);

// By hand: t = 1 2 3 4, v = 2 4 5 9. Means 2.5 and 5; Sxx = 5, Sxy = 11, Syy = 26.
test("least squares, deviation and integrals of a small series", () => {
    const s = stats([1, 2, 3, 4], [2, 4, 5, 9], 0, 4)!;
    assert.equal(s.sum, 20);
    assert.equal(s.mean, 5);
    assert.equal(s.integrated, 20);
    near(s.stddev, Math.sqrt(6.5));
    near(s.slopeBps, 2.2);
    near(s.interceptBytes, -0.5);
    near(s.fit, 121 / 130);
    near(s.slope, (2.2 * 4) / 9);
    near(s.intercept, -0.5 / 9);
    near(s.interval, 1.96 * Math.sqrt((26 - 24.2) / 2 / 5));
});

test("equal values have a slope of 0 and no fit", () => {
    const s = stats([1, 2, 3], [7, 7, 7], 0, 3)!;
    assert.equal(s.slopeBps, 0);
    assert.equal(s.fit, undefined);
    assert.equal(s.slope, undefined);
    assert.equal(s.stddev, 0);
});

test("unknown values are left out, not counted as 0", () => {
    const s = stats([1, 2, 3], [NaN, 4, 6], 0, 3)!;
    assert.equal(s.n, 2);
    assert.equal(s.mean, 5);
    assert.equal(stats([1], [NaN], 0, 1), undefined);
    assert.equal(stats([1], [5], 0, 1)!.slopeBps, undefined);
});

test("digits survive far from zero", () => {
    const t = Array.from({ length: 100 }, (_, i) => 1e6 + i), v = t.map((x) => 1e12 + 3 * (x - 1e6));
    near(stats(t, v, 0, 100)!.slopeBps, 3);
});

test("cells of a quantile sketch are those of the daemon", () => {
    for (const [cell, low, width] of cells as [number, number, number][]) assert.deepEqual(sketchBounds(cell), [low, low + width]);
    for (let b = 0; b < 1215; b++) assert.equal(sketchBounds(b)[1], sketchBounds(b + 1)[0]);
});
