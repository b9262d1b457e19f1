// SPDX-License-Identifier: BSD-3-Clause
/*
 * questions.ts - the addresses that the page requests (docs/WEB.md), and the first of them by the address bar. Shared with early.ts,
 * which makes these requests before the page's script is there.
 */

// The page's key of a target is NAME, or D:NAME beyond the first daemon; the server's D:NAME is unambiguous.
export function wireKey(key: string): string {
    return /^[0-9]+:/.test(key) ? key : `0:${key}`;
}

// `detail`: keys of targets. Trends of bands are ten times as much as all else.
export function streamAddress(detail: string[], trends: boolean): string {
    const query = detail.length ? detail.map((d) => `detail=${encodeURIComponent(wireKey(d))}`).join("&") : "detail=";
    return `api/stream?${query}${trends ? "" : "&trends=series"}`;
}

export interface HistoryQuery {
    target: string | string[];
    series?: string[];
    bands?: number[];
    top?: number;
    from?: number; // seconds of event time; negative: before the newest
    points?: number; // at most about this many of each
}

export function historyAddress(q: HistoryQuery): string {
    const p = new URLSearchParams([q.target].flat().map((t) => ["target", wireKey(t)]));
    if (q.series?.length) p.set("series", q.series.join(","));
    if (q.bands?.length) p.set("band", q.bands.join(","));
    if (q.from) p.set("from", String(q.from));
    if (q.points) p.set("points", String(q.points));
    if (q.top) p.set("bands", `top${q.top}`);
    return `api/history?${p.toString()}`;
}

// The parts of resident memory, from the bottom of their stack: the order and the words of proto/wire/resident_parts.c.
export const PARTS = ["live_resident", "reserve", "kept", "given_back", "files", "foreign"];
export const SERIES = ["live", "heap_size", "blocks_size", "rss", "cgroup", "gc_pause", "slop", "fragmentation", "copied",
    ...PARTS];
const HEAP_SERIES = ["live", "heap_size", "blocks_size", "rss"];
export const TOTAL = 0; // as the number of a band: all of them together
const FIRST_TOP = 20;
export const FIRST_POINTS = 120;

// No more than the first picture of a target shows on this page. `sliding`: seconds that it looks back; undefined: all.
export function firstQuestion(page: string, key: string, sliding: number | undefined): HistoryQuery {
    const range = { from: sliding && -sliding, points: FIRST_POINTS };
    if (page === "target") return { target: key, series: HEAP_SERIES, bands: [TOTAL], top: FIRST_TOP, ...range };
    return page === "heap" ? { target: key, bands: [TOTAL], top: FIRST_TOP, ...range } : { target: key, series: SERIES, ...range };
}
