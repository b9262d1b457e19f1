#!/bin/bash
# GHC 9.0.2: -V0 stops the runtime's clock, with which, as the user's guide has it, the timer of heap profiles stops, too.
# Expected of -hT -i10 -V0: no census. It takes one at every collection instead, 700 in a run that has two with -i10
# alone: the interval in ticks becomes 0, which is what -i0 asks for. So the option that is there to have less happen at
# odd times makes the program go through its heap as often as it can, and its pauses become those of a census.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

# GHC in a folder of its own: gcc and apt-get are the machine's.
packages="ghc=9.0.2-4 libgmp-dev=2:6.2.1+dfsg1-1.1 libgmp10=2:6.2.1+dfsg1-1.1"
apt-get -qq -o APT::Sandbox::User=root download $packages
for deb in *.deb; do dpkg -x "$deb" root; done
lib=$PWD/root/usr/lib
rm "$lib/ghc/package.conf.d"
mv root/var/lib/ghc/package.conf.d "$lib/ghc/"
sed -i "s#/usr/lib/ghc#$lib/ghc#" "$lib"/ghc/package.conf.d/*.conf
"$lib/ghc/bin/ghc-pkg" --global-package-db "$lib/ghc/package.conf.d" recache
compile() { "$lib/ghc/bin/ghc" -B"$lib/ghc" -L"$lib/x86_64-linux-gnu" -v0 "$@"; }
"$lib/ghc/bin/ghc" -B"$lib/ghc" --version

cat > Maps.hs <<'H'
module Main (main) where
import qualified Data.Map.Strict as Map

main :: IO ()
main = print (sum [Map.size (Map.fromList [(key * step, key) | key <- [1 .. 2000 :: Int]]) | step <- [1 .. 2000]])
H
compile -O1 -rtsopts Maps.hs
censuses() { # censuses OPTION...: how many the profile has
        rm -f Maps.hp
        ./Maps +RTS -hT -S "$@" 2> collections > result
        grep -c BEGIN_SAMPLE Maps.hp
}
echo "with -i10: $(censuses -i10) censuses; with -i0: $(censuses -i0)"
few=$(censuses -i10)
each=$(censuses -i10 -V0)
collections=$(grep -cE '^ +[0-9]+ +[0-9]+ ' collections)
echo "with -i10 -V0: $each censuses in $collections collections"
[ "$few" -lt 10 ] && [ "$collections" -gt 300 ] && [ "$each" -ge "$collections" ] || { echo "changed: expected a census at each of the collections"; exit 1; }
echo "as seen: without its clock the program takes a census at each collection"
