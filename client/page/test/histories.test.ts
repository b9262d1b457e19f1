// SPDX-License-Identifier: BSD-3-Clause
import assert from "node:assert/strict";
import { test } from "node:test";
import { Histories } from "../src/api/histories.ts";
import { View } from "../src/state/view.ts";

Object.assign(globalThis, { window: globalThis, requestAnimationFrame: (f: () => void) => setTimeout(f) });

const answer = (status: number, body: unknown, headers = {}) => new Response(JSON.stringify(body), { status, headers });

test("a page that has to wait says so, asks again, and gets its history", async () => {
    const v = new View(), shown = new Set<string | undefined>(), asked: string[] = [], refused = { error: "too many requests" };
    v.apply([{ update: { target: "t", run: 1, targetState: { state: "STATE_RUNNING" } } }]);
    globalThis.fetch = async (address) => {
        asked.push(String(address));
        if (asked.length <= 2) return answer(429, refused, { "Retry-After": "0.01" });
        return answer(200, { items: [{ target: "t", series: "live", times: [1, 2], last: [10, 20] }] });
    };
    const h: Histories = new Histories(v, () => shown.add(h.error));
    h.open("heap", "t", 1, 900);
    for (let i = 0; i < 1000 && (asked.length < 4 || !h.idle); i++) await new Promise((f) => setTimeout(f, 5));
    assert.equal(asked[0], asked[1]);
    assert.equal(asked[1], asked[2], "the refused question comes first again");
    assert.equal(asked.length, 4, "the first picture's and the whole history");
    assert.deepEqual([...shown].map((x) => x && /server is busy/.test(x)), [undefined, true]);
    assert.equal(h.error, undefined);
    assert.equal(v.targets.get("t")!.series.get("live")!.n, 2);
});
