// SPDX-License-Identifier: BSD-3-Clause
/*
 * grids.ts - histories whose items share columns of times (docs/WEB.md, "History") as items with times of their own.
 * Before and after its columns a band had no row: 0 bytes.
 */
import type { HistoryItem } from "../state/wire.ts";

export interface Histories { items: HistoryItem[]; grids?: number[][]; gridEnds?: number[][] }
type Shared = HistoryItem & { grid?: number; start?: number };

function pad(column: number[] | undefined, start: number, n: number): number[] | undefined {
    if (!column) return undefined;
    const whole = new Array<number>(n).fill(0);
    for (let i = 0; i < column.length && start + i < n; i++) whole[start + i] = column[i]!;
    return whole;
}

export function expand(h: Histories): HistoryItem[] {
    return h.items.map((item: Shared) => {
        const times = item.grid === undefined ? undefined : h.grids?.[item.grid];
        if (!times) return item;
        const { grid: _, start = 0, ...rest } = item;
        return { ...rest, times, ends: h.gridEnds?.[item.grid!], last: pad(item.last, start, times.length), mean: pad(item.mean, start, times.length),
            min: pad(item.min, start, times.length), max: pad(item.max, start, times.length) };
    });
}
