// SPDX-License-Identifier: BSD-3-Clause
/*
 * overview.ts - every target in one line: its state, how much memory it has, whether that grows. The worst come first. A click opens
 * the target.
 */
import type { App, Page } from "../app.ts";
import { h, setAttr, setText, visible } from "../dom.ts";
import { setName } from "../widgets/name.ts";
import { slidingWidth } from "../range.ts";
import { alertState, firing, gravestTone } from "../state/judge.ts";
import { window as cut } from "../state/series.ts";
import type { Target } from "../state/target.ts";
import { num, seconds } from "../state/wire.ts";
import { bytes, duration, slope, UNKNOWN } from "../units.ts";
import { field } from "../widgets/controls.ts";
import { Facts, isThere, pill, showState, stateText, twoLines } from "../widgets/facts.ts";
import { sparkline } from "../widgets/sparkline.ts";
import { type Column, Table } from "../widgets/table.ts";
import { searching, when, whenNumber } from "./common.ts";
import { targetControl } from "./control.ts";

const GROWS = new Set(["growing", "leak", "rising"]);
const word = (t: Target) => t.answers?.word ?? UNKNOWN;
const said = (t: Target) => t.answers?.answers?.[0]?.text;

const gcShare = (t: Target) => (t.number("gc_share") === undefined ? "gc_share_run" : "gc_share");
const shown = (id: string) => ({ value: (t: Target) => t.number(id), text: (t: Target) => t.text(id) });

const limitIn = (t: Target) => num(t.answers?.limitInNs);

function columns(app: App): Column<Target>[] {
    const since = (t: Target) => (t.answers?.onsetIsLatest ? "≤ " : "") + when(app, t, seconds(t.answers?.onsetNs));
    return [
        { id: "target", title: "Target", width: "minmax(96px, 2fr)", left: true, value: (t) => t.key,
            draw: (c, t) => twoLines(c, t.key, t.answers?.culprit ?? ""), narrow: "minmax(80px, 1fr)" },
        { id: "verdict", title: "Verdict", width: "128px", narrow: "114px", left: true, first: "desc", value: word, by: (t) => t.answers?.rank,
            hint: "how it ended, if badly, or its verdict; the worst first: dead, running out of memory, leak, growing, rising; ended ones last",
            draw: (c, t) => {
                if (!c.firstElementChild) c.append(h("span", { class: "first" }), h("span", { class: "narrow" }));
                pill(c.firstElementChild as HTMLElement, word(t), t.answers?.tone ?? "dim");
                setText(c.lastElementChild!, t.answers?.onsetNs === undefined ? "" : since(t));
                setAttr(c, "title", said(t) ? visible(said(t)!) : null);
            } },
        { id: "since", title: "Since", width: "86px", left: true, wide: true, value: since, by: (t) => whenNumber(app, t, seconds(t.answers?.onsetNs)), hint: "when the growth began, or ≤ by when at the latest" },
        { id: "culprit", title: "What grows", width: "minmax(110px, 2fr)", left: true, wide: true, value: (t) => t.answers?.culprit, draw: (c, t) => setName(c, t.answers?.culprit ?? UNKNOWN),
            hint: "the band that grows most" },
        { id: "curve", title: "Live data", width: "122px", narrow: "60px", left: true, unsaved: true, value: (t) => t.number("live_bytes"), draw: (c, t) => drawCurve(app, c, t), hint: "live data over the chosen range, from 0" },
        { id: "live", title: "Live", width: "92px", ...shown("live_bytes"), draw: drawLive },
        { id: "trend", title: "Trend", width: "104px", wide: true, value: (t) => (t.answers?.word === "steady" ? undefined : t.answers?.slope), text: (t) => slope(t.answers?.word === "steady" ? undefined : t.answers?.slope),
            hint: "rate of the rise, or robust slope of the series that the verdict is about; none when steady" },
        { id: "limitIn", title: "Limit in", width: "82px", wide: true, value: limitIn, text: (t) => duration(limitIn(t)), hint: "when it reaches its limit, if it goes on: by the rate" },
        { id: "heap", title: "Heap", width: "84px", wide: true, ...shown("heap_size_bytes") },
        { id: "rss", title: "RSS", width: "84px", wide: true, ...shown("resident_bytes"), hint: "resident memory of the process; local programs only" },
        { id: "limit", title: "Limit", width: "84px", wide: true, value: (t) => t.answers?.limit?.[0], text: (t) => t.answers?.limit?.[1] ?? UNKNOWN, hint: "the smallest of -M, control group, machine and --limit" },
        { id: "gc", title: "GC", width: "82px", wide: true, value: (t) => t.number(gcShare(t)), text: (t) => t.text(gcShare(t)),
            hint: "of elapsed time over the last 10 s; of a finished run, over all of it" },
        { id: "alerts", title: "Alerts", width: "86px", left: true, wide: true, first: "desc", value: (t) => firing(t.alerts)?.length, hint: "firing now",
            draw: (c, t) => {
                const worst = Math.max(-1, ...(t.alerts?.alerts ?? []).map((a) => alertState(a.state).weight)), fire = firing(t.alerts), n = fire?.length;
                pill(c, n === undefined ? UNKNOWN : n ? `${n} firing` : worst === 2 ? "pending" : "none", n ? gravestTone(fire!) : worst === 2 ? "warn" : "dim");
            } },
        { id: "state", title: "State", width: "92px", left: true, wide: true, value: (t) => stateText(t.state), draw: (c, t) => showState(c, t.state), hint: "of its stream" },
    ];
}

const liveAge = (t: Target) => num(t.answers?.liveAgeNs);

// Below a number that was not measured lately, how old it is.
function drawLive(cell: HTMLElement, t: Target): void {
    if (!cell.firstElementChild) cell.append(h("span", {}), h("span", { class: "age" }));
    setText(cell.firstElementChild!, t.text("live_bytes"));
    setText(cell.lastElementChild!, liveAge(t) === undefined ? "" : `${duration(liveAge(t))} ago`);
}

// The requested history, and what is live now; a report has the history alone.
function drawCurve(app: App, cell: HTMLElement, t: Target): void {
    const r = app.range(t), past = t.series.get("spark") ?? t.series.get("live"), p = past ? cut(past, r.from, r.to, 120) : { t: [], v: [] }, now = t.number("live_bytes");
    const newest = now !== undefined && t.eventTime > (p.t.at(-1) ?? -1) ? [t.eventTime, now] as const : undefined;
    sparkline(cell, newest ? [...p.t, newest[0]] : p.t, newest ? [...p.v, newest[1]] : p.v, 104, 26);
}

export function overview(app: App): Page {
    const { route } = app;
    const table = new Table<Target>({ id: "targets", title: "Targets", columns: columns(app), key: (t) => t.key, route, sort: "-verdict",
        rowHeight: 40, height: 900, empty: "No target yet. “heapwatch run -- PROGRAM” or “heapwatch add SOURCE” adds one.",
        onopen: (t) => route.set({ target: t.key }, "target") });
    const figures = new Facts("figures"), filter = field(route, "qt", "Search", "name or /regexp/");
    const change = targetControl(app), daemons = h("p", { class: "muted" });
    const root = h("div", { class: "stack" },
        h("div", { class: "pagehead" }, h("h2", {}, "Overview"), h("span", { class: "spacer" }), filter.root),
        h("section", { class: "card", "aria-label": "All targets" }, figures.root), table.root, change.root, daemons);

    function update(): void {
        filter.update();
        change.update();
        const all = app.view.sorted(), keep = searching(app, "qt", filter.root);
        const running = all.filter((t) => t.state?.state === "STATE_RUNNING"), living = all.filter((t) => isThere(t.state)), there = living.length ? living : all.filter((t) => !t.state?.kept); // of logs alone: all of them
        const sum = (of: Target[], f: (t: Target) => number | undefined) => {
            const known = of.map(f).filter((x): x is number => x !== undefined);
            return known.length ? known.reduce((a, b) => a + b, 0) : undefined;
        };
        const ages = there.map(liveAge).filter((x): x is number => x !== undefined), oldest = ages.length ? Math.max(...ages) : undefined;
        const alerts = sum(all, (t) => firing(t.alerts)?.length);
        const growing = there.filter((t) => t.answers?.onsetNs !== undefined || GROWS.has(word(t))).length;
        figures.show([
            { name: all.length === 1 ? "target" : "targets", value: String(all.length) },
            { name: "running", value: String(running.length) },
            { name: oldest === undefined ? "live data" : `live data, up to ${duration(oldest)} old`, value: bytes(sum(there, (t) => t.number("live_bytes"))) },
            { name: "heap size", value: bytes(sum(there, (t) => t.number("heap_size_bytes"))) },
            { name: "rising or growing", value: all.some((t) => t.answers) ? String(growing) : UNKNOWN },
            { name: "alerts firing", value: alerts === undefined ? UNKNOWN : String(alerts) },
        ]);
        app.histories?.sparks(all, app.rangeText, slidingWidth(app.rangeText));
        table.show(all.filter((t) => keep(`${t.key} ${t.state?.runInfo?.program ?? ""}`)));
        const list = [...app.view.daemons.values()].map((d) => `${d.endpoint ?? `daemon ${d.daemon}`}${d.state?.version ? ` (heapwatchd ${d.state.version})` : ""}`);
        const logs = app.meta?.logs?.length ?? 0;
        setText(daemons, app.meta ? `Report of ${logs} ${logs === 1 ? "log" : "logs"}, heapwatch ${app.meta.version ?? UNKNOWN}` : list.join(" · "));
    }
    return { root, update, done: () => table.done() };
}
