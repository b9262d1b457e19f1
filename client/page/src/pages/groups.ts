// SPDX-License-Identifier: BSD-3-Clause
/*
 * groups.ts - what the threads of a program wait for, and where: read on request from outside, as `heapwatch threads` does. A part of Threads.
 */
import type { App } from "../app.ts";
import { h, replace, setText, visible } from "../dom.ts";
import { type ThreadGroup, type ThreadGroups, groupsOf, type ThreadsRead } from "../state/groups.ts";
import { Readings, setGained } from "../state/readings.ts";
import type { Target } from "../state/target.ts";
import { seconds } from "../state/wire.ts";
import { bytes, count, duration, UNKNOWN } from "../units.ts";
import { isThere, twoLines } from "../widgets/facts.ts";
import { setName } from "../widgets/name.ts";
import { type Column, Table } from "../widgets/table.ts";
import { threadsControl } from "./control.ts";

// "+36, 3.00/s"
function gained(g: ThreadGroup, since: number | undefined): string {
    if (g.gained === undefined || since === undefined) return UNKNOWN;
    return `${g.gained > 0 ? "+" : ""}${count(g.gained)}${g.gained ? `, ${count(g.gained / since)}/s` : ""}`;
}

const stackOf = (g: ThreadGroup) => `${bytes(g.least_stack_bytes)}${g.most_stack_bytes !== g.least_stack_bytes ? ` to ${bytes(g.most_stack_bytes)}` : ""}`;

// `since`: seconds since the reading before; undefined: there is none.
const columns = (since: () => number | undefined): Column<ThreadGroup>[] => [
    { id: "threads", title: "Threads", width: "80px", value: (g) => g.threads, text: (g) => count(g.threads) },
    { id: "gained", title: "Gained", width: "90px", value: (g) => g.gained, text: (g) => gained(g, since()), hidden: () => since() === undefined },
    { id: "state", title: "Doing", width: "minmax(110px, 2fr)", left: true, value: (g) => g.state, wide: true, draw: (c, g) => setName(c, g.state) },
    { id: "place", title: "Where", width: "minmax(110px, 3fr)", left: true, value: (g) => g.place, draw: (c, g) => twoLines(c, g.place, g.state) },
    { id: "stack", title: "Stack", width: "150px", wide: true, value: (g) => g.most_stack_bytes, text: stackOf },
    { id: "allocated", title: "Allocated", width: "100px", wide: true, value: (g) => g.allocated_bytes, text: (g) => bytes(g.allocated_bytes) },
];

export class GroupSection {
    readonly root: HTMLElement;
    private readonly control: ReturnType<typeof threadsControl>;
    private readonly message = h("p", { class: "muted lines", role: "status" });
    private readonly command = h("p", { class: "muted" });
    private readonly table: Table<ThreadGroup>;
    private readonly stackTitle = h("h3", { class: "label" });
    private readonly members = h("p", { class: "muted" });
    private readonly frames = h("ol", { class: "definition" });
    private readonly stack: HTMLElement;
    private read: ThreadsRead | undefined;
    private found: ThreadGroups | undefined; // made of it
    private readonly readings = new Readings<ThreadGroups>();

    constructor(private readonly app: App) {
        this.control = threadsControl(app);
        this.table = new Table<ThreadGroup>({ id: "groups", title: "Threads in groups", columns: columns(() => this.readings.since), key: (g) => String(g.number), route: app.route, sort: "-threads", rowHeight: 40, height: 420,
            empty: "No thread was found.", onopen: (g) => app.route.set({ group: g.number || undefined }), opened: () => app.route.get("group", "0") });
        this.stack = h("section", { class: "card", "aria-label": "Stack" }, h("div", { class: "tablehead" }, this.stackTitle), this.members, this.frames);
        this.root = h("div", { class: "stack" }, h("div", {}, h("div", { class: "controls" }, this.control.root), this.message, this.command), this.table.root, this.stack);
    }

    show(t: Target): void {
        const { app } = this, now = app.finished && !app.meta ? undefined : app.threads?.of(t.key);
        if (this.read !== now) this.take(t, now);
        const found = this.found, group = found?.groups[app.route.number("group", 0, 0, 1e6)] ?? found?.groups[0];
        this.root.hidden = app.finished && !found;
        this.control.update(t, now?.state === "running");
        setText(this.message, this.words(t).split("\n").map(visible).join("\n"));
        this.command.hidden = app.finished;
        setText(this.command, visible(`In a terminal, and one by one: heapwatch threads ${t.name}`));
        this.table.root.hidden = !found;
        this.stack.hidden = !group;
        if (found) this.table.show(found.groups, count(found.groups.length));
        if (group) this.showStack(group);
    }

    // What is new, compared with what was read before.
    private take(t: Target, now: ThreadsRead | undefined): void {
        this.read = now;
        this.found = now?.result === undefined ? undefined : groupsOf(now.result);
        this.readings.take(`${t.key} ${now?.run ?? ""}`, seconds(now?.beginWallNs), this.found);
        if (this.found?.complete && this.readings.before?.complete) setGained(this.found.groups, this.readings.before.groups, (g) => g.key, (g) => g.threads);
    }

    private showStack(g: ThreadGroup): void {
        setText(this.stackTitle, visible(`${count(g.threads)} ${g.threads === 1 ? "thread" : "threads"} ${g.state}`));
        setText(this.members, visible(`${g.members.length === 1 ? "Thread" : "Threads"} ${g.members.join(", ")}${g.members.length < g.threads ? ", …" : ""}; stack ${stackOf(g)}${g.stack_whole ? "" : ", not to its bottom, or as when it last stopped"}. Innermost first:`));
        const left = g.stack_frames - g.frames.length, shown = JSON.stringify([left, g.inC, g.frames]);
        if (this.frames.dataset["shown"] === shown) return;
        this.frames.dataset["shown"] = shown;
        replace(this.frames, ...[...g.inC, ...g.frames].map((f) => h("li", {}, h("bdi", {}, visible(f)))), left > 0 && h("li", { class: "trail" }, `… ${count(left)} more`));
    }

    private words(t: Target): string {
        const { app, read, found } = this;
        if (read?.state === "running") return `Reading its threads: ${duration(read.elapsedNs)} so far.`;
        const error = app.threads?.error ?? read?.error;
        if (error) return `No threads: ${error}.`;
        const of = read?.run !== undefined && read.run !== t.run ? "Of an earlier run. " : "";
        if (found) return `${of}${[...found.sentences, ...(found.other_groups ? [`${count(found.other_groups)} smaller groups are left out`] : []), ...(found.complete ? [] : ["incomplete: some threads, or parts of their stacks, could not be read"])].join("\n")}`;
        if (!app.view.server.control) return `What its threads wait for, in a terminal: heapwatch threads ${visible(t.name)}; here with heapwatch web --allow-control.`;
        return isThere(t.state) ? "What the threads of the program do or wait for, and where. It needs no preparation, and is stopped for the few milliseconds in which its stacks are copied." : "";
    }

    done(): void {
        this.table.done();
    }
}
