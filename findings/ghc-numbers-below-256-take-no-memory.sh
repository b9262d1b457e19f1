#!/bin/bash
# GHC 9.0.2: a million counters (IORef Int) that count: how does the program's memory grow? Expected: not at all, each
# has a boxed Int of 16 bytes, whatever its value. But where the collector finds an Int from -16 to 255, or a Char up
# to 255, it puts one in its place that is in the program itself (evacuate(), rts/sm/Evac.c; not so with Word, Integer
# and others): until they have passed 255 the counters hold nothing, then 16 MB. So live data rises from 56 to 72 MB
# without anything being added, which looks like the start of a leak and ends by itself; in a census I# comes from
# nowhere. And a test that fills a structure with small numbers understates what production takes.
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

cat > Counters.hs <<'H'
module Main (main) where
import Control.Exception (evaluate)
import Control.Monad (foldM, forM)
import Data.IORef
import GHC.Stats
import System.Mem (performMajorGC)

main :: IO ()
main = do
  counters <- forM [1 .. 1000000 :: Int] $ \i -> newIORef $! i * 0
  let count before upTo = do
        mapM_ (`modifyIORef'` (+ (upTo - before))) counters
        performMajorGC
        s <- getRTSStats
        putStrLn ("at " ++ show upTo ++ ": " ++ show (gcdetails_live_bytes (gc s) `div` 1000000) ++ " MB")
        pure upTo
  _ <- foldM count (0 :: Int) [1, 100, 255, 256, 1000, 1000000]
  mapM readIORef counters >>= evaluate . sum >>= writeFile "sum" . show
H
compile -O1 -rtsopts Counters.hs
./Counters +RTS -T | tee seen
sed 's/.*: //; s/ MB//' seen | xargs | diff - <(echo 56 56 56 72 72 72) ||
    { echo "changed: expected 56 MB up to 255, then 72"; exit 1; }
echo "as seen: numbers take memory from 256 on"
