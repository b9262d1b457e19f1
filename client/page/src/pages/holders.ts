// SPDX-License-Identifier: BSD-3-Clause
/*
 * holders.ts - what is in the heap of a program, by type, and who holds it: read on request from outside, as `heapwatch heap` and `why` do.
 */
import type { App, Page } from "../app.ts";
import { h, replace, setText, visible } from "../dom.ts";
import { type Heap, type HeapRead, type HeapRoot, type HeapType, type Held, heapOf, type Holder, holdersOf, nameOf, plainName, trail, type Why } from "../state/held.ts";
import { Readings, setGained } from "../state/readings.ts";
import type { Target } from "../state/target.ts";
import { seconds } from "../state/wire.ts";
import { bytes, count, duration, share, signedBytes } from "../units.ts";
import { field } from "../widgets/controls.ts";
import { setName } from "../widgets/name.ts";
import { type Column, Table } from "../widgets/table.ts";
import { Treemap } from "../widgets/treemap.ts";
import { holdsText, searching, title } from "./common.ts";
import { heapControl } from "./control.ts";
import { isThere } from "../widgets/facts.ts";

interface Part { name: string; bytes: number; own?: number; closures?: number; of: number; place?: number } // place: in the tree, to open

const HELD: Column<Part>[] = [
    { id: "name", title: "Held", width: "minmax(130px, 3fr)", left: true, value: (p) => p.name, draw: (c, p) => setName(c, p.name) },
    { id: "bytes", title: "Bytes", width: "90px", value: (p) => p.bytes, text: (p) => bytes(p.bytes), hint: "with all that it alone holds" },
    { id: "share", title: "Share", width: "80px", value: (p) => p.bytes / p.of, text: (p) => share(p.bytes / p.of) },
    { id: "own", title: "Own", width: "90px", wide: true, value: (p) => p.own, text: (p) => bytes(p.own) },
    { id: "closures", title: "Closures", width: "100px", wide: true, value: (p) => p.closures, text: (p) => count(p.closures) },
];

// `since`: seconds since the reading before; undefined: there is none.
const typeColumns = (retained: () => boolean, since: () => number | undefined): Column<HeapType>[] => [
    { id: "name", title: "Type", width: "minmax(130px, 3fr)", left: true, value: (t) => plainName(t.name), draw: (c, t) => setName(c, plainName(t.name)) },
    { id: "holds", title: "Holds", width: "minmax(90px, 2fr)", left: true, wide: true, value: (t) => t.holds?.name, draw: (c, t) => setName(c, holdsText(t.holds)), hint: "what most of its closures are, by what they hold" },
    { id: "retained", title: "Retains", width: "90px", value: (t) => t.retained_bytes, text: (t) => bytes(t.retained_bytes), hidden: () => !retained() },
    { id: "bytes", title: "Bytes", width: "90px", value: (t) => t.bytes, text: (t) => bytes(t.bytes) },
    { id: "gained", title: "Gained", width: "90px", value: (t) => t.gained, text: (t) => signedBytes(t.gained), hidden: () => since() === undefined },
    { id: "share", title: "Of the heap", width: "90px", wide: true, value: (t) => t.bytes / t.total, text: (t) => share(t.bytes / t.total) },
    { id: "closures", title: "Closures", width: "100px", wide: true, value: (t) => t.closures, text: (t) => count(t.closures) },
    { id: "unreached", title: "Unreached", width: "90px", wide: true, value: (t) => t.unreached_bytes, text: (t) => bytes(t.unreached_bytes), hidden: () => !retained() },
];

const ROOTS: Column<HeapRoot>[] = [
    { id: "name", title: "Root", width: "minmax(130px, 3fr)", left: true, value: (r) => r.name, draw: (c, r) => setName(c, r.name) },
    { id: "roots", title: "Number", width: "80px", value: (r) => r.roots || undefined, text: (r) => count(r.roots || undefined) },
    { id: "retained", title: "Would go", width: "90px", value: (r) => r.retained_bytes, text: (r) => bytes(r.retained_bytes) },
];

// What is in one, as rows: what it alone holds, itself, and what is left out.
function partsOf(at: Held): Part[] {
    const rows: Part[] = at.children.map((c) => ({ name: nameOf(c), bytes: c.bytes, own: c.own, closures: c.closures, of: at.bytes, place: c.place }));
    if (at.own) rows.push({ name: "(itself)", bytes: at.own, own: at.own, closures: at.closures, of: at.bytes });
    if (at.rest) rows.push({ name: `(${count(at.restTypes)} smaller types)`, bytes: at.rest, of: at.bytes });
    return rows;
}

function holderList(all: Holder[], total: number): HTMLElement {
    return h("ul", { class: "holders" }, ...all.map((x) => h("li", {}, h("span", { class: "whole" }, `${share(x.bytes / (total || 1))}, ${bytes(x.bytes)} `), h("bdi", {}, visible(`← ${x.name}`)),
        x.holders.length ? holderList(x.holders, total) : null)));
}

export function holders(app: App): Page {
    const { route } = app, heading = title("Holders"), filter = field(route, "qh", "Search", "type or root"), control = heapControl(app);
    const message = h("p", { class: "muted lines", role: "status" }), command = h("p", { class: "muted" });
    const path = h("nav", { class: "trail-of", "aria-label": "What is opened" });
    const map = new Treemap("held", "Who holds what", (to) => open(to));
    const held = new Table<Part>({ id: "held", title: "What it holds", columns: HELD, key: (p) => p.name, route, sort: "-bytes", height: 330, empty: "Nothing.",
        onopen: (p) => p.place !== undefined && open(found?.places[p.place]) });
    const types = new Table<HeapType>({ id: "types", title: "Types in the heap", columns: typeColumns(() => !!found?.tree, () => readings.since), key: (t) => t.name, route, sort: "-bytes", height: 420,
        empty: "No type matches.", onopen: (t) => found?.tree && route.set({ why: t.name }), opened: () => route.get("why") });
    const roots = new Table<HeapRoot>({ id: "roots", title: "Roots, by what would go with each", columns: ROOTS, key: (r) => r.name, route, sort: "-retained", height: 420, empty: "No root matches." });
    const whyTitle = h("h3", { class: "label" }), whyList = h("div", {}), why = h("section", { class: "card", "aria-label": "Why it is kept" }, h("div", { class: "tablehead" }, whyTitle), whyList);
    const root = h("div", { class: "stack" }, h("div", { class: "pagehead" }, heading.root, h("span", { class: "spacer" }), filter.root),
        h("div", {}, h("div", { class: "controls" }, control.root), message, command), path, map.root, held.root, types.root, why, roots.root);
    const readings = new Readings<Heap>();
    let read: HeapRead | undefined, found: Heap | undefined, asked: string | undefined; // what is shown, what is made of it, of which type it is told why it is kept

    const open = (to: Held | undefined) => route.set({ held: to?.place || undefined, why: found?.why.some((w) => w.name === to?.name) ? to!.name : undefined });

    function words(t: Target, r: HeapRead | undefined): string {
        if (app.finished && !app.meta) return "A heap is read from a program that runs; of finished logs, Heap has the bands over time.";
        if (r?.state === "running") return `Reading its heap: ${duration(r.elapsedNs)} so far.`;
        const error = app.heaps?.error ?? r?.error;
        if (error) return `No heap: ${error}.`;
        const of = r?.run !== undefined && r.run !== t.run ? "Of an earlier run. " : "";
        const left = found?.tree ? found.bytes - (found.reached_bytes ?? found.bytes) : 0;
        if (found) return `${of}${[...found.sentences, ...(left > 0 ? [`not in the picture: ${bytes(left)} that no root holds, garbage or in pinned blocks`] : [])].join("\n")}`;
        if (app.meta) return "This report has no heap: heapwatch report NAME --heap keeps it.";
        if (!app.view.server.control) return `What is in its heap and who holds it, in a terminal: heapwatch heap ${visible(t.name)} --retained; here with heapwatch web --allow-control.`;
        return isThere(t.state) ? "What is in the heap of the program by type, and who holds it. The program needs no preparation; it is stopped while its heap is copied, some 100 ms for 100 MB and never " +
            "more than a second. Who holds what needs three times as much memory as the heap." : "A heap is read from a program that runs.";
    }

    function update(): void {
        const t = app.target();
        heading.set(t);
        filter.update();
        if (!t) return;
        const now = app.finished && !app.meta ? undefined : app.heaps?.of(t.key);
        if (read !== now) {
            [read, found, asked] = [now, now?.result === undefined ? undefined : heapOf(now.result), undefined];
            readings.take(`${t.key} ${now?.run ?? ""} ${found?.tree ? "held" : "types"}`, seconds(now?.beginWallNs), found); // a census has no closures that do not move
            if (found?.complete && readings.before?.complete) setGained(found.types, readings.before.types, (x) => x.name, (x) => x.bytes);
        }
        control.update(t, read?.state === "running");
        setText(message, words(t, read).split("\n").map(visible).join("\n"));
        command.hidden = app.finished;
        setText(command, visible(`In a terminal, and for files: heapwatch heap ${t.name}`));
        const keep = searching(app, "qh", filter.root), tree = found?.tree, at = found?.places[route.number("held", 0, 0, 1e6)] ?? tree;
        filter.root.hidden = types.root.hidden = !found;
        path.hidden = map.root.hidden = held.root.hidden = roots.root.hidden = !at;
        if (found) types.show(found.types.filter((x) => keep(x.name)), `${count(found.types.length)}${readings.since === undefined ? "" : `; gained in ${duration(readings.since * 1e9)}`}`);
        why.hidden = !found?.tree;
        if (!found || !at) return;
        showTrail(at);
        map.show(at);
        held.show(partsOf(at), `${visible(nameOf(at))}: ${bytes(at.bytes)}`);
        roots.show(found.roots.filter((x) => keep(x.name)), count(found.roots.length));
        showWhy(t, found);
    }

    function showTrail(at: Held): void {
        const all = trail(at), shown = JSON.stringify(all.map((d) => [d.place, nameOf(d)]));
        if (path.dataset["shown"] === shown) return;
        path.dataset["shown"] = shown;
        replace(path, ...all.map((d, i) => h("button", { class: "quiet", "aria-current": i + 1 === all.length ? "true" : null, onclick: () => open(d) }, `${i ? "› " : ""}${visible(nameOf(d))}`)));
    }

    function showWhy(t: Target, heap: Heap): void {
        const largest = heap.why.reduce((a: Why | undefined, w) => (w.reached_bytes > (a?.reached_bytes ?? 0) && !/^(TSO|STACK)/.test(w.name) ? w : a), undefined);
        const name = route.get("why") || largest?.name || "", w = heap.why.find((x) => x.name === name);
        if (asked === name) return;
        asked = name;
        setText(whyTitle, name ? `Why is ${visible(plainName(name))} kept?` : "Why is it kept?");
        replace(whyList, !w ? h("p", { class: "muted" }, visible(`Paths are there for the types that retain most, and for the largest. In a terminal: heapwatch why ${t.name} '${plainName(name)}'`))
            : !w.paths.length ? h("p", { class: "muted" }, "No root that was found holds it: most likely garbage until the next major collection.") : holderList(holdersOf(w.paths), w.reached_bytes),
        w ? h("p", { class: "muted" }, `The shortest paths to the roots, by the share of ${bytes(w.reached_bytes)} that each keeps; a plus: several of it, one below the other. ${w.further_paths ? `${count(w.further_paths)} more paths keep less. ` : ""}Choose a type in the table above.`) : null);
    }
    return { root, update, done: () => [map, held, types, roots].forEach((w) => w.done()) };
}
