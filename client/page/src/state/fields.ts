// SPDX-License-Identifier: BSD-3-Clause
/*
 * fields.ts - values out of an answer that is of another program's memory: what is not as expected is as if it were not there.
 */
export const MAYBE = undefined as number | undefined; // a number that may be missing
export const EITHER = null as boolean | null;

// `x` in the form of `like`: a list there has one element, which is the form of all.
export function shaped<T>(x: unknown, like: T): T {
    const number = typeof x === "number" && x >= 0 && Number.isFinite(x) ? x : MAYBE;
    if (like === MAYBE) return number as T;
    if (like === EITHER) return (typeof x === "boolean" ? x : EITHER) as T;
    if (Array.isArray(like)) return (Array.isArray(x) ? x.map((e) => shaped(e, like[0] as unknown)) : []) as T;
    if (typeof like === "number") return (number ?? 0) as T;
    if (typeof like !== "object") return typeof x === typeof like ? (x as T) : like;
    const of = (typeof x === "object" && x !== null ? x : {}) as Record<string, unknown>;
    return Object.fromEntries(Object.entries(like as object).map(([name, form]) => [name, shaped(of[name], form as unknown)])) as T;
}
