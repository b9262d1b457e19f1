// SPDX-License-Identifier: BSD-3-Clause
// Made by `make metrics` from `proto/wire/heapwatch.proto`; change that.
import type { U64 } from "./wire.ts";

export interface Update {
    target?: string; run?: number; eventTimeNs?: U64; daemon?: DaemonState; targetState?: TargetState; heap?: Heap;
    gc?: Gc; census?: Census; bands?: Bands; notes?: Notes; profile?: Profile; ticky?: Ticky; sched?: Sched;
    health?: Health; trends?: Trends; alerts?: Alerts;
}
export interface DaemonState {
    version?: string; pid?: number; targets?: string[]; rssBytes?: U64; finished?: boolean; memoryPressure?: string;
    before?: DaemonBefore;
}
export interface DaemonBefore { signal?: number; text?: string; }
export interface TargetState {
    state?: string; uri?: string; detail?: string; runInfo?: Run; runs?: number; heads?: TopicHead[];
    stateSinceWallNs?: U64; kept?: boolean; exitSignal?: number; labels?: string[]; why?: ActionResult;
}
export interface Run {
    program?: string; rtsOptions?: string[]; rtsIdentifier?: string; pid?: number; startWallNs?: U64;
    capabilities?: number; generations?: number; blockBytes?: U64; breakdown?: string; tickIntervalNs?: U64;
    noCensus?: string;
}
export interface TopicHead { kind?: string; }
export interface ActionResult {
    kind?: string; ok?: boolean; detail?: string; wallNs?: U64; attempts?: number; step?: number;
}
export interface Heap {
    liveBytes?: U64; process?: Process; sizing?: string; resident?: Resident; samples?: Samples[];
}
export interface Process { rssBytes?: U64; threads?: number; }
export interface Resident {
    rssBytes?: U64; liveBytes?: U64; keptBytes?: U64; givenBackBytes?: U64; foreignBytes?: U64; timeNs?: U64;
    text?: string;
}
export interface Samples { series?: string; timesNs?: U64[]; values?: U64[]; dropped?: U64; }
export interface Gc {
    generations?: Generation[]; copiedBytes?: U64; pauseTotalNs?: U64; gcShare?: number; nonmoving?: Nonmoving;
    collections?: Collection[]; last?: Collection[]; counted?: boolean;
}
export interface Generation {
    generation?: number; count?: U64; parallelCount?: U64; pauseTotalNs?: U64; pauseMaxNs?: U64; pauseP50Ns?: U64;
    pauseP99Ns?: U64; bucket?: number[]; bucketCount?: U64[];
}
export interface Nonmoving { markedObjects?: U64; census?: Segments[]; prunedSegments?: U64; freeSegments?: U64; }
export interface Segments { blockBytes?: number; active?: U64; filled?: U64; liveBlocks?: U64; }
export interface Collection {
    endTimeNs?: U64; pauseNs?: U64; generation?: number; copiedBytes?: U64; parallelThreads?: number;
    parallelBalancedCopiedBytes?: U64; capability?: number; major?: boolean; watchPauseNs?: U64;
}
export interface Census {
    number?: U64; timeNs?: U64; totalBytes?: U64; band?: number[]; bytes?: U64[]; unfinished?: boolean; spread?: number;
    closures?: U64[]; contents?: BandContents[];
}
export interface BandContents { band?: number; bytes?: U64; name?: string; ofBytes?: U64; }
export interface Bands { bands?: BandDef[]; }
export interface BandDef {
    id?: number; label?: string; stack?: CostCentre[]; infoTable?: InfoTable; firstSeenNs?: U64; key?: U64;
}
export interface CostCentre { id?: number; label?: string; module?: string; source?: string; caf?: boolean; }
export interface InfoTable {
    name?: string; closureType?: string; type?: string; label?: string; module?: string; source?: string;
}
export interface Notes { notes?: Note[]; dropped?: U64; }
export interface Note {
    number?: U64; timeNs?: U64; what?: string; capability?: number; thread?: number; text?: string; sizeBytes?: U64;
}
export interface Profile { ticks?: U64; stacks?: Stack[]; sampled?: boolean; }
export interface Stack { id?: number; ticks?: U64; centres?: CostCentre[]; thread?: U64; }
export interface Ticky { counters?: TickyCounter[]; }
export interface TickyCounter {
    id?: U64; name?: string; arity?: number; argumentKinds?: string; entries?: U64; allocs?: U64; allocd?: U64;
}
export interface Sched { stops?: StopReason[]; capabilities?: Capability[]; }
export interface StopReason { status?: number; reason?: string; count?: U64; }
export interface Capability { number?: number; runNs?: U64; gcNs?: U64; runs?: U64; disabled?: boolean; }
export interface Health {
    bytes?: U64; blocks?: U64; lostBytes?: U64; damages?: Damage[]; lastBytesWallNs?: U64; advice?: Advice[];
    infoTables?: U64; infoTablesLeftOut?: U64; costCentresLeftOut?: U64; watermarkNs?: U64; gaps?: U64;
    recording?: Recording; memoryPressure?: string;
}
export interface Damage { offset?: U64; lostBytes?: U64; reason?: string; }
export interface Advice { text?: string; }
export interface Recording {
    active?: boolean; paused?: boolean; detail?: string; bytes?: U64; lostBytes?: U64; diskBytes?: U64;
}
export interface Trends { trends?: Trend[]; scale?: TrendScale; early?: EarlyWarning; threads?: ThreadRise; }
export interface Trend {
    series?: string; band?: number; verdict?: string; sinceNs?: U64; slope?: number; slopeLow?: number;
    slopeHigh?: number; onsetNs?: U64; sentence?: string; key?: string; word?: string;
}
export interface TrendScale { sentence?: string; }
export interface EarlyWarning {
    series?: string; rate?: number; sinceStart?: boolean; sentence?: string; bands?: GrowingBand[]; key?: string;
}
export interface GrowingBand {
    band?: number; label?: string; verdict?: string; slope?: number; onsetNs?: U64; bytes?: U64; threads?: U64;
}
export interface ThreadRise {
    threads?: number; rate?: number; sinceStart?: boolean; sentence?: string; label?: string;
}
export interface Alerts { alerts?: Alert[]; }
export interface Alert {
    rule?: string; group?: string; severity?: string; state?: string; unknown?: boolean; band?: number;
    bandLabel?: string; value?: number; valueText?: string; expr?: string; thresholdText?: string; sinceNs?: U64;
    firedNs?: U64; resolvedNs?: U64; firedWallNs?: U64; labels?: Label[]; annotations?: Label[]; sentence?: string;
    silenced?: boolean; silence?: Silence; actions?: ActionResult[]; run?: number; sinceWallNs?: U64;
    resolvedWallNs?: U64; partOf?: string; wholeSeverity?: string;
}
export interface Label { name?: string; value?: string; }
export interface Silence { why?: string; id?: U64; rule?: string; target?: string; }
