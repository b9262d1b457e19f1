#!/bin/bash
# GHC 9.0.2, -threaded: times in its own .hp file go back now and then, and hp2ps, of the same GHC, refuses the file:
# "samples out of sequence". A time is the CPU time of the process less that of its collections, which other threads
# spend meanwhile: the difference is not monotonic, and below 0 at times. Without -threaded it never happens. A reader of
# .hp files must take small steps back as they come, and cannot conclude from one that two programs wrote the file.
#
# Short runs with -hT -i0.001. Seen: 8 of 60 files go back with -threaded, 0 of 60 without.
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

cat > Short.hs <<'H'
module Main (main) where
import qualified Data.Map.Strict as M
main :: IO ()
main = print (M.size (M.fromList [(i * 7919 `mod` 100003, i) | i <- [1 .. 100000 :: Int]]))
H
compile -O1 -rtsopts -threaded Short.hs -outputdir t -o Threaded
compile -O1 -rtsopts Short.hs -outputdir s -o Single
goes_back() { [ -e "$1" ] && ! awk '/^BEGIN_SAMPLE/ { if ($2 < last) bad = 1; last = $2 } END { exit bad }' "$1"; }
single=0
for _ in $(seq 40); do
        ./Single +RTS -hT -i0.001 > out
        if goes_back Single.hp; then single=$((single + 1)); fi
done
runs=0
until [ $runs -eq 200 ] || goes_back Threaded.hp; do
        ./Threaded +RTS -hT -i0.001 > out
        runs=$((runs + 1))
done
goes_back Threaded.hp || { echo "changed: none of $runs files goes back with -threaded"; exit 1; }
echo "the first file that goes back: of run $runs with -threaded; without it: $single of 40 do"
[ "$single" -eq 0 ] || { echo "changed: expected none without -threaded"; exit 1; }
awk '/^BEGIN_SAMPLE/ { if ($2 < last) print "  " last " s, then " $2 " s"; last = $2 }' Threaded.hp
if "$lib/ghc/bin/hp2ps" Threaded.hp 2> message; then echo "changed: hp2ps takes it"; exit 1; fi
cat message
grep -q 'samples out of sequence' message || { echo "changed: another message"; exit 1; }
echo "as seen: the runtime writes what its own tool refuses"
