// SPDX-License-Identifier: BSD-3-Clause
/*
 * facts.ts - short lists of names and values, large numbers, and small labels of a state.
 */
import { h, setAttr, setLabel, setText, unbroken, visible } from "../dom.ts";
import { setName } from "./name.ts";
import type { Target } from "../state/target.ts";
import type { TargetState } from "../state/wire.ts";
import { UNKNOWN } from "../units.ts";

export interface Fact {
    name: string;
    value: string;
    hint?: string;
    text?: boolean; // of the program: shown as a label
}

// A number of the table of facts, under a name that fits beside the others.
export function number(t: Target, id: string, name: string): Fact {
    return { name, value: t.text(id), hint: t.help[id] };
}

// A list of facts that is refilled in place.
export class Facts {
    readonly root: HTMLDListElement;
    private rows: { name: HTMLElement; value: HTMLElement; row: HTMLElement }[] = [];

    constructor(cls = "facts") {
        this.root = h("dl", { class: cls });
    }

    show(facts: Fact[]): void {
        while (this.rows.length < facts.length) {
            const name = h("dt"), value = h("dd"), row = h("div", {}, name, value);
            this.rows.push({ name, value, row });
            this.root.append(row);
        }
        this.rows.forEach(({ name, value, row }, i) => {
            const f = facts[i];
            row.hidden = !f;
            if (!f) return;
            setText(name, f.name);
            if (f.text) setLabel(value, f.value);
            else setText(value, unbroken(f.value));
            setAttr(row, "title", f.hint ?? null);
        });
    }
}

const TONES: Record<string, string> = { running: "good", stopped: "warn", crashed: "bad", failed: "bad", lost: "bad", unreadable: "bad" };

function words(t: TargetState | undefined): [string, string] {
    const word = t?.state?.replace("STATE_", "").toLowerCase() ?? UNKNOWN;
    return [word === "crashed" && t?.exitSignal ? "killed" : word, TONES[word] ?? "dim"];
}

// Its process is there, and can be read: also while it is stopped.
export function isThere(t: TargetState | undefined): boolean {
    return t?.state === "STATE_RUNNING" || t?.state === "STATE_STOPPED";
}

export function stateText(t: TargetState | undefined): string {
    return words(t)[0];
}

// A mark and a word: never colour alone. The tooltip says how a program ended.
export function showState(el: HTMLElement, t: TargetState | undefined): void {
    pill(el, ...words(t));
    setAttr(el, "title", t?.detail ? visible(t.detail) : null);
}

export function pill(el: HTMLElement, text: string, tone: string): void {
    let p = el.firstElementChild as HTMLElement | null;
    if (!p?.classList.contains("pill")) {
        p = h("span", { class: "pill" });
        el.replaceChildren(p);
    }
    setAttr(p, "data-tone", tone);
    setText(p, text);
}

// A label, and below it what has no column on a narrow screen.
export function twoLines(cell: HTMLElement, text: string, below: string): void {
    if (!cell.firstElementChild) cell.append(h("span", { class: "label first" }), h("span", { class: "label narrow" }));
    setLabel(cell.firstElementChild as HTMLElement, text);
    setName(cell.lastElementChild as HTMLElement, below);
}
