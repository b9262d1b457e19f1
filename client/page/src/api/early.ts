// SPDX-License-Identifier: BSD-3-Clause
/*
 * early.ts - takes over the requests of src/early.ts, once each, when they are the ones that are wanted.
 */
export const CHANNELS = ["state", "updates", "answers", "daemon", "forget", "end"];

export interface Early {
    streamAddress?: string;
    source?: EventSource;
    kept?: [string, string][]; // events so far: name and data
    historyAddress?: string;
    history?: Promise<Response>;
}

declare global {
    interface Window {
        heapwatchEarly?: Early;
    }
}

// An open stream of this address, and the events that it gave so far; the caller listens from now on.
export function takeStream(address: string): [EventSource, [string, string][]] | undefined {
    const early = window.heapwatchEarly, { source, kept = [] } = early ?? {};
    if (!early || !source) return undefined;
    early.source = early.kept = undefined;
    if (early.streamAddress === address && source.readyState !== EventSource.CLOSED) return [source, kept];
    source.close();
    return undefined;
}

export function takeHistory(address: string): Promise<Response> | undefined {
    const early = window.heapwatchEarly;
    if (early?.historyAddress !== address) return undefined;
    const answer = early.history;
    early.history = undefined;
    return answer;
}
