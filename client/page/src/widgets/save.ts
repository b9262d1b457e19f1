// SPDX-License-Identifier: BSD-3-Clause
/*
 * save.ts - files handed to the browser to save.
 */
import { h } from "../dom.ts";

export function saveBlob(name: string, blob: Blob): void {
    const url = URL.createObjectURL(blob);
    const a = h("a", { href: url, download: name });
    a.click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
}

export function saveText(name: string, type: string, text: string): void {
    saveBlob(name, new Blob([text], { type: `${type};charset=utf-8` }));
}

// One cell of a CSV file. Text that a spreadsheet would take for a formula is given an apostrophe.
export function csvCell(v: string | number | null | undefined): string {
    if (v === null || v === undefined) return "";
    if (typeof v === "number") return Number.isFinite(v) ? String(v) : "";
    const safe = /^[=+\-@\t\r]/.test(v) ? `'${v}` : v;
    return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

export function csv(rows: (string | number | null | undefined)[][]): string {
    return rows.map((r) => r.map(csvCell).join(",")).join("\r\n") + "\r\n";
}
