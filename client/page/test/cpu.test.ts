// SPDX-License-Identifier: BSD-3-Clause
import assert from "node:assert/strict";
import { test } from "node:test";
import { bottomUp, type CpuRow, functions, moduleOf, ofThread, threads, topDown } from "../src/state/cpu.ts";
import type { Frame } from "../src/widgets/flame.ts";

// main calls sort (70, of which 10 in compare) and parse (30), which calls compare (5) and, through it, itself (2).
const ROWS: CpuRow[] = [[0, 0, 100, "Main.main"], [1, 60, 70, "Shop.sort"], [2, 10, 10, "Shop.compare"], [1, 23, 30, "Shop.parse"], [4, 5, 7, "Shop.compare"], [5, 2, 2, "Shop.parse"]];
const shape = (f: Frame): unknown => [f.name, f.value, ...f.children.map(shape)];

test("a module is the part of a name before its function", () => {
    assert.deepEqual(["GHC.Num.Integer.integerAdd", "Main (local, before main4)", "Main", "Data.Map.$w!", "__gmpn_mul", "(garbage collection)", "libc.so.6"].map(moduleOf),
        ["GHC.Num.Integer", "Main", "Main", "Data.Map", "", "", ""]);
});

test("top down, each row is below its caller", () => {
    assert.deepEqual(shape(topDown(ROWS, 100)), ["all", 100, ["Main.main", 100, ["Shop.sort", 70, ["Shop.compare", 10]], ["Shop.parse", 30, ["Shop.compare", 7, ["Shop.parse", 2]]]]]);
});

test("bottom up, each function has its own time, by its callers", () => {
    const root = bottomUp(ROWS, 100), of = (name: string) => root.children.find((f) => f.name === name)!;
    assert.deepEqual(root.children.map((f) => [f.name, f.value]), [["Shop.sort", 60], ["Shop.compare", 15], ["Shop.parse", 25]]);
    assert.deepEqual(shape(of("Shop.compare")), ["Shop.compare", 15, ["Shop.sort", 10, ["Main.main", 10]], ["Shop.parse", 5, ["Main.main", 5]]]);
    assert.equal(root.children.reduce((n, f) => n + f.value, 0), 100);
});

test("callers beyond the most are left out, and no time with them", () => {
    const deep: CpuRow[] = Array.from({ length: 500 }, (_, i) => [i, i === 499 ? 7 : 0, 7, `f${i}`]);
    let f = bottomUp(deep, 7), n = 0;
    for (; f.children.length; f = f.children[0]!) n++;
    assert.ok(n > 60 && n < 70 && f.value === 7, String(n));
});

test("a function that calls itself counts once", () => {
    const found = new Map(functions(ROWS, 100).map((f) => [f.name, [f.self, f.all]]));
    assert.deepEqual(found.get("Shop.parse"), [25, 30]);
    assert.deepEqual(found.get("Shop.compare"), [15, 17]);
    assert.deepEqual(found.get("Main.main"), [0, 100]);
});

const THREADED: CpuRow[] = [[0, 0, 70, "thread worker"], [1, 50, 70, "Main.main"], [2, 20, 20, "f"], [0, 0, 25, "thread 7"], [4, 5, 25, "Main.main"], [5, 20, 20, "f"], [0, 5, 5, "(garbage collection)"]];

test("of all threads, equal stacks are one; of one, its own", () => {
    assert.deepEqual(threads(THREADED), [{ name: "worker", total: 70 }, { name: "7", total: 25 }]);
    assert.deepEqual(ofThread(THREADED), { total: 100, rows: [[0, 55, 95, "Main.main"], [1, 40, 40, "f"], [0, 5, 5, "(garbage collection)"]] });
    assert.deepEqual(ofThread(THREADED, "7"), { total: 25, rows: [[0, 5, 25, "Main.main"], [1, 20, 20, "f"]] });
    assert.deepEqual(ofThread(THREADED, "nobody"), { total: 0, rows: [] });
    assert.deepEqual(ofThread(ROWS).rows, ROWS);
});
