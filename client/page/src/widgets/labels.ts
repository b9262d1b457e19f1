// SPDX-License-Identifier: BSD-3-Clause
/* labels.ts - where the labels of a chart's markers stand, so that none covers another. */

export const LABEL_ROWS = 2, LABEL_HEIGHT = 15;

export const cutMarker = (text: string): string => (text.length > 28 ? `${text.slice(0, 27)}…` : text);

export interface Label {
    text: string;
    x: number; // of its left end
    row: number; // from the top
}

/*
 * Of markers at `at` (in pixels), the most important first: each stands right of its line, or left of it where it would leave
 * the box, in the first row with room for it. One that finds none is left out: its line is there.
 */
export function placeLabels(markers: { text: string; at: number }[], width: (text: string) => number, box: { from: number; to: number },
    gap: number): Label[] {
    const taken: { from: number; to: number; row: number }[] = [], placed: Label[] = [];
    for (const { text, at } of markers) {
        const w = width(text), x = at + gap + w > box.to ? at - gap - w : at + gap;
        const isFree = (row: number) => taken.every((l) => l.row !== row || x + w + gap <= l.from || x >= l.to + gap);
        const row = Array.from({ length: LABEL_ROWS }, (_, i) => i).find(isFree);
        if (row === undefined || x < box.from) continue;
        taken.push({ from: x, to: x + w, row });
        placed.push({ text, x, row });
    }
    return placed;
}
