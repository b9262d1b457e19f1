#!/bin/bash
# GHC 9.0.2, -threaded: a program with a heap of 260 MB makes a child by forkProcess, which waits. What does the child
# take? Expected: next to nothing, for fork(2) shares all pages until one of both writes. At first it is so. But a
# program that is idle for 0.3 s has a major collection (-I), also one that was just forked, and that copies all that
# lives into pages of the child's own: workers that have done nothing take as much as their parent, each of them, a
# moment after their start. With -I0 they share until they collect for reasons of their own; large arrays are never
# copied, and stay shared.
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

cat > Fork.hs <<'H'
module Main (main) where
import Control.Concurrent (threadDelay)
import Control.Exception (evaluate)
import Control.Monad (void)
import qualified Data.ByteString as B
import qualified Data.IntMap.Strict as M
import System.Environment (getArgs)
import System.Mem (performMajorGC)
import System.Posix.Process

-- | Resident memory that no other process has, in MB.
own :: IO Int
own = do
  rollup <- lines <$> readFile "/proc/self/smaps_rollup"
  evaluate (sum [read (words l !! 1) | l <- rollup, take 8 l == "Private_"] `div` 1000)

main :: IO ()
main = do
  [what] <- getArgs
  let array = B.replicate (if what == "array" then 80000000 else 0) 1
  kept <- evaluate (M.fromDistinctAscList [(i, Just i) | i <- [1 .. if what == "array" then 0 else 1000000]])
  _ <- evaluate (B.length array + sum (M.mapMaybe id kept))
  performMajorGC
  parent <- own
  child <- forkProcess $ do
    first <- own
    threadDelay 3000000
    later <- own
    writeFile "own" (unwords (map show [parent, first, later]) ++ "\n")
    void (evaluate (B.length array + sum (M.mapMaybe id kept)))
  void (getProcessStatus True False child)
  print (B.length array + M.size kept)
H
compile -O1 -threaded -rtsopts -package unix -package bytestring -package containers Fork.hs
check() { # what is kept, options, what the child has in the end
    ./Fork "$1" +RTS $2 > /dev/null
    read -r parent first later < own
    echo "$1 $2: the parent has $parent MB, the child $first MB at once, $later MB 3 s later"
    [ "$parent" -gt 75 ] && [ "$first" -lt 5 ] && [ "$later" -ge "$3" ] && [ "$later" -lt "$4" ] ||
        { echo "changed: expected $3 to $4 MB in the child"; exit 1; }
}
check map "" 80 400
check map -I0 0 5
check array "" 0 5
echo "as seen: an idle child copies what it shared"
