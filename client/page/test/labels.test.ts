// SPDX-License-Identifier: BSD-3-Clause
import assert from "node:assert/strict";
import { test } from "node:test";
import { placeLabels } from "../src/widgets/labels.ts";

const ten = () => 10, box = { from: 0, to: 100 };

test("a label stands right of its line, and left of it at the right end", () => {
    assert.deepEqual(placeLabels([{ text: "a", at: 20 }, { text: "b", at: 95 }], ten, box, 2), [{ text: "a", x: 22, row: 0 }, { text: "b", x: 83, row: 0 }]);
});

test("labels that would cover each other stand in two rows, then left of their lines; what finds no room is left out", () => {
    const at = (ts: number[]) => placeLabels(ts.map((t) => ({ text: `${t}`, at: t })), ten, box, 2);
    assert.deepEqual(at([25, 20]), [{ text: "25", x: 27, row: 0 }, { text: "20", x: 22, row: 1 }]);
    assert.deepEqual(at([20, 32]), [{ text: "20", x: 22, row: 0 }, { text: "32", x: 34, row: 0 }]);
    assert.deepEqual(at([20, 25, 22, 21, 23]), [{ text: "20", x: 22, row: 0 }, { text: "25", x: 27, row: 1 }, { text: "22", x: 10, row: 0 },
        { text: "21", x: 9, row: 1 }]);
});

test("a label that is wider than the box is left out", () => {
    assert.deepEqual(placeLabels([{ text: "a", at: 50 }], () => 200, box, 2), []);
});

test("a faint marker has no label, a long one is cut", () => {
    const placed = placeLabels([{ text: "tick", at: 20, faint: true }, { text: "x".repeat(40), at: 20 }], ten, box, 2);
    assert.deepEqual(placed, [{ text: `${"x".repeat(27)}…`, x: 22, row: 0 }]);
});
