// SPDX-License-Identifier: BSD-3-Clause
/*
 * time.ts - where time goes: the flame graph of cost-centre stacks over the range, the table of cost centres, and ticky counters.
 */
import type { App, Page } from "../app.ts";
import { h, setLabel, setText } from "../dom.ts";
import { setName } from "../widgets/name.ts";
import { type CentreRow, centres, ticksIn, tree } from "../state/ticks.ts";
import { num, type TickyCounter } from "../state/wire.ts";
import { bytes, count, duration, share, UNKNOWN } from "../units.ts";
import { field } from "../widgets/controls.ts";
import { Flame } from "../widgets/flame.ts";
import { type Column, Table } from "../widgets/table.ts";
import { searching, title, when } from "./common.ts";

const CENTRES: Column<CentreRow>[] = [
    { id: "name", title: "Cost centre", width: "minmax(130px, 2fr)", left: true, value: (r) => r.name, draw: (c, r) => setName(c, r.name) },
    { id: "own", title: "Own ticks", width: "100px", value: (r) => r.own, text: (r) => count(r.own), hint: "samples that found the program in it" },
    { id: "ownshare", title: "Own", width: "80px", wide: true, value: (r) => r.own / r.total, text: (r) => share(r.own / r.total) },
    { id: "inherited", title: "With callees", width: "110px", value: (r) => r.inherited, text: (r) => count(r.inherited), hint: "samples that had it anywhere on the stack" },
    { id: "inhshare", title: "Share", width: "80px", wide: true, value: (r) => r.inherited / r.total, text: (r) => share(r.inherited / r.total) },
    { id: "source", title: "Source", width: "minmax(180px, 2fr)", left: true, wide: true, value: (r) => r.source, draw: (c, r) => setName(c, r.source || UNKNOWN) },
];

const TICKY: Column<TickyCounter>[] = [
    { id: "name", title: "Counter", width: "minmax(150px, 3fr)", left: true, value: (c) => c.name, draw: (cell, c) => setName(cell, c.name ?? `counter ${c.id ?? UNKNOWN}`) },
    { id: "entries", title: "Entries", width: "100px", value: (c) => num(c.entries), text: (c) => count(num(c.entries)) },
    { id: "allocs", title: "Allocated by", width: "104px", value: (c) => num(c.allocs), text: (c) => bytes(num(c.allocs)) },
    { id: "allocd", title: "Allocated of", width: "120px", wide: true, value: (c) => num(c.allocd), text: (c) => bytes(num(c.allocd)) },
    { id: "arity", title: "Arity", width: "70px", wide: true, value: (c) => c.arity, text: (c) => count(c.arity) },
    { id: "kinds", title: "Arguments", width: "110px", left: true, wide: true, value: (c) => c.argumentKinds, draw: (cell, c) => setLabel(cell, c.argumentKinds || UNKNOWN) },
];

export function time(app: App): Page {
    const heading = title("Time"), filter = field(app.route, "qc", "Search", "cost centre or counter");
    const flame = new Flame("flame", "Cost-centre stacks by ticks");
    const message = h("p", { class: "muted" });
    const table = new Table<CentreRow>({ id: "centres", title: "Cost centres", columns: CENTRES, key: (r) => r.name, route: app.route, sort: "-own", height: 420,
        empty: "No cost centre has ticks in this range." });
    const ticky = new Table<TickyCounter>({ id: "ticky", title: "Ticky counters, since the run began", columns: TICKY, key: (c) => String(c.id), route: app.route,
        sort: "-entries", height: 420, empty: "No ticky counters. A program built with -ticky and started with +RTS -lT has them." });
    const root = h("div", { class: "stack" }, h("div", { class: "pagehead" }, heading.root, h("span", { class: "spacer" }), filter.root), message, flame.root, table.root, ticky.root);

    function update(): void {
        const t = app.target();
        heading.set(t);
        filter.update();
        if (!t) return;
        const range = app.range(t), ticks = ticksIn(t, range.from, range.to), term = app.route.get("qc"), keep = searching(app, "qc", filter.root);
        const interval = num(t.state?.runInfo?.tickIntervalNs);
        setText(message, t.stacks.size ? `${count(ticks.total)} ticks${interval ? ` of ${duration(interval)}` : ""} ` +
            (ticks.since ? `since ${when(app, t, ticks.since)}` : "since the run began") +
            (ticks.since === 0 && range.from > 0 ? ": ticks from before this page was opened cannot be split by time" : "") : "");
        flame.show(tree(ticks), t.stacks.size ? "No tick in this range." : "No time profile: a profiling build (-prof) started with +RTS -l -p writes one.", term);
        const rows = centres(ticks);
        message.hidden = table.root.hidden = !t.stacks.size;
        table.show(rows.filter((r) => keep(`${r.name} ${r.source}`)), count(rows.length));
        const counters = [...t.ticky.values()];
        ticky.show(counters.filter((c) => keep(c.name ?? "")), count(counters.length));
    }
    return { root, update, done: () => [flame, table, ticky].forEach((w) => w.done()) };
}
