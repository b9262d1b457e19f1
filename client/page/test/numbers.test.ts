// SPDX-License-Identifier: BSD-3-Clause
/* The table of facts as the page has it: numbers with fields of their own, and those that are carried by the key of their name. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { NUMBERS } from "../src/state/numbers.ts";
import { Target } from "../src/state/target.ts";

test("a number is read where its message has it", () => {
    const t = new Target(0, "api");
    assert.equal(NUMBERS.LIVE.get(t), undefined);
    t.apply({ target: "api", run: 1, heap: { liveBytes: "4096", process: { rssBytes: "8192" } }, gc: { gcShare: 0.25 } });
    assert.equal(NUMBERS.LIVE.get(t), 4096);
    assert.equal(NUMBERS.RESIDENT.get(t), 8192);
    assert.equal(NUMBERS.GC_SHARE.get(t), 0.25);
    t.apply({ target: "api", run: 1, targetState: { oomKilled: true } });
    assert.equal(NUMBERS.OOM_KILLED.get(t), 1);
});

test("a carried number is found by the hash of its name, whatever stands before it", () => {
    const t = new Target(0, "api"), key = 2476861119; // of live_sum_bytes
    t.apply({ target: "api", run: 1, heap: { fact: [7, key], factValue: [1, 123] } });
    assert.equal(NUMBERS.LIVE_SUM.get(t), 123);
    assert.equal(NUMBERS.GC_PARALLEL_COPIED.get(t), undefined);
});

test("each number has a name of its own and a sentence of help", () => {
    const rows = Object.values(NUMBERS);
    assert.equal(new Set(rows.map((r) => r.name)).size, rows.length);
    assert.ok(rows.every((r) => r.help.endsWith(".")));
});
