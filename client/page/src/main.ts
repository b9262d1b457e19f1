// SPDX-License-Identifier: BSD-3-Clause
/*
 * main.ts - starts the page: from a server when there is one, from the data in the document when it is a report.
 */
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { Archives } from "./api/archives.ts";
import { Histories } from "./api/histories.ts";
import { Inspections, keptInspections } from "./api/inspections.ts";
import { Live } from "./api/live.ts";
import { embedded, load } from "./api/report.ts";
import { Newest } from "./api/request.ts";
import { App } from "./app.ts";
import { Route } from "./route.ts";
import { Shell } from "./shell.ts";
import { View } from "./state/view.ts";
import { applyTheme, remembered } from "./theme.ts";
import { names, read } from "./widgets/registry.ts";

performance.mark("script");
applyTheme(remembered("theme") ?? "auto");

const COMPARED_MS = 10000; // what `heapwatch diff` says of whole runs is requested again after this long, while it is shown

const view = new View();
const app = new App(view, new Route());
const data = embedded();
let shell: Shell | undefined;
const changed = () => shell?.changed();

function start(): Live | undefined {
    if (data) {
        app.meta = data.meta;
        app.options = data.meta.options ?? {};
        load(view, data);
        if (data.profiles) app.profiles = keptInspections(view, data.profiles);
        if (data.heaps) app.heaps = keptInspections(view, data.heaps);
        if (data.threads) app.threads = keptInspections(view, data.threads);
        return undefined;
    }
    app.histories = new Histories(view, changed);
    app.archives = new Archives(view, changed);
    app.comparisons = new Newest("diff", () => COMPARED_MS, changed);
    app.profiles = new Inspections("profile", changed);
    app.heaps = new Inspections("heap", changed);
    app.threads = new Inspections("threads", changed);
    return new Live(view, () => (app.histories?.heard(), changed()), () => app.histories?.renew());
}

const live = start();
shell = new Shell(document.getElementById("app")!, app, live);

// The page's own state, for tests and for scripts in the browser's console.
Object.assign(window, {
    heapwatch: { view, app, live, chart: (id: string) => read("chart", id), table: (id: string) => read("table", id), names,
        get frames() { return shell!.frames; }, get settled() { return shell!.settled; } },
});
