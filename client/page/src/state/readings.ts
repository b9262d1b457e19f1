// SPDX-License-Identifier: BSD-3-Clause
/*
 * readings.ts - what was read of a run before what is shown now, to compare the two.
 */
export class Readings<T> {
    before: T | undefined; // of the same run
    since: number | undefined; // s between the two
    private last: { of: string; at: number; found: T } | undefined;

    // `of`: which run; `at`: when it was read, Unix seconds. True: it is a new one.
    take(of: string, at: number | undefined, found: T | undefined): boolean {
        if (found === undefined || at === undefined || (this.last?.of === of && this.last.at === at)) return false;
        const last = this.last?.of === of ? this.last : undefined;
        this.before = last?.found;
        this.since = last && at - last.at;
        this.last = { of, at, found };
        return true;
    }
}

// What each has gained since an earlier reading of the same run: what was not there had nothing. Those with one key are compared together.
export function setGained<T extends { gained?: number }>(now: T[], before: T[], key: (x: T) => string, amount: (x: T) => number): void {
    const sums = (all: T[]) => all.reduce((m, x) => m.set(key(x), (m.get(key(x)) ?? 0) + amount(x)), new Map<string, number>());
    const had = sums(before), has = sums(now);
    for (const x of now) x.gained = has.get(key(x))! - (had.get(key(x)) ?? 0);
}
