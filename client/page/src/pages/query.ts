// SPDX-License-Identifier: BSD-3-Clause
/*
 * query.ts - SQL over the shown target, and a second one, as `heapwatch query` has it: a box, a table, and a chart where the first column is
 * a time. The query is in the address, so a link asks it again; what it may cost is bounded by the server (docs/WEB.md, "Queries").
 */
import { wireKey } from "../api/questions.ts";
import { Newest } from "../api/request.ts";
import type { App, Page } from "../app.ts";
import { h, replace, setAttr, setText, visible } from "../dom.ts";
import { bandColor } from "../theme.ts";
import { COUNT_UNIT, count, UNKNOWN } from "../units.ts";
import { Chart } from "../widgets/chart.ts";
import { csv, saveText } from "../widgets/save.ts";
import { line, title, zooming } from "./common.ts";

type Value = string | number | null;
type Row = Record<string, Value>;
interface Answer { rows: Row[]; cut: boolean }

const ROWS_SHOWN = 500, LINES = 6, SQL_MOST = 2000;
const EXAMPLES: [string, string][] = [
    ["What grows", "SELECT * FROM top_growing LIMIT 10"],
    ["Pauses by generation", "SELECT * FROM pauses"],
    ["Live data and heap, by second", "SELECT bucket(time, '1 s') AS time, max(value) FILTER (WHERE series = 'live') AS live, max(value) FILTER (WHERE series = 'heap_size') AS heap FROM series GROUP BY 1"],
    ["Slope of live data", "SELECT slope(time, value) AS bytes_per_second, slope_low(time, value) AS least, slope_high(time, value) AS most FROM series WHERE series = 'live'"],
    ["Markers", "SELECT time, text FROM notes WHERE what = 'marker'"],
    ["Alerts", "SELECT * FROM alerts"],
];

function shownValue(v: Value | undefined): string {
    if (v === null || v === undefined) return UNKNOWN;
    return typeof v === "number" ? (Number.isInteger(v) ? count(v) : String(Number(v.toPrecision(6)))) : visible(v);
}

// The columns in the order of the query.
function columnsOf(rows: Row[]): string[] {
    return Object.keys(rows[0] ?? {});
}

// Lines over time: the first column is one, in order, and others have numbers.
function plotOf(rows: Row[], columns: string[]): { x: number[]; names: string[] } | undefined {
    const x = rows.map((r) => r[columns[0] ?? ""]);
    const names = columns.slice(1).filter((c) => rows.some((r) => typeof r[c] === "number") && rows.every((r) => typeof r[c] !== "string"));
    const rises = x.length > 1 && x.every((t, i) => typeof t === "number" && (i === 0 || t > (x[i - 1] as number)));
    return columns[0] === "time" && rises && names.length ? { x: x as number[], names: names.slice(0, LINES) } : undefined;
}

export function query(app: App): Page {
    const { route } = app, heading = title("Query");
    const box = h("textarea", { class: "sql", rows: "5", spellcheck: "false", maxlength: String(SQL_MOST), "aria-label": "Query in SQL" });
    const examples = h("select", { "aria-label": "Examples", onchange: () => take() }, h("option", { value: "" }, "Examples …"),
        ...EXAMPLES.map(([name], i) => h("option", { value: String(i) }, name)));
    const beside = h("select", { "aria-label": "A second target", onchange: () => route.set({ with: beside.value }) });
    const message = h("p", { class: "muted", role: "status" }), problem = h("pre", { class: "problem", role: "alert" });
    const chart = new Chart({ ...zooming(app), id: "query", title: "Rows over time", unit: COUNT_UNIT, height: 260 });
    const rowsBox = h("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "Rows" });
    const save = h("button", { class: "quiet", onclick: () => saveRows() }, "CSV");
    const root = h("div", { class: "stack" }, h("div", { class: "pagehead" }, heading.root),
        h("section", { class: "card" }, box, h("div", { class: "controls" }, h("button", { onclick: () => run() }, "Run"), examples, beside,
            h("span", { class: "muted" }, "Ctrl+Enter runs. Tables: facts, series, censuses, bands, collections, threads, notes, events, alerts …")),
            problem, message), chart.root, h("section", { class: "tablebox", "data-table": "query" }, h("div", { class: "tablehead" }, h("h3", {}, "Rows"), save), rowsBox));
    const answers: Newest<Answer> = new Newest("query", (found): number => (found || answers.error ? Infinity : 0), () => update()); // once for each query, and again by Run
    let answer: Answer | undefined, shown: Answer | string | undefined;

    box.addEventListener("keydown", (e) => {
        if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) run();
    });

    function take(): void {
        const example = EXAMPLES[Number(examples.value || NaN)];
        examples.value = "";
        if (!example) return;
        box.value = example[1];
        run();
    }
    function run(): void {
        answers.renew();
        route.set({ sql: box.value.trim() });
        update();
    }
    function saveRows(): void {
        const columns = columnsOf(answer?.rows ?? []);
        if (answer) saveText("heapwatch-query.csv", "text/csv", csv([columns, ...answer.rows.map((r) => columns.map((c) => r[c]))]));
    }

    function show(): void {
        const rows = answer?.rows ?? [], columns = columnsOf(rows), plot = plotOf(rows, columns);
        setText(problem, (answers.error ?? "").split("\n").map(visible).join("\n")); // the place is marked in the last line
        problem.hidden = !answers.error;
        setText(message, !answers.idle ? "…" : !answer ? "" : `${count(rows.length)} rows${answer.cut ? ", and more: bound the query, or use heapwatch query" : ""}${rows.length > ROWS_SHOWN ? `; the first ${ROWS_SHOWN} are shown` : ""}`);
        chart.root.hidden = !plot;
        if (plot) chart.show({ x: plot.x, range: { from: plot.x[0]!, to: plot.x.at(-1)! }, lines: plot.names.map((name, i) =>
            line(name, name, bandColor("calm", i, plot.names.length), rows.map((r) => (typeof r[name] === "number" ? (r[name] as number) : null)))) }, "");
        save.hidden = !rows.length;
        replace(rowsBox, rows.length > 0 && h("table", { class: "rows" }, h("thead", {}, h("tr", {}, ...columns.map((c) => h("th", { scope: "col" }, visible(c))))),
            h("tbody", {}, ...rows.slice(0, ROWS_SHOWN).map((r) => h("tr", {}, ...columns.map((c) => h("td", { class: typeof r[c] === "number" ? "number" : "" }, shownValue(r[c]))))))));
    }

    function update(): void {
        const t = app.target(), sql = route.get("sql"), other = app.view.targets.get(route.get("with"));
        heading.set(t);
        const keys = app.view.sorted().map((x) => x.key).filter((k) => k !== t?.key);
        if (beside.dataset["names"] !== keys.join("\n")) {
            beside.dataset["names"] = keys.join("\n");
            replace(beside, h("option", { value: "" }, "this target alone"), ...keys.map((k) => h("option", { value: k }, `and ${visible(k)}`)));
        }
        beside.hidden = !keys.length;
        beside.value = other && other !== t ? other.key : "";
        if (document.activeElement !== box && box.value !== sql) box.value = sql;
        answer = t && sql ? answers.of(new URLSearchParams([["sql", sql], ...[t, ...(other && other !== t ? [other] : [])].map((x) => ["target", wireKey(x.key)])]).toString()) : undefined;
        const now = answers.idle ? answer ?? answers.error ?? "" : "…";
        if (now !== shown) show();
        shown = now;
    }
    setAttr(problem, "hidden", "");
    return { root, update, done: () => chart.done() };
}
