// SPDX-License-Identifier: BSD-3-Clause
// Made by `make metrics` from `proto/wire/heapwatch.proto`; change that.
import type { U64 } from "./wire.ts";

export interface Update {
    epoch?: U64; sequence?: U64; target?: string; run?: number; eventTimeNs?: U64; publishedWallNs?: U64;
    daemon?: DaemonState; targetState?: TargetState; heap?: Heap; gc?: Gc; census?: Census; bands?: Bands;
    notes?: Notes; profile?: Profile; ticky?: Ticky; sched?: Sched; health?: Health; trends?: Trends; alerts?: Alerts;
}
export interface DaemonState {
    version?: string; pid?: number; startedWallNs?: U64; targets?: string[]; rssBytes?: U64; requests?: U64;
    badRequests?: U64; finished?: boolean; actionsDone?: U64; actionsFailed?: U64; actionsDropped?: U64;
    notifier?: Notifier; longestTurn?: LoopTurn; recentTurn?: LoopTurn; loop?: LoopShare[]; connectionsRefused?: U64;
    descriptorsLimit?: U64; memoryBudgetBytes?: U64; memoryPressure?: string; controlRequests?: U64;
    forbiddenRequests?: U64; strangersRefused?: U64; listen?: string; authorizedKeys?: U64; handshakesAdmitted?: U64;
    handshakesRefused?: U64; handshakesFailed?: U64; connectionsShut?: U64; subscribersDisconnected?: U64;
    before?: DaemonBefore; checkpointFailure?: string; checkpointFailureWallNs?: U64; pacedRequests?: U64;
}
export interface Notifier {
    state?: string; pid?: number; restarts?: number; detail?: string; heardWallNs?: U64;
}
export interface LoopTurn {
    kind?: string; wallNs?: U64; cpuNs?: U64; target?: string; endedWallNs?: U64;
}
export interface LoopShare {
    kind?: string; turns?: U64; timeNs?: U64; longestNs?: U64;
}
export interface DaemonBefore {
    signal?: number; startedWallNs?: U64; endedWallNs?: U64; inARow?: number; text?: string;
}
export interface TargetState {
    state?: string; uri?: string; detail?: string; runInfo?: Run; runs?: number; heads?: TopicHead[];
    stateSinceWallNs?: U64; kept?: boolean; exitStatus?: number; exitSignal?: number; oomKilled?: boolean;
    joinedLate?: boolean; passedBytes?: U64; labels?: string[]; processOnlyReason?: string; why?: ActionResult;
}
export interface Run {
    program?: string; arguments?: string[]; rtsOptions?: string[]; rtsIdentifier?: string; ghcVersion?: string;
    rtsWay?: string; threaded?: boolean; profiled?: boolean; pid?: number; parentPid?: number; startWallNs?: U64;
    capabilities?: number; generations?: number; maxHeapBytes?: U64; allocationAreaBytes?: U64; megablockBytes?: U64;
    blockBytes?: U64; breakdown?: string; censusPeriodNs?: U64; tickIntervalNs?: U64; local?: boolean;
    processOnly?: boolean; firstTimeNs?: U64; noCensus?: string;
}
export interface TopicHead {
    kind?: string; sequence?: U64;
}
export interface ActionResult {
    kind?: string; ok?: boolean; detail?: string; wallNs?: U64; attempts?: number; step?: number;
}
export interface Heap {
    liveBytes?: U64; liveTimeNs?: U64; heapSizeBytes?: U64; blocksSizeBytes?: U64; megablocksHeld?: number;
    megablocksNeeded?: number; megablocksReturned?: number; allocatedBytes?: U64; allocationRateBps?: number;
    maxLiveBytes?: U64; liveSamples?: U64; maxHeapSizeBytes?: U64; process?: Process; neededHeapBytes?: U64;
    unneededBytes?: U64; sizing?: string; resident?: Resident; samples?: Samples[]; fact?: number[];
    factValue?: number[];
}
export interface Process {
    rssBytes?: U64; pssBytes?: U64; swapBytes?: U64; cpuNs?: U64; threads?: number; cgroupCurrentBytes?: U64;
    cgroupMaxBytes?: U64; sampledWallNs?: U64; cgroupShared?: boolean; cgroup?: string; minorFaults?: U64;
    majorFaults?: U64; addressSpaceBytes?: U64; addressSpaceLimitBytes?: U64;
}
export interface Resident {
    rssBytes?: U64; liveBytes?: U64; reserveBytes?: U64; keptBytes?: U64; givenBackBytes?: U64; filesBytes?: U64;
    foreignBytes?: U64; unknownBytes?: U64; absentBytes?: U64; timeNs?: U64; sampledWallNs?: U64; heapTimeNs?: U64;
    text?: string; mapped?: MappedFile[]; liveTimeNs?: U64; sharedBytes?: U64;
}
export interface MappedFile {
    path?: string; residentBytes?: U64; dirtyBytes?: U64; heldBytes?: U64;
}
export interface Samples {
    series?: string; timesNs?: U64[]; values?: U64[]; dropped?: U64;
}
export interface Gc {
    generations?: Generation[]; copiedBytes?: U64; maxSlopBytes?: U64; slopBytes?: U64; fragmentationBytes?: U64;
    pauseTotalNs?: U64; syncTotalNs?: U64; gcShare?: number; gcShareRun?: number; parallelBalance?: number;
    unmatched?: U64; nonmoving?: Nonmoving; collections?: Collection[]; collectionsDropped?: U64; censusPauseNs?: U64;
    last?: Collection[]; counted?: boolean;
}
export interface Generation {
    generation?: number; count?: U64; parallelCount?: U64; pauseTotalNs?: U64; pauseMaxNs?: U64; pauseP50Ns?: U64;
    pauseP99Ns?: U64; bucket?: number[]; bucketCount?: U64[];
}
export interface Nonmoving {
    cycles?: U64; markTotalNs?: U64; syncTotalNs?: U64; syncMaxNs?: U64; sweepTotalNs?: U64; markedObjects?: U64;
    census?: Segments[]; prunedSegments?: U64; freeSegments?: U64;
}
export interface Segments {
    blockBytes?: number; active?: U64; filled?: U64; liveBlocks?: U64;
}
export interface Collection {
    endTimeNs?: U64; pauseNs?: U64; generation?: number; copiedBytes?: U64; slopBytes?: U64; fragmentationBytes?: U64;
    parallelThreads?: number; parallelMaxCopiedBytes?: U64; parallelBalancedCopiedBytes?: U64; capability?: number;
    major?: boolean; watchPauseNs?: U64;
}
export interface Census {
    number?: U64; timeNs?: U64; totalBytes?: U64; band?: number[]; bytes?: U64[]; rowsLeftOut?: U64; bytesLeftOut?: U64;
    unfinished?: boolean; outside?: boolean; spread?: number; closures?: U64[]; contents?: BandContents[];
}
export interface BandContents {
    band?: number; bytes?: U64; name?: string;
}
export interface Bands {
    bands?: BandDef[];
}
export interface BandDef {
    id?: number; label?: string; stack?: CostCentre[]; infoTable?: InfoTable; firstSeenNs?: U64; key?: U64;
    firstBytes?: U64;
}
export interface CostCentre {
    id?: number; label?: string; module?: string; source?: string; caf?: boolean;
}
export interface InfoTable {
    name?: string; closureType?: string; type?: string; label?: string; module?: string; source?: string;
}
export interface Notes {
    notes?: Note[]; dropped?: U64;
}
export interface Note {
    number?: U64; timeNs?: U64; what?: string; capability?: number; thread?: number; text?: string; sizeBytes?: U64;
}
export interface Profile {
    ticks?: U64; stacks?: Stack[]; stacksLeftOut?: U64; sampled?: boolean;
}
export interface Stack {
    id?: number; ticks?: U64; centres?: CostCentre[]; thread?: U64;
}
export interface Ticky {
    counters?: TickyCounter[];
}
export interface TickyCounter {
    id?: U64; name?: string; arity?: number; argumentKinds?: string; entries?: U64; allocs?: U64; allocd?: U64;
}
export interface Sched {
    threadsCreated?: U64; threadsFinished?: U64; migrations?: U64; wakeups?: U64; stops?: StopReason[]; sparks?: Sparks;
    capabilities?: Capability[];
}
export interface StopReason {
    status?: number; reason?: string; count?: U64;
}
export interface Sparks {
    created?: U64; dud?: U64; overflowed?: U64; converted?: U64; collected?: U64; fizzled?: U64; remaining?: U64;
}
export interface Capability {
    number?: number; runNs?: U64; gcNs?: U64; runs?: U64; disabled?: boolean;
}
export interface Health {
    bytes?: U64; events?: U64; blocks?: U64; unknownEvents?: U64; shortEvents?: U64; lostBytes?: U64; resyncs?: U64;
    damages?: Damage[]; lateSamples?: U64; reconnects?: U64; lastBytesWallNs?: U64; lagNs?: U64; advice?: Advice[];
    bandsLeftOut?: U64; infoTables?: U64; infoTablesLeftOut?: U64; costCentresLeftOut?: U64; stateBytes?: U64;
    watermarkNs?: U64; timeAnomalies?: U64; gaps?: U64; gapNs?: U64; unread?: string; recording?: Recording;
    memoryPressure?: string;
}
export interface Damage {
    offset?: U64; lostBytes?: U64; reason?: string;
}
export interface Advice {
    code?: number; text?: string;
}
export interface Recording {
    active?: boolean; paused?: boolean; detail?: string; bytes?: U64; lostBytes?: U64; lostFrames?: U64;
    diskBytes?: U64;
}
export interface Trends {
    trends?: Trend[]; growth?: Growth; timeToLimit?: TimeToLimit; scale?: TrendScale; bandsLeftOut?: U64;
    lateSamples?: U64; limitBytes?: U64; limitSource?: string; early?: EarlyWarning; threads?: ThreadRise;
}
export interface Trend {
    series?: string; band?: number; verdict?: string; sinceNs?: U64; asOfNs?: U64; slope?: number; slopeLow?: number;
    slopeHigh?: number; onsetNs?: U64; noteBefore?: Note; noteAfter?: Note; evidence?: Evidence; sentence?: string;
    gainedBytes?: number; gainedLowBytes?: number; windows?: WindowStatistics[]; provisionalSlope?: number;
    provisionalLow?: number; provisionalHigh?: number; provisionalSpanNs?: U64; verdictInNs?: U64; verdictByNs?: U64;
    onsetErrorNs?: U64; key?: string; word?: string;
}
export interface Evidence {
    basis?: string; spanNs?: U64; endedNs?: U64; points?: number; z?: number; levelBytes?: number;
    sureRiseBytes?: number; recordBytes?: number; lifeRatio?: number; missing?: string;
}
export interface WindowStatistics {
    windowNs?: U64; fromNs?: U64; toNs?: U64; count?: U64; min?: number; max?: number; mean?: number; stddev?: number;
    last?: number; p50?: number; p90?: number; p99?: number; integral?: number; intercept?: number; slope?: number;
    fit?: number; normalisedSlope?: number; normalisedIntercept?: number; normalisedFit?: number; sum?: number;
}
export interface Growth {
    where?: string; sentence?: string; live?: string; heap?: string; rss?: string; foreign?: string; asOfNs?: U64;
    liveSlope?: number; heapSlope?: number; blocksSlope?: number; rssSlope?: number; foreignSlope?: number;
    foreignBytes?: U64; slopBytes?: U64; fragmentationBytes?: U64; megablocksHeld?: number; megablocksNeeded?: number;
    megablocksReturned?: number; nonmovingBytes?: U64; nonmovingLiveBytes?: U64; bands?: GrowingBand[]; key?: string;
}
export interface GrowingBand {
    band?: number; label?: string; verdict?: string; slope?: number; gainedBytes?: number; gainedLowBytes?: number;
    spanNs?: U64; onsetNs?: U64; bytes?: U64; threads?: U64; threadSlope?: number; threadSlopeLow?: number;
    threadSlopeHigh?: number;
}
export interface TimeToLimit {
    limitBytes?: U64; source?: string; series?: string; lowNs?: U64; midNs?: U64; highNs?: U64; heapOverLive?: number;
    asOfNs?: U64; sentence?: string;
}
export interface TrendScale {
    resolutionNs?: U64; leakAfterNs?: U64; automatic?: boolean; sentence?: string;
}
export interface EarlyWarning {
    series?: string; rising?: boolean; runsOut?: boolean; levelBytes?: number; baseBytes?: number; rate?: number;
    rateLow?: number; rateHigh?: number; onsetFromNs?: U64; onsetToNs?: U64; sinceStart?: boolean; limitBytes?: U64;
    limitSource?: string; soonestNs?: U64; latestNs?: U64; asOfNs?: U64; sentence?: string; noteBefore?: Note;
    noteAfter?: Note; bands?: GrowingBand[]; explainedShare?: number; censusTimeNs?: U64; heldBack?: boolean;
    levelTimeNs?: U64; midNs?: U64; atLimit?: boolean; key?: string;
}
export interface ThreadRise {
    threads?: number; threadsBefore?: number; rate?: number; rateLow?: number; rateHigh?: number; onsetFromNs?: U64;
    onsetToNs?: U64; sinceStart?: boolean; asOfNs?: U64; sentence?: string; label?: string; labelThreads?: U64;
    labelTimeNs?: U64;
}
export interface Alerts {
    alerts?: Alert[]; leftOut?: U64; rulesGeneration?: U64;
}
export interface Alert {
    rule?: string; group?: string; severity?: string; state?: string; unknown?: boolean; band?: number;
    bandLabel?: string; value?: number; valueText?: string; expr?: string; thresholdText?: string; sinceNs?: U64;
    firedNs?: U64; resolvedNs?: U64; firedWallNs?: U64; labels?: Label[]; annotations?: Label[]; sentence?: string;
    silenced?: boolean; silence?: Silence; actions?: ActionResult[]; run?: number; evaluatedNs?: U64;
    bandSource?: string; bandName?: string; fingerprint?: U64; sinceWallNs?: U64; resolvedWallNs?: U64; partOf?: string;
    wholeSeverity?: string;
}
export interface Label {
    name?: string; value?: string;
}
export interface Silence {
    untilWallNs?: U64; why?: string; id?: U64; rule?: string; target?: string; createdWallNs?: U64;
}
