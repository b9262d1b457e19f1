// SPDX-License-Identifier: BSD-3-Clause
/*
 * detail.ts - the table of all bands with their statistics over the range, and one band opened: its curve and its full definition.
 */
import type { App, Page } from "../app.ts";
import { h } from "../dom.ts";
import { setName } from "../widgets/name.ts";
import { verdict } from "../state/judge.ts";
import { bandStats, censusWindow } from "../state/rank.ts";
import { lowerBound } from "../state/series.ts";
import type { Band, Target } from "../state/target.ts";
import { bandColor } from "../theme.ts";
import { bytes, BYTES_UNIT, count, plain, signedBytes, slope, UNKNOWN } from "../units.ts";
import { Chart } from "../widgets/chart.ts";
import { field } from "../widgets/controls.ts";
import { pill } from "../widgets/facts.ts";
import { sparkline } from "../widgets/sparkline.ts";
import { type Column, Table } from "../widgets/table.ts";
import { CensusLine, holdsText, line, majorMarkers, MarkButton, markOf, noteMarkers, searching, title, zooming } from "./common.ts";
import { commandControl } from "./control.ts";
import { Definition } from "./definition.ts";

interface Row {
    band: Band;
    key: string;
    rank: number;
    now?: number;
    closures?: number;
    sinceMark?: number;
    sum?: number;
    integrated?: number;
    mean?: number;
    stddev?: number;
    intercept?: number;
    slope?: number;
    low?: number;
    high?: number;
    fit?: number;
    nslope?: number;
    verdict?: string;
}

const num = (id: keyof Row & string, name: string, width: string, text: (x: number | undefined) => string, hint?: string, wide = true): Column<Row> =>
    ({ id, title: name, width, hint, wide, value: (r) => r[id] as number | undefined, text: (r) => text(r[id] as number | undefined) });

// What eventlog2html's table has, too. An opened band shows what of it has a unit.
const saved = (id: keyof Row & string, name: string): Column<Row> => ({ ...num(id, name, "0px", plain), undrawn: true });

function columns(target: () => Target | undefined, span: () => [number, number], isMarked: () => boolean): Column<Row>[] {
    return [
        { id: "curve", title: "Curve", width: "112px", left: true, wide: true, unsaved: true, value: (r) => r.now, draw: (c, r) => {
            const t = target(), [from, to] = span();
            sparkline(c, t?.censuses.times.slice(from, to) ?? [], t?.censuses.values(r.band.id, from, to) ?? [], 92, 20);
        } },
        saved("rank", "Rank"),
        { id: "label", title: "Band", width: "minmax(130px, 2fr)", left: true, value: (r) => r.band.def.label ?? "", draw: (c, r) => setName(c, r.band.def.label ?? UNKNOWN) },
        { id: "verdict", title: "Verdict", width: "104px", left: true, first: "desc", value: (r) => verdict(r.verdict).text, by: (r) => verdict(r.verdict).weight, hint: "of the band alone: unknown, steady, rising, growing or leak",
            draw: (c, r) => pill(c, verdict(r.verdict).text, verdict(r.verdict).tone) },
        ...origin(target),
        num("now", "Now", "92px", bytes, "in the newest census", false),
        { ...num("closures", "Closures", "92px", count, "in the newest census, which was read from outside"), hidden: () => !target()?.census?.closures },
        { id: "holds", title: "Holds", width: "minmax(170px, 1fr)", left: true, wide: true, hint: "what most of its closures are, by what they hold",
            value: (r) => r.band.holds?.name, draw: (c, r) => setName(c, holdsText(r.band.holds)), hidden: () => !target()?.census?.contents },
        { ...num("sinceMark", "Since mark", "100px", signedBytes, "now, compared with the newest census at the mark or before it", false), hidden: () => !isMarked() },
        saved("sum", "Sum"),
        num("mean", "Mean", "92px", bytes),
        { id: "slope", title: "Slope", width: "120px", wide: true, hint: "robust slope where the daemon has judged it, else least squares over this range",
            value: (r) => r.slope, rate: "signed" },
        { id: "interval", title: "± 95 %", width: "132px", wide: true, hint: "half of the slope's interval: the true slope is within it about 19 times of 20",
            value: (r) => (r.low === undefined || r.high === undefined ? undefined : (r.high - r.low) / 2),
            rate: "half" },
        saved("stddev", "Std. dev."), saved("intercept", "Intercept"), saved("fit", "Fit"), saved("nslope", "Norm. slope"),
    ];
}

// "<entire-module>" and ":" are what GHC writes where it knows no place.
const place = (s: string | undefined) => (s && !/^[<:]/.test(s) ? s : undefined);

// Where a band comes from. Bands that share a label, such as five of "Main.main", are distinguished by these.
function origin(target: () => Target | undefined): Column<Row>[] {
    const text = (id: "type" | "module" | "source", name: string, width: string, of: (b: Band) => string | undefined, hint: string): Column<Row> =>
        ({ id, title: name, width, left: true, wide: true, hint, value: (r) => of(r.band), draw: (c, r) => setName(c, of(r.band) ?? ""),
            hidden: () => ![...(target()?.bands.values() ?? [])].some((b) => of(b)) });
    return [
        text("type", "Type", "minmax(80px, 1fr)", (b) => b.def.infoTable?.type || undefined, "of the closures, where the info table knows it"),
        text("module", "Module", "minmax(80px, 1fr)", (b) => b.def.infoTable?.module || b.def.stack?.[0]?.module || undefined, "that allocates them"),
        text("source", "Source", "minmax(130px, 2fr)", (b) => place(b.def.infoTable?.source) ?? place(b.def.stack?.[0]?.source), "where they are allocated"),
    ];
}

export function detail(app: App): Page {
    const { route } = app, heading = title("Detail"), filter = field(route, "q", "Bands", "text or /regexp/"), census = new CensusLine(app);
    let drawn: Target | undefined, span: [number, number] = [0, 0]; // of the rows: they may be drawn again (a scroll) before the next update
    const table = new Table<Row>({ id: "bands", title: "All bands", columns: columns(() => drawn, () => span, () => markOf(app) !== undefined), key: (r) => r.key, route,
        sort: "-now", height: 1200, empty: "No band. A heap profile (+RTS -hT, -hi, -hc …) breaks memory down; a search may hide all of it.",
        onopen: (r) => route.set({ band: route.get("band") === r.key ? undefined : r.key }), opened: () => route.get("band") });
    const chart = new Chart({ ...zooming(app), id: "band", title: "Band", unit: BYTES_UNIT, height: 240 });
    const definition = new Definition((key) => route.set({ iso: key }, "heap"), () => route.set({ band: undefined }));
    const opened = h("div", { class: "beside" }, chart.root, definition.root);
    const mark = new MarkButton(app);
    const taken = commandControl(app);
    const root = h("div", { class: "stack" }, h("div", { class: "pagehead" }, heading.root, h("span", { class: "spacer" }), mark.root, filter.root), census.root, taken.root, opened, table.root);
    const rows = new Rows(app);

    function update(): void {
        const t = (drawn = app.target());
        heading.set(t);
        filter.update();
        mark.show(t);
        census.show(t);
        taken.update(t);
        const keep = searching(app, "q", filter.root);
        if (!t) {
            opened.hidden = true;
            return table.show([]);
        }
        span = censusWindow(t, app.range(t));
        const all = rows.of(t, span), shown = all.filter((r) => keep(r.band.def.label ?? ""));
        const left = t.number("bands_left_out") ?? 0;
        table.show(shown, `${count(shown.length)} of ${count(all.length)}${left ? `; ${count(left)} more beyond the daemon's limit` : ""}`);
        const band = route.get("band") ? t.bandOf(route.get("band")) : undefined;
        opened.hidden = !band;
        if (!band) return;
        const range = app.range(t), row = all.find((r) => r.band === band);
        const values = t.censuses.values(band.id, ...span).map((v) => (Number.isNaN(v) ? null : v));
        chart.show({ x: t.censuses.times.slice(...span), lines: [line("band", band.def.label ?? UNKNOWN, bandColor("calm", 0, 1), values, { kind: "area" })],
            range, start: app.clockStart(t), markers: [...majorMarkers(t, range), ...noteMarkers(app, t, range)] },
        "No census of this band in this range.");
        definition.show(app, t, band, row ? [
            { name: "now", value: bytes(row.now) }, { name: "integrated over time", value: row.integrated === undefined ? UNKNOWN : `${bytes(row.integrated)}·s` },
            { name: "mean ± deviation", value: `${bytes(row.mean)} ± ${bytes(row.stddev)}` },
            { name: "slope", value: slope(row.slope) }, { name: "intercept", value: signedBytes(row.intercept) },
        ] : []);
    }
    return { root, update, wants: "all bands", done: () => (table.done(), chart.done()) };
}

// Rows are rebuilt for a new census or another range, not for every message.
class Rows {
    private sign = "";
    private rows: Row[] = [];

    constructor(private app: App) {}

    of(t: Target, [from, to]: [number, number]): Row[] {
        const sign = [t.key, t.run, from, to, t.censuses.change, t.bands.size,
            t.trends.size, this.app.rangeText, markOf(this.app)].join("|");
        if (sign === this.sign) return this.rows;
        this.sign = sign;
        const whole = this.app.rangeText === "all";
        const mark = markOf(this.app), { times } = t.censuses, n = times.length;
        const then = mark === undefined || !(times[n - 1]! > mark) ? -1 : lowerBound(times, n, mark + 1e-9) - 1; // no census since: nothing to compare
        this.rows = [...t.bands.values()].map((b) => {
            const before = then < 0 ? NaN : t.censuses.bytes(b.id, then);
            return { ...row(t, b, from, to, whole), sinceMark: Number.isNaN(before) || b.isUnseen ? undefined : b.bytes - before };
        });
        const by = [...this.rows].sort((a, b) => (b.sum ?? -1) - (a.sum ?? -1));
        by.forEach((r, i) => (r.rank = i + 1));
        return this.rows;
    }
}

function row(t: Target, band: Band, from: number, to: number, whole: boolean): Row {
    const s = bandStats(t, band, from, to), b = whole ? band.stats : undefined, trend = t.trends.get(band.id);
    const slopeHere = b?.slopeBytesPerS ?? s?.slopeBps;
    const robust = trend?.slope !== undefined;
    return { band, key: t.bandKey(band), rank: 0, now: band.isUnseen ? undefined : band.bytes, closures: band.closures, sum: b?.sum ?? s?.sum, integrated: b?.integrated ?? s?.integrated,
        mean: b?.mean ?? s?.mean, stddev: b?.stddev ?? s?.stddev, intercept: b?.interceptBytes ?? s?.interceptBytes,
        slope: trend?.slope ?? slopeHere,
        low: robust ? trend?.slopeLow : s?.interval === undefined ? undefined : s.slopeBps! - s.interval,
        high: robust ? trend?.slopeHigh : s?.interval === undefined ? undefined : s.slopeBps! + s.interval,
        fit: b?.fit ?? s?.fit, nslope: b?.slope ?? s?.slope, verdict: trend?.word };
}
