// SPDX-License-Identifier: BSD-3-Clause
/*
 * compare.ts - two targets, two ranges of one, or a target and a kept baseline: joined on the band's label (full outer join).
 * Of whole runs there is also the result of `heapwatch diff`: every quantity, with its interval. A server is asked for it, a report
 * of two logs has it.
 */
import { wireKey } from "../api/questions.ts";
import type { App, Page } from "../app.ts";
import { h, replace, setAttr, setText, visible } from "../dom.ts";
import { setName } from "../widgets/name.ts";
import { type Baseline, type Joined, join, parseBaseline, type Side, sideOf } from "../state/compare.ts";
import type { Target } from "../state/target.ts";
import type { Diff, Quantity } from "../state/wire.ts";
import { remember, remembered } from "../theme.ts";
import { bytes, count, share, signedBytes } from "../units.ts";
import { field } from "../widgets/controls.ts";
import { saveText } from "../widgets/save.ts";
import { type Column, Table } from "../widgets/table.ts";
import { searching } from "./common.ts";

const BASELINE = "baseline";

const COLUMNS: Column<Joined>[] = [
    { id: "label", title: "Band", width: "minmax(92px, 2fr)", left: true, value: (r) => r.label, draw: (c, r) => setName(c, r.label) },
    { id: "a", title: "A: mean", width: "78px", wide: true, value: (r) => r.a?.bytes, text: (r) => bytes(r.a?.bytes) },
    { id: "b", title: "B: mean", width: "78px", value: (r) => r.b?.bytes, text: (r) => bytes(r.b?.bytes) },
    { id: "diff", title: "B − A", width: "94px", value: (r) => r.diff, by: (r) => (r.diff === undefined ? undefined : Math.abs(r.diff)), text: (r) => signedBytes(r.diff), hint: "sorted by its size; a band that one side lacks counts as 0 there" },
    { id: "ratio", title: "of A", width: "90px", wide: true, value: (r) => r.ratio, text: (r) => share(r.ratio) },
    { id: "aslope", title: "A: slope", width: "136px", wide: true, value: (r) => r.a?.slope, rate: "signed" },
    { id: "bslope", title: "B: slope", width: "136px", wide: true, value: (r) => r.b?.slope, rate: "signed" },
    { id: "dslope", title: "Difference", width: "136px", wide: true, value: (r) => r.slopeDiff, rate: "signed" },
];

type Placed = Quantity & { place: number };

const QUANTITIES: Column<Placed>[] = [
    { id: "title", title: "Quantity", width: "minmax(92px, 2fr)", left: true, value: (q) => q.title, by: (q) => q.place, draw: (c, q) => setText(c, q.title) },
    { id: "a", title: "A", width: "78px", wide: true, value: (q) => q.baseline ?? undefined, text: (q) => q.text[0] },
    { id: "b", title: "B", width: "78px", wide: true, value: (q) => q.new ?? undefined, text: (q) => q.text[1] },
    { id: "change", title: "B − A", width: "80px", value: (q) => q.change ?? undefined, by: (q) => Math.abs(q.changeShare ?? 0), hint: "as a share of A", text: (q) => q.text[2] },
    { id: "interval", title: "95 % interval", width: "150px", value: (q) => q.text[3], text: (q) => q.text[3], hint: "from the noise within each run; differences from run to run are not included" },
];

export function compare(app: App): Page {
    const { route } = app, filter = field(route, "q", "Bands", "text or /regexp/"), sides = (["a", "b"] as const).map((s) => new Picker(app, s));
    const table = new Table<Joined>({ id: "compare", title: "Bands of both", columns: COLUMNS, key: (r) => r.label, route, sort: "-diff", height: 620,
        empty: "Nothing to compare: neither side has a band in its range.", onopen: (r) => route.set({ iso: r.label, target: sides[1]!.key() === BASELINE ? sides[0]!.key() : sides[1]!.key() }, "heap") });
    const runs = new Table<Placed>({ id: "diff", title: "Whole runs", columns: QUANTITIES, key: (q) => q.name, route, sort: "title", height: 640, empty: "" });
    const notes = h("ul", { class: "muted" }), problem = h("p", { class: "muted", role: "status" });
    const whole = h("div", { class: "stack" }, runs.root, notes, problem);
    const file = h("input", { type: "file", accept: "application/json,.json", class: "sr", tabindex: "-1", "aria-label": "Baseline file", onchange: () => void loadFile() });
    const message = h("p", { class: "muted", role: "status" });
    const root = h("div", { class: "stack" }, h("div", { class: "pagehead" }, h("h2", {}, "Compare"), h("span", { class: "spacer" }), filter.root),
        h("section", { class: "card" }, h("div", { class: "columns" }, ...sides.map((s) => s.root)),
            h("div", { class: "controls" }, h("button", { onclick: () => keep() }, "Keep A as baseline"), h("button", { onclick: () => saveFile() }, "Save A as file"),
                h("button", { onclick: () => file.click() }, "Load baseline file"), file, message)), whole, table.root);

    const sideA = (): Side | undefined => sides[0]!.side(baseline());
    function keep(): void {
        const a = sideA();
        setText(message, a && remember(BASELINE, JSON.stringify(a)) ? `Kept ${visible(a.name)} in this browser.` : "It could not be kept: the browser has no room for it. Save it as a file.");
        update();
    }
    function saveFile(): void {
        const a = sideA();
        if (a) saveText("heapwatch-baseline.json", "application/json", JSON.stringify(a));
    }
    async function loadFile(): Promise<void> {
        const chosen = file.files?.[0], read = chosen && parseBaseline(await chosen.text());
        file.value = "";
        setText(message, read ? `Loaded ${visible(read.name)}.` : "This file is not a baseline that this page wrote.");
        if (read) loaded = read;
        if (read) route.set({ a: BASELINE });
    }

    // Two parts or a baseline have no such table.
    function showWhole(): void {
        const [a, b] = sides.map((s) => s.whole()), fits = a && b && a !== b, [first, second] = app.view.inOrder(); // a report has the comparison of its two logs, in their order
        const diff = app.view.diff ? (a === first && b === second ? app.view.diff : undefined) : fits ? app.comparisons?.of(new URLSearchParams({ a: wireKey(a.key), b: wireKey(b.key) }).toString(), ![a, b].some((t) => t.state?.state === "STATE_RUNNING")) : undefined;
        setText(problem, diff || !fits ? "" : visible(app.comparisons?.error ?? ""));
        runs.root.hidden = notes.hidden = !diff;
        if (!diff || diff === shown) return;
        shown = diff;
        runs.show(diff.quantities.map((q, place) => ({ ...q, place })), "as heapwatch diff compares them");
        replace(notes, ...diff.notes.map((n) => h("li", {}, visible(n))));
    }

    let shown: Diff | undefined;
    function update(): void {
        filter.update();
        for (const s of sides) s.update();
        showWhole();
        const keepOnly = searching(app, "q", filter.root), base = baseline();
        const [a, b] = sides.map((s) => s.side(base));
        const rows = join(a, b);
        table.show(rows.filter((r) => keepOnly(r.label)), `${count(rows.length)} bands; A ${bytes(a?.total)}, B ${bytes(b?.total)}, B − A ${signedBytes(
            a && b ? b.total - a.total : undefined)}`);
    }
    return { root, update, wants: "all bands", done: () => (table.done(), runs.done()) };
}

let loaded: Baseline | undefined;

function baseline(): Baseline | undefined {
    return loaded ?? parseBaseline(remembered(BASELINE) ?? "");
}

/*
 * From the address; by default the opened target, or of logs the first one, against the next, or its first half against its second.
 */
export function sideKey(app: App, name: "a" | "b"): string {
    const named = app.route.get(name), opened = app.route.get("target") ? app.target() : undefined;
    if (named) return named;
    const all = app.view.inOrder(), mine = opened ?? all[0];
    const others = all.filter((t) => t !== mine);
    return (name === "b" ? others.find((t) => t.bands.size) ?? others.find((t) => (t.state?.runInfo?.breakdown ?? "BREAKDOWN_NONE") !== "BREAKDOWN_NONE") ?? mine : mine)?.key ?? "";
}

// One side: a target or the baseline, and a range of it.
class Picker {
    readonly root: HTMLElement;
    private readonly target = h("select", { onchange: () => this.app.route.set({ [this.name]: this.target.value }) });
    private readonly range = h("select", { onchange: () => this.pick() });
    private readonly message = h("span", { class: "muted" });

    constructor(private app: App, private name: "a" | "b") {
        const upper = name.toUpperCase();
        setAttr(this.target, "aria-label", `Side ${upper}`);
        setAttr(this.range, "aria-label", `Range of side ${upper}`);
        this.root = h("div", { class: "controls" }, h("strong", {}, upper), this.target, this.range, this.message);
    }

    key(): string {
        return sideKey(this.app, this.name);
    }

    private rangeText(): string {
        const one = sideKey(this.app, "a") === sideKey(this.app, "b");
        return this.app.route.get(`r${this.name}`, one ? (this.name === "a" ? "first" : "second") : "all");
    }

    private pick(): void {
        const v = this.range.value, t = this.app.view.targets.get(this.key());
        this.app.route.set({ [`r${this.name}`]: v === "shown" && t ? this.shown() : v });
    }

    private shown(): string {
        const t = this.app.view.targets.get(this.key())!, r = this.app.range(t);
        return `${r.from.toFixed(3)}-${r.to.toFixed(3)}`;
    }

    side(base: Baseline | undefined): Side | undefined {
        if (this.key() === BASELINE) return base;
        const t = this.app.view.targets.get(this.key());
        return t?.censuses.n ? sideOf(t, this.rangeText()) : undefined;
    }

    // The target, when all of it is compared.
    whole(): Target | undefined {
        return this.rangeText() === "all" ? this.app.view.targets.get(this.key()) : undefined;
    }

    update(): void {
        const keys = [...this.app.view.sorted().map((t) => t.key), BASELINE], key = this.key(), text = this.rangeText();
        if (!keys.includes(key)) keys.push(key);
        if (this.target.dataset["names"] !== keys.join("\n")) {
            this.target.dataset["names"] = keys.join("\n");
            replace(this.target, ...keys.map((k) => h("option", { value: k }, k === BASELINE ? "the baseline" : visible(k))));
        }
        if (this.target.value !== key) this.target.value = key;
        const options: [string, string][] = [["all", "whole run"], ["first", "first half"], ["second", "second half"], ["15m", "last 15 m"], ["1h", "last hour"], ["shown", "range now shown"]];
        if (!options.some(([v]) => v === text)) options.push([text, `${text.replace("-", " to ")} s`]);
        if (this.range.dataset["names"] !== options.join()) {
            this.range.dataset["names"] = options.join();
            replace(this.range, ...options.map(([v, name]) => h("option", { value: v }, name)));
        }
        if (this.range.value !== text) this.range.value = text;
        this.range.hidden = key === BASELINE;
        setText(this.message, this.remark(key));
    }

    // Why it has no numbers, or of when they are.
    private remark(key: string): string {
        const t = this.app.view.targets.get(key), b = baseline();
        if (key === BASELINE) return b ? `${visible(b.name)}, kept ${b.made}` : "none kept yet";
        return !t ? "no such target" : t.censuses.n ? "" : "has no census: nothing to compare";
    }
}
