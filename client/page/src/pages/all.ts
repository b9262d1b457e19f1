// SPDX-License-Identifier: BSD-3-Clause
/*
 * all.ts - the pages in the order of their tabs.
 */
import type { App, Page } from "../app.ts";
import { alerts } from "./alerts.ts";
import { compare } from "./compare.ts";
import { detail } from "./detail.ts";
import { gc } from "./gc.ts";
import { heap } from "./heap.ts";
import { holders } from "./holders.ts";
import { notes } from "./notes.ts";
import { overview } from "./overview.ts";
import { profile } from "./profile.ts";
import { query } from "./query.ts";
import { stream } from "./stream.ts";
import { target } from "./target.ts";
import { threads } from "./threads.ts";

// `server`: a report cannot answer it.
export const pages: { name: string; title: string; make: (app: App) => Page; server?: true }[] = [
    { name: "target", title: "Target", make: target },
    { name: "overview", title: "Overview", make: overview },
    { name: "heap", title: "Heap", make: heap },
    { name: "detail", title: "Detail", make: detail },
    { name: "gc", title: "GC", make: gc },
    { name: "profile", title: "Profile", make: profile },
    { name: "holders", title: "Holders", make: holders },
    { name: "threads", title: "Threads", make: threads },
    { name: "notes", title: "Notes", make: notes },
    { name: "alerts", title: "Alerts", make: alerts },
    { name: "stream", title: "Stream health", make: stream },
    { name: "compare", title: "Compare", make: compare },
    { name: "query", title: "Query", make: query, server: true },
];
