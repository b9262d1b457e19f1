// SPDX-License-Identifier: BSD-3-Clause
/*
 * gc.ts - collections: pauses over time and as histograms, share of time, what was copied and lost in blocks, balance, nonmoving phases.
 */
import type { App, Page } from "../app.ts";
import { h } from "../dom.ts";
import type { Span } from "../range.ts";
import type { Collection } from "../state/history.ts";
import { join, peaks, type Points, sums, thinned } from "../state/series.ts";
import type { Target } from "../state/target.ts";
import { type Generation, num, type Segments } from "../state/wire.ts";
import { sketchBounds } from "../stats.ts";
import { bandColor } from "../theme.ts";
import { bytes, BYTES_UNIT, count, duration, NS_UNIT, share, SHARE_UNIT, UNKNOWN } from "../units.ts";
import { Bars, type Group } from "../widgets/bars.ts";
import { Chart } from "../widgets/chart.ts";
import type { Line, Plot } from "../widgets/plot.ts";
import { Facts, number } from "../widgets/facts.ts";
import { type Column, Table } from "../widgets/table.ts";
import { deployMarkers, line, noteMarkers, points, POINTS, title, zooming } from "./common.ts";

const GENERATIONS: Column<Generation>[] = [
    { id: "generation", title: "Generation", width: "minmax(80px, 1fr)", left: true, value: (g) => g.generation ?? 0 },
    { id: "count", title: "Collections", width: "100px", value: (g) => num(g.count), text: (g) => count(num(g.count)) },
    { id: "parallel", title: "Parallel", width: "100px", wide: true, value: (g) => num(g.parallelCount), text: (g) => count(num(g.parallelCount)) },
    { id: "p50", title: "p50", width: "100px", wide: true, value: (g) => num(g.pauseP50Ns), text: (g) => duration(num(g.pauseP50Ns)) },
    { id: "p99", title: "p99", width: "84px", wide: true, value: (g) => num(g.pauseP99Ns), text: (g) => duration(num(g.pauseP99Ns)) },
    { id: "max", title: "Longest", width: "84px", value: (g) => num(g.pauseMaxNs), text: (g) => duration(num(g.pauseMaxNs)) },
    { id: "total", title: "Total", width: "110px", wide: true, value: (g) => num(g.pauseTotalNs), text: (g) => duration(num(g.pauseTotalNs)) },
];

const SEGMENTS: Column<Segments>[] = [
    { id: "block", title: "Block size", width: "1fr", value: (s) => s.blockBytes, text: (s) => bytes(s.blockBytes) },
    { id: "active", title: "Active segments", width: "1fr", value: (s) => num(s.active), text: (s) => count(num(s.active)) },
    { id: "filled", title: "Filled segments", width: "1fr", wide: true, value: (s) => num(s.filled), text: (s) => count(num(s.filled)) },
    { id: "live", title: "Live blocks", width: "1fr", value: (s) => num(s.liveBlocks), text: (s) => count(num(s.liveBlocks)) },
];

export function gc(app: App): Page {
    const heading = title("GC"), figures = new Facts("figures");
    const pauses = new Chart({ ...zooming(app), id: "pauses", title: "Pauses", unit: NS_UNIT, log: true, height: 260 });
    const histogram = new Bars("pause-histogram", "Pauses by length, since the run began");
    const time = new Chart({ ...zooming(app), id: "gc-share", title: "Share of time spent in collections", unit: SHARE_UNIT, height: 170 });
    const copied = new Chart({ ...zooming(app), id: "copied", title: "Copied by each collection", unit: BYTES_UNIT, height: 190 });
    const lost = new Chart({ ...zooming(app), id: "slop", title: "Slop and free blocks", unit: BYTES_UNIT, height: 190 });
    const balance = new Chart({ ...zooming(app), id: "balance", title: "Balance of parallel collections", unit: SHARE_UNIT, height: 170 });
    const table = new Table<Generation>({ id: "generations", title: "Generations, since the run began", columns: GENERATIONS, key: (g) => String(g.generation),
        route: app.route, sort: "generation", empty: "No collection of the program's own yet." });
    const nonmoving = new Facts(), segments = new Table<Segments>({ id: "segments", title: "Nonmoving heap by block size", columns: SEGMENTS,
        key: (s) => String(s.blockBytes), route: app.route, sort: "block", empty: "No census of the nonmoving heap." });
    const more = h("div", { class: "columns" }, h("section", { class: "card" }, h("div", { class: "tablehead" }, h("h3", {}, "Nonmoving collector")), nonmoving.root), segments.root);
    const root = h("div", { class: "stack" }, h("div", { class: "pagehead" }, heading.root),
        h("section", { class: "card", "aria-label": "Collections" }, figures.root), pauses.root,
        h("div", { class: "columns two" }, time.root, histogram.root, copied.root, lost.root, balance.root), table.root, more);

    function update(): void {
        const t = app.target();
        heading.set(t);
        if (!t) return;
        const range = app.range(t), start = app.clockStart(t), g = t.gc, all = t.number("gc_pauses_ns");
        const inside = t.collections.filter((c) => c.t >= range.from && c.t <= range.to);
        const base = { range, start, markers: [...deployMarkers(t, range), ...noteMarkers(app, t, range)] };
        figures.show([
            number(t, "gc_share", "of the last 10 s"), number(t, "gc_share_run", "of the whole run"),
            number(t, "gc_pauses_ns", "total pause"), number(t, "gc_sync_ns", "waiting for capabilities"),
            ...t.number("watch_pauses_ns") !== undefined
                ? [number(t, "watch_pauses_ns", "of which heapwatch's"), number(t, "watch_pause_max_ns", "heapwatch's longest")]
                : [{ name: "heap censuses, of the pauses", value: share(all ? (t.number("gc_census_ns") ?? NaN) / all : undefined) }],
            number(t, "gc_copied_bytes", "copied, total"), number(t, "gc_slop_bytes", "slop, last"), number(t, "gc_fragmentation_bytes", "free blocks, last"),
            number(t, "unneeded_bytes", "fragmentation"), number(t, "gc_parallel_balance", "parallel balance"),
            number(t, "megablocks_returned", "megablocks returned, last major"),
        ]);
        const none = g?.counted ? "Not known: collections are counted from outside, not timed." : "No collection of the program's own in this range.";
        pauses.show({ ...pausePoints(t, inside, range), ...base }, none);
        time.show({ ...shareOfTime(t, range), ...base, markers: [] }, none);
        const copies = points(t, "copied", range);
        copied.show({ x: copies.t, lines: copies.t.length ? [line("copied", "copied", bandColor("calm", 0, 1), copies.v, { gaps: copies.gaps })] : [], ...base }, "Not known for this range.");
        lost.show({ ...unused(t, range), ...base }, "Not known for this range.");
        const b = collected(inside, (x) => x.balance);
        balance.show({ x: b.t, lines: b.t.length ? [line("balance", "copied evenly", bandColor("calm", 2, 3), b.v, { kind: "points" })] : [], ...base, top: 1 },
            "No parallel collection in this range.");
        balance.root.hidden = !b.t.length;
        table.show(g?.generations ?? []);
        histogram.show((g?.generations ?? []).map((x, i) => group(x, i)));
        histogram.root.hidden = !!g?.counted;
        const n = g?.nonmoving;
        more.hidden = !n;
        nonmoving.show([
            number(t, "nonmoving_cycles", "cycles"), number(t, "nonmoving_mark_ns", "marking, concurrent"),
            number(t, "nonmoving_sync_ns", "second pause, total"), number(t, "nonmoving_sync_max_ns", "second pause, longest"),
            number(t, "nonmoving_sweep_ns", "sweeping"), { name: "objects marked, last", value: count(num(n?.markedObjects)) },
            { name: "segments pruned", value: count(num(n?.prunedSegments)) }, { name: "free segments", value: count(num(n?.freeSegments)) },
        ]);
        segments.show(n?.census ?? []);
    }
    return { root, update, done: () => [pauses, histogram, time, copied, lost, balance, table, segments].forEach((w) => w.done()) };
}

function collected(all: Collection[], f: (c: Collection) => number | undefined): Points {
    const known = all.filter((c) => f(c) !== undefined).sort((a, b) => a.t - b.t);
    return { t: known.map((c) => c.t), v: known.map((c) => f(c)!) };
}

const generationColor = (g: number) => bandColor("okabe", g, 2);

// One drawing of the whole range: by generation where each collection is known (a finished log, a program that began while this page
// was open), else the longest of each moment, from the server's history to now.
function pausePoints(t: Target, inside: Collection[], range: Span): Pick<Plot, "x" | "lines"> {
    const s = t.series.get("gc_pause"), first = s && s.at(range.from) < s.n ? s.from[s.at(range.from)]! : Infinity;
    const all = inside.length > 0 && inside.reduce((least, c) => Math.min(least, c.t), Infinity) <= first;
    const generations = [...new Set(inside.map((c) => c.generation ?? 0))].sort();
    const groups: [string, string, Points][] = all || !s
        ? generations.map((g) => [`generation ${g}`, generationColor(g), thinned(collected(inside.filter((c) => (c.generation ?? 0) === g), (c) => c.pause), POINTS)])
        : [["longest of each moment", generationColor(0), peaks(s, range.from, range.to, POINTS)]];
    const watching = collected(inside, (c) => c.watch);
    if (watching.t.length) groups.push(["for heapwatch", generationColor(2), thinned(watching, POINTS)]);
    const before = t.archive.before("gc_pause", s?.n ? s.from[0]! : Infinity, t.start).map((p) => peaks(p.series, range.from, Math.min(range.to, s?.n ? s.from[0]! : Infinity), POINTS));
    if (before.some((p) => p.t.length)) groups.unshift(["longest of each moment, archived", generationColor(1), { t: before.flatMap((p) => p.t), v: before.flatMap((p) => p.v) }]);
    const seen = groups.filter(([, , p]) => p.t.length), { x, ys } = join(seen.map(([, , p]) => p));
    return { x, lines: seen.map(([name, color], i) => line(name, name, color, ys[i]!, { kind: "points" })) };
}

const BINS_MAX = 80, BINS_MIN = 6; // with about four collections each, where there are enough

// Pauses summed over equal parts of the range, as far as it is known.
function shareOfTime(t: Target, range: Span): { x: number[]; lines: Line[] } {
    const s = t.series.get("gc_pause"), first = s?.at(range.from) ?? 0;
    if (!s || first >= s.n) return { x: [], lines: [] };
    let n = 0;
    for (let i = first; i < s.n && s.t[i]! <= range.to; i++) n += s.count[i]!;
    const from = Math.max(range.from, s.from[first]!), bins = Math.round(Math.min(BINS_MAX, Math.max(BINS_MIN, n / 4))), width = (range.to - from) / bins;
    if (n < 2 || !(width > 0)) return { x: [], lines: [] };
    return { x: Array.from({ length: bins }, (_, i) => from + i * width), lines: [line("share", "in collections", bandColor("calm", 3, 4),
        sums(s, from, range.to, bins).map((ns) => Math.min(1, ns / 1e9 / width)), { kind: "area" })] };
}

function unused(t: Target, range: Span): { x: number[]; lines: Line[] } {
    const parts = ["slop", "fragmentation"].map((name) => points(t, name, range));
    const { x, ys } = join(parts);
    return { x, lines: [line("slop", "slop", bandColor("calm", 1, 2), ys[0]!, { gaps: parts[0]!.gaps }),
        line("fragmentation", "free blocks", bandColor("calm", 5, 6), ys[1]!, { gaps: parts[1]!.gaps })]
        .filter((_, i) => parts[i]!.t.length) };
}

// The wire's fine buckets (1/32) joined to eighths of a doubling, which is fine enough to look at.
function group(g: Generation, i: number): Group {
    const joined = new Map<number, number>();
    (g.bucket ?? []).forEach((b, k) => {
        const [low] = sketchBounds(b), place = Math.floor(Math.log2(Math.max(1, low)) * 4);
        joined.set(place, (joined.get(place) ?? 0) + (num(g.bucketCount?.[k]) ?? 0));
    });
    const bars = [...joined].sort((a, b) => a[0] - b[0]).map(([p, n]) => ({ from: 2 ** (p / 4), to: 2 ** ((p + 1) / 4), count: n }));
    return { label: `gen ${g.generation ?? UNKNOWN}`, color: generationColor(g.generation ?? i), bars };
}
