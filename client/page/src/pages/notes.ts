// SPDX-License-Identifier: BSD-3-Clause
/*
 * notes.ts - the program's notes. A note opens the heap around its moment.
 */
import type { App, Page } from "../app.ts";
import { h, setLabel } from "../dom.ts";
import { formatFixed } from "../range.ts";
import { type Note, num, seconds } from "../state/wire.ts";
import { bytes, count, UNKNOWN } from "../units.ts";
import { field, select } from "../widgets/controls.ts";
import { Table } from "../widgets/table.ts";
import { searching, title, when } from "./common.ts";

const WHAT: Record<string, string> = { WHAT_MESSAGE: "message", WHAT_MARKER: "marker", WHAT_THREAD_LABEL: "thread label", WHAT_BINARY: "binary", WHAT_LOG: "runtime's log" };
const AROUND = 0.05; // of the run, on each side

export function notes(app: App): Page {
    const { route } = app, heading = title("Notes"), filter = field(route, "qn", "Search", "text or /regexp/");
    const kinds = select(route, "kind", "Kind", [["", "all"], ...Object.entries(WHAT)], () => "");
    const table = new Table<Note>({ id: "notes", title: "Notes", route, sort: "-number", key: (n) => String(n.number), height: 700,
        empty: "The program has written no notes here (traceEvent, traceMarker, labelThread).", onopen: open, columns: [
            { id: "number", title: "No.", width: "70px", wide: true, value: (n) => num(n.number), text: (n) => count(num(n.number)) },
            { id: "time", title: "Time", width: "96px", left: true, value: (n) => seconds(n.timeNs), text: (n) => when(app, app.target()!, seconds(n.timeNs)) },
            { id: "what", title: "Kind", width: "110px", left: true, wide: true, value: (n) => WHAT[n.what ?? ""] ?? UNKNOWN },
            { id: "capability", title: "Cap.", width: "64px", wide: true, value: (n) => n.capability, text: (n) => count(n.capability) },
            { id: "text", title: "Text", width: "minmax(160px, 1fr)", left: true, value: (n) => n.text, draw: (c, n) => setLabel(c, n.text ?? UNKNOWN) },
            { id: "size", title: "Size", width: "90px", wide: true, value: (n) => num(n.sizeBytes), text: (n) => bytes(num(n.sizeBytes)) },
        ] });
    const root = h("div", { class: "stack" }, h("div", { class: "pagehead" }, heading.root, h("span", { class: "spacer" }), kinds.root, filter.root), table.root);

    function open(n: Note): void {
        const t = app.target(), at = seconds(n.timeNs);
        if (!t || at === undefined) return;
        const side = Math.max(0.01, t.eventTime * AROUND);
        route.set({ range: formatFixed({ from: Math.max(0, at - side), to: at + side }), notes: "all" }, "heap");
    }

    function update(): void {
        const t = app.target(), keep = searching(app, "qn", filter.root), kind = route.get("kind");
        heading.set(t);
        filter.update();
        kinds.update();
        const all = t?.notes ?? [], dropped = num(t?.notesDropped);
        table.show(all.filter((n) => (!kind || n.what === kind) && keep(n.text ?? "")),
            `${count(all.length)} kept${dropped ? `; ${count(dropped)} more than the daemon keeps` : ""}`);
    }
    return { root, update, done: () => table.done() };
}
