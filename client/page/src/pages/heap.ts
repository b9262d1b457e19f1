// SPDX-License-Identifier: BSD-3-Clause
/*
 * heap.ts - where memory is: the largest bands over time, the heap as the runtime and the system see it, with the
 * questions that the second answers, and what resident memory is made of.
 */
import type { App, Page } from "../app.ts";
import { h, setAttr, setText } from "../dom.ts";
import { SCHEMES } from "../theme.ts";
import { BYTES_UNIT, parseBytes, SHARE_UNIT, slope } from "../units.ts";
import { Chart } from "../widgets/chart.ts";
import { Facts, pill } from "../widgets/facts.ts";
import { choice, field, more, select, toggle } from "../widgets/controls.ts";
import { CensusLine, deployMarkers, isForeign, majorMarkers, MarkButton, markOf, noteMarkers, noteMode, searching, title, zooming } from "./common.ts";
import { Bands, heapLines, hiddenBands, noBands, residentLines, residentSince } from "./heap_plots.ts";
import { Questions } from "./questions.ts";

const MODES: [string, string][] = [["stack", "Stacked"], ["lines", "Lines"], ["share", "Normalised"]];
const SORTS: [string, string][] = [["size", "size"], ["stddev", "deviation"], ["gradient", "slope"], ["name", "name"], ["number", "number"]];

export function heap(app: App): Page {
    const { route } = app, heading = title("Heap"), census = new CensusLine(app);
    const pick = (id: string) => {
        if (id !== "other") route.set({ iso: route.get("iso") === id ? undefined : id });
    };
    const hide = (id: string) => {
        const now = hiddenBands(app);
        if (!now.delete(id)) now.add(id);
        route.set({ hide: [...now].map(encodeURIComponent).join(",") });
    };
    const common = { ...zooming(app), legend: "side" as const, onpick: pick, picked: () => route.get("iso"), onhide: hide,
        hidden: (id: string) => hiddenBands(app).has(id) };
    const charts: Record<string, Chart> = {
        bytes: new Chart({ ...common, id: "bands", title: "Largest bands", unit: BYTES_UNIT, height: 420 }),
        share: new Chart({ ...common, id: "bands-share", title: "Largest bands, share of the whole", unit: SHARE_UNIT, height: 420 }),
    };
    const pane = new Chart({ ...zooming(app), id: "heap", title: "Live data, blocks, heap and process", unit: BYTES_UNIT, height: 330 });
    const parts = new Chart({ ...zooming(app), id: "resident", title: "What resident memory is made of", unit: BYTES_UNIT, height: 260 });
    const mark = new MarkButton(app), since = new Facts();
    const questions = new Questions(app), judged = h("span", {}), grows = h("span", { class: "muted" });
    const filter = field(route, "q", "Bands", "text or /regexp/");
    const controls = [
        choice(route, "mode", "How bands are drawn", MODES, () => "stack"),
        field(route, "bands", "Largest", "15", String(app.options.bands ?? 15), "text"),
        select(route, "by", "by", SORTS, () => app.options.sort ?? "size"),
        filter,
        more("More",
            toggle(route, "rev", "Reversed"),
            field(route, "ytop", "Top of y", "auto", "", "text"),
            select(route, "scheme", "Colours", SCHEMES, () => "calm"),
            select(route, "notes", "Notes", [["none", "none"], ["markers", "markers"], ["all", "markers and messages"]], () => noteMode(app)),
            field(route, "inc", "with", "substring, …"),
            field(route, "exc", "without", "substring, …"),
            select(route, "gcs", "Major GCs", [["on", "shown"], ["off", "hidden"]], () => "on")),
    ];
    const root = h("div", { class: "stack" },
        h("div", {}, h("div", { class: "pagehead" }, heading.root, judged, grows, h("span", { class: "spacer" }), mark.root),
            h("div", { class: "controls" }, ...controls.map((c) => c.root))),
        h("div", { class: "bands" }, charts["bytes"]!.root, charts["share"]!.root, census.root),
        h("div", { class: "beside" }, h("div", { class: "stack" }, pane.root, h("div", { class: "stack parts" }, parts.root, since.root)), questions.root));
    const bands = new Bands(app);
    let painted = false;

    function update(): void {
        const t = app.target(), mode = route.get("mode", "stack");
        heading.set(t);
        setAttr(root, "data-foreign", t && isForeign(t) ? "" : null);
        for (const c of controls) c.update();
        mark.show(t);
        census.show(t);
        const keep = searching(app, "q", filter.root), shown = mode === "share" ? "share" : "bytes";
        charts["bytes"]!.root.hidden = shown !== "bytes";
        charts["share"]!.root.hidden = shown !== "share";
        if (!t) return;
        pill(judged, t.answers?.word ?? "verdict –", t.answers?.tone ?? "dim");
        setText(grows, t.answers?.onsetNs === undefined ? "" : slope(t.answers.slope));
        const range = app.range(t), start = app.clockStart(t);
        const markers = [...deployMarkers(t, range), ...(route.get("gcs", "on") === "on" ? majorMarkers(t, range) : []), ...noteMarkers(app, t, range)];
        const top = app.route.get("ytop") ? parseBytes(route.get("ytop")) : app.options.yAxis ?? undefined;
        if (app.histories?.waiting(t.key)) return charts[shown]!.show({ x: [], lines: [], range }, "Loading the history…");
        charts[shown]!.show({ ...bands.plot(t, range, mode, keep), range, start, markers, stacked: mode !== "lines",
            top: mode === "share" ? 1 : top }, noBands(t));
        if (!painted && charts[shown]!.drawn) { // the first picture comes before the rest of the page
            painted = true;
            requestAnimationFrame(() => setTimeout(update));
            return;
        }
        pane.show({ ...heapLines(t, range), range, start, markers, top }, "No sample of the heap in this range.");
        parts.show({ ...residentLines(t, range), range, start, markers, stacked: true },
            "Resident memory is known for programs on the daemon's machine; an eventlog has nothing of it.");
        const marked = markOf(app);
        since.show(marked === undefined ? [] : residentSince(t, marked));
        questions.show(t, range);
    }
    return { root, update, done: () => [...Object.values(charts), pane, parts].forEach((c) => c.done()) };
}
