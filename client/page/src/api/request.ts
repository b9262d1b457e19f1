// SPDX-License-Identifier: BSD-3-Clause
/*
 * request.ts - requests to the server (docs/WEB.md): one answer, or the newest one to a question that is shown.
 */

// Refused by the server's rate limit: ask again after so many seconds.
export class TooMany extends Error {
    constructor(readonly seconds: number) {
        super(`too many requests, again in ${seconds} s`);
    }
}

export const errorText = (e: unknown): string => (e instanceof Error ? e.message : String(e));

type Revive = (key: string, value: unknown, of?: { source?: string }) => unknown;

// An integer that a number would round is its text, where the browser tells it.
export const exact: Revive = (_, value, of) => (typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(of?.source ?? "") ? of!.source : value);

// What is answered; without success an error in the server's words.
export async function taken<T>(reply: Response | Promise<Response>, revive?: Revive): Promise<T> {
    const answer = await reply, body = (await answer.text().then((text) => JSON.parse(text, revive)).catch(() => ({}))) as T & { error?: string };
    if (answer.status === 429) throw new TooMany(Number(answer.headers.get("Retry-After")) || 1);
    if (!answer.ok) throw new Error(body.error ?? `the server answered ${answer.status}`);
    return body;
}

// The newest answer to one question at a time, at `api/PATH?`: another question forgets it.
export class Newest<T> {
    private query = "";
    private at = -Infinity; // of the last answer, ms
    private busy = false;
    private found: T | undefined;
    error: string | undefined;

    // `again`: how long an answer is good for, ms.
    constructor(private path: string, private again: (found: T | undefined) => number, private changed: () => void, private revive?: Revive) {}

    // Undefined while nothing is known. `fresh`: one answer is enough.
    of(query: string, fresh = false): T | undefined {
        if (query !== this.query) [this.query, this.found, this.error, this.at] = [query, undefined, undefined, -Infinity];
        if (!this.busy && performance.now() - this.at >= (fresh && this.found ? Infinity : this.again(this.found))) void this.ask(query);
        return this.found;
    }

    known(query: string): T | undefined {
        return query === this.query ? this.found : undefined;
    }

    // The next of() requests it anew, and forgets it until then.
    renew(): void {
        [this.found, this.error, this.at] = [undefined, undefined, -Infinity];
    }

    get idle(): boolean {
        return !this.busy;
    }

    private async ask(query: string): Promise<void> {
        this.busy = true;
        let found: T | undefined, error: string | undefined;
        try {
            found = await taken<T>(fetch(`api/${this.path}?${query}`), this.revive);
        } catch (e) {
            error = errorText(e);
        }
        this.busy = false;
        if (query === this.query) [this.found, this.error, this.at] = [found ?? this.found, error, performance.now()];
        this.changed();
        if (Number.isFinite(this.again(this.found))) setTimeout(this.changed, this.again(this.found));
    }
}
