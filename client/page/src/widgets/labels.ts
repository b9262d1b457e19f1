// SPDX-License-Identifier: BSD-3-Clause
/* labels.ts - where the labels of a chart's markers stand, so that none covers another. */

import { visible } from "../dom.ts";

export const LABEL_ROWS = 2, LABEL_HEIGHT = 15;

/* Text from outside in at most `most` characters. */
export const short = (text: string, most: number): string => {
    const shown = visible(text);
    return shown.length > most ? `${shown.slice(0, most - 1)}…` : shown;
};

export interface Label {
    text: string;
    x: number; // of its left end
    row: number; // from the top
}

/*
 * Of markers at `at` (in pixels), the most important first: each stands right of its line in the first row with room for it, or
 * else left of it. One that finds none is left out: its line is there. Faint ones have no label.
 */
export function placeLabels(markers: { text: string; at: number; faint?: boolean }[], width: (text: string) => number,
    box: { from: number; to: number }, gap: number): Label[] {
    const placed: { label: Label; to: number }[] = [];
    for (const m of markers.filter((m) => !m.faint)) {
        const text = short(m.text, 28), w = width(text);
        const sides = [m.at + gap, m.at - gap - w].filter((x) => x >= box.from && x + w <= box.to);
        const place = sides.flatMap((x) => Array.from({ length: LABEL_ROWS }, (_, row) => ({ text, x, row })))
            .find(({ x, row }) => placed.every(({ label, to }) => label.row !== row || x + w + gap <= label.x || x >= to + gap));
        if (place) placed.push({ label: place, to: place.x + w });
    }
    return placed.map((p) => p.label);
}
