// SPDX-License-Identifier: BSD-3-Clause
/*
 * definition.ts - what a band is: its cost-centre stack, its info table, its type, module and source; and what was judged of it.
 */
import type { App } from "../app.ts";
import { h, label, replace, setLabel } from "../dom.ts";
import { verdict } from "../state/judge.ts";
import type { Band, Target } from "../state/target.ts";
import { type CostCentre, seconds } from "../state/wire.ts";
import { UNKNOWN } from "../units.ts";
import { type Fact, Facts } from "../widgets/facts.ts";
import { when } from "./common.ts";

export class Definition {
    readonly root: HTMLElement;
    private readonly name = h("h3", { class: "label" });
    private readonly facts = new Facts();
    private readonly words = h("p", { class: "muted message" });
    private readonly trail = h("ol", { class: "definition trail", "aria-label": "Cost-centre stack, innermost first" });
    private key = "";

    constructor(isolate: (key: string) => void, close: () => void) {
        this.root = h("section", { class: "card", "aria-label": "The opened band" },
            h("div", { class: "tablehead" }, this.name, h("span", { class: "tools" },
                h("button", { class: "quiet", onclick: () => isolate(this.key) }, "show in heap"),
                h("button", { class: "quiet", "aria-label": "Close the band", onclick: close }, "×"))),
            this.words, this.facts.root, this.trail);
    }

    show(app: App, t: Target, b: Band, numbers: Fact[]): void {
        const d = b.def, i = d.infoTable, trend = t.trends.get(b.id);
        this.key = t.bandKey(b);
        setLabel(this.name, d.label ?? UNKNOWN);
        const text = (name: string, value: string | undefined): Fact[] => (value ? [{ name, value, text: true }] : []);
        this.words.hidden = !trend?.sentence;
        setLabel(this.words, trend?.sentence ?? "");
        this.facts.show([...numbers,
            ...(trend?.word ? [{ name: "verdict", value: verdict(trend.word).text }] : []),
            ...(trend?.onsetNs !== undefined ? [{ name: "growth began", value: when(app, t, seconds(trend.onsetNs)) }] : []),
            { name: "number", value: String(b.id) }, { name: "first seen", value: when(app, t, seconds(d.firstSeenNs)) },
            ...text("info table", i?.name), ...text("closure type", i?.closureType), ...text("type", i?.type),
            ...text("label", i?.label), ...text("module", i?.module), ...text("source", i?.source),
            ...(d.key !== undefined ? [{ name: "key", value: `0x${BigInt(d.key).toString(16)}` }] : []),
        ]);
        replace(this.trail, ...(d.stack ?? []).map((c) => h("li", {}, label(centre(c)))));
        this.trail.hidden = !d.stack?.length;
    }
}

export function centre(c: CostCentre): string {
    const name = `${c.module ? `${c.module}.` : ""}${c.label ?? `cost centre ${c.id ?? UNKNOWN}`}`;
    return `${name}${c.caf ? " (CAF)" : ""}${c.source ? `  ${c.source}` : ""}`;
}
