// SPDX-License-Identifier: BSD-3-Clause
/*
 * history.ts - the history of one run of a target: the page's one store, as client/world/history/history.c is that of the other clients. It
 * is filled by messages as they come and by the server's history of the time before; where both exist, the messages count. Bounds: of a
 * series in series.ts, of censuses in census.ts, COLLECTIONS_MAX single collections.
 */
import { Censuses } from "./census.ts";
import { Series } from "./series.ts";
import { type Census, type Gc, type Heap, type HistoryItem, num, seconds } from "./wire.ts";

const COLLECTIONS_MAX = 8192;

export interface Collection { t: number; pause?: number; watch?: number; generation?: number; major: boolean; balance?: number }

export class History {
    series = new Map<string, Series>();
    censuses = new Censuses();
    collections: Collection[] = []; // since the page was opened; all of a finished log

    seriesOf(name: string): Series {
        let s = this.series.get(name);
        if (!s) this.series.set(name, (s = new Series()));
        return s;
    }

    takeHeap(heap: Heap): void {
        for (const s of heap.samples ?? []) {
            if (!s.series) continue;
            const to = this.seriesOf(seriesName(s.series)), times = s.timesNs ?? [], values = s.values ?? [];
            for (let i = 0; i < times.length && i < values.length; i++) to.push(Number(times[i]) / 1e9, Number(values[i]));
        }
    }

    takeGc(gc: Gc): void {
        for (const c of gc.collections ?? []) {
            const t = seconds(c.endTimeNs);
            if (t === undefined || this.cameTwice(t)) continue;
            const copied = num(c.copiedBytes), threads = c.parallelThreads ?? 0, balanced = num(c.parallelBalancedCopiedBytes);
            this.collections.push({ t, pause: num(c.pauseNs), watch: num(c.watchPauseNs), generation: c.generation, major: c.major ?? false,
                balance: threads > 1 && copied && balanced !== undefined ? balanced / copied : undefined });
            if (c.pauseNs !== undefined) this.seriesOf("gc_pause").push(t, Number(c.pauseNs));
        }
        if (this.collections.length > COLLECTIONS_MAX) this.collections = thinCollections(this.collections);
    }

    takeCensus(c: Census): void {
        const t = seconds(c.timeNs), bands = c.band ?? [], bytes = (c.bytes ?? []).map(Number);
        if (t === undefined || c.unfinished) return; // cut by the log's end: counted short
        const total = num(c.totalBytes) ?? bytes.reduce((a, b) => a + b, 0);
        this.censuses.push(num(c.number) ?? this.censuses.n + 1, t, total, bands, bytes);
    }

    // The server's history. `again`: replaces all that it sent before.
    remember(items: HistoryItem[], again: boolean): void {
        this.censuses.seed(items, again);
        for (const i of items) if (i.band === undefined && i.series && i.times) this.seriesOf(i.series).remember(i);
    }

    // A state repeats the newest collections.
    private cameTwice(t: number): boolean {
        for (let i = this.collections.length - 1; i >= 0 && i > this.collections.length - 300; i--) {
            if (this.collections[i]!.t === t) return true;
            if (this.collections[i]!.t < t - 10) return false;
        }
        return false;
    }
}

function seriesName(wire: string): string {
    return wire.replace(/^SERIES_/, "").toLowerCase();
}

// Thins the older half: of each two collections the longer one is kept, and all major ones.
function thinCollections(all: Collection[]): Collection[] {
    const half = all.length >> 1, out: Collection[] = [];
    for (let i = 0; i < half; i += 2) {
        const a = all[i]!, b = all[i + 1]!;
        if (a.major && b.major && out.length < half / 2) out.push(a, b);
        else out.push((b.major && !a.major) || (a.major === b.major && (b.pause ?? 0) > (a.pause ?? 0)) ? b : a);
    }
    return out.concat(all.slice(half + (half % 2)));
}
