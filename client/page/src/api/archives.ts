// SPDX-License-Identifier: BSD-3-Clause
/*
 * archives.ts - requests what the archive has of a target from before its daemon's history (docs/WEB.md, "The archive").
 *
 * DESIGN: first its runs: they say whether there is anything before. Data are requested when the range shown begins before the
 * page's own data: for exactly that part, so an answer is as fine as the screen needs. An answer is used until the range has moved by
 * a fiftieth of its width, or for a minute.
 */
import type { Span } from "../range.ts";
import type { ArchiveAnswer } from "../state/archive.ts";
import type { Target } from "../state/target.ts";
import type { View } from "../state/view.ts";
import { SERIES, wireKey } from "./questions.ts";
import { Newest } from "./request.ts";

const TOP = 40;
const POINTS = 600;
const FRESH_MS = 60000;
const RETRY_MS = 15000;

export class Archives {
    private readonly runs: Newest<ArchiveAnswer>;
    private readonly data: Newest<ArchiveAnswer>;
    private taken = new WeakSet<ArchiveAnswer>();

    constructor(private view: View, changed: () => void) {
        const made = (): Newest<ArchiveAnswer> => {
            const all: Newest<ArchiveAnswer> = new Newest("archive", (found): number => (all.error ? RETRY_MS : found ? FRESH_MS : 0), changed);
            return all;
        };
        [this.runs, this.data] = [made(), made()];
    }

    // The range of the target that is shown.
    want(t: Target, r: Span): void {
        const start = t.start;
        if (start === undefined || this.view.server.live === false) return;
        this.take(t, start, this.runs.of(new URLSearchParams({ target: wireKey(t.key) }).toString()));
        const from = Math.max(r.from, t.archive.earliest(start)), to = Math.min(r.to, t.own + 60), grain = Math.max(60, (r.to - r.from) / 50);
        if (!t.archive.runs.length || !(from < t.own - 60)) return; // a minute is the archive's finest
        this.take(t, start, this.data.of(new URLSearchParams({ target: wireKey(t.key), series: SERIES.join(","), bands: `top${TOP}`,
            from: String(Math.max(1, Math.floor(start + Math.floor(from / grain) * grain))), to: String(Math.ceil(start + Math.ceil(to / grain) * grain)), points: String(POINTS) }).toString()));
    }

    private take(t: Target, start: number, answer: ArchiveAnswer | undefined): void {
        if (!answer || this.taken.has(answer)) return;
        this.taken.add(answer);
        t.archive.take(answer, start);
    }

    get idle(): boolean {
        return this.runs.idle && this.data.idle;
    }

    get error(): string | undefined {
        const error = this.runs.error ?? this.data.error;
        return error && `archive: ${error}`;
    }
}
