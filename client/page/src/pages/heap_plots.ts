// SPDX-License-Identifier: BSD-3-Clause
/*
 * heap_plots.ts - the three pictures of memory: the largest bands; live data, blocks, heap and process with the limit; and what
 * resident memory is made of, now and since the mark.
 */
import { PARTS } from "../api/questions.ts";
import type { App } from "../app.ts";
import { parseFixed, type Span } from "../range.ts";
import type { PastBands } from "../state/archive.ts";
import { censusWindow, distinct, rank, type Ranked, type Sort } from "../state/rank.ts";
import { bridge, join, type Series } from "../state/series.ts";
import type { Band, Target } from "../state/target.ts";
import { bandColor, css, type Scheme } from "../theme.ts";
import { bytes, signedBytes } from "../units.ts";
import type { Fact } from "../widgets/facts.ts";
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
    const why = t.answers?.noCensus ?? "";
    return why && `${why[0]!.toUpperCase()}${why.slice(1)}.`;
}

// Which bands are drawn, with colours that they keep while they are among the largest.
export class Bands {
    private slots = new Map<string, number>();
    private cache: { sign: string; ranked: Ranked[] } | undefined;

    constructor(private app: App, private most = 60) {}

    plot(t: Target, range: Span, mode: string, keep: (s: string) => boolean): { x: number[]; lines: Line[] } {
        const { route, options } = this.app, [from, to] = censusWindow(t, range), { censuses } = t;
        const past = t.archive.bands(range, censuses.n ? censuses.times[0]! : Infinity, t.start);
        const count = Math.min(this.most, Math.round(route.number("bands", options.bands ?? 15, 1, 60)));
        const all = withPast(t, this.ranked(t, from, to, keep), past, keep, this.sort === "size" ? [from, to] : undefined);
        const lacking = all.slice(0, count).filter((r) => r.band && (!r.stats || !censuses.whole(r.band.id, from, to)));
        if (lacking.length) this.app.histories?.allBands(t, lacking.map((r) => r.band!)); // in "other" until their history is here
        const iso = route.get("iso"), shown = all.slice(0, count).filter((r) => !lacking.includes(r));
        const band = iso ? t.bandOf(iso) : undefined, isolated = all.find((r) => r.key === iso) ?? (band && { key: iso, label: band.def.label ?? iso, band });
        if (isolated && !shown.some((r) => r.key === iso)) shown.push(isolated);
        const at = censuses.common(shown.flatMap((r) => r.band?.id ?? []), from, to), x = [...past.t, ...at.map((i) => censuses.times[i]!)];
        const totals = [...past.totals, ...at.map((i) => censuses.totals[i]!)], off = hiddenBands(this.app);
        this.assign(shown.map((r) => r.key));
        const columns = shown.map((r) => [...(r.before ?? past.t.map(() => 0)), ...at.map((i) => (r.band ? censuses.bytes(r.band.id, i) : 0))]);
        const style = { gaps: past.gaps.length ? past.gaps : undefined }, scheme = this.app.scheme;
        const labels = distinct(shown);
        const lines = shown.map((r, i) => {
            const hidden = (iso && r.key !== iso) || off.has(r.key);
            return line(r.key, labels[i]!, this.color(scheme, r.key, shown.length), hidden ? columns[i]!.map(() => null) : columns[i]!, { hatch: scheme === "grey", ...style });
        });
        const rest = totals.map((total, i) => Math.max(0, columns.reduce((left, c) => left - c[i]!, total))), more = all.length - shown.length;
        if (!iso && !route.get("q") && (more > 0 || (past.t.length > 0 && rest.some((v) => v > 0))) && mode !== "lines") {
            lines.push(line("other", more > 0 ? `other (${more})` : "other", css("--line"), off.has("other") ? rest.map(() => null) : rest, style));
        }
        const part = (v: number | null, i: number) => (v === null || totals[i]! <= 0 ? null : v / totals[i]!);
        return { x, lines: mode === "share" ? lines.map((l) => ({ ...l, values: l.values.map(part) })) : lines };
    }

    private ranked(t: Target, from: number, to: number, keep: (s: string) => boolean): Ranked[] {
        const { route, options } = this.app, { sort } = this, reverse = (route.get("rev") === "1") !== !!options.reverse;
        // While the range slides, the order is recomputed for each new census.
        const place = parseFixed(this.app.rangeText) ? `${from}-${to}` : t.censuses.times[to - 1];
        const sign = [t.key, t.run, t.bands.size, place, from, t.censuses.change, route.get("q"), sort, reverse].join("|");
        if (this.cache?.sign !== sign) this.cache = { sign, ranked: rank(t, from, to, keep, sort, reverse) };
        return this.cache.ranked;
    }

    private get sort(): Sort {
        return this.app.route.get("by", this.app.options.sort ?? "size") as Sort;
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

// A band of this run, of the archive, or of both: these have the same label.
interface Candidate { key: string; label: string; band?: Band; stats?: Ranked["stats"]; before?: number[] }

// In the order of `ranked`, then what only the archive has. `censuses`, those of this run in the range: ordered by what each held on
// average in the whole range instead.
function withPast(t: Target, ranked: Ranked[], past: PastBands, keep: (s: string) => boolean, censuses: [number, number] | undefined): Candidate[] {
    const taken = new Set<string>(), all: Candidate[] = ranked.map((r) => {
        const label = r.band.def.label ?? `band ${r.band.id}`, before = taken.has(label) ? undefined : past.bytes.get(label);
        taken.add(label);
        return { key: t.bandKey(r.band), label, band: r.band, stats: r.stats, before };
    });
    if (!past.t.length) return all;
    for (const [label, before] of past.bytes) if (!taken.has(label) && keep(label)) all.push({ key: label, label, before });
    if (!censuses) return all;
    const { times } = t.censuses, [from, to] = censuses, now = to > from ? times[to - 1]! - times[from]! : 0, long = past.t[past.t.length - 1]! - past.t[0]!;
    const size = (c: Candidate) => (c.before ? (sum(c.before) / c.before.length) * Math.max(long, 1) : 0) + (c.stats?.mean ?? 0) * now;
    const by = new Map(all.map((c) => [c, size(c)]));
    return all.sort((a, b) => by.get(b)! - by.get(a)!);
}

const sum = (v: number[]): number => v.reduce((a, b) => a + b, 0);

const LIMIT_SHOWN = 4; // a limit more than this many times above everything else is written, not drawn

export function heapLines(t: Target, r: Span): { x: number[]; lines: Line[] } {
    const parts: [string, string, string, string?][] = [["rss", "process (RSS)", "--c-rss", "resident_bytes"], ["heap_size", "heap size", "--c-heap", "heap_size_bytes"],
        ["blocks_size", "blocks in use", "--c-blocks"], ["live", "live data", "--c-live", "live_bytes"]], isLast = r.to >= t.eventTime;
    const cuts = parts.map(([name]) => points(t, name, r)), { x, ys } = join(cuts);
    const lines = parts.map(([id, label, color, last], i) => line(id, label, css(color), ys[i]!, { gaps: cuts[i]!.gaps, last: isLast && last ? t.number(last) : undefined, kind: id === "live" ? "area" : id === "heap_size" ? "step" : "line" }))
        .filter((_, i) => cuts[i]!.t.length);
    const [limit, , what] = t.answers?.limit ?? [], max = Math.max(...cuts.flatMap((c) => c.v), 0);
    if (limit && x.length && limit <= LIMIT_SHOWN * max) {
        lines.push(line("limit", `limit (${what})`, css("--bad"), x.map(() => limit), { dash: true }));
    }
    return { x, lines };
}

const NAMES = ["live data", "slop and copy reserve", "kept by the runtime", "given back", "files", "foreign"];
const COLOURS = ["--c-live", "--c-reserve", "--c-kept", "--c-given", "--c-files", "--c-foreign"];

// The parts of RSS, stacked; what is not known of it is the top layer. Parts are sampled together.
export function residentLines(t: Target, r: Span): { x: number[]; lines: Line[] } {
    const cuts = [...PARTS, "rss"].map((name) => points(t, name, r)), { x, ys } = join(cuts);
    const known = x.map((_, i) => PARTS.some((_, k) => ys[k]![i] !== null)), times = x.filter((_, i) => known[i]);
    const at = (k: number) => bridge(times, ys[k]!.filter((_, i) => known[i])), rss = at(PARTS.length);
    const lines = PARTS.map((id, k) => line(id, NAMES[k]!, css(COLOURS[k]!), at(k), { gaps: cuts[k]!.gaps }));
    const rest = rss.map((all, i) => (all === null ? 0 : Math.max(0, lines.reduce((left, l) => left - (l.values[i] ?? 0), all))));
    const shown = lines.filter((l) => l.values.some((v) => v !== null));
    if (rest.some((v, i) => v > 0.01 * (rss[i] ?? 0))) shown.push(line("unknown", "not known", css("--c-unknown"), rest));
    return { x: times, lines: shown };
}

// The parts of RSS now, each compared with the mark.
export function residentSince(t: Target, mark: number): Fact[] {
    return [...PARTS, "rss"].map((id, k): [string, Series | undefined] => [NAMES[k] ?? "resident", t.series.get(id)])
        .filter(([, s]) => s?.newest !== undefined)
        .map(([name, s]) => ({ name, value: `${bytes(s!.newest)}, ${signedBytes(s!.gained(mark))} since the mark`, hint: "unknown without a sample by the mark and one after it" }));
}
