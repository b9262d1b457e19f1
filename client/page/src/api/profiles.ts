// SPDX-License-Identifier: BSD-3-Clause
/*
 * profiles.ts - requests the last profile of CPU time that the server has taken of the shown target (docs/WEB.md, "Profiles"), and
 * again while one is being taken. A report has those that were taken for it.
 */
import type { CpuProfile } from "../state/cpu.ts";
import type { ReportData } from "../state/wire.ts";
import type { View } from "../state/view.ts";
import { wireKey } from "./questions.ts";

const RUNNING_MS = 1000, OTHERWISE_MS = 10000; // another page may have one taken

export interface ProfilesOf {
    of(key: string): CpuProfile | undefined;
    renew(): void;
    known(key: string): CpuProfile | undefined; // without a request
    readonly idle: boolean;
    readonly error: string | undefined;
}

// Those of a report.
export class KeptProfiles implements ProfilesOf {
    readonly idle = true;
    readonly error = undefined;

    constructor(private view: View, private all: NonNullable<ReportData["profiles"]>) {}

    of(key: string): CpuProfile | undefined {
        const t = this.view.targets.get(key);
        return t && this.all.find((p) => p.target === t.name && (p.daemon ?? 0) === t.daemon);
    }

    known(key: string): CpuProfile | undefined {
        return this.of(key);
    }

    renew(): void {}
}

export class Profiles implements ProfilesOf {
    private key = "";
    private answered = 0; // ms
    private busy = false;
    private profile: CpuProfile | undefined;
    error: string | undefined;

    constructor(private changed: () => void) {}

    // Of this target; undefined while nothing is known.
    of(key: string): CpuProfile | undefined {
        if (key !== this.key) {
            this.key = key;
            this.profile = this.error = undefined;
            this.renew();
        }
        const state = this.profile?.state;
        const wait = state === "running" ? RUNNING_MS : state === "done" ? Infinity : OTHERWISE_MS;
        if (!this.busy && performance.now() - this.answered >= wait) void this.ask(key);
        return this.profile;
    }

    // One was begun or ended here.
    renew(): void {
        this.answered = -Infinity;
        if (this.profile?.state === "done") this.profile = undefined;
    }

    known(key: string): CpuProfile | undefined {
        return key === this.key && this.profile?.state === "done" ? this.profile : undefined;
    }

    get idle(): boolean {
        return !this.busy;
    }

    private async ask(key: string): Promise<void> {
        this.busy = true;
        let profile: CpuProfile | undefined, error: string | undefined;
        try {
            const answer = await fetch(`api/profile?${new URLSearchParams({ target: wireKey(key) }).toString()}`);
            const body = (await answer.json()) as CpuProfile;
            if (!answer.ok) throw new Error(body.error ?? `the server answered ${answer.status}`);
            profile = body;
        } catch (e) {
            error = e instanceof Error ? e.message : String(e);
        }
        this.busy = false;
        this.answered = performance.now();
        if (key === this.key) [this.profile, this.error] = [profile ?? this.profile, error];
        this.changed();
        if (profile?.state === "running") setTimeout(this.changed, RUNNING_MS);
    }
}
