// SPDX-License-Identifier: BSD-3-Clause
/*
 * profile.ts - ticks of each stack over time, so that the flame graph can show a range. The wire gives totals since the run
 * began; a range is the difference of two moments. Bounded: MOMENTS of them, fewer for many stacks; when full, every second one is dropped.
 */
import type { Stack } from "./wire.ts";

const MOMENTS = 128, MOMENTS_MIN = 8;
const ENTRIES = 400_000; // ticks of one stack at one moment: about 20 MB in all

interface Moment {
    t: number;
    ticks: Map<number, number>;
}

export class ProfileHistory {
    private moments: Moment[] = [];
    private spacing = 0;

    push(t: number, stacks: Map<number, Stack>): void {
        const last = this.moments[this.moments.length - 1];
        if (last && t - last.t < this.spacing) return;
        const ticks = new Map<number, number>();
        for (const [id, s] of stacks) ticks.set(id, Number(s.ticks ?? 0));
        if (last && last.t >= t) last.ticks = ticks;
        else this.moments.push({ t, ticks });
        const bound = Math.max(MOMENTS_MIN, Math.min(MOMENTS, Math.floor(ENTRIES / Math.max(1, stacks.size))));
        if (this.moments.length < bound) return;
        this.moments = this.moments.filter((_, i) => i % 2 === 0);
        this.spacing = (2 * (t - this.moments[0]!.t)) / bound;
    }

    get first(): number | undefined {
        return this.moments[0]?.t;
    }

    // The moment that is used for `t`: the newest at or before it; undefined when nothing that old is known.
    before(t: number): Moment | undefined {
        let found: Moment | undefined;
        for (const m of this.moments) if (m.t <= t) found = m;
        return found;
    }
}
