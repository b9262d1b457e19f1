// SPDX-License-Identifier: BSD-3-Clause
/*
 * overview.ts - every target in one line: what state it is in, how much memory it has, whether that grows. A click opens its heap.
 */
import type { App, Page } from "../app.ts";
import { h, setLabel, setText } from "../dom.ts";
import { alertState, firing, verdict } from "../state/judge.ts";
import { window as cut } from "../state/series.ts";
import type { Target } from "../state/target.ts";
import { num } from "../state/wire.ts";
import { bytes, share, UNKNOWN } from "../units.ts";
import { field } from "../widgets/controls.ts";
import { Facts, pill, showState, stateText } from "../widgets/facts.ts";
import { sparkline } from "../widgets/sparkline.ts";
import { type Column, Table } from "../widgets/table.ts";
import { searching } from "./common.ts";
import { targetControl } from "./control.ts";

const rss = (t: Target) => num(t.heap?.process?.rssBytes) ?? t.series.get("rss")?.newest;
const judged = (t: Target) => t.trends.ofSeries.get("live") ?? t.trends.ofSeries.get("census_total");

const COLUMNS: Column<Target>[] = [
    { id: "target", title: "Target", width: "minmax(84px, 2fr)", left: true, value: (t) => t.key, draw: (c, t) => setLabel(c, t.key) },
    { id: "state", title: "State", width: "100px", left: true, wide: true, value: (t) => stateText(t.state), draw: (c, t) => showState(c, t.state) },
    { id: "program", title: "Program", width: "minmax(90px, 1fr)", left: true, wide: true, value: (t) => t.state?.runInfo?.program,
        draw: (c, t) => setLabel(c, t.state?.runInfo?.program ?? UNKNOWN) },
    { id: "curve", title: "Heap", width: "136px", wide: true, left: true, value: (t) => num(t.heap?.heapSizeBytes), draw: drawCurve },
    { id: "live", title: "Live", width: "88px", value: (t) => num(t.heap?.liveBytes), text: (t) => bytes(num(t.heap?.liveBytes)) },
    { id: "heap", title: "Heap size", width: "100px", wide: true, value: (t) => num(t.heap?.heapSizeBytes), text: (t) => bytes(num(t.heap?.heapSizeBytes)) },
    { id: "rss", title: "RSS", width: "100px", wide: true, value: rss, text: (t) => bytes(rss(t)) },
    { id: "limit", title: "Limit", width: "100px", wide: true, value: (t) => t.limit()?.bytes, text: (t) => bytes(t.limit()?.bytes) },
    { id: "verdict", title: "Verdict", width: "104px", left: true, first: "desc", value: (t) => verdict(judged(t)?.verdict).weight,
        draw: (c, t) => {
            const w = verdict(judged(t)?.verdict);
            pill(c, w.text, w.tone);
            c.title = judged(t)?.sentence ?? "";
        } },
    { id: "trend", title: "Trend", width: "132px", wide: true, value: (t) => judged(t)?.slope, rate: "signed" },
    { id: "gc", title: "GC share", width: "90px", wide: true, value: (t) => t.gc?.gcShare ?? t.gc?.gcShareRun, text: (t) => share(t.gc?.gcShare ?? t.gc?.gcShareRun),
        hint: "of elapsed time over the last 10 s; of a finished run, over all of it" },
    { id: "alerts", title: "Alerts", width: "104px", left: true, first: "desc", value: (t) => firing(t.alerts),
        draw: (c, t) => {
            const worst = Math.max(-1, ...(t.alerts?.alerts ?? []).map((a) => alertState(a.state).weight)), n = firing(t.alerts);
            pill(c, n === undefined ? UNKNOWN : n ? `${n} firing` : worst === 2 ? "pending" : "none", n ? "bad" : worst === 2 ? "warn" : "dim");
        } },
];

function drawCurve(cell: HTMLElement, t: Target): void {
    const own = t.series.get("heap_size"), s = own && own.n > 1 ? own : t.series.get("spark") ?? t.series.get("live");
    const p = s ? cut(s, -Infinity, Infinity, 120) : { t: [], v: [] };
    sparkline(cell, p.t, p.v, 116, 26);
}

export function overview(app: App): Page {
    const { route } = app;
    const table = new Table<Target>({ id: "targets", title: "Targets", columns: COLUMNS, key: (t) => t.key, route, sort: "target",
        rowHeight: 40, height: 900, empty: "No target yet. “heapwatch run -- PROGRAM” or “heapwatch ctl add SOURCE” adds one.",
        onopen: (t) => route.set({ target: t.key }, "heap") });
    const figures = new Facts("figures"), filter = field(route, "qt", "Search", "name or /regular expression/");
    const change = targetControl(app), daemons = h("p", { class: "muted" });
    const root = h("div", { class: "stack" },
        h("div", { class: "pagehead" }, h("h2", {}, "Overview"), h("span", { class: "spacer" }), filter.root),
        h("section", { class: "card", "aria-label": "All targets" }, figures.root), table.root, change.root, daemons);

    function update(): void {
        filter.update();
        change.update();
        const all = app.view.sorted(), keep = searching(app, "qt", filter.root);
        const sum = (f: (t: Target) => number | undefined) => {
            const known = all.map(f).filter((x): x is number => x !== undefined);
            return known.length ? known.reduce((a, b) => a + b, 0) : undefined;
        };
        const alerts = sum((t) => firing(t.alerts));
        const growing = all.filter((t) => verdict(judged(t)?.verdict).weight >= 2).length;
        figures.show([
            { name: all.length === 1 ? "target" : "targets", value: String(all.length) },
            { name: "running", value: String(all.filter((t) => t.state?.state === "STATE_RUNNING").length) },
            { name: "live data", value: bytes(sum((t) => num(t.heap?.liveBytes))) },
            { name: "heap size", value: bytes(sum((t) => num(t.heap?.heapSizeBytes))) },
            { name: "growing or leaking", value: all.some((t) => verdict(judged(t)?.verdict).weight >= 1) ? String(growing) : UNKNOWN },
            { name: "alerts firing", value: alerts === undefined ? UNKNOWN : String(alerts) },
        ]);
        app.histories?.sparks(all);
        table.show(all.filter((t) => keep(`${t.key} ${t.state?.runInfo?.program ?? ""}`)));
        const list = [...app.view.daemons.values()].map((d) => `${d.endpoint ?? `daemon ${d.daemon}`}${d.state?.version ? ` (heapwatchd ${d.state.version})` : ""}`);
        const logs = app.meta?.logs?.length ?? 0;
        setText(daemons, app.meta ? `Report of ${logs} ${logs === 1 ? "log" : "logs"}, heapwatch ${app.meta.version ?? UNKNOWN}` : list.join(" · "));
    }
    return { root, update, done: () => table.done() };
}
