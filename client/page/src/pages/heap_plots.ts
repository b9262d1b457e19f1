// SPDX-License-Identifier: BSD-3-Clause
/*
 * heap_plots.ts - the two pictures of a heap: its largest bands, and live data, blocks, heap and process with the limit.
 */
import type { App } from "../app.ts";
import { parseFixed, type Span } from "../range.ts";
import { censusWindow, rank, type Ranked, type Sort } from "../state/rank.ts";
import { join } from "../state/series.ts";
import type { Target } from "../state/target.ts";
import { bandColor, css, type Scheme } from "../theme.ts";
import type { Line } from "../widgets/plot.ts";
import { line, points } from "./common.ts";

// Bands (or "other") unchecked in the legend; each is encoded, because labels may contain the separating comma.
export function hiddenBands(app: App): Set<string> {
    return new Set(app.route.get("hide").split(",").filter(Boolean).map((k) => {
        try {
            return decodeURIComponent(k);
        } catch {
            return k; // the address was cut
        }
    }));
}

export function noBands(t: Target): string {
    if (t.bands.size) return t.censuses.n ? "No band matches in this range." : "No census yet.";
    return "This program writes no heap profile. Start it with +RTS -l -hT (any build), -hi or -hc to see bands.";
}

// Which bands are drawn, with colours that they keep while they are among the largest.
export class Bands {
    private slots = new Map<string, number>();
    private cache: { sign: string; ranked: Ranked[] } | undefined;

    constructor(private app: App, private most = 60) {}

    plot(t: Target, range: Span, mode: string, keep: (s: string) => boolean): { x: number[]; lines: Line[] } {
        const { route, options } = this.app, [from, to] = censusWindow(t, range);
        const count = Math.min(this.most, Math.round(route.number("bands", options.bands ?? 15, 1, 60)));
        const ranked = this.ranked(t, from, to, keep), lacking = ranked.slice(0, count).filter((r) => !r.stats || !t.censuses.whole(r.band.id, from, to));
        if (lacking.length) this.app.histories?.allBands(t, lacking.map((r) => r.band)); // in "other" until their history is here
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
                hidden ? columns[i]!.map(() => null) : columns[i]!, { hatch: scheme === "grey" });
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
        // While the range slides, the order is recomputed for each new census.
        const place = parseFixed(this.app.rangeText) ? `${from}-${to}` : t.censuses.times[to - 1];
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

// The bands that are not drawn separately: the total minus those that are.
function others(totals: number[], columns: number[][]): number[] {
    return totals.map((total, i) => Math.max(0, columns.reduce((rest, c) => rest - c[i]!, total)));
}

function normalised(totals: number[], lines: Line[]): Line[] {
    return lines.map((l) => ({ ...l, values: l.values.map((v, i) => (v === null || totals[i]! <= 0 ? null : v / totals[i]!)) }));
}

const LIMIT_SHOWN = 4; // a limit more than this many times above everything else is written, not drawn

export function heapLines(t: Target, r: Span): { x: number[]; lines: Line[] } {
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
