// SPDX-License-Identifier: BSD-3-Clause
/*
 * build.mjs - node build.mjs OUTDIR: type-checked elsewhere (`npm run check`), bundled here by esbuild.
 *
 * Writes app.js, app.css, early.js, index.html (live: refers to them) and report.html (all in one file; a strict policy by hash; the line
 * <!--heapwatch-data--> is where a report's data go). `node build.mjs --test OUTDIR` bundles the unit tests instead.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const testing = process.argv.includes("--test");
const out = resolve(process.argv.slice(2).find((a) => !a.startsWith("--")) ?? join(here, "../../../build/web"));
mkdirSync(out, { recursive: true });

// The licences of all packages that are in the bundle, as a comment: a package is in it when it gave bytes to it.
function licences(metafile) {
    const inputs = Object.values(metafile.outputs).flatMap((o) => Object.entries(o.inputs)).filter(([, i]) => i.bytesInOutput > 0);
    const names = new Set(inputs.map(([path]) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]).filter(Boolean));
    const texts = new Map(); // text -> packages that have it
    for (const name of [...names].sort()) {
        const folder = join(here, "node_modules", name), file = readdirSync(folder).find((f) => /^licen[cs]e/i.test(f));
        if (!file) throw new Error(`${name} brings no licence`);
        const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
        const text = readFileSync(join(folder, file), "utf8").trim().replace(/\r/g, "").replace(/\*\//g, "* /");
        texts.set(text, [...(texts.get(text) ?? []), `${name} ${version}`]);
    }
    const parts = [...texts].map(([text, who]) => `---- ${who.join(", ")}\n\n${text}`);
    return `/*! heapwatch (BSD-3-Clause) with these libraries:\n\n${parts.join("\n\n")}\n*/\n`;
}

// uPlot makes its formatters of numbers and zones of time as soon as it is loaded, a tenth of a second's third on a slow machine. The
// page formats all by itself: they are not made.
const INTL = [["new Intl.NumberFormat(domEnv ? nav.language : 'en-US')", "{ format: String }"],
    ["new Intl.DateTimeFormat().resolvedOptions().timeZone", "undefined"]];
const plainUplot = {
    name: "plain-uplot",
    setup: (b) => b.onLoad({ filter: /uPlot\.esm\.js$/ }, ({ path }) => {
        let contents = readFileSync(path, "utf8");
        for (const [made, plain] of INTL) {
            if (contents.split(made).length !== 2) throw new Error(`uPlot has changed: no single ${made}`);
            contents = contents.replace(made, plain);
        }
        return { contents };
    }),
};

const common = {
    bundle: true,
    target: ["es2021"],
    charset: "utf8",
    logLevel: "warning",
    absWorkingDir: here,
};

async function tests() {
    const entries = readdirSync(join(here, "test")).filter((f) => f.endsWith(".test.ts")).map((f) => join("test", f));
    await build({ ...common, entryPoints: entries, outdir: out, format: "esm", platform: "node", outExtension: { ".js": ".mjs" } });
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

async function page() {
    const { metafile } = await build({
        ...common,
        metafile: true,
        entryPoints: { app: "src/main.ts", early: "src/early.ts" },
        outdir: out,
        format: "iife",
        minify: true,
        plugins: [plainUplot],
        keepNames: true, // d3-flame-graph asks for the name of a constructor
        legalComments: "none", // all licences stand at the head
    });
    const js = licences(metafile) + readFileSync(join(out, "app.js"), "utf8");
    writeFileSync(join(out, "app.js"), js);
    const css = readFileSync(join(out, "app.css"), "utf8");
    const shell = readFileSync(join(here, "src/shell.html"), "utf8");
    if (/<\/script/i.test(js) || /<\/style/i.test(css)) throw new Error("the bundle closes its own element");
    const policy = `default-src 'none'; script-src ${hash(js)}; style-src ${hash(css)}; img-src data: blob:`;
    const put = (parts) => shell.replace(/<!--(policy|early|style|script)-->/g, (_, name) => parts[name]);
    writeFileSync(join(out, "index.html"), put({
        policy: "",
        early: '<script src="early.js"></script>\n',
        style: '<link rel="stylesheet" href="app.css">',
        script: '<script src="app.js" defer></script>',
    }));
    writeFileSync(join(out, "report.html"), put({
        policy: `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
        early: "",
        style: `<style>${css}</style>`,
        script: `<!--heapwatch-data-->\n<script>${js}</script>`,
    }));
}

await (testing ? tests() : page());
