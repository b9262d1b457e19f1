// SPDX-License-Identifier: BSD-3-Clause
/*
 * inspections.ts - requests the last profile, heap or list of threads that the server has read of the shown target
 * (docs/WEB.md, "Profiles", "Heaps and threads"), and again while one is being read. A report has those that were taken for it.
 */
import type { View } from "../state/view.ts";
import { wireKey } from "./questions.ts";

const RUNNING_MS = 1000, OTHERWISE_MS = 10000; // another page may have one taken

export interface Inspection {
    state: "none" | "running" | "done" | "failed";
    error?: string; // failed
}

export interface InspectionsOf<T> {
    of(key: string): T | undefined;
    renew(): void;
    known(key: string): T | undefined; // without a request
    readonly idle: boolean;
    readonly error: string | undefined;
}

// Those of a report.
export class KeptInspections<T> implements InspectionsOf<T> {
    readonly idle = true;
    readonly error = undefined;

    constructor(private view: View, private all: (T & { daemon?: number; target: string })[]) {}

    of(key: string): T | undefined {
        const t = this.view.targets.get(key);
        return t && this.all.find((p) => p.target === t.name && (p.daemon ?? 0) === t.daemon);
    }

    known(key: string): T | undefined {
        return this.of(key);
    }

    renew(): void {}
}

export class Inspections<T extends Inspection> implements InspectionsOf<T> {
    private key = "";
    private answered = 0; // ms
    private busy = false;
    private found: T | undefined;
    error: string | undefined;

    // `kind`: the last part of its address.
    constructor(private kind: "profile" | "heap" | "threads", private changed: () => void) {}

    // Of this target; undefined while nothing is known.
    of(key: string): T | undefined {
        if (key !== this.key) {
            this.key = key;
            this.found = this.error = undefined;
            this.renew();
        }
        const state = this.found?.state;
        const wait = state === "running" ? RUNNING_MS : state === "done" ? Infinity : OTHERWISE_MS;
        if (!this.busy && performance.now() - this.answered >= wait) void this.ask(key);
        return this.found;
    }

    // One was begun or ended here.
    renew(): void {
        this.answered = -Infinity;
        if (this.found?.state === "done") this.found = undefined;
    }

    known(key: string): T | undefined {
        return key === this.key && this.found?.state === "done" ? this.found : undefined;
    }

    get idle(): boolean {
        return !this.busy;
    }

    private async ask(key: string): Promise<void> {
        this.busy = true;
        let found: T | undefined, error: string | undefined;
        try {
            const answer = await fetch(`api/${this.kind}?${new URLSearchParams({ target: wireKey(key) }).toString()}`);
            const body = (await answer.json()) as T;
            if (!answer.ok) throw new Error(body.error ?? `the server answered ${answer.status}`);
            found = body;
        } catch (e) {
            error = e instanceof Error ? e.message : String(e);
        }
        this.busy = false;
        this.answered = performance.now();
        if (key === this.key) [this.found, this.error] = [found ?? this.found, error];
        this.changed();
        if (found?.state === "running") setTimeout(this.changed, RUNNING_MS);
    }
}
