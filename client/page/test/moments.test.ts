// SPDX-License-Identifier: BSD-3-Clause
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { App } from "../src/app.ts";
import { alertWhen } from "../src/pages/common.ts";
import type { Target } from "../src/state/target.ts";
import { clock } from "../src/units.ts";

test("an alert of a run without any event has its time of day", () => {
    const target = (start?: number) => ({ start }) as Target;
    const app = (kind: string) => ({ clock: kind, clockStart: (t: Target) => (kind === "clock" ? t.start : undefined) }) as App;
    const wall = "1700000000000000000";
    assert.equal(alertWhen(app("clock"), target(), "1000000000", wall), clock(1700000000, 0, 1));
    assert.equal(alertWhen(app("run"), target(), "1000000000", wall), "1.00 s");
    assert.equal(alertWhen(app("clock"), target(1699999990), "10000000000", wall), clock(1700000000, 0, 1));
    assert.equal(alertWhen(app("clock"), target(1699999990), undefined, undefined, 10), clock(1700000000, 0, 1));
});
