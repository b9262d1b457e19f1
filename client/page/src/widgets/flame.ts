// SPDX-License-Identifier: BSD-3-Clause
/*
 * flame.ts - a flame graph by d3-flame-graph. Updated in place; a zoom stays as data arrive.
 *
 * Labels reach the library as text only: it writes them with d3's text().
 */
import type { FlameGraph } from "d3-flame-graph";
import type { FlameLibrary } from "../flame.ts";
import { h, setText, svg, visible } from "../dom.ts";
import { bandColor, css } from "../theme.ts";
import { count, share } from "../units.ts";
import { svgTools } from "./bars.ts";
import { register } from "./registry.ts";

export interface Frame {
    name: string;
    module: string;
    value: number; // ticks, including those of its children
    children: Frame[];
}

interface Node {
    data: Frame & { fade?: boolean; hide?: boolean };
    parent?: Node;
    children?: Node[];
    depth: number;
    x0: number;
    x1: number;
    value: number;
    highlight?: boolean;
}

const CELL = 20;
const CALM_MS = 2000; // between drawings of new ticks

function library(): FlameLibrary {
    if (!window.heapwatchFlame) {
        const script = h("script");
        script.textContent = document.getElementById("flame")!.textContent;
        document.head.append(script); // runs it
        script.remove();
    }
    return window.heapwatchFlame!;
}

export class Flame {
    readonly root: HTMLElement;
    private readonly box: HTMLElement;
    private readonly detail = h("p", { class: "muted", "aria-live": "polite" });
    private readonly empty = h("p", { class: "empty" });
    private readonly tools: HTMLElement;
    private graph: FlameGraph | undefined;
    private sign = "";
    private content = ""; // of the frame
    private frame: Frame | undefined;
    private zoomed: string[] = [];
    private readonly watch: ResizeObserver;
    private colors = new Map<string, number>();
    private at: Node | undefined; // that the keyboard is at

    // `text`: of the value of a frame.
    constructor(private readonly id: string, title: string, private readonly text = (value: number) => `${count(value)} ticks`) {
        this.box = h("div", { class: "flame", tabindex: 0, role: "application", "aria-label": `${title}: arrow keys move, Enter zooms, Escape resets` });
        this.box.addEventListener("keydown", (e) => this.key(e));
        this.tools = svgTools(id, title, () => this.picture());
        this.tools.prepend(h("button", { class: "quiet", onclick: () => this.reset() }, "reset zoom"));
        this.root = h("figure", { class: "chart", "data-chart": id }, h("figcaption", {}, h("h3", {}, title), this.tools), this.box, this.empty, this.detail);
        this.watch = new ResizeObserver(() => this.draw());
        this.watch.observe(this.box);
        register("chart", id, () => ({ title, root: this.frame, zoomed: this.zoomed }));
    }

    done(): void {
        this.watch.disconnect();
        clearTimeout(this.later);
        this.graph?.destroy?.();
        register("chart", this.id, undefined);
    }

    show(frame: Frame | undefined, why: string, term: string): void {
        this.box.hidden = this.tools.hidden = !frame;
        this.empty.hidden = !!frame;
        setText(this.empty, why);
        if (frame !== this.frame) this.content = JSON.stringify(frame);
        this.frame = frame;
        const sign = frame ? JSON.stringify([this.content, document.documentElement.dataset["theme"], term]) : "";
        if (sign === this.sign) return;
        this.sign = sign;
        const soon = this.term === term && Date.now() - this.drawn < CALM_MS;
        this.term = term;
        if (!soon) return this.draw();
        this.later ??= window.setTimeout(() => this.draw(), CALM_MS);
    }

    private term = "";
    private drawn = 0; // ms
    private later: number | undefined;

    private draw(): void {
        const width = this.box.clientWidth;
        clearTimeout(this.later);
        this.later = undefined;
        if (!this.frame || !width) return;
        this.drawn = Date.now();
        this.at = undefined;
        this.box.replaceChildren();
        const { flamegraph, select } = library(), graph: FlameGraph = flamegraph().width(width).height((depth(this.frame) + 1) * CELL).cellHeight(CELL).minFrameSize(1).transitionDuration(0).inverted(true).sort(true).title("")
            .onClick((d: Node) => this.clicked(d)).onHover((d: Node) => setText(this.detail, this.describe(d)))
            .setColorMapper((d: Node) => this.color(d)).setLabelHandler((d: Node) => this.describe(d));
        graph.setSearchMatch?.((d: Node, term: string) => visible(d.data.name).toLowerCase().includes(term.toLowerCase()));
        select(this.box).datum(structuredClone(this.frame)).call(graph as never);
        this.graph = graph;
        if (this.term) graph.search(this.term);
        if (this.zoomed.length) this.zoomAgain();
    }

    private clicked(d: Node): void {
        this.zoomed = path(d).slice(1);
    }

    private zoomAgain(): void {
        let at = library().select(this.box).datum() as unknown as Node | undefined;
        for (const name of this.zoomed) at = at?.children?.find((c) => c.data.name === name);
        if (at) this.graph?.zoomTo(at);
    }

    private key(e: KeyboardEvent): void {
        const at = this.at ?? (library().select(this.box).datum() as unknown as Node | undefined), row = at?.parent?.children ?? [];
        const shown = (nodes: Node[] | undefined) => nodes?.filter((n) => !n.data.hide).sort((a, b) => a.x0 - b.x0) ?? [];
        const beside = (by: number) => shown(row)[shown(row).indexOf(at!) + by];
        const to: Record<string, Node | undefined> = { ArrowDown: shown(at?.children)[0], ArrowUp: at?.parent, ArrowLeft: beside(-1), ArrowRight: beside(1), Enter: at, Escape: at };
        if (!at || !(e.key in to) || e.ctrlKey || e.metaKey || e.altKey) return;
        e.preventDefault();
        if (e.key === "Escape") return this.reset();
        if (e.key === "Enter") {
            this.clicked(at);
            this.graph?.zoomTo(at);
        }
        this.at = to[e.key] ?? at;
        setText(this.detail, this.describe(this.at));
        library().select(this.box).selectAll<SVGGElement, Node>("g.frame").classed("at", (d) => d === this.at);
        this.box.querySelector("g.frame.at")?.scrollIntoView({ block: "nearest" });
    }

    private reset(): void {
        this.zoomed = [];
        this.draw();
    }

    private describe(d: Node): string {
        const total = this.frame?.value ?? 0;
        return `${visible(d.data.name)}: ${this.text(d.data.value)}, ${share(total ? d.data.value / total : undefined)}`;
    }

    // One colour per module; matches of the search stand out.
    private color(d: Node): string {
        if (d.highlight) return css("--marker");
        if (!d.depth) return "#d9dde1"; // its text is dark, in both themes
        if (!this.colors.has(d.data.module)) this.colors.set(d.data.module, this.colors.size);
        return tint(bandColor("calm", this.colors.get(d.data.module)! + 1, 16));
    }

    // The same picture without foreignObject elements, which other programs do not draw.
    private picture(): SVGSVGElement | null {
        const from = this.box.querySelector("svg");
        if (!from) return null;
        const width = from.clientWidth, height = from.clientHeight;
        const root = svg("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height, "font-size": 12, "font-family": "sans-serif" });
        library().select(this.box).selectAll<SVGGElement, Node>("g.frame").each(function (d) {
            const g = this, rect = g.querySelector("rect"), w = Number(rect?.getAttribute("width"));
            if (!rect || !(w > 0)) return;
            const letters = Math.floor((w - 8) / 6.6), name = visible(d.data.name);
            root.append(svg("g", { transform: g.getAttribute("transform") }, svg("rect", { width: w, height: CELL - 1, fill: rect.getAttribute("fill") }),
                letters > 3 ? svg("text", { x: 4, y: 14, fill: "#14202b" }, name.length > letters ? `${name.slice(0, letters - 1)}…` : name) : null));
        });
        return root;
    }
}

function depth(f: Frame): number {
    return f.children.reduce((most, c) => Math.max(most, depth(c) + 1), 0);
}

function path(d: Node | undefined): string[] {
    const out: string[] = [];
    for (let n = d; n; n = n.parent) out.unshift(n.data.name);
    return out;
}

// Light enough for dark text, in both themes.
export function tint(color: string): string {
    const part = (k: number) => Math.round(parseInt(color.slice(k, k + 2), 16) * 0.55 + 255 * 0.45).toString(16).padStart(2, "0");
    return `#${part(1)}${part(3)}${part(5)}`;
}
