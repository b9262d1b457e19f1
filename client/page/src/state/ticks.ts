// SPDX-License-Identifier: BSD-3-Clause
/*
 * ticks.ts - the time profile as a tree and as a table of cost centres.
 */
import type { Frame } from "../widgets/flame.ts";
import type { Target } from "./target.ts";
import type { CostCentre, Stack } from "./wire.ts";

export interface Ticks {
    stacks: { stack: Stack; ticks: number }[];
    total: number;
    since: number; // event time from which ticks count, seconds; 0: since the run began
}

// Ticks of each stack within the range, as far as this page has seen it: the difference of two moments.
export function ticksIn(t: Target, from: number, to: number): Ticks {
    const h = t.profileHistory, newest = to >= t.eventTime, end = newest ? undefined : h.before(to);
    const start = from <= 0 ? undefined : h.before(from);
    const stacks = [...t.stacks.values()].map((stack) => {
        const id = stack.id!, upto = newest ? Number(stack.ticks ?? 0) : end?.ticks.get(id) ?? 0;
        return { stack, ticks: Math.max(0, upto - (start?.ticks.get(id) ?? 0)) };
    }).filter((s) => s.ticks > 0);
    return { stacks, total: stacks.reduce((n, s) => n + s.ticks, 0), since: start?.t ?? 0 };
}

export const centreName = (c: CostCentre): string => `${c.module && c.module !== c.label ? `${c.module}.` : ""}${c.label ?? `cost centre ${c.id ?? "?"}`}`;

export function tree(t: Ticks): Frame | undefined {
    if (!t.total) return undefined;
    const root: Frame = { name: "all", module: "", value: t.total, children: [] };
    for (const { stack, ticks } of t.stacks) {
        let at = root;
        const centres = stack.centres ?? [];
        for (let i = centres.length - 1; i >= 0; i--) {
            const name = centreName(centres[i]!);
            let next = at.children.find((c) => c.name === name);
            if (!next) at.children.push((next = { name, module: centres[i]!.module ?? "", value: 0, children: [] }));
            next.value += ticks;
            at = next;
        }
    }
    return root;
}

export interface CentreRow {
    name: string;
    module: string;
    source: string;
    own: number;
    inherited: number;
    total: number;
}

// Own: its stack ends in it. Inherited: it is anywhere on the stack, counted once.
export function centres(t: Ticks): CentreRow[] {
    const rows = new Map<string, CentreRow>();
    for (const { stack, ticks } of t.stacks) {
        const seen = new Set<string>();
        (stack.centres?.length ? stack.centres : [{ label: "MAIN" } as CostCentre]).forEach((c, i) => {
            const name = centreName(c), key = `${name}\n${c.source ?? ""}`;
            let row = rows.get(key);
            if (!row) rows.set(key, (row = { name, module: c.module ?? "", source: c.source ?? "", own: 0, inherited: 0, total: t.total }));
            if (i === 0) row.own += ticks;
            if (!seen.has(key)) row.inherited += ticks;
            seen.add(key);
        });
    }
    return [...rows.values()];
}
