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
 * Of markers at `at` (in pixels), the most important first: each stands right of its line, or left of it where it would leave
 * the box, in the first row with room for it. One that finds none is left out: its line is there. Faint ones have no label.
 */
export function placeLabels(markers: { text: string; at: number; faint?: boolean }[], width: (text: string) => number,
    box: { from: number; to: number }, gap: number): Label[] {
    const taken: { from: number; to: number; row: number }[] = [], placed: Label[] = [];
    for (const m of markers.filter((m) => !m.faint)) {
        const text = short(m.text, 28), at = m.at;
        const w = width(text), x = at + gap + w > box.to ? at - gap - w : at + gap;
        const isFree = (row: number) => taken.every((l) => l.row !== row || x + w + gap <= l.from || x >= l.to + gap);
        const row = Array.from({ length: LABEL_ROWS }, (_, i) => i).find(isFree);
        if (row === undefined || x < box.from) continue;
        taken.push({ from: x, to: x + w, row });
        placed.push({ text, x, row });
    }
    return placed;
}
