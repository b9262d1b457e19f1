// SPDX-License-Identifier: BSD-3-Clause
/*
 * theme.ts - dark and light, and the colours of bands. All schemes can be distinguished by colour-blind people:
 *   calm      ten hues of alternating lightness after Paul Tol's "muted" idea, ordered so that neighbours differ in lightness
 *   okabe     Okabe and Ito's eight
 *   viridis   one ramp from dark to bright, for print and for counting layers
 *   grey      lightness alone
 */

export type Scheme = "calm" | "okabe" | "viridis" | "grey";
export const SCHEMES: [Scheme, string][] = [["calm", "Calm"], ["okabe", "Okabe–Ito"], ["viridis", "Viridis"], ["grey", "Grey"]];

const CALM = {
    light: ["#4477aa", "#e0c36a", "#3f8f74", "#cc6677", "#88ccee", "#7a4f8f", "#b5b04a", "#2f4b7c", "#e39a6a", "#8fbf9a",
        "#a8577a", "#5aa9b8", "#c9a0c4", "#6b7f3a", "#9db4d8", "#94503a"],
    dark: ["#5b8fc7", "#d9bd68", "#4fa588", "#d27583", "#86c5e4", "#9a70b0", "#b9b453", "#5a79b5", "#dd9a6e", "#92c09c",
        "#b96a8d", "#5fb0bf", "#c7a2c3", "#869a52", "#a3b8d9", "#ab6a54"],
};
const OKABE = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#7f7f7f"];
const VIRIDIS = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];

export function isDark(): boolean {
    return document.documentElement.dataset["theme"] === "dark";
}

// The i-th colour of n.
export function bandColor(scheme: Scheme, i: number, n: number): string {
    switch (scheme) {
    case "okabe":
        return OKABE[i % OKABE.length]!;
    case "viridis":
        return ramp(VIRIDIS, n < 2 ? 0.5 : (i % n) / (n - 1));
    case "grey":
        return ramp(isDark() ? ["#55606a", "#d5dbe0"] : ["#3a434b", "#c9cfd4"], (i % 2 ? 0.5 : 0) + (n < 2 ? 0 : (i % n) / (2 * n)));
    default: {
        const list = CALM[isDark() ? "dark" : "light"];
        return list[i % list.length]!;
    }
    }
}

function ramp(stops: string[], x: number): string {
    const at = Math.min(Math.max(x, 0), 1) * (stops.length - 1);
    const i = Math.min(Math.floor(at), stops.length - 2), f = at - i;
    const part = (k: number) => {
        const a = parseInt(stops[i]!.slice(k, k + 2), 16), b = parseInt(stops[i + 1]!.slice(k, k + 2), 16);
        return Math.round(a + (b - a) * f).toString(16).padStart(2, "0");
    };
    return `#${part(1)}${part(3)}${part(5)}`;
}

const known = new Map<string, string>(); // colours of the current theme: reading them from the browser costs a layout

// A colour of the style sheet, such as "--muted".
export function css(name: string): string {
    let value = known.get(name);
    if (value === undefined) known.set(name, (value = getComputedStyle(document.documentElement).getPropertyValue(name).trim()));
    return value;
}

export function remembered(key: string): string | null {
    try {
        return localStorage.getItem(`heapwatch.${key}`);
    } catch {
        return null; // a report from disk may have no storage
    }
}

export function remember(key: string, value: string): boolean {
    try {
        localStorage.setItem(`heapwatch.${key}`, value);
        return true;
    } catch {
        return false;
    }
}

// "auto" follows the system.
export function applyTheme(choice: string): void {
    const dark = choice === "dark" || (choice !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
    document.documentElement.dataset["theme"] = dark ? "dark" : "light";
    known.clear();
}
