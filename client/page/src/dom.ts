// SPDX-License-Identifier: BSD-3-Clause
/*
 * dom.ts - elements made from values. Text goes in as text nodes only: nothing here parses markup, so labels and notes of a
 * watched program can never become elements.
 */

export type Child = Node | string | null | undefined | false;
type Attribute = string | number | boolean | undefined | null | ((event: never) => void);

// on* functions become listeners; true is an empty attribute; undefined, null and false are left out.
function setAttributes(el: Element, attributes: Record<string, Attribute>): void {
    for (const [name, value] of Object.entries(attributes)) {
        if (value === undefined || value === null || value === false) continue;
        if (typeof value === "function") el.addEventListener(name.slice(2), value as unknown as EventListener);
        else el.setAttribute(name, value === true ? "" : String(value));
    }
}

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Record<string, Attribute> = {},
    ...children: Child[]): HTMLElementTagNameMap[K] {
    const el = document.createElement(tag);
    setAttributes(el, attributes);
    for (const c of children) if (c !== null && c !== undefined && c !== false) el.append(c);
    return el;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Record<string, Attribute> = {},
    ...children: Child[]): SVGElementTagNameMap[K] {
    const el = document.createElementNS(SVG, tag);
    setAttributes(el, attributes);
    for (const c of children) if (c !== null && c !== undefined && c !== false) el.append(c);
    return el;
}

// Writes only what changed: a node that is equal costs no layout.
export function setText(el: Element, text: string): void {
    if (el.textContent !== text) el.textContent = text;
}

// A number and its unit stay on one line.
export function unbroken(text: string): string {
    return text.replace(/(\d) (?=%|B\b|[KMGTPE]iB|[num]?s\b)|(\d[dhm]) (?=\d\d[hms]\b)/g, "$1$2\u00a0");
}

// A sentence: its numbers keep their units, and options such as -i1 are not broken at their hyphen.
export function setWords(el: Element, text: string): void {
    const words = unbroken(text);
    if (el.textContent === words) return;
    el.replaceChildren(...words.split(/(?<=^|[\s(])(-\w[\w.]*)/).map((part, i) => (i % 2 ? h("span", { class: "whole" }, part) : part)));
}

export function setAttr(el: Element, name: string, value: string | null): void {
    if (value === null) el.removeAttribute(name);
    else if (el.getAttribute(name) !== value) el.setAttribute(name, value);
}

export function replace(el: Element, ...children: Child[]): void {
    el.replaceChildren(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false));
}

// Control characters and those that reorder text, made visible: U+202E shows as ⟨202E⟩.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

export function visible(text: string): string {
    return text.replace(HIDDEN, (c) => `⟨${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

export const TITLE_MAX = 600; // characters of a tooltip
export const LABEL_MAX = 400; // characters in the document; style cuts what does not fit

// Text of the program: its direction isolated, cut by style, the whole text (up to a bound) as its tooltip.
export function label(text: string, cls = "label"): HTMLElement {
    const el = h("bdi", { class: cls });
    setLabel(el, text);
    return el;
}

export function setLabel(el: HTMLElement, text: string): void {
    const shown = visible(text.length > TITLE_MAX ? `${text.slice(0, TITLE_MAX)}…` : text);
    if (el.title === shown) return;
    el.textContent = shown.length > LABEL_MAX ? `${shown.slice(0, LABEL_MAX)}…` : shown;
    el.title = shown;
}
