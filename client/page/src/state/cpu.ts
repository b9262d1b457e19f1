// SPDX-License-Identifier: BSD-3-Clause
/*
 * cpu.ts - a profile of CPU time, of allocation, or of what waits, as trees for the flame graph, from callers to callees and the other way round, and as a table of functions.
 */
import type { Frame } from "../widgets/flame.ts";
import type { Inspection } from "../api/inspections.ts";
import type { U64 } from "./wire.ts";

// The number of the caller's row from 1, 0: none; ns or bytes in it, and with what it calls; the function.
export type CpuRow = [parent: number, self: number, total: number, name: string];

export interface CpuTree {
    sentences?: string[]; // done, or running for a second: how it was taken, and how much of the truth it has
    totalNs?: number;
    totalBytes?: number; // of a profile of allocation, in place of it
    rows?: CpuRow[];
}

export interface CpuProfile extends Inspection, CpuTree {
    run?: number;
    beginWallNs?: U64;
    forNs?: number;
    elapsedNs?: number; // running
    waiting?: CpuTree; // the time for which Haskell threads wait, never added to CPU time
}

// What a row without a caller is called when it is a thread, or threads with one label but for their numbers; no function has a space there.
const THREAD = "thread ";

// Each thread with its part of all, the most first; what is in no Haskell thread is not of it.
export function threads(rows: CpuRow[]): { name: string; total: number }[] {
    return rows.filter((r) => !r[0] && r[3].startsWith(THREAD)).map((r) => ({ name: r[3].slice(THREAD.length), total: r[2] })).sort((a, b) => b.total - a.total);
}

// The same of one thread, or of all together: equal stacks are one, and threads no longer rows.
export function ofThread(rows: CpuRow[], thread?: string): { rows: CpuRow[]; total: number } {
    const out: CpuRow[] = [], at: number[] = [0], known = new Map<string, number>(); // at: of a row its new number, 0: a thread, -1: left out
    let total = 0;
    rows.forEach(([parent, self, all, name], i) => {
        const isThread = !parent && name.startsWith(THREAD), caller = at[parent]!;
        const kept = thread === undefined || (parent ? caller >= 0 : isThread && name.slice(THREAD.length) === thread);
        if (kept && !parent) total += all;
        if (!kept || isThread) return void (at[i + 1] = kept ? 0 : -1);
        const key = `${caller} ${name}`, same = known.get(key);
        if (same === undefined) known.set(key, out.push([caller, self, all, name]));
        else [out[same - 1]![1], out[same - 1]![2]] = [out[same - 1]![1] + self, out[same - 1]![2] + all];
        at[i + 1] = known.get(key)!;
    });
    return { rows: out, total };
}

const CALLERS_MOST = 64; // of a function, bottom up

// "GHC.Num.Integer" of GHC.Num.Integer.integerAdd, "Main" of "Main (local, before main4)"; "" of C code.
export function moduleOf(name: string): string {
    return /^([A-Z][\w']*(?:\.[A-Z][\w']*)*)(?:\.| \(|$)/.exec(name)?.[1] ?? "";
}

const frame = (name: string, value: number): Frame => ({ name, module: moduleOf(name), value, children: [] });

export function topDown(rows: CpuRow[], total: number): Frame {
    const root = frame("all", total), frames: Frame[] = [];
    for (const [parent, , all, name] of rows) {
        const f = frame(name, all);
        frames.push(f);
        (parent ? frames[parent - 1]! : root).children.push(f);
    }
    return root;
}

// Each function that has some by itself, above it who called it.
export function bottomUp(rows: CpuRow[], total: number): Frame {
    const root = frame("all", total), ways = new Map<Frame, Map<string, Frame>>();
    for (const row of rows) {
        let at = root;
        for (let r: CpuRow | undefined = row, n = 0; row[1] && r && n <= CALLERS_MOST; r = r[0] ? rows[r[0] - 1] : undefined, n++) {
            let next = ways.get(at)?.get(r[3]);
            if (!next) {
                at.children.push((next = frame(r[3], 0)));
                if (!ways.has(at)) ways.set(at, new Map());
                ways.get(at)!.set(r[3], next);
            }
            next.value += row[1];
            at = next;
        }
    }
    return root;
}

export interface CpuFunction {
    name: string;
    self: number;
    all: number; // with what it calls, once where it calls itself
    total: number; // of the profile
}

export function functions(rows: CpuRow[], total: number): CpuFunction[] {
    const found = new Map<string, CpuFunction>();
    rows.forEach(([parent, self, all, name]) => {
        let f = found.get(name);
        if (!f) found.set(name, (f = { name, self: 0, all: 0, total }));
        f.self += self;
        let above = parent;
        while (above && rows[above - 1]![3] !== name) above = rows[above - 1]![0];
        if (!above) f.all += all;
    });
    return [...found.values()];
}
