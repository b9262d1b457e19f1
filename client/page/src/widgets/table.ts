// SPDX-License-Identifier: BSD-3-Clause
/*
 * table.ts - a table of any length: sorted by any column, only the visible rows are in the document, saved as CSV.
 *
 * DESIGN: rows have one height, so the place of each is known. Row elements are pooled and refilled while scrolling. A screen reader
 * gets the whole by aria-rowcount and aria-rowindex. Keyboard: arrows, Page Up and Down, Home, End move the row; Enter opens it.
 */
import { h, setAttr, setText } from "../dom.ts";
import { compareTexts } from "../order.ts";
import type { Route } from "../route.ts";
import { known, rate, type RateUnit, rateUnit, UNKNOWN } from "../units.ts";
import { textWidth } from "./name.ts";
import { register } from "./registry.ts";
import { csv, saveText } from "./save.ts";

export type Value = number | string | undefined;

export interface Column<R> {
    id: string;
    title: string;
    hint?: string; // what the column means, as a tooltip
    width: string; // a CSS grid track; one in px, of numbers or plain text, is widened to its longest text
    value: (r: R) => Value; // for saving, in words if it is one; for sorting, without `by`
    text?: (r: R) => string; // as shown; without it the value itself
    rate?: "signed" | "half"; // the value is a rate, or half of a rate's interval: all of a column are shown in one unit
    draw?: (cell: HTMLElement, r: R) => void; // instead of text
    left?: boolean; // text rather than a number
    first?: "asc" | "desc"; // direction of the first click
    by?: (r: R) => Value; // for sorting, if not by the value
    narrow?: string; // its track at a phone's width
    wide?: boolean; // left out at a phone's width
    unsaved?: boolean; // not saved: draws a number that another column has
    undrawn?: boolean; // saved and sorted by, but not drawn
    hidden?: () => boolean; // left out while it is true
}

export interface TableOptions<R> {
    id: string;
    title: string;
    columns: Column<R>[];
    key: (r: R) => string;
    route: Route;
    sort: string; // "-size": by column size, falling
    rowHeight?: number;
    height?: number; // of the scrolled part, px; by default up to 12 rows are shown
    onopen?: (r: R) => void;
    opened?: () => string;
    empty: string;
}

export class Table<R> {
    readonly root: HTMLElement;
    private rows: R[] = [];
    private unit: RateUnit = rateUnit();
    private readonly body = h("div", { class: "tbody", role: "rowgroup" });
    private readonly scroller: HTMLElement;
    private readonly heads = new Map<string, HTMLElement>();
    private readonly summary = h("span", { class: "muted" });
    private readonly tools: HTMLElement;
    private readonly nothing = h("p", { class: "empty" });
    private readonly headRow: HTMLElement;
    private out: boolean[] = []; // columns without a value in any row
    private pool: HTMLElement[] = [];
    private focus = 0;
    private top = 0; // what is in sight begins here, px, and is this high: to ask the browser costs a layout
    private high = 0;
    private readonly rowHeight: number;
    private readonly watch = new ResizeObserver(() => this.look());

    constructor(private readonly o: TableOptions<R>) {
        this.rowHeight = o.rowHeight ?? 30;
        const head = (this.headRow = h("div", { class: "thead tr", role: "row", "aria-rowindex": 1 }, ...o.columns.map((c) => this.head(c))));
        const grid = h("div", { class: "table", role: "table", "aria-label": o.title }, h("div", { role: "rowgroup" }, head), this.body);
        grid.style.setProperty("--row", `${this.rowHeight}px`);
        this.scroller = h("div", { class: "scroller" }, grid);
        this.scroller.addEventListener("scroll", () => this.look(), { passive: true });
        this.body.addEventListener("keydown", (e) => this.key(e));
        this.tools = h("span", { class: "tools" }, h("button", { class: "quiet", onclick: () => this.save(), "aria-label": `Save ${o.title} as CSV` }, "CSV"));
        this.root = h("section", { class: "tablebox", "data-table": o.id, "aria-label": o.title },
            h("div", { class: "tablehead" }, h("h3", {}, o.title), this.summary, this.tools), this.scroller, this.nothing);
        this.watch.observe(this.scroller);
        register("table", o.id, () => this.data());
    }

    done(): void {
        this.watch.disconnect();
        register("table", this.o.id, undefined);
    }

    private get order(): { column: Column<R>; down: boolean } {
        const text = this.o.route.get(`sort.${this.o.id}`, this.o.sort);
        const id = text.replace(/^-/, "");
        return { column: this.o.columns.find((c) => c.id === id) ?? this.o.columns[0]!, down: text.startsWith("-") };
    }

    show(rows: R[], summary = "", empty = this.o.empty): void {
        const { column, down } = this.order;
        this.rows = sorted(rows, column, down);
        this.unit = rateUnit(...greatest(rows, this.o.columns));
        for (const [id, el] of this.heads) {
            setAttr(el, "aria-sort", id !== column.id ? "none" : down ? "descending" : "ascending");
        }
        this.widen();
        setText(this.summary, summary);
        this.nothing.hidden = rows.length > 0;
        this.scroller.hidden = this.tools.hidden = !rows.length;
        setText(this.nothing, empty);
        const full = (this.rows.length + 1) * this.rowHeight + 6;
        const height = `${Math.min(full, this.o.height ?? 12 * this.rowHeight)}px`;
        if (this.scroller.style.height !== height) {
            this.scroller.style.height = height;
            this.high = parseFloat(height);
        }
        this.body.style.height = `${this.rows.length * this.rowHeight}px`;
        setAttr(this.scroller.firstElementChild!, "aria-rowcount", String(this.rows.length + 1));
        this.draw();
    }

    private head(c: Column<R>): HTMLElement {
        const el = h("div", { role: "columnheader", class: look(c), title: c.hint },
            h("button", { class: "sort", onclick: () => this.sortBy(c) }, c.title));
        this.heads.set(c.id, el);
        return el;
    }

    // A number is never cut: its column is as wide as its longest text. Labels share what is left.
    private widen(): void {
        const out = this.o.columns.map((c) => (c.undrawn || c.hidden?.()) ?? false);
        if (out.join() !== this.out.join()) {
            this.out = out;
            for (const row of [this.headRow, ...this.pool]) this.leaveOut(row);
        }
        const tracks = this.o.columns.map((c) => {
            if (!c.width.endsWith("px") || c.draw) return c.width;
            // All digits are as wide as 0, so only a few different texts remain to be measured.
            const shapes = new Set([`${c.title} ↓`]);
            for (const r of this.rows.length > MEASURED ? this.rows.slice(0, MEASURED) : this.rows)
                shapes.add(shown(c, r, this.unit).replace(/[0-9]/g, "0"));
            return `${Math.ceil(Math.max(...[...shapes].map(textWidth))) + CELL_AIR}px`;
        });
        const grid = this.scroller.firstElementChild as HTMLElement;
        grid.style.setProperty("--tracks", tracks.filter((_, i) => !out[i]).join(" "));
        grid.style.setProperty("--narrow", tracks.map((t, i) => this.o.columns[i]!.narrow ?? t).filter((_, i) => !out[i] && !this.o.columns[i]!.wide).join(" "));
    }

    private leaveOut(row: HTMLElement): void {
        this.out.forEach((out, i) => ((row.children[i] as HTMLElement).hidden = out));
    }

    private sortBy(c: Column<R>): void {
        const now = this.order;
        const down = now.column.id === c.id ? !now.down : (c.first ?? (c.left ? "asc" : "desc")) === "desc";
        this.o.route.set({ [`sort.${this.o.id}`]: `${down ? "-" : ""}${c.id}` });
        this.show(this.rows, this.summary.textContent ?? "");
    }

    // It was scrolled, or its size changed.
    private look(): void {
        this.top = this.scroller.scrollTop;
        this.high = this.scroller.clientHeight || 12 * this.rowHeight;
        this.draw();
    }

    private draw(): void {
        const first = Math.max(0, Math.floor(this.top / this.rowHeight) - 2);
        const end = Math.min(this.rows.length, Math.ceil((this.top + this.high) / this.rowHeight) + 2);
        while (this.pool.length < end - first) this.pool.push(this.blank());
        this.pool.forEach((el, i) => {
            const at = first + i;
            el.hidden = at >= end;
            if (at < end) this.fill(el, at);
        });
    }

    private blank(): HTMLElement {
        const row = h("div", { class: "tr", role: "row", tabindex: "-1" },
            ...this.o.columns.map((c) => h("div", { role: "cell", class: look(c) })));
        if (this.o.onopen) {
            row.classList.add("opens");
            row.addEventListener("click", () => this.open(Number(row.dataset["at"])));
        }
        this.leaveOut(row);
        this.body.append(row);
        return row;
    }

    private fill(el: HTMLElement, at: number): void {
        const r = this.rows[at]!;
        el.dataset["at"] = String(at);
        el.style.transform = `translateY(${at * this.rowHeight}px)`;
        setAttr(el, "aria-rowindex", String(at + 2));
        setAttr(el, "tabindex", at === this.focus ? "0" : "-1");
        if (this.o.opened) setAttr(el, "aria-current", this.o.opened() === this.o.key(r) ? "true" : null);
        this.o.columns.forEach((c, i) => {
            const cell = el.children[i] as HTMLElement;
            if (c.draw) c.draw(cell, r);
            else setText(cell, shown(c, r, this.unit));
        });
    }

    private open(at: number): void {
        const r = this.rows[at];
        if (!r || !this.o.onopen) return;
        this.focus = at;
        this.o.onopen(r);
    }

    private key(e: KeyboardEvent): void {
        const page = Math.max(1, Math.floor(this.scroller.clientHeight / this.rowHeight) - 2);
        const to: Record<string, number> = { ArrowDown: this.focus + 1, ArrowUp: this.focus - 1, PageDown: this.focus + page,
            PageUp: this.focus - page, Home: 0, End: this.rows.length - 1 };
        if (e.key === "Enter") this.open(this.focus);
        const next = to[e.key];
        if (next === undefined) return;
        e.preventDefault();
        this.focus = Math.max(0, Math.min(this.rows.length - 1, next));
        const y = this.focus * this.rowHeight, s = this.scroller;
        if (y < s.scrollTop) s.scrollTop = y;
        else if (y + 2 * this.rowHeight > s.scrollTop + s.clientHeight) s.scrollTop = y + 2 * this.rowHeight - s.clientHeight;
        this.look();
        this.pool.find((p) => !p.hidden && Number(p.dataset["at"]) === this.focus)?.focus({ preventScroll: true });
    }

    private save(): void {
        const columns = this.o.columns.filter((c, i) => !c.unsaved && (c.undrawn || !this.out[i]));
        saveText(`heapwatch-${this.o.id}.csv`, "text/csv",
            csv([columns.map((c) => c.title), ...this.rows.map((r) => columns.map((c) => c.value(r)))]));
    }

    private data(): unknown {
        return { columns: this.o.columns.map((c) => c.id), drawn: this.pool.filter((p) => !p.hidden).length,
            rows: this.rows.map((r) => Object.fromEntries(this.o.columns.map((c) => [c.id, c.value(r)]))) };
    }
}

const MEASURED = 2000; // rows whose texts determine the width of a column
const CELL_AIR = 22; // px around a cell's text
const look = <R>(c: Column<R>) => [c.left && "left", c.wide && "wide"].filter(Boolean).join(" ");

// The greatest magnitude of each column of rates.
function greatest<R>(rows: R[], columns: Column<R>[]): number[] {
    return columns.filter((c) => c.rate).map((c) => rows.reduce((most, r) => {
        const v = c.value(r);
        return typeof v === "number" && known(v) ? Math.max(most, Math.abs(v)) : most;
    }, 0));
}

function shown<R>(c: Column<R>, r: R, unit: RateUnit): string {
    if (c.text) return c.text(r);
    const v = c.value(r);
    if (c.rate && typeof v === "number") return c.rate === "half" ? rate(v, unit).replace("+", "± ") : rate(v, unit);
    return v === undefined || v === "" || (typeof v === "number" && !known(v)) ? UNKNOWN : String(v);
}

// Unknown comes last, in either direction.
export function sorted<R>(rows: R[], c: Column<R>, down: boolean): R[] {
    const all = rows.map((r, i) => ({ r, i, v: (c.by ?? c.value)(r) }));
    const missing = (v: Value) => v === undefined || (typeof v === "number" && Number.isNaN(v));
    all.sort((a, b) => {
        if (missing(a.v) || missing(b.v)) return Number(missing(a.v)) - Number(missing(b.v)) || a.i - b.i;
        const by = typeof a.v === "string" || typeof b.v === "string" ? compareTexts(String(a.v), String(b.v)) : a.v! - (b.v as number);
        return (down ? -by : by) || a.i - b.i;
    });
    return all.map((x) => x.r);
}
