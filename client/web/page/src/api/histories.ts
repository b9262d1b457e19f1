// SPDX-License-Identifier: BSD-3-Clause
/*
 * histories.ts - asks for the past once: the series and largest bands of a target when it is opened, all other bands in portions
 * when a table wants them. One request at a time; after a refusal it waits.
 */
import type { Target } from "../state/target.ts";
import type { View } from "../state/view.ts";
import { fetchHistory, type HistoryQuery, wireKey } from "./live.ts";

const SERIES = ["live", "heap_size", "blocks_size", "rss", "cgroup", "gc_pause", "slop", "fragmentation", "copied", "census_total"];
const TOP = 40;
const PORTION = 200; // bands a request: what the server takes at once, below its 4 KiB of address
const ADDRESS_MAX = 3500;
const WAIT_MS = 3000;
const SPARKS = 60; // targets a request: below the server's 4 KiB of address

export class Histories {
    private asked = new Map<string, number>(); // target's key -> run it was asked for
    private queue: HistoryQuery[] = [];
    private first = new Set<string>(); // targets whose first answer has not come yet
    private busy = false;
    error: string | undefined;

    constructor(private view: View, private changed: () => void) {}

    // The first picture of a target. Asked for early, before the state has come, when the address names the target.
    open(key: string, run: number | undefined): void {
        const before = this.asked.get(key);
        if (before !== undefined && (run === undefined || before === run || before === 0)) {
            if (run !== undefined && before === 0) this.asked.set(key, run);
            return;
        }
        this.asked.set(key, run ?? 0);
        if (before === undefined) this.first.add(key);
        this.queue.unshift({ target: key, series: SERIES, top: TOP });
        void this.work();
    }

    // The first picture of this target is on its way: what is here already would be another picture.
    waiting(key: string): boolean {
        return this.first.has(key);
    }

    get idle(): boolean {
        return !this.busy;
    }

    // All state is new: ask for everything anew.
    renew(): void {
        this.asked.clear();
        this.queue = [];
    }

    // Small curves of many targets, for the overview.
    sparks(targets: Target[]): void {
        const want = targets.filter((t) => t.state?.state && !t.history.has("spark") && (t.series.get("heap_size")?.n ?? 0) < 2).slice(0, SPARKS);
        if (!want.length) return;
        for (const t of want) t.history.add("spark");
        this.queue.push({ target: want.map((t) => t.key), series: ["heap_size"] });
        void this.work();
    }

    // All bands of a target that have no past yet, largest first.
    allBands(t: Target): void {
        if (this.queue.some((q) => q.target === t.key && q.bands)) return;
        const want = [...t.bands.values()].filter((b) => !t.censuses.hasPast(b.id) && !t.history.has(`band${b.id}`))
            .sort((a, b) => b.bytes - a.bytes).map((b) => b.id);
        for (const id of want) t.history.add(`band${id}`);
        for (let i = 0; i < want.length;) {
            const part: number[] = [];
            for (let size = 0; i < want.length && part.length < PORTION && size < ADDRESS_MAX; i++) {
                part.push(want[i]!);
                size += String(want[i]).length + 3;
            }
            this.queue.push({ target: t.key, bands: part });
        }
        void this.work();
    }

    private async work(): Promise<void> {
        if (this.busy) return;
        this.busy = true;
        for (let q = this.queue.shift(); q; q = this.queue.shift()) {
            try {
                const items = await fetchHistory(q);
                if (Array.isArray(q.target)) for (const i of items) i.series = "spark";
                else await this.present(q.target);
                this.view.history(items);
                this.error = undefined;
            } catch (e) {
                this.error = `history of ${[q.target].flat().slice(0, 3).map(wireKey).join(", ")}: ${e instanceof Error ? e.message : String(e)}`;
                for (const k of [q.target].flat()) this.first.delete(k);
                this.changed();
                await new Promise((f) => setTimeout(f, WAIT_MS));
            }
            for (const k of [q.target].flat()) this.first.delete(k);
            if (!this.queue.length) this.busy = false;
            this.changed();
        }
        this.busy = false;
    }

    // An answer may be faster than the first state.
    private async present(key: string): Promise<void> {
        for (let i = 0; i < 100 && !this.view.targets.has(key); i++) await new Promise((f) => setTimeout(f, 20));
    }
}
