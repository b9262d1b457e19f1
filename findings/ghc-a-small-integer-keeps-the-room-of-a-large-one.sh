#!/bin/bash
# GHC 9.0.2: how much memory does an Integer of 80 bits take? Expected: 40 bytes, whatever it was computed from. But
# the result of a subtraction or of `mod` is written into an array of the operands' size, which is shrunk when its
# leading digits are zero (mwaTrimZeroes#, ghc-bignum); and an array above 3,276 bytes is a large object, which never
# moves and keeps all blocks that it began with. 1,000 remainders of 80 bits, of numbers of 100 kB, are 100 MB of live
# data; of numbers of 3 kB, or by `div` and `gcd`, next to nothing. The same holds for whatever
# shrinkMutableByteArray# shrinks. So the size in an array's header is not what it takes: a walk through the heap that
# adds these up finds 0.1 MB.
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

cat > Remainders.hs <<'H'
module Main (main) where
import Control.Exception (evaluate)
import Control.Monad (forM)
import GHC.Stats
import System.Environment (getArgs)
import System.Mem (performMajorGC)

small :: String -> Integer -> Integer -> Integer
small "mod" large i = (large + i) `mod` large
small "minus" large i = (large + i) - large
small "div" large i = (large * i) `div` large
small _ large i = gcd (large * 3) (i * 9)

main :: IO ()
main = do
  [how, bytes] <- getArgs
  let large = 2 ^ (8 * read bytes :: Int)
  numbers <- forM [1 .. 1000] $ \i -> evaluate (small how large (i * 2 ^ (70 :: Int)))
  performMajorGC
  s <- getRTSStats
  writeFile "bits" (show (all (< 2 ^ (90 :: Int)) numbers))
  let live = gcdetails_live_bytes (gc s) `div` 1000000
  putStrLn (how ++ ", of numbers of " ++ bytes ++ " bytes: " ++ show live ++ " MB")
H
compile -O1 -rtsopts Remainders.hs
for how in "minus 100000" "mod 100000" "div 100000" "gcd 100000" "mod 3000"; do
    ./Remainders $how +RTS -T | tee -a seen
    grep -q True bits
done
diff - <(sed 's/.*: //' seen) <<'E' || { echo "changed: expected 100 MB of small numbers, and nothing"; exit 1; }
100 MB
100 MB
0 MB
0 MB
0 MB
E
echo "as seen: what was computed from large numbers keeps their room"
