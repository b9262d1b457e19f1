// SPDX-License-Identifier: BSD-3-Clause
import assert from "node:assert/strict";
import { test } from "node:test";
import { join, parseBaseline, sideOf } from "../src/state/compare.ts";
import { exported } from "../src/api/report.ts";
import { keptInspections } from "../src/api/inspections.ts";
import { centres, ticksIn, tree } from "../src/state/ticks.ts";
import { Target } from "../src/state/target.ts";
import { View } from "../src/state/view.ts";
import type { Update } from "../src/state/wire.ts";
import { matcher } from "../src/widgets/controls.ts";
import { csv } from "../src/widgets/save.ts";
import runs from "./run_cases.json";

const apply = (v: View, u: Update, daemon = 0) => v.apply([{ daemon, update: { target: "t", run: 1, ...u } }]);
const census = (n: number, t: number, band: number[], bytes: number[]): Update => ({ census: { number: String(n), timeNs: String(t * 1e9), band,
    bytes: bytes.map(String), totalBytes: String(bytes.reduce((a, b) => a + b, 0)) }, eventTimeNs: String(t * 1e9) });

test("previous runs are in the order of their numbers", () => {
    const v = new View();
    for (const target of ["api~10", "api~9", "b", "api", "api~1"]) v.apply([{ daemon: 0, update: { target, run: 1, heap: {} } }]);
    assert.deepEqual(v.sorted().map((t) => t.name), ["api", "api~1", "api~9", "api~10", "b"]);
});

test("a newer run clears what belonged to the run before; an older one is ignored", () => {
    const v = new View();
    apply(v, { targetState: { state: "STATE_RUNNING" }, heap: { liveBytes: "5", samples: [{ series: "SERIES_LIVE", timesNs: ["1000000000"], values: ["5"] }] } });
    apply(v, { run: 2, health: { lostBytes: "1" } });
    const t = v.targets.get("t")!;
    assert.equal(t.heap, undefined);
    assert.equal(t.series.size, 0);
    assert.equal(t.state?.state, "STATE_RUNNING");
    apply(v, { run: 1, heap: { liveBytes: "7" } });
    assert.equal(t.heap, undefined);
});

test("a saved page has the profile that it knows, and finds it again", () => {
    const v = new View(), rows: [number, number, number, string][] = [[0, 5, 5, "Main.spin"]];
    apply(v, { heap: {} });
    v.apply([{ daemon: 0, update: { target: "other", run: 1, heap: {} } }]);
    const t = v.targets.get("t")!, profile = { state: "done" as const, run: 1, totalNs: 5, rows };
    const profiles = { of: () => undefined, renew: () => {}, idle: true, error: undefined, known: (key: string) => (key === t.key ? profile : undefined) };
    const saved = exported(v, { profiles }).profiles!;
    assert.deepEqual(saved, [{ ...profile, daemon: 0, target: "t" }]);
    const kept = keptInspections(v, saved);
    assert.deepEqual([kept.of("t")?.rows, kept.known("t")?.rows, kept.of("other"), kept.of("none")], [rows, rows, undefined, undefined]);
    assert.equal(exported(v).profiles, undefined);
});

test("what a message's run decides: the table that the C has, too", () => {
    for (const [known, run, body, taken, after] of runs as [number, number, "heap" | "gc" | "sched" | "health" | "alerts", number, number][]) {
        const t = new Target(0, "t"), field = (body as string) === "targetState" ? "state" : body;
        if (known) t.apply({ target: "t", run: known, ticky: {} });
        t.apply({ target: "t", run: run < 0 ? undefined : run, [body]: {} } as Update);
        assert.deepEqual([t[field] !== undefined, t.run], [taken === 1, after], `run ${run} of a target in run ${known}: ${body}`);
    }
});

test("removed targets and forgotten daemons go", () => {
    const v = new View();
    apply(v, { targetState: { state: "STATE_RUNNING" } });
    apply(v, { targetState: { state: "STATE_RUNNING" } }, 1);
    assert.deepEqual([...v.targets.keys()], ["t", "1:t"]);
    v.forget(1);
    apply(v, { targetState: { state: "STATE_REMOVED" } });
    assert.equal(v.targets.size, 0);
});

test("a state that comes again is taken whole; collections of the same run stay", () => {
    const v = new View(), state = (updates: Update[]) => ({ server: {}, daemons: [], updates: updates.map((u) => ({ daemon: 0, update: { run: 1, ...u } })) });
    v.reset(state([{ target: "t", targetState: {} }, { target: "u", targetState: {} }]));
    const gc: Update = { gc: { collections: [{ endTimeNs: "1000000000", pauseNs: "5", generation: 1 }] } };
    apply(v, census(1, 1, [1], [10]));
    apply(v, gc);
    v.reset(state([{ target: "t", targetState: {} }, { target: "t", ...gc }]));
    assert.equal(v.targets.get("t")!.censuses.n, 0);
    assert.equal(v.targets.get("t")!.collections.length, 1);
    assert.equal(v.targets.has("u"), false);
});

test("what a report was made of keeps its order, whatever the names", () => {
    const v = new View(), of = (server: object) => {
        v.reset({ server, daemons: [], updates: ["b", "a", "c"].map((t) => ({ daemon: 0, update: { target: t, run: 1, targetState: { uri: `file:${t}.log` } } })) });
        return v.inOrder().map((t) => t.name).join("");
    };
    assert.equal(of({}), "abc");
    assert.equal(of({ targets: ["c", "b", "a"] }), "cba");
    assert.equal(of({ files: ["b.log", "c.log", "a.log"] }), "bca");
});

test("bands of one label are told apart by their number", () => {
    const v = new View();
    apply(v, { bands: { bands: [{ id: 1, label: "x" }, { id: 2, label: "x" }, { id: 3, label: "y" }] } });
    const t = v.targets.get("t")!, key = (id: number) => t.bandKey(t.bands.get(id)!);
    assert.deepEqual([key(1), key(2), key(3)], ["x #1", "x #2", "y"]);
    for (const id of [1, 2, 3]) assert.equal(t.bandOf(key(id))!.id, id);
});

test("a comparison is a full outer join on the label", () => {
    const v = new View();
    apply(v, { bands: { bands: [{ id: 1, label: "a" }, { id: 2, label: "b" }, { id: 3, label: "c" }] } });
    apply(v, census(1, 1, [1, 2], [10, 5]));
    apply(v, census(2, 2, [1, 2], [20, 5]));
    apply(v, census(3, 3, [1, 3], [30, 8]));
    apply(v, census(4, 4, [1, 3], [40, 8]));
    const t = v.targets.get("t")!, rows = new Map(join(sideOf(t, "first"), sideOf(t, "second")).map((r) => [r.label, r]));
    assert.equal(rows.get("a")!.diff, 20);
    assert.equal(rows.get("a")!.a!.slope, 10);
    assert.equal(rows.get("b")!.b, undefined);
    assert.equal(rows.get("b")!.diff, -5);
    assert.equal(rows.get("c")!.a, undefined);
    assert.equal(rows.get("c")!.diff, 8);
});

test("a baseline may be any text", () => {
    for (const bad of ["", "null", "[]", "{}", '{"name":1}', '{"name":"x","made":"y","bands":5}']) assert.equal(parseBaseline(bad), undefined);
    const good = parseBaseline('{"name":"x","made":"y","bands":[["a",{"bytes":5}],["b"],7]}');
    assert.deepEqual(good?.bands.length, 1);
    assert.equal(good?.total, 5);
});

test("ticks: own, inherited once, and a range is a difference", () => {
    const v = new View(), c = (label: string) => ({ label, module: "M" });
    const profile = (n: number): Update => ({ eventTimeNs: String(n * 1e9), profile: { stacks: [
        { id: 1, ticks: String(3 * n), centres: [c("f"), c("g"), c("f")] }, { id: 2, ticks: String(n), centres: [c("g")] }] } });
    apply(v, profile(1));
    apply(v, profile(2));
    const t = v.targets.get("t")!, all = ticksIn(t, 0, 2), rows = new Map(centres(all).map((r) => [r.name, r]));
    assert.equal(all.total, 8);
    assert.deepEqual([rows.get("M.f")!.own, rows.get("M.f")!.inherited], [6, 6]);
    assert.deepEqual([rows.get("M.g")!.own, rows.get("M.g")!.inherited], [2, 8]);
    assert.equal(ticksIn(t, 1, 2).total, 4);
    const root = tree(all)!;
    assert.deepEqual(root.children.map((f) => [f.name, f.value]), [["M.f", 6], ["M.g", 2]]);
});

test("searches: text, expression, mistakes", () => {
    assert.ok(matcher("FOO")!("a foo b"));
    assert.ok(matcher("/^a.*b$/")!("a foo b"));
    assert.equal(matcher("/(/"), undefined);
    assert.ok(matcher("")!("anything"));
});

test("CSV escapes what a reader or a spreadsheet would take for more than text", () => {
    assert.equal(csv([["a,b", 'say "x"', "=1+1", -5, undefined, NaN, "l1\nl2"]]), '"a,b","say ""x""",\'=1+1,-5,,,"l1\nl2"\r\n');
});
