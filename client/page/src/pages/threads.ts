// SPDX-License-Identifier: BSD-3-Clause
/*
 * threads.ts - what threads wait for, on request (groups.ts); the scheduler: threads created and finished, why they stop, how each capability is used, sparks, labels of threads.
 */
import type { App, Page } from "../app.ts";
import { h, setAttr, setLabel } from "../dom.ts";
import { setName } from "../widgets/name.ts";
import { type Capability, type Note, num, seconds } from "../state/wire.ts";
import { count, duration, share, UNKNOWN } from "../units.ts";
import { Facts, number } from "../widgets/facts.ts";
import { type Column, Table } from "../widgets/table.ts";
import { title, when } from "./common.ts";
import { GroupSection } from "./groups.ts";

interface Stop { reason?: string; count?: string | number; all: number }
interface Use extends Capability { elapsed: number }

const STOPS: Column<Stop>[] = [
    { id: "reason", title: "Why threads stop", width: "minmax(130px, 1fr)", left: true, value: (s) => s.reason, draw: (c, s) => setName(c, s.reason ?? UNKNOWN) },
    { id: "count", title: "Times", width: "100px", value: (s) => num(s.count), text: (s) => count(num(s.count)) },
    { id: "share", title: "Share", width: "90px", value: (s) => (num(s.count) ?? 0) / s.all, text: (s) => share((num(s.count) ?? NaN) / s.all) },
];

const part = (ns: string | number | undefined, u: Use) => (u.elapsed > 0 && num(ns) !== undefined ? Math.min(1, num(ns)! / 1e9 / u.elapsed) : undefined);

const USES: Column<Use>[] = [
    { id: "number", title: "Capability", width: "88px", left: true, value: (c) => c.number ?? 0, text: (c) => `${c.number ?? 0}${c.disabled ? " (off)" : ""}` },
    { id: "use", title: "Use", width: "minmax(110px, 1fr)", left: true, value: (c) => part(c.runNs, c), draw: drawUse },
    { id: "run", title: "Haskell", width: "90px", value: (c) => part(c.runNs, c), text: (c) => share(part(c.runNs, c)) },
    { id: "gc", title: "GC", width: "80px", wide: true, value: (c) => part(c.gcNs, c), text: (c) => share(part(c.gcNs, c)) },
    { id: "time", title: "Ran", width: "100px", wide: true, value: (c) => num(c.runNs), text: (c) => duration(num(c.runNs)) },
    { id: "runs", title: "Runs", width: "100px", wide: true, value: (c) => num(c.runs), text: (c) => count(num(c.runs)) },
];

function drawUse(cell: HTMLElement, u: Use): void {
    let bar = cell.firstElementChild as HTMLElement | null;
    if (!bar) cell.append((bar = h("div", { class: "use", role: "img" }, h("span", { class: "run" }), h("span", { class: "gc" }))));
    const run = part(u.runNs, u) ?? 0, gc = part(u.gcNs, u) ?? 0;
    (bar.children[0] as HTMLElement).style.width = `${run * 100}%`;
    (bar.children[1] as HTMLElement).style.width = `${Math.min(1 - run, gc) * 100}%`;
    setAttr(bar, "aria-label", `running ${share(run)}, collecting ${share(gc)}`);
}

export function threads(app: App): Page {
    const heading = title("Threads"), groups = new GroupSection(app), figures = new Facts("figures"), sparks = new Facts();
    const stops = new Table<Stop>({ id: "stops", title: "Stops", columns: STOPS, key: (s) => s.reason ?? "", route: app.route, sort: "-count",
        empty: UNKNOWN });
    const uses = new Table<Use>({ id: "capabilities", title: "Capabilities, since the run began", columns: USES, key: (c) => String(c.number), route: app.route, sort: "number", rowHeight: 34,
        empty: UNKNOWN });
    const labels = new Table<Note>({ id: "thread-labels", title: "Thread labels", route: app.route, sort: "-time", key: (n) => String(n.number), height: 320,
        empty: "No thread was labelled.", columns: [
            { id: "time", title: "Time", width: "110px", left: true, value: (n) => seconds(n.timeNs), text: (n) => when(app, app.target()!, seconds(n.timeNs)) },
            { id: "thread", title: "Thread", width: "90px", value: (n) => n.thread, text: (n) => count(n.thread) },
            { id: "text", title: "Label", width: "minmax(100px, 1fr)", left: true, value: (n) => n.text, draw: (c, n) => setLabel(c, n.text ?? UNKNOWN) },
        ] });
    const root = h("div", { class: "stack" }, h("div", { class: "pagehead" }, heading.root), groups.root, h("section", { class: "card", "aria-label": "Threads" }, figures.root), uses.root,
        h("div", { class: "columns" }, stops.root, h("section", { class: "card" }, h("div", { class: "tablehead" }, h("h3", {}, "Sparks")), sparks.root), labels.root));

    function update(): void {
        const t = app.target();
        heading.set(t);
        if (!t) return;
        groups.show(t);
        const s = t.sched, made = t.number("threads_created"), done = t.number("threads_finished");
        figures.show([
            number(t, "threads_created", "threads created"), number(t, "threads_finished", "finished"),
            { name: "alive", value: count(made !== undefined && done !== undefined ? Math.max(0, made - done) : undefined), hint: "made and not finished, as far as the log tells" },
            number(t, "thread_migrations", "moved between capabilities"), number(t, "thread_wakeups", "woken"),
        ]);
        const all = (s?.stops ?? []).reduce((n, x) => n + (num(x.count) ?? 0), 0);
        stops.show((s?.stops ?? []).map((x) => ({ ...x, all })), "", t.answers?.noScheduler);
        uses.show((s?.capabilities ?? []).map((c) => ({ ...c, elapsed: t.eventTime })), "", t.answers?.noScheduler);
        sparks.show([
            number(t, "sparks_created", "created"), number(t, "sparks_converted", "run by an idle capability"),
            number(t, "sparks_fizzled", "evaluated before (fizzled)"), number(t, "sparks_dud", "dud"), number(t, "sparks_overflowed", "overflowed"),
            number(t, "sparks_collected", "collected"), number(t, "sparks_remaining", "remaining"),
        ]);
        labels.show(t.notes.filter((n) => n.what === "WHAT_THREAD_LABEL"), "", t.answers?.noScheduler);
    }
    return { root, update, done: () => [groups, stops, uses, labels].forEach((w) => w.done()) };
}
