// SPDX-License-Identifier: BSD-3-Clause
/*
 * sparkline.ts - a curve the size of a word. From zero, so that heights can be compared by eye; drawn only when it changed.
 */
import { setAttr, svg } from "../dom.ts";

export function sparkline(cell: HTMLElement, t: ArrayLike<number>, v: ArrayLike<number>, width = 96, height = 22): void {
    const [line, area] = paths(t, v, width, height);
    let root = cell.firstElementChild as SVGElement | null;
    if (!root) {
        root = svg("svg", { class: "spark", width, height, viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" },
            svg("path", { class: "spark-area" }), svg("path", { class: "spark-line" }));
        cell.replaceChildren(root);
    }
    setAttr(root.children[0]!, "d", area);
    setAttr(root.children[1]!, "d", line);
}

function paths(t: ArrayLike<number>, v: ArrayLike<number>, width: number, height: number): [string, string] {
    let from = -1, to = -1, max = 0;
    for (let i = 0; i < v.length; i++) {
        if (Number.isNaN(v[i]!)) continue;
        if (from < 0) from = i;
        to = i;
        max = Math.max(max, v[i]!);
    }
    if (from < 0 || to === from || max <= 0) return ["", ""];
    const t0 = t[from]!, span = t[to]! - t0 || 1, step = Math.max(1, Math.floor((to - from) / width));
    const out: string[] = [];
    for (let i = from; i <= to; i += step) {
        if (Number.isNaN(v[i]!)) continue;
        const x = ((t[i]! - t0) / span) * width, y = height - 1 - (v[i]! / max) * (height - 3);
        out.push(`${x.toFixed(1)} ${y.toFixed(1)}`);
    }
    const line = `M${out.join("L")}`;
    return [line, `${line}L${width} ${height}L0 ${height}Z`];
}
