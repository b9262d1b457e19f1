// SPDX-License-Identifier: BSD-3-Clause
/*
 * archive.ts - what an archive has of a target from before this page's own data: earlier runs, and the part of this run that its daemon
 * did not see or no longer knows. All times are Unix seconds here; on a chart they are event time of the present run, so they are
 * negative before it.
 *
 * DESIGN: a series is one piece for each archived run, and the page's own Series as the last piece. Pieces are used one after the other
 * and never joined by a line: between two runs, where a run has no rows, and before the first sample of the page's own, is a gap. A
 * point that reaches into the page's own data is left out: nothing is there twice.
 */
import { type Gap, lowerBound, type Points, Series, window as cut } from "./series.ts";
import type { Span } from "../range.ts";
import type { HistoryItem } from "./wire.ts";

export interface ArchivedRun { run: number; start?: number; first?: number; seen?: number; end?: number; state?: string; program?: string; build?: string; labels?: string }
export interface ArchivedSeries extends Omit<HistoryItem, "target"> { run: number; series: string; times: number[]; gaps: Gap[] }
export interface ArchivedCensuses { run: number; times: number[]; total: number[]; bands: { label: string; mean: number[] }[]; gaps: Gap[] }
export interface ArchiveAnswer { archive?: boolean; runs: ArchivedRun[]; older?: number; items?: ArchivedSeries[]; censuses?: ArchivedCensuses[] }

export interface Deploy { t: number; text: string } // text "": the same program, started again

interface Piece { series: Series; gaps: Gap[] }
// Bands before the page's first census: their bytes by label, at the same times as the totals.
export interface PastBands { t: number[]; totals: number[]; bytes: Map<string, number[]>; gaps: Gap[] }

const SAME_START_S = 2; // a run is the present one if it began within this of it
const SEAM_S = 60; // from what is archived of the present run to the page's first sample: less is no gap

export class Archive {
    runs: ArchivedRun[] = [];
    private pieces = new Map<string, Piece[]>();
    private censuses: ArchivedCensuses[] = [];
    private shift = 0; // Unix time of event time 0

    // `start`: Unix seconds of event time 0. Times of an answer stay valid when a new run begins.
    take(a: ArchiveAnswer, start: number): void {
        for (const r of a.runs) {
            const at = this.runs.findIndex((x) => x.run === r.run);
            if (at < 0) this.runs.push(r);
            else this.runs[at] = r;
        }
        this.runs.sort((x, y) => (x.start ?? 0) - (y.start ?? 0) || x.run - y.run);
        if (!a.items && !a.censuses) return;
        this.pieces = new Map();
        this.shift = start;
        for (const i of a.items ?? []) {
            const series = new Series(), here = (c: number[]) => c.map((t) => t - start), times = here(i.times);
            series.remember({ target: "", ...i, times, ends: i.ends ? here(i.ends) : times });
            this.pieces.set(i.series, [...(this.pieces.get(i.series) ?? []), { series, gaps: i.gaps.map(([f, t]): Gap => [f - start, t - start]) }]);
        }
        this.censuses = a.censuses ?? [];
    }

    // The first moment that is known, in event time; 0 when there is nothing before the run.
    earliest(start: number | undefined): number {
        const first = this.runs[0]?.first;
        return first === undefined || start === undefined ? 0 : Math.min(0, first - start);
    }

    // What is drawn of a series: archived pieces before `own`, then that.
    points(name: string, own: Series | undefined, r: Span, start: number | undefined, max: number): Points {
        const now = own ? cut(own, r.from, r.to, max) : { t: [], v: [] }, until = own?.n ? own.from[0]! : Infinity;
        const pieces = until > r.from && start !== undefined ? this.before(name, until, start) : [];
        if (!pieces.length) return now;
        const out: Points = { t: [], v: [], gaps: [] };
        for (const p of pieces) {
            const c = cut(p.series, r.from, Math.min(r.to, until), max), n = lowerBound(c.t, c.t.length, until);
            append(out, { t: c.t.slice(0, n), v: c.v.slice(0, n), gaps: within(p.gaps, until) }, false);
        }
        append(out, now, this.continues(until, start));
        return out;
    }

    // The archived series, each cut off where the page's own data begin.
    before(name: string, until: number, start: number | undefined): Piece[] {
        return start === undefined || Math.abs(start - this.shift) > SAME_START_S ? [] : (this.pieces.get(name) ?? []).filter((p) => p.series.n && p.series.from[0]! < until);
    }

    // Bands before `until`, on their own times.
    bands(r: Span, until: number, start: number | undefined): PastBands {
        const out: PastBands = { t: [], totals: [], bytes: new Map(), gaps: [] };
        if (start === undefined) return out;
        for (const c of this.censuses) {
            const t = c.times.map((x) => x - start), from = Math.max(0, lowerBound(t, t.length, r.from) - 1), end = lowerBound(t, t.length, Math.min(until, r.to));
            if (from >= end) continue;
            if (out.t.length) out.gaps.push([out.t[out.t.length - 1]!, t[from]!]);
            out.gaps.push(...within(c.gaps.map(([f, to]): Gap => [f - start, to - start]), until));
            const before = out.t.length;
            out.t.push(...t.slice(from, end));
            out.totals.push(...c.total.slice(from, end));
            for (const b of c.bands) {
                const row = out.bytes.get(b.label) ?? new Array<number>(before).fill(0);
                row.push(...b.mean.slice(from, end));
                out.bytes.set(b.label, row);
            }
            for (const row of out.bytes.values()) while (row.length < out.t.length) row.push(0);
        }
        const last = out.t[out.t.length - 1];
        if (last !== undefined && Number.isFinite(until) && !this.continues(until, start)) out.gaps.push([last, until]);
        return out;
    }

    // When another build or label began to run, or the same was started again; within the range.
    deploys(r: Span, start: number | undefined): Deploy[] {
        if (start === undefined) return [];
        return this.runs.map((run, i) => ({ t: (run.start ?? run.first ?? 0) - start, text: i ? changed(this.runs[i - 1]!, run) : "" }))
            .filter((d, i) => i > 0 && d.t >= r.from && d.t <= r.to);
    }

    // Whether the newest archived run is the present one and was followed until then: no gap before the page's own data.
    private continues(until: number, start: number | undefined): boolean {
        const last = this.runs[this.runs.length - 1];
        return start !== undefined && last?.start !== undefined && Math.abs(last.start - start) <= SAME_START_S && (last.seen ?? 0) - start >= until - SEAM_S;
    }
}

function within(gaps: Gap[], until: number): Gap[] {
    return gaps.filter(([from]) => from < until).map(([from, to]) => [from, Math.min(to, until)]);
}

// `joined`: nothing is missing between the two.
function append(to: Points, p: Points, joined: boolean): void {
    if (!p.t.length) return;
    const last = to.t[to.t.length - 1];
    if (last !== undefined && !joined) to.gaps!.push([last, p.t[0]!]);
    to.gaps!.push(...(p.gaps ?? []));
    for (const x of p.t) to.t.push(x);
    for (const x of p.v) to.v.push(x);
}

// "version=1.4.2", "build 1f3a90c2": what differs from the run before. An unknown build is not another one.
function changed(before: ArchivedRun, run: ArchivedRun): string {
    const old = new Set((before.labels ?? "").split(", ")), labels = (run.labels ?? "").split(", ").filter((l) => l && !old.has(l));
    if (labels.length) return labels.join(", ");
    if (before.labels && !run.labels) return "no labels";
    return before.build && run.build && before.build !== run.build ? `build ${run.build.slice(0, 8)}` : "";
}
