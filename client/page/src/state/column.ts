// SPDX-License-Identifier: BSD-3-Clause
/*
 * column.ts - one band's bytes, census by census. Nothing is known of it before census number `base`, and nothing is kept of that: of a
 * thousand bands a few dozen have a past.
 */
export class Column {
    v: number[] = []; // of censuses base, base + 1, …; 0 beyond its end

    constructor(public base: number) {}

    at(i: number): number {
        return i < this.base ? NaN : this.v[i - this.base] ?? 0;
    }

    set(i: number, bytes: number): void {
        while (this.v.length < i - this.base) this.v.push(0);
        this.v[i - this.base] = bytes;
    }

    // Its censuses from `from` on are now those from `to` on; those before are forgotten.
    move(from: number, to: number): void {
        if (this.base < from) this.v = this.v.slice(from - this.base);
        this.base = Math.max(this.base, from) - from + to;
    }

    // What it held before its base, from the first census on.
    prepend(past: number[]): void {
        this.v = past.slice(0, this.base).concat(this.v);
        this.base = 0;
    }

    // Only the censuses `stay` are left; their numbers rise.
    thin(stay: number[]): void {
        const before = stay.findIndex((i) => i >= this.base), first = before < 0 ? stay.length : before;
        this.v = stay.slice(first).map((i) => this.at(i));
        this.base = first;
    }
}
