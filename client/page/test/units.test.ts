// SPDX-License-Identifier: BSD-3-Clause
import assert from "node:assert/strict";
import { test } from "node:test";
import words from "./number_words.json";
import { age, bytes, clock, count, duration, parseBytes, rate, rateUnit, share, SHARE_UNIT, slope, UNKNOWN } from "../src/units.ts";

test("unknown is never 0", () => {
    for (const f of [bytes, duration, count, share, slope, age]) {
        assert.equal(f(undefined), UNKNOWN);
        assert.equal(f(NaN), UNKNOWN);
        assert.notEqual(f(0), UNKNOWN);
    }
});

test("bytes have three digits and binary units", () => {
    assert.equal(bytes(0), "0 B");
    assert.equal(bytes(1023), "1023 B");
    assert.equal(bytes(1024), "1.00 KiB");
    assert.equal(bytes(1024 * 1023.9), "1.00 MiB");
    assert.equal(bytes(12.34 * 1024 ** 2), "12.3 MiB");
    assert.equal(bytes(-29.7 * 1024), "−29.7 KiB");
});

test("ticks of small shares differ", () => {
    assert.deepEqual([0, 0.00005, 0.0001, 0.00015, 0.013].map((x) => SHARE_UNIT.tick!(x)), ["0.0 %", "0.005 %", "0.01 %", "0.015 %", "1.3 %"]);
});

test("slopes choose their unit", () => {
    assert.equal(slope(2048), "+2.00 KiB/s");
    assert.equal(slope(-100), "−5.86 KiB/min");
    assert.equal(slope(1), "+3.52 KiB/h");
});

test("numbers read as on all other faces: tests/unit/base/test_text.c reads the same cases", () => {
    const write: Record<string, (x: number) => string> = { bytes, duration, share, count };
    for (const [what, x, text] of words as [string, number, string][]) assert.equal(write[what]!(x), text.replace("-", "−"));
    assert.ok(words.length > 40);
    assert.equal(age(59.9), "59 s");
    assert.equal(age(79), "1m 19s");
    assert.equal(age(-1), "0 s");
});

test("rates beside each other are in one unit, that of the greatest", () => {
    const unit = rateUnit((54.4 * 1024) / 60, undefined, NaN, 3);
    assert.deepEqual([54.4 * 1024 / 60, 1.14 * 1024, -0.5 * 1024 / 60, 0.0123 * 1024 / 60, 1e-4, 0, undefined].map((r) => rate(r, unit)),
        ["+54.4 KiB/min", "+68.4 KiB/min", "−0.50 KiB/min", "+0.012 KiB/min", "~0 KiB/min", "0 KiB/min", UNKNOWN]);
    assert.equal(slope(1023.6), "+1.00 KiB/s");
    assert.equal(slope(0.01), "+36.0 B/h");
    assert.equal(slope(0), "0 B/s");
    assert.equal(rateUnit().name, "B/s");
    assert.equal(rateUnit(1e300).name, "EiB/s");
});

test("times on the axis", () => {
    assert.equal(clock(1.25, undefined, 0.05), "1.25 s");
    assert.equal(clock(3725, undefined, 60), "1:02:05");
    const start = new Date(2026, 0, 2, 3, 4, 5).getTime() / 1000;
    assert.equal(clock(10, start, 1), "03:04:15");
    assert.equal(clock(60, start, 60), "03:05");
});

test("sizes are read", () => {
    assert.equal(parseBytes("64 MiB"), 64 * 1024 ** 2);
    assert.equal(parseBytes("1.5G"), 1.5 * 1024 ** 3);
    assert.equal(parseBytes("2000"), 2000);
    for (const bad of ["", "x", "-1", "1e400", "MiB", "0"]) assert.equal(parseBytes(bad), undefined);
});
