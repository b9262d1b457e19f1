// SPDX-License-Identifier: BSD-3-Clause
/*
 * held.ts - what heapwatch-inspect has found in a heap: types, the tree of who holds what, and why types are kept. It comes from
 * another program's memory, so what does not fit is left out here (fields.ts).
 */
import type { Inspection } from "../api/inspections.ts";
import { amount, type Fields, fields, list, maybe, text, texts } from "./fields.ts";
import type { U64 } from "./wire.ts";

export interface HeapRead extends Inspection {
    run?: number;
    beginWallNs?: U64;
    elapsedNs?: number; // running
    result?: unknown; // what `heapwatch heap --format json` prints; heapOf() reads it
}

// What most of a band's closures are, by the types of what they hold: "[Session]".
export interface Holds {
    name: string;
    share: number; // of its bytes
}

export interface HeapType {
    name: string;
    bytes: number;
    closures: number;
    retained?: number; // without who holds what: not known
    unreached?: number;
    total: number; // bytes of the heap
    gained?: number; // bytes since an earlier reading; without one not known
    holds?: Holds; // where they are told apart
}

export interface HeapRoot {
    name: string;
    roots: number; // of this name
    retained: number;
}

// A type, below what alone holds it; the whole is the first.
export interface Held {
    name: string;
    bytes: number; // that would go with it
    own: number; // of these, its own
    closures: number;
    isRoot: boolean;
    rest: number; // bytes in types that are left out,
    restTypes: number; // and how many these are
    up: Held | undefined;
    children: Held[]; // the largest first
    place: number;
}

export interface PathStep {
    type: string;
    several: boolean;
}

export interface HeldPath {
    bytes: number;
    closures: number;
    path: PathStep[];
}

export interface Why {
    name: string;
    bytes: number; // that are reached
    paths: HeldPath[];
    further: number;
}

export interface Heap {
    sentences: string[];
    complete: boolean;
    bytes: number;
    closures: number;
    reached?: number;
    types: HeapType[];
    roots: HeapRoot[];
    tree?: Held;
    places: Held[]; // of the tree, as numbered
    why: Why[];
}

// Each below one that came before.
function treeOf(rows: Fields[]): Held[] {
    const places: Held[] = [];
    for (const r of rows) {
        const up = places.length ? places[Number(r["up"])] : undefined;
        if (places.length && !up) break;
        const h = { name: places.length ? text(r["name"]) : "the heap", bytes: amount(r["retained_bytes"]), own: amount(r["bytes"]), closures: amount(r["closures"]), isRoot: r["root"] === true,
            rest: amount(r["other_bytes"]), restTypes: amount(r["other_types"]), up, children: [], place: places.length };
        up?.children.push(h);
        places.push(h);
    }
    for (const h of places) h.children.sort((a, b) => b.bytes - a.bytes || a.place - b.place);
    return places;
}

function pathOf(r: Fields): HeldPath {
    return { bytes: amount(r["bytes"]), closures: amount(r["closures"]), path: list(r["path"]).map((s) => ({ type: text(s["type"]), several: s["several"] === true })) };
}

// The largest is the first.
function contentsOf(band: Fields): HeapType["holds"] {
    const most = list(band["contents"])[0];
    return most && { name: text(most["name"]), share: amount(most["bytes"]) / (amount(band["bytes"]) || 1) };
}

export function heapOf(result: unknown): Heap {
    const r = fields(result), total = amount(r["bytes"]), places = treeOf(list(r["tree"]));
    return {
        sentences: texts(r["sentences"]),
        complete: r["complete"] === true,
        bytes: total,
        closures: amount(r["closures"]),
        reached: maybe(r["reached_bytes"]),
        types: list(r["bands"]).map((b) => ({ name: text(b["name"]), bytes: amount(b["bytes"]), closures: amount(b["closures"]), retained: maybe(b["retained_bytes"]),
            unreached: maybe(b["unreached_bytes"]), total, holds: contentsOf(b) })),
        roots: list(r["roots"]).map((b) => ({ name: text(b["name"]), roots: amount(b["roots"]), retained: amount(b["retained_bytes"]) })),
        tree: places[0],
        places,
        why: list(r["why"]).map((w) => ({ name: text(w["name"]), bytes: amount(w["reached_bytes"]), paths: list(w["paths"]).map(pathOf), further: amount(w["further_paths"]) })),
    };
}

// "Data.Map.Internal.Bin" of containers-0.6.4.1:Data.Map.Internal.Bin; roots are called what they are called.
export function plainName(name: string): string {
    return name.replace(/^[^: ]+:(?=[A-Z])/, "");
}

export function nameOf(h: Held): string {
    return h.isRoot ? h.name : plainName(h.name);
}

// From the whole down.
export function trail(h: Held): Held[] {
    const out: Held[] = [];
    for (let at: Held | undefined = h; at; at = at.up) out.unshift(at);
    return out;
}

// A holder of a type, and what holds that, up to roots.
export interface Holder {
    name: string;
    bytes: number; // of the type, that are kept this way
    holders: Holder[];
}

// Paths as a tree: what begins alike is there once, and holders that have one holder are one line with it.
export function holdersOf(paths: HeldPath[]): Holder[] {
    const root: Holder = { name: "", bytes: 0, holders: [] };
    for (const p of paths) {
        let at = root;
        p.path.forEach((s, i) => {
            const name = `${i + 1 < p.path.length ? plainName(s.type) : s.type}${s.several ? "+" : ""}`;
            let next = at.holders.find((h) => h.name === name);
            if (!next) at.holders.push((next = { name, bytes: 0, holders: [] }));
            next.bytes += p.bytes;
            at = next;
        });
    }
    const join = (h: Holder): Holder => {
        let { name, holders } = h;
        while (holders.length === 1 && holders[0]!.bytes === h.bytes) [name, holders] = [`${name} ← ${holders[0]!.name}`, holders[0]!.holders];
        return { name, bytes: h.bytes, holders: holders.map(join).sort((a, b) => b.bytes - a.bytes) };
    };
    return root.holders.map(join).sort((a, b) => b.bytes - a.bytes);
}

// What each type has gained since an earlier reading of the same run; what was not there had no bytes.
export function setTypesGained(now: HeapType[], before: HeapType[]): void {
    const had = new Map(before.map((t) => [t.name, t.bytes]));
    for (const t of now) t.gained = t.bytes - (had.get(t.name) ?? 0);
}
