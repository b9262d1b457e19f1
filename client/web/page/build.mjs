// SPDX-License-Identifier: BSD-3-Clause
/*
 * build.mjs - node build.mjs OUTDIR: type-checked elsewhere (`npm run check`), bundled here by esbuild.
 *
 * Writes app.js, app.css, index.html (live: refers to both) and report.html (all in one file; a strict policy by hash; the line
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

// The licences of what is bundled stay in the bundle.
function licences() {
    const names = ["uplot", "d3-flame-graph", "d3-selection", "d3-transition", "d3-hierarchy", "d3-scale"];
    return `/*! heapwatch, BSD-3-Clause. With ${names.slice(0, 2).join(", ")} and d3 modules: see docs/THIRD-PARTY.md. */`;
}

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
    await build({
        ...common,
        entryPoints: { app: "src/main.ts" },
        outdir: out,
        format: "iife",
        minify: true,
        keepNames: true, // d3-flame-graph asks for the name of a constructor
        legalComments: "inline",
        banner: { js: licences() },
    });
    const js = readFileSync(join(out, "app.js"), "utf8");
    const css = readFileSync(join(out, "app.css"), "utf8");
    const shell = readFileSync(join(here, "src/shell.html"), "utf8");
    if (/<\/script/i.test(js) || /<\/style/i.test(css)) throw new Error("the bundle closes its own element");
    const policy = `default-src 'none'; script-src ${hash(js)}; style-src ${hash(css)}; img-src data: blob:`;
    const put = (parts) => shell.replace(/<!--(policy|style|script)-->/g, (_, name) => parts[name]);
    writeFileSync(join(out, "index.html"), put({
        policy: "",
        style: '<link rel="stylesheet" href="app.css">',
        script: '<script src="app.js" defer></script>',
    }));
    writeFileSync(join(out, "report.html"), put({
        policy: `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
        style: `<style>${css}</style>`,
        script: `<!--heapwatch-data-->\n<script>${js}</script>`,
    }));
}

await (testing ? tests() : page());
