// SPDX-License-Identifier: BSD-3-Clause
/*
 * histories.ts - requests histories once: the series and largest bands of a target when it is opened, all other bands in portions
 * when a table wants them. One request at a time; after a refusal it waits.
 *
 * DESIGN: the first request for a target covers no more than the first picture shows, one or two hundred points of what is drawn;
 * the second one, after that picture, all that is kept, and its answer replaces the first. The server limits the requests of all
 * browsers: a page stays well below that by itself (`pace`), and asks again when it was told to wait.
 */
import type { Band, Target } from "../state/target.ts";
import type { View } from "../state/view.ts";
import type { HistoryItem } from "../state/wire.ts";
import { takeHistory } from "./early.ts";
import { FIRST_POINTS, firstQuestion, historyAddress, type HistoryQuery, SERIES, TOTAL, wireKey } from "./questions.ts";
import { errorText, taken, TooMany } from "./request.ts";

const TOP = 40;
const PORTION = 200; // bands per request: what the server accepts, within its 4 KiB of address
const ADDRESS_MAX = 3500;
const WAIT_MS = 3000;
const SPARK_MS = 20000;
const SPARKS = 60; // targets per request: within the server's 4 KiB of address
const PER_S = 1500, REQUEST = 30; // items per second, and how many a request counts as: the server accepts 2000 and 60

type Question = HistoryQuery & { role?: "first" | "whole" };

export class Histories {
    private asked = new Map<string, number>(); // target's key -> run it was asked for
    private queue: Question[] = [];
    private first = new Set<string>(); // targets whose first answer has not come yet
    private busy = false;
    private tokens = PER_S;
    private counted = performance.now();
    private arrived: (() => void) | undefined;
    private refusals = 0; // in a row
    error: string | undefined;

    constructor(private view: View, private changed: () => void) {}

    // The first picture of a target on this page. Requested early, before the state has come, when the address names the target.
    // `sliding`: seconds that the first picture looks back; undefined: all.
    open(page: string, key: string, run: number | undefined, sliding: number | undefined): void {
        const before = this.asked.get(key);
        if (before !== undefined && (run === undefined || before === run || before === 0)) {
            if (run !== undefined && before === 0) this.asked.set(key, run);
            return;
        }
        this.asked.set(key, run ?? 0);
        if (before === undefined) this.first.add(key);
        this.queue = this.queue.filter((q) => q.target !== key || !q.role);
        this.queue.unshift({ ...firstQuestion(page, key, sliding), role: "first" },
            { target: key, series: SERIES, bands: [TOTAL], top: TOP, role: "whole" });
        void this.work();
    }

    // The first picture of this target is on its way: what is here so far would be another picture.
    waiting(key: string): boolean {
        return this.first.has(key);
    }

    get idle(): boolean {
        return !this.busy;
    }

    // All state is new: requests everything again.
    renew(): void {
        this.asked.clear();
        for (const t of this.view.targets.values()) {
            t.history.clear();
            t.spark = undefined;
        }
        this.queue = [];
    }

    // A message of the stream came: perhaps the target that an answer waits for.
    heard(): void {
        this.arrived?.();
    }

    // Small curves of many targets over the range, for the overview; requested again when the range has changed, or has moved by a point.
    sparks(targets: Target[], range: string, sliding: number | undefined): void {
        const now = performance.now(), old = Math.max(SPARK_MS, ((sliding ?? 3600) * 1000) / FIRST_POINTS);
        const want = targets.filter((t) => t.state?.state && !(t.spark?.range === range && (t.state.state !== "STATE_RUNNING" || now - t.spark.at < old))).slice(0, SPARKS);
        if (!want.length) return;
        for (const t of want) t.spark = { range, at: now };
        this.queue.push({ target: want.map((t) => t.key), series: ["live"], points: FIRST_POINTS, from: sliding && -sliding });
        void this.work();
    }

    // All bands of a target, or these, that have no history yet, largest first. Not before the history of the largest is here.
    allBands(t: Target, of: Iterable<Band> = t.bands.values()): void {
        if (this.queue.some((q) => q.target === t.key)) return;
        const want = [...of].filter((b) => !t.censuses.hasPast(b.id) && !t.history.has(b.id))
            .sort((a, b) => b.bytes - a.bytes).map((b) => b.id);
        for (const id of want) t.history.add(id);
        for (let i = 0; i < want.length;) {
            const part: number[] = [];
            for (let size = 0; i < want.length && part.length < PORTION && size < ADDRESS_MAX; i++) {
                part.push(want[i]!);
                size += String(want[i]).length + 3;
            }
            this.queue.push({ target: t.key, bands: part });
        }
        void this.work();
    }

    private async work(): Promise<void> {
        if (this.busy) return;
        this.busy = true;
        for (let q = this.queue.shift(); q; q = this.queue.shift()) {
            await this.one(q);
            if (!this.queue.length) this.busy = false;
            this.changed();
            if (q.role === "first") await painted();
        }
        this.busy = false;
    }

    private async one(q: Question): Promise<void> {
        const keys = [q.target].flat();
        try {
            await this.pace(q);
            const address = historyAddress(q), { items = [] } = await taken<{ items?: HistoryItem[] }>(takeHistory(address) ?? fetch(address));
            if (Array.isArray(q.target)) for (const i of items) i.series = "spark";
            else await this.present(q.target);
            this.view.history(items, q.role !== undefined);
            this.refusals = 0;
            if (q.role) performance.mark(`history:${q.role}`);
            this.error = undefined;
        } catch (e) {
            if (e instanceof TooMany) {
                if (++this.refusals > 1) this.error = "The server is busy: this page waits for its turn to load the history.";
                this.changed();
                await sleep(1000 * e.seconds);
                this.queue.unshift(q);
                return;
            }
            this.error = `history of ${keys.slice(0, 3).map(wireKey).join(", ")}: ${errorText(e)}`;
            for (const k of keys) this.first.delete(k);
            this.changed();
            await sleep(WAIT_MS);
        }
        for (const k of keys) this.first.delete(k);
    }

    // Waits until this request is within the page's own limit.
    private async pace(q: Question): Promise<void> {
        const cost = REQUEST + [q.target].flat().length * ((q.series?.length ?? 0) + (q.bands?.length ?? 0) + (q.top ?? 0));
        const now = performance.now();
        this.tokens = Math.min(PER_S, this.tokens + ((now - this.counted) * PER_S) / 1000);
        this.counted = now;
        this.tokens -= cost;
        if (this.tokens < 0) await sleep((-1000 * this.tokens) / PER_S);
    }

    // Waits for the target: an answer may be faster than the first state.
    private async present(key: string): Promise<void> {
        for (const end = performance.now() + 2000; !this.view.targets.has(key) && performance.now() < end;) {
            await Promise.race([sleep(100), new Promise<void>((f) => (this.arrived = f))]);
        }
    }
}

const sleep = (ms: number) => new Promise<void>((f) => setTimeout(f, ms));

// Waits until what is drawn now is on the screen; a hidden page has no screen.
const painted = () => Promise.race([new Promise<void>((f) => requestAnimationFrame(() => requestAnimationFrame(() => f()))), sleep(200)]);
