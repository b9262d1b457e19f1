// SPDX-License-Identifier: BSD-3-Clause
/*
 * questions.ts - what the heap chart answers: live data, fragmentation, memory not returned, given back, or foreign. The first
 * three are gaps between two curves: 0 … live … blocks in use … heap size; the others are parts of RSS. What every face says of it comes first.
 */
import type { App } from "../app.ts";
import { h, setText, unbroken, visible } from "../dom.ts";
import type { Span } from "../range.ts";
import type { Target } from "../state/target.ts";
import { num } from "../state/wire.ts";
import { bytes, known, share, signedBytes } from "../units.ts";
import { AnswerList } from "./target.ts";

const JUDGED = new Set(["wrong", "where", "until"]);

interface Answer {
    value: number | undefined;
    of: number | undefined; // what the bar compares with
    text: string;
}

export class Questions {
    readonly root: HTMLElement;
    private readonly judged: AnswerList;
    private readonly rows = ["Is it live data?", "Is it fragmentation?", "Is it kept by the runtime?", "Is it given back?", "Is it foreign?"].map((q) => {
        const value = h("span", {}), bar = h("span", {}), text = h("p", {});
        return { value, bar, text, root: h("div", { class: "question" }, h("h4", {}, q, value), h("div", { class: "bar", "aria-hidden": "true" }, bar), text) };
    });

    constructor(app: App) {
        this.judged = new AnswerList(app);
        this.root = h("section", { class: "card", "aria-label": "Where memory is" }, h("div", { class: "questions" }, this.judged.root, ...this.rows.map((r) => r.root)));
    }

    show(t: Target, r: Span): void {
        this.judged.show(t, JUDGED);
        answers(t, r).forEach((a, i) => {
            const row = this.rows[i]!;
            setText(row.value, unbroken(bytes(a.value)));
            row.bar.style.width = known(a.value) && known(a.of) && a.of > 0 ? `${Math.min(100, (100 * a.value) / a.of)}%` : "0";
            setText(row.text, unbroken(a.text));
        });
    }
}

const ratio = (a: number | undefined, b: number | undefined) => share(known(a) && known(b) && b > 0 ? a / b : undefined);

function answers(t: Target, r: Span): Answer[] {
    const live = t.number("live_bytes"), blocks = t.number("blocks_size_bytes"), heap = t.number("heap_size_bytes"), rss = t.number("resident_bytes"), of = rss ?? heap;
    const parts = t.heap?.resident, kept = num(parts?.keptBytes), given = num(parts?.givenBackBytes), foreign = num(parts?.foreignBytes);
    const unused = known(heap) && known(blocks) ? Math.max(0, heap - blocks) : undefined, unknown = parts ? "It cannot be told apart here." : "The process's memory is known for local programs only.";
    return [
        { value: live, of, text: liveText(t, r, live, blocks, heap) },
        { value: t.number("unneeded_bytes"), of, text: fragmentText(t) },
        { value: kept ?? unused, of, text: keptText(t, known(kept), known(unused)) },
        { value: given, of, text: known(given) ? "Freed by the runtime and still resident: the kernel takes it when it needs memory." : unknown },
        { value: foreign, of, text: known(foreign) ? `${ratio(foreign, rss)} of the ${t.text("resident_bytes")} in memory: malloc, C code, FFI, stacks.` : unknown },
    ];
}

function liveText(t: Target, r: Span, live: number | undefined, blocks: number | undefined, heap: number | undefined): string {
    if (!known(live)) return "Live data is known after a major collection.";
    const s = t.series.get("live"), i = s?.at(r.from) ?? 0;
    const change = s && s.n - i > 1 ? ` Over this range it changed by ${signedBytes(live - s.v[i]!)}.` : "";
    return `${known(blocks) ? `${ratio(live, blocks)} of the blocks in use` : `${ratio(live, heap)} of the heap`}, at the last major collection.${change}`;
}

// The daemon's own answer, the one that its alert rests on.
function fragmentText(t: Target): string {
    if (!t.heap?.sizing) return "Needs the live data and the size of the heap.";
    return `${t.number("unneeded_bytes") ? "Heap beyond what the collector's own sizing holds" : "No: the heap is what the collector's own sizing holds"}: ${visible(t.heap.sizing)}.`;
}

// As in the picture of RSS beside it, where that is known; else what is in no use at all, which has the room to copy to, too.
function keptText(t: Target, isPart: boolean, unused: boolean): string {
    if (!isPart && !unused) return "Needs the heap size and the size of the blocks in use.";
    const mega = t.number("megablocks_needed") === undefined ? ""
        : ` At the last major collection ${t.text("megablocks_held")} megablocks were held, ${t.text("megablocks_needed")} needed, ${t.text("megablocks_returned")} returned.`;
    return `${isPart ? "Heap beyond what the runtime needs for the live data." : "Held by the runtime but not in use."}${mega}`;
}
