// SPDX-License-Identifier: BSD-3-Clause
import assert from "node:assert/strict";
import { test } from "node:test";
import { join, type Side } from "../src/state/compare.ts";

const side = (bands: [string, number][]): Side => ({ name: "x", made: "", total: 0, bands: bands.map(([label, bytes]) => [label, { bytes }]) });

test("a band that one side lacks is 0 there", () => {
    const rows = join(side([["a", 5], ["b", 7]]), side([["b", 9]]));
    assert.deepEqual(rows.map((r) => [r.label, r.diff]), [["a", -5], ["b", 2]]);
});

test("a side without data is unknown, not 0", () => {
    assert.deepEqual(join(side([["a", 5]]), undefined).map((r) => r.diff), [undefined]);
    assert.deepEqual(join(undefined, side([["a", 5]])).map((r) => r.diff), [undefined]);
});
