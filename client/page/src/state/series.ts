// SPDX-License-Identifier: BSD-3-Clause
/*
 * series.ts - one number over time, in bounded memory: the server's history, then the samples of messages. Mirrors
 * client/world/history/past.c.
 *
 * DESIGN: growing columns of doubles, a row for each point, rising in time. A point is one sample or many: the last one and its time,
 * least, greatest, mean, how many. At the bound, the older half of the longest run of points with about as many samples each is merged
 * in pairs: the older, the coarser; the newest samples are single, and no extreme is lost. A late sample is inserted in its place if
 * that is near the end; a repeated one is ignored.
 */
import type { HistoryItem } from "./wire.ts";

const FIRST = 64;
const LATE_MAX = 256; // a sample more than this many places late is ignored
const COLUMNS = ["from", "t", "v", "min", "max", "mean", "count"] as const;
type Name = (typeof COLUMNS)[number];

export class Series {
    from = new Float64Array(FIRST); // seconds: where a point begins
    t = new Float64Array(FIRST); // its last sample
    v = new Float64Array(FIRST); // that one's value
    min = new Float64Array(FIRST);
    max = new Float64Array(FIRST);
    mean = new Float64Array(FIRST);
    count = new Float64Array(FIRST);
    n = 0;
    private own: number | undefined; // time of the first sample from a message
    private remembers = false;

    constructor(readonly capacity = 8192) {}

    get newest(): number | undefined {
        return this.n ? this.v[this.n - 1] : undefined;
    }

    push(t: number, v: number): void {
        if (!Number.isFinite(t) || !Number.isFinite(v)) return;
        if (this.own === undefined) this.n = this.at(t); // drops what the history has from its time on
        else if (t < this.own && this.remembers) return; // it is in the history
        this.own = Math.min(this.own ?? t, t);
        while (this.n >= this.capacity) this.fade();
        let at = this.n;
        while (at > 0 && this.t[at - 1]! > t) at--;
        if (this.n - at > LATE_MAX) return;
        if (at > 0 && this.t[at - 1] === t && this.v[at - 1] === v) return;
        if (at < this.n && this.from[at]! <= t) return this.into(at, v);
        this.room(this.n + 1);
        this.each((c) => c.copyWithin(at + 1, at, this.n));
        this.set(at, { from: t, t, v, min: v, max: v, mean: v, count: 1 });
        this.n++;
    }

    // The server's history, which replaces an earlier one and ends where the samples of messages begin: no sample is there twice. It
    // may come coarse at first.
    remember(item: HistoryItem): void {
        this.remembers = true;
        const times = item.times ?? [], ends = item.ends ?? times, last = item.last ?? [];
        const keep = this.own === undefined ? this.n : lowerBound(this.t, this.n, this.own);
        let n = times.length;
        while (n > 0 && (ends[n - 1]! >= (keep < this.n ? this.from[keep]! : Infinity))) n--;
        this.room(n + this.n - keep);
        this.each((c) => c.copyWithin(n, keep, this.n));
        for (let i = 0; i < n; i++) {
            const v = last[i]!;
            this.set(i, { from: times[i]!, t: ends[i]!, v, min: item.min?.[i] ?? v, max: item.max?.[i] ?? v, mean: item.mean?.[i] ?? v,
                count: item.count?.[i] ?? 1 });
        }
        this.n += n - keep;
        while (this.n > this.capacity) this.fade();
    }

    // What was gained since `t`: the newest sample, compared with the last one by then; nothing without both.
    gained(t: number): number | undefined {
        const i = this.at(t + 1e-9) - 1;
        return i < 0 || i === this.n - 1 ? undefined : this.v[this.n - 1]! - this.v[i]!;
    }

    // Index of the first point at or after t.
    at(t: number): number {
        return lowerBound(this.t, this.n, t);
    }

    private each(f: (c: Float64Array, name: Name) => void): void {
        for (const name of COLUMNS) f(this[name], name);
    }

    private set(i: number, row: Record<Name, number>): void {
        this.each((c, name) => (c[i] = row[name]));
    }

    private room(n: number): void {
        if (n <= this.t.length) return;
        const size = Math.max(n, this.t.length * 2);
        this.each((c, name) => {
            this[name] = new Float64Array(size);
            this[name].set(c.subarray(0, this.n));
        });
    }

    // Adds a late sample to a wide point, of which it is not the last.
    private into(i: number, v: number): void {
        this.count[i]!++;
        this.mean[i]! += (v - this.mean[i]!) / this.count[i]!;
        this.min[i] = Math.min(this.min[i]!, v);
        this.max[i] = Math.max(this.max[i]!, v);
    }

    // Merges point j into i, which is before it; the result is at `to`.
    private merge(to: number, i: number, j: number): void {
        const count = this.count[i]! + this.count[j]!;
        this.set(to, { from: this.from[i]!, t: this.t[j]!, v: this.v[j]!, min: Math.min(this.min[i]!, this.min[j]!),
            max: Math.max(this.max[i]!, this.max[j]!), mean: this.mean[i]! + ((this.mean[j]! - this.mean[i]!) * this.count[j]!) / count, count });
    }

    private fade(): void {
        const level = (i: number) => Math.floor(Math.log2(this.count[i]!));
        let best = 0, length = 0;
        for (let i = 0, run = 0; i < this.n; i++) {
            run = i > 0 && level(i) === level(i - 1) ? run + 1 : 1;
            if (run > length) [length, best] = [run, i + 1 - run];
        }
        const from = length < 2 ? 0 : best, m = length < 4 ? 2 : Math.floor(length / 4) * 2;
        for (let i = 0; i < m; i += 2) this.merge(from + i / 2, from + i, from + i + 1);
        this.each((c) => c.copyWithin(from + m / 2, from + m, this.n));
        this.n -= m / 2;
    }
}

export function lowerBound(t: ArrayLike<number>, n: number, x: number): number {
    let low = 0, high = n;
    while (low < high) {
        const mid = (low + high) >> 1;
        if (t[mid]! < x) low = mid + 1;
        else high = mid;
    }
    return low;
}

export interface Points {
    t: number[];
    v: number[];
    gaps?: Gap[]; // over which no line is drawn
}

export type Gap = [number, number]; // seconds, from and to

// The points within [from, to] and one beyond each end, at most about `max`: of each interval the least and the greatest. A point of
// many samples is shown at its last one's time, and its other extremes in the middle before that.
export function window(s: Series, from: number, to: number, max: number): Points {
    return thinned(corners(s, Math.max(0, s.at(from) - 1), Math.min(s.n, s.at(to) + 1)), max);
}

function corners(s: Series, first: number, end: number): Points {
    const out: Points = { t: [], v: [] };
    for (let i = first; i < end; i++) {
        const v = s.v[i]!, low = s.min[i]!, high = s.max[i]!, before = Math.max(s.from[i]!, i ? s.t[i - 1]! : -Infinity);
        if (low < high && s.t[i]! > before) {
            out.t.push(before + (s.t[i]! - before) / 2);
            out.v.push(v - low >= high - v ? low : high);
        }
        out.t.push(s.t[i]!);
        out.v.push(v);
    }
    return out;
}

// At most about `max` points: of each interval the least and the greatest.
export function thinned(p: Points, max: number): Points {
    const out: Points = { t: [], v: [] }, n = p.t.length, step = Math.ceil((n * 2) / max);
    if (step <= 1) return p;
    for (let i = 0; i < n; i += step) {
        let low = i, high = i;
        for (let j = i + 1; j < Math.min(n, i + step); j++) {
            if (p.v[j]! < p.v[low]!) low = j;
            if (p.v[j]! >= p.v[high]!) high = j;
        }
        for (const j of low === high ? [low] : low < high ? [low, high] : [high, low]) {
            out.t.push(p.t[j]!);
            out.v.push(p.v[j]!);
        }
    }
    return out;
}

// The greatest of equal parts of time, where it was: what is drawn of pauses. A part is as wide as the widest point of the range, so that
// the coarse past and the fine present are one drawing.
export function peaks(s: Series, from: number, to: number, max: number): Points {
    const out: Points = { t: [], v: [] }, end = s.at(to);
    let width = (to - from) / max, last = -Infinity;
    for (let i = s.at(from); i < end; i++) width = Math.max(width, s.t[i]! - s.from[i]!);
    for (let i = s.at(from); i < end; i++) {
        const part = Math.floor(s.t[i]! / width), n = out.v.length - 1;
        if (part === last && s.max[i]! <= out.v[n]!) continue;
        const at = part === last ? n : n + 1;
        out.t[at] = s.max[i] === s.v[i] ? s.t[i]! : (s.from[i]! + s.t[i]!) / 2;
        out.v[at] = s.max[i]!;
        last = part;
    }
    return out;
}

// All samples added up, in `bins` equal parts of [from, to]; a point's sum is spread evenly over it.
export function sums(s: Series, from: number, to: number, bins: number): number[] {
    const out = new Array<number>(bins).fill(0), width = (to - from) / bins;
    const place = (t: number) => Math.min(bins - 1, Math.floor((t - from) / width));
    for (let i = Math.max(0, s.at(from)); i < s.n && s.from[i]! < to; i++) {
        const sum = s.mean[i]! * s.count[i]!, a = s.from[i]!, b = s.t[i]!;
        if (!(b > a)) {
            if (a >= from && a < to) out[place(a)]! += sum;
            continue;
        }
        for (let k = place(Math.max(a, from)); k <= place(Math.min(b, to)); k++) {
            const inside = Math.min(b, from + (k + 1) * width) - Math.max(a, from + k * width);
            if (inside > 0) out[k]! += (sum * inside) / (b - a);
        }
    }
    return out;
}

// Series with times of their own on one axis: a union of all times, null where a series has no point.
export function join(all: Points[]): { x: number[]; ys: (number | null)[][] } {
    const x = [...new Set(all.flatMap((p) => p.t))].sort((a, b) => a - b);
    const place = new Map(x.map((t, i) => [t, i]));
    const ys = all.map((p) => {
        const column: (number | null)[] = new Array<number | null>(x.length).fill(null);
        p.t.forEach((t, i) => (column[place.get(t)!] = p.v[i]!));
        return column;
    });
    return { x, ys };
}

const POINTS_OF_A_BIN = 3; // at most: least, most, last

// Series that are sampled together have different points where they are kept in bins: one that stands still has a single one. What is
// null between points for no longer than a bin lies on the line between them; a layer that is missing there would be drawn as 0.
export function bridge(x: number[], values: (number | null)[]): (number | null)[] {
    const out = [...values];
    for (let i = 0; i < out.length; i++) {
        if (out[i] !== null) continue;
        let end = i;
        while (end < out.length && out[end] === null) end++;
        const before = i > 0 ? out[i - 1]! : out[end], after = end < out.length ? out[end]! : before;
        if (before !== undefined && before !== null && end - i <= POINTS_OF_A_BIN) {
            const from = i > 0 ? x[i - 1]! : x[end]!, span = (end < out.length ? x[end]! : from) - from;
            for (let k = i; k < end; k++) out[k] = span > 0 ? before + ((after as number) - before) * ((x[k]! - from) / span) : before;
        }
        i = end;
    }
    return out;
}

// When there were samples from one time up to another, as densely everywhere as where the points are widest: marks that begin to be
// denser where this page was opened would look like an event.
export function moments(s: Series, from: number, to: number): number[] {
    const first = s.at(from), end = s.at(to), out: number[] = [];
    let step = 0;
    for (let i = first; i < end; i++) step = Math.max(step, Math.ceil(s.t[i]! - s.from[i]!));
    const same = (a: number, b: number) => step > 0 && Math.floor(a / step) === Math.floor(b / step);
    for (let i = first; i < end; i++) if (i + 1 === end || !same(s.t[i]!, s.t[i + 1]!)) out.push(s.t[i]!);
    return out;
}
