// SPDX-License-Identifier: BSD-3-Clause
/*
 * query.ts - SQL over the shown target, and a second one or its archived runs, as `heapwatch query` has it: a box, a table, and a chart where the first column is
 * a time. The query is in the address, so a link asks it again; what it may cost is bounded by the server (docs/WEB.md, "Queries").
 */
import { wireKey } from "../api/questions.ts";
import { exact, Newest } from "../api/request.ts";
import type { App, Page } from "../app.ts";
import { h, replace, setAttr, setText, visible } from "../dom.ts";
import { bandColor } from "../theme.ts";
import { BYTES_UNIT, COUNT_UNIT, count, duration, known, rate, rateUnit, type Unit, UNKNOWN } from "../units.ts";
import { Chart } from "../widgets/chart.ts";
import { csv, saveText } from "../widgets/save.ts";
import { line, title, zooming } from "./common.ts";

type Value = string | number | null;
type Row = Record<string, Value>;
interface Answer { rows: Row[]; units: Record<string, string>; cut: boolean; said?: string }

const ROWS_SHOWN = 500, LINES = 6, SQL_MOST = 2000, ARCHIVED = "@all";
const EXAMPLES: [string, string][] = [
    ["What grows", "SELECT * FROM top_growing LIMIT 10"],
    ["Pauses by generation", "SELECT * FROM pauses"],
    ["Live data and heap, by second", "SELECT bucket(time, '1 s') AS time, max(value) FILTER (WHERE series = 'live') AS live, max(value) FILTER (WHERE series = 'heap_size') AS heap FROM series GROUP BY 1"],
    ["Slope of live data", "SELECT slope(time, value) AS bytes_per_second, slope_low(time, value) AS least, slope_high(time, value) AS most FROM series WHERE series = 'live'"],
    ["Markers", "SELECT time, text FROM notes WHERE what = 'marker'"],
    ["Alerts", "SELECT * FROM alerts"],
];

function shownText(v: Value | undefined): string {
    return v === null || v === undefined ? UNKNOWN : visible(String(v));
}

// How numbers of a column are shown, as `heapwatch query` prints them: times with three decimals, rates in one unit.
function unitOf(answer: Answer, column: string): Unit {
    const rates = rateUnit(...answer.rows.map((r) => Number(r[column] ?? NaN)));
    switch (answer.units[column]) {
        case "B": return BYTES_UNIT;
        case "s": return { name: "seconds", text: (x) => (column === "time" && known(x) ? `${x.toFixed(3)} s` : duration(known(x) ? x * 1e9 : x)), binary: false };
        case "B/s": return { name: "rate", text: (x) => rate(x, rates), binary: false };
        default: return { ...COUNT_UNIT, text: (x) => (!known(x) || Number.isInteger(x) ? count(x) : String(Number(x.toPrecision(6)))) };
    }
}

interface Plot { x: number[]; lines: Map<string, (number | null)[]>; of: string; more: number; others: string[] }

// Lines over time, as `heapwatch query --chart line` has them: the first column is a time; each further column of numbers is a line, or
// a column of text names the line of the number after it. There is one axis: columns of another unit than the first are `others`.
function plotOf({ rows, units }: Answer): Plot | undefined {
    const [first = "", ...columns] = Object.keys(units), text = columns.find((c) => rows.some((r) => typeof r[c] === "string"));
    const all = columns.filter((c) => rows.some((r) => typeof r[c] === "number") && rows.every((r) => typeof r[c] !== "string")).slice(0, text ? 1 : undefined);
    const numbers = all.filter((c) => units[c] === units[all[0]!]);
    const x = [...new Set(rows.map((r) => r[first]))].sort((a, b) => Number(a) - Number(b));
    if (first !== "time" || x.length < 2 || !x.every((t) => typeof t === "number") || !numbers.length) return undefined;
    const at = new Map<Value | undefined, number>(x.map((t, i) => [t, i])), lines = new Map<string, (number | null)[]>();
    for (const r of rows)
        for (const c of numbers) {
            const name = text ? shownText(r[text]) : c, value = r[c];
            const values = lines.get(name) ?? x.map(() => null);
            lines.set(name, values);
            if (typeof value === "number") values[at.get(r[first])!] = value;
        }
    const peak = (values: (number | null)[]): number => values.reduce<number>((most, v) => Math.max(most, Math.abs(v ?? 0)), 0);
    const kept = new Set([...lines].sort((a, b) => peak(b[1]) - peak(a[1])).slice(0, LINES).map(([name]) => name));
    return { x: x as number[], lines: new Map([...lines].filter(([name]) => kept.has(name))), of: numbers[0]!, more: lines.size - kept.size, others: all.filter((c) => !numbers.includes(c)) };
}

export function query(app: App): Page {
    const { route } = app, heading = title("Query");
    const box = h("textarea", { class: "sql", rows: "5", spellcheck: "false", maxlength: String(SQL_MOST), "aria-label": "Query in SQL" });
    const examples = h("select", { "aria-label": "Examples", onchange: () => take() }, h("option", { value: "" }, "Examples …"),
        ...EXAMPLES.map(([name], i) => h("option", { value: String(i) }, name)));
    const beside = h("select", { "aria-label": "A second source", onchange: () => route.set({ with: beside.value }) });
    const message = h("p", { class: "muted", role: "status" }), problem = h("pre", { class: "problem", role: "alert" });
    const drawn = { ...COUNT_UNIT }, chart = new Chart({ ...zooming(app), id: "query", title: "Rows over time", unit: drawn, height: 260 });
    const rowsBox = h("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "Rows" });
    const save = h("button", { class: "quiet", onclick: () => saveRows() }, "CSV");
    const table = h("section", { class: "tablebox", "data-table": "query" }, h("div", { class: "tablehead" }, h("h3", {}, "Rows"), save), rowsBox);
    const root = h("div", { class: "stack" }, h("div", { class: "pagehead" }, heading.root),
        h("section", { class: "card" }, box, h("div", { class: "controls" }, h("button", { onclick: () => run() }, "Run"), examples, beside,
            h("span", { class: "muted" }, "Ctrl+Enter runs. Tables: facts, series, censuses, bands, collections, threads, notes, events, alerts …")),
            problem, message), chart.root, table);
    const answers: Newest<Answer> = new Newest("query", (found): number => (found || answers.error ? Infinity : 0), () => update(), exact); // once for each query, and again by Run
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
        const columns = Object.keys(answer?.units ?? {});
        if (answer) saveText("heapwatch-query.csv", "text/csv", csv([columns, ...answer.rows.map((r) => columns.map((c) => r[c]))]));
    }

    function show(): void {
        const rows = answer?.rows ?? [], columns = Object.keys(answer?.units ?? {}), plot = answer && plotOf(answer);
        const units = new Map(columns.map((c) => [c, unitOf(answer!, c)]));
        const numbers = new Set(columns.filter((c) => rows.some((r) => typeof r[c] === "number")));
        setText(problem, (answers.error ?? "").split("\n").map(visible).join("\n")); // the place is marked in the last line
        problem.hidden = !answers.error;
        setText(message, !answers.idle ? "…" : !answer ? "" : `${count(rows.length)} ${rows.length === 1 ? "row" : "rows"}${answer.cut ? ", and more: bound the query, or use heapwatch query" : ""}${rows.length > ROWS_SHOWN ? `; the first ${ROWS_SHOWN} are shown` : ""}${plot?.more ? `; ${plot.more} lines with smaller values are not drawn` : ""}${plot?.others.length ? `; of another unit and not drawn: ${plot.others.map(visible).join(", ")}` : ""}${answer.said ? `; ${visible(answer.said)}` : ""}`);
        chart.root.hidden = !plot;
        if (plot) Object.assign(drawn, units.get(plot.of));
        if (plot) chart.show({ x: plot.x, range: { from: plot.x[0]!, to: plot.x.at(-1)! }, lines: [...plot.lines].map(([name, values], i) =>
            line(name, name, bandColor("calm", i, plot.lines.size), values)) }, "");
        table.hidden = !rows.length;
        replace(rowsBox, rows.length > 0 && h("table", { class: "rows" }, h("thead", {}, h("tr", {}, ...columns.map((c) => h("th", { scope: "col" }, visible(c))))),
            h("tbody", {}, ...rows.slice(0, ROWS_SHOWN).map((r) => h("tr", {}, ...columns.map((c) => {
                const v = r[c];
                return h("td", typeof v === "number" || (v === null && numbers.has(c)) ? { class: "number" } : {}, typeof v === "number" ? units.get(c)!.text(v) : shownText(v));
            }))))));
    }

    function update(): void {
        const t = app.target(), sql = route.get("sql"), given = route.get("with"), other = app.view.targets.get(given);
        heading.set(t);
        const keys = [...(t?.archive.runs.length ? [ARCHIVED] : []), ...app.view.sorted().map((x) => x.key).filter((k) => k !== t?.key)];
        if (beside.dataset["names"] !== keys.join("\n")) {
            beside.dataset["names"] = keys.join("\n");
            replace(beside, h("option", { value: "" }, "this target alone"), ...keys.map((k) => h("option", { value: k }, k === ARCHIVED ? "and its archived runs" : `and ${visible(k)}`)));
        }
        beside.hidden = !keys.length;
        beside.value = keys.includes(given) ? given : "";
        if (document.activeElement !== box && box.value !== sql) box.value = sql;
        answer = t && sql ? answers.of(new URLSearchParams([["sql", sql], ...[t.key, ...(other && other !== t ? [other.key] : given === ARCHIVED ? [t.key + ARCHIVED] : [])].map((k) => ["target", wireKey(k)])]).toString()) : undefined;
        const now = answers.idle ? answer ?? answers.error ?? "" : "…";
        if (now !== shown) show();
        shown = now;
    }
    setAttr(problem, "hidden", "");
    return { root, update, done: () => chart.done() };
}
