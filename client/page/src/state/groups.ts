// SPDX-License-Identifier: BSD-3-Clause
/*
 * groups.ts - the threads of a program as heapwatch-inspect has found them: those with the same state and stack are one group. What does not
 * fit is left out here (fields.ts).
 */
import type { Inspection } from "../api/inspections.ts";
import { amount, type Fields, fields, list, maybe, text, texts } from "./fields.ts";
import { plainName } from "./held.ts";
import type { U64 } from "./wire.ts";

export interface ThreadsRead extends Inspection {
    run?: number;
    beginWallNs?: U64;
    elapsedNs?: number; // running
    result?: unknown; // what `heapwatch threads --format json` prints; groupsOf() reads it
}

export interface ThreadGroup {
    number: number; // in the order of the inspection, the largest first
    threads: number;
    state: string; // what they do or wait for
    place: string; // the innermost function that is none of the runtime's
    inC: string[]; // functions of C that it has called, the innermost first, and what is missing of these
    frames: string[]; // innermost first
    allFrames: number; // of the deepest of them, also those that are not there
    leastStack: number; // bytes
    mostStack: number;
    whole: boolean; // stacks were walked to their bottom
    allocated?: number; // bytes, of all together; not every build counts them
    members: string[]; // numbers and labels, of some
    key: string; // what makes it this group
    gained?: number; // threads since an earlier reading; without one not known
}

export interface ThreadGroups {
    sentences: string[];
    threads: number;
    complete: boolean;
    groups: ThreadGroup[];
    others: number; // groups that are left out, smaller ones
}

function frameName(f: Fields): string {
    const source = text(f["source"]);
    return `${plainName(text(f["name"]))}${f["by"] === "module" ? " (a local function)" : ""}${source && ` (${source})`}`;
}

// Of a thread that is in C; else none.
function inCOf(g: Fields): string[] {
    const names = list(g["c_frames"]).map((f) => text(f["name"])), left = amount(g["c_stack_frames"]) - names.length;
    return left > 0 ? [...names, `… ${left} more in C`] : g["c_stack_whole"] === false ? [...names, "(C functions that are not known)"] : names;
}

function groupOf(g: Fields, number: number): ThreadGroup {
    const rows = list(g["frames"]), frames = rows.map(frameName), same = g["same_cause"], members = list(g["members"]);
    const cause = same === true ? ", all on the same one" : same === false ? ", on different ones" : "";
    return { number, threads: amount(g["threads"]), state: `${text(g["state_text"])}${cause}`, place: frames.find((f) => !f.startsWith("stg_")) ?? frames[0] ?? "", inC: inCOf(g), frames, allFrames: amount(g["stack_frames"]),
        leastStack: amount(g["least_stack_bytes"]), mostStack: amount(g["most_stack_bytes"]), whole: g["stack_whole"] === true, allocated: maybe(g["allocated_bytes"]),
        members: members.map((m) => `${amount(m["id"])}${text(m["label"]) && ` ${text(m["label"])}`}`),
        key: JSON.stringify([text(g["state"]), ...rows.map((f) => text(f["at"]))]) };
}

export function groupsOf(result: unknown): ThreadGroups {
    const r = fields(result);
    return { sentences: texts(r["sentences"]), threads: amount(r["threads"]), complete: r["complete"] === true && r["list_complete"] === true, groups: list(r["groups"]).map(groupOf),
        others: amount(r["other_groups"]) };
}

// What each group has gained since an earlier reading of the same run: one that was not there had no thread. Groups with one key, whose stacks
// differ further out, are compared together.
export function setGained(now: ThreadGroup[], before: ThreadGroup[]): void {
    const sums = (groups: ThreadGroup[]) => {
        const all = new Map<string, number>();
        for (const g of groups) all.set(g.key, (all.get(g.key) ?? 0) + g.threads);
        return all;
    };
    const had = sums(before), has = sums(now);
    for (const g of now) g.gained = has.get(g.key)! - (had.get(g.key) ?? 0);
}
