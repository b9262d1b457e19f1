// SPDX-License-Identifier: BSD-3-Clause
/*
 * shell.ts - the frame around the pages: target, range, pause, theme, tabs, the banner; and when things are drawn.
 *
 * DESIGN: messages only mark the page as changed. It is drawn at most every DRAW_MS, never while hidden, so ten updates a second
 * cost four drawings. What the user does is drawn at once.
 */
import type { Live } from "./api/live.ts";
import { standalone } from "./api/report.ts";
import type { App, Page } from "./app.ts";
import { h, setAttr, setText, visible } from "./dom.ts";
import { explained } from "./help.ts";
import { pages } from "./pages/all.ts";
import { sideKey } from "./pages/compare.ts";
import { LONG, parseFixed, SLIDING, slidingWidth } from "./range.ts";
import { firing } from "./state/judge.ts";
import { num } from "./state/wire.ts";
import { applyTheme, remember, remembered } from "./theme.ts";
import { age } from "./units.ts";
import { showState } from "./widgets/facts.ts";
import { saveBlob } from "./widgets/save.ts";

const OF_ALL = new Set(["overview", "alerts", "compare"]); // pages of all targets
const DRAW_MS = 500;
const FIRST_DATA_MS = 200; // wait for the first data, before an empty page is drawn
const FIRST = 10, FIRST_MS = 15; // the first drawings follow each other quickly: the first picture must not wait

export class Shell {
    frames = 0; // drawings so far
    private address: string | undefined; // the address bar at the last drawing
    private page: Page | undefined;
    private pageName = "";
    private pending = false;
    private drawn = 0;
    private readonly made = performance.now();
    private readonly trouble = h("span", { role: "status" });
    private readonly age = h("span", {}); // changes each second: not to be read out
    private readonly banner = h("div", { class: "banner" }, this.trouble, this.age);
    private readonly announced = h("div", { class: "sr", role: "status" }); // alerts that began to fire
    private fired: Set<string> | undefined;
    private readonly targets = h("select", { "aria-label": "Target", onchange: () => this.app.route.set({ target: this.targets.value, band: undefined, iso: undefined }) });
    private readonly state = h("span", {});
    private readonly ranges = h("div", { class: "choice", role: "group", "aria-label": "Range of time" });
    private readonly pause = h("button", { class: "toggle", onclick: () => this.app.route.set({ paused: this.app.paused ? undefined : "1" }) });
    private readonly clock = h("button", { title: "Show times of day, or since the program began", onclick: () => this.nextClock() });
    private readonly help = h("dialog", { "aria-label": "What the numbers on this page are" });
    private readonly tabs = h("nav", { class: "tabs", "aria-label": "Pages" });
    private readonly main = h("main", { id: "main", tabindex: "-1" });
    private readonly parts: HTMLElement[]; // added to the document with the first drawing: an empty frame would only delay it
    private readonly alertBadge = h("span", { class: "badge" });

    constructor(private readonly root: HTMLElement, private app: App, private live: Live | undefined) {
        const theme = h("button", { onclick: () => this.nextTheme(), title: "Dark, light, or like the system" });
        setText(theme, `Theme: ${remembered("theme") ?? "auto"}`);
        this.theme = theme;
        this.parts = [
            h("a", { class: "skip", href: "#main", onclick: (e: Event) => (e.preventDefault(), this.main.focus()) }, "Skip to content"),
            h("header", {},
                h("div", { class: "top" }, h("h1", {}, h("a", { href: "#/overview" }, "heapwatch")), this.targets, this.state,
                    h("span", { class: "spacer" }), this.ranges, this.pause,
                    h("span", { class: "secondary" }, this.clock, h("button", { onclick: () => void this.save(), title: "The whole page with its data, in one file" }, "Save report"), theme,
                        h("button", { title: "What the numbers on this page are (?)", "aria-label": "Explain this page", onclick: () => this.explain() }, "?")),
                    h("button", { class: "show-secondary", "aria-label": "More", onclick: (e: Event) => (e.currentTarget as HTMLElement).parentElement!.classList.toggle("all") }, "⋯")),
                this.tabs),
            this.banner, this.announced, this.main, this.help];
        for (const p of pages) {
            if (p.server && app.meta) continue;
            const link = h("a", { href: `#/${p.name}`, "data-page": p.name, onclick: (e: MouseEvent) => this.go(e, p.name) }, p.title);
            if (p.name === "alerts") link.append(this.alertBadge);
            this.tabs.append(link);
        }
        for (const [name] of [...SLIDING, ...LONG, ["all", 0] as [string, number]]) {
            this.ranges.append(h("button", { "data-range": name, title: name === "all" ? "The whole run" : undefined, onclick: () => this.app.route.set({ range: name }) }, name));
        }
        this.ranges.append(h("button", { "data-range": "fixed", onclick: () => this.app.slide(), title: "Back to the sliding range" }, "zoomed ×"));
        app.route.onchange(() => this.draw());
        document.addEventListener("keydown", (e) => {
            if (e.key === "?" && !e.ctrlKey && !e.metaKey && !(e.target instanceof HTMLInputElement || e.target instanceof HTMLTextAreaElement)) this.explain();
        });
        document.addEventListener("visibilitychange", () => this.changed());
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (applyTheme(remembered("theme") ?? "auto"), this.draw()));
        setInterval(() => this.frame(), 1000);
        this.follow();
        // The answers to early.ts may be here already: then the first drawing is the first picture.
        if (live && !live.heard) setTimeout(() => this.frames || this.draw(), FIRST_DATA_MS);
        else if (live) this.changed();
        else this.draw();
    }

    private readonly theme: HTMLElement;

    // Messages have arrived. The first picture waits for what it shows, and for nothing else.
    changed(): void {
        if (this.pending || document.hidden) return;
        if (!this.frames) {
            if (!this.first()) this.draw();
            return;
        }
        this.pending = true;
        const wait = Math.max(0, this.drawn + (this.frames < FIRST ? FIRST_MS : DRAW_MS) - performance.now());
        setTimeout(() => requestAnimationFrame(() => {
            this.pending = false;
            if (this.app.paused && this.page) this.frame();
            else this.draw();
        }), wait);
    }

    // Whether the first picture still waits for its history, which is about to come.
    private first(): boolean {
        const t = this.app.target();
        return performance.now() - this.made < FIRST_DATA_MS && !!t && !!this.app.histories?.waiting(t.key);
    }

    // Everything requested has come and is drawn.
    get settled(): boolean {
        const { live, app } = this, known = !live || (app.view.server.live === false ? !!live.ended : live.connected);
        return this.address === location.hash && !this.pending && known && (app.histories?.idle ?? true) && (app.archives?.idle ?? true) && (app.comparisons?.idle ?? true) && (app.profiles?.idle ?? true) && (app.heaps?.idle ?? true) && (app.threads?.idle ?? true);
    }

    // While paused the page keeps what it had: only the frame is updated.
    private draw(): void {
        this.drawn = performance.now();
        this.address = location.hash;
        if (!this.frames++) this.root.replaceChildren(...this.parts);
        if (this.choose()) return;
        const known = pages.find((p) => p.name === this.app.page && !(p.server && this.app.meta)) ?? pages[0]!;
        const wanted = this.follow();
        if (this.pageName !== known.name || !this.page) {
            this.page?.done?.();
            this.pageName = known.name;
            this.page = known.make(this.app);
            this.main.replaceChildren(this.page.root);
        }
        this.frame();
        this.page.update();
        if (!this.page.wants) return;
        for (const k of wanted) {
            const t = this.app.view.targets.get(k);
            if (t) this.app.histories?.allBands(t);
        }
    }

    // A page of one target, and the address names none of several: chooses the worst, and keeps that one.
    private choose(): boolean {
        const { route, view, page, finished } = this.app;
        if (route.get("target") || view.targets.size < 2 || OF_ALL.has(page) || (finished && this.live && !this.live.ended)) return false;
        const worst = view.worst();
        if (!worst?.answers) return false;
        route.set({ target: worst.key }); // draws
        return true;
    }

    // Which targets are wanted in detail, and requests their histories.
    private follow(): string[] {
        if (!this.live) return [];
        const { route, view, histories, page } = this.app, wanted: string[] = [];
        if (page !== "overview") {
            const name = route.get("target") || this.app.target()?.key;
            if (name) wanted.push(name);
        }
        if (page === "compare") {
            for (const side of ["a", "b"] as const) {
                const k = sideKey(this.app, side);
                if (view.targets.has(k) && !wanted.includes(k)) wanted.push(k);
            }
        }
        this.live.follow(wanted, page === "detail");
        for (const k of wanted) histories?.open(page, k, view.targets.get(k)?.run, slidingWidth(this.app.rangeText));
        const t = histories?.idle ? view.targets.get(wanted[0] ?? "") : undefined; // what the daemon has is here: what is missing is known
        if (t) this.app.archives?.want(t, this.app.range(t));
        return wanted;
    }

    // The frame around the page.
    private frame(): void {
        const { app } = this, t = app.target();
        this.fillTargets();
        showState(this.state, t?.state);
        const range = parseFixed(app.rangeText) ? "fixed" : app.rangeText;
        for (const b of this.ranges.children) {
            const name = (b as HTMLElement).dataset["range"];
            setAttr(b, "aria-pressed", String(name === range));
            (b as HTMLElement).hidden = name === "fixed" ? range !== "fixed" : LONG.some(([l]) => l === name) && name !== range && !(t && t.archive.earliest(t.start) < 0);
        }
        setText(this.pause, app.paused ? "Resume" : "Pause");
        setAttr(this.pause, "aria-pressed", String(app.paused));
        this.pause.hidden = !this.live;
        setText(this.clock, `Time: ${app.clock === "clock" ? "of day" : "of run"}`);
        for (const a of this.tabs.children) {
            const mine = (a as HTMLElement).dataset["page"] === this.pageName;
            if (mine && a.getAttribute("aria-current") !== "page") this.bring(a as HTMLElement);
            setAttr(a, "aria-current", mine ? "page" : null);
        }
        const alerts = [...app.view.targets.values()].reduce((sum, x) => sum + (firing(x.alerts)?.length ?? 0), 0);
        this.announce();
        setText(this.alertBadge, alerts ? String(alerts) : "");
        this.alertBadge.hidden = !alerts;
        this.sayBanner();
        document.title = `${alerts ? `(${alerts}) ` : ""}${t && this.pageName !== "overview" ? `${visible(t.name)} · ` : ""}heapwatch`;
    }

    // On a narrow screen the opened page's tab may be out of sight.
    private bring(tab: HTMLElement): void {
        requestAnimationFrame(() => {
            const from = tab.offsetLeft - this.tabs.offsetLeft, to = from + tab.offsetWidth, seen = this.tabs.scrollLeft;
            if (from < seen || to > seen + this.tabs.clientWidth) this.tabs.scrollLeft = from - (this.tabs.clientWidth - tab.offsetWidth) / 2;
        });
    }

    // In the first picture only the opened one: the browser measures all of a thousand.
    private fillTargets(): void {
        const opened = this.app.target(), known = this.app.view.sorted(), all = this.frames > 1 || !opened ? known : [opened], want = all.map((t) => t.key).join("\n");
        const now = opened?.key ?? this.app.route.get("target");
        if (this.targets.dataset["names"] !== want) {
            this.targets.dataset["names"] = want;
            this.targets.replaceChildren(...all.map((t) => h("option", { value: t.key }, visible(t.key))));
        }
        this.targets.hidden = !all.length;
        if (this.targets.value !== now) this.targets.value = now;
    }

    // Lets screen readers announce new alerts, once.
    private announce(): void {
        const now = new Set<string>();
        for (const t of this.app.view.targets.values()) {
            for (const a of firing(t.alerts) ?? []) now.add(`${a.rule ?? "an alert"} on ${t.key}`);
        }
        const fresh = this.fired ? [...now].filter((a) => !this.fired!.has(a)) : [];
        if (this.app.view.known) this.fired = now;
        if (fresh.length) setText(this.announced, `Firing: ${fresh.map(visible).join(", ")}`);
    }

    private sayBanner(): void {
        const [text, tone, old] = this.worst();
        this.banner.hidden = !text;
        setText(this.trouble, text);
        setText(this.age, old ? ` ${old}` : "");
        setAttr(this.banner, "data-tone", tone);
    }

    // The most important problem, its tone, and the age of what is shown.
    private worst(): [string, string, string?] {
        const { live, app } = this;
        const now = Date.now(), t = app.target();
        if (live && !live.connected) {
            const old = `What is shown is ${age((now - live.heard) / 1000)} old.`;
            if (live.refused) return [`The server refuses: ${visible(live.refused)}. The page tries again.`, "bad", live.heard ? old : ""];
            if (!live.heard) return ["Connecting to the server…", "plain"];
            return ["The server is not reachable.", "bad", old];
        }
        const stale = [...app.view.daemons.values()].filter((d) => d.stale);
        if (stale.length) {
            const heard = Math.min(...stale.map((d) => num(d.heardWallNs) ?? NaN));
            const old = Number.isFinite(heard) ? `Its data is ${age(now / 1000 - heard / 1e9)} old.` : "It has sent nothing so far.";
            return [`The daemon is silent${stale.length > 1 ? ` (${stale.length} daemons)` : ""}. The page resumes when it is back.`, "bad", old];
        }
        const name = app.route.get("target");
        if (live?.connected && name && !t) return [`There is no target ${visible(name)} (yet, or any more).`, "warn"];
        const problem = live?.error ?? app.histories?.error ?? app.archives?.error;
        if (problem) return [problem, "warn"];
        const short = [...app.view.daemons.values()].map((d) => d.state?.memoryPressure).find((text) => text);
        if (short) return [`The daemon is short of memory: ${visible(short)}.`, "warn"];
        if (app.paused) return ["Paused. Data still arrive; the page does not change.", "plain"];
        const thinned = app.meta?.logs?.find((l) => l.target === t?.name && (l.daemon ?? 0) === t?.daemon && l.thinned)?.thinning;
        return [thinned ? `${visible(thinned)}.` : "", "plain"];
    }

    // What each number on the screen is, under its name there.
    private explain(): void {
        if (this.help.open) return this.help.close();
        const title = pages.find((p) => p.name === this.pageName)?.title ?? "";
        this.help.replaceChildren(h("div", { class: "tablehead" }, h("h2", {}, `${title}: what the numbers are`), h("span", { class: "tools" },
            h("button", { onclick: () => this.help.close() }, "Close"))),
        h("dl", { class: "help" }, ...explained(this.pageName, this.main).map(([n, words]) => h("div", {}, h("dt", {}, n), h("dd", {}, words)))));
        this.help.showModal();
    }

    private nextClock(): void {
        const next = this.app.clock === "clock" ? "run" : "clock";
        this.app.route.set({ time: next === (this.app.finished ? "run" : "clock") ? undefined : next });
    }

    private nextTheme(): void {
        const order = ["auto", "light", "dark"], next = order[(order.indexOf(remembered("theme") ?? "auto") + 1) % 3]!;
        remember("theme", next);
        setText(this.theme, `Theme: ${next}`);
        applyTheme(next);
        this.draw();
    }

    // Ordinary clicks keep the rest of the view; others (new tab) take the link as it is.
    private go(e: MouseEvent, page: string): void {
        if (e.ctrlKey || e.metaKey || e.shiftKey || e.button !== 0) return;
        e.preventDefault();
        this.app.route.set({}, page);
    }

    private async save(): Promise<void> {
        saveBlob("heapwatch-report.html", await standalone(this.app));
    }
}
