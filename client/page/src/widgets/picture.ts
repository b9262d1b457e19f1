// SPDX-License-Identifier: BSD-3-Clause
/*
 * picture.ts - a chart as a file. PNG: the canvas on the screen, with title and legend. SVG: written from the same data and
 * scales, so it stays sharp at any size; text is escaped by the XML serializer.
 */
import type uPlot from "uplot";
import { svg } from "../dom.ts";
import { css } from "../theme.ts";
import { clock, type Unit } from "../units.ts";
import type { Gap } from "../state/series.ts";
import { LABEL_HEIGHT, placeLabels, short } from "./labels.ts";
import type { Line, Plot } from "./plot.ts";
import { saveBlob, saveText } from "./save.ts";

export interface ChartPicture {
    id: string;
    title: string;
    unit: Unit;
    plot: Plot | undefined;
    u: uPlot | undefined;
}

const HEAD = 30, ROW = 18, PAD = 12, KEY_WIDTH = 230, LETTER = 6; // LETTER: about the width of one, at 11 px

function rows(lines: Line[], width: number): { columns: number; height: number } {
    const columns = Math.max(1, Math.floor((width - 2 * PAD) / KEY_WIDTH));
    return { columns, height: Math.ceil(lines.length / columns) * ROW + PAD };
}

export async function saveChartPng(p: ChartPicture): Promise<void> {
    if (!p.u || !p.plot) return;
    const ratio = devicePixelRatio || 1, source = p.u.ctx.canvas;
    const width = source.width / ratio, { columns, height } = rows(p.plot.lines, width);
    const canvas = document.createElement("canvas");
    canvas.width = source.width;
    canvas.height = source.height + (HEAD + height) * ratio;
    const c = canvas.getContext("2d")!;
    c.fillStyle = css("--card");
    c.fillRect(0, 0, canvas.width, canvas.height);
    c.drawImage(source, 0, HEAD * ratio);
    c.scale(ratio, ratio);
    c.fillStyle = css("--text");
    c.font = `600 14px ${css("--font")}`;
    c.fillText(p.title, PAD, 20);
    c.font = `12px ${css("--font")}`;
    p.plot.lines.forEach((l, i) => {
        const x = PAD + (i % columns) * KEY_WIDTH, y = HEAD + source.height / ratio + Math.floor(i / columns) * ROW;
        c.fillStyle = l.color;
        c.fillRect(x, y + 4, 10, 10);
        c.fillStyle = css("--text");
        c.fillText(short(l.label, 32), x + 16, y + 13);
    });
    const blob = await new Promise<Blob | null>((f) => canvas.toBlob(f, "image/png"));
    if (blob) saveBlob(`heapwatch-${p.id}.png`, blob);
}

export function saveChartSvg(p: ChartPicture): void {
    const root = chartSvg(p);
    if (root) saveText(`heapwatch-${p.id}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(root));
}

function chartSvg(p: ChartPicture): SVGSVGElement | undefined {
    const { u, plot } = p;
    if (!u || !plot) return undefined;
    const ratio = devicePixelRatio || 1, width = u.width, { columns, height } = rows(plot.lines, width);
    const box = { x: u.bbox.left / ratio, y: u.bbox.top / ratio + HEAD, w: u.bbox.width / ratio, h: u.bbox.height / ratio };
    const total = u.height + HEAD + height;
    const X = (v: number) => box.x + u.valToPos(v, "x"), Y = (v: number) => box.y + u.valToPos(v, "y");
    const root = svg("svg", { xmlns: "http://www.w3.org/2000/svg", width, height: total, viewBox: `0 0 ${width} ${total}`,
        "font-family": "sans-serif", "font-size": 11 },
    svg("rect", { width, height: total, fill: css("--card") }),
    svg("text", { x: PAD, y: 20, "font-size": 14, "font-weight": 600, fill: css("--text") }, p.title),
    svg("clipPath", { id: "plot" }, svg("rect", { x: box.x, y: box.y, width: box.w, height: box.h })));
    axes(root, p, plot, u, box, X, Y);
    const curves = svg("g", { "clip-path": "url(#plot)" });
    const drawn = plot.stacked ? [...plot.lines].reverse() : plot.lines;
    drawn.forEach((l, i) => curve(curves, l, u.data[0] as number[], u.data[i + 1] as (number | null)[], !!plot.stacked, X, Y));
    const seen = (plot.markers ?? []).filter((m) => m.t >= plot.range.from && m.t <= plot.range.to).map((m) => ({ ...m, at: X(m.t) }));
    for (const m of seen)
        curves.append(svg("line", { x1: m.at, x2: m.at, y1: m.faint ? box.y + box.h - 5 : box.y, y2: box.y + box.h,
            stroke: css(m.faint ? "--muted" : "--marker"), "stroke-dasharray": m.faint || m.solid ? "none" : "3 3" }));
    for (const l of placeLabels(seen, (text) => text.length * LETTER, { from: box.x, to: box.x + box.w }, 4))
        curves.append(svg("text", { x: l.x, y: box.y + 12 + LABEL_HEIGHT * l.row, fill: css("--marker") }, l.text));
    root.append(curves);
    plot.lines.forEach((l, i) => {
        const x = PAD + (i % columns) * KEY_WIDTH, y = HEAD + u.height + Math.floor(i / columns) * ROW;
        root.append(svg("rect", { x, y: y + 4, width: 10, height: 10, fill: l.color }),
            svg("text", { x: x + 16, y: y + 13, fill: css("--text") }, short(l.label, 32)));
    });
    return root;
}

type Scale = (v: number) => number;

function axes(root: SVGElement, p: ChartPicture, plot: Plot, u: uPlot, box: { x: number; y: number; w: number; h: number },
    X: Scale, Y: Scale): void {
    const splits = (i: number) => ((u.axes[i] as { _splits?: number[] })._splits ?? []).filter((s) => s !== null);
    const xs = splits(0), step = xs.length > 1 ? xs[1]! - xs[0]! : 1;
    for (const s of xs) {
        root.append(svg("line", { x1: X(s), x2: X(s), y1: box.y, y2: box.y + box.h, stroke: css("--line") }),
            svg("text", { x: X(s), y: box.y + box.h + 16, "text-anchor": "middle", fill: css("--muted") }, clock(s, plot.start, step)));
    }
    for (const s of splits(1)) {
        root.append(svg("line", { x1: box.x, x2: box.x + box.w, y1: Y(s), y2: Y(s), stroke: css("--line") }),
            svg("text", { x: box.x - 6, y: Y(s) + 4, "text-anchor": "end", fill: css("--muted") }, (p.unit.tick ?? p.unit.text)(s)));
    }
}

function curve(g: SVGElement, l: Line, x: number[], v: (number | null)[], stacked: boolean, X: Scale, Y: Scale): void {
    const points = x.map((t, i) => [t, v[i]] as const).filter((q): q is Point => q[1] !== null && q[1] !== undefined);
    if (!points.length) return;
    if (l.kind === "points") {
        for (const [t, y] of points) g.append(svg("circle", { cx: X(t).toFixed(1), cy: Y(y).toFixed(1), r: 2, fill: l.color }));
        return;
    }
    for (const part of parts(points, l.gaps ?? [])) piece(g, l, part, stacked, X, Y);
}

type Point = readonly [number, number];

// A curve without its gaps.
function parts(points: Point[], gaps: Gap[]): Point[][] {
    const out: Point[][] = [[]];
    points.forEach((p, i) => {
        const before = points[i - 1];
        if (before && gaps.some(([from, to]) => from < p[0] && to > before[0])) out.push([]);
        out[out.length - 1]!.push(p);
    });
    return out;
}

function piece(g: SVGElement, l: Line, points: Point[], stacked: boolean, X: Scale, Y: Scale): void {
    const line = points.map(([t, y], i) => `${i ? "L" : "M"}${X(t).toFixed(1)} ${Y(y).toFixed(1)}`).join("");
    const filled = stacked || l.kind === "area";
    if (filled) {
        const closed = `${line}L${X(points[points.length - 1]![0]).toFixed(1)} ${Y(0).toFixed(1)}L${X(points[0]![0]).toFixed(1)} ${Y(0).toFixed(1)}Z`;
        g.append(svg("path", { d: closed, fill: l.color, "fill-opacity": stacked ? 1 : 0.2 }));
    }
    g.append(svg("path", { d: line, fill: "none", stroke: stacked ? css("--card") : l.color, "stroke-width": stacked ? 0.6 : 1.6,
        "stroke-dasharray": l.dash ? "6 4" : "none" }));
}
