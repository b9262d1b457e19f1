// SPDX-License-Identifier: BSD-3-Clause
// Order of texts, in which a previous run NAME~9 comes before NAME~10.
export function compareTexts(a: string, b: string): number {
    const x = /^(.*~)(\d+)$/.exec(a), y = /^(.*~)(\d+)$/.exec(b);
    if (x && y && x[1] === y[1] && x[2]!.length !== y[2]!.length) return x[2]!.length - y[2]!.length;
    return a < b ? -1 : a > b ? 1 : 0;
}
