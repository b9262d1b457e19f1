// SPDX-License-Identifier: BSD-3-Clause
/*
 * view.ts - the world, rebuilt from messages: daemons and targets; which update goes where. Mirrors client/world/state/world.c.
 */
import { compareTexts } from "../order.ts";
import { Target } from "./target.ts";
import type { Answers, DaemonInfo, DaemonState, Diff, HistoryItem, StateMessage, Tagged } from "./wire.ts";

const TARGETS_MAX = 10000;

export interface Daemon extends DaemonInfo {
    state?: DaemonState;
}

export class View {
    daemons = new Map<number, Daemon>();
    targets = new Map<string, Target>();
    server: StateMessage["server"] = {};
    private help: Record<string, string> = {}; // of numbers
    known = false; // a state has come
    notesBound: number | undefined;
    diff: Diff | undefined; // of the two logs of a report

    // Replaces all state: histories are requested again, since they may have a hole now. A target in the same run keeps what
    // nobody else has.
    reset(state: StateMessage): void {
        const old = this.targets;
        this.known = true;
        this.server = state.server;
        this.help = state.numbers ?? {};
        this.daemons = new Map(state.daemons.map((d) => [d.daemon, d]));
        this.targets = new Map();
        const runs = new Map(state.updates.filter((u) => u.update.targetState).map((u) => [key(u), u.update.run]));
        for (const [k, t] of old) {
            if (!runs.has(k) || runs.get(k) !== t.run) continue;
            const fresh = this.born(t.daemon, t.name);
            fresh.inherit(t);
            this.targets.set(k, fresh);
        }
        this.apply(state.updates);
        this.answer(state.answers ?? []);
    }

    answer(all: Answers[]): void {
        for (const a of all) this.targets.get(a.daemon ? `${a.daemon}:${a.target}` : a.target ?? "")?.answer(a);
    }

    apply(updates: Tagged[]): void {
        for (const u of updates) this.one(u);
    }

    forget(daemon: number): void {
        for (const [k, t] of this.targets) if (t.daemon === daemon) this.targets.delete(k);
    }

    setDaemon(info: DaemonInfo): void {
        this.daemons.set(info.daemon, { ...this.daemons.get(info.daemon), ...info });
    }

    private one(tagged: Tagged): void {
        const u = tagged.update, daemon = tagged.daemon ?? 0;
        if (u.daemon) {
            this.daemons.set(daemon, { ...this.daemons.get(daemon), daemon, state: u.daemon });
            return;
        }
        if (!u.target) return;
        const k = key(tagged);
        if (u.targetState?.state === "STATE_REMOVED") {
            this.targets.delete(k);
            return;
        }
        let t = this.targets.get(k);
        if (!t) {
            if (this.targets.size >= TARGETS_MAX) return;
            t = this.born(daemon, u.target);
            this.targets.set(k, t);
        }
        t.apply(u);
    }

    private born(daemon: number, name: string): Target {
        const t = new Target(daemon, name);
        t.help = this.help;
        if (this.notesBound) t.notesBound = this.notesBound;
        return t;
    }

    // `again`: replaces all that came before.
    history(items: HistoryItem[], again = false): void {
        const by = new Map<string, HistoryItem[]>();
        for (const i of items) {
            const k = i.daemon ? `${i.daemon}:${i.target}` : i.target;
            by.set(k, [...(by.get(k) ?? []), i]);
        }
        for (const [k, list] of by) this.targets.get(k)?.applyHistory(list, again);
    }

    worst(): Target | undefined {
        const rank = (t: Target) => t.answers?.rank ?? -1;
        return this.sorted().sort((a, b) => rank(b) - rank(a))[0];
    }

    // In the order in which logs, or targets of a report, were given: the first one is the baseline. Others by name.
    inOrder(): Target[] {
        const { files, targets } = this.server;
        const place = (t: Target) => (files ? files.findIndex((f) => t.state?.uri === `file:${f}`) : targets?.indexOf(t.name) ?? 0);
        return this.sorted().sort((a, b) => place(a) - place(b));
    }

    sorted(): Target[] {
        return [...this.targets.values()].sort((a, b) => compareTexts(a.name, b.name) || a.daemon - b.daemon);
    }
}

function key(u: Tagged): string {
    return u.daemon ? `${u.daemon}:${u.update.target}` : u.update.target ?? "";
}
