// SPDX-License-Identifier: BSD-3-Clause
/*
 * treemap.ts - who holds what, as rectangles in rectangles: what lies in one is held by it alone, areas are bytes. The part of a rectangle that
 * nothing lies in is its own, or too small to be drawn. A click, or Enter, makes one the whole picture; its table says the same in words.
 */
import { h, setAttr, setText, svg, visible } from "../dom.ts";
import { type Held, nameOf, plainName, trail } from "../state/held.ts";
import { bandColor, css } from "../theme.ts";
import { bytes, share } from "../units.ts";
import { svgTools } from "./bars.ts";
import { tint } from "./flame.ts";
import { textWidth } from "./name.ts";
import { register } from "./registry.ts";
import { type Box, squares } from "./squares.ts";

const HEAD = 18, EDGE = 2; // px of the name's line, and around what is inside
const LEAST = 3; // px of a side that is drawn
const BOXES_MOST = 1500;
const FONT = 12 / 14; // of what textWidth() measures

export class Treemap {
    readonly root: HTMLElement;
    private readonly box: HTMLElement;
    private readonly detail = h("p", { class: "muted", "aria-live": "polite" });
    private readonly watch = new ResizeObserver(() => this.draw());
    private at: Held | undefined; // that is the whole picture,
    private near: Held | undefined; // and that the keyboard or the mouse is at
    private drawn = new Map<Held, SVGElement>();
    private colors = new Map<string, number>();
    private sign = "";

    constructor(private readonly id: string, title: string, private readonly open: (to: Held) => void) {
        this.box = h("div", { class: "treemap", tabindex: 0, role: "application", "aria-label": `${title}: arrow keys move, Enter opens, Escape goes back up` });
        this.box.addEventListener("keydown", (e) => this.key(e));
        this.root = h("figure", { class: "chart", "data-chart": id }, h("figcaption", {}, h("h3", {}, title), svgTools(id, title, () => this.box.querySelector("svg"))), this.box, this.detail);
        this.watch.observe(this.box);
        register("chart", id, () => ({ title, at: this.at && trail(this.at).map(nameOf), near: this.near && nameOf(this.near),
            boxes: [...this.drawn.keys()].map((d) => ({ name: nameOf(d), bytes: d.bytes })) }));
    }

    done(): void {
        this.watch.disconnect();
        register("chart", this.id, undefined);
    }

    show(at: Held): void {
        if (at !== this.at) this.near = undefined;
        this.at = at;
        this.draw();
    }

    private draw(): void {
        const w = Math.floor(this.box.clientWidth), high = Math.floor(this.box.clientHeight), at = this.at;
        if (!at || !w || !high) return;
        const sign = JSON.stringify([trail(at).map((d) => [d.place, d.bytes]), w, high, document.documentElement.dataset["theme"]]);
        if (sign === this.sign && this.drawn.has(at)) return this.mark();
        this.sign = sign;
        this.drawn = new Map();
        const root = svg("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${w} ${high}`, width: w, height: high, "font-size": 12, "font-family": "sans-serif", "aria-hidden": "true" });
        this.put(root, at, { x: 0, y: 0, w, h: high });
        this.box.replaceChildren(root);
        this.mark();
    }

    private put(root: SVGElement, d: Held, b: Box): void {
        const name = visible(nameOf(d)), both = `${name}  ${bytes(d.bytes)}`, words = fits(both, b.w - 8) ? both : cut(name, b.w - 8), named = b.h >= HEAD && !!words;
        const g = svg("g", { class: "part", onclick: (e: Event) => (e.stopPropagation(), this.pick(d)), onmousemove: (e: Event) => (e.stopPropagation(), this.go(d)) },
            svg("rect", { x: b.x, y: b.y, width: b.w, height: b.h, fill: this.color(d), stroke: css("--card") }),
            named ? svg("text", { x: b.x + 5, y: b.y + 13, fill: "#14202b" }, words) : null);
        root.append(g);
        this.drawn.set(d, g);
        const top = named ? HEAD : EDGE, inner = { x: b.x + EDGE, y: b.y + top, w: b.w - 2 * EDGE, h: b.h - top - EDGE };
        const parts = d.children.filter((c) => c.bytes > 0), empty = d.bytes - parts.reduce((s, c) => s + c.bytes, 0);
        if (!parts.length || inner.w < LEAST || inner.h < LEAST) return;
        const boxes = squares([...parts.map((c) => c.bytes), Math.max(0, empty)], inner);
        parts.forEach((c, i) => {
            const box = boxes[i]!;
            if (box.w >= LEAST && box.h >= LEAST && this.drawn.size < BOXES_MOST) this.put(root, c, box);
        });
    }

    // One colour per module; the whole and roots are grey.
    private color(d: Held): string {
        if (!d.up || d.isRoot) return "#d9dde1"; // its text is dark, in both themes
        const name = plainName(d.name).split(" (", 1)[0]!, module = name.slice(0, Math.max(0, name.lastIndexOf("."))) || name;
        if (!this.colors.has(module)) this.colors.set(module, this.colors.size);
        return tint(bandColor("calm", this.colors.get(module)!, 16));
    }

    private pick(d: Held): void {
        this.box.focus({ preventScroll: true });
        if (d !== this.at) this.open(d.children.length ? d : d.up!);
    }

    private go(d: Held | undefined): void {
        if (!d || d === this.near) return;
        this.near = d;
        this.mark();
    }

    private mark(): void {
        for (const [d, g] of this.drawn) setAttr(g, "class", d === this.near ? "part at" : "part");
        const d = this.near ?? this.at, whole = this.at && trail(this.at)[0]!.bytes;
        if (d) setText(this.detail, `${trail(d).slice(1).map(nameOf).map(visible).join(" › ") || nameOf(d)}: ${bytes(d.bytes)}, ${share(whole ? d.bytes / whole : undefined)}`);
    }

    private key(e: KeyboardEvent): void {
        const at = this.near ?? this.at;
        if (!at || !this.at || e.ctrlKey || e.metaKey || e.altKey) return;
        const shown = (all: Held[] | undefined) => all?.filter((d) => this.drawn.has(d)) ?? [], row = at === this.at ? [] : shown(at.up?.children);
        const beside = (by: number) => row[row.indexOf(at) + by] ?? at;
        const to: Record<string, () => void> = {
            ArrowDown: () => this.go(shown(at.children)[0]), ArrowUp: () => this.go(at === this.at ? at : at.up),
            ArrowLeft: () => this.go(beside(-1)), ArrowRight: () => this.go(beside(1)),
            Enter: () => at !== this.at && at.children.length && this.open(at), Escape: () => this.at!.up && this.open(this.at!.up),
        };
        if (!to[e.key]) return;
        e.preventDefault();
        to[e.key]!();
    }
}

const fits = (text: string, width: number) => textWidth(text) * FONT <= width;

// As much of a text as fits into a width, in px; "": too little.
function cut(text: string, width: number): string {
    if (fits(text, width)) return text;
    const room = Math.floor((text.length * width) / (textWidth(text) * FONT));
    return room > 4 ? `${text.slice(0, room - 1)}…` : "";
}
