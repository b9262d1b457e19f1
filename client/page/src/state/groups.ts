// SPDX-License-Identifier: BSD-3-Clause
/*
 * groups.ts - the threads of a program as heapwatch-inspect has found them: those with the same state and stack are one group. What does not
 * fit is left out here (fields.ts).
 */
import type { Inspection } from "../api/inspections.ts";
import { EITHER, MAYBE, shaped } from "./fields.ts";
import { plainName } from "./held.ts";
import type { U64 } from "./wire.ts";

export interface ThreadsRead extends Inspection {
    run?: number;
    beginWallNs?: U64;
    elapsedNs?: number; // running
    result?: unknown; // what `heapwatch threads --format json` prints; groupsOf() reads it
}

const FORM = {
    sentences: [""], threads: 0, complete: false, list_complete: false, other_groups: 0, // others are smaller ones, left out
    groups: [{ threads: 0, state: "", state_text: "", same_cause: EITHER, frames: [{ name: "", by: "", source: "", at: "" }], stack_frames: 0, least_stack_bytes: 0, most_stack_bytes: 0, stack_whole: false,
        c_frames: [{ name: "" }], c_stack_frames: 0, c_stack_whole: EITHER, allocated_bytes: MAYBE, members: [{ id: 0, label: "" }] }], // allocated: not every build counts
};
type Read = (typeof FORM.groups)[number];
export type ThreadGroup = ReturnType<typeof groupOf>;
export type ThreadGroups = ReturnType<typeof groupsOf>;

// Of a thread that is in C; else none.
function inCOf(g: Read): string[] {
    const names = g.c_frames.map((f) => f.name), left = g.c_stack_frames - names.length;
    return left > 0 ? [...names, `… ${left} more in C`] : g.c_stack_whole === false ? [...names, "(C functions that are not known)"] : names;
}

// `number`: in the order of the inspection, the largest first. `key`: what makes it this group. `gained`: threads since an earlier reading; without one not known.
function groupOf(g: Read, number: number) {
    const frames = g.frames.map((f) => `${plainName(f.name)}${f.by === "module" ? " (a local function)" : ""}${f.source && ` (${f.source})`}`);
    const cause = g.same_cause === true ? ", all on the same one" : g.same_cause === false ? ", on different ones" : "";
    return { ...g, number, state: `${g.state_text}${cause}`, place: frames.find((f) => !f.startsWith("stg_")) ?? frames[0] ?? "", inC: inCOf(g), frames, // innermost first
        members: g.members.map((m) => `${m.id}${m.label && ` ${m.label}`}`), key: JSON.stringify([g.state, ...g.frames.map((f) => f.at)]), gained: MAYBE };
}

export function groupsOf(result: unknown) {
    const r = shaped(result, FORM);
    return { ...r, complete: r.complete && r.list_complete, groups: r.groups.map(groupOf) };
}
