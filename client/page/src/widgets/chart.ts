// SPDX-License-Identifier: BSD-3-Clause
/*
 * chart.ts - one chart over time: uPlot inside, with the page's range, one cursor over all charts, a legend that is also the
 * chart's table for screen readers, marker lines, and saving.
 *
 * DESIGN: a chart is shown from a Plot: series in the order of the legend. A stack is drawn from its top down, each layer filled to
 * zero, so later ones cover earlier ones and colours stay pure. uPlot is made again only when the series change; data alone are set.
 */
import uPlot from "uplot";
import { h, label, setAttr, setText, svg, visible } from "../dom.ts";
import { name } from "./name.ts";
import type { Span } from "../range.ts";
import { css } from "../theme.ts";
import { clock, known, type Unit, UNKNOWN } from "../units.ts";
import { tools } from "./bars.ts";
import { type ChartPicture, saveChartPng, saveChartSvg } from "./picture.ts";
import { LABEL_HEIGHT, placeLabels } from "./labels.ts";
import type { Line, Plot } from "./plot.ts";
import { register } from "./registry.ts";

export interface ChartOptions {
    id: string;
    title: string;
    unit: Unit;
    height?: number;
    log?: boolean;
    legend?: "side" | "below";
    onzoom: (s: Span) => void;
    onslide: () => void;
    onpick?: (id: string) => void;
    picked?: () => string;
    onhide?: (id: string) => void; // the box of a line in the legend was clicked
    hidden?: (id: string) => boolean;
}

const TIME_STEPS = [1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2,
    5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 2592000];

const LABEL = 62; // px of a label of the time axis, with its air
const LABEL_FINE = 92, FINE_S = 15; // for labels with fractions of seconds

const BINARY_STEPS = Array.from({ length: 60 }, (_, i) => 2 ** i);

export class Chart {
    readonly root: HTMLElement;
    private plot: Plot | undefined;
    private u: uPlot | undefined;
    private signature = "";
    private readonly canvas = h("div", { class: "chart-canvas", tabindex: "0", role: "img" });
    private readonly legend = h("div", { class: "legend", role: "list" });
    private readonly empty = h("p", { class: "empty" });
    private readonly tools: HTMLElement;
    private readonly moment = h("span", { class: "muted moment" }); // of the crosshair
    private values: HTMLElement[] = [];
    private readonly watch: ResizeObserver;
    private moved = 0;
    private marked = false; // whether its first painting was marked in the browser's timeline

    constructor(readonly o: ChartOptions) {
        this.tools = tools(o.title, () => void saveChartPng(this.picture()), () => saveChartSvg(this.picture()));
        this.root = h("figure", { class: `chart legend-${o.legend ?? "below"}`, "data-chart": o.id },
            h("figcaption", {}, h("h3", {}, o.title), this.moment, this.tools), this.canvas, this.empty, this.legend);
        this.canvas.style.height = `min(${o.height ?? 220}px, 58vh)`;
        this.canvas.addEventListener("keydown", (e) => this.key(e));
        this.watch = new ResizeObserver(() => this.resize());
        this.watch.observe(this.canvas);
        register("chart", o.id, () => this.data());
    }

    get drawn(): boolean {
        return !!this.u;
    }

    done(): void {
        this.watch.disconnect();
        this.u?.destroy();
        this.u = undefined;
        register("chart", this.o.id, undefined);
    }

    // `why`: the message when there is nothing to draw.
    show(plot: Plot, why: string): void {
        this.plot = plot;
        const nothing = !plot.x.length || !plot.lines.length;
        this.canvas.hidden = this.legend.hidden = this.tools.hidden = nothing;
        this.empty.hidden = !nothing;
        if (nothing) {
            setText(this.empty, why);
            return;
        }
        const signature = JSON.stringify([document.documentElement.dataset["theme"], plot.stacked, plot.top, this.o.picked?.(),
            plot.lines.map((l) => [l.id, l.label, l.color, l.kind, !!l.gaps?.length, this.o.hidden?.(l.id)])]);
        if (!this.u || signature !== this.signature) this.make(plot, signature);
        else this.u.setData(this.columns(plot));
        this.describe();
        this.say(this.u?.cursor.idx ?? null);
    }

    // What the chart shows, for tests and for scripts.
    private data(): unknown {
        const p = this.plot;
        if (!p) return undefined;
        return { title: this.o.title, x: p.x, range: p.range, stacked: !!p.stacked, markers: p.markers ?? [],
            series: p.lines.map((l) => ({ id: l.id, label: l.label, color: l.color, values: l.values, gaps: l.gaps })),
            scaleY: this.u && { min: this.u.scales["y"]?.min, max: this.u.scales["y"]?.max } };
    }

    private picture(): ChartPicture {
        return { title: this.o.title, id: this.o.id, unit: this.o.unit, plot: this.plot, u: this.u };
    }

    private make(plot: Plot, signature: string): void {
        this.u?.destroy();
        this.signature = signature;
        this.u = new uPlot(this.settings(plot), this.columns(plot), this.canvas);
        if (this.o.onpick) this.u.over.addEventListener("click", (e) => this.pick(e));
        this.drawLegend(plot);
        if (!this.marked) requestAnimationFrame(() => setTimeout(() => performance.mark(`picture:${this.o.id}`)));
        this.marked = true;
    }

    // Drawing order: a stack from its top layer down.
    private order(plot: Plot): Line[] {
        return plot.stacked ? [...plot.lines].reverse() : plot.lines;
    }

    private columns(plot: Plot): uPlot.AlignedData {
        if (!plot.stacked) return [plot.x, ...plot.lines.map((l) => drawn(l, l.values))] as uPlot.AlignedData;
        const sums: (number | null)[][] = [];
        let below: (number | null)[] | undefined;
        for (const l of plot.lines) {
            const sum: (number | null)[] = l.values.map((v, i) => (v === null && !known(below?.[i]) ? null : (v ?? 0) + (below?.[i] ?? 0)));
            sums.push(drawn(l, sum) as (number | null)[]);
            below = sum;
        }
        return [plot.x, ...sums.reverse()] as uPlot.AlignedData;
    }

    private settings(plot: Plot): uPlot.Options {
        const line = css("--line"), text = css("--muted"), font = `11px ${css("--font")}`;
        const axis = { stroke: text, font, grid: { stroke: line, width: 1 }, ticks: { show: false } };
        const o = this.o;
        return {
            ...this.size(),
            legend: { show: false },
            padding: [8, 10, 0, 0],
            scales: {
                x: { time: false, range: () => [this.plot!.range.from, this.plot!.range.to] },
                y: { distr: o.log ? 3 : 1, range: (_u, low, high) => this.yRange(low, high) },
            },
            axes: [
                { ...axis, size: 26, incrs: TIME_STEPS, space: (_u, _i, from, to) => (to - from < FINE_S ? LABEL_FINE : LABEL), splits: (_u, _a, from, to, step) => this.timeSplits(from, to, step),
                    values: (u, splits, _a, _s, step) => splits.map((s) => this.cut(u, s) ? "" : clock(s, this.plot!.start, step)) },
                { ...axis, size: 66, gap: 4, space: 34, ...(o.log ? { splits: (_u: uPlot, _a: number, low: number, high: number) => decades(low, high) } : o.unit.binary ? { incrs: BINARY_STEPS } : {}),
                    values: (_u, splits) => splits.map((s) => (s === null ? "" : short((o.unit.tick ?? o.unit.text)(s)))) },
            ],
            series: [{}, ...this.order(plot).map((l) => this.series(l, !!plot.stacked, plot.lines.indexOf(l)))],
            cursor: {
                y: false, points: { show: !plot.stacked, size: 6 }, sync: { key: "heapwatch", scales: ["x", null] },
                drag: { x: true, y: false, setScale: false, dist: 5 },
                bind: { dblclick: () => () => (o.onslide(), null) },
            },
            hooks: {
                setSelect: [(u) => this.selected(u)],
                setCursor: [(u) => this.say(u.cursor.idx ?? null)],
                draw: [(u) => this.marks(u)],
            },
        };
    }

    private series(l: Line, stacked: boolean, i: number): uPlot.Series {
        const points = l.kind === "points", dash = dashOf(l, i);
        return {
            label: l.id, stroke: stacked ? css("--card") : l.color, width: stacked ? this.seam(l) : points ? 0 : 1.6,
            ...(l.gaps?.length ? { spanGaps: false, gaps: (u: uPlot) => this.gaps(u, l.id) } : { spanGaps: true }),
            ...(stacked || l.kind === "area" ? { fill: stacked ? (l.hatch ? hatch(l.color, i) : l.color) : `${l.color}33` } : {}),
            ...(dash && !stacked ? { dash } : {}),
            ...(l.kind === "step" ? { paths: uPlot.paths.stepped!({ align: 1 }) } : {}),
            ...(points ? { paths: () => null } : {}),
            points: points ? { show: true, size: 4, width: 0, fill: l.color, stroke: l.color }
                : { show: l.values.filter((v) => v !== null).length === 1, size: 5, fill: l.color, stroke: l.color },
        };
    }

    // The gaps of a line in pixels, in order.
    private gaps(u: uPlot, id: string): [number, number][] {
        return (this.plot?.lines.find((l) => l.id === id)?.gaps ?? []).map(([from, to]): [number, number] => [u.valToPos(from, "x", true), u.valToPos(to, "x", true)])
            .sort((a, b) => a[0] - b[0]);
    }

    // The line between two layers, unless there are so many points that only the lines would be visible.
    private seam(l: Line): number {
        return l.values.length * 3 > this.canvas.clientWidth ? 0 : 0.6;
    }

    // Whether a label of the time axis would be cut at the chart's end.
    private cut(u: uPlot, s: number): boolean {
        const x = u.valToPos(s, "x"), width = u.bbox.width / (devicePixelRatio || 1); // the element itself has no width yet when a chart is made
        return width > 0 && x > width + 10 - LABEL / 2;
    }

    private yRange(low: number | null, high: number | null): [number, number] {
        const top = this.plot?.top;
        if (this.o.log) return [10 ** Math.floor(Math.log10(Math.max(low ?? 1, 1))), 10 ** Math.ceil(Math.log10(Math.max(high ?? 10, 10)))];
        return [0, top ?? (high && high > 0 ? high * 1.08 : 1)];
    }

    private timeSplits(from: number, to: number, step: number): number[] {
        const zone = this.plot?.start === undefined ? 0 : this.plot.start - new Date(this.plot.start * 1000).getTimezoneOffset() * 60;
        const out: number[] = [];
        for (let i = Math.ceil((from + zone) / step - 1e-9); i * step - zone <= to + step * 1e-6; i++) out.push(i * step - zone);
        return out;
    }

    private size(): { width: number; height: number } {
        return { width: Math.max(80, this.canvas.clientWidth), height: Math.max(80, this.canvas.clientHeight) };
    }

    private resize(): void {
        if (this.u && this.canvas.clientWidth) this.u.setSize(this.size());
    }

    private selected(u: uPlot): void {
        if (u.select.width < 4) return;
        this.moved = Date.now();
        const from = u.posToVal(u.select.left, "x"), to = u.posToVal(u.select.left + u.select.width, "x");
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        this.o.onzoom({ from, to });
    }

    // A click on a layer of a stack, or near a line.
    private pick(e: MouseEvent): void {
        const u = this.u, p = this.plot, i = u?.cursor.idx;
        if (!u || !p || i === null || i === undefined || Date.now() - this.moved < 300) return;
        const y = u.posToVal(e.offsetY, "y");
        let best: Line | undefined, distance = Infinity, sum = 0;
        for (const l of p.lines) {
            const v = l.values[i];
            if (!known(v)) continue;
            sum += v;
            if (p.stacked && y <= sum) {
                best = l;
                break;
            }
            if (!p.stacked && Math.abs(v - y) < distance) {
                best = l;
                distance = Math.abs(v - y);
            }
        }
        if (best) this.o.onpick?.(best.id);
    }

    // Arrows move, plus and minus zoom, 0 goes back to the sliding range.
    private key(e: KeyboardEvent): void {
        const r = this.plot?.range;
        if (!r) return;
        const w = r.to - r.from, mid = r.from + w / 2;
        const moves: Record<string, () => void> = {
            ArrowLeft: () => this.o.onzoom({ from: r.from - w / 4, to: r.to - w / 4 }),
            ArrowRight: () => this.o.onzoom({ from: r.from + w / 4, to: r.to + w / 4 }),
            "+": () => this.o.onzoom({ from: mid - w / 4, to: mid + w / 4 }),
            "-": () => this.o.onzoom({ from: mid - w, to: mid + w }),
            "0": () => this.o.onslide(),
        };
        const move = moves[e.key === "=" ? "+" : e.key];
        if (!move || e.ctrlKey || e.metaKey || e.altKey) return;
        e.preventDefault();
        move();
    }

    private marks(u: uPlot): void {
        const markers = this.plot?.markers ?? [];
        if (!markers.length) return;
        const { ctx, bbox } = u, ratio = devicePixelRatio || 1, bottom = bbox.top + bbox.height;
        ctx.save();
        ctx.beginPath();
        ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
        ctx.clip();
        ctx.lineWidth = ratio;
        ctx.font = `${11 * ratio}px ${css("--font")}`;
        ctx.textBaseline = "top";
        ctx.textAlign = "left";
        const seen = markers.map((m) => ({ ...m, at: Math.round(u.valToPos(m.t, "x", true)) + 0.5 }))
            .filter((m) => m.at >= bbox.left - 1 && m.at <= bbox.left + bbox.width + 1);
        for (const m of seen) {
            ctx.strokeStyle = css(m.faint ? "--muted" : "--marker");
            ctx.globalAlpha = m.faint ? 0.55 : 0.8;
            ctx.setLineDash(m.faint || m.solid ? [] : [3 * ratio, 3 * ratio]);
            ctx.beginPath();
            ctx.moveTo(m.at, m.faint ? bottom - 5 * ratio : bbox.top);
            ctx.lineTo(m.at, bottom);
            ctx.stroke();
        }
        const widthOf = (text: string) => ctx.measureText(text).width;
        for (const l of placeLabels(seen, widthOf, { from: bbox.left, to: bbox.left + bbox.width }, 5 * ratio)) {
            const y = bbox.top + (1 + LABEL_HEIGHT * l.row) * ratio;
            ctx.globalAlpha = 0.85;
            ctx.fillStyle = css("--card");
            ctx.fillRect(l.x - 3 * ratio, y, widthOf(l.text) + 6 * ratio, LABEL_HEIGHT * ratio);
            ctx.globalAlpha = 1;
            ctx.fillStyle = css("--marker");
            ctx.fillText(l.text, l.x, y + 2 * ratio);
        }
        ctx.restore();
    }

    private drawLegend(plot: Plot): void {
        const picked = this.o.picked?.() ?? "";
        this.values = plot.lines.map(() => h("span", { class: "value" }, UNKNOWN));
        const items = plot.lines.map((l, i) => {
            const swatch = plot.stacked || l.kind === "points" ? h("span", { class: "swatch", "aria-hidden": "true" }) : stroke(l, i);
            if (swatch instanceof HTMLElement) {
                swatch.style.background = l.hatch ? hatchStyle(l.color, i) : l.color;
                swatch.style.borderRadius = l.kind === "points" ? "50%" : "";
            }
            const inner = [swatch, this.o.legend === "side" ? name(l.label) : label(l.label), this.values[i]!];
            const box = this.o.onhide && h("input", { type: "checkbox", checked: !this.o.hidden?.(l.id), "aria-label": `Show ${visible(l.label)}`,
                onchange: () => this.o.onhide!(l.id) });
            return h("div", { role: "listitem" }, box, this.o.onpick
                ? h("button", { class: "key", "aria-pressed": String(picked === l.id), title: l.label, onclick: () => this.o.onpick!(l.id) }, ...inner)
                : h("span", { class: "key" }, ...inner));
        });
        // A stack reads from its top down.
        this.legend.replaceChildren(...items);
        this.legend.classList.toggle("some-picked", picked !== "");
    }

    // The values at the cursor, else the newest ones.
    private say(i: number | null): void {
        const p = this.plot;
        if (!p || this.values.length !== p.lines.length) return;
        setText(this.moment, i === null ? "" : this.clocks(p.x[i]!));
        p.lines.forEach((l, k) => {
            let v: number | null | undefined = i === null ? l.last : null;
            for (let j = i ?? l.values.length - 1; j >= 0 && !known(v); j--) v = i !== null && inGap(l, p.x[j]!, p.x[i]!) ? (j = 0, undefined) : l.values[j];
            setText(this.values[k]!, this.o.unit.text(v));
        });
    }

    // A time in the clock of the axis, and in the other one.
    private clocks(at: number): string {
        const p = this.plot!, step = p.range.to - p.range.from < FINE_S ? 0.01 : 1, run = clock(Math.abs(at), undefined, step);
        const day = p.range.to - p.range.from > 86400 ? `${clock(at, p.start, 86400)} ` : "";
        return p.start === undefined ? clock(at, undefined, step) : `${day}${clock(at, p.start, step)}, ${run} ${at < 0 ? "before" : "into"} the run`;
    }

    private describe(): void {
        const p = this.plot!, first = p.lines.slice(0, 3).map((l, k) => `${visible(l.label).slice(0, 60)} ${this.values[k]?.textContent ?? ""}`);
        setAttr(this.canvas, "aria-label", `${this.o.title}: ${p.lines.length} series; ${first.join(", ")}. ` +
            "Arrow keys move in time, plus and minus zoom, 0 resets.");
    }
}

// A line with gaps: null would be a gap of uPlot's own, undefined is no point of this line.
function drawn(l: Line, values: (number | null)[]): (number | null | undefined)[] {
    return l.gaps?.length ? values.map((v) => v ?? undefined) : values;
}

// Whether nothing is known between two times.
export function inGap(l: Line, from: number, to: number): boolean {
    return !!l.gaps?.some(([a, b]) => a < to && b > from && b > a);
}

// Lines of one chart also differ by their strokes: they can be distinguished without colours.
const DASHES: (number[] | undefined)[] = [undefined, [8, 4], [2, 3], [11, 3, 2, 3], [5, 3], [2, 6]];
const dashOf = (l: Line, i: number): number[] | undefined => (l.dash ? [14, 5] : DASHES[i % DASHES.length]);

// A line in the legend as it is drawn.
function stroke(l: Line, i: number): SVGElement {
    return svg("svg", { class: "stroke", width: 30, height: 11, "aria-hidden": "true" },
        svg("line", { x1: 0, x2: 30, y1: 5.5, y2: 5.5, stroke: l.color, "stroke-width": 2.4, "stroke-dasharray": dashOf(l, i)?.join(" ") ?? "none" }));
}

const HATCH = 8; // px of one tile
const ANGLES = [undefined, [0, 8, 8, 0], [0, 0, 8, 8], [0, 4, 8, 4], [4, 0, 4, 8]];

// A layer of a stack in grey: a tile with lines, which differ from layer to layer.
function hatch(color: string, i: number): CanvasPattern | string {
    const tile = document.createElement("canvas"), angle = ANGLES[i % ANGLES.length], c = tile.getContext("2d");
    tile.width = tile.height = HATCH;
    if (!angle || !c) return color;
    c.fillStyle = color;
    c.fillRect(0, 0, HATCH, HATCH);
    c.strokeStyle = css("--card");
    c.beginPath();
    c.moveTo(angle[0]!, angle[1]!);
    c.lineTo(angle[2]!, angle[3]!);
    c.stroke();
    return c.createPattern(tile, "repeat") ?? color;
}

function hatchStyle(color: string, i: number): string {
    const turn = [undefined, "135deg", "45deg", "0deg", "90deg"][i % ANGLES.length];
    return turn ? `repeating-linear-gradient(${turn}, var(--card) 0 1px, ${color} 1px 4px)` : color;
}

// "4.50 MiB" becomes "4.5 MiB", "2.00" becomes "2", "120,000,000" becomes "120 M": there is no room for more.
function short(text: string): string {
    if (/^−?[\d,]{9,}$/.test(text)) return text.replace(/(,\d{3}){2,}$/, (zeros) => shortened(zeros));
    return text.replace(/(\.\d*?)0+(?= |$)/, "$1").replace(/\.(?= |$)/, "");
}

// Of the groups behind the first one: ",500,000" becomes ".5 M".
function shortened(groups: string): string {
    const digits = groups.replaceAll(",", "").replace(/0+$/, "");
    return `${digits && "."}${digits} ${["", "", "M", "G", "T", "P"][groups.length / 4] ?? "E"}`;
}

function decades(low: number, high: number): number[] {
    const out: number[] = [];
    for (let e = Math.ceil(Math.log10(low) - 1e-9); 10 ** e <= high * 1.0001; e++) out.push(10 ** e);
    return out;
}
