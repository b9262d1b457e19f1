// SPDX-License-Identifier: BSD-3-Clause
/*
 * squares.ts - a rectangle divided into rectangles whose areas are as given values, each as near to a square as possible: rows along the
 * shorter side, each of which is filled while that makes its worst rectangle better (Bruls, Huizing, van Wijk: "Squarified treemaps", 2000).
 */
export interface Box {
    x: number;
    y: number;
    w: number;
    h: number;
}

// The worst ratio of sides in a row of these areas along `side`.
function worst(least: number, most: number, sum: number, side: number): number {
    return Math.max((side * side * most) / (sum * sum), (sum * sum) / (side * side * least));
}

// In the order of the values, which should fall; what is 0 has no area.
export function squares(values: number[], into: Box): Box[] {
    const out: Box[] = [], total = values.reduce((s, v) => s + v, 0), scale = total ? (into.w * into.h) / total : 0;
    let { x, y, w, h } = into;
    for (let i = 0; i < values.length; ) {
        const side = Math.min(w, h), first = values[i]! * scale;
        let sum = first, least = first, most = first, n = 1;
        for (; i + n < values.length; n++) {
            const next = values[i + n]! * scale, l = Math.min(least, next), m = Math.max(most, next);
            if (next <= 0 || worst(l, m, sum + next, side) > worst(least, most, sum, side)) break;
            [sum, least, most] = [sum + next, l, m];
        }
        const wide = w >= h, deep = side > 0 ? sum / side : 0;
        for (let k = 0, at = 0; k < n; k++) {
            const along = deep > 0 ? (values[i + k]! * scale) / deep : 0;
            out.push(wide ? { x, y: y + at, w: deep, h: along } : { x: x + at, y, w: along, h: deep });
            at += along;
        }
        if (wide) [x, w] = [x + deep, Math.max(0, w - deep)];
        else [y, h] = [y + deep, Math.max(0, h - deep)];
        i += n;
    }
    return out;
}
