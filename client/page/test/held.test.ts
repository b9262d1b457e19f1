// SPDX-License-Identifier: BSD-3-Clause
import assert from "node:assert/strict";
import { test } from "node:test";
import { groupsOf } from "../src/state/groups.ts";
import { heapOf, holdersOf, nameOf, plainName, trail } from "../src/state/held.ts";
import { Readings, setGained } from "../src/state/readings.ts";
import { squares } from "../src/widgets/squares.ts";

const step = (type: string, several = false) => ({ type, several });

test("rectangles have the areas of their values, fill their place and do not overlap", () => {
    let seed = 7;
    const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
    for (let n = 1; n < 60; n++) {
        const values = Array.from({ length: n }, () => Math.exp(8 * random())).sort((a, b) => b - a), total = values.reduce((s, v) => s + v, 0);
        const into = { x: 5, y: 7, w: 20 + 900 * random(), h: 20 + 500 * random() }, all = squares(values, into);
        assert.equal(all.length, n);
        all.forEach((b, i) => {
            assert.ok(Math.abs((b.w * b.h) / (into.w * into.h) - values[i]! / total) < 1e-9);
            assert.ok(b.x >= into.x - 1e-6 && b.y >= into.y - 1e-6 && b.x + b.w <= into.x + into.w + 1e-6 && b.y + b.h <= into.y + into.h + 1e-6);
            for (const c of all.slice(0, i)) {
                const x = Math.min(b.x + b.w, c.x + c.w) - Math.max(b.x, c.x), y = Math.min(b.y + b.h, c.y + c.h) - Math.max(b.y, c.y);
                assert.ok(x < 1e-6 || y < 1e-6, "no two overlap");
            }
        });
    }
    assert.deepEqual(squares([], { x: 0, y: 0, w: 9, h: 9 }), []);
    assert.ok(squares([0, 0], { x: 0, y: 0, w: 9, h: 9 }).every((b) => b.w * b.h === 0));
    assert.ok(squares([4, 0], { x: 0, y: 0, w: 9, h: 9 })[1]!.w * squares([4, 0], { x: 0, y: 0, w: 9, h: 9 })[1]!.h === 0);
});

test("a heap as the inspection prints it; what does not fit is left out", () => {
    const tree = [{ retained_bytes: 90, bytes: 0 }, { name: "CAF Main.x:Y", up: 0, root: true, retained_bytes: 30, bytes: 0 },
        { name: "base:GHC.Maybe.Just", up: 0, retained_bytes: 60, bytes: 20, closures: 2, other_types: 3, other_bytes: 40 }];
    const heap = heapOf({ sentences: ["a"], bytes: 100, reached_bytes: 90, bands: [{ name: "base:GHC.Maybe.Just", bytes: 20, closures: 2, retained_bytes: 60 }], tree });
    assert.deepEqual(heap.tree!.children.map((c) => [nameOf(c), c.bytes, c.rest]), [["GHC.Maybe.Just", 60, 40], ["CAF Main.x:Y", 30, 0]], "the largest first");
    assert.deepEqual(trail(heap.places[2]!).map((c) => c.place), [0, 2]);
    assert.equal(heap.types[0]!.unreached_bytes, undefined);
    assert.equal(heap.types[0]!.holds, undefined);
    const list = { name: "ghc-prim:GHC.Types.:", bytes: 48, contents: [{ name: "[Session]", bytes: 24 }, { name: "[Order]", bytes: 24 }] };
    assert.deepEqual(heapOf({ bands: [list] }).types[0]!.holds, { name: "[Session]", share: 0.5 });
    for (const wrong of [undefined, null, 7, "x", [], { tree: 7, bands: [null, 7], sentences: 7, why: [{}] }, { tree: [null, { up: 9 }, { up: 0 }] }, { tree: [{}, { up: -1 }, { up: "x" }] }]) {
        const read = heapOf(wrong);
        assert.equal(read.bytes, 0);
        assert.ok((read.tree?.children.length ?? 0) === 0);
    }
    assert.equal(heapOf({ bytes: -1, closures: Infinity }).bytes, 0);
    assert.deepEqual(["a:B.C", "ghc-prim:GHC.Types.:", ":|", "MVAR", "M.x (thunk :: [:A], a:B)"].map(plainName), ["B.C", "GHC.Types.:", ":|", "MVAR", "M.x (thunk :: [:A], a:B)"]);
});

test("paths that begin alike are one tree", () => {
    const paths = [{ bytes: 60, closures: 6, path: [step("p-1:Data.Map.Bin", true), step("MUT_VAR"), step("CAF Main.sessions")] },
        { bytes: 30, closures: 3, path: [step("p-1:Data.Map.Bin", true), step("thread in a:Main")] }, { bytes: 10, closures: 1, path: [step("thread")] }];
    assert.deepEqual(holdersOf(paths), [
        { name: "Data.Map.Bin+", bytes: 90, holders: [{ name: "MUT_VAR ← CAF Main.sessions", bytes: 60, holders: [] }, { name: "thread in a:Main", bytes: 30, holders: [] }] },
        { name: "thread", bytes: 10, holders: [] }]);
    assert.deepEqual(holdersOf([]), []);
});

test("threads in groups as the inspection prints them; what does not fit is left out", () => {
    const group = { threads: 40, state_text: "blocked on an MVar", same_cause: true, least_stack_bytes: 64, most_stack_bytes: 128, stack_frames: 9, stack_whole: true,
        frames: [{ name: "stg_block_takemvar", by: "symbol" }, { name: "main:Main", by: "module" }, { name: "Main.main", by: "source", source: "Main.hs:7:1-9" }], members: [{ id: 5, label: "worker" }, { id: 6 }] };
    const found = groupsOf({ sentences: ["a"], threads: 41, complete: true, list_complete: true, groups: [group, { threads: 1, same_cause: false }], other_groups: 7 });
    assert.ok(found.complete && found.other_groups === 7);
    const { state, place, inC: none, frames, stack_whole, allocated_bytes, members, key } = found.groups[0]!;
    assert.deepEqual([state, place, none, frames, stack_whole, allocated_bytes, members, key], ["blocked on an MVar, all on the same one", "Main (a local function)", [],
        ["stg_block_takemvar", "Main (a local function)", "Main.main (Main.hs:7:1-9)"], true, undefined, ["5 worker", "6"], '["","","",""]']);
    assert.equal(found.groups[1]!.place, "");
    const inC = (g: object) => groupsOf({ groups: [{ c_frames: [{ name: "poll" }, { name: "wait" }], frames: [{ name: "Main.main" }], ...g }] }).groups[0]!;
    assert.deepEqual([inC({ c_stack_frames: 2, c_stack_whole: true }).inC, inC({ c_stack_frames: 2, c_stack_whole: false }).inC, inC({ c_stack_frames: 5, c_stack_whole: false }).inC],
        [["poll", "wait"], ["poll", "wait", "(C functions that are not known)"], ["poll", "wait", "… 3 more in C"]]);
    assert.equal(inC({}).place, "Main.main");
    for (const wrong of [undefined, 7, { groups: 7 }, { groups: [null] }, { sentences: [7] }]) assert.ok(!groupsOf(wrong).complete);
});

test("what groups have gained since an earlier reading", () => {
    const read = (...groups: [threads: number, state: string, at: string][]) => groupsOf({ groups: groups.map(([threads, state, at]) => ({ threads, state, frames: [{ name: "f", at }] })) }).groups;
    const now = read([50, "mvar", "0x1"], [3, "mvar", "0x1"], [2, "stm", "0x1"], [7, "mvar", "0x2"]);
    setGained(now, read([40, "mvar", "0x1"], [9, "stm", "0x1"], [1, "mvar", "0x3"]), (g) => g.key, (g) => g.threads);
    assert.deepEqual(now.map((g) => g.gained), [13, 13, -7, 7]);
});

test("a reading is compared with the one before it of the same run", () => {
    const types = (...all: [string, number][]) => heapOf({ bytes: 100, bands: all.map(([name, bytes]) => ({ name, bytes })) }).types;
    const readings = new Readings<ReturnType<typeof types>>(), first = types(["A", 10], ["B", 5]), second = types(["A", 30], ["C", 4]);
    assert.ok(readings.take("t 1", 100, first) && readings.before === undefined && readings.since === undefined);
    assert.ok(!readings.take("t 1", 100, first) && !readings.take("t 1", undefined, second) && !readings.take("t 1", 101, undefined));
    assert.ok(readings.take("t 1", 110, second) && readings.before === first && readings.since === 10);
    setGained(second, first, (t) => t.name, (t) => t.bytes);
    assert.deepEqual(second.map((t) => t.gained), [20, 4]);
    assert.ok(readings.take("t 2", 120, first) && readings.before === undefined && readings.since === undefined, "another run");
});
