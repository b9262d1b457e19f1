// SPDX-License-Identifier: BSD-3-Clause
/*
 * common.ts - what several pages share.
 */
import type { App } from "../app.ts";
import { h, setAttr, setText, visible } from "../dom.ts";
import type { Span } from "../range.ts";
import { type Holds } from "../state/held.ts";
import { moments, type Points } from "../state/series.ts";
import type { Target } from "../state/target.ts";
import { num, seconds, type U64 } from "../state/wire.ts";
import { age, clock, share, UNKNOWN } from "../units.ts";
import type { ChartOptions } from "../widgets/chart.ts";
import type { Line, Marker } from "../widgets/plot.ts";
import { matcher } from "../widgets/controls.ts";

export const POINTS = 1200; // drawn per series
const MARKERS_MAX = 300;

export function zooming(app: App): Pick<ChartOptions, "onzoom" | "onslide"> {
    return { onzoom: (s) => app.zoom(s), onslide: () => app.slide() };
}

export function points(t: Target, series: string, r: Span): Points {
    return t.archive.points(series, t.series.get(series), r, t.start, POINTS);
}

export function line(id: string, label: string, color: string, values: (number | null)[], more: Partial<Line> = {}): Line {
    return { id, label, color, values, ...more };
}

// "81.0 % [Session]", "~81.0 % [Session]" where an earlier census told it; of all of it without the share.
export function holdsText(holds: Holds | undefined): string {
    if (!holds || holds.share > 0.9995) return holds?.name ?? "";
    return `${holds.older ? "~" : ""}${share(holds.share)} ${holds.name}`;
}

// The time of something, in the clock of the page.
export function when(app: App, t: Target, s: number | undefined): string {
    if (s !== undefined && s < 0 && app.clockStart(t) === undefined) return "before";
    return s === undefined ? UNKNOWN : clock(s, app.clockStart(t), Math.abs(s) < 100 && app.clockStart(t) === undefined ? 0.01 : 1);
}

// A moment of an alert as an event time of this run. It may be of a run before: then its time of day says how long before this one.
export function alertTime(t: Target, ns: U64 | undefined, wallNs: U64 | undefined): number | undefined {
    const wall = seconds(wallNs);
    return wall !== undefined && t.start !== undefined && ns !== undefined ? wall - t.start : seconds(ns);
}

// The same in words. Of a run that no event is known of, the time of day is all there is. `seen`: without the alert's own, when it was seen.
export function alertWhen(app: App, t: Target, ns: U64 | undefined, wallNs: U64 | undefined, seen?: number): string {
    const wall = seconds(wallNs);
    return app.clock === "clock" && t.start === undefined && wall !== undefined ? clock(wall, 0, 1) : when(app, t, alertTime(t, ns, wallNs) ?? seen);
}

// What grows is off the heap: its pictures come before those of bands.
export function isForeign(t: Target): boolean {
    return t.answers?.band === undefined && t.answers?.culprit === "foreign";
}

// Of when the bands are: "last census 4m 10s ago at 2.4 MiB …".
export class CensusLine {
    readonly root = h("p", { class: "muted census-age" });

    constructor(private app: App) {}

    show(t: Target | undefined): void {
        const c = t?.answers?.census, at = seconds(c?.timeNs);
        this.root.hidden = !c;
        if (!t || !c) return;
        setAttr(this.root, "data-tone", c.stale ? "warn" : "dim");
        setText(this.root, visible(`${c.before ?? ""}${at === undefined ? "" : age(Math.max(0, this.app.newest(t) - at))}${c.after ?? ""}`));
    }
}

// The same as a number, to sort rows of several targets by what is shown.
export function whenNumber(app: App, t: Target, s: number | undefined): number | undefined {
    return s === undefined ? undefined : (app.clockStart(t) ?? 0) + s;
}

export function title(text: string): { root: HTMLElement; set: (t: Target | undefined) => void } {
    const name = h("bdi", { class: "label" }), run = h("span", { class: "muted" });
    return { root: h("h2", {}, text, name, run), set: (t) => {
        setText(name, t ? visible(t.name) : "");
        const program = t?.state?.runInfo?.program;
        const words = [program !== t?.name ? program : undefined, ...(t?.state?.labels ?? [])].filter((w) => w !== undefined);
        setText(run, visible(words.join(" · ")));
    } };
}

export function noteMode(app: App): string {
    const o = app.options;
    return app.route.get("notes", o.traces === false ? "none" : o.traceEvents ? "all" : "markers");
}

// The moment that the reader marked, event seconds; it is part of the address.
export function markOf(app: App): number | undefined {
    const at = app.route.number("mark", NaN, 0, Number.MAX_SAFE_INTEGER);
    return Number.isNaN(at) ? undefined : at;
}

// The button that marks the newest moment, or removes the mark.
export class MarkButton {
    readonly root = h("button", { type: "button", title: "compares this moment with what follows: every band, and every part of resident memory",
        onclick: () => this.app.route.set({ mark: markOf(this.app) === undefined && this.target ? this.app.newest(this.target) : undefined }) });
    private target: Target | undefined;

    constructor(private app: App) {}

    show(t: Target | undefined): void {
        this.target = t;
        setText(this.root, markOf(this.app) === undefined ? "Mark now" : "Remove the mark");
        setAttr(this.root, "disabled", t ? null : "");
    }
}

// Notes in the range as lines, and the mark. The address says which kinds, and substrings to include or exclude.
export function noteMarkers(app: App, t: Target, r: Span): Marker[] {
    const mode = noteMode(app), mark = markOf(app);
    const marked: Marker[] = mark !== undefined && mark >= r.from && mark <= r.to ? [{ t: mark, text: "mark" }] : [];
    if (mode === "none") return marked;
    const list = (name: string, fallback: string[] | undefined) => {
        const text = app.route.get(name);
        return (text ? text.split(",") : fallback ?? []).map((s) => s.trim()).filter(Boolean);
    };
    const include = list("inc", app.options.include), exclude = list("exc", app.options.exclude), out = marked;
    for (const n of t.notes) {
        const at = (num(n.timeNs) ?? NaN) / 1e9, text = n.text ?? "";
        if (!(at >= r.from && at <= r.to) || !(n.what === "WHAT_MARKER" || (mode === "all" && n.what === "WHAT_MESSAGE"))) continue;
        if (include.length && !include.some((s) => text.includes(s))) continue;
        if (exclude.some((s) => text.includes(s))) continue;
        out.push({ t: at, text });
        if (out.length >= MARKERS_MAX) break;
    }
    return out;
}

// Where another build or label began to run; a restart of the same is a tick on the axis.
export function deployMarkers(t: Target, r: Span): Marker[] {
    return t.archive.deploys(r, t.start).map((d) => (d.text ? { t: d.t, text: d.text, solid: true } : { t: d.t, text: "", faint: true }));
}

export function majorMarkers(t: Target, r: Span): Marker[] {
    const s = t.series.get("live"), at = s ? moments(s, r.from, r.to) : []; // a sample for each
    return at.length > 600 ? [] : at.map((t) => ({ t, text: "", faint: true }));
}

// The search of a page; an invalid expression filters nothing, and a message says so.
export function searching(app: App, name: string, input: HTMLElement): (s: string) => boolean {
    const m = matcher(app.route.get(name)), field = input.querySelector("input");
    field?.classList.toggle("wrong", !m);
    if (field) setAttr(field, "aria-invalid", m ? null : "true");
    let message = input.querySelector(".search-error");
    if (!message) input.append((message = h("span", { class: "search-error", role: "status" })));
    setText(message, m ? "" : "not a regular expression: all are shown");
    return m ?? (() => true);
}
