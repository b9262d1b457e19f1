// SPDX-License-Identifier: BSD-3-Clause
/*
 * name.ts - the name of a band, cost centre or place in the source. It tells most at its end: "Data.Map.Internal.Bin" is cut in the middle,
 * before a separator if there is one near; the package before it goes first, as a whole: "main:Main.Session". A call stack is cut at its end:
 * "Main.handleOrder;Main.main" begins with what it is of. In the document it is whole, to be copied and searched.
 */
import { h, LABEL_MAX, TITLE_MAX, visible } from "../dom.ts";
import { css } from "../theme.ts";

const TAIL = 14; // characters at most that are never cut
const FONT_PX = 14;
let ruler: CanvasRenderingContext2D | null | undefined;

// In px, in the font of tables.
export function textWidth(text: string): number {
    ruler ??= document.createElement("canvas").getContext("2d");
    if (!ruler) return 8 * text.length;
    ruler.font = `${FONT_PX}px ${css("--font")}`;
    return ruler.measureText(text).width;
}

export function tailOf(text: string): string {
    if (text.length <= TAIL || text.includes(";")) return "";
    const end = text.slice(-TAIL), at = end.search(/[.:_/]/);
    return at >= 0 && at <= TAIL - 6 ? end.slice(at) : end.slice(TAIL - 9);
}

// "ghc-prim:", before a module: "containers-0.6.7:Data.Map.Internal.Bin".
function packageLength(text: string): number {
    return /^[a-z][A-Za-z0-9.-]*:(?=[A-Z])/.exec(text)?.[0].length ?? 0;
}

export function setName(el: HTMLElement, text: string): void {
    const shown = visible(text.length > TITLE_MAX ? `${text.slice(0, TITLE_MAX)}…` : text);
    if (el.title === shown) return;
    const from = packageLength(shown), rest = shown.slice(from), tail = tailOf(rest);
    const head = h("span", { class: "head" }, rest.slice(0, Math.min(LABEL_MAX, rest.length - tail.length)));
    head.style.maxWidth = tail && `calc(100% - ${(textWidth(tail) / FONT_PX + 0.1).toFixed(2)}em)`;
    el.title = shown;
    el.replaceChildren(h("span", { class: "name" }, ...(from ? [h("span", { class: "package" }, shown.slice(0, from))] : []), h("span", { class: "rest" }, head, tail)));
}

export function name(text: string): HTMLElement {
    const el = h("bdi", { class: "label" });
    setName(el, text);
    return el;
}
