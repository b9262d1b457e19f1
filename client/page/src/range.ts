// SPDX-License-Identifier: BSD-3-Clause
/*
 * range.ts - which range of event time is shown, in seconds. It slides with the newest event ("15m": the last 15 minutes,
 * "all": the whole run), or is fixed ("120.5-180"). Pause freezes the newest event time that the page uses; no data are lost. Time
 * before the run, which only an archive knows, is negative ("-3600--60").
 */

export interface Span {
    from: number;
    to: number;
}

export const SLIDING: [string, number][] = [["1m", 60], ["5m", 300], ["15m", 900], ["1h", 3600], ["6h", 21600], ["1d", 86400]];
// Offered where an archive has what came before.
export const LONG: [string, number][] = [["7d", 604800], ["30d", 2592000], ["1y", 31536000]];

// Undefined: not a fixed range.
export function parseFixed(text: string): Span | undefined {
    const m = /^(-?[0-9]+(?:\.[0-9]+)?)-(-?[0-9]+(?:\.[0-9]+)?)$/.exec(text);
    if (!m) return undefined;
    const from = Number(m[1]), to = Number(m[2]);
    return to > from ? { from, to } : undefined;
}

export function formatFixed(s: Span): string {
    const f = (x: number) => String(Number(x.toFixed(6)));
    return `${f(s.from)}-${f(s.to)}`;
}

// Seconds that a sliding range looks back; undefined: it does not slide, or has no beginning.
export function slidingWidth(text: string): number | undefined {
    return [...SLIDING, ...LONG].find(([name]) => name === text)?.[1];
}

// `newest`: the newest event time in seconds; `earliest`: of what is known before the run, 0 or negative. Never empty.
export function resolve(text: string, newest: number, earliest = 0): Span {
    const fixed = parseFixed(text);
    if (fixed) return fixed;
    const width = slidingWidth(text);
    const to = Math.max(newest, 1e-3);
    if (width === undefined) return { from: 0, to };
    return { from: Math.max(earliest, to - width), to: Math.max(to, Math.min(width, 1)) };
}
