// SPDX-License-Identifier: BSD-3-Clause
/*
 * held.ts - what heapwatch-inspect has found in a heap: types, the tree of who holds what, and why types are kept. It comes from
 * another program's memory, so what does not fit is left out here (fields.ts).
 */
import type { Inspection } from "../api/inspections.ts";
import { MAYBE, shaped } from "./fields.ts";
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
    older?: boolean; // as an earlier census told
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

const PATH = { bytes: 0, closures: 0, path: [{ type: "", several: false }] };
const FORM = {
    sentences: [""], complete: false, bytes: 0, closures: 0, reached_bytes: MAYBE, // reached, retained: without who holds what not known
    bands: [{ name: "", bytes: 0, closures: 0, retained_bytes: MAYBE, unreached_bytes: MAYBE, contents: [{ name: "", bytes: 0 }] }],
    roots: [{ name: "", roots: 0, retained_bytes: 0 }], // roots: of this name
    tree: [{ name: "", up: MAYBE, root: false, retained_bytes: 0, bytes: 0, closures: 0, other_bytes: 0, other_types: 0 }],
    why: [{ name: "", reached_bytes: 0, paths: [PATH], further_paths: 0 }],
};
export type HeapType = (typeof FORM.bands)[number] & { total: number; gained?: number; holds?: Holds }; // total: of the heap; gained since an earlier reading
export type HeapRoot = (typeof FORM.roots)[number];
export type Why = (typeof FORM.why)[number];
export type Heap = ReturnType<typeof heapOf>;

// Each below one that came before.
function treeOf(rows: typeof FORM.tree): Held[] {
    const places: Held[] = [];
    for (const r of rows) {
        const up = places.length ? places[r.up ?? -1] : undefined;
        if (places.length && !up) break;
        const h = { name: places.length ? r.name : "the heap", bytes: r.retained_bytes, own: r.bytes, closures: r.closures, isRoot: r.root, rest: r.other_bytes, restTypes: r.other_types,
            up, children: [], place: places.length };
        up?.children.push(h);
        places.push(h);
    }
    for (const h of places) h.children.sort((a, b) => b.bytes - a.bytes || a.place - b.place);
    return places;
}

export function heapOf(result: unknown) {
    const r = shaped(result, FORM), places = treeOf(r.tree);
    const types = r.bands.map((b): HeapType => {
        const most = b.contents[0]; // the largest
        return { ...b, total: r.bytes, holds: most && { name: most.name, share: most.bytes / (b.bytes || 1) } };
    });
    return { ...r, types, tree: places[0], places };
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
export function holdersOf(paths: (typeof PATH)[]): Holder[] {
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
