#!/bin/bash
# speedscope 1.25.0 opens collapsed stacks ("a;b;c 12"), which most profilers can be brought to write. What becomes of a
# count like 12.5, as of seconds, MiB or percentages? Expected: it is a weight, as for flamegraph.pl, where the format
# comes from, and as speedscope's own format takes any number; or the file is refused. But each such line is left out
# without a word (src/import/bg-flamegraph.ts): of a file in which some numbers happen to be whole these remain, with
# shares that add up to 100 % of what is left. Below, 97 % of the heap are missing, and what has 0.8 % of it
# seems to have a quarter. Who writes such files multiplies until all are whole: bytes, microseconds.
#
# The page is run in Node with empty stand-ins for what a browser has, up to where it would draw.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

npm install --silent --no-fund --no-audit speedscope@1.25.0
cat > shown.mjs <<'J'
import { readFileSync, readdirSync } from 'fs'
import { createContext, runInContext } from 'vm'
const folder = 'node_modules/speedscope/dist/release/'
const page = readFileSync(folder + readdirSync(folder).find((name) => /^speedscope-.*\.js$/.test(name)), 'utf8')
// its importer of this format, and what loads the module that this is in
const [, importer, load] = page.match(
        /continue;.{0,150}split\(";"\).{0,150}return e\}function (\w+)\(t\)\{.{0,250}?var (\w+)=re\(/)
const nothing = new Proxy(function () {}, {
        get: (_, key) => key === Symbol.toPrimitive ? () => '' : nothing,
        apply: () => nothing, construct: () => nothing, set: () => true
})
const world = { console, URL, URLSearchParams, TextDecoder, TextEncoder, setTimeout }
for (const name of ['window', 'document', 'navigator', 'location', 'localStorage', 'self', 'fetch']) world[name] = nothing
createContext(world)
runInContext(page.replace('console.log(`speedscope v', `${load}();globalThis.read=${importer};return;$&`), world)
for (const name of process.argv.slice(2)) {
        const lines = readFileSync(name, 'utf8').trimEnd().split('\n')
        const sum = lines.reduce((all, line) => all + Number(line.split(' ').at(-1)), 0)
        const profile = world.read({ splitLines: () => lines })
        const shown = []
        profile.forEachFrame((frame) => {
                const share = 100 * frame.getSelfWeight() / profile.getTotalWeight()
                if (share) shown.push(`${frame.name} ${share.toFixed(1)} %`)
        })
        console.log(`${name}: ${sum}; shown: ${profile.getTotalWeight()}; ${shown.join(', ')}`)
}
J
cat > MiB <<'F'
main;serve;session 412.5
main;serve;cache 12
main;serve;log 0.5
main;config 4
main;index 99.5
F
awk '{ printf "%s %d\n", $1, $2 * 1048576 }' MiB > bytes
node shown.mjs bytes MiB | tee seen
diff - seen <<'E' || { echo "changed: expected that whole numbers alone are shown"; exit 1; }
bytes: 554172416; shown: 554172416; session 78.1 %, cache 2.3 %, log 0.1 %, config 0.8 %, index 18.8 %
MiB: 528.5; shown: 16; cache 75.0 %, config 25.0 %
E
echo "as seen: a count with a fraction is no count"
