// SPDX-License-Identifier: BSD-3-Clause
/*
 * build.mjs - node build.mjs OUTDIR: type-checked elsewhere (`npm run check`), bundled here by esbuild.
 *
 * Writes page.html, one file with everything: a request for each part would cost the first picture a third of its time. A report has
 * its data in place of the line <!--heapwatch-data-->. `policy` holds what a Content-Security-Policy must allow: the hashes of its
 * scripts and of its style. `node build.mjs --test OUTDIR` bundles the unit tests instead.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const testing = process.argv.includes("--test");
const out = resolve(process.argv.slice(2).find((a) => !a.startsWith("--")) ?? join(here, "../../../build/web"));
mkdirSync(out, { recursive: true });

// The licences of all packages that have bytes in the bundle, as a comment.
function licences(metafile) {
    const inputs = Object.values(metafile.outputs).flatMap((o) => Object.entries(o.inputs)).filter(([, i]) => i.bytesInOutput > 0);
    const names = new Set(inputs.map(([path]) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]).filter(Boolean));
    const texts = new Map(); // text -> packages that have it
    for (const name of [...names].sort()) {
        const folder = join(here, "node_modules", name), file = readdirSync(folder).find((f) => /^licen[cs]e/i.test(f));
        if (!file) throw new Error(`${name} has no licence file`);
        const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
        const text = readFileSync(join(folder, file), "utf8").trim().replace(/\r/g, "").replace(/\*\//g, "* /");
        texts.set(text, [...(texts.get(text) ?? []), `${name} ${version}`]);
    }
    const parts = [...texts].map(([text, who]) => `---- ${who.join(", ")}\n\n${text}`);
    return `/*! heapwatch (BSD-3-Clause) with these libraries:\n\n${parts.join("\n\n")}\n*/\n`;
}

// Changes to two libraries. uPlot makes its formatters of numbers and time zones as soon as it is loaded, 30 ms on a slow machine; the
// page does all formatting itself. d3-flame-graph recognises its nodes by the name of their constructor, which is shortened here.
const CHANGES = {
    "uPlot.esm.js": [["new Intl.NumberFormat(domEnv ? nav.language : 'en-US')", "{ format: String }"],
        ["new Intl.DateTimeFormat().resolvedOptions().timeZone", "undefined"]],
    "d3-flamegraph.es.js": [['data.constructor.name !== "Node"', '!("eachAfter" in data)']],
};
const changed = {
    name: "changed",
    setup: (b) => b.onLoad({ filter: /(uPlot\.esm|d3-flamegraph\.es)\.js$/ }, ({ path }) => {
        let contents = readFileSync(path, "utf8");
        for (const [theirs, ours] of CHANGES[basename(path)]) {
            if (contents.split(theirs).length !== 2) throw new Error(`${path} has changed: no single ${theirs}`);
            contents = contents.replace(theirs, ours);
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
    const { metafile, outputFiles } = await build({
        ...common,
        metafile: true,
        write: false,
        entryPoints: { app: "src/main.ts", early: "src/early.ts", flame: "src/flame.ts" },
        outdir: out,
        format: "iife",
        minify: true,
        plugins: [changed],
        legalComments: "none", // all licences are at the top
    });
    const made = (name) => outputFiles.find((f) => basename(f.path) === name).text;
    const parts = { early: made("early.js"), style: made("app.css"), script: licences(metafile) + made("app.js"), flame: made("flame.js") };
    if (/<\/script/i.test(parts.early + parts.script + parts.flame) || /<\/style/i.test(parts.style)) throw new Error("the bundle closes its own element");
    const shell = readFileSync(join(here, "src/shell.html"), "utf8");
    writeFileSync(join(out, "page.html"), shell.replace(/<!--(early|style|script|flame)-->/g, (_, name) => parts[name]));
    writeFileSync(join(out, "policy"), `script-src ${hash(parts.early)} ${hash(parts.script)} ${hash(parts.flame)}; style-src ${hash(parts.style)}`);
}

await (testing ? tests() : page());
