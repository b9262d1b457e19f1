// SPDX-License-Identifier: BSD-3-Clause
/*
 * report.ts - the data in the document of a report, and the same made from what a live page knows.
 */
import { expand } from "./grids.ts";
import { TOTAL } from "./questions.ts";
import type { Target } from "../state/target.ts";
import type { View } from "../state/view.ts";
import type { App } from "../app.ts";
import type { InspectionsOf } from "./inspections.ts";
import type { HistoryItem, ReportData, Tagged, Update } from "../state/wire.ts";

export function embedded(): ReportData | undefined {
    const el = document.getElementById("data");
    return el ? (JSON.parse(el.textContent ?? "null") as ReportData) : undefined;
}

export function load(view: View, data: ReportData): void {
    view.notesBound = Infinity;
    view.reset(data.state);
    view.history(expand(data.history));
    view.diff = data.diff;
}

const ns = (s: number) => String(Math.round(s * 1e9));

function updatesOf(t: Target): Tagged[] {
    const head = { target: t.name, run: t.run, eventTimeNs: ns(t.eventTime) };
    const bodies: Partial<Update>[] = [
        { targetState: t.state }, { health: t.health },
        { bands: { bands: [...t.bands.values()].map((b) => b.def) } },
        { census: t.census }, { heap: t.heap }, { sched: t.sched },
        { gc: t.gc && { ...t.gc, collections: t.collections.map((c) => ({
            endTimeNs: ns(c.t), pauseNs: c.pause, generation: c.generation, major: c.major })) } },
        { notes: { notes: t.notes, dropped: t.notesDropped } },
        { profile: t.profile && { ...t.profile, stacks: [...t.stacks.values()] } },
        { ticky: { counters: [...t.ticky.values()] } },
        { trends: { trends: [...t.trends.values()] } }, { alerts: t.alerts },
    ];
    return bodies.filter((b) => Object.values(b)[0] !== undefined).map((b) => ({ daemon: t.daemon, update: { ...head, ...b } }));
}

function historyOf(t: Target): HistoryItem[] {
    const head = { daemon: t.daemon, target: t.name, run: t.run };
    const items: HistoryItem[] = [];
    for (const [series, s] of t.series) {
        const column = (c: Float64Array) => [...c.subarray(0, s.n)];
        items.push({ ...head, series, unit: series === "gc_pause" ? "ns" : "B", times: column(s.from), ends: column(s.t), last: column(s.v),
            min: column(s.min), max: column(s.max), mean: column(s.mean), count: column(s.count) });
    }
    const c = t.censuses;
    if (c.n) items.push({ ...head, band: TOTAL, label: "total", unit: "B", ...known(c.times, c.totals) });
    for (const band of c.columns.keys()) {
        items.push({ ...head, band, label: t.bands.get(band)?.def.label, unit: "B", ...known(c.times, c.values(band, 0, c.n)),
            stats: t.bands.get(band)?.stats });
    }
    return items;
}

function known(times: number[], v: ArrayLike<number>): { times: number[]; last: number[] } {
    const keep = times.map((_, i) => i).filter((i) => !Number.isNaN(v[i]!));
    return { times: keep.map((i) => times[i]!), last: keep.map((i) => v[i]!) };
}

// Everything that the page knows, as a report's data.
export function exported(view: View, app: Partial<Pick<App, "profiles" | "heaps" | "threads">> = {}): ReportData {
    const targets = view.sorted();
    const kept = <T>(all: InspectionsOf<T> | undefined) => {
        const found = targets.flatMap((t) => {
            const p = all?.known(t.key);
            return p ? [{ ...p, daemon: t.daemon, target: t.name }] : [];
        });
        return found.length ? found : undefined;
    };
    return {
        diff: view.diff,
        meta: { version: view.server.version, madeWallNs: String(Date.now()) + "000000", options: {},
            logs: targets.map((t) => ({ daemon: t.daemon, target: t.name, file: t.state?.uri,
                thinned: true, thinning: "saved from the page: what it knew at that moment" })) },
        state: {
            server: { version: view.server.version, live: false, control: false },
            daemons: [...view.daemons.values()].map(({ daemon, endpoint, heardWallNs }) => ({ daemon, endpoint, heardWallNs })),
            updates: targets.flatMap(updatesOf),
            answers: targets.flatMap((t) => t.answers ?? []),
        },
        history: { items: targets.flatMap(historyOf) },
        profiles: kept(app.profiles),
        heaps: kept(app.heaps),
        threads: kept(app.threads),
    };
}

function text(selector: string): string {
    const el = document.querySelector(selector);
    if (!el) throw new Error(`the page has no ${selector}`);
    return el.textContent ?? "";
}

async function hash(s: string): Promise<string> {
    const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(s)));
    return `'sha256-${btoa(String.fromCharCode(...sum))}'`;
}

// The whole page with its data in one file that needs no server. The data have every `<` escaped.
export async function standalone(app: App): Promise<Blob> {
    const style = text("style");
    const script = text("#script"), flame = text("#flame");
    const data = JSON.stringify(exported(app.view, app)).replace(/</g, "\\u003c");
    const policy = globalThis.crypto?.subtle
        ? `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${await hash(script)} ${await hash(flame)}; ` +
          `style-src ${await hash(style)}; img-src data: blob:">\n` : "";
    return new Blob([
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n', policy,
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n',
        "<title>heapwatch</title>\n", `<link rel="icon" href="data:,">\n<style>${style}</style>\n</head>\n<body>\n`,
        '<div id="app"></div>\n', `<script type="application/json" id="data">${data}</script>\n`,
        `<script type="text/plain" id="flame">${flame}</script>\n<script id="script">${script}</script>\n</body>\n</html>\n`,
    ], { type: "text/html" });
}
