// SPDX-License-Identifier: BSD-3-Clause
/*
 * inspections.ts - requests the last profile, heap or list of threads that the server has read of the shown target
 * (docs/WEB.md, "Profiles", "Heaps and threads"), and again while one is being read. A report has those that were taken for it.
 */
import type { View } from "../state/view.ts";
import { wireKey } from "./questions.ts";
import { Newest } from "./request.ts";

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
export function keptInspections<T>(view: View, all: (T & { daemon?: number; target: string })[]): InspectionsOf<T> {
    const of = (key: string) => {
        const t = view.targets.get(key);
        return t && all.find((p) => p.target === t.name && (p.daemon ?? 0) === t.daemon);
    };
    return { of, known: of, renew: () => undefined, idle: true, error: undefined };
}

// Those of a server, at `api/KIND`.
export class Inspections<T extends Inspection> extends Newest<T> implements InspectionsOf<T> {
    constructor(kind: "profile" | "heap" | "threads", changed: () => void) {
        super(kind, (found) => (found?.state === "running" ? RUNNING_MS : found?.state === "done" ? Infinity : OTHERWISE_MS), changed);
    }

    override of(key: string): T | undefined {
        return super.of(targetQuery(key));
    }

    override known(key: string): T | undefined {
        const found = super.known(targetQuery(key));
        return found?.state === "done" ? found : undefined;
    }
}

const targetQuery = (key: string): string => new URLSearchParams({ target: wireKey(key) }).toString();
