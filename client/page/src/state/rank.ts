// SPDX-License-Identifier: BSD-3-Clause
/*
 * rank.ts - which bands are drawn, and in which order.
 */
import type { Span } from "../range.ts";
import { stats, type Stats } from "../stats.ts";
import { lowerBound } from "./series.ts";
import type { Band, Target } from "./target.ts";

export type Sort = "size" | "stddev" | "name" | "number" | "gradient";

export interface Ranked {
    band: Band;
    stats: Stats | undefined;
}

// Indices [from, to) of the censuses in the range, with one before it so that curves reach its edge.
export function censusWindow(t: Target, r: Span): [number, number] {
    const { times } = t.censuses, n = times.length;
    const from = Math.max(0, lowerBound(times, n, r.from) - (times[lowerBound(times, n, r.from)] === r.from ? 0 : 1));
    return [from, Math.min(n, lowerBound(times, n, r.to) + 1)];
}

export function bandStats(t: Target, b: Band, from: number, to: number): Stats | undefined {
    const c = t.censuses.columns.get(b.id);
    return c && stats(t.censuses.times, c, from, to);
}

// The labels of bands that are shown together: many info tables share a name, so those also have their type and place in the source.
export function distinct(shown: { label: string; band?: Band }[]): string[] {
    const times = new Map<string, number>();
    for (const { label } of shown) times.set(label, (times.get(label) ?? 0) + 1);
    return shown.map(({ label, band }) => {
        const table = times.get(label)! > 1 ? band?.def.infoTable : undefined, more = [table?.type, table?.source || table?.module].filter(Boolean);
        return more.length ? `${label} (${more.join(", ")})` : label;
    });
}

export function rank(t: Target, from: number, to: number, keep: (label: string) => boolean, sort: Sort, reverse: boolean): Ranked[] {
    const all: (Ranked & { by: number })[] = [], whole = from === 0 && to === t.censuses.n;
    for (const band of t.bands.values()) {
        if (!keep(band.def.label ?? "")) continue;
        const r = { band, stats: bandStats(t, band, from, to), by: 0 };
        r.by = measure(r, sort, whole);
        all.push(r);
    }
    const text = (r: Ranked) => r.band.def.label ?? "", name = (a: Ranked, b: Ranked) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0);
    all.sort((a, b) => (sort === "name" ? name(a, b) : b.by - a.by) || a.band.id - b.band.id);
    return reverse ? all.reverse() : all;
}

// For a finished log the statistics of the whole run are known: over every census, and also of bands without points.
function measure(r: Ranked, sort: Sort, whole: boolean): number {
    if (sort === "number" || sort === "name") return 0;
    const exact = whole || !r.stats ? r.band.stats : undefined;
    if (sort === "stddev") return exact?.stddev ?? r.stats?.stddev ?? -1;
    if (sort === "gradient") return exact?.slopeBytesPerS ?? r.stats?.slopeBps ?? -Infinity;
    return exact?.sum ?? r.stats?.sum ?? r.band.bytes;
}
