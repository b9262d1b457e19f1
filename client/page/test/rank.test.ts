// SPDX-License-Identifier: BSD-3-Clause
import assert from "node:assert/strict";
import { test } from "node:test";
import { distinct } from "../src/state/rank.ts";
import type { Band } from "../src/state/target.ts";

const band = (infoTable: object | undefined): Band => ({ id: 1, def: { infoTable }, bytes: 0 });

test("bands of one name are told apart by type and place, others keep their label alone", () => {
    const shown = [
        { label: "Main.go", band: band({ type: "(,)", module: "Main", source: "A.hs:16:27-67" }) },
        { label: "Main.go", band: band({ type: "String", module: "Main" }) },
        { label: "Main.other", band: band({ type: "Int", source: "A.hs:3" }) },
        { label: "FUN", band: band(undefined) },
        { label: "FUN" },
    ];
    assert.deepEqual(distinct(shown), ["Main.go ((,), A.hs:16:27-67)", "Main.go (String, Main)", "Main.other", "FUN", "FUN"]);
});
