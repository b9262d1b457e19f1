// SPDX-License-Identifier: BSD-3-Clause
/*
 * target.ts - one target: its newest messages and what they add up to. Mirrors client/world/state/world_target.c: gauges are the newest
 * message, samples go into series, a newer run clears everything but the state and the health of the stream.
 */
import { Archive } from "./archive.ts";
import { type Censuses } from "./census.ts";
import { type Holds } from "./held.ts";
import { type Collection, History } from "./history.ts";
import { ProfileHistory } from "./profile.ts";
import type { Series } from "./series.ts";
import * as w from "./wire.ts";
import { type Alerts, num, seconds } from "./wire.ts";
import { UNKNOWN } from "../units.ts";
import { type AlertChange, logChanges } from "./judge.ts";

export const NOTES_MAX = 512; // newest notes kept live; a report keeps all it has

export interface Band {
    id: number;
    def: w.BandDef;
    bytes: number; // in the newest census
    isUnseen?: boolean; // likewise: that is an estimate from a sample, in which nothing of it was
    closures?: number; // likewise, where that was read from outside
    holds?: Holds; // likewise
    stats?: w.BandStats; // of the whole run, when the server has them
}

// State, health and alerts belong to the target and are valid without a run, too; all else belongs to one run.
function belongsToTarget(u: w.Update): boolean {
    return u.targetState !== undefined || u.health !== undefined || u.alerts !== undefined;
}

export class Target {
    run = 0;
    eventTime = 0; // seconds, newest
    known = 0; // seconds: until then something is known, by its daemon's clock
    state: w.TargetState | undefined = undefined;
    health: w.Health | undefined = undefined;
    heap: w.Heap | undefined = undefined;
    gc: w.Gc | undefined = undefined;
    census: w.Census | undefined = undefined;
    sched: w.Sched | undefined = undefined;
    bands = new Map<number, Band>();
    past = new History();
    notes: w.Note[] = [];
    notesDropped: number | undefined = undefined;
    stacks = new Map<number, w.Stack>();
    labels = new Map<string, number>(); // number of bands with each label
    profile: w.Profile | undefined = undefined;
    profileHistory = new ProfileHistory();
    ticky = new Map<string, w.TickyCounter>();
    trends = new Map<number, w.Trend>(); // of bands; those of series are in the answers
    alerts: Alerts | undefined = undefined; // outlives runs
    answers: w.Answers | undefined = undefined;
    alertLog: AlertChange[] = [];
    archive = new Archive(); // outlives runs
    history: Set<number> = new Set(); // bands that were requested
    spark: { range: string; at: number } | undefined = undefined; // the small curve that was requested, and when, ms
    notesBound = NOTES_MAX;
    help: Record<string, string> = {}; // what each number is

    constructor(readonly daemon: number, readonly name: string) {}

    get series(): Map<string, Series> {
        return this.past.series;
    }

    get censuses(): Censuses {
        return this.past.censuses;
    }

    get collections(): Collection[] {
        return this.past.collections;
    }

    get key(): string {
        return this.daemon ? `${this.daemon}:${this.name}` : this.name;
    }

    // Unix seconds of event time 0.
    get start(): number | undefined {
        return seconds(this.state?.runInfo?.startWallNs);
    }

    // Whether a body's run is current: test/run_cases.json has the cases, for this and for the C.
    apply(u: w.Update): void {
        if ((u.run ?? 0) < this.run && (u.run !== undefined || !belongsToTarget(u))) return;
        if (u.run !== undefined && u.run > this.run) this.beginRun(u.run);
        const t = seconds(u.eventTimeNs);
        if (t !== undefined && t > this.eventTime) this.eventTime = t;
        this.body(u);
    }

    // Answers of an earlier run are ignored.
    answer(a: w.Answers): void {
        if ((a.run ?? 0) < this.run) return;
        this.answers = a;
        this.eventTime = Math.max(this.eventTime, seconds(a.eventTimeNs) ?? 0);
        this.known = Math.max(this.known, seconds(a.knownUntilNs) ?? 0);
    }

    private body(u: w.Update): void {
        if (u.targetState) this.state = u.targetState;
        if (u.health) this.health = u.health;
        if (u.heap) {
            this.past.takeHeap(u.heap);
            this.heap = { ...u.heap, samples: undefined };
        }
        if (u.gc) {
            this.past.takeGc(u.gc);
            this.gc = { ...u.gc, collections: undefined };
        }
        if (u.bands) for (const b of u.bands.bands ?? []) this.define(b);
        if (u.census) this.applyCensus(u.census);
        if (u.notes) this.applyNotes(u.notes);
        if (u.profile) {
            for (const s of u.profile.stacks ?? []) if (s.id) this.stacks.set(s.id, s);
            this.profile = { ...u.profile, stacks: undefined };
            this.profileHistory.push(this.eventTime, this.stacks);
        }
        if (u.ticky) for (const c of u.ticky.counters ?? []) this.ticky.set(String(c.id ?? ""), c);
        if (u.sched) this.sched = u.sched;
        for (const trend of u.trends?.trends ?? []) if (trend.band !== undefined) this.trends.set(trend.band, trend);
        if (u.alerts) {
            this.alertLog = logChanges(this.alertLog, this.alerts, u.alerts, this.eventTime);
            this.alerts = u.alerts;
        }
    }

    // Takes over what only this page has gathered, from the same target before a new state came.
    inherit(old: Target): void {
        const { run, profileHistory, alertLog, alerts, archive } = old;
        Object.assign(this, { run, profileHistory, alertLog, alerts, archive });
        this.past.collections = old.past.collections;
    }

    private beginRun(run: number): void {
        const fresh = new Target(this.daemon, this.name);
        const { state, health, notesBound, help, alerts, alertLog, archive } = this;
        Object.assign(this, fresh, { state: state && { ...state, runInfo: undefined }, health, notesBound, help, alerts, alertLog, archive, run });
    }

    private define(def: w.BandDef): void {
        if (!def.id) return;
        const old = this.bands.get(def.id), text = def.label ?? "";
        if (old) this.labels.set(old.def.label ?? "", (this.labels.get(old.def.label ?? "") ?? 1) - 1);
        this.labels.set(text, (this.labels.get(text) ?? 0) + 1);
        const born = seconds(def.firstSeenNs);
        if (born !== undefined) this.censuses.born.set(def.id, born);
        this.bands.set(def.id, { id: def.id, def, bytes: old?.bytes ?? 0, closures: old?.closures, holds: old?.holds, stats: old?.stats });
    }

    private applyCensus(c: w.Census): void {
        const bands = c.band ?? [], bytes = (c.bytes ?? []).map(Number);
        this.census = c;
        this.past.takeCensus(c);
        if (c.timeNs === undefined) return;
        const counts = c.closures?.map(Number);
        for (const b of this.bands.values()) [b.bytes, b.closures, b.holds, b.isUnseen] = [0, c.spread ? undefined : counts && 0, undefined, !!c.spread];
        bands.forEach((id, i) => {
            let b = this.bands.get(id);
            if (!b) this.bands.set(id, (b = { id, def: { id, label: `band ${id}` }, bytes: 0 }));
            [b.bytes, b.isUnseen] = [bytes[i] ?? 0, false];
            b.closures = counts?.[i];
        });
        for (const x of c.contents ?? []) {
            const b = this.bands.get(x.band ?? 0), of = Number(x.bytes ?? 0), whole = Number(x.ofBytes ?? b?.bytes ?? 0);
            if (b && x.name && of <= whole) b.holds ??= { name: x.name, share: of / whole, ...(x.ofBytes !== undefined && { older: true }) };
        }
    }

    private applyNotes(n: w.Notes): void {
        const newest = num(this.notes[this.notes.length - 1]?.number) ?? 0;
        for (const note of n.notes ?? []) if ((num(note.number) ?? 0) > newest) this.notes.push(note);
        if (this.notes.length > this.notesBound) this.notes = this.notes.slice(-this.notesBound);
        this.notesDropped = num(n.dropped) ?? this.notesDropped;
    }

    // Answers of /api/history for this target.
    applyHistory(items: w.HistoryItem[], again = false): void {
        const mine = items.filter((i) => !i.error && (i.run === undefined || i.run >= this.run));
        this.past.remember(mine, again);
        for (const i of mine) {
            const b = i.band === undefined ? undefined : this.bands.get(i.band);
            if (b && i.stats) b.stats = i.stats;
            if (i.band === undefined) this.eventTime = Math.max(this.eventTime, i.times?.[i.times.length - 1] ?? 0);
        }
    }

    // A band's name in links: its label; with its number when several have that label.
    bandKey(b: Band): string {
        const text = b.def.label ?? `band ${b.id}`;
        return (this.labels.get(b.def.label ?? "") ?? 0) > 1 ? `${text} #${b.id}` : text;
    }

    bandOf(key: string): Band | undefined {
        const id = Number(/ #([0-9]+)$/.exec(key)?.[1] ?? NaN), named = this.bands.get(id);
        if (named && this.bandKey(named) === key) return named;
        for (const b of this.bands.values()) if (this.bandKey(b) === key) return b;
        return undefined;
    }

    // The first moment that the page's own data have, of anything.
    get own(): number {
        let first = this.censuses.times[0] ?? this.eventTime;
        for (const s of this.series.values()) if (s.n) first = Math.min(first, s.from[0]!);
        return first;
    }

    // Of the table of facts, as the newest answers have it.
    number(name: string): number | undefined {
        return this.answers?.numbers?.[name]?.[0];
    }

    text(name: string): string {
        return this.answers?.numbers?.[name]?.[1] ?? UNKNOWN;
    }
}
