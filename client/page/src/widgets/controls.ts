// SPDX-License-Identifier: BSD-3-Clause
/*
 * controls.ts - choices and fields bound to the address bar.
 */
import { h, setAttr } from "../dom.ts";
import type { Route } from "../route.ts";

// A row of buttons of which one is pressed.
export function choice(route: Route, name: string, title: string, options: [string, string][], fallback: () => string): Control {
    const buttons = options.map(([value, text]) => h("button", { onclick: () => route.set({ [name]: value === fallback() ? "" : value }) }, text));
    const root = h("div", { class: "choice", role: "group", "aria-label": title }, ...buttons);
    return { root, update: () => options.forEach(([value], i) =>
        setAttr(buttons[i]!, "aria-pressed", String(route.get(name, fallback()) === value))) };
}

export function select(route: Route, name: string, title: string, options: [string, string][], fallback: () => string): Control {
    const el = h("select", { "aria-label": title, onchange: () => route.set({ [name]: el.value === fallback() ? "" : el.value }) },
        ...options.map(([value, text]) => h("option", { value }, text)));
    return { root: h("label", { class: "field" }, h("span", {}, title), el), update: () => {
        const v = route.get(name, fallback());
        if (el.value !== v) el.value = v;
    } };
}

export interface Control {
    root: HTMLElement;
    update(): void;
}

export function field(route: Route, name: string, title: string, hint: string, fallback = "", type = "search"): Control {
    const el = h("input", { type, placeholder: hint, spellcheck: "false", autocomplete: "off", "aria-label": title, maxlength: 500,
        name, oninput: () => route.set({ [name]: el.value === fallback ? "" : el.value }) });
    return { root: h("label", { class: "field" }, h("span", {}, title), el), update: () => {
        const v = route.get(name, fallback);
        if (document.activeElement !== el && el.value !== v) el.value = v;
    } };
}

export function toggle(route: Route, name: string, title: string): Control {
    const el = h("button", { class: "toggle", onclick: () => route.set({ [name]: route.get(name) === "1" ? "" : "1" }) }, title);
    return { root: el, update: () => setAttr(el, "aria-pressed", String(route.get(name) === "1")) };
}

// A search: plain text (ignoring case), or /regular expression/. Undefined when the expression is invalid.
export function matcher(text: string): ((s: string) => boolean) | undefined {
    if (!text) return () => true;
    const m = /^\/(.*?)\/?$/.exec(text);
    if (m && text.startsWith("/")) {
        try {
            const r = new RegExp(m[1]!, "iu");
            return (s) => r.test(s.slice(0, 4000));
        } catch {
            return undefined;
        }
    }
    const low = text.toLowerCase();
    return (s) => s.toLowerCase().includes(low);
}

// Controls that are rarely needed, folded under a word.
export function more(title: string, ...controls: Control[]): Control {
    const root = h("details", { class: "more" }, h("summary", {}, title), h("div", { class: "controls" }, ...controls.map((c) => c.root)));
    return { root, update: () => controls.forEach((c) => c.update()) };
}
