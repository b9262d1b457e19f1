// SPDX-License-Identifier: BSD-3-Clause
/*
 * fields.ts - values out of an answer that is of another program's memory: what is not as expected is as if it were not there.
 */
export type Fields = Record<string, unknown>;

export const fields = (x: unknown): Fields => (typeof x === "object" && x !== null ? (x as Fields) : {});
export const list = (x: unknown): Fields[] => (Array.isArray(x) ? x.map(fields) : []);
export const amount = (x: unknown): number => (typeof x === "number" && x >= 0 && Number.isFinite(x) ? x : 0);
export const maybe = (x: unknown): number | undefined => (typeof x === "number" ? amount(x) : undefined);
export const text = (x: unknown): string => (typeof x === "string" ? x : "");
export const texts = (x: unknown): string[] => (Array.isArray(x) ? x.map(text) : []);
