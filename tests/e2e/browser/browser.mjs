// SPDX-License-Identifier: BSD-3-Clause
/*
 * browser.mjs CHROMIUM - one browser for the tests. Reads a command a line from stdin, {"id","do","tab",...}, and answers each with
 * one line, {"id","value"} or {"id","error"}. Commands are the functions of `commands`; each tab is a browser context of its own.
 */
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const browser = await chromium.launch({ executablePath: process.argv[2], args: ["--no-sandbox", "--disable-gpu"] });
const LIMIT = 120000; // milliseconds, for what hangs: a busy machine must never meet it
const tabs = new Map();
let next = 0;

// A tab keeps what its console and its network reported about.
async function open({ width = 1400, height = 900, theme = "light", offline = false }) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, acceptDownloads: true, offline, locale: "en-GB", timezoneId: "UTC" });
    context.setDefaultTimeout(LIMIT);
    const page = await context.newPage(), tab = { context, page, errors: [], requests: [] };
    page.on("console", (m) => m.type() === "error" && tab.errors.push(m.text()));
    page.on("pageerror", (e) => tab.errors.push(String(e.stack ?? e)));
    page.on("dialog", (d) => (tab.errors.push(`dialog: ${d.message()}`), d.dismiss()));
    page.on("request", (r) => tab.requests.push(r.url()));
    tabs.set(++next, tab);
    return next;
}

const of = (c) => tabs.get(c.tab);
const at = (c) => of(c).page.locator(c.selector).first();
const axe = await readFile(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

const commands = {
    open,
    close: async (c) => (await of(c).context.close(), tabs.delete(c.tab)),
    go: async (c) => (await of(c).page.goto(c.url), null),
    eval: async (c) => of(c).page.evaluate(c.js),
    // Polled from here: the page's policy forbids what playwright's own waiting would do in it. An expression that throws is not
    // true yet (the page is still being built, or is being replaced); what it threw last is in the error.
    wait: async (c) => {
        let last = "false";
        for (const end = Date.now() + (c.timeout ?? LIMIT); Date.now() < end; await new Promise((f) => setTimeout(f, 40))) {
            try {
                const value = await of(c).page.evaluate(c.js);
                if (value) return value;
                last = "false";
            } catch (e) {
                last = String(e.message ?? e);
            }
        }
        throw new Error(`waited in vain; the last answer was ${last}`);
    },
    click: async (c) => (await at(c).click({ timeout: LIMIT, ...(c.position ? { position: c.position } : {}) }), null),
    fill: async (c) => (await at(c).fill(c.text, { timeout: LIMIT }), null),
    select: async (c) => (await at(c).selectOption(c.value, { timeout: LIMIT }), null),
    focus: async (c) => (await at(c).focus({ timeout: LIMIT }), null),
    press: async (c) => (await of(c).page.keyboard.press(c.key), null),
    text: async (c) => at(c).innerText({ timeout: LIMIT }),
    box: async (c) => at(c).boundingBox({ timeout: LIMIT }),
    drag: async (c) => {
        const { mouse } = of(c).page;
        await mouse.move(c.from[0], c.from[1]);
        await mouse.down();
        await mouse.move((c.from[0] + c.to[0]) / 2, c.to[1], { steps: 4 });
        await mouse.move(c.to[0], c.to[1], { steps: 4 });
        await mouse.up();
        return null;
    },
    errors: async (c) => of(c).errors,
    requests: async (c) => of(c).requests,
    // What axe-core finds wrong with the page as it is now, by its rules for WCAG and for good practice.
    axe: async (c) => {
        const { page } = of(c);
        if (!(await page.evaluate("!!window.axe"))) await page.evaluate(axe);
        const { violations } = await page.evaluate("axe.run(document, { resultTypes: ['violations'] })");
        return violations.map((v) => ({ id: v.id, help: v.help, nodes: v.nodes.map((n) => `${n.target.join(" ")}: ${n.failureSummary}`) }));
    },
    offline: async (c) => (await of(c).context.setOffline(c.yes), null),
    shot: async (c) => (await of(c).page.screenshot({ path: c.path, fullPage: !!c.full }), null),
    // Clicks what saves a file: its name and its bytes in base64.
    save: async (c) => {
        const [download] = await Promise.all([of(c).page.waitForEvent("download", { timeout: LIMIT }), at(c).click({ timeout: LIMIT })]);
        return { name: download.suggestedFilename(), data: (await readFile(await download.path())).toString("base64") };
    },
};

const say = (o) => process.stdout.write(`${JSON.stringify(o)}\n`);
say({ id: 0, value: "ready" });
for await (const line of createInterface({ input: process.stdin })) {
    const c = JSON.parse(line);
    try {
        say({ id: c.id, value: (await commands[c.do](c)) ?? null });
    } catch (e) {
        say({ id: c.id, error: String(e.message ?? e) });
    }
}
await browser.close();
