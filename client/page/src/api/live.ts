// SPDX-License-Identifier: BSD-3-Clause
/*
 * live.ts - follows the server's stream (docs/WEB.md, "The stream").
 *
 * DESIGN: EventSource reconnects by itself while the server refuses or is gone; our own watchdog closes and reopens it when it has
 * been silent for SILENT_MS, or when the browser gave up. The first event of each connection is a whole state, so nothing has to be
 * remembered over a reconnect. `heard` is in the page's own clock: it tells how old the data on the screen are.
 */
import type { View } from "../state/view.ts";
import { takeStream } from "./early.ts";
import { streamAddress } from "./questions.ts";
import type { Answers, StateMessage, Tagged, DaemonInfo } from "../state/wire.ts";

const SILENT_MS = 15000;
const RETRY_FIRST_MS = 500, RETRY_MAX_MS = 5000;

export class Live {
    heard = 0; // ms, Date.now() of the newest event; 0 before the first
    connected = false;
    ended: string | undefined; // why nothing more will come
    error: string | undefined;
    refused: string | undefined; // what the server said instead of a stream
    private source: EventSource | undefined;
    private timer: number | undefined;
    private retry = RETRY_FIRST_MS;
    private address = "";
    private trends = false;
    private states = 0; // received so far
    private more = false; // messages came after the state

    constructor(private view: View, private changed: () => void, private renewed: () => void) {}

    // `detail`: keys of the targets whose bands, notes, profile are wanted. Trends of bands are ten times as much as all else: they
    // are followed once they are first wanted.
    follow(detail: string[], trends: boolean): void {
        this.trends ||= trends;
        const address = streamAddress(detail, this.trends);
        if (address === this.address) return; // open, about to be opened again, or ended for good
        this.address = address;
        this.open();
    }

    private open(): void {
        this.close();
        if (this.ended) this.ended = undefined;
        const early = takeStream(this.address), s = early?.[0] ?? new EventSource(this.address);
        this.source = s;
        this.on(s, "state", (d) => {
            if (this.states++) this.renewed();
            this.more = false;
            this.view.reset(d as StateMessage);
            performance.mark("state");
        });
        this.on(s, "updates", (d) => {
            this.more = true;
            this.view.apply(d as Tagged[]);
        });
        this.on(s, "answers", (d) => this.view.answer(d as Answers[]));
        this.on(s, "daemon", (d) => this.view.setDaemon(d as DaemonInfo));
        this.on(s, "forget", (d) => {
            this.renewed();
            this.view.forget((d as { daemon: number }).daemon);
        });
        this.on(s, "end", (d) => this.end((d as { reason?: string }).reason ?? "the server closed the stream"));
        for (const [name, data] of early?.[1] ?? []) s.dispatchEvent(new MessageEvent(name, { data }));
        s.onerror = () => {
            this.connected = false;
            if (this.source === s && s.readyState === EventSource.CLOSED) {
                this.again();
                void this.askWhy(this.address);
            }
            this.changed();
        };
        this.watch();
    }

    private on(s: EventSource, name: string, take: (data: unknown) => void): void {
        s.addEventListener(name, (e) => {
            if (this.source !== s) return;
            this.heard = Date.now();
            this.connected = true;
            this.refused = undefined;
            this.retry = RETRY_FIRST_MS;
            this.watch();
            try {
                take(JSON.parse((e as MessageEvent<string>).data));
                this.error = undefined;
            } catch (problem) {
                this.error = `a message of the server could not be read: ${String(problem)}`;
            }
            this.changed();
        });
    }

    // Files end for good; a live stream that was closed is opened again.
    private end(reason: string): void {
        this.close();
        this.connected = this.view.server.live === false;
        if (this.connected) {
            this.ended = reason;
            if (this.more) this.renewed(); // the history requested while files were still being read was incomplete
        } else this.again();
    }

    // EventSource does not say why it was refused: an ordinary request does.
    private async askWhy(address: string): Promise<void> {
        const stop = new AbortController();
        try {
            const answer = await fetch(address, { signal: stop.signal });
            this.refused = answer.ok ? undefined : (((await answer.json()) as { error?: string }).error ?? `status ${answer.status}`);
        } catch {
            this.refused = undefined; // there is no server
        }
        stop.abort();
        this.changed();
    }

    private watch(): void {
        clearTimeout(this.timer);
        this.timer = window.setTimeout(() => {
            this.connected = false;
            this.changed();
            this.open();
        }, SILENT_MS);
    }

    private again(): void {
        clearTimeout(this.timer);
        this.timer = window.setTimeout(() => this.open(), this.retry);
        this.retry = Math.min(RETRY_MAX_MS, this.retry * 2);
    }

    private close(): void {
        clearTimeout(this.timer);
        this.source?.close();
        this.source = undefined;
    }
}
