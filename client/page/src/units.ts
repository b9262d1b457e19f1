// SPDX-License-Identifier: BSD-3-Clause
/*
 * units.ts - numbers as text. Whatever is unknown is shown as `–`, never as 0. Bytes are binary (KiB), durations come in ns,
 * times in seconds. proto/base/text.c writes the same on all other faces; test/number_words.json has the cases of both.
 */

export const UNKNOWN = "–";

type Maybe = number | null | undefined;

export function known(x: Maybe): x is number {
    return typeof x === "number" && Number.isFinite(x);
}

// Rounds as printf does: what lies exactly between two goes to the even digit (1.125 to 1.12), where toFixed() goes up.
function fixed(x: number, places: number): string {
    const a = Math.abs(x), down = Math.floor(a * 10 ** places);
    const between = a * 2 ** (places + 1) % 2 === 1;
    return between && down % 2 === 0 ? `${x < 0 ? "-" : ""}${(down / 10 ** places).toFixed(places)}` : x.toFixed(places);
}

// Three digits: 1.23, 12.3, 123.
function digits(x: number): string {
    const a = Math.abs(x);
    return fixed(x, a >= 99.95 ? 0 : a >= 9.995 ? 1 : 2);
}

const BYTES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

export function bytes(x: Maybe): string {
    if (!known(x)) return UNKNOWN;
    let i = 0;
    let y = x;
    while (Math.abs(y) >= 1023.5 && i < BYTES.length - 1) {
        y /= 1024;
        i++;
    }
    return `${i === 0 ? y.toFixed(0) : digits(y)} ${BYTES[i]}`.replace("-", "−");
}

export function signedBytes(x: Maybe): string {
    const small = known(x) && Math.abs(x) < 0.5 ? 0 : x;
    return known(small) && small > 0 ? `+${bytes(small)}` : bytes(small);
}

const two = (n: number) => String(n).padStart(2, "0");
const FRACTIONS = ["ns", "us", "ms", "s"];

// Three digits below a minute, then 2m 05s, 3h 20m, 4d 07h.
export function duration(ns: Maybe): string {
    if (!known(ns)) return UNKNOWN;
    const sign = ns <= -0.5 ? "−" : "";
    let y = Math.abs(ns), i = 0;
    if (y >= 59.95e9) return sign + long(y / 1e9);
    if (y < 0.5) return "0 s";
    for (; y >= 999.5 && i < 3; i++) y /= 1000;
    return `${sign}${i === 0 ? fixed(y, 0) : digits(y)} ${FRACTIONS[i]}`;
}

// From a minute on: two units, the smaller one rounded.
function long(seconds: number): string {
    const [s, m, h] = [1, 60, 3600].map((unit) => Math.floor(seconds / unit + 0.5)) as [number, number, number];
    if (s < 3600) return `${Math.floor(s / 60)}m ${two(s % 60)}s`;
    return m < 24 * 60 ? `${Math.floor(m / 60)}h ${two(m % 60)}m` : `${Math.floor(h / 24)}d ${two(h % 24)}h`;
}

// How long ago: as duration(), in whole seconds below a minute.
export function age(s: Maybe): string {
    if (!known(s)) return UNKNOWN;
    return s < 60 ? `${Math.max(0, Math.floor(s))} s` : duration(s * 1e9);
}

export function count(x: Maybe): string {
    if (!known(x)) return UNKNOWN;
    const text = Number.isInteger(x) ? String(Math.abs(x)) : digits(Math.abs(x));
    return (x < 0 ? "−" : "") + text.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

export function share(x: Maybe): string {
    if (!known(x)) return UNKNOWN;
    const p = Math.abs(x) * 100;
    if (p > 0 && p < 0.05) return "<0.1 %";
    return `${x < 0 && p ? "−" : ""}${fixed(p, 1)} %`;
}

export function plain(x: Maybe): string {
    if (!known(x)) return UNKNOWN;
    return (Math.abs(x) < 10 ? x.toFixed(3) : digits(x)).replace("-", "−");
}

// The unit of rates that are shown beside each other. proto/base/rate.h does the same.
export interface RateUnit {
    name: string;
    bps: number; // bytes per second in one of it
}

const PERIODS: [string, number, number][] = [["s", 1, BYTES.length], ["min", 60, 2], ["h", 3600, 2]];
const LEAST_KIB = 1023.5; // from here on bytes() shows 1.00 KiB

// The unit for rates of which this is the greatest, or the first one of a sentence: the shortest period in which it is 1 KiB or more.
export function rateUnit(...rates: Maybe[]): RateUnit {
    const greatest = rates.reduce((most: number, r) => (known(r) ? Math.max(most, Math.abs(r)) : most), 0);
    const [period, seconds, prefixes] = PERIODS.find(([, s], i) => !greatest || i === 2 || greatest * s >= LEAST_KIB)!;
    let i = 0, y = greatest * seconds;
    for (; y >= LEAST_KIB && i < prefixes - 1; i++) y /= 1024;
    return { name: `${BYTES[i]}/${period}`, bps: 1024 ** i / seconds };
}

// A rate in the unit of those beside it: three significant digits, two below 1; what would be 0.0000 is "~0".
export function rate(bps: Maybe, unit: RateUnit): string {
    if (!known(bps)) return UNKNOWN;
    const y = bps / unit.bps, a = Math.abs(y);
    const text = a === 0 ? "0" : a < 0.00005 ? "~0" : a >= 0.995 ? digits(a) : a.toFixed(a >= 0.0995 ? 2 : a >= 0.00995 ? 3 : 4);
    return `${a < 0.00005 ? "" : y < 0 ? "−" : "+"}${text} ${unit.name}`;
}

// A single rate.
export function slope(bps: Maybe): string {
    return rate(bps, rateUnit(bps));
}

// A moment of the wall clock, as all faces write it: "2026-11-29 03:12:47Z".
export function moment(ns: number): string {
    return new Date(ns / 1e6).toISOString().replace("T", " ").replace(/\.\d+/, "");
}

// A time on the axis: event seconds, or the clock when the program's start is known (Unix seconds).
export function clock(s: number, start: number | undefined, step: number): string {
    if (start === undefined) return sinceStart(s, step);
    const d = new Date((start + s) * 1000);
    if (step >= 86400) return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
    const hm = `${two(d.getHours())}:${two(d.getMinutes())}`;
    if (step >= 3600 && hm === "00:00") return `${two(d.getMonth() + 1)}-${two(d.getDate())}`; // an axis of days
    if (step >= 60) return hm;
    const sub = step < 1 ? `.${String(d.getMilliseconds()).padStart(3, "0").slice(0, step < 0.01 ? 3 : step < 0.1 ? 2 : 1)}` : "";
    return `${hm}:${two(d.getSeconds())}${sub}`;
}

function sinceStart(s: number, step: number): string {
    if (s < 0) return `−${sinceStart(-s, step)}`;
    const places = step >= 1 ? 0 : Math.min(6, Math.ceil(-Math.log10(step) - 1e-9));
    if (s < 120 && step < 60) return `${s.toFixed(places)} s`;
    const t = Math.floor(s + 1e-9);
    const rest = places ? (s - t).toFixed(places).slice(1) : "";
    const hms = `${two(Math.floor(t / 60) % 60)}:${two(t % 60)}${rest}`;
    return t >= 3600 ? `${Math.floor(t / 3600)}:${hms}` : hms;
}

export interface Unit {
    name: string;
    text: (x: Maybe) => string;
    tick?: (x: Maybe) => string; // at an axis, where it is not that
    binary: boolean; // steps of the axis are powers of two
}

export const BYTES_UNIT: Unit = { name: "bytes", text: bytes, binary: true };
export const NS_UNIT: Unit = { name: "duration", text: duration, binary: false };
export const COUNT_UNIT: Unit = { name: "count", text: count, binary: false };
// At ticks below 0.1 % the text of a value would be the same for all.
export const SHARE_UNIT: Unit = { name: "share", text: share, tick: (x) => (known(x) && x > 0 && x < 0.001 ? `${Number((x * 100).toPrecision(2))} %` : share(x)), binary: false };

// Parses "64 MiB", "1.5G", "2000": a fixed top of an axis. undefined when it is not a size.
export function parseBytes(text: string): number | undefined {
    const m = /^\s*([0-9]+(?:\.[0-9]*)?)\s*([kmgtpe]?)(?:i?b)?\s*$/i.exec(text);
    if (!m) return undefined;
    const power = "kmgtpe".indexOf(m[2]!.toLowerCase()) + 1;
    const x = Number(m[1]) * 1024 ** (m[2] ? power : 0);
    return x > 0 && Number.isFinite(x) ? x : undefined;
}
