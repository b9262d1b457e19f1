// SPDX-License-Identifier: BSD-3-Clause
/*
 * judge.ts - verdicts of bands and alerts, in words and with a tone. What was not published is shown as `–`.
 */
import { type Alert, type Alerts, seconds } from "./wire.ts";

export interface AlertChange {
    t: number | undefined; // event time, seconds
    key: string;
    from: string;
    to: string;
    alert: Alert;
}

const LOG_MAX = 300;

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

// Each with its tone, the gravest last.
const VERDICTS = [["unknown", "dim"], ["steady", "good"], ["rising", "warn"], ["growing", "warn"], ["leak", "bad"]] as const;
const ALERTS = [["inactive", "dim"], ["resolved", "good"], ["pending", "warn"], ["firing", "bad"]] as const;

function wordOf(all: readonly (readonly [string, string])[], key: string | undefined): { text: string; tone: string; weight: number } {
    const weight = all.findIndex(([text]) => key?.endsWith(`_${text.toUpperCase()}`)), [text, tone] = all[weight] ?? ["–", "dim"];
    return { text, tone, weight };
}
export const verdict = (v: string | undefined) => wordOf(VERDICTS, v);
export const alertState = (s: string | undefined) => wordOf(ALERTS, s);

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
