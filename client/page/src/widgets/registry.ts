// SPDX-License-Identifier: BSD-3-Clause
/*
 * registry.ts - the charts and tables that are on the page now, by name, with what they show. `window.heapwatch` reads it.
 */

type Kind = "chart" | "table";
const things = new Map<string, () => unknown>();

export function register(kind: Kind, id: string, read: (() => unknown) | undefined): void {
    if (read) things.set(`${kind} ${id}`, read);
    else things.delete(`${kind} ${id}`);
}

export function read(kind: Kind, id: string): unknown {
    return things.get(`${kind} ${id}`)?.();
}

export function names(kind: Kind): string[] {
    return [...things.keys()].filter((k) => k.startsWith(kind)).map((k) => k.slice(kind.length + 1));
}
