// SPDX-License-Identifier: BSD-3-Clause
/*
 * control.ts - what can be changed from the page, where the server allows it (--allow-control): targets added and removed, alerts
 * silenced. The effect is shown by the daemon's own messages, here only whether the request was accepted.
 */
import { control } from "../api/control.ts";
import type { App } from "../app.ts";
import { h, setAttr, setText, visible } from "../dom.ts";
import type { Alert } from "../state/wire.ts";
import type { Target } from "../state/target.ts";
import { isThere } from "../widgets/facts.ts";

const SURE_MS = 4000; // within which a second click confirms the first
const PROFILE_TIMES = [1, 5, 10, 30, 60]; // s
const TIMES: [string, string][] = [["30m", "30 minutes"], ["2h", "2 hours"], ["8h", "8 hours"], ["24h", "a day"], ["168h", "a week"]];

const text = (name: string, title: string, hint: string) => h("input", { type: "text", name, placeholder: hint, "aria-label": title, spellcheck: "false",
    autocomplete: "off", maxlength: 1000 });
const field = (title: string, el: HTMLElement) => h("label", { class: "field" }, h("span", {}, title), el);

// Buttons for actions, one at a time: they are disabled while one is under way; then its outcome is shown.
class Actions {
    readonly root = h("span", { class: "muted outcome", role: "status", "aria-live": "polite" });
    private readonly buttons: HTMLButtonElement[] = [];

    button(title: string, act: () => Promise<string>): HTMLButtonElement {
        const b = h("button", { type: "button", onclick: () => void this.run(act) }, title);
        this.buttons.push(b);
        return b;
    }

    async run(act: () => Promise<string>): Promise<void> {
        for (const b of this.buttons) b.disabled = true;
        try {
            this.say(await act(), false);
        } catch (e) {
            this.say(e instanceof Error ? e.message : String(e), true);
        }
        for (const b of this.buttons) b.disabled = false;
    }

    say(what: string, bad: boolean): void {
        setText(this.root, visible(what));
        setAttr(this.root, "data-tone", bad ? "bad" : "plain");
    }
}

// Adding and removing targets.
export function targetControl(app: App): { root: HTMLElement; update: () => void } {
    const actions = new Actions(), uri = text("uri", "Source", "PATH, fifo:, unix: or tcp:"), name = text("name", "Name", "chosen by the daemon");
    const daemon = h("select", { "aria-label": "Daemon" }), which = h("select", { "aria-label": "Target to remove" });
    let sure = -Infinity; // when the first of two clicks was

    const add = actions.button("Add target", async () => {
        if (!uri.value.trim()) throw new Error("A source is needed: a path of an eventlog, or an address, e.g. tcp:HOST:PORT.");
        await control({ action: "add", uri: uri.value.trim(), name: name.value.trim(), daemon: daemon.value });
        const done = `Added ${uri.value.trim()}.`;
        uri.value = name.value = "";
        return done;
    });
    const remove = actions.button("Remove target", async () => {
        const t = app.view.targets.get(which.value);
        if (!t) throw new Error("The target no longer exists.");
        if (performance.now() - sure > SURE_MS) {
            sure = performance.now();
            return `Its history is removed, too. Click again to remove ${t.key}.`;
        }
        sure = -Infinity;
        await control({ action: "remove", target: t.name, daemon: t.daemon });
        return `Removed ${t.key}.`;
    });
    which.addEventListener("change", () => (sure = -Infinity));
    for (const el of [uri, name]) el.addEventListener("keydown", (e) => e.key === "Enter" && add.click());
    const root = h("section", { class: "card", "aria-label": "Change targets" }, h("div", { class: "tablehead" }, h("h3", {}, "Add or remove a target"), actions.root),
        h("div", { class: "controls" }, daemon, field("Source", uri), field("Name", name), add, h("span", { class: "spacer" }), which, remove));

    function fill(select: HTMLSelectElement, all: [string, string][]): void {
        const names = JSON.stringify(all);
        if (select.dataset["names"] === names) return;
        const now = select.value;
        select.dataset["names"] = names;
        select.replaceChildren(...all.map(([value, title]) => h("option", { value }, visible(title))));
        if (all.some(([value]) => value === now)) select.value = now;
    }

    function update(): void {
        root.hidden = !app.view.server.control;
        if (root.hidden) return;
        fill(daemon, [...app.view.daemons.values()].map((d) => [String(d.daemon), d.endpoint ?? `daemon ${d.daemon}`]));
        fill(which, app.view.sorted().map((t) => [t.key, t.key]));
        daemon.hidden = app.view.daemons.size < 2;
        which.hidden = remove.hidden = !app.view.targets.size;
    }
    return { root, update };
}

export interface TargetControl { root: HTMLElement; update: (t: Target | undefined, running?: boolean) => void }

const address = (t: Target) => ({ target: t.name, daemon: t.daemon });
const isRunning = (t: Target) => t.state?.state === "STATE_RUNNING";

// What can be requested for the shown target where `fits`. Of the parts the `idle` ones are there until it is `running`, the `busy` ones then.
function ofTarget(app: App, fits: (t: Target) => boolean, make: (actions: Actions, target: () => Target) => { idle: HTMLElement[]; busy?: HTMLElement[]; show?: (t: Target) => void }): TargetControl {
    const actions = new Actions(), { idle, busy = [], show } = make(actions, () => t!), root = h("span", { class: "controls" }, ...idle, ...busy, actions.root);
    let t: Target | undefined;
    return { root, update: (target, running = false) => {
        if (t?.key !== target?.key) actions.say("", false);
        t = target;
        root.hidden = !app.view.server.control || !t || !fits(t);
        for (const part of idle) part.hidden = running;
        for (const part of busy) part.hidden = !running;
        if (t) show?.(t);
    } };
}

const choose = (title: string, options: [string, string][]) => h("select", { "aria-label": title }, ...options.map(([value, text]) => h("option", { value }, text)));

// A heap census now, by the agent in the target's program, or its eventlog-socket, and what else that takes; the outcome says what was seen of it.
export const commandControl = (app: App) => ofTarget(app, (t) => isRunning(t) && !!t.answers?.commands, (actions, target) => {
    const which = choose("Command to the program", []);
    const request = (command: () => string) => async () => (await control({ action: "program", ...address(target()), command: command() })).program ?? "";
    const send = actions.button("Send", request(() => which.value));
    return { idle: [actions.button("Census now", request(() => "census")), which, send], show: (t) => {
        const others = (app.view.server.commands ?? []).slice(1, t.answers?.commands ?? 0);
        if (which.childElementCount !== others.length) which.replaceChildren(...others.map((text) => h("option", { value: text }, text)));
        which.hidden = send.hidden = !others.length;
    } };
});

// A profile of CPU time or of allocation by the server, on the target's machine. While one is being taken the other button ends it.
export const profileControl = (app: App) => ofTarget(app, isRunning, (actions, target) => {
    const time = choose("For how long", PROFILE_TIMES.map((s) => [`${s}s`, `for ${s} s`])), by = choose("Of what", [["0", "of CPU time"], ["1", "of allocation"]]);
    time.value = "10s";
    const request = (action: string, more: () => object) => async () => (await control({ action, ...address(target()), ...more() }), app.profiles?.renew(), "");
    return { idle: [by, time, actions.button("Profile now", request("profile", () => ({ for: time.value, allocation: by.value })))],
        busy: [actions.button("Stop", request("stop-profile", () => ({})))] };
});

// The heap of the target's program, read by the server on its machine.
export const heapControl = (app: App) => ofTarget(app, (t) => isThere(t.state), (actions, target) => {
    const what = choose("What is read", [["1", "with who holds what"], ["0", "types alone"]]);
    return { idle: [what, actions.button("Read the heap", async () => {
        await control({ action: "heap", ...address(target()), retained: what.value });
        app.heaps?.renew();
        app.route.set({ held: undefined, why: undefined });
        return "";
    })] };
});

// What the threads of the target's program do and wait for, read likewise.
export const threadsControl = (app: App) => ofTarget(app, (t) => isThere(t.state), (actions, target) => ({
    idle: [actions.button("Read the threads", async () => (await control({ action: "threads", ...address(target()) }), app.threads?.renew(), ""))] }));

// Silencing the rule of an alert for its target, or ending the silence that covers it.
export function alertControl(app: App): { root: HTMLElement; show: (t: Target, a: Alert) => void } {
    const actions = new Actions(), why = text("why", "Why", "for your colleagues");
    const time = choose("For how long", TIMES.map(([value, title]) => [value, `for ${title}`]));
    let t: Target | undefined, a: Alert | undefined;

    const silence = actions.button("Silence", async () => {
        await control({ action: "silence", rule: a!.rule, target: t!.name, for: time.value, why: why.value.trim(), daemon: t!.daemon });
        why.value = "";
        return `${a!.rule} is silenced for ${t!.key}.`;
    });
    const unsilence = actions.button("End the silence", async () => {
        await control({ action: "unsilence", rule: a!.silence?.rule ?? a!.rule, target: a!.silence ? a!.silence.target : t!.name, daemon: t!.daemon });
        return "The silence is ended.";
    });
    const reason = field("Why", why);
    const root = h("div", { class: "controls", role: "group", "aria-label": "Silence this alert" }, time, reason, silence, unsilence, actions.root);

    function show(target: Target, alert: Alert): void {
        root.hidden = !app.view.server.control;
        if (a?.rule !== alert.rule || t?.key !== target.key) actions.say("", false);
        t = target;
        a = alert;
        time.hidden = reason.hidden = silence.hidden = !!alert.silenced;
        unsilence.hidden = !alert.silenced;
    }
    return { root, show };
}
