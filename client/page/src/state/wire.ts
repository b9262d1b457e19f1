// SPDX-License-Identifier: BSD-3-Clause
/*
 * wire.ts - the messages as JSON (proto/wire/heapwatch.proto in proto3's mapping: 64-bit integers are strings, absent is unknown)
 * and the envelope around them (docs/WEB.md). Only what the page reads.
 */
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

export interface Run {
    program?: string; arguments?: string[]; rtsOptions?: string[]; rtsIdentifier?: string; ghcVersion?: string; rtsWay?: string;
    threaded?: boolean; profiled?: boolean; pid?: number; parentPid?: number; startWallNs?: U64; capabilities?: number;
    generations?: number; maxHeapBytes?: U64; allocationAreaBytes?: U64; megablockBytes?: U64; blockBytes?: U64;
    breakdown?: string; censusPeriodNs?: U64; tickIntervalNs?: U64; local?: boolean;
}
export interface TargetState { state?: string; uri?: string; detail?: string; runInfo?: Run; runs?: number; stateSinceWallNs?: U64; labels?: string[]; kept?: boolean; exitSignal?: number; exitStatus?: number; joinedLate?: boolean; passedBytes?: U64 }
export interface Samples { series?: string; timesNs?: U64[]; values?: U64[]; dropped?: U64 }
export interface Process {
    rssBytes?: U64; pssBytes?: U64; swapBytes?: U64; cpuNs?: U64; threads?: number; cgroupCurrentBytes?: U64; cgroupMaxBytes?: U64;
}
export interface Resident {
    rssBytes?: U64; liveBytes?: U64; reserveBytes?: U64; keptBytes?: U64; givenBackBytes?: U64; filesBytes?: U64; foreignBytes?: U64;
    unknownBytes?: U64; absentBytes?: U64; timeNs?: U64; sampledWallNs?: U64; heapTimeNs?: U64; text?: string;
}
export interface Heap {
    liveBytes?: U64; liveTimeNs?: U64; heapSizeBytes?: U64; blocksSizeBytes?: U64; megablocksHeld?: number;
    megablocksNeeded?: number; megablocksReturned?: number; allocatedBytes?: U64; allocationRateBps?: number; maxLiveBytes?: U64;
    liveSamples?: U64; maxHeapSizeBytes?: U64; process?: Process; samples?: Samples[]; neededHeapBytes?: U64; unneededBytes?: U64; sizing?: string;
    resident?: Resident;
}
export interface Generation {
    generation?: number; count?: U64; parallelCount?: U64; pauseTotalNs?: U64; pauseMaxNs?: U64; pauseP50Ns?: U64; pauseP99Ns?: U64;
    bucket?: number[]; bucketCount?: U64[];
}
export interface Collection {
    endTimeNs?: U64; pauseNs?: U64; generation?: number; copiedBytes?: U64; slopBytes?: U64; fragmentationBytes?: U64;
    parallelThreads?: number; parallelMaxCopiedBytes?: U64; parallelBalancedCopiedBytes?: U64; capability?: number; major?: boolean;
}
export interface Segments { blockBytes?: number; active?: U64; filled?: U64; liveBlocks?: U64 }
export interface Nonmoving {
    cycles?: U64; markTotalNs?: U64; syncTotalNs?: U64; syncMaxNs?: U64; sweepTotalNs?: U64; markedObjects?: U64;
    census?: Segments[]; prunedSegments?: U64; freeSegments?: U64;
}
export interface Gc {
    generations?: Generation[]; copiedBytes?: U64; maxSlopBytes?: U64; slopBytes?: U64; fragmentationBytes?: U64;
    pauseTotalNs?: U64; syncTotalNs?: U64; censusPauseNs?: U64; gcShare?: number; gcShareRun?: number; parallelBalance?: number; unmatched?: U64;
    nonmoving?: Nonmoving; collections?: Collection[]; collectionsDropped?: U64;
}
export interface Census {
    number?: U64; timeNs?: U64; totalBytes?: U64; band?: number[]; bytes?: U64[]; rowsLeftOut?: U64; bytesLeftOut?: U64;
    unfinished?: boolean;
}
export interface CostCentre { id?: number; label?: string; module?: string; source?: string; caf?: boolean }
export interface InfoTable { name?: string; closureType?: string; type?: string; label?: string; module?: string; source?: string }
// Of when the bands are (client/answers/census.h): the age of the last census is between the two texts.
export interface CensusAge { timeNs?: U64; totalBytes?: U64; stale?: boolean; none?: string; before?: string; after?: string }
export interface BandDef { id?: number; label?: string; stack?: CostCentre[]; infoTable?: InfoTable; firstSeenNs?: U64; key?: U64 }
export interface Note { number?: U64; timeNs?: U64; what?: string; capability?: number; thread?: number; text?: string; sizeBytes?: U64 }
export interface Notes { notes?: Note[]; dropped?: U64 }
export interface Stack { id?: number; ticks?: U64; centres?: CostCentre[] }
export interface Profile { ticks?: U64; stacks?: Stack[]; stacksLeftOut?: U64 }
export interface TickyCounter {
    id?: U64; name?: string; arity?: number; argumentKinds?: string; entries?: U64; allocs?: U64; allocd?: U64;
}
export interface Capability { number?: number; runNs?: U64; gcNs?: U64; runs?: U64; disabled?: boolean }
export interface Sparks {
    created?: U64; dud?: U64; overflowed?: U64; converted?: U64; collected?: U64; fizzled?: U64; remaining?: U64;
}
export interface Sched {
    threadsCreated?: U64; threadsFinished?: U64; migrations?: U64; wakeups?: U64;
    stops?: { status?: number; reason?: string; count?: U64 }[]; sparks?: Sparks; capabilities?: Capability[];
}
export interface Recording {
    active?: boolean; paused?: boolean; detail?: string; bytes?: U64; lostBytes?: U64; diskBytes?: U64;
}
export interface Health {
    recording?: Recording;
    damages?: { offset?: U64; lostBytes?: U64; reason?: string }[]; advice?: { code?: number; text?: string }[];
    lagNs?: U64; lastBytesWallNs?: U64; watermarkNs?: U64; lostBytes?: U64; [other: string]: unknown;
}
export interface DaemonState {
    version?: string; pid?: number; startedWallNs?: U64; targets?: string[]; rssBytes?: U64; requests?: U64; badRequests?: U64; pacedRequests?: U64;
    finished?: boolean; memoryPressure?: string;
}

export interface WindowStatistics {
    windowNs?: U64; fromNs?: U64; toNs?: U64; count?: U64; min?: number; max?: number; mean?: number; stddev?: number; last?: number;
    p50?: number; p90?: number; p99?: number; integral?: number; intercept?: number; slope?: number; fit?: number;
    normalisedSlope?: number; normalisedIntercept?: number; normalisedFit?: number;
}
export interface Trend {
    series?: string; band?: number; verdict?: string; sinceNs?: U64; asOfNs?: U64; slope?: number; slopeLow?: number; slopeHigh?: number;
    onsetNs?: U64; noteBefore?: { text?: string }; noteAfter?: { text?: string }; sentence?: string; gainedBytes?: number;
    gainedLowBytes?: number; windows?: WindowStatistics[]; evidence?: { missing?: string };
}
export interface GrowingBand { band?: number; label?: string; verdict?: string; slope?: number; gainedBytes?: number; bytes?: U64; onsetNs?: U64 }
export interface Growth { where?: string; sentence?: string; live?: string; heap?: string; rss?: string; foreign?: string;
    foreignBytes?: U64; bands?: GrowingBand[] }
export interface TimeToLimit { limitBytes?: U64; lowNs?: U64; midNs?: U64; highNs?: U64; sentence?: string }
export interface Trends { trends?: Trend[]; growth?: Growth; timeToLimit?: TimeToLimit; scale?: { sentence?: string }; bandsLeftOut?: U64; limitBytes?: U64; limitSource?: string }

export interface Alert {
    rule?: string; group?: string; severity?: string; state?: string; unknown?: boolean; band?: number; bandLabel?: string; partOf?: string; wholeSeverity?: string; value?: number;
    valueText?: string; expr?: string; thresholdText?: string; sinceNs?: U64; firedNs?: U64; resolvedNs?: U64; firedWallNs?: U64; sinceWallNs?: U64; resolvedWallNs?: U64;
    annotations?: { name?: string; value?: string }[]; sentence?: string; silenced?: boolean;
    silence?: { rule?: string; target?: string; untilWallNs?: U64; why?: string }; actions?: { kind?: string; ok?: boolean; detail?: string; attempts?: number }[]; run?: number;
}
export interface Alerts { alerts?: Alert[]; leftOut?: U64 }

export interface Update {
    target?: string; run?: number; eventTimeNs?: U64; publishedWallNs?: U64;
    daemon?: DaemonState; targetState?: TargetState; heap?: Heap; gc?: Gc; census?: Census; bands?: { bands?: BandDef[] };
    notes?: Notes; profile?: Profile; ticky?: { counters?: TickyCounter[] }; sched?: Sched; health?: Health;
    trends?: Trends; alerts?: Alerts;
}

// What every face says of a target (client/answers); for targets that are not opened only the first answer.
export interface Answer { key: string; question: string; tone: string; text: string; timeNs?: U64; after?: string }
export interface AccountRow { key: string; tone: string; text?: string; timeNs?: U64; after?: string }
export interface Answers {
    daemon?: number; target?: string; run?: number; word?: string; tone?: string; rank?: number; slope?: number; onsetNs?: U64; limitInNs?: U64; band?: number;
    culprit?: string; note?: string; answers?: Answer[]; caveats?: string[]; census?: CensusAge; postMortem?: AccountRow[];
}

export interface Tagged { daemon?: number; update: Update }

export interface DaemonInfo { daemon: number; endpoint?: string; stale?: boolean; heardWallNs?: U64 }

export interface StateMessage {
    server: { version?: string; live?: boolean; control?: boolean; nowWallNs?: U64; files?: string[]; targets?: string[] };
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
export interface Change { new: number | null; baseline: number | null; change: number | null; low: number | null; high: number | null; changeShare: number | null; interval: string }
export interface Quantity extends Change { name: string; title: string; unit: string }
export interface Diff { quantities: Quantity[]; notes: string[] }

export interface ReportData { diff?: Diff; meta: ReportMeta; state: StateMessage; history: { items: HistoryItem[]; grids?: number[][]; gridEnds?: number[][] } }
