// SPDX-License-Identifier: BSD-3-Clause
/*
 * judge.ts - the daemon's trends and alerts, in words and with a tone. What was not published is shown as `–`.
 */
import { seriesName } from "./history.ts";
import { type Alert, type Alerts, type Growth, seconds, type Trend, type Trends } from "./wire.ts";

export interface AlertChange {
    t: number | undefined; // event time, seconds
    key: string;
    from: string;
    to: string;
    alert: Alert;
}

const LOG_MAX = 300;

// Everything that was judged of one target.
export class Judgement {
    ofSeries = new Map<string, Trend>();
    ofBands = new Map<number, Trend>();
    state: Trends | undefined; // the newest message, without its trends

    apply(m: Trends): void {
        for (const t of m.trends ?? []) {
            if (t.band !== undefined) this.ofBands.set(t.band, t);
            else if (t.series) this.ofSeries.set(seriesName(t.series), t);
        }
        this.state = { ...m, trends: undefined };
    }

    all(): Trends | undefined {
        return this.state && { ...this.state, trends: [...this.ofSeries.values(), ...this.ofBands.values()] };
    }
}

export function alertKey(a: Alert): string {
    return `${a.group ?? ""}\n${a.rule ?? ""}\n${a.bandLabel ?? ""}\n${a.band ?? ""}`; // two bands may share a label
}

// Records what changed between two messages: the alerts' history since the page was opened.
export function logChanges(log: AlertChange[], before: Alerts | undefined, now: Alerts, t: number): AlertChange[] {
    if (!before) return log; // how they were when the page came is no change
    const old = new Map((before.alerts ?? []).map((a) => [alertKey(a), a]));
    const out = [...log];
    for (const a of now.alerts ?? []) {
        const was = old.get(alertKey(a))?.state ?? "STATE_INACTIVE";
        if (a.state && a.state !== was) out.push({ t: seconds(a.resolvedNs ?? a.firedNs ?? a.sinceNs) ?? t, key: alertKey(a), from: was, to: a.state, alert: a });
    }
    return out.slice(-LOG_MAX);
}

const VERDICTS: Record<string, [string, string, number]> = {
    WORD_UNKNOWN: ["unknown", "dim", 0], WORD_STEADY: ["steady", "good", 1], WORD_RISING: ["rising", "warn", 2],
    WORD_GROWING: ["growing", "warn", 3], WORD_LEAK: ["leak", "bad", 4],
};
const ALERTS: Record<string, [string, string, number]> = {
    STATE_INACTIVE: ["inactive", "dim", 0], STATE_RESOLVED: ["resolved", "good", 1], STATE_PENDING: ["pending", "warn", 2],
    STATE_FIRING: ["firing", "bad", 3],
};

export interface Word { text: string; tone: string; weight: number }

function word(table: Record<string, [string, string, number]>, key: string | undefined): Word {
    const [text, tone, weight] = table[key ?? ""] ?? ["–", "dim", -1];
    return { text, tone, weight };
}
export const verdict = (v: string | undefined): Word => word(VERDICTS, v);
export const alertState = (s: string | undefined): Word => word(ALERTS, s);

const WHERE: Record<string, string> = {
    WHERE_NOWHERE: "nowhere", WHERE_LIVE: "live data", WHERE_RETENTION: "retention or fragmentation", WHERE_FOREIGN: "foreign memory",
};
export function where(g: Growth | undefined): string | undefined {
    return WHERE[g?.where ?? ""];
}

// The alert that `a` is a part of, as its daemon says, in the same list.
export function headOf(all: Alerts | undefined, a: Alert): Alert | undefined {
    return a.partOf === undefined ? undefined : (all?.alerts ?? []).find((x) => x !== a && x.band === undefined && x.rule === a.partOf);
}

// Those that fire and count: neither silenced nor a part of another one.
export function firing(all: Alerts | undefined): Alert[] | undefined {
    return all && (all.alerts ?? []).filter((x) => x.state === "STATE_FIRING" && !x.silenced && !headOf(all, x));
}

// How severe an alert is with its parts: what decides its colour and order.
export const severity = (a: Alert): string => a.wholeSeverity ?? a.severity ?? "warning";
export function alertTone(a: Alert): string {
    if (a.silenced) return "dim";
    if (a.state !== "STATE_FIRING") return alertState(a.state).tone;
    return { critical: "bad", info: "dim" }[severity(a)] ?? "warn";
}
const TONES = ["dim", "warn", "bad"];
export const gravestTone = (all: Alert[]): string => TONES[Math.max(0, ...all.map((a) => TONES.indexOf(alertTone(a))))]!;
