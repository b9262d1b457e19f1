// SPDX-License-Identifier: BSD-3-Clause
/*
 * heap.ts - where memory is: the largest bands over time, and the heap as the runtime and the system see it, with the questions
 * that the second answers.
 */
import type { App, Page } from "../app.ts";
import { h, setText } from "../dom.ts";
import type { Span } from "../range.ts";
import { parseStanding } from "../range.ts";
import { verdict } from "../state/judge.ts";
import { censusWindow, rank, type Ranked, type Sort } from "../state/rank.ts";
import { join } from "../state/series.ts";
import type { Target } from "../state/target.ts";
import { bandColor, css, type Scheme, SCHEMES } from "../theme.ts";
import { BYTES_UNIT, parseBytes, SHARE_UNIT, slope, UNKNOWN } from "../units.ts";
import { Chart } from "../widgets/chart.ts";
import type { Line } from "../widgets/plot.ts";
import { pill } from "../widgets/facts.ts";
import { choice, field, more, select, toggle } from "../widgets/controls.ts";
import { line, majorMarkers, noteMarkers, noteMode, points, searching, title, zooming } from "./common.ts";
import { Questions } from "./questions.ts";

const MODES: [string, string][] = [["stack", "Stacked"], ["lines", "Lines"], ["share", "Normalised"]];
const SORTS: [string, string][] = [["size", "size"], ["stddev", "deviation"], ["gradient", "slope"], ["name", "name"], ["number", "number"]];

export function heap(app: App): Page {
    const { route } = app, heading = title("Heap");
    const pick = (id: string) => {
        if (id !== "other") route.set({ iso: route.get("iso") === id ? undefined : id });
    };
    const hide = (id: string) => {
        const now = hiddenBands(app);
        if (!now.delete(id)) now.add(id);
        route.set({ hide: [...now].map(encodeURIComponent).join(",") });
    };
    const common = { ...zooming(app), legend: "side" as const, onpick: pick, picked: () => route.get("iso"), onhide: hide,
        hidden: (id: string) => hiddenBands(app).has(id) };
    const charts: Record<string, Chart> = {
        bytes: new Chart({ ...common, id: "bands", title: "Largest bands", unit: BYTES_UNIT, height: 420 }),
        share: new Chart({ ...common, id: "bands-share", title: "Largest bands, share of the whole", unit: SHARE_UNIT, height: 420 }),
    };
    const pane = new Chart({ ...zooming(app), id: "heap", title: "Live data, blocks, heap and process", unit: BYTES_UNIT, height: 330 });
    const questions = new Questions(), judged = h("span", {}), grows = h("span", { class: "muted" });
    const filter = field(route, "q", "Bands", "text or /regular expression/");
    const controls = [
        choice(route, "mode", "How bands are drawn", MODES, () => "stack"),
        field(route, "bands", "Largest", "15", String(app.options.bands ?? 15), "text"),
        select(route, "by", "by", SORTS, () => app.options.sort ?? "size"),
        filter,
        more("More",
            toggle(route, "rev", "Reversed"),
            field(route, "ytop", "Top of y", "auto", "", "text"),
            select(route, "scheme", "Colours", SCHEMES, () => "calm"),
            select(route, "time", "Time", [["clock", "clock"], ["run", "since start"]], () => (app.meta ? "run" : "clock")),
            select(route, "notes", "Notes", [["none", "none"], ["markers", "markers"], ["all", "markers and messages"]], () => noteMode(app)),
            field(route, "inc", "with", "substring, …"),
            field(route, "exc", "without", "substring, …"),
            select(route, "gcs", "Major GCs", [["on", "shown"], ["off", "hidden"]], () => "on")),
    ];
    const root = h("div", { class: "stack" },
        h("div", {}, h("div", { class: "pagehead" }, heading.root, judged, grows),
            h("div", { class: "controls" }, ...controls.map((c) => c.root))),
        charts["bytes"]!.root, charts["share"]!.root,
        h("div", { class: "beside" }, pane.root, questions.root));
    const bands = new Bands(app);
    let painted = false;

    function update(): void {
        const t = app.target(), mode = route.get("mode", "stack");
        heading.set(t);
        for (const c of controls) c.update();
        const keep = searching(app, "q", filter.root), shown = mode === "share" ? "share" : "bytes";
        charts["bytes"]!.root.hidden = shown !== "bytes";
        charts["share"]!.root.hidden = shown !== "share";
        if (!t) return;
        const trend = t.trends.ofSeries.get("live"), w = verdict(trend?.verdict);
        pill(judged, w.text === UNKNOWN ? "verdict –" : w.text, w.tone);
        setText(grows, w.weight > 1 ? `live data ${slope(trend?.slope)}` : "");
        const range = app.range(t), start = app.clockStart(t);
        const markers = [...(route.get("gcs", "on") === "on" ? majorMarkers(t, range) : []), ...noteMarkers(app, t, range)];
        const top = app.route.get("ytop") ? parseBytes(route.get("ytop")) : app.options.yAxis ?? undefined;
        if (app.histories?.waiting(t.key)) return charts[shown]!.show({ x: [], lines: [], range }, "Asking for the past…");
        charts[shown]!.show({ ...bands.plot(t, range, mode, keep), range, start, markers, stacked: mode !== "lines",
            top: mode === "share" ? 1 : top }, noBands(t));
        if (!painted && charts[shown]!.drawn) { // the rest of the page after the first picture
            painted = true;
            requestAnimationFrame(() => setTimeout(update));
            return;
        }
        pane.show({ ...heapLines(t, range), range, start, markers, top }, "No sample of the heap in this range.");
        questions.show(t, range);
    }
    return { root, update, done: () => [...Object.values(charts), pane].forEach((c) => c.done()) };
}

// Bands (or "other") whose box in the legend is off; each is encoded, for labels may hold the comma between them.
function hiddenBands(app: App): Set<string> {
    return new Set(app.route.get("hide").split(",").filter(Boolean).map((k) => {
        try {
            return decodeURIComponent(k);
        } catch {
            return k; // the address was cut
        }
    }));
}

function noBands(t: Target): string {
    if (t.bands.size) return t.censuses.n ? "No band matches in this range." : "No census yet.";
    return "This program writes no heap profile. Start it with +RTS -l -hT (any build), -hi or -hc to see bands.";
}

// Which bands are drawn, with colours that stay theirs while they are among the largest.
class Bands {
    private slots = new Map<string, number>();
    private cache: { sign: string; ranked: Ranked[] } | undefined;

    constructor(private app: App) {}

    plot(t: Target, range: Span, mode: string, keep: (s: string) => boolean): { x: number[]; lines: Line[] } {
        const { route, options } = this.app, [from, to] = censusWindow(t, range);
        const count = Math.round(route.number("bands", options.bands ?? 15, 1, 60));
        const ranked = this.ranked(t, from, to, keep), lacking = ranked.slice(0, count).filter((r) => !r.stats || !t.censuses.whole(r.band.id, from, to));
        if (lacking.length) this.app.histories?.allBands(t, lacking.map((r) => r.band)); // in "other" until their past is here
        const top = ranked.slice(0, count).filter((r) => !lacking.includes(r)), iso = route.get("iso");
        const isolated = iso && !top.some((r) => t.bandKey(r.band) === iso) ? t.bandOf(iso) : undefined;
        const shown = isolated ? [...top, { band: isolated, stats: undefined }] : top;
        const { censuses } = t, scheme = this.app.scheme, off = hiddenBands(this.app);
        const at = censuses.common(shown.map((r) => r.band.id), from, to), x = at.map((i) => censuses.times[i]!);
        const totals = at.map((i) => censuses.totals[i]!);
        this.assign(shown.map((r) => t.bandKey(r.band)));
        const columns = shown.map((r) => at.map((i) => censuses.bytes(r.band.id, i)));
        const lines = shown.map((r, i) => {
            const key = t.bandKey(r.band), hidden = (iso && key !== iso) || off.has(key);
            return line(key, r.band.def.label ?? `band ${r.band.id}`, this.color(scheme, key, shown.length),
                hidden ? columns[i]!.map(() => null) : columns[i]!);
        });
        const rest = others(totals, columns);
        if (!iso && !route.get("q") && t.bands.size > shown.length && mode !== "lines") {
            lines.push(line("other", `other (${t.bands.size - shown.length})`, css("--line"), off.has("other") ? rest.map(() => null) : rest));
        }
        return { x, lines: mode === "share" ? normalised(totals, lines) : lines };
    }

    private ranked(t: Target, from: number, to: number, keep: (s: string) => boolean): Ranked[] {
        const { route, options } = this.app;
        const sort = route.get("by", options.sort ?? "size") as Sort, reverse = (route.get("rev") === "1") !== !!options.reverse;
        // While the range slides, the order is found again when there is a new census.
        const place = parseStanding(this.app.rangeText) ? `${from}-${to}` : t.censuses.times[to - 1];
        const sign = [t.key, t.run, t.bands.size, place, from, t.censuses.change, route.get("q"), sort, reverse].join("|");
        if (this.cache?.sign !== sign) this.cache = { sign, ranked: rank(t, from, to, keep, sort, reverse) };
        return this.cache.ranked;
    }

    private assign(keys: string[]): void {
        const now = new Set(keys);
        for (const k of this.slots.keys()) if (!now.has(k)) this.slots.delete(k);
        const used = new Set(this.slots.values());
        for (const k of keys) {
            if (this.slots.has(k)) continue;
            let i = 0;
            while (used.has(i)) i++;
            used.add(i);
            this.slots.set(k, i);
        }
    }

    private color(scheme: Scheme, key: string, n: number): string {
        return bandColor(scheme, this.slots.get(key) ?? 0, n);
    }
}

// What is not drawn by itself: the total less what is.
function others(totals: number[], columns: number[][]): number[] {
    return totals.map((total, i) => Math.max(0, columns.reduce((rest, c) => rest - c[i]!, total)));
}

function normalised(totals: number[], lines: Line[]): Line[] {
    return lines.map((l) => ({ ...l, values: l.values.map((v, i) => (v === null || totals[i]! <= 0 ? null : v / totals[i]!)) }));
}

const LIMIT_SHOWN = 4; // a limit more than so many times above everything else is told, not drawn

function heapLines(t: Target, r: Span): { x: number[]; lines: Line[] } {
    const parts: [string, string, string][] = [["rss", "process (RSS)", "--c-rss"], ["heap_size", "heap size", "--c-heap"],
        ["blocks_size", "blocks in use", "--c-blocks"], ["live", "live data", "--c-live"]];
    const cuts = parts.map(([name]) => points(t, name, r)), { x, ys } = join(cuts);
    const lines = parts.map(([id, label, color], i) => line(id, label, css(color), ys[i]!, { kind: id === "live" ? "area" : id === "heap_size" ? "step" : "line" }))
        .filter((_, i) => cuts[i]!.t.length);
    const limit = t.limit(), max = Math.max(...cuts.flatMap((c) => c.v), 0);
    if (limit && x.length && limit.bytes <= LIMIT_SHOWN * max) {
        lines.push(line("limit", `limit (${limit.what})`, css("--bad"), x.map(() => limit.bytes), { dash: true }));
    }
    return { x, lines };
}
