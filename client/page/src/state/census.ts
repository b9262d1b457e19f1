// SPDX-License-Identifier: BSD-3-Clause
/*
 * census.ts - the censuses of a run: one grid of times, a total for each, and one column of bytes per band.
 *
 * DESIGN: a census is whole, so a band without a row in it held 0 bytes. What came before the page's first census is known only
 * for the bands whose history was requested, and only at the times that their histories have; elsewhere it is NaN: unknown, not 0,
 * and never interpolated. A history's times are those of censuses, the same for the total (band 0) and all bands of one answer; of
 * two answers one may be coarser. So to add bands up, take the times at which all of them are known: common(). All columns share the
 * grid, so a stack is a sum by index. At the bound, of each four older censuses the one with the least and the one with the greatest
 * total are kept: whole censuses, never mixtures.
 *
 * Bound: CELLS numbers over all bands; at least MIN_CENSUSES, at most MAX_CENSUSES censuses.
 */
import type { HistoryItem } from "./wire.ts";

const CELLS = 6_000_000; // 48 MB
const MIN_CENSUSES = 192;
const MAX_CENSUSES = 2048;
const SEED_MAX = 4096; // grid times taken from history, at most; fewer for many bands

export class Censuses {
    times: number[] = [];
    totals: number[] = [];
    numbers: number[] = []; // 0: from history
    columns = new Map<number, number[]>(); // of each band; 0 beyond its end
    born = new Map<number, number>(); // when a band was first seen, where that is known: it held nothing before
    change = 0; // rises with each change
    private seeded = new Set<number>();
    private past: HistoryItem[] = []; // history as received, to rebuild the grid when more comes
    private live = 0; // index of the first census that came as a message

    get n(): number {
        return this.times.length;
    }

    bound(): number {
        const fit = Math.floor(CELLS / Math.max(1, this.columns.size));
        return Math.min(MAX_CENSUSES, Math.max(MIN_CENSUSES, fit));
    }

    // A census from a message. One that repeats or is older than the newest is ignored.
    push(number: number, t: number, total: number, bands: number[], bytes: ArrayLike<number>): void {
        const last = this.n - 1;
        if (last >= 0 && (this.numbers[last]! >= number || this.times[last]! >= t)) {
            if (this.numbers[last]! > 0 || this.times[last]! > t) return;
            this.cut(last); // the same moment, from history: the message is exact
        }
        if (this.n >= this.bound()) this.thin();
        this.change++;
        const at = this.n;
        this.times.push(t);
        this.totals.push(total);
        this.numbers.push(number);
        for (const c of this.columns.values()) c[at] = 0;
        for (let i = 0; i < bands.length; i++) this.column(bands[i]!)[at] = bytes[i]!;
    }

    bytes(band: number, i: number): number {
        const c = this.columns.get(band), v = c ? c[i] ?? 0 : i < this.live ? NaN : 0;
        return Number.isNaN(v) && this.times[i]! < (this.born.get(band) ?? 0) ? 0 : v;
    }

    // At most as many as there are times: a range chosen on an older grid may reach beyond this one.
    values(band: number, from: number, to: number): number[] {
        return Array.from({ length: Math.max(0, Math.min(to, this.n) - from) }, (_, i) => this.bytes(band, from + i));
    }

    // Those of the censuses from .. to - 1 at which the total and all these bands are known.
    common(bands: number[], from: number, to: number): number[] {
        const out: number[] = [];
        for (let i = from; i < Math.min(to, this.n); i++) {
            if (!Number.isNaN(this.totals[i]!) && bands.every((b) => !Number.isNaN(this.bytes(b, i)))) out.push(i);
        }
        return out;
    }

    // Whether a band is known at some of these censuses before the first message, if the total is.
    whole(band: number, from: number, to: number): boolean {
        const end = Math.min(to, this.live);
        if (from >= end || this.seeded.has(band)) return true;
        for (let i = from; i < end; i++) if (!Number.isNaN(this.totals[i]!) && Number.isNaN(this.bytes(band, i))) return false;
        return true;
    }

    hasPast(band: number): boolean {
        return this.seeded.has(band);
    }

    // The server's history of the time before the first census here. May come in parts; `again`: replaces earlier parts.
    seed(items: HistoryItem[], again = false): void {
        if (again) {
            this.seeded.clear();
            this.past = [];
        }
        const mine = this.live;
        this.change++;
        const old = new Set(this.past.map((p) => p.band));
        for (const item of items) {
            if (!item.times || item.band === undefined || (item.band ? this.seeded : old).has(item.band)) continue;
            if (item.band) this.seeded.add(item.band);
            if (item.times.length) this.past.push(item);
        }
        const first = mine < this.n ? this.times[mine]! : Infinity;
        const bands = this.past.length + this.columns.size;
        this.rebuild(grid(this.past, first, Math.min(SEED_MAX, Math.max(MIN_CENSUSES, Math.floor(CELLS / bands)))), mine);
    }

    private rebuild(times: number[], mine: number): void {
        const keep = { t: this.times.slice(mine), total: this.totals.slice(mine), number: this.numbers.slice(mine) };
        const before = new Map(this.past.map((item) => [item.band!, placed([item], times)])), unknown = times.map(() => NaN);
        before.delete(0);
        for (const band of [...this.columns.keys(), ...[...before.keys()].filter((b) => !this.columns.has(b))]) {
            this.columns.set(band, [...(before.get(band) ?? unknown), ...(this.columns.get(band) ?? []).slice(mine)]);
        }
        const totals = placed(this.past.filter((p) => p.band === 0), times);
        this.times = [...times, ...keep.t];
        this.totals = [...totals, ...keep.total];
        this.numbers = [...times.map(() => 0), ...keep.number];
        this.live = times.length;
    }

    private column(band: number): number[] {
        let c = this.columns.get(band);
        if (!c) this.columns.set(band, (c = Array.from({ length: this.n }, (_, i) => (i < this.live && !this.seeded.has(band) ? NaN : 0))));
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
        for (const [band, c] of this.columns) this.columns.set(band, stay.map((i) => c[i] ?? 0));
        this.times = stay.map((i) => this.times[i]!);
        this.totals = stay.map((i) => this.totals[i]!);
        this.numbers = stay.map((i) => this.numbers[i]!);
        if (this.past.length) this.past = []; // coarser now than requested: later parts are not merged in
    }
}

// The times of the last censuses of all points before `first`, at most `max` of them: of each interval those with the least and the
// greatest total.
function grid(items: HistoryItem[], first: number, max: number): number[] {
    const all = [...new Set(items.flatMap(ends))].filter((t) => t < first).sort((a, b) => a - b);
    if (all.length <= max) return all;
    const step = Math.ceil((2 * all.length) / max), totals = placed(items.filter((i) => i.band === 0), all), out: number[] = [];
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

// The time of each point's last census, to which `last` belongs.
const ends = (item: HistoryItem): number[] => item.ends ?? item.times ?? [];

// What is known of one band at these times; NaN where no point ends.
function placed(items: HistoryItem[], times: number[]): number[] {
    const at = new Map<number, number>();
    for (const item of items) ends(item).forEach((t, i) => at.set(t, item.last?.[i] ?? NaN));
    return times.map((t) => at.get(t) ?? NaN);
}
