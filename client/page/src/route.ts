// SPDX-License-Identifier: BSD-3-Clause
/*
 * route.ts - the address bar holds the view: #/heap?target=api-1&range=15m&bands=20. Whoever opens the link sees the same.
 * Values equal to their default are left out. The fragment never leaves the browser.
 */

const VALUE_MAX = 2000; // characters of one value

export class Route {
    page = ""; // "": the address names none
    private values = new Map<string, string>();
    private listeners: (() => void)[] = [];

    constructor() {
        this.read();
        window.addEventListener("hashchange", () => {
            this.read();
            this.tell();
        });
    }

    onchange(f: () => void): void {
        this.listeners.push(f);
    }

    get(name: string, fallback = ""): string {
        return this.values.get(name) ?? fallback;
    }

    number(name: string, fallback: number, low: number, high: number): number {
        const text = this.values.get(name);
        const x = text === undefined || text === "" ? NaN : Number(text);
        return Number.isFinite(x) ? Math.min(high, Math.max(low, x)) : fallback;
    }

    // Empty values are removed. Only a change of page becomes an entry of the browser's history.
    set(values: Record<string, string | number | undefined>, page = this.page): void {
        const step = page !== this.page;
        for (const [k, v] of Object.entries(values)) {
            if (v === undefined || v === "") this.values.delete(k);
            else this.values.set(k, String(v).slice(0, VALUE_MAX));
        }
        this.page = page;
        const hash = this.link({}, page);
        if (hash !== location.hash) {
            if (step) history.pushState(null, "", hash);
            else history.replaceState(null, "", hash);
        }
        this.tell();
    }

    link(values: Record<string, string>, page = this.page): string {
        const all = new URLSearchParams([...this.values]);
        for (const [k, v] of Object.entries(values)) all.set(k, v);
        const query = all.toString();
        return `#/${page}${query ? `?${query}` : ""}`;
    }

    private read(): void {
        const m = /^#\/([a-z-]*)(?:\?(.*))?$/.exec(location.hash);
        this.page = m?.[1] ?? "";
        this.values = new Map();
        for (const [k, v] of new URLSearchParams(m?.[2] ?? "")) this.values.set(k, v.slice(0, VALUE_MAX));
    }

    private tell(): void {
        for (const f of this.listeners) f();
    }
}
