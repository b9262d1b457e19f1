// SPDX-License-Identifier: BSD-3-Clause
/*
 * comparisons.ts - requests what `heapwatch diff` says of the whole runs of two targets (docs/WEB.md, "Comparison"): again every
 * REFRESH_MS while it is shown, and one at a time.
 */
import type { Diff } from "../state/wire.ts";
import { wireKey } from "./questions.ts";

const REFRESH_MS = 10000;

export class Comparisons {
    private pair = "";
    private at = 0;
    private busy = false;
    private diff: Diff | undefined;
    error: string | undefined;

    constructor(private changed: () => void) {}

    // The newest answer for these targets; undefined while there is none. `fresh`: one answer is enough, they have ended.
    of(a: string, b: string, fresh: boolean): Diff | undefined {
        const pair = `${a}\n${b}`, now = performance.now();
        if (pair !== this.pair) {
            this.pair = pair;
            this.diff = this.error = undefined;
            this.at = -REFRESH_MS;
        }
        if (!this.busy && now - this.at >= REFRESH_MS && !(fresh && this.diff)) void this.ask(pair, a, b);
        return this.diff;
    }

    get idle(): boolean {
        return !this.busy;
    }

    private async ask(pair: string, a: string, b: string): Promise<void> {
        this.busy = true;
        this.at = performance.now();
        let diff: Diff | undefined, error: string | undefined;
        try {
            const answer = await fetch(`api/diff?${new URLSearchParams({ a: wireKey(a), b: wireKey(b) }).toString()}`);
            const body = (await answer.json()) as Diff & { error?: string };
            if (!answer.ok) throw new Error(body.error ?? `the server answered ${answer.status}`);
            diff = body;
        } catch (e) {
            error = e instanceof Error ? e.message : String(e);
        }
        this.busy = false;
        if (pair === this.pair) [this.diff, this.error] = [diff ?? this.diff, error];
        this.changed();
    }
}
