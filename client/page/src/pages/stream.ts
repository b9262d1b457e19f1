// SPDX-License-Identifier: BSD-3-Clause
/*
 * stream.ts - the health of the stream itself: what arrived, what was lost, what is missing and which flag would add it.
 */
import type { App, Page } from "../app.ts";
import { h, label, replace, setLabel } from "../dom.ts";
import { num, type Recording, type U64 } from "../state/wire.ts";
import { bytes, count, duration, moment, UNKNOWN } from "../units.ts";
import { type Fact, Facts, number, stateText } from "../widgets/facts.ts";
import { Table } from "../widgets/table.ts";
import { title } from "./common.ts";

interface Damage { offset?: U64; lostBytes?: U64; reason?: string }

// What the flight recorder has of this run; none where nothing is recorded.
function recorded(r: Recording | undefined): Fact[] {
    if (!r) return [];
    const lost = num(r.lostBytes) ?? 0;
    return [
        { name: "recording", value: r.paused ? `paused: ${r.detail || UNKNOWN}` : r.active ? "on" : "between runs", text: true },
        { name: "recorded", value: bytes((num(r.bytes) ?? 0) - lost), hint: "of this run, on disk or on its way there" },
        { name: "not recorded", value: bytes(lost), hint: "of this run: the disk was full, gone or too slow" },
        { name: "all recordings", value: bytes(num(r.diskBytes)), hint: "of this daemon, compressed on its disk" },
    ];
}

export function stream(app: App): Page {
    const heading = title("Stream health"), groups = [new Facts(), new Facts(), new Facts(), new Facts()];
    const advice = h("ul", { class: "trail" });
    const adviceCard = h("section", { class: "card" }, h("div", { class: "tablehead" }, h("h3", {}, "What is missing, and how to get it")), advice);
    const damages = new Table<Damage>({ id: "damages", title: "Damage", route: app.route, sort: "-offset", key: (d) => String(d.offset), empty: "No damage seen.", columns: [
        { id: "offset", title: "Offset", width: "140px", value: (d) => num(d.offset), text: (d) => count(num(d.offset)) },
        { id: "lost", title: "Lost", width: "110px", value: (d) => num(d.lostBytes), text: (d) => bytes(num(d.lostBytes)) },
        { id: "reason", title: "Reason", width: "minmax(260px, 1fr)", left: true, value: (d) => d.reason, draw: (c, d) => setLabel(c, d.reason ?? UNKNOWN) },
    ] });
    const all = new Table<[string, number, string]>({ id: "numbers", title: "All numbers", route: app.route, sort: "name", key: ([name]) => name, height: 320, empty: "Nothing is known yet.", columns: [
        { id: "name", title: "Number", width: "minmax(180px, 1fr)", narrow: "minmax(0, 1fr)", left: true, value: ([name]) => name },
        { id: "value", title: "Value", width: "130px", narrow: "100px", value: ([, value]) => value, text: ([, , text]) => text },
        { id: "what", title: "What it is", width: "minmax(260px, 3fr)", left: true, wide: true, value: ([name]) => app.target()?.help[name] },
    ] });
    const names = ["Source", "Arrived", "Lost or left out", "Program and daemon"];
    const root = h("div", { class: "stack" }, h("div", { class: "pagehead" }, heading.root), adviceCard,
        h("div", { class: "columns two" }, ...groups.map((g, i) => h("section", { class: "card" }, h("div", { class: "tablehead" }, h("h3", {}, names[i]!)), g.root))), damages.root, all.root);

    function update(): void {
        const t = app.target();
        heading.set(t);
        if (!t) return;
        const n = t.health, run = t.state?.runInfo, daemon = app.view.daemons.get(t.daemon);
        const the = (id: string, name: string) => number(t, id, name);
        const wall = (ns: U64 | undefined) => (num(ns) === undefined ? UNKNOWN : moment(num(ns)!));
        groups[0]!.show([
            { name: "source", value: t.state?.uri ?? UNKNOWN, text: true }, { name: "state", value: stateText(t.state) },
            { name: "because", value: t.state?.detail || UNKNOWN, text: true }, { name: "since", value: wall(t.state?.stateSinceWallNs) },
            the("runs", "runs seen"), the("stream_reconnects", "reconnects"), { ...the("stream_gap_ns", "missed in gaps"), ...(n?.gaps ? {} : { value: UNKNOWN }) }, { name: "bytes last arrived", value: wall(n?.lastBytesWallNs) },
            the("stream_lag_ns", "lag"),
        ]);
        groups[1]!.show([the("stream_bytes", "bytes"), the("stream_passed_bytes", "passed over"), the("stream_events", "events"), the("stream_blocks", "blocks"), { name: "event time", value: duration(t.eventTime * 1e9) },
            { name: "complete up to", value: duration(num(n?.watermarkNs)) }, { name: "info tables", value: count(num(n?.infoTables)) }, ...recorded(n?.recording)]);
        groups[2]!.show([the("stream_lost_bytes", "bytes lost"), the("stream_resyncs", "resynchronised"), the("stream_unknown_events", "unknown events"), the("stream_short_events", "truncated events"),
            the("stream_late_samples", "late samples"), the("stream_time_anomalies", "times out of order"), the("bands_left_out", "bands beyond the limit"),
            { name: "info tables beyond the limit", value: count(num(n?.infoTablesLeftOut)) }, { name: "cost centres beyond the limit", value: count(num(n?.costCentresLeftOut)) }]);
        groups[3]!.show([
            { name: "program", value: run?.program ?? UNKNOWN, text: true }, { name: "runtime", value: run?.rtsIdentifier ?? UNKNOWN, text: true },
            { name: "labels", value: t.state?.labels?.join(", ") || UNKNOWN, text: true },
            { name: "RTS options", value: run?.rtsOptions?.join(" ") || UNKNOWN, text: true }, { name: "process", value: run?.pid === undefined ? UNKNOWN : String(run.pid) },
            { name: "started", value: wall(run?.startWallNs) }, the("capabilities", "capabilities"),
            { name: "daemon", value: daemon?.endpoint ?? UNKNOWN, text: true }, { name: "daemon's version", value: daemon?.state?.version ?? UNKNOWN },
            { name: "daemon's memory", value: bytes(num(daemon?.state?.rssBytes)) }, the("state_bytes", "held for this target"),
        ]);
        const list = n?.advice ?? [];
        adviceCard.hidden = !list.length;
        replace(advice, ...list.map((a) => h("li", {}, label(a.text ?? "", "note-long"))));
        damages.show(n?.damages ?? []);
        all.show(Object.entries(t.answers?.numbers ?? {}).map(([name, [value, text]]) => [name, value, text]));
    }
    return { root, update, done: () => [damages, all].forEach((w) => w.done()) };
}
