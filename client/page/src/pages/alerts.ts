// SPDX-License-Identifier: BSD-3-Clause
/*
 * alerts.ts - alerts of all targets: rule, state, evidence; and changes since this page was opened.
 */
import type { App, Page } from "../app.ts";
import { h, setLabel, setText, unbroken, visible } from "../dom.ts";
import { setName } from "../widgets/name.ts";
import { alertKey, type AlertChange, alertState, alertTone, headOf, severity } from "../state/judge.ts";
import type { Target } from "../state/target.ts";
import type { Alert, U64 } from "../state/wire.ts";
import { count, UNKNOWN } from "../units.ts";
import { field, toggle } from "../widgets/controls.ts";
import { Facts, pill, twoLines } from "../widgets/facts.ts";
import { Table } from "../widgets/table.ts";
import { alertTime, alertWhen, searching, whenNumber } from "./common.ts";
import { alertControl } from "./control.ts";

interface Row { t: Target; a: Alert; head: Alert | undefined; parts: Alert[]; key: string }
// When an alert came into a state.
function entered(a: Alert, state: string | undefined): [U64 | undefined, U64 | undefined] {
    if (state === "STATE_RESOLVED" && a.resolvedNs !== undefined) return [a.resolvedNs, a.resolvedWallNs];
    if (state !== "STATE_PENDING" && a.firedNs !== undefined) return [a.firedNs, a.firedWallNs];
    return [a.sinceNs, a.sinceWallNs];
}

interface Change { t: Target; c: AlertChange; i: number }

const since = ({ t, a }: Row): number | undefined => alertTime(t, ...entered(a, "STATE_FIRING"));
const changed = ({ t, c }: Change): number | undefined => alertTime(t, ...entered(c.alert, c.to)) ?? c.t;
// Its own band, or those of its parts.
const bands = (r: Row): string => r.a.bandLabel ?? r.parts.map((p) => p.bandLabel ?? p.rule ?? "").join(", ");
const word = (s: string | undefined) => alertState(s);

// Firing before pending, of these the most severe first; silenced ones last.
const WEIGHT: Record<string, number> = { critical: 0.3, warning: 0.2, info: 0.1 };
const urgency = (r: Row): number => word(r.a.state).weight + (r.head ? WEIGHT[severity(r.head)]! - 0.05 : WEIGHT[severity(r.a)] ?? 0.2) - (r.a.silenced ? 0.5 : 0);

// One leak is one alert: what is a part of another one is shown on request, or when it is searched for.
function rowsOf(t: Target): Row[] {
    const rows = (t.alerts?.alerts ?? []).map((a): Row => ({ t, a, head: headOf(t.alerts, a), parts: [], key: `${t.key}\n${alertKey(a)}` }));
    const of = new Map(rows.map((r) => [r.a, r]));
    // as everywhere: those in the same state
    for (const r of rows) if (r.head && r.head.state === r.a.state) of.get(r.head)!.parts.push(r.a);
    return rows;
}

export function alerts(app: App): Page {
    const { route } = app, filter = field(route, "qa", "Search", "rule, target or band"), unfold = toggle(route, "parts", "each part");
    const table = new Table<Row>({ id: "alerts", title: "Alerts", route, sort: "-state", key: (r) => r.key, height: 480, rowHeight: 40,
        empty: "No alert. The daemon's rules decide; “–” in the overview means that none are judged.",
        onopen: (r) => route.set({ alert: route.get("alert") === r.key ? undefined : r.key }), opened: () => route.get("alert"), columns: [
            { id: "state", title: "State", width: "132px", narrow: "92px", left: true, first: "desc", value: (r) => word(r.a.state).text + (r.a.silenced ? ", silenced" : ""), by: urgency,
                draw: (c, r) => pill(c, word(r.a.state).text + (r.a.silenced ? ", silenced" : ""), alertTone(r.a)) },
            { id: "rule", title: "Rule", width: "minmax(100px, 1fr)", left: true, value: (r) => r.a.rule, draw: (c, r) => twoLines(c, r.a.rule ?? UNKNOWN, [r.t.key, r.a.bandLabel, r.head && `part of ${r.a.partOf}`, r.parts.length && `with ${r.parts.length} ${r.parts.length === 1 ? "part" : "parts"}`].filter(Boolean).join(" · ")) },
            { id: "target", title: "Target", width: "minmax(90px, 0.7fr)", left: true, wide: true, value: (r) => r.t.key, draw: (c, r) => setLabel(c, r.t.key) },
            { id: "band", title: "Bands, parts", width: "minmax(110px, 1fr)", left: true, wide: true, value: bands, draw: (c, r) => setName(c, bands(r)) },
            { id: "severity", title: "Severity", width: "90px", left: true, wide: true, value: (r) => severity(r.a), draw: (c, r) => setLabel(c, severity(r.a)) },
            { id: "value", title: "Value", width: "110px", value: (r) => r.a.valueText, by: (r) => r.a.value, text: (r) => visible(r.a.valueText ?? UNKNOWN) },
            { id: "threshold", title: "Threshold", width: "120px", wide: true, value: (r) => r.a.thresholdText, text: (r) => visible(r.a.thresholdText ?? UNKNOWN) },
            { id: "since", title: "Fired", width: "110px", left: true, wide: true, value: (r) => alertWhen(app, r.t, ...entered(r.a, "STATE_FIRING")), by: (r) => whenNumber(app, r.t, since(r)),
                text: (r) => alertWhen(app, r.t, ...entered(r.a, "STATE_FIRING")) },
            { id: "sentence", title: "Evidence", width: "minmax(240px, 5fr)", left: true, wide: true, value: (r) => r.a.sentence, draw: (c, r) => setLabel(c, r.a.sentence ?? UNKNOWN) },
        ] });
    const change = alertControl(app), facts = new Facts(), name = h("h3", {}), sentence = h("p", { class: "sentence" });
    const opened = h("section", { class: "card", "aria-label": "The opened alert" }, h("div", { class: "tablehead" }, name, h("span", { class: "tools" },
        h("button", { class: "quiet", onclick: () => toBand() }, "show in heap"), h("button", { class: "quiet", "aria-label": "Close", onclick: () => route.set({ alert: undefined }) }, "×"))), sentence, facts.root, change.root);
    const log = new Table<Change>({ id: "alert-history", title: "Changes since this page was opened", route, sort: "-time", key: (c) => String(c.i), height: 300, rowHeight: 36, empty: "Nothing yet.", columns: [
        { id: "time", title: "Time", width: "92px", left: true, value: (x) => alertWhen(app, x.t, ...entered(x.c.alert, x.c.to), x.c.t), by: (x) => whenNumber(app, x.t, changed(x)) },
        { id: "target", title: "Target", width: "minmax(110px, 1fr)", left: true, wide: true, value: (x) => x.t.key, draw: (c, x) => setLabel(c, x.t.key) },
        { id: "rule", title: "Rule", width: "minmax(100px, 2fr)", left: true, value: (x) => [x.c.alert.rule, x.c.alert.bandLabel].filter(Boolean).join(" · "),
            draw: (c, x) => twoLines(c, [x.c.alert.rule, x.c.alert.bandLabel].filter(Boolean).join(" · "), x.t.key) },
        { id: "change", title: "Change", width: "156px", left: true, value: (x) => `${word(x.c.from).text} → ${word(x.c.to).text}` },
    ] });
    const root = h("div", { class: "stack" }, h("div", { class: "pagehead" }, h("h2", {}, "Alerts"), h("span", { class: "spacer" }), unfold.root, filter.root), table.root, opened, log.root);
    let current: Row | undefined;

    function toBand(): void {
        if (!current) return;
        const b = current.a.band !== undefined ? current.t.bands.get(current.a.band) : undefined;
        route.set({ target: current.t.key, iso: b ? current.t.bandKey(b) : undefined }, "heap");
    }

    function update(): void {
        filter.update();
        unfold.update();
        const keep = searching(app, "qa", filter.root), targets = app.view.sorted();
        const rows = targets.flatMap(rowsOf), folded = !route.get("parts") && !route.get("qa");
        table.show(rows.filter((r) => !(folded && r.head) && keep(`${r.a.rule ?? ""} ${r.t.key} ${r.a.bandLabel ?? ""}`)), count(rows.filter((r) => !r.head).length));
        current = rows.find((r) => r.key === route.get("alert"));
        opened.hidden = !current;
        if (current) show(current);
        log.show(targets.flatMap((t) => t.alertLog.map((c, i) => ({ t, c, i }))));
    }

    function show({ a, t }: Row): void {
        setText(name, visible(a.rule ?? UNKNOWN));
        setText(sentence, unbroken(visible(a.sentence ?? "")));
        change.show(t, a);
        const at = (ns: U64 | undefined, wall: U64 | undefined) => alertWhen(app, t, ns, wall);
        facts.show([
            { name: "expression", value: a.expr ?? UNKNOWN, text: true }, { name: "value", value: a.unknown ? "no data now" : visible(a.valueText ?? UNKNOWN) },
            { name: "pending since", value: at(a.sinceNs, a.sinceWallNs) }, { name: "fired", value: at(a.firedNs, a.firedWallNs) }, { name: "resolved", value: at(a.resolvedNs, a.resolvedWallNs) },
            ...(a.annotations ?? []).map((x) => ({ name: visible(x.name ?? ""), value: x.value ?? "", text: true })),
            ...(a.silenced ? [{ name: "silenced", value: a.silence?.why ?? "yes", text: true }] : []),
            ...(a.actions ?? []).map((x) => ({ name: `action ${visible(x.kind ?? "")}`, value: `${x.ok === undefined ? "under way" : x.ok ? "done" : x.attempts === 0 ? "" : "failed"} ${x.detail ?? ""}`, text: true })),
        ]);
    }
    return { root, update, done: () => [table, log].forEach((w) => w.done()) };
}
