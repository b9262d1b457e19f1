// SPDX-License-Identifier: BSD-3-Clause
/*
 * column.ts - one band's bytes, census by census. Nothing is known of it, and no memory used, before census number `base`: of a
 * thousand bands a few dozen have a history.
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

    // Renumbers its censuses: `from` becomes `to`; those before are forgotten.
    move(from: number, to: number): void {
        if (this.base < from) this.v = this.v.slice(from - this.base);
        this.base = Math.max(this.base, from) - from + to;
    }

    // What it held before its base, from the first census on.
    prepend(past: number[]): void {
        this.v = past.slice(0, this.base).concat(this.v);
        this.base = 0;
    }

    // Keeps only the censuses `stay`, which are in rising order.
    thin(stay: number[]): void {
        const before = stay.findIndex((i) => i >= this.base), first = before < 0 ? stay.length : before;
        this.v = stay.slice(first).map((i) => this.at(i));
        this.base = first;
    }
}
