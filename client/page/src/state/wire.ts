// SPDX-License-Identifier: BSD-3-Clause
/*
 * wire.ts - the envelope around messages (docs/WEB.md). Those are JSON in proto3's mapping: 64-bit integers are strings, absent is unknown.
 */
import type { CpuProfile } from "./cpu.ts";
import type { ThreadsRead } from "./groups.ts";
import type { HeapRead } from "./held.ts";
import type { Update } from "./messages.ts";

export type * from "./messages.ts";
export type U64 = string | number;

export function num(x: U64 | undefined | null): number | undefined {
    if (x === undefined || x === null || x === "") return undefined;
    const n = Number(x);
    return Number.isFinite(n) ? n : undefined;
}

// ns as text to seconds.
export function seconds(ns: U64 | undefined): number | undefined {
    const n = num(ns);
    return n === undefined ? undefined : n / 1e9;
}

// Of when the bands are (client/answers/census.h): the age of the last census is between the two texts.
export interface CensusAge { timeNs?: U64; totalBytes?: U64; stale?: boolean; none?: string; before?: string; after?: string }

// What every face says of a target (client/answers); for targets that are not opened only the first answer.
export interface Answer { key: string; question: string; tone: string; text: string; timeNs?: U64; after?: string }
export interface AccountRow { key: string; tone: string; text?: string; timeNs?: U64; after?: string }
export interface Answers {
    daemon?: number; target?: string; run?: number; eventTimeNs?: U64; knownUntilNs?: U64; word?: string; tone?: string; rank?: number; slope?: number; onsetNs?: U64; onset?: string; onsetIsLatest?: boolean; limitInNs?: U64; liveAgeNs?: U64; band?: number;
    culprit?: string; note?: string; answers?: Answer[]; caveats?: string[]; census?: CensusAge; commands?: number; postMortem?: AccountRow[];
    noCensus?: string; // why there is none
    noScheduler?: string; // why there is nothing of threads and capabilities
    numbers?: Record<string, [number, string]>; // those of the table of facts that are known, each with its text
    limit?: [number, string, string]; // bytes, their text, what sets it
}

export interface Tagged { daemon?: number; update: Update }

export interface DaemonInfo { daemon: number; endpoint?: string; stale?: boolean; heardWallNs?: U64 }

export interface StateMessage {
    numbers?: Record<string, string>; // what each number is
    server: { version?: string; live?: boolean; control?: boolean; commands?: string[]; nowWallNs?: U64; files?: string[]; targets?: string[] };
    daemons: DaemonInfo[];
    updates: Tagged[];
    answers?: Answers[];
}

export interface BandStats {
    samples?: number; censuses?: number; sum?: number; integrated?: number; mean?: number; stddev?: number; max?: number;
    intercept?: number; slope?: number; fit?: number; slopeBytesPerS?: number; interceptBytes?: number;
}
export interface HistoryItem {
    daemon?: number; target: string; run?: number; series?: string; band?: number; label?: string; unit?: string; width?: number;
    times?: number[]; ends?: number[]; last?: number[]; mean?: number[]; min?: number[]; max?: number[]; count?: number[]; stats?: BandStats; error?: string;
    thinned?: boolean;
}

export interface Options {
    bands?: number; sort?: string; reverse?: boolean; include?: string[]; exclude?: string[]; traces?: boolean;
    traceEvents?: boolean; yAxis?: number | null;
}
export interface ReportMeta {
    version?: string; madeWallNs?: U64; options?: Options;
    logs?: { daemon?: number; target?: string; file?: string; sizeBytes?: U64; thinned?: boolean; thinning?: string }[];
}
// What `heapwatch diff` says of the two logs of a report (docs/DIFF.md). Unknown numbers are null.
export interface Quantity {
    name: string; title: string; new: number | null; baseline: number | null; change: number | null; changeShare: number | null;
    text: [baseline: string, new: string, change: string, interval: string];
}
export interface Diff { quantities: Quantity[]; notes: string[] }

type Kept<T> = (T & { daemon?: number; target: string })[];
export interface ReportData {
    diff?: Diff; meta: ReportMeta; state: StateMessage; history: { items: HistoryItem[]; grids?: number[][]; gridEnds?: number[][] };
    profiles?: Kept<CpuProfile>; heaps?: Kept<HeapRead>; threads?: Kept<ThreadsRead>;
}
