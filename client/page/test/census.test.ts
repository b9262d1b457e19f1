// SPDX-License-Identifier: BSD-3-Clause
import assert from "node:assert/strict";
import { test } from "node:test";
import { Censuses } from "../src/state/census.ts";
import { Target } from "../src/state/target.ts";
import type { HistoryItem } from "../src/state/wire.ts";

const column = (c: Censuses, band: number) => Array.from({ length: c.n }, (_, i) => c.bytes(band, i));

test("a band without a row held nothing", () => {
    const c = new Censuses();
    c.push(1, 1, 10, [1], [10]);
    c.push(2, 2, 25, [1, 2], [20, 5]);
    c.push(3, 3, 7, [2], [7]);
    assert.deepEqual(column(c, 1), [10, 20, 0]);
    assert.deepEqual(column(c, 2), [0, 5, 7]);
});

test("closures and what they hold are of the newest census", () => {
    const t = new Target(0, "t"), band = [1, 2], bytes = ["100", "50"], closures = ["7", "5"];
    const contents = [{ band: 2, bytes: "51", name: "[More]" }, { band: 9, bytes: "1", name: "[Of none]" }, { band: 2, bytes: "40", name: "[Int]" },
        { band: 2, bytes: "9", name: "[Other]" }];
    t.apply({ target: "t", run: 1, census: { number: "1", timeNs: "1", band, bytes, closures, contents } });
    const [one, two] = [t.bands.get(1)!, t.bands.get(2)!];
    assert.deepEqual([one.closures, one.holds, two.closures, two.holds], [7, undefined, 5, { name: "[Int]", share: 0.8 }]);
    t.apply({ target: "t", run: 1, census: { number: "2", timeNs: "2", band, bytes } });
    assert.deepEqual([two.bytes, two.closures, two.holds], [50, undefined, undefined]);
    assert.equal(t.bands.size, 2);
});

test("a range that reaches beyond the grid has as many values as times", () => {
    const c = new Censuses();
    c.push(1, 1, 10, [1], [10]);
    c.push(2, 2, 25, [1, 2], [20, 5]);
    assert.deepEqual(c.values(1, 1, 9), [20]);
    assert.deepEqual(c.values(2, 0, 9), [0, 5]);
    assert.deepEqual(c.values(1, 5, 9), []);
});

test("a census that comes twice counts once", () => {
    const c = new Censuses();
    c.push(1, 1, 10, [1], [10]);
    c.push(1, 1, 10, [1], [10]);
    assert.equal(c.n, 1);
});

test("the past is unknown where none came, and comes in parts", () => {
    const c = new Censuses();
    c.push(9, 30, 12, [1, 2], [10, 2]);
    const item = (band: number, last: number[]) => ({ target: "t", band, times: [10, 20, 30], last });
    c.seed([{ target: "t", band: 0, times: [10, 20, 30], last: [6, 8, 12] }, item(1, [5, 6, 10])]);
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

test("a point of several censuses is where its last one was, and only there", () => {
    const c = new Censuses();
    c.seed([{ target: "t", band: 0, times: [0.4, 8.1], ends: [7.9, 15.2], last: [100, 200] },
        { target: "t", band: 1, times: [0.4, 8.1], ends: [7.9, 15.2], last: [60, 150], mean: [30, 100], min: [10, 60], max: [60, 150] }]);
    assert.deepEqual(c.times, [7.9, 15.2]);
    assert.deepEqual(column(c, 1), [60, 150]);
    assert.deepEqual(c.totals, [100, 200]);
});

test("a band that is known more coarsely is unknown in between, and what is added up is known of all", () => {
    const c = new Censuses();
    c.seed([{ target: "t", band: 0, times: [1, 2, 3, 4], last: [10, 20, 30, 40] }, { target: "t", band: 1, times: [1, 2, 3, 4], last: [4, 8, 12, 16] },
        { target: "t", band: 2, times: [1, 3], ends: [2, 4], last: [12, 24] }]);
    assert.deepEqual(column(c, 2), [NaN, 12, NaN, 24]);
    assert.deepEqual(c.common([1], 0, 4), [0, 1, 2, 3]);
    assert.deepEqual(c.common([1, 2], 0, 4), [1, 3]);
});

// A daemon's history, as docs/PROTOCOL.md says it is kept, put onto the total's points as the server does it.
function answer(censuses: { t: number; bytes: number[] }[], width: number, bands: number): HistoryItem[] {
    const cells = new Map<number, { t: number; bytes: number[] }[]>();
    for (const c of censuses) cells.set(Math.floor(c.t / width), [...(cells.get(Math.floor(c.t / width)) ?? []), c]);
    const list = [...cells.values()], last = (f: (c: { bytes: number[] }) => number) => list.map((l) => f(l[l.length - 1]!));
    const common = { target: "t", times: list.map((l) => l[0]!.t), ends: list.map((l) => l[l.length - 1]!.t) };
    return [{ ...common, band: 0, last: last((c) => c.bytes.reduce((a, b) => a + b, 0)) },
        ...Array.from({ length: bands }, (_, b) => ({ ...common, band: b + 1, last: last((c) => c.bytes[b]!) }))];
}

test("for random histories, thinned or not, a stack is the total, a share is at most 1, and what rises is drawn rising", () => {
    let state = 1;
    const random = (n: number) => (state = (state * 48271) % 2147483647) % n;
    for (let round = 0; round < 60; round++) {
        const bands = 2 + random(6), n = 20 + random(1500), live = random(4) ? n >> 1 : n, censuses: { t: number; bytes: number[] }[] = [];
        const rising = 100 + random(50), c = new Censuses();
        for (let i = 0, t = random(9); i < n; i++) {
            t += 0.05 + random(200) / 100;
            censuses.push({ t, bytes: Array.from({ length: bands }, (_, b) => (b === 0 ? i * rising : random(3) ? random(1e6) : 0)) });
        }
        // The past in two answers of different width, the second of other bands; then censuses as they come.
        const past = censuses.slice(0, live), width = 1 << random(7);
        const all = answer(past, width, bands), coarse = answer(past, width << random(3), bands);
        const split = 1 + random(bands);
        if (past.length) c.seed(all.filter((i) => i.band! <= split));
        censuses.slice(live).forEach((k, i) => c.push(live + i + 1, k.t, k.bytes.reduce((a, b) => a + b, 0), k.bytes.map((_, b) => b + 1), k.bytes));
        if (past.length) c.seed(coarse.filter((i) => i.band! > split));
        const ids = Array.from({ length: bands }, (_, b) => b + 1), at = c.common(ids, 0, c.n);
        assert.ok(at.length > 0);
        let before = -1;
        for (const i of at) {
            const exact = censuses.find((k) => k.t === c.times[i]!)!;
            assert.ok(exact, "a point is where a census was");
            const stack = ids.reduce((sum, b) => sum + c.bytes(b, i), 0);
            assert.equal(stack, c.totals[i]);
            for (const b of ids) assert.equal(c.bytes(b, i), exact.bytes[b - 1]);
            for (const b of ids) assert.ok(stack === 0 || c.bytes(b, i) / c.totals[i]! <= 1);
            assert.ok(c.bytes(1, i) >= before);
            before = c.bytes(1, i);
        }
    }
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
    for (let i = 1; i <= 700; i++) c.push(i, i, 10000, ids, bytes);
    assert.ok(c.n <= 600);
});
