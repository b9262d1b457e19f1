// SPDX-License-Identifier: BSD-3-Clause
import assert from "node:assert/strict";
import { test } from "node:test";
import { join, type Side } from "../src/state/compare.ts";
import { signedBytes } from "../src/units.ts";

const side = (bands: [string, number][]): Side => ({ name: "x", made: "", total: 0, bands: bands.map(([label, bytes]) => [label, { bytes }]) });

test("a band that one side lacks is 0 there", () => {
    const rows = join(side([["a", 5], ["b", 7]]), side([["b", 9]]));
    assert.deepEqual(rows.map((r) => [r.label, r.diff]), [["b", 2], ["a", -5]]);
});

test("a side without data is unknown, not 0", () => {
    assert.deepEqual(join(side([["a", 5]]), undefined).map((r) => r.diff), [undefined]);
    assert.deepEqual(join(undefined, side([["a", 5]])).map((r) => r.diff), [undefined]);
});

test("without a difference the largest band comes first, and nothing is no minus", () => {
    assert.deepEqual(join(side([["small", 1], ["large", 9]]), undefined).map((r) => r.label), ["large", "small"]);
    assert.deepEqual([signedBytes(-0.2), signedBytes(0.2), signedBytes(2)], ["0 B", "0 B", "+2 B"]);
});
