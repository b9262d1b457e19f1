// SPDX-License-Identifier: BSD-3-Clause
import assert from "node:assert/strict";
import { test } from "node:test";
import { tailOf } from "../src/widgets/name.ts";

test("a name that is cut keeps its end, from a separator on if there is one near", () => {
    for (const [name, tail] of [["THUNK_1_0", ""], ["containers-0.6.4.1:Data.Map.Internal.Bin", ".Internal.Bin"], ["MUT_ARR_PTRS_CLEAN", "_PTRS_CLEAN"],
        ["MUT_ARR_PTRS_FROZEN_CLEAN", "_FROZEN_CLEAN"], ["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaa"], ["base:GHC.Event.IntTable.IT", ".IntTable.IT"],
        ["Main.handleOrder;Main.main", ""]] as const)
        assert.equal(tailOf(name), tail);
});
