// SPDX-License-Identifier: BSD-3-Clause
/*
 * bars.ts - a histogram of durations, one row of bars per group, on a logarithmic axis; an SVG that is saved as it is.
 */
import { h, replace, svg } from "../dom.ts";
import { css } from "../theme.ts";
import { count, duration } from "../units.ts";
import { register } from "./registry.ts";
import { saveBlob, saveText } from "./save.ts";

export interface Group {
    label: string;
    color: string;
    bars: { from: number; to: number; count: number }[]; // ns, rising
}

const LEAST = 280, MOST = 720, STEP = 20; // px of width: as wide as its place, so that text is not scaled
const ROW = 92, LEFT = 54, BOTTOM = 22;

export class Bars {
    readonly root: HTMLElement;
    private readonly box = h("div", { class: "bars" });
    private readonly empty = h("p", { class: "empty" }, "No collection of the program's own yet.");
    private readonly tools: HTMLElement;
    private readonly watch = new ResizeObserver(() => this.show(this.groups));
    private groups: Group[] = [];

    constructor(private readonly id: string, private readonly title: string) {
        this.tools = svgTools(id, title, () => this.svg());
        this.root = h("figure", { class: "chart", "data-chart": id }, h("figcaption", {}, h("h3", {}, title), this.tools), this.box, this.empty);
        this.watch.observe(this.box);
        register("chart", id, () => ({ title, groups: this.groups }));
    }

    done(): void {
        this.watch.disconnect();
        register("chart", this.id, undefined);
    }

    private sign = "";

    show(groups: Group[]): void {
        this.groups = groups.filter((g) => g.bars.length);
        this.empty.hidden = this.groups.length > 0;
        this.box.hidden = this.tools.hidden = !this.groups.length;
        const width = Math.min(MOST, Math.max(LEAST, Math.floor(this.box.clientWidth / STEP) * STEP));
        const sign = JSON.stringify([document.documentElement.dataset["theme"], this.groups, width]);
        if (sign === this.sign) return;
        this.sign = sign;
        replace(this.box, this.groups.length ? this.draw(width) : null);
    }

    private svg(): SVGSVGElement | null {
        return this.box.querySelector("svg");
    }

    private draw(width: number): SVGSVGElement {
        const all = this.groups.flatMap((g) => g.bars);
        const low = Math.log10(Math.max(1, Math.min(...all.map((b) => b.from)))), high = Math.log10(Math.max(...all.map((b) => b.to)));
        const X = (ns: number) => LEFT + ((Math.log10(Math.max(1, ns)) - low) / Math.max(1e-9, high - low)) * (width - LEFT - 10);
        const height = this.groups.length * ROW + BOTTOM, what = this.groups.map((g) => `${g.label}: ${count(g.bars.reduce((s, b) => s + b.count, 0))} pauses`);
        const root = svg("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "font-size": 11, "font-family": "sans-serif",
            "aria-label": `${this.title}. ${what.join("; ")}` });
        for (let e = Math.ceil(low); e <= high; e++) {
            root.append(svg("line", { x1: X(10 ** e), x2: X(10 ** e), y1: 4, y2: height - BOTTOM, stroke: css("--line") }),
                svg("text", { x: X(10 ** e), y: height - 6, "text-anchor": "middle", fill: css("--muted") }, duration(10 ** e).replace(/\.0+ /, " ")));
        }
        this.groups.forEach((g, i) => {
            const base = (i + 1) * ROW, most = Math.max(...g.bars.map((b) => b.count));
            root.append(svg("text", { x: 0, y: base - ROW / 2, fill: css("--text") }, g.label),
                svg("text", { x: 0, y: base - ROW / 2 + 15, fill: css("--muted") }, `${count(g.bars.reduce((s, b) => s + b.count, 0))}`),
                svg("line", { x1: LEFT, x2: width - 10, y1: base, y2: base, stroke: css("--line") }));
            for (const b of g.bars) {
                const tall = (b.count / most) * (ROW - 18);
                root.append(svg("rect", { x: X(b.from), y: base - tall, width: Math.max(1.5, X(b.to) - X(b.from) - 0.8), height: tall, fill: g.color, rx: 1 },
                    svg("title", {}, `${duration(b.from)} to ${duration(b.to)}: ${count(b.count)}`)));
            }
        });
        return root;
    }
}

// Buttons that save a picture.
export function tools(title: string, png: () => void, svg: () => void): HTMLElement {
    const button = (as: string, save: () => void) => h("button", { class: "quiet", "aria-label": `Save ${title} as ${as}`, onclick: save }, as);
    return h("span", { class: "tools" }, button("PNG", png), button("SVG", svg));
}

// The same of what is an SVG.
export function svgTools(id: string, title: string, picture: () => SVGSVGElement | null): HTMLElement {
    return tools(title, () => void savePng(id, picture()), () => {
        const el = picture();
        if (el) saveText(`heapwatch-${id}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(el));
    });
}

async function savePng(id: string, el: SVGSVGElement | null): Promise<void> {
    if (!el) return;
    const box = el.viewBox.baseVal, width = box?.width || el.clientWidth, height = box?.height || el.clientHeight;
    const copy = el.cloneNode(true) as SVGSVGElement;
    copy.setAttribute("width", String(width));
    copy.setAttribute("height", String(height));
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
    await image.decode();
    const canvas = document.createElement("canvas"), scale = 2;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const c = canvas.getContext("2d")!;
    c.fillStyle = css("--card");
    c.fillRect(0, 0, canvas.width, canvas.height);
    c.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((f) => canvas.toBlob(f, "image/png"));
    if (blob) saveBlob(`heapwatch-${id}.png`, blob);
}
