// SPDX-License-Identifier: BSD-3-Clause
/*
 * app.ts - what every page is given: the state, the view in the address bar, the range of time, and how to request more.
 */
import type { Archives } from "./api/archives.ts";
import type { Histories } from "./api/histories.ts";
import type { InspectionsOf } from "./api/inspections.ts";
import type { Newest } from "./api/request.ts";
import { resolve, formatFixed, type Span } from "./range.ts";
import type { Route } from "./route.ts";
import type { CpuProfile } from "./state/cpu.ts";
import type { ThreadsRead } from "./state/groups.ts";
import type { HeapRead } from "./state/held.ts";
import type { Target } from "./state/target.ts";
import type { View } from "./state/view.ts";
import type { Diff, Options, ReportMeta } from "./state/wire.ts";
import type { Scheme } from "./theme.ts";

export class App {
    options: Options = {};
    meta: ReportMeta | undefined; // of a report
    histories: Histories | undefined; // live only
    archives: Archives | undefined; // live only
    comparisons: Newest<Diff> | undefined; // of a server; a report has its own
    profiles: InspectionsOf<CpuProfile> | undefined; // of a server; a report may have some
    heaps: InspectionsOf<HeapRead> | undefined; // the same
    threads: InspectionsOf<ThreadsRead> | undefined; // the same
    private home: string | undefined;
    private frozen = new Map<string, number>(); // while paused: newest event time by target

    constructor(readonly view: View, readonly route: Route) {}

    // The opened target; the first one when the address names none or one that is not there.
    target(): Target | undefined {
        const name = this.route.get("target");
        return this.view.targets.get(name) ?? (name ? undefined : this.view.sorted()[0]);
    }

    // A report, or a server that shows finished files: all of each log, in its own time.
    get finished(): boolean {
        return !!this.meta || this.view.server.live === false;
    }

    // The page that is shown: when the address names none, the most useful one.
    get page(): string {
        if (this.route.page) return this.route.page === "time" ? "profile" : this.route.page; // its name in links of earlier versions
        const n = this.view.targets.size, named = !!this.route.get("target");
        if (this.finished) return n === 2 && !named ? "compare" : n > 2 && !named ? "overview" : "target";
        if (n) this.home ??= n > 1 && !named ? "overview" : "target"; // the page does not change when another target appears
        return this.home ?? (named ? "target" : "overview");
    }

    get paused(): boolean {
        return this.route.get("paused") === "1";
    }

    // Now, of all ages: by the daemon's clock, as on all faces.
    newest(t: Target): number {
        const now = Math.max(t.eventTime, t.known);
        if (!this.paused) {
            this.frozen.delete(t.key);
            return now;
        }
        if (!this.frozen.has(t.key)) this.frozen.set(t.key, now);
        return this.frozen.get(t.key)!;
    }

    get rangeText(): string {
        return this.route.get("range", this.finished ? "all" : "15m");
    }

    range(t: Target): Span {
        return resolve(this.rangeText, this.newest(t), t.archive.earliest(t.start));
    }

    zoom(s: Span): void {
        const t = this.target(), from = Math.max(s.from, t?.archive.earliest(t.start) ?? 0);
        this.route.set({ range: formatFixed({ from, to: Math.max(s.to, from + (s.to - s.from) / 2) }) });
    }

    slide(): void {
        this.route.set({ range: undefined });
    }

    get scheme(): Scheme {
        return this.route.get("scheme", "calm") as Scheme;
    }

    // Unix seconds of event time 0 when the axis shows the clock.
    clockStart(t: Target): number | undefined {
        return this.clock === "clock" ? t.start : undefined;
    }

    // The clock of everything shown: "clock", or "run": since the program began.
    get clock(): string {
        return this.route.get("time", this.finished ? "run" : "clock");
    }
}

export interface Page {
    root: HTMLElement;
    update(): void; // called when the state or the view changed, at most a few times a second
    done?(): void;
    wants?: "all bands"; // needs the history of every band
}
