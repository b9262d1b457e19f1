// SPDX-License-Identifier: BSD-3-Clause
/*
 * compare.ts - one side of a comparison: mean bytes and slope of each label over a range of a run; and two of them joined.
 * Bands that share a label are added up: numbers of bands differ between runs.
 */
import { resolve, type Span } from "../range.ts";
import { bandStats, censusWindow } from "./rank.ts";
import type { Target } from "./target.ts";

export interface Entry { bytes: number; slope?: number }
export interface Side { name: string; made: string; total: number; bands: [string, Entry][] }
export type Baseline = Side;

export interface Joined { label: string; a?: Entry; b?: Entry; diff?: number; ratio?: number; slopeDiff?: number }

function spanOf(t: Target, text: string): Span {
    const { times } = t.censuses, first = times[0] ?? 0, end = times[times.length - 1] ?? t.eventTime, middle = first + (end - first) / 2;
    if (text === "first") return { from: first, to: middle };
    if (text === "second") return { from: middle, to: end };
    return resolve(text, t.eventTime);
}

export function sideOf(t: Target, text: string): Side {
    const r = spanOf(t, text), [from, to] = inside(t, r), bands = new Map<string, Entry>();
    let total = 0;
    for (const b of t.bands.values()) {
        const s = bandStats(t, b, from, to);
        if (!s || s.max === 0) continue;
        const label = b.def.label ?? `band ${b.id}`, e = bands.get(label);
        total += s.mean;
        bands.set(label, { bytes: (e?.bytes ?? 0) + s.mean, slope: s.slopeBps === undefined && !e?.slope ? e?.slope : (e?.slope ?? 0) + (s.slopeBps ?? 0) });
    }
    return { name: t.key, made: new Date().toISOString(), total, bands: [...bands] };
}

// Only censuses within the range count, not the one before it, which a chart needs.
function inside(t: Target, r: Span): [number, number] {
    let [from, to] = censusWindow(t, r);
    if (from < to && t.censuses.times[from]! < r.from) from++;
    if (to > from && t.censuses.times[to - 1]! > r.to) to--;
    return [from, to];
}

export function join(a: Side | undefined, b: Side | undefined): Joined[] {
    const rows = new Map<string, Joined>();
    for (const [label, e] of a?.bands ?? []) rows.set(label, { label, a: e });
    for (const [label, e] of b?.bands ?? []) rows.set(label, { ...(rows.get(label) ?? { label }), b: e });
    for (const r of rows.values()) {
        r.diff = a && b ? (r.b?.bytes ?? 0) - (r.a?.bytes ?? 0) : undefined; // a side without data is unknown, a band that it lacks is 0
        r.ratio = r.a && r.b && r.a.bytes > 0 ? r.b.bytes / r.a.bytes : undefined;
        r.slopeDiff = r.a?.slope !== undefined && r.b?.slope !== undefined ? r.b.slope - r.a.slope : undefined;
    }
    const size = (r: Joined): number => Math.max(r.a?.bytes ?? 0, r.b?.bytes ?? 0);
    return [...rows.values()].sort((x, y) => size(y) - size(x)); // the order of those whose difference is equal, or unknown
}

const LABELS_MAX = 20000;

// A kept or loaded text may be anything: undefined unless it has the form of a Side.
export function parseBaseline(text: string): Baseline | undefined {
    try {
        const v = JSON.parse(text) as Partial<Side>;
        if (typeof v.name !== "string" || typeof v.made !== "string" || !Array.isArray(v.bands) || v.bands.length > LABELS_MAX) return undefined;
        const bands = v.bands.filter((x) => Array.isArray(x) && typeof x[0] === "string" && typeof x[1]?.bytes === "number");
        return { name: v.name.slice(0, 200), made: v.made.slice(0, 40), total: bands.reduce((n, x) => n + x[1].bytes, 0), bands };
    } catch {
        return undefined;
    }
}
