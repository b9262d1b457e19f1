#!/bin/bash
# speedscope 1.25.0 opens GHC's +RTS -pj; are its seconds those of the program? Expected: yes, "total_time" is in the file,
# and "tick_interval". It reads neither: it counts ticks and calls each a millisecond (importFromHaskell(),
# src/import/haskell.ts), which is right for one capability at the default interval. With -N4 there is a tick of each
# capability: a run of 4.5 s is 18 s long, and a collection, which stops all four, takes four times its time beside a
# function that runs on one. With -V0.01 (a tick each 10 ms, to disturb the program less) all is a tenth of what it was.
# Shares within one file look plausible; files of different settings do not compare.
#
# The page is run in Node with empty stand-ins for what a browser has, up to where it would draw.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

# GHC in a folder of its own: gcc and apt-get are the machine's.
packages="ghc=9.0.2-4 ghc-prof=9.0.2-4 libgmp-dev=2:6.2.1+dfsg1-1.1 libgmp10=2:6.2.1+dfsg1-1.1"
apt-get -qq -o APT::Sandbox::User=root download $packages
for deb in *.deb; do dpkg -x "$deb" root; done
lib=$PWD/root/usr/lib
rm "$lib/ghc/package.conf.d"
mv root/var/lib/ghc/package.conf.d "$lib/ghc/"
sed -i "s#/usr/lib/ghc#$lib/ghc#" "$lib"/ghc/package.conf.d/*.conf
"$lib/ghc/bin/ghc-pkg" --global-package-db "$lib/ghc/package.conf.d" recache
compile() { "$lib/ghc/bin/ghc" -B"$lib/ghc" -L"$lib/x86_64-linux-gnu" -v0 "$@"; }
"$lib/ghc/bin/ghc" -B"$lib/ghc" --version

npm install --silent --no-fund --no-audit speedscope@1.25.0
cat > shown.mjs <<'J'
import { readFileSync, readdirSync } from 'fs'
import { createContext, runInContext } from 'vm'
const folder = 'node_modules/speedscope/dist/release/'
const page = readFileSync(folder + readdirSync(folder).find((name) => /^speedscope-.*\.js$/.test(name)), 'utf8')
// its importer of this format, and what loads the module that this is in
const [, importer, load] = page.match(/function (\w+)\(t\)\{let e=new Map;for\(let r of t\.cost_centres\).*?var (\w+)=re\(/)
const nothing = new Proxy(function () {}, {
        get: (_, key) => key === Symbol.toPrimitive ? () => '' : nothing,
        apply: () => nothing, construct: () => nothing, set: () => true
})
const world = { console, URL, URLSearchParams, TextDecoder, TextEncoder, setTimeout }
for (const name of ['window', 'document', 'navigator', 'location', 'localStorage', 'self', 'fetch']) world[name] = nothing
createContext(world)
runInContext(page.replace('console.log(`speedscope v', `${load}();globalThis.read=${importer};return;$&`), world)
for (const name of process.argv.slice(2)) {
        const profile = JSON.parse(readFileSync(name))
        const [time] = world.read(profile).profiles
        const ratio = time.getTotalWeight() / 1000 / profile.total_time
        const shown = time.formatValue(time.getTotalWeight())
        console.log(`${name}: ${profile.total_time} s, shown as ${shown}, ${ratio.toFixed(1)} times`)
}
J
cat > Sum.hs <<'H'
module Main (main) where
main :: IO ()
main = print (sum (map (`mod` 7) [1 .. 3000000 :: Int]))
H
compile -prof -fprof-auto -threaded -rtsopts Sum.hs
export LC_ALL=C
for option in -V0.001 -N4 -V0.01; do
        ./Sum +RTS -pj $option > out
        mv Sum.prof "Sum$option.json"
done
node shown.mjs Sum-V0.001.json Sum-N4.json Sum-V0.01.json 2> error | tee seen
sed 's/.*, //' seen | diff - <(printf '%s times\n' 1.0 4.0 0.1) || { echo "changed: expected 1, 4 and 0.1 times the time"; exit 1; }
echo "as seen: four capabilities are four times the time, ticks of 10 ms a tenth of it"
