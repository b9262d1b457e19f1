// SPDX-License-Identifier: BSD-3-Clause
import assert from "node:assert/strict";
import { test } from "node:test";
import { Newest } from "../src/api/request.ts";

// Answers the requests one after the other.
function serve(...replies: [status: number, body: object][]): string[] {
    const asked: string[] = [];
    globalThis.fetch = ((address: string) => {
        const [status, body] = replies[asked.push(address) - 1]!;
        return Promise.resolve(new Response(JSON.stringify(body), { status }));
    }) as typeof fetch;
    return asked;
}

test("one answer to one question; another question forgets it, an error is in the server's words", async () => {
    const asked = serve([200, { n: 1 }], [409, { error: "not now" }], [200, { n: 3 }]);
    let told: (() => void) | undefined;
    const newest: Newest<{ n: number }> = new Newest("thing", (found): number => (found || newest.error ? Infinity : 0), () => told?.());
    const ask = (query: string) => new Promise<void>((f) => {
        told = f;
        assert.equal(newest.of(query), undefined);
        assert.ok(!newest.idle && newest.of(query) === undefined, "not two at a time");
    });
    await ask("b=1");
    assert.deepEqual([newest.of("b=1"), newest.known("b=1"), newest.known("b=2")], [{ n: 1 }, { n: 1 }, undefined]);
    await ask("b=2");
    assert.deepEqual([newest.error, newest.of("b=2")], ["not now", undefined]);
    newest.renew();
    await ask("b=2");
    assert.deepEqual([newest.error, newest.known("b=2")], [undefined, { n: 3 }]);
    assert.deepEqual(asked, ["api/thing?b=1", "api/thing?b=2", "api/thing?b=2"]);
});
