// SPDX-License-Identifier: BSD-3-Clause
/*
 * archives.ts - requests what the archive has of a target from before its daemon's history (docs/WEB.md, "The archive").
 *
 * DESIGN: first its runs, once: they say whether there is anything before. Data are requested when the range shown begins before the
 * page's own data: for exactly that part, so an answer is as fine as the screen needs. An answer is used until the range has moved by
 * a fiftieth of its width, or for a minute. One request at a time.
 */
import type { Span } from "../range.ts";
import type { ArchiveAnswer } from "../state/archive.ts";
import type { Target } from "../state/target.ts";
import type { View } from "../state/view.ts";
import { SERIES, wireKey } from "./questions.ts";
import { errorText, taken } from "./request.ts";

const TOP = 40;
const POINTS = 600;
const FRESH_MS = 60000;
const RETRY_MS = 15000;

interface Asked { key: string; at: number }

export class Archives {
    private runs = new Map<string, Asked>(); // key of a target -> when its runs were requested, of which run
    private data = new Map<string, Asked>();
    private busy = false;
    private resume = 0; // no request before this: there is no archive, or it cannot be read now
    error: string | undefined;

    constructor(private view: View, private changed: () => void) {}

    // The range of a target that is shown.
    want(t: Target, r: Span): void {
        const start = t.start, now = performance.now();
        if (this.busy || start === undefined || this.view.server.live === false || now < this.resume) return;
        if (due(this.runs.get(t.key), String(t.run), now, t.archive.runs.length ? Infinity : FRESH_MS)) {
            this.runs.set(t.key, { key: String(t.run), at: now });
            void this.ask(t, new URLSearchParams({ target: wireKey(t.key) }));
            return;
        }
        const from = Math.max(r.from, t.archive.earliest(start)), to = Math.min(r.to, t.own + 60), grain = Math.max(60, (r.to - r.from) / 50);
        if (!(from < t.own - 60)) return; // a minute is the archive's finest
        const key = [t.run, Math.floor(from / grain), Math.ceil(to / grain), grain].join();
        if (!due(this.data.get(t.key), key, now, FRESH_MS)) return;
        this.data.set(t.key, { key, at: now });
        void this.ask(t, new URLSearchParams({ target: wireKey(t.key), series: SERIES.join(","), bands: `top${TOP}`,
            from: String(Math.max(1, Math.floor(start + Math.floor(from / grain) * grain))), to: String(Math.ceil(start + to)), points: String(POINTS) }));
    }

    get idle(): boolean {
        return !this.busy;
    }

    private async ask(t: Target, q: URLSearchParams): Promise<void> {
        this.busy = true;
        try {
            const body = await taken<ArchiveAnswer>(fetch(`api/archive?${q.toString()}`));
            this.view.targets.get(t.key)?.archive.take(body, t.start!);
            if (body.archive === false) this.resume = performance.now() + FRESH_MS;
            this.error = undefined;
        } catch (e) {
            this.error = `archive of ${t.name}: ${errorText(e)}`;
            this.resume = performance.now() + RETRY_MS;
            this.runs.delete(t.key);
            this.data.delete(t.key);
        }
        this.busy = false;
        this.changed();
    }
}

function due(asked: Asked | undefined, key: string, now: number, fresh: number): boolean {
    return !asked || asked.key !== key || now - asked.at > fresh;
}
