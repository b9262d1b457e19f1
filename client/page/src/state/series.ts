// SPDX-License-Identifier: BSD-3-Clause
/*
 * series.ts - one number over time, in bounded memory.
 *
 * DESIGN: two growing columns of doubles, times in seconds, rising. When the bound is met the older half is thinned: of each
 * four points the least and the greatest stay, in their order. So the newest points are whole, older ones grow coarser with
 * age, and no extreme is lost. A point that comes out of order is put in its place if that is near the end.
 */

const FIRST = 64;
const LATE_MAX = 256; // a point more than this many places late is left out

export class Series {
    t = new Float64Array(FIRST);
    v = new Float64Array(FIRST);
    n = 0;
    thinned = false;
    private own: number | undefined; // time of the first point that did not come by prepend()

    constructor(readonly capacity = 8192) {}

    get newest(): number | undefined {
        return this.n ? this.v[this.n - 1] : undefined;
    }

    push(t: number, v: number): void {
        if (!Number.isFinite(t) || !Number.isFinite(v)) return;
        if (this.n === this.capacity) this.thin();
        if (this.n === this.t.length) this.grow();
        let at = this.n;
        while (at > 0 && this.t[at - 1]! > t) at--;
        if (this.n - at > LATE_MAX) return;
        if (at > 0 && this.t[at - 1] === t && this.v[at - 1] === v) return; // told twice
        if (at < this.n) {
            this.t.copyWithin(at + 1, at, this.n);
            this.v.copyWithin(at + 1, at, this.n);
        }
        this.t[at] = t;
        this.v[at] = v;
        this.n++;
    }

    // Puts older points before those that came by themselves; both rise in time. Points not older than the first of those are left
    // out. What an earlier call put there is replaced: the past may come coarse at first.
    prepend(t: ArrayLike<number>, v: ArrayLike<number>): void {
        this.own ??= this.n ? this.t[0]! : undefined;
        const from = this.own === undefined ? this.n : this.at(this.own);
        const mine = { t: this.t.slice(from, this.n), v: this.v.slice(from, this.n) };
        this.n = 0;
        for (let i = 0; i < t.length && t[i]! < (this.own ?? Infinity); i++) this.push(t[i]!, v[i]!);
        if (this.own === undefined && this.n) this.own = this.t[this.n - 1]! + 1e-9; // what comes from now on
        for (let i = 0; i < mine.t.length; i++) this.push(mine.t[i]!, mine.v[i]!);
    }

    // Index of the first point at or after t.
    at(t: number): number {
        return lowerBound(this.t, this.n, t);
    }

    private grow(): void {
        const size = Math.min(this.capacity, this.t.length * 2);
        const t = new Float64Array(size), v = new Float64Array(size);
        t.set(this.t.subarray(0, this.n));
        v.set(this.v.subarray(0, this.n));
        this.t = t;
        this.v = v;
    }

    private thin(): void {
        const half = (this.n >> 3) << 2;
        let to = 0;
        for (let i = 0; i < half; i += 4) {
            let low = i, high = i;
            for (let j = i + 1; j < i + 4; j++) {
                if (this.v[j]! < this.v[low]!) low = j;
                if (this.v[j]! >= this.v[high]!) high = j;
            }
            for (const j of low < high ? [low, high] : [high, low]) {
                this.t[to] = this.t[j]!;
                this.v[to++] = this.v[j]!;
            }
        }
        this.t.copyWithin(to, half, this.n);
        this.v.copyWithin(to, half, this.n);
        this.n -= half - to;
        this.thinned = true;
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
}

// The points within [from, to] and one beyond each end, at most about `max`: of each stretch the least and the greatest.
export function window(s: { t: ArrayLike<number>; v: ArrayLike<number>; n: number }, from: number, to: number,
    max: number): Points {
    const first = Math.max(0, lowerBound(s.t, s.n, from) - 1);
    const end = Math.min(s.n, lowerBound(s.t, s.n, to) + 1);
    const out: Points = { t: [], v: [] };
    const count = end - first;
    const step = Math.max(1, Math.ceil((count * 2) / max));
    for (let i = first; i < end; i += step) {
        let low = i, high = i;
        const stop = Math.min(end, i + step);
        for (let j = i + 1; j < stop; j++) {
            if (s.v[j]! < s.v[low]!) low = j;
            if (s.v[j]! >= s.v[high]!) high = j;
        }
        for (const j of low === high ? [low] : low < high ? [low, high] : [high, low]) {
            out.t.push(s.t[j]!);
            out.v.push(s.v[j]!);
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
