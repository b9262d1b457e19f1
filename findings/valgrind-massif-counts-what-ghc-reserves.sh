#!/bin/bash
# valgrind 3.19.0, massif: what does a Haskell program take, and when? Expected: by default little, for massif counts
# malloc, and GHC's heap is not from there; but with --pages-as-heap=yes, which is for mmap and brk, too, its heap over
# time. The first is so: less than 0.1 MB, of a program whose heap is 36 MB. The second says 1,099,551 MB: the terabyte of
# addresses that GHC reserves when it starts, which is no memory at all, is in use to massif like any other mapping,
# whether it can be read or written or not; and what becomes heap is a change inside of it. So the peak tells nothing: a
# leak of a gigabyte would be 0.1 % more. And it takes more than a minute, where the default takes half a second. Neither
# mode sees Haskell's memory; heap profiles of GHC, or RSS, do.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

# GHC and valgrind in a folder of their own: gcc and apt-get are the machine's.
packages="valgrind=1:3.19.0-1 ghc=9.0.2-4 libgmp-dev=2:6.2.1+dfsg1-1.1 libgmp10=2:6.2.1+dfsg1-1.1"
apt-get -qq -o APT::Sandbox::User=root download $packages
for deb in *.deb; do dpkg -x "$deb" root; done
lib=$PWD/root/usr/lib
rm "$lib/ghc/package.conf.d"
mv root/var/lib/ghc/package.conf.d "$lib/ghc/"
sed -i "s#/usr/lib/ghc#$lib/ghc#" "$lib"/ghc/package.conf.d/*.conf
"$lib/ghc/bin/ghc-pkg" --global-package-db "$lib/ghc/package.conf.d" recache
compile() { "$lib/ghc/bin/ghc" -B"$lib/ghc" -L"$lib/x86_64-linux-gnu" -v0 "$@"; }
"$lib/ghc/bin/ghc" -B"$lib/ghc" --version

cat > Grows.hs <<'H'
module Main (main) where
import qualified Data.Map.Strict as Map

main :: IO ()
main = do
  let squares = Map.fromList [(n, n * n) | n <- [1 .. 200000 :: Int]]
  print (Map.foldl' (+) 0 squares `mod` 1000)
  print (Map.size squares)
H
compile -O1 -rtsopts Grows.hs
massif() { # massif FILE OPTION...: the largest snapshot, in MB
        VALGRIND_LIB=$PWD/root/usr/libexec/valgrind root/usr/bin/valgrind -q --tool=massif "--massif-out-file=$1" "${@:2}" \
                ./Grows > "$1.said" && cmp -s "$1.said" alone || { echo "massif did not run the program" >&2; return 1; }
        sed -n 's/^mem_heap_B=//p' "$1" | sort -n | awk 'END { printf "%.1f\n", $1 / 1e6 }'
}
./Grows > alone
peak=$(./Grows +RTS -t --machine-readable 2>&1 | sed -n 's/.*"peak_megabytes_allocated", "\([0-9]*\)".*/\1/p')
blocks=$(massif blocks)
pages=$(massif pages --pages-as-heap=yes)
echo "MiB of the heap at its peak: $peak; MB by massif: $blocks; with --pages-as-heap=yes: $pages"
awk -v heap="$peak" -v blocks="$blocks" -v pages="$pages" 'BEGIN { exit !(heap > 15 && blocks < 1 && pages > 1000000) }' ||
        { echo "changed: expected above 15, below 1, and above 1000000"; exit 1; }
echo "as seen: to massif a heap of some MB is nothing, or a terabyte"
