// SPDX-License-Identifier: BSD-3-Clause
/*
 * census.ts - the censuses of a run: one grid of times, a total for each, and one column of bytes per band.
 *
 * DESIGN: a census is whole, so a band without a row in it held 0 bytes. What came before the page's first census is known only
 * for the bands whose history was asked for; elsewhere it is NaN: unknown, not 0. All columns share the grid, so a stack is a
 * sum by index. When the bound is met, of each four older censuses the one with the least and the one with the greatest total
 * stay: whole censuses, never mixtures.
 *
 * Bound: CELLS numbers over all bands; at least MIN_CENSUSES, at most MAX_CENSUSES censuses.
 */
import { Column } from "./column.ts";
import type { HistoryItem } from "./wire.ts";

const CELLS = 6_000_000; // 48 MB
const MIN_CENSUSES = 192;
const MAX_CENSUSES = 2048;
const SEED_MAX = 4096; // grid times taken from history, at most; fewer for many bands

export class Censuses {
    times: number[] = [];
    totals: number[] = [];
    numbers: number[] = []; // 0: from history
    columns = new Map<number, Column>();
    change = 0; // rises with each change
    private seeded = new Set<number>();
    private past: HistoryItem[] = []; // history as it came, to build the grid again when more comes
    private live = 0; // index of the first census that came whole

    get n(): number {
        return this.times.length;
    }

    bound(): number {
        const fit = Math.floor(CELLS / Math.max(1, this.columns.size));
        return Math.min(MAX_CENSUSES, Math.max(MIN_CENSUSES, fit));
    }

    // A census that came whole. One that repeats or is older than the newest is left out.
    push(number: number, t: number, total: number, bands: number[], bytes: ArrayLike<number>): void {
        const last = this.n - 1;
        if (last >= 0 && (this.numbers[last]! >= number || this.times[last]! >= t)) {
            if (this.numbers[last]! > 0 || this.times[last]! > t) return;
            this.cut(last); // the same moment, from history: the census itself is exact
        }
        if (this.n >= this.bound()) this.thin();
        this.change++;
        const at = this.n;
        this.times.push(t);
        this.totals.push(total);
        this.numbers.push(number);
        for (const c of this.columns.values()) c.set(at, 0);
        for (let i = 0; i < bands.length; i++) this.column(bands[i]!).set(at, bytes[i]!);
    }

    bytes(band: number, i: number): number {
        return this.columns.get(band)?.at(i) ?? (i < this.live ? NaN : 0);
    }

    // As many as there are times: a range that was chosen of an older grid may reach beyond this one.
    values(band: number, from: number, to: number): number[] {
        return Array.from({ length: Math.max(0, Math.min(to, this.n) - from) }, (_, i) => this.bytes(band, from + i));
    }

    hasPast(band: number): boolean {
        return this.seeded.has(band);
    }

    // What the server knows of the time before the first census here. May come in parts; `again`: instead of what came before.
    seed(items: HistoryItem[], again = false): void {
        if (again) {
            this.seeded.clear();
            this.past = [];
        }
        const mine = this.live;
        this.change++;
        for (const item of items) {
            if (!item.times) continue;
            if (item.band !== undefined) {
                if (this.seeded.has(item.band)) continue;
                this.seeded.add(item.band);
            } else if (this.past.some((p) => p.series === item.series)) continue;
            if (item.times.length) this.past.push(item);
        }
        const first = mine < this.n ? this.times[mine]! : Infinity;
        const bands = this.past.length + this.columns.size;
        this.rebuild(grid(this.past, first, Math.min(SEED_MAX, Math.max(MIN_CENSUSES, Math.floor(CELLS / bands)))), mine);
    }

    private rebuild(times: number[], mine: number): void {
        const keep = { t: this.times.slice(mine), total: this.totals.slice(mine), number: this.numbers.slice(mine) };
        const total = this.past.find((p) => p.series === "census_total");
        for (const c of this.columns.values()) c.move(mine, times.length);
        for (const item of this.past) {
            if (item.band === undefined) continue;
            const c = this.columns.get(item.band) ?? new Column(times.length);
            c.prepend(spread(item, times));
            this.columns.set(item.band, c);
        }
        const totals = new Float64Array(times.length).fill(NaN);
        if (total) spreadTotal(total, times, totals);
        this.times = [...times, ...keep.t];
        this.totals = [...totals, ...keep.total];
        this.numbers = [...times.map(() => 0), ...keep.number];
        this.live = times.length;
    }

    private column(band: number): Column {
        let c = this.columns.get(band);
        if (!c) this.columns.set(band, (c = new Column(this.seeded.has(band) ? 0 : this.live)));
        return c;
    }

    private cut(n: number): void {
        this.times.length = this.totals.length = this.numbers.length = n;
        this.live = Math.min(this.live, n);
    }

    private thin(): void {
        const half = (this.n >> 3) << 2;
        const stay: number[] = [];
        for (let i = 0; i < half; i += 4) {
            let low = i, high = i;
            for (let j = i + 1; j < i + 4; j++) {
                if (this.totals[j]! < this.totals[low]!) low = j;
                if (this.totals[j]! > this.totals[high]!) high = j;
            }
            if (low === high) high = i + 3; // all alike, or unknown
            if (low === high) low = i;
            stay.push(Math.min(low, high), Math.max(low, high));
        }
        this.live = stay.filter((i) => i < this.live).length + Math.max(0, this.live - half);
        for (let i = half; i < this.n; i++) stay.push(i);
        for (const c of this.columns.values()) c.thin(stay);
        this.times = stay.map((i) => this.times[i]!);
        this.totals = stay.map((i) => this.totals[i]!);
        this.numbers = stay.map((i) => this.numbers[i]!);
        if (this.past.length) this.past = []; // coarser now than what was asked for: what comes later is not merged in
    }
}

// The times of all bands before `first`, at most `max` of them: of each stretch those with the least and the greatest total. The total comes in buckets whose start is before the census
// that they stand for: its times would add moments at which only the total had grown.
function grid(items: HistoryItem[], first: number, max: number): number[] {
    const bands = items.filter((i) => i.band !== undefined);
    const all = [...new Set((bands.length ? bands : items).flatMap((i) => i.times ?? []))].filter((t) => t < first).sort((a, b) => a - b);
    const total = items.find((i) => i.series === "census_total") ?? bands[0];
    if (all.length <= max || !total) return all;
    const step = Math.ceil((2 * all.length) / max), totals = spread(total, all), out: number[] = [];
    for (let i = 0; i < all.length; i += step) {
        let low = i, high = i;
        for (let j = i; j < Math.min(all.length, i + step); j++) {
            if (totals[j]! < totals[low]!) low = j;
            if (totals[j]! > totals[high]!) high = j;
        }
        out.push(...new Set([all[Math.min(low, high)]!, all[Math.max(low, high)]!]));
    }
    return out;
}

// The total onto the grid. A point may be a bucket of several censuses whose value is that of its last one: it is set at the last
// grid time within the bucket, and a straight line leads from one to the next.
function spreadTotal(item: HistoryItem, times: number[], out: Float64Array): void {
    const t = item.times ?? [], v = item.last ?? [];
    let i = 0, anchor = -1;
    for (let j = 0; j < t.length; j++) {
        const end = j + 1 < t.length ? t[j + 1]! : Infinity, from = i;
        while (i < times.length && times[i]! < end) i++;
        if (i === from || times[i - 1]! < t[j]!) continue;
        const at = i - 1;
        for (let k = anchor + 1; anchor >= 0 && k < at; k++) {
            out[k] = out[anchor]! + ((v[j]! - out[anchor]!) * (times[k]! - times[anchor]!)) / (times[at]! - times[anchor]!);
        }
        out[at] = v[j]!;
        anchor = at;
    }
}

// A band's own points onto the grid: the newest point at or before each time; 0 before the first one.
function spread(item: HistoryItem, times: number[]): number[] {
    const t = item.times ?? [], v = item.mean ?? item.last ?? [];
    let j = -1;
    return times.map((at) => {
        while (j + 1 < t.length && t[j + 1]! <= at) j++;
        return j < 0 ? 0 : v[j]!;
    });
}
