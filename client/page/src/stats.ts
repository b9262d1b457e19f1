// SPDX-License-Identifier: BSD-3-Clause
/*
 * stats.ts - statistics of a band over the censuses that are shown. Definitions as in docs/WEB.md ("Statistics of a whole
 * run"), over the shown range; unknown values (NaN) are left out.
 */

export interface Stats {
    n: number; // censuses counted
    integrated: number; // bytes times seconds
    sum: number;
    mean: number;
    stddev: number;
    max: number;
    first: number;
    last: number;
    slopeBps?: number; // least squares, bytes per second
    interceptBytes?: number; // of the same line at event time 0
    slope?: number; // of bytes / max on time / newest time: eventlog2html's
    intercept?: number;
    fit?: number; // R²
    interval?: number; // half width of the slope's 95 % interval, bytes per second, as if errors were independent
}

// t rises; beyond its end v is 0.
export function stats(t: ArrayLike<number>, v: ArrayLike<number>, from: number, to: number): Stats | undefined {
    let n = 0, sum = 0, squares = 0, max = 0, integrated = 0, first = NaN, last = NaN;
    let mt = 0, mv = 0, ctt = 0, ctv = 0, cvv = 0;
    for (let i = from; i < to; i++) {
        const y = v[i] ?? 0;
        if (Number.isNaN(y)) continue;
        const x = t[i]!;
        n++;
        sum += y;
        squares += y * y;
        max = Math.max(max, y);
        if (n === 1) first = y;
        last = y;
        const width = i + 1 < to ? t[i + 1]! - x : i > from ? x - t[i - 1]! : 0;
        integrated += y * width;
        const dt = x - mt, dv = y - mv; // co-moments by their updates: no sum of squares loses its digits
        mt += dt / n;
        mv += dv / n;
        ctt += dt * (x - mt);
        ctv += dt * (y - mv);
        cvv += dv * (y - mv);
    }
    if (!n) return undefined;
    const s: Stats = { n, integrated, sum, mean: sum / n, max, first, last, stddev: Math.sqrt(Math.max(0, n * squares - sum * sum)) / n };
    const newest = t[to - 1]!;
    if (n >= 2 && ctt > 0) {
        s.slopeBps = ctv / ctt;
        s.interceptBytes = mv - s.slopeBps * mt;
        if (cvv > 0 && newest > 0) { // equal values have no fit
            s.fit = (ctv * ctv) / (ctt * cvv);
            s.slope = (s.slopeBps * newest) / max;
            s.intercept = s.interceptBytes / max;
        }
        if (n >= 3) s.interval = 1.96 * Math.sqrt(Math.max(0, cvv - s.slopeBps * ctv) / (n - 2) / ctt);
    }
    return s;
}

// Bounds of a cell of a quantile sketch of `bits` (proto/base/sketch.h): its smallest value and the one after its largest.
// Pauses have 5 bits, ns (docs/PROTOCOL.md, "Histogram of pauses").
export function sketchBounds(cell: number, bits = 5): [number, number] {
    const parts = 2 ** bits, octave = Math.floor(cell / parts), width = 2 ** Math.max(0, octave - 1);
    const low = octave ? (parts + (cell % parts)) * width : cell;
    return [low, low + width];
}
