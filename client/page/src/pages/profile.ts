// SPDX-License-Identifier: BSD-3-Clause
/*
 * profile.ts - where time goes: a profile of CPU time or of allocation, taken on request from outside; the flame graph of cost-centre stacks over the range,
 * the table of cost centres, and ticky counters.
 */
import type { App, Page } from "../app.ts";
import { h, replace, setLabel, setText, visible } from "../dom.ts";
import type { Target } from "../state/target.ts";
import { setName } from "../widgets/name.ts";
import { bottomUp, type CpuFunction, type CpuProfile, type CpuTree, functions, ofThread, threads, topDown } from "../state/cpu.ts";
import { type CentreRow, centres, ticksIn, tree } from "../state/ticks.ts";
import { num, seconds, type TickyCounter } from "../state/wire.ts";
import { bytes, count, duration, share, UNKNOWN } from "../units.ts";
import { choice, field } from "../widgets/controls.ts";
import { Flame, type Frame } from "../widgets/flame.ts";
import { type Column, Table } from "../widgets/table.ts";
import { searching, title, when } from "./common.ts";
import { profileControl } from "./control.ts";

const CENTRES: Column<CentreRow>[] = [
    { id: "name", title: "Cost centre", width: "minmax(130px, 2fr)", left: true, value: (r) => r.name, draw: (c, r) => setName(c, r.name) },
    { id: "own", title: "Own ticks", width: "100px", value: (r) => r.own, text: (r) => count(r.own), hint: "samples that found the program in it" },
    { id: "ownshare", title: "Own", width: "80px", wide: true, value: (r) => r.own / r.total, text: (r) => share(r.own / r.total) },
    { id: "inherited", title: "With callees", width: "110px", wide: true, value: (r) => r.inherited, text: (r) => count(r.inherited), hint: "samples that had it anywhere on the stack" },
    { id: "inhshare", title: "Share", width: "80px", wide: true, value: (r) => r.inherited / r.total, text: (r) => share(r.inherited / r.total) },
    { id: "source", title: "Source", width: "minmax(180px, 2fr)", left: true, wide: true, value: (r) => r.source, draw: (c, r) => setName(c, r.source || UNKNOWN) },
];

const TICKY: Column<TickyCounter>[] = [
    { id: "name", title: "Counter", width: "minmax(150px, 3fr)", narrow: "minmax(110px, 3fr)", left: true, value: (c) => c.name, draw: (cell, c) => setName(cell, c.name ?? `counter ${c.id ?? UNKNOWN}`) },
    { id: "entries", title: "Entries", width: "100px", value: (c) => num(c.entries), text: (c) => count(num(c.entries)) },
    { id: "allocs", title: "Allocated by", width: "104px", value: (c) => num(c.allocs), text: (c) => bytes(num(c.allocs)) },
    { id: "allocd", title: "Allocated of", width: "120px", wide: true, value: (c) => num(c.allocd), text: (c) => bytes(num(c.allocd)) },
    { id: "arity", title: "Arity", width: "70px", wide: true, value: (c) => c.arity, text: (c) => count(c.arity) },
    { id: "kinds", title: "Arguments", width: "110px", left: true, wide: true, value: (c) => c.argumentKinds, draw: (cell, c) => setLabel(cell, c.argumentKinds || UNKNOWN) },
];

// `text`: of ns, or of bytes.
const functionColumns = (text: (weight: number) => string): Column<CpuFunction>[] => [
    { id: "name", title: "Function", width: "minmax(130px, 3fr)", left: true, value: (f) => f.name, draw: (c, f) => setName(c, f.name) },
    { id: "self", title: "Self", width: "90px", value: (f) => f.self, text: (f) => text(f.self), hint: "in the function itself" },
    { id: "selfshare", title: "Of all", width: "80px", value: (f) => f.self / f.total, text: (f) => share(f.self / f.total) },
    { id: "all", title: "With callees", width: "110px", wide: true, value: (f) => f.all, text: (f) => text(f.all), hint: "in it and in all that it calls" },
    { id: "allshare", title: "Share", width: "80px", wide: true, value: (f) => f.all / f.total, text: (f) => share(f.all / f.total) },
];
const WAYS: [string, string][] = [["down", "Top down"], ["up", "Bottom up"]];
const TIMES: [string, string][] = [["running", "CPU time"], ["waiting", "Waiting"]];

// A profile of CPU time or of allocation, taken by the server; of a server alone.
class CpuSection {
    readonly root: HTMLElement;
    private readonly control: ReturnType<typeof profileControl>;
    private readonly time: ReturnType<typeof choice>;
    private readonly way: ReturnType<typeof choice>;
    private readonly message = h("p", { class: "muted lines", role: "status" });
    private readonly command = h("p", { class: "muted" });
    private readonly text = (weight: number) => (this.of?.totalBytes === undefined ? duration(weight) : bytes(weight));
    private readonly flame = new Flame("cpu", "Samples by stacks", this.text);
    private readonly table: Table<CpuFunction>;
    private readonly thread = h("select", { "aria-label": "Thread", onchange: () => this.app.route.set({ thread: this.thread.value }) });
    private of: CpuTree | undefined; // what is made of it:
    private threads: string[] = [];
    private shown: string | undefined; // the thread
    private frames: Record<string, Frame> = {};
    private functions: CpuFunction[] = [];

    constructor(private readonly app: App) {
        this.control = profileControl(app);
        this.time = choice(app.route, "time", "Which time", TIMES, () => "running");
        this.way = choice(app.route, "way", "Direction of the stacks", WAYS, () => "down");
        this.table = new Table<CpuFunction>({ id: "functions", title: "Functions", columns: functionColumns(this.text), key: (f) => f.name, route: app.route, sort: "-self",
            height: 420, empty: "No function matches." });
        this.root = h("div", { class: "stack" }, h("div", {}, h("div", { class: "controls" }, this.control.root, this.time.root, this.way.root, this.thread), this.message, this.command),
            this.flame.root, this.table.root);
    }

    show(t: Target, term: string, keep: (s: string) => boolean): void {
        const kept = !!this.app.meta, p = kept || !this.app.finished ? this.app.profiles?.of(t.key) : undefined;
        this.root.hidden = kept ? !p : !this.app.profiles || this.app.finished;
        if (this.root.hidden) return;
        const of: CpuTree | undefined = (this.app.route.get("time") === "waiting" && p?.waiting) || p, rows = of?.rows ?? [];
        this.control.update(t, p?.state === "running");
        this.time.update();
        this.time.root.hidden = !p?.waiting;
        this.way.update();
        this.way.root.hidden = this.thread.hidden = this.flame.root.hidden = this.table.root.hidden = !rows.length;
        setText(this.message, this.words(t, p, of).split("\n").map(visible).join("\n"));
        this.command.hidden = kept;
        setText(this.command, visible(`In a terminal, and for files: heapwatch profile ${t.name}${p?.totalBytes === undefined ? "" : " --allocation"}`));
        if (!rows.length) return;
        if (this.of !== of) {
            const found = threads(rows);
            this.threads = found.map((f) => f.name);
            replace(this.thread, h("option", { value: "" }, "all threads"),
                ...found.map((f) => h("option", { value: f.name }, visible(`thread ${f.name}: ${share(f.total / (of!.totalBytes ?? (of!.totalNs || 1)))}`))));
        }
        const asked = this.app.route.get("thread"), one = this.threads.includes(asked) ? asked : undefined;
        this.thread.value = one ?? "";
        if (this.of !== of || this.shown !== one) {
            const { rows: merged, total } = ofThread(rows, one);
            [this.of, this.shown] = [of, one];
            this.frames = { down: topDown(merged, total), up: bottomUp(merged, total) };
            this.functions = functions(merged, total).filter((f) => f.self);
        }
        this.flame.show(this.frames[this.app.route.get("way", "down")] ?? this.frames["down"], "", term);
        this.table.show(this.functions.filter((f) => keep(f.name)), count(this.functions.length));
    }

    private words(t: Target, p: CpuProfile | undefined, shown: CpuTree | undefined): string {
        if (p?.state === "running") return `Taking samples: ${duration(Math.min(p.elapsedNs ?? 0, p.forNs ?? 0))} of ${duration(p.forNs)}.`;
        const error = this.app.profiles!.error ?? p?.error;
        if (error) return `No profile: ${error}.`;
        const of = p?.run !== undefined && p.run !== t.run ? "Of an earlier run. " : "";
        const wall = seconds(p?.beginWallNs); // in a report it may be of any time of the run
        const begun = this.app.meta && wall !== undefined && t.start !== undefined ? `Begun at ${when(this.app, t, wall - t.start)}.\n` : "";
        if (shown?.sentences) return `${of}${begun}${shown.sentences.join("\n")}`;
        if (!this.app.view.server.control) return `A profile of CPU time or allocation, in a terminal: heapwatch profile ${visible(t.name)}; here with heapwatch web --allow-control.`;
        return t.state?.state === "STATE_RUNNING" ? "A profile shows which functions use CPU time, and what threads wait for, or which functions allocate. The program needs no preparation; a thread that runs is stopped for some 50 µs for each sample." : "";
    }

    done(): void {
        this.flame.done();
        this.table.done();
    }
}

export function profile(app: App): Page {
    const heading = title("Profile"), filter = field(app.route, "qc", "Search", "function, cost centre or counter"), cpu = new CpuSection(app);
    const flame = new Flame("flame", "Cost-centre stacks by ticks");
    const message = h("p", { class: "muted" });
    const table = new Table<CentreRow>({ id: "centres", title: "Cost centres", columns: CENTRES, key: (r) => r.name, route: app.route, sort: "-own", height: 420,
        empty: "No cost centre has ticks in this range." });
    const ticky = new Table<TickyCounter>({ id: "ticky", title: "Ticky counters, since the run began", columns: TICKY, key: (c) => String(c.id), route: app.route,
        sort: "-entries", height: 420, empty: "No ticky counters. A program built with -ticky and started with +RTS -lT has them." });
    const root = h("div", { class: "stack" }, h("div", { class: "pagehead" }, heading.root, h("span", { class: "spacer" }), filter.root), cpu.root, message, flame.root, table.root, ticky.root);

    function update(): void {
        const t = app.target();
        heading.set(t);
        filter.update();
        if (!t) return;
        const keep = searching(app, "qc", filter.root), term = app.route.get("qc");
        cpu.show(t, term, keep);
        const range = app.range(t), ticks = ticksIn(t, range.from, range.to);
        const interval = num(t.state?.runInfo?.tickIntervalNs);
        const what = t.profile?.sampled ? "samples of stacks by ghc-stack-profiler" : `ticks${interval ? ` of ${duration(interval)}` : ""}`;
        setText(message, t.stacks.size ? `${count(ticks.total)} ${what} ` +
            (ticks.since ? `since ${when(app, t, ticks.since)}` : "since the run began") +
            (ticks.since === 0 && range.from > 0 ? ": ticks from before this page was opened cannot be split by time" : "")
            : !cpu.root.hidden && !t.ticky.size ? "Cost centres are shown for a build with -prof (+RTS -p -l), ticky counters for one with -ticky (+RTS -lT)." : "");
        message.hidden = !message.textContent;
        flame.show(tree(ticks), t.stacks.size ? "No tick in this range." : "No time profile: a profiling build (-prof) started with +RTS -l -p writes one, a program with ghc-stack-profiler samples its stacks.", term);
        const rows = centres(ticks);
        table.root.hidden = !t.stacks.size;
        flame.root.hidden = ticky.root.hidden = !cpu.root.hidden && !t.stacks.size && !t.ticky.size;
        table.show(rows.filter((r) => keep(`${r.name} ${r.source}`)), count(rows.length));
        const counters = [...t.ticky.values()];
        ticky.show(counters.filter((c) => keep(c.name ?? "")), count(counters.length));
    }
    return { root, update, done: () => [cpu, flame, table, ticky].forEach((w) => w.done()) };
}
