// SPDX-License-Identifier: BSD-3-Clause
/*
 * What days of a busy program leave in the page: the same messages that the stream brings, taken in as fast as they can be.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { View } from "../src/state/view.ts";
import type { Update } from "../src/state/wire.ts";

setFlagsFromString("--expose_gc");
const collect = runInNewContext("gc") as () => void;
const DAY = 86400, BANDS = 100, STACKS = 50;

function held(): number {
    collect();
    const m = process.memoryUsage();
    return m.heapUsed + m.arrayBuffers;
}

const ids = Array.from({ length: BANDS }, (_, i) => i + 1), ns = (s: number) => `${s}000000000`;

// One second of it; each tenth brings a census and a profile.
function second(s: number): Update[] {
    const wave = 1e6 + (s % 997) * 1000, samples = ["LIVE", "HEAP_SIZE", "BLOCKS_SIZE", "ALLOCATED"].map((name) =>
        ({ series: `SERIES_${name}`, timesNs: [ns(s)], values: [String(wave)] }));
    const all: Update[] = [
        { heap: { liveBytes: String(wave), process: { rssBytes: String(2 * wave) }, samples } },
        { gc: { gcShare: 0.01, collections: [{ endTimeNs: ns(s), pauseNs: String(1000 + (s % 100)), generation: s % 2, major: s % 2 === 1 }] } },
        { notes: { notes: [{ number: String(s), timeNs: ns(s), what: "WHAT_MESSAGE", text: `served ${s} requests` }] } },
        { alerts: { alerts: [{ rule: "leak", state: s % 600 < 300 ? "STATE_FIRING" : "STATE_RESOLVED" }] } },
    ];
    if (s % 10 === 0) {
        all.push({ census: { number: String(s / 10), timeNs: ns(s), totalBytes: String(BANDS * 1000), band: ids, bytes: ids.map((i) => String(i + s)) } });
        all.push({ profile: { ticks: String(s), stacks: Array.from({ length: STACKS }, (_, i) => ({ id: i + 1, ticks: String(s + i) })) } });
    }
    return all.map((u) => ({ target: "t", run: 1, eventTimeNs: ns(s), ...u }));
}

test("a day leaves no more behind than a quarter of one", () => {
    const v = new View();
    v.apply([{ update: { target: "t", run: 1, bands: { bands: ids.map((id) => ({ id, label: `band ${id}` })) } } }]);
    const run = (from: number, to: number) => {
        for (let s = from; s < to; s++) v.apply(second(s).map((update) => ({ update })));
    };
    run(1, DAY / 4);
    const quarter = held(), t = v.targets.get("t")!;
    run(DAY / 4, DAY);
    const whole = held();
    assert.equal(t.eventTime, DAY - 1);
    assert.ok(t.censuses.times[0]! < DAY / 10 && t.series.get("live")!.t[0]! < DAY / 10, "the first hours are still there, thinned");
    assert.ok(whole < quarter * 1.15 + 2e6, `${(quarter / 1e6).toFixed(1)} MB after a quarter of a day, ${(whole / 1e6).toFixed(1)} MB after all of it`);
    assert.ok(whole < 60e6, `${(whole / 1e6).toFixed(1)} MB`);
});
