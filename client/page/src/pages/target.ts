// SPDX-License-Identifier: BSD-3-Clause
/*
 * target.ts - one target on one screen: is anything wrong, since when, what grows, where, until when, what next; beside it the two
 * pictures of its heap. The words are the server's (client/answers): the console has the same.
 */
import type { App, Page } from "../app.ts";
import { h, replace, setAttr, setText, setWords, visible } from "../dom.ts";
import { firing } from "../state/judge.ts";
import type { Target } from "../state/target.ts";
import { type Answer, seconds } from "../state/wire.ts";
import { age, BYTES_UNIT, clock } from "../units.ts";
import { Chart } from "../widgets/chart.ts";
import { pill } from "../widgets/facts.ts";
import type { Marker } from "../widgets/plot.ts";
import { Account } from "./account.ts";
import { CensusLine, deployMarkers, isForeign, majorMarkers, noteMarkers, title, when, zooming } from "./common.ts";
import { Bands, heapLines, noBands, residentLines } from "./heap_plots.ts";

const DRAWN = 6; // bands: the others are on Heap
const MARKS: Record<string, string> = { good: "●", dim: "○", warn: "▲", bad: "■" }; // a tone is never colour alone

export function target(app: App): Page {
    const { route } = app, heading = title(""), word = h("span", {}), answers = new AnswerList(app), account = new Account(app);
    const caveats = h("ul", { class: "caveats", "aria-label": "What limits the confidence in these answers" });
    const fires = h("p", { class: "muted firing" });
    const open = (id: string) => {
        if (id !== "other") route.set({ iso: id }, "heap");
    };
    const bands = new Chart({ ...zooming(app), id: "target-bands", title: "Largest bands", unit: BYTES_UNIT, height: 270, onpick: open });
    const pane = new Chart({ ...zooming(app), id: "target-heap", title: "Live data, heap and process", unit: BYTES_UNIT, height: 190 });
    const parts = new Chart({ ...zooming(app), id: "target-resident", title: "What resident memory is made of", unit: BYTES_UNIT, height: 270 });
    const nothing = h("p", { class: "empty" }), census = new CensusLine(app);
    const all = h("div", { class: "beside answering" }, h("div", { class: "stack" }, h("section", { class: "card", "aria-label": "Answers" }, caveats, answers.root, fires), account.root),
        h("div", { class: "stack" }, parts.root, h("div", { class: "bands" }, bands.root, census.root), pane.root));
    const root = h("div", { class: "stack target" }, h("div", { class: "pagehead" }, heading.root, word), nothing, all);
    const plots = new Bands(app, DRAWN);

    function update(): void {
        const t = app.target();
        heading.set(t);
        nothing.hidden = !!t;
        all.hidden = !t;
        setText(nothing, app.view.targets.size ? "There is no target of this name." : "No target yet. “heapwatch run -- PROGRAM” or “heapwatch add SOURCE” adds one.");
        account.show(t, new Set(["but", ...(t?.answers?.answers ?? []).map((a) => a.key)])); // caveats and answers are above
        if (!t) return answers.show(undefined);
        pill(word, t.answers?.word ?? "–", t.answers?.tone ?? "dim");
        answers.show(t);
        const list = t.answers?.caveats ?? [];
        if (caveats.dataset["shown"] !== list.join("\n")) replace(caveats, ...list.map(() => h("li", {})));
        list.forEach((c, i) => setWords(caveats.children[i]!, visible(c)));
        caveats.dataset["shown"] = list.join("\n");
        caveats.hidden = !list.length;
        const fire = firingRules(t);
        fires.hidden = !fire;
        setText(fires, fire);
        census.show(t);
        draw(t);
    }

    function draw(t: Target): void {
        const range = app.range(t), start = app.clockStart(t), onset = seconds(t.answers?.onsetNs);
        const began: Marker[] = onset === undefined || onset < range.from ? [] : [{ t: onset, text: t.answers!.onset! }];
        const markers = [...began, ...deployMarkers(t, range), ...majorMarkers(t, range), ...noteMarkers(app, t, range)];
        const foreign = isForeign(t);
        setAttr(root, "data-foreign", foreign ? "" : null);
        parts.root.hidden = !foreign;
        if (foreign) parts.show({ ...residentLines(t, range), range, start, markers, stacked: true }, "No sample of it in this range.");
        bands.root.hidden = !t.bands.size;
        bands.show({ ...plots.plot(t, range, "stack", () => true), range, start, markers, stacked: true }, noBands(t));
        pane.show({ ...heapLines(t, range), range, start, markers }, "No sample of the heap in this range.");
    }
    return { root, update, done: () => [parts, bands, pane].forEach((c) => c.done()) };
}

// "Firing: leak, gc-pauses".
function firingRules(t: Target): string {
    const rules = new Map<string, number>();
    for (const a of firing(t.alerts) ?? []) rules.set(a.rule ?? "an alert", (rules.get(a.rule ?? "an alert") ?? 0) + 1);
    return rules.size ? `Firing: ${[...rules].map(([r, n]) => visible(r) + (n > 1 ? ` (${n})` : "")).join(", ")}` : "";
}

// The answers, refilled in place; one that is not there always stands in its order.
export class AnswerList {
    readonly root = h("dl", { class: "answers" });
    private rows = new Map<string, ReturnType<AnswerList["row"]>>();

    constructor(private app: App) {}

    // `keys`: those of them, instead of all.
    show(t: Target | undefined, keys?: Set<string>): void {
        const list = (t?.answers?.answers ?? []).filter((a) => !keys || keys.has(a.key));
        this.root.hidden = !list.length;
        for (const [key, row] of this.rows) row.root.hidden = !list.some((a) => a.key === key);
        if (list.some((a) => !this.rows.has(a.key))) this.root.append(...list.map((a) => (this.rows.get(a.key) ?? this.row(a.key)).root));
        for (const a of list) this.fill(t!, a, this.rows.get(a.key)!);
    }

    private row(key: string) {
        const mark = h("span", { class: "mark", "aria-hidden": "true" }), question = h("span", {}), before = h("span", {}), time = h("time", {}), after = h("span", {});
        const root = h("div", { class: "answer", "data-key": key }, h("dt", {}, question), h("dd", {}, mark, before, time, after));
        const row = { root, mark, question, before, time, after };
        this.rows.set(key, row);
        return row;
    }

    // The moment in the clock of the page, as a tooltip in the other one; while the program runs, also how long ago.
    private fill(t: Target, a: Answer, row: ReturnType<AnswerList["row"]>): void {
        const at = seconds(a.timeNs);
        setAttr(row.root, "data-tone", a.tone);
        setText(row.mark, MARKS[a.tone] ?? "");
        setText(row.question, a.question);
        setWords(row.before, visible(a.text));
        row.time.hidden = at === undefined;
        setText(row.time, at === undefined ? "" : this.moment(t, at));
        setAttr(row.time, "title", at === undefined ? null : this.otherClock(t, at));
        setWords(row.after, visible(a.after ?? ""));
    }

    private moment(t: Target, at: number): string {
        const newest = this.app.newest(t), ago = t.state?.state === "STATE_RUNNING" && !this.app.finished && at <= newest ? newest - at : undefined;
        return `${when(this.app, t, at)}${ago === undefined ? "" : ` (${age(ago)} ago)`}`;
    }

    private otherClock(t: Target, at: number): string | null {
        if (t.start === undefined) return null;
        return this.app.clock === "clock" ? `${clock(at, undefined, 1)} into the run` : clock(at, t.start, 1);
    }
}
